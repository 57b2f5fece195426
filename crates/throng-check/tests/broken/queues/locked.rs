//! A deque under a lock, and plain mistakes.

use std::collections::VecDeque;
use std::mem;

use throng::machine::{Machine, WayOut};
use throng::structures::lock::{BackoffLock, Guarded};
use throng::structures::pool::{PopError, PushError};
use throng_check::workload::Store;

use super::{Parcel, waiting_forms};

/// The last item in is the first out.
pub(crate) const LAST_FIRST: u8 = 1;
/// A pushed item goes before the last one.
pub(crate) const SWAPS_NEIGHBOURS: u8 = 2;
/// One item is handed out twice.
pub(crate) const HANDS_OUT_TWICE: u8 = 3;
/// The last place is never used.
pub(crate) const FULL_TOO_EARLY: u8 = 4;
/// There is one place too many.
pub(crate) const FULL_TOO_LATE: u8 = 5;
/// Pushes do not check whether it is closed.
pub(crate) const TAKES_AFTER_CLOSE: u8 = 6;
/// When closed, pops report that although there are items inside.
pub(crate) const FORGETS_AT_CLOSE: u8 = 7;
/// A full queue returns the item that was pushed last, and keeps the new one.
pub(crate) const GIVES_ANOTHER_BACK: u8 = 8;
/// Items that were handed out are dropped with the queue.
pub(crate) const DROPS_TWICE: u8 = 9;
/// Items that are inside at the end are not dropped.
pub(crate) const LEAKS: u8 = 10;
/// An item that is pushed goes before the last one, once in [`RARELY`] pushes.
pub(crate) const SWAPS_RARELY: u8 = 11;
/// A pop says that there is nothing, once in [`RARELY`] pops of a queue that is not empty.
pub(crate) const SAYS_EMPTY_RARELY: u8 = 12;
/// For faults that only a long record shows.
const RARELY: u64 = 5_000;
/// Not a fault of this one.
const DEAF: u8 = u8::MAX;

struct Inside<const FAULT: u8> {
    items: VecDeque<Parcel>,
    closed: bool,
    forged: Vec<Parcel>,
    /// Pushes of [`SWAPS_RARELY`], or pops of [`SAYS_EMPTY_RARELY`], that could have been wrong.
    chances: u64,
}

impl<const FAULT: u8> Inside<FAULT> {
    /// Whether this chance to be wrong is taken.
    fn is_wrong_now(&mut self) -> bool {
        self.chances += 1;
        self.chances.is_multiple_of(RARELY)
    }
}

impl<const FAULT: u8> Drop for Inside<FAULT> {
    fn drop(&mut self) {
        if FAULT == LEAKS {
            // BROKEN: it owns these items.
            self.items.drain(..).for_each(mem::forget);
        }
    }
}

pub(crate) struct Locked<M: Machine, const FAULT: u8> {
    inside: Guarded<Inside<FAULT>, BackoffLock<M>, M>,
    capacity: usize,
}

impl<M: Machine, const FAULT: u8> Locked<M, FAULT> {
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        let inside =
            Inside { items: VecDeque::new(), closed: false, forged: Vec::new(), chances: 0 };
        let capacity = capacity.unwrap_or(usize::MAX);
        let capacity = match FAULT {
            // BROKEN: by one.
            FULL_TOO_EARLY if capacity < usize::MAX => capacity - 1,
            FULL_TOO_LATE => capacity.saturating_add(1),
            _ => capacity,
        };
        Locked { inside: Guarded::new(inside), capacity }
    }
}

impl<M: Machine, const FAULT: u8> Store<Parcel, M> for Locked<M, FAULT> {
    fn try_push_on(&self, cpu: &M::Cpu, item: Parcel) -> Result<(), PushError<Parcel>> {
        self.inside.with(cpu, |inside| {
            // BROKEN: TAKES_AFTER_CLOSE.
            if inside.closed && FAULT != TAKES_AFTER_CLOSE {
                return Err(PushError::Closed(item));
            }
            if inside.items.len() >= self.capacity {
                if FAULT == GIVES_ANOTHER_BACK {
                    // BROKEN: that one was taken.
                    let last = inside.items.pop_back();
                    inside.items.push_back(item);
                    return Err(PushError::Full(last.expect("it is full")));
                }
                return Err(PushError::Full(item));
            }
            inside.items.push_back(item);
            let len = inside.items.len();
            if len > 1
                && (FAULT == SWAPS_NEIGHBOURS || FAULT == SWAPS_RARELY && inside.is_wrong_now())
            {
                // BROKEN: it came later.
                inside.items.swap(len - 1, len - 2);
            }
            Ok(())
        })
    }

    fn try_pop_on(&self, cpu: &M::Cpu) -> Result<Parcel, PopError> {
        self.inside.with(cpu, |inside| {
            if FAULT == FORGETS_AT_CLOSE && inside.closed {
                // BROKEN: there may be items.
                return Err(PopError::Closed);
            }
            if FAULT == SAYS_EMPTY_RARELY && !inside.items.is_empty() && inside.is_wrong_now() {
                // BROKEN: there is something inside.
                return Err(PopError::Empty);
            }
            // BROKEN: LAST_FIRST.
            let item = match FAULT {
                LAST_FIRST => inside.items.pop_back(),
                _ => inside.items.pop_front(),
            };
            let nothing = if inside.closed { PopError::Closed } else { PopError::Empty };
            let item = item.ok_or(nothing)?;
            if FAULT == HANDS_OUT_TWICE && inside.forged.is_empty() {
                // BROKEN: here it is again.
                inside.items.push_front(item.forged());
                inside.forged.push(item.forged());
            }
            if FAULT == DROPS_TWICE {
                // BROKEN: it no longer owns this item.
                inside.forged.push(item.forged());
            }
            Ok(item)
        })
    }

    fn close_on(&self, cpu: &M::Cpu) -> bool {
        self.inside.with(cpu, |inside| !mem::replace(&mut inside.closed, true))
    }

    waiting_forms!();
}
