//! `throng table`: the tables of a survey as Markdown, for a README.
//!
//! The same survey always gives the same text, in lines that are not wrapped, so that a test can tell
//! whether a file still has it: [`into`] puts it between two comments, and finds it again.

pub mod into;
mod short;

use std::fmt::Write as _;

use throng_papers::numbers::grouped;

use crate::bench::setup::Setup;
use crate::error::count;
use crate::survey::document::{Cell, Entrant, Need, Survey, Unit, Whose};

/// How much of a survey a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A table for each need, with the numbers.
    Whole,
    /// A row for each need: the recommendation and its gain.
    Short,
}

impl Form {
    /// Returns the tables of a survey, as Markdown.
    pub fn of(self, survey: &Survey) -> String {
        match self {
            Form::Whole => markdown(survey),
            Form::Short => short::markdown(survey),
        }
    }
}

/// Returns a table for each need, with the recommended entrant, the usual one, and the best of the
/// others.
pub fn markdown(survey: &Survey) -> String {
    let mut text = above(survey);
    for need in &survey.needs {
        if let Some(table) = Table::of(need, survey.setup.cores) {
            text.push('\n');
            text.push_str(&table.markdown());
        }
    }
    text
}

/// Describes the machine, and how and when it was measured.
fn above(survey: &Survey) -> String {
    let machine = Setup { flag_ns: None, ..survey.setup.clone() }.in_words();
    let early = if survey.complete { "" } else { ", ended early" };
    format!(
        "Measured on {}; {}, `throng` {}, pace {}{early}.\n",
        plain(&machine),
        plain(&survey.date),
        plain(&survey.throng),
        survey.pace.in_words(),
    )
}

/// The table of one need.
struct Table<'a> {
    need: &'a Need,
    cores: usize,
    threads: Vec<usize>,
    ours: &'a Entrant,
    usual: Option<&'a Entrant>,
    others: Vec<&'a Entrant>,
}

impl<'a> Table<'a> {
    /// Returns `None` where nothing of ours was measured.
    fn of(need: &'a Need, cores: usize) -> Option<Self> {
        let is_ours = |entrant: &&Entrant| entrant.whose != Whose::Peer;
        let picked = need.advice.as_ref().and_then(|advice| need.entrant(&advice.pick));
        let mut entrants = need.entrants.iter();
        // Where a peer is recommended, this library's entrant stands beside it all the same.
        let ours = picked
            .filter(is_ours)
            .or_else(|| entrants.find(|entrant| entrant.whose == Whose::Ours))?;
        let usual = need.entrant(&need.usual).filter(|usual| usual.name != ours.name);
        let is_other = |entrant: &&Entrant| {
            entrant.whose == Whose::Peer && usual.is_none_or(|usual| usual.name != entrant.name)
        };
        let others = need.entrants.iter().filter(is_other).collect();
        Some(Table { need, cores, threads: need.threads(), ours, usual, others })
    }

    fn markdown(&self) -> String {
        let need = self.need;
        let mut text = format!("**{}**, {}.", plain(&need.title), need.unit.in_words());
        if !need.workload.is_empty() {
            let _ = write!(text, " {}", plain(&need.workload));
        }
        text.push_str("\n\n|");
        for threads in &self.threads {
            let _ = write!(text, " | {}", self.column(*threads));
        }
        let _ = writeln!(text, " |\n|---|{}", "---:|".repeat(self.threads.len()));
        let rows = self.rows();
        let best: Vec<Option<String>> =
            (0..self.threads.len()).map(|column| best(need.unit, &rows, column)).collect();
        for (name, numbers) in &rows {
            let _ = write!(text, "| {name}");
            for (number, best) in numbers.iter().zip(&best) {
                let shown = number.map(three_digits).unwrap_or_default();
                let is_best = best.as_deref() == Some(shown.as_str());
                let _ = write!(text, " | {}", if is_best { format!("**{shown}**") } else { shown });
            }
            text.push_str(" |\n");
        }
        if let Some(sentence) = self.gain() {
            let _ = write!(text, "\n{sentence}\n");
        }
        text
    }

    /// Returns the heading of a column.
    fn column(&self, threads: usize) -> String {
        let threads_or_number = if self.threads.first() == Some(&threads) {
            count(threads)
        } else {
            threads.to_string()
        };
        if threads > self.cores {
            format!("{threads_or_number}, more than cores")
        } else {
            threads_or_number
        }
    }

