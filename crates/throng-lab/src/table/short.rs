//! The table of a whole survey in a few lines: the recommendation for each need, and its gain.

use std::fmt::Write as _;

use super::{Table, above, code, plain, shown};
use crate::error::count;
use crate::survey::advice::digits;
use crate::survey::document::Survey;

/// Returns a table with a row for each need with an entrant of ours, and a column for each number
/// of threads.
pub(super) fn markdown(survey: &Survey) -> String {
    let all = survey.needs.iter().filter_map(|need| Table::of(need, survey.setup.cores));
    let tables: Vec<Table<'_>> = all.filter(|table| table.usual.is_some()).collect();
    let mut threads: Vec<usize> = tables.iter().flat_map(|table| &table.threads).copied().collect();
    threads.sort_unstable();
    threads.dedup();
    let mut text = above(survey);
    text.push_str("\n| need | use | instead of |");
    for (column, &threads) in threads.iter().enumerate() {
        let head = if column == 0 { count(threads) } else { threads.to_string() };
        let _ = write!(text, " {head} |");
    }
    let _ = writeln!(text, "\n|---|---|---|{}", "---:|".repeat(threads.len()));
    for table in &tables {
        let Some(usual) = table.usual else { continue };
        let need = plain(&table.need.title);
        let _ = write!(text, "| {need} | {} | {} |", code(table.ours), code(usual));
        for &threads in &threads {
            let _ = write!(text, " {} |", gain(table, threads).unwrap_or_default());
        }
        text.push('\n');
    }
    text.push_str(
        "\nSpeed-up over the usual choice, by number of threads; ~ where that is within the noise of the \
         runs.\n",
    );
    text
}

/// Returns the gain over the usual.
fn gain(table: &Table<'_>, threads: usize) -> Option<String> {
    let (ours, usual) = (table.ours.on(threads)?, table.usual?.on(threads)?);
    let times = digits(table.need.unit.times_as_good(shown(ours)?, shown(usual)?));
    let is_clear = table.is_beyond_noise(threads, ours, usual);
    Some(if is_clear { times } else { format!("~{times}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::sample::advice;
    use crate::table::tests::sample;

    #[test]
    fn each_need_has_a_row() {
        let mut survey = sample();
        survey.needs[0].advice = Some(advice("barrier", &[1, 2, 4, 8], true));
        let text = markdown(&survey);
        let expected = "\
Measured on Imaginary 1, 4 processors, threads pinned; 2026-11-16, `throng` 0.1.0, pace usual.

| need | use | instead of | 1 thread | 2 | 4 | 8 |
|---|---|---|---:|---:|---:|---:|
| To have meeting | `some::barrier` | `some::std` | 259 | 259 | 259 | 259 |
| To have numbers | `some::counter` | `some::fetch_add` | ~1.0 | ~1.0 |  |  |

Speed-up over the usual choice, by number of threads; ~ where that is within the noise of the runs.
";
        assert_eq!(text, expected);
    }
}
