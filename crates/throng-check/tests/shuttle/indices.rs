//! Indices shared out among 4 to 16 processors.

use libtest_mimic::Trial;
use throng_check::worlds::{Schedules, Shuttle};

use super::seed;
use crate::harness::{self, passes};
use crate::sharing::Sharing;

fn explore(schedules: Schedules, count: usize, processors: usize, indices: usize) {
    Shuttle::explore(
        schedules,
        count,
        seed(),
        processors,
        move || Sharing::<Shuttle>::new(7..7 + indices, processors),
        |sharing, cpu| sharing.take(cpu, |_| {}),
        Sharing::assert_once,
    );
}

fn stop(count: usize) {
    Shuttle::explore(
        Schedules::Random,
        count,
        seed(),
        5,
        || Sharing::<Shuttle>::new(0..1000, 5),
        |sharing, cpu| sharing.take_some(cpu, 3),
        Sharing::assert_no_more_than_once,
    );
}

pub(crate) fn trials() -> Vec<Trial> {
    let count = 1000 * harness::effort();
    let ways = [
        ("random", Schedules::Random),
        ("pct", Schedules::Pct(8)),
        ("uniform", Schedules::Uniform),
    ];
    let mut trials = Vec::new();
    for (way, schedules) in ways {
        for (processors, indices) in [(4, 3), (4, 40), (7, 900), (16, 200)] {
            let name = format!("indices::{way}::{indices}_for_{processors}");
            trials.push(passes(name, move || explore(schedules, count, processors, indices)));
        }
    }
    trials.push(passes("indices::stopped".to_owned(), move || stop(count)));
    trials
}
