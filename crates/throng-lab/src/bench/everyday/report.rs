//! Formats the tables and the sentences below them.

use std::fmt::Write as _;

use throng_papers::numbers::{counted, short};
use throng_papers::table::{Align, aligned};

use super::cases::Case;
use super::contenders::Contender;
use super::groups::Group;
use super::plan::EverydayPlan;
use super::summary::{Cell, OfBest};
use super::threads;
use crate::bench::noise;
use crate::bench::setup::Setup;

/// Returns the text for the terminal.
pub fn text(plan: &EverydayPlan, setup: &Setup, cells: &[Cell]) -> String {
    let runs = counted(plan.repetitions as u64, "run");
    let ms = plan.time.as_millis();
    let mut text = format!("{}; each number from {runs} of {ms} ms\n", setup.in_words());
    for group in Group::ALL {
        let here: Vec<&Cell> = cells.iter().filter(|cell| cell.group == group).collect();
        if !here.is_empty() {
            let _ =
                write!(text, "\n{}: {}\n\n{}", group.name(), group.in_words(), table(group, &here));
        }
    }
    let _ = writeln!(text, "\n{}", LEGEND.trim_end());
    text += &noise::line(plan.repetitions, spreads(cells));
    if let Some(beside) = &plan.beside {
        let _ = writeln!(text, "beside    {}", beside.path.display());
    }
    let _ = write!(text, "\n{}", verdicts(plan, cells));
    text
}

const LEGEND: &str = "\
ns        of one cycle; M/s: million items, pairs or jobs a second; medians of all runs
ratio     how many times as good ours is as the best peer of the same kind: above 1 ours is better.
          Bounded queues stand beside bounded ones, unbounded beside unbounded, unordered beside
          unordered where there are any, and else beside unbounded
us        latencies; p99x, p99.9x: how many times as short as the best peer's (above 1: shorter)
fair      pairs of the slowest thread divided by those of the fastest
          every item was checked: it came out once, and in order where that is promised
";

/// Returns the table of ours in a group, or of everything where none of ours was measured.
fn table(group: Group, cells: &[&Cell]) -> String {
    let has_ours = cells.iter().any(|cell| cell.is_ours);
    let shown: Vec<&&Cell> = cells.iter().filter(|cell| cell.is_ours || !has_ours).collect();
    let columns = Columns::of(group);
    let mut rows = vec![columns.heads()];
    let mut before = None;
    for cell in shown {
        let place = (&cell.case, cell.threads);
        rows.push(columns.row(cell, before != Some(place)));
        before = Some(place);
    }
    aligned(&rows, &columns.aligns())
}

/// The columns of a table.
struct Columns {
    group: Group,
    /// Whether its cases run on several threads.
    threads: bool,
}

impl Columns {
    fn of(group: Group) -> Self {
        let threads = matches!(group, Group::Pairs | Group::Tree);
        Columns { group, threads }
    }

    fn heads(&self) -> Vec<String> {
        let mut heads = vec!["case"];
        heads.extend(self.threads.then_some("threads"));
        heads.extend(["queue", self.group.unit().head(), "ratio", "best of others", ""]);
        if self.group.has_latency() {
            heads.extend(["p50 us", "p99", "p99.9", "max", "p99x", "p99.9x"]);
        }
        heads.extend((self.group == Group::Pairs).then_some("fair"));
        heads.into_iter().map(str::to_owned).collect()
    }

    fn aligns(&self) -> Vec<Align> {
        let mut aligns = vec![Align::Left];
        aligns.extend(self.threads.then_some(Align::Right));
        aligns.extend([Align::Left, Align::Right, Align::Right, Align::Left]);
        aligns.resize(self.heads().len(), Align::Right);
        aligns
    }

    /// Returns the row of a cell. The case is named in the first of its rows only.
    fn row(&self, cell: &Cell, is_first: bool) -> Vec<String> {
        let shown = |text: String| if is_first { text } else { String::new() };
        let mut row = vec![shown(cell.case.clone())];
        row.extend(self.threads.then(|| shown(cell.threads.to_string())));
        row.extend([cell.method.clone(), short(cell.value.median), ratio(cell.of_best.as_ref())]);
        let best = cell.of_best.as_ref();
        row.push(best.map_or("-".to_owned(), |best| best.peer.clone()));
        row.push(best.map_or(String::new(), |best| short(best.value)));
        if self.group.has_latency() {
            let us = |ns: f64| short(ns / 1e3);
            row.extend(match cell.latency {
                Some(at) => [us(at.p50_ns), us(at.p99_ns), us(at.p999_ns), us(at.max_ns)],
                None => ["-"; 4].map(str::to_owned),
            });
            row.extend([ratio(cell.p99_of_best.as_ref()), ratio(cell.p999_of_best.as_ref())]);
        }
        if self.group == Group::Pairs {
            row.push(cell.fairness.map_or("-".to_owned(), |fairness| format!("{fairness:.2}")));
        }
        row
    }
}

fn ratio(of_best: Option<&OfBest>) -> String {
    of_best.map_or("-".to_owned(), |best| match best.ratio {
        ratio if ratio < 0.095 => format!("{ratio:.3}"),
        ratio => format!("{ratio:.2}"),
    })
}

