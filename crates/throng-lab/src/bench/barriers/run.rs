//! Makes one measured run: threads wait at a barrier, round after round.
//!
//! Rounds come in blocks. Before each block all threads meet at a gate, which is another barrier
//! than the one under test. The first thread keeps the time and sets the length of the block. So a
//! barrier that does not hold, or panics, cannot leave a thread waiting for ever.
//!
//! ```text
//! gate | one round, so that all are there | clock | block | clock | gate | decide
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier as Gate;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use super::rows::Party;
use super::witness::{Board, Early, SAMPLED, Witness};
use crate::bench::setup::Pinning;
use crate::bench::together::{self, ThreadsFailure};
use crate::bench::window::{Phase, Times, Window};

/// Shortest time of a block, which makes the cost of a gate negligible.
const BLOCK_TIME: Duration = Duration::from_millis(1);
/// Most rounds in a block.
const LONGEST_BLOCK: u64 = 1 << 20;

/// The length of a run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Shortest times of its phases.
    pub times: Times,
    /// Number of rounds to measure. `None`: as many as fit into the time.
    pub rounds: Option<u64>,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Number of measured rounds.
    pub rounds: u64,
    /// Their time in seconds.
    pub seconds: f64,
    /// How often a thread checked whether another had arrived, in warm-up and measurement.
    pub looks: u64,
}

/// The reason why a run has no result.
#[derive(Debug)]
pub(in crate::bench) enum Failure {
    /// The system refused a thread, or one panicked.
    Threads(ThreadsFailure),
    /// The barrier let a thread through too early.
    Early(Early),
}

/// Pins thread `rank` of `threads` to its core, if there is one for each.
pub(in crate::bench) fn pin(pinning: &Pinning, rank: usize, threads: usize) {
    if threads <= crate::threads::cores() {
        pinning.pin(rank);
    }
}

/// Runs the barrier with these parties.
pub(in crate::bench) fn run(
    parties: &mut [Box<dyn Party>],
    plan: Plan,
    pinning: &Pinning,
) -> Result<Measured, Failure> {
    let threads = parties.len();
    let (window, board, control) =
        (&Window::new(), &Board::new(threads), &Control::new(threads, plan));
    let tasks = parties.iter_mut().enumerate().map(|(rank, party)| {
        move || {
            pin(pinning, rank, threads);
            window.await_start();
            let mut witness = board.witness(rank);
            let conductor = (rank == 0).then(|| Conductor::new(plan));
            let measured = match window.phase() {
                Phase::Done => None,
                _ => control.obey(&mut **party, &mut witness, conductor),
            };
            (measured, witness.verdict())
        }
    });
    let results = together::run(window, tasks, || {}).map_err(Failure::Threads)?;
    let mut looks = 0;
    for (_, verdict) in &results {
        looks += verdict.map_err(Failure::Early)?;
    }
    if control.panicked.load(Acquire) {
        return Err(Failure::Threads(ThreadsFailure::Panicked));
    }
    let (rounds, time) = results[0].0.unwrap_or_default();
    Ok(Measured { rounds, seconds: time.as_secs_f64(), looks })
}

/// State that the first thread sets for all.
///
/// # Memory ordering
/// Everything is written by the first thread between two gates and read by all after the second:
/// the gates order it.
struct Control {
    gate: Gate,
    /// Rounds of the next block; 0 when the run is over.
    rounds: AtomicU64,
    is_measuring: AtomicBool,
    panicked: AtomicBool,
}

impl Control {
    fn new(threads: usize, plan: Plan) -> Self {
        let first = Conductor::new(plan).order();
        Control {
            gate: Gate::new(threads),
            rounds: AtomicU64::new(first),
            is_measuring: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
        }
    }

    /// Runs the program of a thread. That of the first returns the number of measured rounds, and
    /// their time.
    fn obey(
        &self,
        party: &mut dyn Party,
        witness: &mut Witness<'_>,
        mut conductor: Option<Conductor>,
    ) -> Option<(u64, Duration)> {
        loop {
            self.gate.wait();
            let rounds = self.rounds.load(Acquire);
            if rounds == 0 || self.panicked.load(Acquire) {
                return conductor.map(|conductor| (conductor.measured, conductor.time));
            }
            witness.look_at(if self.is_measuring.load(Acquire) { SAMPLED } else { 1 });
            let block = catch_unwind(AssertUnwindSafe(|| {
                party.rounds(1, witness);
                let start = Instant::now();
                party.rounds(rounds, witness);
                start.elapsed()
            }));
            if block.is_err() {
                self.panicked.store(true, Release);
            }
            self.gate.wait();
            if let (Some(conductor), Ok(time)) = (&mut conductor, block) {
                conductor.note(time);
                self.is_measuring.store(conductor.is_measuring, Release);
                self.rounds.store(conductor.order(), Release);
            }
        }
    }
}

