//! A table with a pair of numbers for each number of threads, as wide as a window allows.

use throng_papers::table::{Align, aligned};

use crate::error::count;

/// Width of the widest table that fits most windows.
pub(crate) const LINE_WIDTH: usize = 100;
/// Smallest widths of the two numbers of a pair.
const WIDTHS: [usize; 2] = [8, 6];
/// Blanks between two columns.
const GAP: usize = 2;

/// The contents of the table.
pub(crate) struct Grid {
    /// Heading of the names.
    pub(crate) name: &'static str,
    /// Headings of the pairs: the numbers of threads.
    pub(crate) heads: Vec<String>,
    /// Names of the two numbers of a pair.
    pub(crate) labels: [&'static str; 2],
    /// Heading of a column after all pairs, where there is one.
    pub(crate) last: Option<&'static str>,
    pub(crate) rows: Vec<Row>,
}

/// One row.
pub(crate) struct Row {
    pub(crate) name: String,
    /// One pair for each heading.
    pub(crate) pairs: Vec<[String; 2]>,
    /// The cell in the column after all pairs.
    pub(crate) last: Option<String>,
}

/// Formats a ratio, or a dash where there is none.
pub(crate) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
}

impl Grid {
    /// Returns a table with a row for each of `names` and a pair for each number of threads: dashes where `pair`
    /// has none.
    pub(crate) fn by_threads<'a>(
        name: &'static str,
        labels: [&'static str; 2],
        threads: &[usize],
        names: impl IntoIterator<Item = &'a str>,
        pair: impl Fn(&'a str, usize) -> Option<[String; 2]>,
    ) -> Self {
        let dashes = || ["-", "-"].map(str::to_owned);
        let row = |name| Row {
            name: String::from(name),
            pairs: threads.iter().map(|&n| pair(name, n).unwrap_or_else(dashes)).collect(),
            last: None,
        };
        Grid {
            name,
            heads: threads.iter().map(|&threads| count(threads)).collect(),
            labels,
            last: None,
            rows: names.into_iter().map(row).collect(),
        }
    }

    /// Returns the table, in several blocks where the pairs do not fit side by side.
    pub(crate) fn blocks(&self) -> Vec<String> {
        let name_width = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        let last_width = self.last.map_or(0, |last| last.len() + GAP);
        let pair_width = self.widths().iter().sum::<usize>() + GAP;
        let fit = LINE_WIDTH.saturating_sub(name_width + last_width) / pair_width;
        let all: Vec<usize> = (0..self.heads.len()).collect();
        all.chunks(fit.max(1)).map(|some| self.block(some, some.last() == all.last())).collect()
    }

    /// Returns the table for some of the pairs.
    fn block(&self, columns: &[usize], is_last: bool) -> String {
        let last = self.last.filter(|_| is_last);
        let mut upper = vec![String::new()];
        upper.extend(columns.iter().map(|&column| self.heads[column].clone()));
        let mut lower = vec![self.name.to_owned()];
        lower.extend(columns.iter().map(|_| self.pair(&self.labels)));
        lower.extend(last.map(str::to_owned));
        let mut rows = vec![upper, lower];
        rows.extend(self.rows.iter().map(|row| {
            let mut cells = vec![row.name.clone()];
            cells.extend(columns.iter().map(|&column| self.pair(&row.pairs[column])));
            cells.extend(row.last.clone().filter(|_| last.is_some()));
            cells
        }));
        let mut aligns = vec![Align::Left];
        aligns.resize(rows[1].len(), Align::Right);
        aligned(&rows, &aligns)
    }

    fn pair(&self, [first, second]: &[impl AsRef<str>; 2]) -> String {
        let [one, two] = self.widths();
        format!("{:>one$}{:>two$}", first.as_ref(), second.as_ref())
    }

    /// Returns the widths of the two numbers of a pair; the second begins with a blank at least.
    fn widths(&self) -> [usize; 2] {
        let widest = |which: usize| {
            let texts = self.rows.iter().flat_map(|row| &row.pairs);
            let widest = texts.map(|pair| pair[which].chars().count()).max().unwrap_or(0);
            widest.max(self.labels[which].chars().count())
        };
        [widest(0).max(WIDTHS[0]), (widest(1) + 1).max(WIDTHS[1])]
    }
}
