//! Formats a survey for a terminal.

use throng_papers::numbers::short;

use super::advice::digits;
use super::document::{Entrant, Need, Survey, Whose};
use crate::bench::grid::{Grid, LINE_WIDTH, Row};
use crate::bench::noise;
use crate::error::count;

/// Most peers and methods in a table; the page has all.
const MOST_OTHERS: usize = 3;

/// Returns the tables, and then the recommendations.
pub(crate) fn text(survey: &Survey) -> String {
    let mut text = format!("{}\n", survey.setup.in_words());
    if !survey.complete {
        text.push_str("Ended early: what was not measured is missing.\n");
    }
    for need in survey.needs.iter().filter(|need| !need.entrants.is_empty()) {
        text.push_str(&format!("\n{}: {}\n\n", need.title, need.unit.in_words()));
        let crowd = latency_threads(need, survey.setup.cores);
        text.push_str(&grid(need, crowd).blocks().join("\n"));
        if let Some(threads) = crowd {
            let threads = count(threads);
            text.push_str(&format!("  p99 us: 99 of 100 calls on {threads} take no longer\n"));
        }
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

/// Returns the largest number of threads with a core each that latencies were measured on.
fn latency_threads(need: &Need, cores: usize) -> Option<usize> {
    let cells = need.entrants.iter().flat_map(|entrant| &entrant.cells);
    let timed = cells.filter(|cell| cell.latency.is_some() && cell.threads <= cores);
    timed.map(|cell| cell.threads).max()
}

/// Returns a table of ours, the usual, and the best of the others. Each has its gain over the
/// usual, and its p99 on `crowd` threads.
fn grid(need: &Need, crowd: Option<usize>) -> Grid {
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
        let p99_us = crowd.map(|crowd| {
            let latency = entrant.on(crowd).and_then(|cell| cell.latency);
            latency.map_or(String::new(), |latency| short(latency.p99_ns / 1e3))
        });
        Row {
            name: format!("  {}", entrant.name),
            pairs: threads.iter().map(pair).collect(),
            last: p99_us,
        }
    };
    Grid {
        name: "",
        heads: threads.iter().map(|&threads| count(threads)).collect(),
        labels: ["", "times"],
        last: crowd.map(|_| "p99 us"),
        rows: shown(need).iter().map(row).collect(),
    }
}

/// Returns the usual, ours, and the best of the rest.
fn shown(need: &Need) -> Vec<&Entrant> {
    let (first, mut rest): (Vec<&Entrant>, Vec<&Entrant>) = (need.entrants.iter())
        .partition(|entrant| entrant.name == need.usual || entrant.whose == Whose::Ours);
    let mut shown = first;
    rest.sort_by(|a, b| score(need, b).total_cmp(&score(need, a)));
    rest.truncate(MOST_OTHERS);
    shown.extend(rest);
    shown
}

/// Returns the mean ratio to the best of each number of threads.
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

/// Wraps the words to lines of a comfortable width, indented by two blanks.
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
    use crate::bench::latency::Latency;
    use crate::survey::document::Unit;
    use crate::survey::sample;

    #[test]
    fn a_queue_stands_with_its_p99() {
        let latency = Latency { p50_ns: 100.0, p99_ns: 2500.0, p999_ns: 9e3, max_ns: 1e6 };
        let timed = |mut entrant: Entrant| {
            entrant.cells.iter_mut().for_each(|cell| cell.latency = Some(latency));
            entrant
        };
        let runs = [(2, vec![10.0]), (8, vec![5.0])];
        let queue = timed(sample::entrant("queue", Whose::Ours, &runs));
        let peer = sample::entrant("peer", Whose::Peer, &runs);
        let need = sample::need("exchange", Unit::MillionPerSecond, vec![queue, peer]);
        let text = text(&sample::survey(vec![need]));
        assert!(text.contains("p99 us: 99 of 100 calls on 2 threads take no longer"), "{text}");
        let row = text.lines().find(|line| line.starts_with("  queue")).unwrap();
        assert!(row.ends_with(" 2.50"), "{text}");
    }

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
