//! Closed pairs: every thread pushes one item and pops one, with work in between.

use std::time::Instant;

use super::team::{self, Figures, Order, Team};
use crate::bench::latency::Recorder;
use crate::bench::pace::Work;
use crate::bench::queues::brake::STINT;
use crate::bench::queues::check::{self, Check, Totals};
use crate::bench::queues::items::value_of;
use crate::bench::queues::run::{Alone, Clock, Failure};
use crate::bench::queues::seats::{Exchange, Seat};

/// Measures million pairs a second, the latency of every call, and fairness. `work_ns` is the mean time of
/// work before each call; without it there is no work and no latency.
pub(super) fn run<X: Exchange<u64>>(
    order: &Order<'_>,
    work_ns: Option<u32>,
) -> Result<Figures, Failure> {
    let queue = Box::new(Alone(X::build(order.room())));
    let exchange = &queue.0;
    let (results, seconds) = team::run(order, Some(order.times), |rank, team| {
        let thread = Thread::new(rank, order, exchange.seat(true), team, work_ns);
        match (team.begin(), work_ns) {
            (false, _) => thread.finish(),
            (true, None) => thread.untimed(),
            (true, Some(_)) => thread.timed(),
        }
    })?;
    let latency = Recorder::together(results.iter().map(|result| &result.times));
    let pairs: Vec<u64> = results.iter().map(|result| result.pairs).collect();
    let pushed: Vec<Totals> = results
        .iter()
        .enumerate()
        .map(|(rank, result)| Totals::pushed(rank, result.pushed))
        .collect();
    let popped = results.into_iter().map(|result| result.check);
    let checked = check::verdict(pushed.into_iter(), popped).map_err(Failure::Wrong)?;
    Ok(Figures {
        value: pairs.iter().sum::<u64>() as f64 / seconds.max(1e-9) / 1e6,
        latency,
        fairness: fairness(&pairs),
        checked,
    })
}

/// Returns the fewest pairs of a thread divided by the most. [`None`] for one thread, or if no
/// thread has any.
fn fairness(pairs: &[u64]) -> Option<f64> {
    let (least, most) = (pairs.iter().min()?, pairs.iter().max()?);
    (pairs.len() > 1 && *most > 0).then(|| *least as f64 / *most as f64)
}

/// The result of a thread.
struct Outcome {
    pushed: u64,
    check: Check,
    times: Recorder,
    /// Pairs in the measured time.
    pairs: u64,
}

/// The program of a thread.
struct Thread<'a, S> {
    rank: usize,
    seat: S,
    pushed: u64,
    check: Check,
    clock: Clock<'a>,
    times: Recorder,
    work: Option<Work>,
}

impl<'a, S: Seat<u64>> Thread<'a, S> {
    fn new(rank: usize, order: &Order<'_>, seat: S, team: &'a Team, work_ns: Option<u32>) -> Self {
        Thread {
            rank,
            seat,
            pushed: 0,
            check: Check::new(order.case.threads, order.in_order),
            clock: Clock::new(&team.window),
            times: Recorder::new(),
            // Random, from 0 to twice the mean: threads must not run in step.
            work: Work::up_to(2 * work_ns.unwrap_or(0)),
        }
    }

    #[inline(always)]
    fn push(&mut self) {
        self.pushed += 1;
        self.seat.put(value_of(self.rank, self.pushed));
    }

    /// Reads the clock after the work before a call. Without work the call follows at once.
    #[inline(always)]
    fn work_until(&mut self, now: Instant) -> Instant {
        match &mut self.work {
            Some(work) => {
                work.once();
                Instant::now()
            }
            None => now,
        }
    }

    #[inline(never)]
    fn timed(mut self) -> Outcome {
        loop {
            let is_measuring = self.clock.is_measuring();
            for _ in 0..STINT {
                let now = Instant::now();
                let push = self.work_until(now);
                self.push();
                let pushed = Instant::now();
                let pop = self.work_until(pushed);
                let item = self.seat.take();
                let popped = Instant::now();
                self.check.note(&item);
                if is_measuring {
                    self.times.record((pushed - push).as_nanos() as u64);
                    self.times.record((popped - pop).as_nanos() as u64);
                }
            }
            if !self.clock.goes_on(self.check.count()) {
                return self.finish();
            }
        }
    }

    #[inline(never)]
    fn untimed(mut self) -> Outcome {
        loop {
            for _ in 0..STINT {
                self.push();
                let item = self.seat.take();
                self.check.note(&item);
            }
            if !self.clock.goes_on(self.check.count()) {
                return self.finish();
            }
        }
    }

    fn finish(self) -> Outcome {
        let Thread { pushed, check, times, clock, .. } = self;
        Outcome { pushed, check, times, pairs: clock.counted() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_the_slowest_of_the_fastest() {
        assert_eq!(fairness(&[50, 100, 80]), Some(0.5));
        assert_eq!(fairness(&[0, 100]), Some(0.0));
        assert_eq!(fairness(&[100]), None);
        assert_eq!(fairness(&[0, 0]), None);
    }
}
