//! A comparison for a person.

use std::fmt::Write as _;

use super::judge::{Change, Verdict};
use super::{Comparison, Side};
use crate::numbers::{counted, short};
use crate::survey::document::Whose;
use crate::survey::table::pace_in_words;
use crate::table::Align::Left;
use crate::table::aligned;

/// Peers' changes from here on are worth a sentence of their own.
const REMARKABLE_DRIFT: f64 = 1.1;

pub(super) fn text(comparison: &Comparison) -> String {
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
    format!("{date}, throng {throng}, pace {}; {machine}", pace_in_words(*pace))
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
        "what nobody changed is {times:.2} times as good as before ({} of peers, the median); the rest \
         is judged beside that, and changes below {margin} % are left out",
        counted(drift.cells as u64, "cell"),
    );
    if times.max(1.0 / times) >= REMARKABLE_DRIFT {
        let how = if times < 1.0 { "slower or busier" } else { "faster or less busy" };
        let _ = write!(words, ". So many changed alike: the machine is {how} than before");
    }
    words
}

/// The cells of one structure that changed in the same direction.
type Group<'a> = Vec<&'a Change>;

/// What changed, the largest change first.
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
    // Stable: among equals the order of the report.
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
    let header = ["", "need", "structure", "threads", "times as good, beside the machine"];
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
