//! The ring of a leaf: slots for jobs.

use std::mem::MaybeUninit;
use std::sync::Arc;

use crate::machine::{Cell, Machine, Place};

/// A slot for a job. The pool decides whether the job may go to another thread.
pub(super) struct Job<T>(MaybeUninit<T>);

// SAFETY: a pool is `Send` and `Sync` only if its jobs are `Send`.
unsafe impl<T> Send for Job<T> {}

/// The slots of a ring. Job number n is in slot n modulo their number, which is a power of two. The
/// slots from start to end have a job.
pub(super) type Slots<T, M> = Arc<[<M as Machine>::Cell<Job<T>>]>;

#[inline]
pub(super) fn slot<T, M: Machine>(slots: &[M::Cell<Job<T>>], number: u32) -> &M::Cell<Job<T>> {
    &slots[number as usize & (slots.len() - 1)]
}

/// Writes a job into a slot.
///
/// # Safety
/// The slot has no job, and no other processor accesses it.
#[inline]
pub(super) unsafe fn write<T, M: Machine>(slot: &M::Cell<Job<T>>, job: T) {
    // SAFETY: as the caller says.
    unsafe { slot.with_mut(|slot| _ = slot.0.write(job)) };
}

/// Takes the job out of a slot.
///
/// # Safety
/// The slot has a job, which is the caller's, and no other processor accesses it.
#[inline]
pub(super) unsafe fn take<T, M: Machine>(slot: &M::Cell<Job<T>>) -> T {
    let read = |slot: &mut Job<T>| {
        // SAFETY: the slot has a job, as the caller says, which is not read again.
        unsafe { slot.0.assume_init_read() }
    };
    // SAFETY: as the caller says.
    unsafe { slot.with_mut(read) }
}

/// Returns empty slots near processor `id`. On simulated machines four of them share a line.
pub(super) fn new_slots<T, M: Machine>(id: usize, slots: usize) -> Slots<T, M> {
    let spot = |i| M::spot(Place::named("pool jobs").index(i).near(id));
    let mut line = spot(0);
    let slot = |i: usize| {
        if i > 0 && i.is_multiple_of(4) {
            line = spot(i / 4);
        }
        M::Cell::new(Job(MaybeUninit::uninit()), &line)
    };
    (0..slots).map(slot).collect()
}
