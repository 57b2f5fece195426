//! Samples the latency of calls in a separate run: the clock must not disturb the throughput.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::items::Item;
use super::run::{Alone, Failure, Order, run_on};
use super::seats::{Exchange, Seat};
use crate::bench::latency::{Latency, Recorder};

/// One call in this many is timed. Odd, so that of alternating pushes and pops both are.
const PERIOD: u32 = 17;
/// The first calls of a thread find cold memory and are not timed.
const FIRST: u32 = 256;

/// A function that samples one queue.
pub(in crate::bench) type Sample = fn(&Order<'_>) -> Result<Option<Latency>, Failure>;

/// Runs one queue and returns the latency of its pushes and pops, or [`None`] if there were too few.
pub(in crate::bench) fn sample<T: Item, X: Exchange<T>>(
    order: &Order<'_>,
) -> Result<Option<Latency>, Failure> {
    let queue = Box::new(Alone(Sampled::<X>::build_with(|| X::build(order.room))));
    run_on::<T, _>(order, &queue.0)?;
    let times = queue.0.times.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Recorder::together([&*times].into_iter()))
}

/// A queue whose calls are sampled.
struct Sampled<X> {
    queue: X,
    /// The latencies of all finished threads.
    times: Mutex<Recorder>,
}

impl<X> Sampled<X> {
    fn build_with(build: impl FnOnce() -> X) -> Self {
        Sampled { queue: build(), times: Mutex::new(Recorder::new()) }
    }
}

impl<T: Item, X: Exchange<T>> Exchange<T> for Sampled<X> {
    type Seat<'a>
        = Timed<'a, X::Seat<'a>>
    where
        X: 'a;

    fn build(room: Option<usize>) -> Self {
        Sampled::build_with(|| X::build(room))
    }

    fn seat(&self, pops: bool) -> Self::Seat<'_> {
        let (seat, times) = (self.queue.seat(pops), Recorder::new());
        Timed { seat, calls: 0, times, all: &self.times }
    }
}

/// One thread's handle of a queue, with a clock.
struct Timed<'a, S> {
    seat: S,
    calls: u32,
    times: Recorder,
    all: &'a Mutex<Recorder>,
}

impl<S> Timed<'_, S> {
    #[inline(always)]
    fn time<R>(&mut self, call: impl FnOnce(&mut S) -> R) -> R {
        self.calls = self.calls.wrapping_add(1);
        if self.calls < FIRST || !self.calls.is_multiple_of(PERIOD) {
            return call(&mut self.seat);
        }
        let start = Instant::now();
        let result = call(&mut self.seat);
        self.times.record(start.elapsed().as_nanos() as u64);
        result
    }
}

impl<T, S: Seat<T>> Seat<T> for Timed<'_, S> {
    #[inline(always)]
    fn put(&mut self, item: T) {
        self.time(|seat| seat.put(item));
    }

    #[inline(always)]
    fn offer(&mut self, item: T) -> Result<(), T> {
        self.seat.offer(item)
    }

    #[inline(always)]
    fn take(&mut self) -> T {
        self.time(Seat::take)
    }

    #[inline(always)]
    fn poll(&mut self) -> Option<T> {
        self.seat.poll()
    }
}

impl<S> Drop for Timed<'_, S> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).add(&self.times);
    }
}

#[cfg(test)]
mod tests {
    use super::super::mixes::Mix;
    use super::*;
    use crate::bench::setup::Pinning;
    use crate::bench::window::Times;
    use crossbeam_queue::ArrayQueue;
    use std::time::Duration;

    #[test]
    fn pushes_and_pops_of_all_threads_are_sampled() {
        for mix in [Mix::Pairs, Mix::Even] {
            // On a busy machine a thread may start only when the time is up.
            let latency = [20, 200, 2000].into_iter().find_map(|ms| {
                let order = Order {
                    method: "test",
                    mix,
                    threads: 2,
                    times: Times { warm_up: Duration::ZERO, measure: Duration::from_millis(ms) },
                    room: Some(64),
                    in_order: true,
                    work_ns: 0,
                    pinning: &Pinning::find(),
                };
                sample::<u64, ArrayQueue<u64>>(&order).unwrap()
            });
            let latency = latency.expect("both threads have called often");
            assert!(0.0 < latency.p50_ns && latency.p50_ns <= latency.max_ns, "{latency:?}");
        }
    }

    #[test]
    fn one_call_in_many_is_timed() {
        let all = Mutex::new(Recorder::new());
        let calls = FIRST + 100 * PERIOD;
        let mut timed = Timed { seat: (), calls: 0, times: Recorder::new(), all: &all };
        (0..calls).for_each(|_| timed.time(|()| ()));
        drop(timed);
        assert_eq!(all.into_inner().unwrap().count(), 100);
    }
}
