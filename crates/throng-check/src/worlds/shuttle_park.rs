//! shuttle, with processors that sleep until they are woken.

use std::fmt;
use std::sync::atomic::Ordering::{self, SeqCst};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;
use throng::machine::{Cell, Machine, Place, WayOut, Word};

use super::shuttle_world::{Shuttle, ShuttleCell, ShuttleCpu, ShuttleWord};

/// The world of [`Shuttle`], in which a [sleep](Word::sleep_while) ends by a wake-up and by nothing else.
///
/// Real threads set timers, so a lost wake-up costs them time and is hard to see. Here it is a deadlock, which shuttle
/// reports. As real threads do, a processor goes to sleep only if the word has not changed since it looked, in one step.
///
/// Nothing wakes a processor when an alarm is raised. With `ALARMS`, a processor that has an alarm polls, unless its
/// way out says that it is [always woken](WayOut::is_always_woken). Without, no alarm may be raised. A processor with a
/// deadline polls.
#[derive(Clone, Copy, Debug)]
pub struct ShuttlePark<const ALARMS: bool>;

// SAFETY: words are shuttle's atomics, waits end only when they may, and `Shuttle::explore` numbers the processors.
unsafe impl<const ALARMS: bool> Machine for ShuttlePark<ALARMS> {
    type Word = ShuttleParkWord;
    type Cell<T: Send> = ShuttleParkCell<T>;
    type Cpu = ShuttleCpu;
    type Spot = ();

    fn spot(_place: Place) {}

    fn fence(order: Ordering) {
        Shuttle::fence(order);
    }
}

/// What one sleeping processor waits for.
#[derive(Default)]
struct Bell {
    has_rung: Mutex<bool>,
    bell: Condvar,
}

impl Bell {
    fn wait(&self) {
        let mut has_rung = self.has_rung.lock().unwrap_or_else(PoisonError::into_inner);
        while !*has_rung {
            has_rung = self.bell.wait(has_rung).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn ring(&self) {
        *self.has_rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.bell.notify_one();
    }
}

/// A word, and the processors that sleep on it.
pub struct ShuttleParkWord {
    word: ShuttleWord,
    /// No part of the schedule: no processor switches while it holds this lock.
    sleepers: StdMutex<Vec<Arc<Bell>>>,
}

impl fmt::Debug for ShuttleParkWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.word.fmt(f)
    }
}

impl ShuttleParkWord {
    /// Sleeps until it is woken, unless the word has changed since `seen` was read.
    fn sleep(&self, seen: u64) {
        let bell = Arc::new(Bell::default());
        // Shuttle switches before a load, not after it: the comparison and the entry are one step.
        if Word::<Shuttle>::load(&self.word, SeqCst) == seen {
            self.sleepers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&bell));
            bell.wait();
        }
    }

    fn wake(&self, most: usize) {
        // Other processors may have their turn before the system call.
        Shuttle::fence(SeqCst);
        let woken: Vec<_> = {
            let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
            let count = most.min(sleepers.len());
            sleepers.drain(..count).collect()
        };
        for bell in woken {
            bell.ring();
        }
    }
}

/// Operations that are shuttle's own.
macro_rules! as_shuttle {
    ($($name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        $(fn $name(&self, $($argument: $kind),*) $(-> $result)? {
            Word::<Shuttle>::$name(&self.word, $($argument),*)
        })*
    };
}

impl<const ALARMS: bool> Word<ShuttlePark<ALARMS>> for ShuttleParkWord {
    fn new(value: u64, spot: &()) -> Self {
        ShuttleParkWord { word: Word::<Shuttle>::new(value, spot), sleepers: StdMutex::default() }
    }

    as_shuttle! {
        load(order: Ordering) -> u64;
        store(value: u64, order: Ordering);
        swap(value: u64, order: Ordering) -> u64;
        compare_exchange(current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64>;
        fetch_add(value: u64, order: Ordering) -> u64;
        fetch_sub(value: u64, order: Ordering) -> u64;
        fetch_or(value: u64, order: Ordering) -> u64;
        fetch_and(value: u64, order: Ordering) -> u64;
        wait_while(cpu: &ShuttleCpu, order: Ordering, blocked: impl FnMut(u64) -> bool) -> u64;
        spin_while(cpu: &ShuttleCpu, polls: u32, order: Ordering, blocked: impl FnMut(u64) -> bool) -> u64;
    }

    fn sleep_while(
        &self,
        cpu: &ShuttleCpu,
        order: Ordering,
        way_out: &WayOut<'_, ShuttlePark<ALARMS>>,
        mut blocked: impl FnMut(u64) -> bool,
    ) -> Option<u64> {
        let polls = way_out.deadline.is_some() || ALARMS && way_out.alarm.is_some();
        loop {
            let value = Word::<Shuttle>::load(&self.word, order);
            if !blocked(value) {
                return Some(value);
            }
            if way_out.is_open(cpu) {
                // It may have been opened after the event.
                let value = Word::<Shuttle>::load(&self.word, order);
                return (!blocked(value)).then_some(value);
            }
            if polls && !way_out.is_always_woken {
                thread::yield_now();
            } else {
                self.sleep(value);
            }
        }
    }

    fn signal(&self, value: u64) {
        Word::<Shuttle>::store(&self.word, value, SeqCst);
        self.wake(usize::MAX);
    }

    fn wake(&self) {
        self.wake(usize::MAX);
    }

    fn wake_one(&self) {
        self.wake(1);
    }

    fn wake_always(&self) {
        self.wake(usize::MAX);
    }
}

/// A cell, as in the world of shuttle.
pub struct ShuttleParkCell<T>(ShuttleCell<T>);

impl<T> fmt::Debug for ShuttleParkCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Send, const ALARMS: bool> Cell<T, ShuttlePark<ALARMS>> for ShuttleParkCell<T> {
    fn new(value: T, spot: &()) -> Self {
        ShuttleParkCell(Cell::<T, Shuttle>::new(value, spot))
    }

    unsafe fn with_mut<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the caller promises that no other access overlaps.
        unsafe { Cell::<T, Shuttle>::with_mut(&self.0, f) }
    }

    fn into_inner(self) -> T {
        Cell::<T, Shuttle>::into_inner(self.0)
    }
}
