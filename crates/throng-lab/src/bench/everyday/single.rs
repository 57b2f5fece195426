//! One thread alone: bursts, full queues, queues that live for one item.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::cases::Load;
use super::tally::Tally;
use super::team::{self, Figures, Order};
use crate::bench::queues::check::Wrong;
use crate::bench::queues::run::Failure;
use crate::bench::queues::seats::{Exchange, Seat};
use crate::bench::stats::{median, sorted};

/// Capacity of a bounded queue, where the case does not say: more than the longest burst.
const ROOM: usize = 1024;

/// Measures one case of one thread.
pub(super) fn run<X: Exchange<u64>>(order: &Order<'_>) -> Result<Figures, Failure> {
    let (mut results, _) = team::run(order, None, |_, team| {
        team.begin();
        measure::<X>(order)
    })?;
    let (ns_a_cycle, checked) = results.remove(0).map_err(Failure::Wrong)?;
    Ok(Figures { value: ns_a_cycle, checked, ..Figures::default() })
}

/// Returns the nanoseconds of a cycle and the number of checked items.
fn measure<X: Exchange<u64>>(order: &Order<'_>) -> Result<(f64, u64), Wrong> {
    let mut tally = Tally::default();
    let time = order.times.measure;
    let capacity = match order.case.load {
        Load::Fill(capacity) => capacity,
        _ => ROOM,
    };
    let room = order.bounded.then_some(capacity);
    let ns_a_cycle = match order.case.load {
        Load::Create(capacity) => {
            repeat(time, || create::<X>(order.bounded.then_some(capacity).flatten(), &mut tally))
        }
        load => {
            let queue = X::build(room);
            let mut seat = queue.seat(true);
            let ns = match load {
                Load::Burst(items) => repeat(time, || burst(&mut seat, items, &mut tally)),
                Load::Fill(capacity) => {
                    let mut is_right = true;
                    let cycle = || is_right &= fill(&mut seat, capacity, &mut tally);
                    let ns = repeat(time, cycle);
                    is_right.then_some(ns).ok_or(Wrong::Room { capacity })?
                }
                Load::Backlog(items) => {
                    (0..items).for_each(|_| seat.put(tally.next()));
                    repeat(time, || pop_push(&mut seat, &mut tally))
                }
                Load::FullPopPush => {
                    (0..capacity).for_each(|_| seat.put(tally.next()));
                    repeat(time, || pop_push(&mut seat, &mut tally))
                }
                _ => repeat(time, || push_pop(&mut seat, &mut tally)),
            };
            drain(&mut seat, &mut tally);
            ns
        }
    };
    Ok((ns_a_cycle, tally.verdict(order.in_order)?))
}

/// The shortest batch that is timed: the clock takes 0.2 % of it.
const BATCH: Duration = Duration::from_micros(20);

/// Repeats a cycle for `time` and returns its nanoseconds: the median of batches.
fn repeat(time: Duration, mut cycle: impl FnMut()) -> f64 {
    let mut cycles = 1_u32;
    let mut batch = |cycles: u32| {
        let start = Instant::now();
        (0..cycles).for_each(|_| cycle());
        start.elapsed()
    };
    while batch(cycles) < BATCH {
        cycles *= 2;
    }
    let start = Instant::now();
    let mut batches_ns = Vec::new();
    while batches_ns.is_empty() || start.elapsed() < time {
        batches_ns.push(batch(cycles).as_nanos() as f64 / f64::from(cycles));
    }
    median(&sorted(batches_ns.into_iter())).unwrap_or(0.0)
}

/// Pushes `items` items and pops until the queue says that it is empty.
#[inline(always)]
fn burst<S: Seat<u64>>(seat: &mut S, items: usize, tally: &mut Tally) {
    (0..items).for_each(|_| seat.put(tally.next()));
    drain(seat, tally);
}

#[inline(always)]
fn drain<S: Seat<u64>>(seat: &mut S, tally: &mut Tally) {
    while let Some(item) = seat.poll() {
        tally.note(&item);
    }
}

/// Pushes `capacity` items, is refused once and pops all. Returns whether exactly one was refused.
#[inline(always)]
fn fill<S: Seat<u64>>(seat: &mut S, capacity: usize, tally: &mut Tally) -> bool {
    let mut is_right = true;
    for _ in 0..capacity {
        if seat.offer(tally.next()).is_err() {
            tally.take_back();
            is_right = false;
        }
    }
    match seat.offer(tally.next()) {
        Err(_) => tally.take_back(),
        Ok(()) => is_right = false,
    }
    drain(seat, tally);
    is_right
}

#[inline(always)]
fn pop_push<S: Seat<u64>>(seat: &mut S, tally: &mut Tally) {
    if let Some(item) = seat.poll() {
        tally.note(&item);
    }
    if seat.offer(tally.next()).is_err() {
        tally.take_back();
    }
}

#[inline(always)]
fn push_pop<S: Seat<u64>>(seat: &mut S, tally: &mut Tally) {
    seat.put(tally.next());
    tally.note(&seat.take());
}

#[inline(always)]
fn create<X: Exchange<u64>>(room: Option<usize>, tally: &mut Tally) {
    let queue = X::build(room);
    let mut seat = black_box(&queue).seat(true);
    seat.put(tally.next());
    tally.note(&seat.take());
}
