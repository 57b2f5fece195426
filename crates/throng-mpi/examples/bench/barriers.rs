//! Microseconds a round, and the cost of waiting.

use crate::{Ranks, Sheet, gather};
use mpi::traits::CommunicatorCollectives;
use rustix::time::{ClockId, clock_gettime};
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};
use throng_mpi::{Barrier, BarrierKind};

/// A barrier that is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row {
    Mpi,
    Ours(BarrierKind),
}

pub(crate) const ROWS: [Row; 4] = [
    Row::Mpi,
    Row::Ours(BarrierKind::Dissemination),
    Row::Ours(BarrierKind::Tree { fan_in: 2 }),
    Row::Ours(BarrierKind::Tree { fan_in: 4 }),
];

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Row::Mpi => write!(f, "MPI_Barrier"),
            Row::Ours(BarrierKind::Tree { fan_in }) => write!(f, "tree, {fan_in} children"),
            Row::Ours(kind) => write!(f, "{}", kind.name()),
        }
    }
}

/// Runs rounds for a while, and checks that no rank left a round before all had come.
pub(crate) fn run(ranks: &Ranks, row: Row, rounds: usize, sheet: &mut Sheet) {
    let mut barrier = match row {
        Row::Mpi => None,
        Row::Ours(kind) => Some(Barrier::new(&ranks.world, kind).expect("all are here")),
    };
    let mut wait = || match &mut barrier {
        None => ranks.world.barrier(),
        Some(barrier) => barrier.wait().expect("all come"),
    };
    let (mut came, mut went) = (Vec::with_capacity(rounds), Vec::with_capacity(rounds));
    wait();
    let start = Instant::now();
    for _ in 0..rounds {
        came.push(now_ns(ClockId::Monotonic));
        wait();
        went.push(now_ns(ClockId::Monotonic));
    }
    let elapsed = start.elapsed();
    check(&gather::all(&ranks.world, &came), &gather::all(&ranks.world, &went), rounds);
    let round_us = gather::largest(&ranks.world, elapsed.as_secs_f64()) * 1e6 / rounds as f64;
    sheet.add("barrier", &row.to_string(), "all come", "us a round", round_us);

    // The last rank is late.
    const LATE: Duration = Duration::from_millis(50);
    let last = ranks.rank == ranks.count - 1;
    wait();
    let before = now_ns(ClockId::ProcessCPUTime);
    if last {
        thread::sleep(LATE);
    }
    wait();
    let burnt = (now_ns(ClockId::ProcessCPUTime) - before) as f64 / 1e6;
    let burnt = gather::largest(&ranks.world, if last { 0.0 } else { burnt });
    sheet.add(
        "barrier",
        &row.to_string(),
        "one comes 50 ms late",
        "ms of a core used by a rank",
        burnt,
    );
    if let Some(barrier) = barrier {
        barrier.finish().expect("all leave");
    }
}

/// Checks the rounds. All ranks run on one machine, whose clock they share.
fn check(came: &[u64], went: &[u64], rounds: usize) {
    for round in 0..rounds {
        let last_came = came.iter().skip(round).step_by(rounds).max();
        let first_went = went.iter().skip(round).step_by(rounds).min();
        assert!(last_came <= first_went, "a member passed too early in round {round}");
    }
}

fn now_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
