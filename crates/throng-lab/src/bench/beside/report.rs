//! Formats the tables, and the sentences below them.

use std::fmt::Write as _;

use throng_papers::numbers::{counted, short};

use super::contenders::Role;
use super::load::Load;
use super::plan::BesidePlan;
use super::setting::Setting;
use super::summary::{Cell, Place, Ratio, find, ratios};
use crate::bench::grid::{Grid, Row};
use crate::bench::noise;
use crate::bench::setup::Setup;
use crate::error::count;

/// Smallest speed-up over the best reference that is enough.
const ENOUGH: f64 = 0.95;

/// Returns the text for the terminal.
pub fn text(plan: &BesidePlan, setup: &Setup, cells: &[Cell]) -> String {
    let runs = counted(plan.repetitions as u64, "run");
    let ms = plan.times.measure.as_millis();
    let mut text = format!("{}; each number from up to {runs} of {ms} ms\n", setup.in_words());
    for &load in &plan.loads {
        for &setting in &plan.settings {
            let _ = writeln!(text, "\n{}, {}", load.in_words(), setting.in_words());
            for grid in [times(plan, cells, load, setting), costs(plan, cells, load, setting)] {
                for block in grid.blocks() {
                    let _ = write!(text, "{block}");
                }
            }
        }
    }
    let _ = writeln!(text, "\n{}", legend(plan));
    text += &noise::line(plan.repetitions, spreads(cells));
    let references = references(plan);
    let _ = writeln!(text, "\nours beside the best of {references}");
    let ratios = ratios(plan, cells);
    for block in comparison(plan, &ratios).blocks() {
        let _ = writeln!(text, "{block}");
    }
    for ours in plan.contenders.iter().filter(|contender| contender.role == Role::Ours) {
        if let Some(verdict) = verdict(&ratios, ours.name, &references) {
            let _ = writeln!(text, "{verdict}");
        }
    }
    text
}

/// Returns the names of the references, such as "std and pthread".
fn references(plan: &BesidePlan) -> String {
    let references = plan.contenders.iter().filter(|one| one.role == Role::Reference);
    references.map(|one| one.name).collect::<Vec<_>>().join(" and ")
}