fn spreads(cells: &[Cell]) -> Vec<(f64, String)> {
    let name = |cell: &Cell| format!("{}, {}", cell.method, threads(&cell.case, cell.threads));
    cells.iter().filter_map(|cell| Some((cell.value.spread()?, name(cell)))).collect()
}

/// Returns, for each of ours, the number of cases in which it is at least as good as the best peer,
/// and its worst case.
fn verdicts(plan: &EverydayPlan, cells: &[Cell]) -> String {
    let ours = plan.rows().into_iter().filter(|row| row.is_ours);
    let lines = ours.filter_map(|row| {
        let mine = cells.iter().filter(|cell| cell.method == row.name);
        let compared: Vec<(&Cell, &OfBest)> =
            mine.filter_map(|cell| Some((cell, cell.of_best.as_ref()?))).collect();
        let good = compared.iter().filter(|(_, best)| best.ratio >= 1.0).count();
        let (cell, best) =
            compared.iter().min_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio))?;
        Some(format!(
            "{}: at least as good as the best peer in {good} of {}; at worst {} times as good ({}: {})\n",
            row.name,
            counted(compared.len() as u64, "case"),
            ratio(Some(best)),
            threads(&cell.case, cell.threads),
            best.peer,
        ))
    });
    lines.collect()
}

/// Names all cases and contenders.
pub fn list(cases: &[Case], contenders: &[Contender]) -> String {
    let mut text = String::from("cases on this machine, by group:\n");
    for group in Group::ALL {
        let mut names: Vec<&str> = cases
            .iter()
            .filter(|case| case.group == group)
            .map(|case| case.name.as_str())
            .collect();
        names.dedup();
        if !names.is_empty() {
            let _ = writeln!(text, "  {}: {}", group.name(), names.join(", "));
        }
    }
    for (whose, is_ours) in [("ours", true), ("others", false)] {
        let names = contenders.iter().filter(|row| row.is_ours == is_ours).map(|row| row.name);
        let _ = writeln!(text, "{whose}: {}", names.collect::<Vec<_>>().join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::summary::cells;
    use super::super::summary::tests::{case, rows, sample};
    use super::*;
    use std::time::Duration;

    use crate::bench::everyday::Sample;
    use crate::bench::latency::Latency;

    /// Replaces several blanks by one.
    fn squeezed(text: &str) -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn a_table_has_ours_beside_the_best() {
        let burst = case("burst-2");
        let samples = [
            sample(&burst, "queue-try", 40.0),
            sample(&burst, "array-queue", 10.0),
            sample(&burst, "queue-unbounded-try", 40.0),
            sample(&burst, "seg-queue", 2.0),
        ];
        let cells = cells(&[burst], &rows(), &samples);
        let lines = squeezed(&table(Group::Single, &cells.iter().collect::<Vec<_>>()));
        assert_eq!(
            lines,
            [
                "case queue ns ratio best of others",
                "burst-2 queue-try 40 0.25 array-queue 10",
                "queue-unbounded-try 40 0.050 seg-queue 2",
            ]
        );
    }

    #[test]
    fn latencies_and_fairness_have_columns() {
        let pairs = case("pairs-100");
        let latency = |p99_ns| Latency { p50_ns: 100.0, p99_ns, p999_ns: 4000.0, max_ns: 5e6 };
        let timed = |method, value, p99_ns| Sample {
            latency: Some(latency(p99_ns)),
            fairness: Some(0.5),
            ..sample(&pairs, method, value)
        };
        let samples = [timed("queue", 3.0, 1000.0), timed("array-queue", 2.0, 3000.0)];
        let cells = cells(std::slice::from_ref(&pairs), &rows(), &samples);
        let lines = squeezed(&table(Group::Pairs, &cells.iter().collect::<Vec<_>>()));
        let expected = "pairs-100 2 queue 3 1.50 array-queue 2 0.10 1 4 5 000 3.00 1.00 0.50";
        assert_eq!(lines[1], expected);
    }

    #[test]
    fn each_of_ours_is_summed_up() {
        let mut contenders = super::super::contenders::all();
        contenders
            .retain(|contender| ["queue-try", "pool", "array-queue"].contains(&contender.name));
        let plan = EverydayPlan {
            cases: vec![case("burst-1"), case("burst-2")],
            contenders,
            beside: None,
            repetitions: 1,
            time: Duration::from_millis(40),
            depth: None,
        };
        let [one, two] = [case("burst-1"), case("burst-2")];
        let samples = [
            sample(&one, "queue-try", 5.0),
            sample(&one, "array-queue", 10.0),
            sample(&two, "queue-try", 20.0),
            sample(&two, "array-queue", 10.0),
        ];
        let cells = cells(&plan.cases, &plan.rows(), &samples);
        assert_eq!(
            verdicts(&plan, &cells),
            "queue-try: at least as good as the best peer in 1 of 2 cases; at worst 0.50 times as good \
             (burst-2, 1 thread: array-queue)\n"
        );
    }

    #[test]
    fn the_list_names_everything() {
        let text = list(&[case("burst-2")], &super::super::contenders::all());
        assert!(
            text.contains("single: burst-2\n") && text.contains("ours: queue, queue-try"),
            "{text}"
        );
        assert!(text.contains("rayon-join") && !text.contains("bytes:"), "{text}");
    }
}
