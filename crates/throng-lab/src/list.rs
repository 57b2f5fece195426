//! `throng list`: every structure and what it says of itself.

use serde::Serialize;
use throng::counter::{About, methods};
use throng::machine::Native;

use crate::table::{Align::Left, aligned};

/// The list as it goes to standard output.
#[must_use]
pub fn render(as_json: bool) -> String {
    let counters: Vec<About> = methods::<Native>().iter().map(|m| m.about).collect();
    if as_json {
        json(&counters)
    } else {
        text(&counters)
    }
}

fn text(counters: &[About]) -> String {
    let heads = ["name", "order", "progress", "from", "how it works"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(counters.iter().map(|about| {
        vec![
            about.name.to_owned(),
            about.consistency.to_string(),
            about.progress.to_string(),
            about.paper.to_owned(),
            // Last, because it is the longest and the one that may run over the edge.
            about.summary.to_owned(),
        ]
    }));
    let table: String = aligned(&rows, &[Left; 5])
        .lines()
        .map(|line| format!("  {line}\n"))
        .collect();
    let legend: String = TERMS
        .iter()
        .filter(|(term, _)| rows.iter().flatten().any(|cell| cell == term))
        .map(|(term, meaning)| format!("  {term}: {meaning}\n"))
        .collect();
    format!("Counters: hand out 0, 1, 2, ... each exactly once\n\n{table}\nWhere\n{legend}")
}

/// What the words of the list mean; those that occur in it are explained below it.
const TERMS: [(&str, &str); 5] = [
    (
        "linearizable",
        "a call that starts after another has returned gets a larger number",
    ),
    (
        "quiescently consistent",
        "it may get a smaller one while other calls are in progress; at rest none is missing",
    ),
    (
        "wait-free",
        "every call finishes, whatever becomes of the other threads",
    ),
    (
        "lock-free",
        "some call always finishes, whatever becomes of the other threads",
    ),
    (
        "blocking",
        "a thread that stops in the middle of a call can hold up the others",
    ),
];

/// One structure in JSON.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    summary: &'static str,
    paper: &'static str,
    consistency: String,
    progress: String,
}

/// The whole list in JSON, one field a group.
#[derive(Serialize)]
struct Groups {
    counters: Vec<Entry>,
}

fn json(counters: &[About]) -> String {
    let entry = |about: &About| Entry {
        name: about.name,
        summary: about.summary,
        paper: about.paper,
        consistency: about.consistency.to_string(),
        progress: about.progress.to_string(),
    };
    let groups = Groups {
        counters: counters.iter().map(entry).collect(),
    };
    let mut text = serde_json::to_string_pretty(&groups)
        .expect("a list of strings can always be written as JSON");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_listed_with_all_it_says_of_itself() {
        let text = render(false);
        for method in methods::<Native>() {
            let about = method.about;
            let line = text
                .lines()
                .find(|line| line.split_whitespace().next() == Some(about.name))
                .unwrap_or_else(|| panic!("{} is missing", about.name));
            for part in [about.summary, about.paper, &about.consistency.to_string()] {
                assert!(line.contains(part), "{line:?} lacks {part:?}");
            }
        }
    }
}
