//! A table with a pair of numbers for each number of threads, as wide as a window allows.

use crate::table::{Align, aligned};

/// The widest table that fits most windows.
pub(crate) const LINE_WIDTH: usize = 100;
/// The least width of the two numbers of a pair.
const WIDTHS: [usize; 2] = [8, 6];
/// Blanks between two columns.
const GAP: usize = 2;

/// What the table has in it.
pub(crate) struct Grid {
    /// Head of the names.
    pub(crate) name: &'static str,
    /// Heads of the pairs: how many threads.
    pub(crate) heads: Vec<String>,
    /// What the two numbers of a pair are.
    pub(crate) labels: [&'static str; 2],
    /// Head of a column after all pairs, where there is one.
    pub(crate) last: Option<&'static str>,
    pub(crate) rows: Vec<Row>,
}

/// One row.
pub(crate) struct Row {
    pub(crate) name: String,
    /// One for each head.
    pub(crate) pairs: Vec<[String; 2]>,
    /// In the column after all pairs.
    pub(crate) last: Option<String>,
}

impl Grid {
    /// The table, in several blocks where the pairs do not fit side by side.
    pub(crate) fn blocks(&self) -> Vec<String> {
        let name_width = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        let last_width = self.last.map_or(0, |last| last.len() + GAP);
        let pair_width = self.widths().iter().sum::<usize>() + GAP;
        let fit = LINE_WIDTH.saturating_sub(name_width + last_width) / pair_width;
        let all: Vec<usize> = (0..self.heads.len()).collect();
        all.chunks(fit.max(1)).map(|some| self.block(some, some.last() == all.last())).collect()
    }

    /// The table for some of the pairs.
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

    /// The widths of the two numbers of a pair; the second begins with a blank at least.
    fn widths(&self) -> [usize; 2] {
        let widest = |which: usize| {
            let texts = self.rows.iter().flat_map(|row| &row.pairs);
            let widest = texts.map(|pair| pair[which].chars().count()).max().unwrap_or(0);
            widest.max(self.labels[which].chars().count())
        };
        [widest(0).max(WIDTHS[0]), (widest(1) + 1).max(WIDTHS[1])]
    }
}
