//! A survey as text, for a terminal.

use super::advice::digits;
use super::document::{Entrant, Need, Survey, Whose};
use crate::bench::grid::{Grid, LINE_WIDTH, Row};
use crate::bench::noise;
use crate::error::count;
use crate::numbers::short;

/// So many peers and methods stand in a table, at most; the page has all.
const MOST_OTHERS: usize = 3;

/// All of it: the tables, and then what to use.
pub(super) fn text(survey: &Survey) -> String {
    let mut text = format!("{}\n", survey.setup.in_words());
    if !survey.complete {
        text.push_str("Ended early: what was not measured is missing.\n");
    }
    for need in survey.needs.iter().filter(|need| !need.entrants.is_empty()) {
        text.push_str(&format!("\n{}: {}\n\n", need.title, need.unit.in_words()));
        text.push_str(&grid(need).blocks().join("\n"));
    }
    let spreads = survey.needs.iter().flat_map(spreads).collect();
    if let Some(spread) = noise::in_words(spreads) {
        text.push_str(&format!("\nSpread:   {spread}\n"));
    }
    if survey.needs.iter().all(|need| need.advice.is_none()) {
        text.push_str("\nToo little was measured to say what to use.\n");
        return text;
    }
    text.push_str("\nWhat to use on this machine\n");
    for need in &survey.needs {
        if let Some(advice) = &need.advice {
            text.push_str(&format!("\n{}\n{}\n", need.title, indented(&advice.words)));
        }
    }
    text
}

/// Ours, the usual, and the best of the others, with how many times as good as the usual each is.
fn grid(need: &Need) -> Grid {
    let threads = need.threads();
    let usual = need.entrant(&need.usual);
    let row = |entrant: &&Entrant| {
        let pair = |&threads: &usize| {
            let Some(cell) = entrant.on(threads) else { return [String::new(), String::new()] };
            let usual = usual.and_then(|usual| usual.on(threads));
            let times = usual.map(|usual| need.unit.times_as_good(cell.median, usual.median));
            let times = times.filter(|times| times.is_finite()).map(digits);
            [short(cell.median), times.unwrap_or_default()]
        };
        Row {
            name: format!("  {}", entrant.name),
            pairs: threads.iter().map(pair).collect(),
            last: None,
        }
    };
    Grid {
        name: "",
        heads: threads.iter().map(|&threads| count(threads)).collect(),
        labels: ["", "times"],
        last: None,
        rows: shown(need).iter().map(row).collect(),
    }
}

/// The usual, ours, and the best of the rest.
fn shown(need: &Need) -> Vec<&Entrant> {
    let (first, mut rest): (Vec<&Entrant>, Vec<&Entrant>) = (need.entrants.iter())
        .partition(|entrant| entrant.name == need.usual || entrant.whose == Whose::Ours);
    let mut shown = first;
    rest.sort_by(|a, b| score(need, b).total_cmp(&score(need, a)));
    rest.truncate(MOST_OTHERS);
    shown.extend(rest);
    shown
}

/// The mean of how good it is beside the best of each number of threads.
fn score(need: &Need, entrant: &Entrant) -> f64 {
    let threads = need.threads();
    let share = |&threads: &usize| {
        let own = entrant.on(threads)?.median;
        let all = need.entrants.iter().filter_map(|other| other.on(threads));
        let best = all.map(|cell| need.unit.times_as_good(cell.median, own));
        Some(1.0 / best.fold(1.0, f64::max))
    };
    threads.iter().filter_map(share).sum::<f64>() / threads.len().max(1) as f64
}

fn spreads(need: &Need) -> Vec<(f64, String)> {
    let cells = need.entrants.iter().flat_map(|entrant| {
        entrant.cells.iter().map(move |cell| {
            let spread = (cell.max - cell.min) / cell.median;
            (spread, format!("{}, {}", entrant.name, count(cell.threads)))
        })
    });
    cells.filter(|(spread, _)| spread.is_finite()).collect()
}

/// The words on lines of a comfortable width, two blanks in.
fn indented(words: &str) -> String {
    let mut lines = vec![String::from(" ")];
    for word in words.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line + 1 + word.chars().count() > LINE_WIDTH && line > 1 {
            lines.push(String::from(" "));
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_none_is_lost() {
        let words = "use this ".repeat(40);
        let text = indented(&words);
        assert!(text.lines().count() > 1);
        assert!(text.lines().all(|line| line.len() <= LINE_WIDTH && line.starts_with("  ")));
        assert_eq!(text.split_whitespace().count(), 80);
        assert_eq!(indented(&"x".repeat(150)).lines().count(), 1);
    }
}