/// Chooses the lengths of the blocks, and the end of the run.
struct Conductor {
    plan: Plan,
    is_measuring: bool,
    block: u64,
    warmed: Duration,
    measured: u64,
    time: Duration,
}

impl Conductor {
    fn new(plan: Plan) -> Self {
        Conductor {
            plan,
            is_measuring: false,
            block: 1,
            warmed: Duration::ZERO,
            measured: 0,
            time: Duration::ZERO,
        }
    }

    /// Returns the rounds of the next block; 0 at the end.
    fn order(&self) -> u64 {
        let left = match self.plan.rounds {
            _ if !self.is_measuring => LONGEST_BLOCK,
            Some(rounds) => rounds - self.measured,
            None if self.time >= self.plan.times.measure && self.measured > 0 => 0,
            None => LONGEST_BLOCK,
        };
        self.block.min(left)
    }

    /// Records the time of a block.
    fn note(&mut self, time: Duration) {
        if self.is_measuring {
            self.measured += self.order();
            self.time += time;
        } else {
            self.warmed += time;
            self.is_measuring = self.warmed >= self.plan.times.warm_up;
            if time < BLOCK_TIME && self.block < LONGEST_BLOCK {
                self.block *= 2;
            }
        }
        // Many threads may meet quickly while some are still starting, and very slowly later.
        if time > 2 * BLOCK_TIME {
            let part = BLOCK_TIME.as_secs_f64() / time.as_secs_f64();
            self.block = ((self.block as f64 * part) as u64).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::barriers::rows::{self, Parties};

    fn plan(rounds: Option<u64>) -> Plan {
        let time = Duration::from_millis(3);
        Plan { times: Times { warm_up: time, measure: time }, rounds }
    }

    #[test]
    fn every_barrier_holds_and_is_measured() {
        let pinning = Pinning::find();
        for row in rows::all() {
            for threads in [1, 2, 3] {
                let measured = run(&mut row.build(threads).unwrap(), plan(None), &pinning).unwrap();
                assert!(measured.rounds > 0 && measured.seconds > 0.0, "{}", row.name);
                assert_eq!(measured.looks > 0, threads > 1, "{}", row.name);
            }
        }
    }

    #[test]
    fn as_many_rounds_as_asked_for() {
        let mut parties = rows::all().remove(0).build(2).unwrap();
        let measured = run(&mut parties, plan(Some(77)), &Pinning::find()).unwrap();
        assert_eq!(measured.rounds, 77);
    }

    #[test]
    fn blocks_grow_to_a_millisecond_and_shrink_when_rounds_get_slow() {
        let time = Duration::from_millis(20);
        let plan = Plan { times: Times { warm_up: time, measure: time }, rounds: None };
        let mut conductor = Conductor::new(plan);
        let a_round = Duration::from_micros(10);
        while !conductor.is_measuring {
            conductor.note(a_round * conductor.order() as u32);
        }
        assert_eq!(conductor.order(), 128);
        conductor.note(a_round * 128);
        conductor.note(Duration::from_millis(12));
        assert_eq!((conductor.measured, conductor.order()), (256, 10));
        conductor.note(Duration::from_millis(10));
        assert_eq!((conductor.measured, conductor.order()), (266, 0), "it is enough");
    }

    /// A barrier that lets every thread through at once.
    struct Open;

    impl Party for Open {
        fn wait(&mut self) {}
    }

    #[test]
    fn a_barrier_that_does_not_hold_is_caught() {
        let mut parties: Parties = vec![Box::new(Open), Box::new(Open)];
        match run(&mut parties, plan(None), &Pinning::find()) {
            Err(Failure::Early(early)) => assert!(early.missing_round < early.round),
            other => panic!("not caught: {other:?}"),
        }
    }

    /// A barrier that panics in its tenth round.
    struct Panics(u32);

    impl Party for Panics {
        fn wait(&mut self) {
            self.0 += 1;
            assert!(self.0 < 10, "as it should");
        }
    }

    #[test]
    fn a_panic_ends_the_run_and_not_the_program() {
        let mut parties: Parties = vec![Box::new(Panics(0))];
        let failure = run(&mut parties, plan(None), &Pinning::find()).unwrap_err();
        assert!(matches!(failure, Failure::Threads(ThreadsFailure::Panicked)), "{failure:?}");
    }
}
