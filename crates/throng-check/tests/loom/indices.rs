//! Indices shared out among 2 and 3 processors.

use libtest_mimic::Trial;
use throng_check::worlds::Loom;

use crate::harness::passes;
use crate::sharing::Sharing;

fn explore(processors: usize, preemptions: usize, indices: usize) {
    Loom::explore(
        processors,
        preemptions,
        move || Sharing::<Loom>::new(7..7 + indices, processors),
        |sharing, cpu| sharing.take(cpu, |_| {}),
        Sharing::assert_once,
    );
}

fn stop(processors: usize, preemptions: usize) {
    Loom::explore(
        processors,
        preemptions,
        move || Sharing::<Loom>::new(0..100, processors),
        |sharing, cpu| sharing.take_some(cpu, 1),
        Sharing::assert_no_more_than_once,
    );
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (processors, preemptions, indices) in [(2, 3, 0), (2, 3, 5), (2, 2, 60), (3, 2, 4)] {
        let name = format!("indices::{indices}_for_{processors}::preempted_{preemptions}");
        trials.push(passes(name, move || explore(processors, preemptions, indices)));
    }
    trials.push(passes("indices::stopped".to_owned(), || stop(2, 3)));
    trials
}
