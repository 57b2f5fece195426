//! Runs one case on several threads, and describes its runs.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Instant;

use super::cases::Case;
use crate::bench::barriers::run::pin;
use crate::bench::latency::Latency;
use crate::bench::queues::ending::{Ending, Leaving};
use crate::bench::queues::run::Failure;
use crate::bench::setup::Pinning;
use crate::bench::together;
use crate::bench::window::{Phase, Times, Window};

/// One run of one case by one contender.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The contender, for messages.
    pub method: &'static str,
    /// The case.
    pub case: &'a Case,
    /// Whether the contender has a bound.
    pub bounded: bool,
    /// Whether the items of a producer must come out in order.
    pub in_order: bool,
    /// The times of its phases.
    pub times: Times,
    /// Depth of a tree of jobs. [`None`]: as deep as the time allows.
    pub depth: Option<u32>,
    /// The cores of the threads.
    pub pinning: &'a Pinning,
}

/// Capacity of a bounded queue, where the case does not say.
const ROOM: usize = 4096;

impl Order<'_> {
    /// Returns the capacity of a queue of several threads, or [`None`] for an unbounded one.
    pub fn room(&self) -> Option<usize> {
        self.bounded.then_some(ROOM)
    }
}

/// The results of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// The result, in the unit of the group.
    pub value: f64,
    /// Latencies, where the case has them.
    pub latency: Option<Latency>,
    /// Pairs of the slowest thread divided by those of the fastest.
    pub fairness: Option<f64>,
    /// Number of checked items.
    pub checked: u64,
}

/// State shared by the threads of a run.
pub(super) struct Team {
    pub(super) window: Window,
    /// Whether all threads have been started.
    is_complete: AtomicBool,
}

impl Team {
    /// Waits for the other threads. Returns whether all of them could be started.
    pub(super) fn begin(&self) -> bool {
        self.window.await_start();
        self.window.phase() != Phase::Done || self.is_complete.load(Acquire)
    }
}

/// Runs `task` on each thread of the case and returns the results of the threads.
///
/// A task prepares itself and calls [`Team::begin`]. With `times` the phases of the window follow
/// the clock; without, the tasks end by themselves.
pub(super) fn run<R: Send>(
    order: &Order<'_>,
    times: Option<Times>,
    task: impl Fn(usize, &Team) -> R + Sync,
) -> Result<(Vec<R>, f64), Failure> {
    let threads = order.case.threads;
    let team = &Team { window: Window::new(), is_complete: AtomicBool::new(false) };
    let (ending, task) = (&Ending::new(threads), &task);
    let tasks = (0..threads).map(|rank| {
        move || {
            let _leaving = Leaving(ending);
            pin(order.pinning, rank, threads);
            task(rank, team)
        }
    });
    let conduct = || {
        team.is_complete.store(true, Release);
        if let Some(times) = times {
            team.window.conduct(times);
        }
        if let Err(hung) = ending.watch() {
            hung.give_up(order.method, order.case.of_messages(), threads);
        }
    };
    let results = together::run(&team.window, tasks, conduct).map_err(Failure::Threads)?;
    Ok((results, team.window.seconds()))
}

impl Case {
    /// Returns the name for messages.
    pub(super) fn of_messages(&self) -> String {
        format!("the case {}", self.name)
    }
}

/// Returns the nanoseconds from `start` to now.
#[inline]
pub(super) fn ns_since(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64
}
