//! Words of simulated memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::panicking;

use throng::machine::{WayOut, Word};

use super::{Sim, SimCpu, SimSpot};
use crate::trace::Operation;
use crate::turn::{self, Address, Slept};

/// The number of cycles of one poll of a bounded spin.
pub const POLL_CYCLES: u64 = 4;

/// The time between two checks of the way out by a sleeping processor. It is long, because a check
/// is an access of its own.
const WAY_OUT_CYCLES: u64 = 100_000;

/// Panics, because the wait cannot end. Returns if a destructor waits while a processor unwinds.
fn must_unwind(value: u64) {
    assert!(
        panicking(),
        "a wait for a word that is {value}, outside a simulation: no other processor runs that \
         could change it"
    );
}

/// A word of simulated memory.
///
/// The value is an atomic so that the word can be shared as the contract asks. One thread at a time
/// uses it, and the engine decides the order.
#[derive(Debug)]
pub struct SimWord {
    value: AtomicU64,
    address: Address,
}

impl SimWord {
    #[inline]
    fn access(&self, operation: Operation, change: impl FnOnce(u64) -> Option<u64>) -> u64 {
        turn::access(&self.address, operation, &self.value, change)
    }

    fn sleep(&self, seen: u64, until: Option<u64>) -> Slept {
        turn::sleep(&self.address, &self.value, seen, until)
    }
}

impl Word<Sim> for SimWord {
    fn new(value: u64, spot: &SimSpot) -> Self {
        SimWord { value: AtomicU64::new(value), address: spot.0.new_word() }
    }

    #[inline]
    fn load(&self, _order: Ordering) -> u64 {
        self.access(Operation::Load, |_| None)
    }

    #[inline]
    fn store(&self, value: u64, _order: Ordering) {
        self.access(Operation::Store, |_| Some(value));
    }

    #[inline]
    fn swap(&self, value: u64, _order: Ordering) -> u64 {
        self.access(Operation::Swap, |_| Some(value))
    }

    #[inline]
    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        _success: Ordering,
        _failure: Ordering,
    ) -> Result<u64, u64> {
        let found =
            self.access(Operation::CompareExchange, |found| (found == current).then_some(new));
        if found == current { Ok(found) } else { Err(found) }
    }

    #[inline]
    fn fetch_add(&self, value: u64, _order: Ordering) -> u64 {
        self.access(Operation::FetchAdd, |found| Some(found.wrapping_add(value)))
    }

    #[inline]
    fn fetch_sub(&self, value: u64, _order: Ordering) -> u64 {
        self.access(Operation::FetchSub, |found| Some(found.wrapping_sub(value)))
    }

    #[inline]
    fn fetch_or(&self, value: u64, _order: Ordering) -> u64 {
        self.access(Operation::FetchOr, |found| Some(found | value))
    }

    #[inline]
    fn fetch_and(&self, value: u64, _order: Ordering) -> u64 {
        self.access(Operation::FetchAnd, |found| Some(found & value))
    }

    /// Looks once, and again whenever its copy of the line is taken away; sleeps in between.
    /// Without copies it looks every [`POLL_CYCLES`].
    ///
    /// A processor that unwinds does not wait: it gets the value that it saw.
    ///
    /// # Panics
    /// If it would have to wait outside a simulation.
    fn wait_while(
        &self,
        _cpu: &SimCpu,
        order: Ordering,
        mut blocked: impl FnMut(u64) -> bool,
    ) -> u64 {
        loop {
            let value = self.load(order);
            if !blocked(value) {
                return value;
            }
            match self.sleep(value, None) {
                Slept::Woken | Slept::TimedOut => {}
                Slept::NoCopy => {
                    turn::pass(POLL_CYCLES);
                }
                Slept::NotAllowed => {
                    must_unwind(value);
                    return value;
                }
            }
        }
    }

    /// Looks like [`wait_while`](Word::wait_while), and checks the way out every 100 000 cycles.
    fn sleep_while(
        &self,
        cpu: &SimCpu,
        order: Ordering,
        way_out: &WayOut<'_, Sim>,
        mut blocked: impl FnMut(u64) -> bool,
    ) -> Option<u64> {
        if way_out.alarm.is_none() && way_out.deadline.is_none() {
            return Some(self.wait_while(cpu, order, blocked));
        }
        let mut next_look = turn::now() + WAY_OUT_CYCLES;
        loop {
            let value = self.load(order);
            if !blocked(value) {
                return Some(value);
            }
            let until = way_out.deadline.map_or(next_look, |deadline| next_look.min(deadline));
            if turn::now() >= until {
                if way_out.is_open(cpu) {
                    // The way out may have been opened after the event.
                    let value = self.load(order);
                    return (!blocked(value)).then_some(value);
                }
                next_look = turn::now() + WAY_OUT_CYCLES;
                continue;
            }
            match self.sleep(value, Some(until)) {
                Slept::Woken | Slept::TimedOut => {}
                Slept::NoCopy => {
                    turn::pass(POLL_CYCLES);
                }
                Slept::NotAllowed => {
                    must_unwind(value);
                    return None;
                }
            }
        }
    }

    /// Looks like [`wait_while`](Word::wait_while), until the time of `polls` polls has passed
    /// since the first look.
    fn spin_while(
        &self,
        _cpu: &SimCpu,
        polls: u32,
        order: Ordering,
        mut blocked: impl FnMut(u64) -> bool,
    ) -> u64 {
        let mut value = self.load(order);
        if polls <= 1 {
            return value;
        }
        let until = turn::now() + u64::from(polls - 1) * POLL_CYCLES;
        let mut looks = 1;
        while looks < polls && turn::now() < until && blocked(value) {
            match self.sleep(value, Some(until)) {
                Slept::Woken => {}
                Slept::NoCopy => {
                    turn::pass(POLL_CYCLES);
                }
                // Then it still has the value last seen.
                Slept::TimedOut | Slept::NotAllowed => break,
            }
            value = self.load(order);
            looks += 1;
        }
        value
    }
}
