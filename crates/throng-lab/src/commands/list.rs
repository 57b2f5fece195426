//! `throng list`: prints every structure with its description.

use std::iter;

use clap::Args;
use serde::Serialize;
use throng::machine::Native;
use throng::structures::barrier;
use throng::structures::counter::{About, methods};
use throng_papers::output;
use throng_papers::table::{Align::Left, aligned};

use crate::error::Error;

/// Arguments of `throng list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Prints the list.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(typed: &ListArguments) -> Result<(), Error> {
    Ok(output::print(&render(typed.json))?)
}

/// Returns the list as it goes to standard output.
pub fn render(as_json: bool) -> String {
    let counters: Vec<About> = methods::<Native>().iter().map(|m| m.about).collect();
    let barriers: Vec<barrier::About> =
        barrier::methods::<Native>().iter().map(|m| m.about).collect();
    if as_json { json(&counters, &barriers) } else { text(&counters, &barriers) }
}

fn text(counters: &[About], barriers: &[barrier::About]) -> String {
    let (counters, barriers) = (table_of_counters(counters), table_of_barriers(barriers));
    let legend: String = TERMS
        .iter()
        .filter(|(term, _)| counters.contains(term) || barriers.contains(term))
        .map(|(term, meaning)| format!("  {term}: {meaning}\n"))
        .collect();
    format!(
        "Counters: hand out 0, 1, 2, ... each exactly once\n\n{counters}\n\
         Barriers: no member leaves a round before all have entered it\n\n{barriers}\n\
         Where\n{legend}"
    )
}

/// Returns a table with two lines a barrier, as for counters.
fn table_of_barriers(barriers: &[barrier::About]) -> String {
    let mut rows = vec![
        vec!["  name".to_owned(), "how it works".to_owned()],
        vec![String::new(), "from".to_owned()],
    ];
    for about in barriers {
        rows.push(vec![format!("  {}", about.name), about.summary.to_owned()]);
        rows.push(vec![String::new(), about.paper.to_owned()]);
    }
    aligned(&rows, &[Left; 2])
}

/// Returns a table with two lines a counter, because one would be wider than most windows.
fn table_of_counters(counters: &[About]) -> String {
    let facts = |about: &About| {
        vec![about.consistency.to_string(), about.progress.to_string(), about.paper.to_owned()]
    };
    let mut fact_rows = vec![["order", "progress", "from"].map(str::to_owned).to_vec()];
    fact_rows.extend(counters.iter().map(facts));
    let fact_lines = aligned(&fact_rows, &[Left; 3]);

    let mut rows = Vec::new();
    let names = counters.iter().map(|about| (about.name, about.summary));
    for ((name, summary), facts) in
        iter::once(("name", "how it works")).chain(names).zip(fact_lines.lines())
    {
        rows.push(vec![format!("  {name}"), summary.to_owned()]);
        rows.push(vec![String::new(), facts.to_owned()]);
    }
    aligned(&rows, &[Left; 2])
}

/// The terms of the list. Those that occur in it are explained below it.
const TERMS: [(&str, &str); 8] = [
    ("linearizable", "a call that starts after another has returned gets a larger number"),
    (
        "quiescently consistent",
        "a later call may get a smaller number, but at rest none is missing",
    ),
    ("wait-free", "every call finishes, whatever becomes of the other threads"),
    ("lock-free", "some call always finishes, whatever becomes of the other threads"),
    ("blocking", "a thread that stops in the middle of a call can hold up the others"),
    ("DT96", "Shavit, Zemach: Diffracting Trees, ACM TOCS 1996"),
    (
        "GV93",
        "Grunwald, Vajracharya: Efficient Barriers for Distributed Shared Memory Computers, 1993",
    ),
    ("SS98", "Shavit, Upfal, Zemach: A Steady State Analysis of Diffracting Trees, 1998"),
];

/// One counter as JSON.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    summary: &'static str,
    paper: &'static str,
    consistency: String,
    progress: String,
}

/// One barrier as JSON.
#[derive(Serialize)]
struct BarrierEntry {
    name: &'static str,
    summary: &'static str,
    paper: &'static str,
}

/// The whole list as JSON, one field a group.
#[derive(Serialize)]
struct Groups {
    counters: Vec<Entry>,
    barriers: Vec<BarrierEntry>,
}

fn json(counters: &[About], barriers: &[barrier::About]) -> String {
    let entry = |about: &About| Entry {
        name: about.name,
        summary: about.summary,
        paper: about.paper,
        consistency: about.consistency.to_string(),
        progress: about.progress.to_string(),
    };
    let barrier = |about: &barrier::About| BarrierEntry {
        name: about.name,
        summary: about.summary,
        paper: about.paper,
    };
    let groups = Groups {
        counters: counters.iter().map(entry).collect(),
        barriers: barriers.iter().map(barrier).collect(),
    };
    output::json(&groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_barrier_is_listed() {
        let text = render(false);
        for about in barrier::methods::<Native>().iter().map(|method| method.about) {
            let mut lines =
                text.lines().skip_while(|line| !line.ends_with(about.summary)).map(str::trim);
            assert!(lines.next().is_some_and(|line| line.starts_with(about.name)), "{text}");
            assert_eq!(lines.next(), Some(about.paper));
        }
    }

    #[test]
    fn every_counter_is_listed_with_all_it_says_of_itself() {
        let text = render(false);
        for method in methods::<Native>() {
            let about = method.about;
            let mut lines =
                text.lines().skip_while(|line| line.split_whitespace().next() != Some(about.name));
            let (first, second) = (lines.next().unwrap(), lines.next().unwrap());
            assert!(first.ends_with(about.summary), "{first}");
            for fact in
                [about.consistency.to_string(), about.progress.to_string(), about.paper.to_owned()]
            {
                assert!(second.contains(&fact), "{second:?} lacks {fact:?}");
            }
        }
    }
}
