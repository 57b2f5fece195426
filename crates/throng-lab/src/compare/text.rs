//! Formats a comparison for the terminal.

use std::fmt::Write as _;

use throng_papers::numbers::{counted, short};
use throng_papers::table::Align::Left;
use throng_papers::table::aligned;

use super::judge::{Change, Verdict};
use super::{Comparison, Side};
use crate::survey::document::Whose;

/// Smallest drift that is explained in a sentence of its own.
const REMARKABLE_DRIFT: f64 = 1.1;

pub(crate) fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (name, side) in [("old", &comparison.old), ("new", &comparison.new)] {
        let _ = writeln!(text, "{name}      {}", in_words(side));
    }
    let _ = writeln!(text, "machine  {}", drift_in_words(comparison));
    for warning in &comparison.warnings {
        let _ = writeln!(text, "warning  {warning}");
    }
    let groups = groups(&comparison.judged.changes);
    if groups.is_empty() {
        text.push_str("\nNothing got faster or slower beyond noise.\n");
    } else {
        let _ = write!(text, "\n{}", aligned(&table(&groups), &[Left; 5]));
    }
    let _ = write!(text, "\n{}", counts_in_words(comparison));
    text
}

fn in_words(side: &Side) -> String {
    let Side { throng, date, pace, machine } = side;
    format!("{date}, throng {throng}, pace {}; {machine}", pace.in_words())
}

fn drift_in_words(comparison: &Comparison) -> String {
    let margin = short(comparison.judged.margin_percent);
    let Some(drift) = comparison.judged.drift else {
        return format!(
            "too few peers in both to tell whether it changed; changes below {margin} % are left out"
        );
    };
    let times = drift.times;
    let mut words = format!(
        "the peers are {times:.2} times as good as before ({}, the median); the rest \
         is judged relative to that, and changes below {margin} % are left out",
        counted(drift.cells as u64, "cell"),
    );
    if times.max(1.0 / times) >= REMARKABLE_DRIFT {
        let how = if times < 1.0 { "slower or busier" } else { "faster or less busy" };
        let _ = write!(words, ". The peers changed together: the machine is {how} than before");
    }
    words
}

/// The cells of one structure that changed in the same direction.
type Group<'a> = Vec<&'a Change>;

/// Groups the changes by structure, the largest change first.
fn groups(changes: &[Change]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for change in changes.iter().filter(|change| change.verdict.is_change()) {
        let key = |change: &Change| {
            (change.need.clone(), change.entrant.clone(), change.verdict, change.whose)
        };
        match groups.iter_mut().find(|group| key(group[0]) == key(change)) {
            Some(group) => group.push(change),
            None => groups.push(vec![change]),
        }
    }
    // A stable sort: equal ones keep the order of the report.
    groups.sort_by(|a, b| size(largest(b)).total_cmp(&size(largest(a))));
    groups
}

fn size(change: &Change) -> f64 {
    change.beside_drift.max(1.0 / change.beside_drift)
}

fn largest<'a>(group: &Group<'a>) -> &'a Change {
    let mut largest = group[0];
    for change in group {
        if size(change) > size(largest) {
            largest = change;
        }
    }
    largest
}

fn table(groups: &[Group<'_>]) -> Vec<Vec<String>> {
    let header = ["", "need", "structure", "threads", "times as good, relative to the machine"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for group in groups {
        let change = largest(group);
        let threads: Vec<String> = group.iter().map(|change| change.threads.to_string()).collect();
        let peer = if change.whose == Whose::Peer { " (peer)" } else { "" };
        rows.push(vec![
            (if change.verdict == Verdict::Faster { "faster" } else { "SLOWER" }).to_owned(),
            change.need.clone(),
            format!("{}{peer}", change.entrant),
            threads.join(", "),
            format!(
                "{:.2} on {}: {} -> {} {}",
                change.beside_drift,
                change.threads,
                short(change.old),
                short(change.new),
                change.unit.in_words(),
            ),
        ]);
    }
    rows
}

fn counts_in_words(comparison: &Comparison) -> String {
    let counts = comparison.counts;
    let mut words = format!(
        "{} faster, {} slower, {} unchanged",
        counts.faster, counts.slower, counts.unchanged
    );
    if counts.unclear > 0 {
        let _ = write!(words, ", {} unclear (too few runs to tell)", counts.unclear);
    }
    let _ = writeln!(
        words,
        "; only in the old one {}, only in the new one {}",
        counts.only_old, counts.only_new
    );
    words
}
