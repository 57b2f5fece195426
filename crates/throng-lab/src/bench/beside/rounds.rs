//! Rounds of a barrier, in a process of their own.
//!
//! All threads make round after round; the first one times each. Before the last round it writes
//! the number of that round, and all others read it after each round. The barrier itself orders
//! that, so nothing but the barrier is between two rounds.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::laps::{Audience, Laps, Measured};
use crate::bench::barriers::rows::{self, Party, Row};
use crate::bench::barriers::run::Failure;
use crate::bench::barriers::witness::{Board, SAMPLED, Witness};
use crate::bench::barriers::{explain, posix};
use crate::bench::pace::SteadyWork;
use crate::bench::together;
use crate::bench::window::{Phase, Window};
use crate::error::Error;

/// Returns all barriers: those of `throng bench barriers`, and that of POSIX threads where there is one.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = rows::all();
    rows.extend(posix::row());
    rows
}

/// The number of the last round.
///
/// # Memory ordering
/// The first thread writes it before it arrives at that round, and the others read it after they have left
/// it: the barrier orders the two. The checks of the rounds see it if the barrier does not.
#[repr(align(128))]
struct Last(AtomicU64);

/// Runs rounds of a new barrier.
///
/// # Errors
/// When the barrier cannot be built or does not hold, or the system refuses a thread.
pub(super) fn run(
    row: &Row,
    threads: usize,
    work_ns: u32,
    audience: Audience,
) -> Result<Option<Measured>, Error> {
    let method = row.name;
    let mut parties = row.build(threads).map_err(|source| Error::shape(method, source))?;
    // Calibrated before other threads start.
    let work = (work_ns > 0).then(|| SteadyWork::of(work_ns));
    let (window, board) = (&Window::new(), &Board::new(threads));
    let last = &Last(AtomicU64::new(u64::MAX));
    let mut audience = Some(audience);
    let tasks = parties.iter_mut().enumerate().map(|(rank, party)| {
        let laps = if rank == 0 { audience.take().map(Laps::new) } else { None };
        move || {
            window.await_start();
            let mut witness = board.witness(rank);
            witness.look_at(SAMPLED);
            let laps = match window.phase() {
                Phase::Done => laps,
                _ => meet(&mut **party, &mut witness, last, work, laps),
            };
            (laps, witness.verdict())
        }
    });
    let failed = |failure| explain(failure, method, threads);
    let results =
        together::run(window, tasks, || {}).map_err(|crew| failed(Failure::Threads(crew)))?;
    let mut measured = None;
    for (laps, verdict) in results {
        verdict.map_err(|early| failed(Failure::Early(early)))?;
        measured = measured.or(laps.and_then(Laps::measured));
    }
    Ok(measured)
}

/// Runs the program of one thread. The timing thread has `laps`, and returns them.
fn meet(
    party: &mut dyn Party,
    witness: &mut Witness<'_>,
    last: &Last,
    work: Option<SteadyWork>,
    mut laps: Option<Laps>,
) -> Option<Laps> {
    let mut is_enough = false;
    for round in 1.. {
        if let Some(work) = work {
            work.once();
        }
        if is_enough {
            last.0.store(round, Relaxed);
        }
        witness.comes();
        party.wait();
        witness.leaves();
        if last.0.load(Relaxed) == round {
            break;
        }
        if let Some(laps) = &mut laps {
            is_enough = laps.lap();
        }
    }
    laps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::window::Times;
    use std::time::Duration;

    #[test]
    fn every_barrier_ends_after_the_same_round_on_all_threads() {
        for row in rows() {
            for threads in [1, 2, 3] {
                let times = Times { warm_up: Duration::ZERO, measure: Duration::from_micros(100) };
                let measured = run(&row, threads, 0, Audience::Lab(times)).unwrap().unwrap();
                assert!(measured.operations >= 1, "{} on {threads}", row.name);
            }
        }
    }
}