    /// Returns the rows, each with a name and a number for each column.
    fn rows(&self) -> Vec<(String, Vec<Option<f64>>)> {
        let numbers = |entrant: &Entrant| {
            let on = |&threads: &usize| entrant.on(threads).and_then(shown);
            self.threads.iter().map(on).collect::<Vec<_>>()
        };
        let mut rows = vec![(format!("**throng** {}", code(self.ours)), numbers(self.ours))];
        if let Some(usual) = self.usual {
            rows.push((format!("{}, the usual", code(usual)), numbers(usual)));
        }
        match self.others[..] {
            [] => {}
            [only] => rows.push((code(only), numbers(only))),
            _ => {
                let best_on = |&threads: &usize| {
                    let all = self.others.iter().filter_map(|other| other.on(threads));
                    all.filter_map(shown).reduce(|a, b| better(self.need.unit, a, b))
                };
                let best = self.threads.iter().map(best_on).collect();
                rows.push((format!("best of {} others, each by itself", self.others.len()), best));
            }
        }
        rows
    }

    /// Describes the gain on the largest number of threads with a core each.
    fn gain(&self) -> Option<String> {
        let usual = self.usual?;
        let both = |threads: &&usize| {
            let has = |entrant: &Entrant| entrant.on(**threads).and_then(shown).is_some();
            has(self.ours) && has(usual)
        };
        let threads = *self.threads.iter().filter(|&&t| t <= self.cores).rfind(both)?;
        let (ours_cell, usual_cell) = (self.ours.on(threads)?, usual.on(threads)?);
        let times = self.need.unit.times_as_good(shown(ours_cell)?, shown(usual_cell)?);
        let noise = if self.is_beyond_noise(threads, ours_cell, usual_cell) {
            ""
        } else {
            ", which is within the noise of the runs"
        };
        Some(format!(
            "On {} {} is {} times as good as {}{noise}.",
            count(threads),
            code(self.ours),
            three_digits(times),
            code(usual),
        ))
    }

    /// Returns what the survey says. Where it says nothing, the runs must not overlap.
    fn is_beyond_noise(&self, threads: usize, ours: &Cell, usual: &Cell) -> bool {
        let advice = self.need.advice.as_ref().filter(|advice| advice.pick == self.ours.name);
        let said =
            advice.and_then(|advice| advice.gains.iter().find(|gain| gain.threads == threads));
        match said {
            Some(gain) => gain.beyond_noise,
            None => ours.min > usual.max || ours.max < usual.min,
        }
    }
}

/// Returns the number of a cell, or `None` if it is not a valid time or rate.
fn shown(cell: &Cell) -> Option<f64> {
    (cell.median.is_finite() && cell.median > 0.0).then_some(cell.median)
}

fn better(unit: Unit, a: f64, b: f64) -> f64 {
    if unit.times_as_good(a, b) >= 1.0 { a } else { b }
}

/// Returns the best number of a column, as it is shown: cells that look equal are all best.
fn best(unit: Unit, rows: &[(String, Vec<Option<f64>>)], column: usize) -> Option<String> {
    let numbers = rows.iter().filter_map(|(_, numbers)| numbers[column]);
    numbers.reduce(|a, b| better(unit, a, b)).map(three_digits)
}

/// Returns the name to write in a program, or that of the entrant.
fn code(entrant: &Entrant) -> String {
    let code = if entrant.code.is_empty() { &entrant.name } else { &entrant.code };
    // Within a span of code only its end has a meaning, and the end of a cell of the table.
    format!("`{}`", in_one_line(code).replace('`', "'").replace('|', "\\|"))
}

/// Returns the text in one line, without anything that Markdown or HTML would interpret. A report
/// may come from anywhere.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for part in in_one_line(text).split_inclusive("://") {
        let (before, is_address) =
            part.strip_suffix("://").map_or((part, false), |before| (before, true));
        for character in before.chars() {
            if matches!(
                character,
                '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '~' | '$' | '|'
            ) {
                plain.push('\\');
            }
            plain.push(character);
        }
        if is_address {
            // Otherwise some renderers make a link of it.
            plain.push_str("\\://");
        }
    }
    plain
}

/// Returns the text with single spaces, without characters that control how others are shown.
fn in_one_line(text: &str) -> String {
    let is_visible = |&character: &char| {
        let turns_direction =
            matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        character.is_whitespace() || !(character.is_control() || turns_direction)
    };
    let visible: String = text.chars().filter(is_visible).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats a number above 0 with three significant digits.
fn three_digits(number: f64) -> String {
    let rounded: f64 = format!("{number:.2e}").parse().unwrap_or(number);
    if rounded >= 100.0 {
        return grouped(rounded as u64);
    }
    // The largest power of ten that is not above it: between 10^-20 and 10^1.
    let power = (-20..2).rev().find(|&power| rounded >= 10_f64.powi(power)).unwrap_or(-20);
    let decimals = (2 - power) as usize;
    format!("{rounded:.decimals$}")
}

#[cfg(test)]
mod tests;
