//! Invented surveys, for tests.

use super::document::{Advice, Cell, Entrant, Gain, Layout, Need, Pace, Survey, Unit, Whose};
use crate::bench::setup::Setup;
use crate::bench::stats::Stats;

/// Returns a survey with these needs, of a machine with 4 cores.
pub(crate) fn survey(needs: Vec<Need>) -> Survey {
    Survey {
        throng: "0.1.0".to_owned(),
        benchmark: "survey".to_owned(),
        pace: Pace::Usual,
        complete: true,
        seconds: 100.0,
        date: "2026-11-16".to_owned(),
        setup: Setup {
            processor: "Imaginary 1".to_owned(),
            cores: 4,
            pinned: true,
            flag_ns: Some(50.0),
        },
        layout: Layout { processors: 4, groups: vec![4], cores: vec![0, 1, 2, 3] },
        needs,
        calibration: None,
        validation: None,
    }
}

/// Returns a need; its first peer is the usual.
pub(crate) fn need(name: &str, unit: Unit, entrants: Vec<Entrant>) -> Need {
    let usual = entrants.iter().find(|entrant| entrant.whose == Whose::Peer);
    Need {
        name: name.to_owned(),
        title: format!("To have {name}"),
        workload: "Threads do nothing else.".to_owned(),
        unit,
        usual: usual.map(|usual| usual.name.clone()).unwrap_or_default(),
        entrants,
        advice: None,
    }
}

/// Returns an entrant, with the runs on each number of threads.
pub(crate) fn entrant(name: &str, whose: Whose, runs: &[(usize, Vec<f64>)]) -> Entrant {
    let cells = runs.iter().map(|(threads, runs)| cell(*threads, runs)).collect();
    Entrant { name: name.to_owned(), code: format!("some::{name}"), whose, bounded: None, cells }
}

/// Returns a cell with these runs.
pub(crate) fn cell(threads: usize, runs: &[f64]) -> Cell {
    let Stats { median, min, max } = Stats::of(runs.iter().copied()).expect("there are runs");
    Cell { threads, median, min, max, runs: runs.to_vec(), latency: None }
}

/// Returns advice to use `pick`, with gains of twice the usual.
pub(crate) fn advice(pick: &str, threads: &[usize], beyond_noise: bool) -> Advice {
    let gain = |&threads: &usize| Gain { threads, times: 2.0, beyond_noise };
    Advice {
        pick: pick.to_owned(),
        code: format!("some::{pick}"),
        gains: threads.iter().map(gain).collect(),
        words: format!("Use {pick}."),
    }
}