/// Returns a table with a row for each contender and a pair for each number of threads.
fn grid(
    plan: &BesidePlan,
    cells: &[Cell],
    (load, setting): (Load, Setting),
    labels: [&'static str; 2],
    pair: fn(&Cell) -> [String; 2],
) -> Grid {
    let threads = load.threads(&plan.threads);
    let names = plan.contenders.iter().map(|contender| contender.name);
    Grid::by_threads(plan.subject.kind(), labels, &threads, names, |name, threads| {
        let place = Place { load: load.text(), threads, neighbours: setting };
        find(cells, &place, name).map(pair)
    })
}

fn times(plan: &BesidePlan, cells: &[Cell], load: Load, setting: Setting) -> Grid {
    grid(plan, cells, (load, setting), ["us", "p99 us"], |cell| {
        let missing = if cell.too_slow > 0 { "slow" } else { "-" };
        [cell.ns, cell.p99_ns].map(|ns| ns.map_or_else(|| missing.to_owned(), |ns| us(ns.median)))
    })
}

/// Formats microseconds without blanks between groups of digits: two numbers stand side by side.
fn us(ns: f64) -> String {
    short(ns / 1e3).replace(' ', "")
}

fn costs(plan: &BesidePlan, cells: &[Cell], load: Load, setting: Setting) -> Grid {
    grid(plan, cells, (load, setting), ["cores", "kept"], |cell| {
        [cell.cores_used, cell.neighbours_keep].map(|number| {
            number.map_or_else(|| "-".to_owned(), |number| format!("{:.2}", number.median))
        })
    })
}

fn legend(plan: &BesidePlan) -> String {
    let operations: Vec<&str> = plan.loads.iter().map(|load| load.operation()).collect();
    let mut operations: Vec<String> =
        operations.into_iter().map(|one| format!("one {one}")).collect();
    operations.dedup();
    format!(
        "us        of {}, median of the runs; slow: no result in the time of several runs\n\
         p99 us    99 of 100 took no longer; in a stream, from before the push of an item to after its pop\n\
         cores     that the process kept busy: its processor time by the elapsed time\n\
         kept      the speed of the neighbours, as a part of their speed when only they run",
        operations.join(" or "),
    )
}

/// Returns the spread of the repetitions of each cell.
fn spreads(cells: &[Cell]) -> Vec<(f64, String)> {
    let name = |cell: &Cell| {
        format!(
            "{}, {}, {}",
            cell.method,
            count(cell.place.threads),
            cell.place.neighbours.in_words()
        )
    };
    let cells = cells.iter().filter(|cell| cell.runs > 1);
    cells.filter_map(|cell| Some((cell.ns?.spread()?, name(cell)))).collect()
}

/// Returns a table with a row for each of ours at each place, and a pair for each setting.
fn comparison(plan: &BesidePlan, ratios: &[Ratio]) -> Grid {
    let ours = || plan.contenders.iter().filter(|contender| contender.role == Role::Ours);
    let row = |load: Load, threads: usize, name: &str| {
        let pair = |&neighbours: &Setting| {
            let place = Place { load: load.text(), threads, neighbours };
            match ratios.iter().find(|ratio| ratio.place == place && ratio.method == name) {
                Some(ratio) => [ratio.ratio, ratio.p99_ratio].map(|ratio| format!("{ratio:.2}")),
                None => ["-", "-"].map(str::to_owned),
            }
        };
        // A single load needs no name.
        let load = if plan.loads.len() > 1 { format!("{} ", load.text()) } else { String::new() };
        let name = format!("{load}{threads} {name}");
        Row { name, pairs: plan.settings.iter().map(pair).collect(), last: None }
    };
    let rows = plan
        .places()
        .flat_map(|(load, threads)| ours().map(move |ours| row(load, threads, ours.name)));
    Grid {
        name: "threads, ratio of",
        heads: plan.settings.iter().map(|setting| setting.head()).collect(),
        labels: ["time", "p99"],
        last: None,
        rows: rows.collect(),
    }
}

/// Returns a sentence: the number of places at which this one of ours is fast enough, and where it
/// is slowest.
fn verdict(ratios: &[Ratio], method: &str, references: &str) -> Option<String> {
    let ratios: Vec<&Ratio> = ratios.iter().filter(|ratio| ratio.method == method).collect();
    let least = ratios.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
    let enough = ratios.iter().filter(|ratio| ratio.ratio >= ENOUGH).count();
    let place = &least.place;
    Some(format!(
        "{method} is at least {ENOUGH} times as fast as the best of {references} in {enough} of {},\n  \
         at worst {:.2} times as fast as {} ({}, {}, {}).",
        counted(ratios.len() as u64, "place"),
        least.ratio,
        least.reference,
        place.load,
        count(place.threads),
        place.neighbours.in_words(),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::{plan, sample};
    use super::*;
    use crate::bench::setup::Pinning;

    #[test]
    fn tables_and_verdict_say_what_was_found() {
        let (quiet, copy) = (Setting::Busy(0), Setting::Copy);
        let samples = [
            sample("std", quiet, Some(8000.0)),
            sample("pthread", quiet, Some(4000.0)),
            sample("barrier", quiet, Some(1000.0)),
            sample("std", copy, Some(9000.0)),
            sample("pthread", copy, None),
            sample("barrier", copy, Some(10_000.0)),
        ];
        let plan = plan();
        let cells = super::super::summary::cells(&plan, &samples);
        let ratios = ratios(&plan, &cells);
        let [times, costs] = [times, costs]
            .map(|table| table(&plan, &cells, plan.loads[0], copy).blocks().remove(0));
        let expected = [
            "               2 threads",
            "barrier        us p99 us",
            "std             9     27",
            "pthread      slow   slow",
            "barrier        10     30",
            "",
        ];
        assert_eq!(times, expected.join("\n"));
        assert!(costs.contains("1.50") && costs.contains("0.50"), "{costs}");
        let comparison = comparison(&plan, &ratios).blocks().remove(0);
        let expected = [
            "                     0 neighbours          a copy",
            "threads, ratio of      time   p99      time   p99",
            "2 barrier              4.00  4.00      0.90  0.90",
            "",
        ];
        assert_eq!(comparison, expected.join("\n"));
        assert_eq!(
            verdict(&ratios, "barrier", &references(&plan)).unwrap(),
            "barrier is at least 0.95 times as fast as the best of std and pthread in 1 of 2 places,\n  \
             at worst 0.90 times as fast as std (rounds:0, 2 threads, beside a copy of itself)."
        );
        let text = text(&plan, &Setup::look(&Pinning::none()), &cells);
        assert!(text.contains("rounds with nothing in between, beside a copy of itself"), "{text}");
        assert!(text.contains("us        of one round, median"), "{text}");
    }
}
