//! A leaf: the jobs of one processor. Its owner pushes and pops at the new end; all other
//! processors take jobs from the old end.
//!
//! ```text
//!              start                          end
//!                v                             v
//!   ring:  . . [job][job][job][job][job][job] . .
//!          thieves, under a lock ->      <- owner, without a lock
//! ```
//!
//! The two sides decide about the last jobs like the THE protocol of Cilk-5 (Frigo, Leiserson and
//! Randall, *The implementation of the Cilk-5 multithreaded language*, PLDI 1998, section 5): each
//! side first moves its own end, then looks at the other one. A push is two stores and a load; a
//! pop is a store, a fence and a load.
//!
//! The two words of a leaf are in `words.rs`, its ring of jobs in `slots.rs`. The owner writes `top`. `head` is written
//! under the lock that is its bit 0.
//!
//! | step | `top` | `head` |
//! |---|---|---|
//! | owner pushes | `PUSHING`; then end + 1, puts + 1 | |
//! | owner pops | end - 1, fence, look at `head` | |
//! | a thief takes k jobs | fence, look at `top` | `LOCKED`; then start + k; fewer if the owner was faster; free |
//!
//! # Why no job is taken twice
//! A thief raises start and then looks at end. The owner lowers end and then looks at start.
//! Between the two steps of each there is a sequentially consistent fence, so at least one of them
//! sees the other's first step. A thief that sees end below its new start lowers start again to the
//! jobs that exist. An owner that sees start above its new end waits for the lock. Then start is
//! final, and the job is the owner's if start is not above the new end. Meanwhile end stays
//! lowered: a job that the owner has seen as its own is never offered to others again.
//!
//! A slot that a thief is reading is not written: the owner pushes only below `room_end`, which is computed from
//! a `start` that was not locked.
//!
//! # When a leaf is empty
//! [`Leaf::look`] reads `head` and then `top`. If `head` was not locked and end is not above start,
//! no job was here when `top` was read, and none was on its way from here to another leaf. (A job
//! could only be on its way if it was put in after `head` was read, and then end is above start.)
//!
//! # Moving
//! A thief moves jobs to its own leaf while it holds the lock, and publishes them there before it
//! frees the lock. So a look at both leaves finds the jobs in one of them, or finds the lock, or
//! finds that `puts` has changed.
//!
//! ## Memory ordering
//! `top` and `head` are stored with release and loaded with acquire: a thief sees the job that the
//! owner wrote, and the owner sees that a slot has been read. A processor that sees that a job is
//! gone also sees what its taker did before, such as a push of another job elsewhere. The fences
//! above order the two ends.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use super::idle::{Idle, IdleState};
use super::slots::{Job, Slots, new_slots, slot, take, write};
use super::words::{Head, PUSHING, Top, jobs_between};
use crate::machine::{Cell, Line, Machine, Place, Word};

/// The state of a leaf at one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) jobs: u32,
    /// The count of jobs put or moved in so far, modulo 2^31.
    pub(super) puts: u64,
    /// Whether the owner is about to put a job in.
    pub(super) is_pushing: bool,
    /// Whether jobs may be on their way from here to another leaf.
    pub(super) is_locked: bool,
}

/// The reason why a job was not put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The pool is closed.
    Closed,
    /// The ring is full: [`Leaf::make_room`] must be called first.
    NoRoom,
}

/// The reason why the owner got no job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoJob {
    /// The leaf is empty, or a thief was faster.
    Empty,
    /// A thief is deciding about the same job. [`Leaf::pop_contended`] must be called next.
    Contended,
}

/// The result of an attempt to take the oldest job.
#[derive(Debug)]
pub(super) enum Steal<T> {
    /// The oldest job. `moved` other jobs are now in the leaf of the thief.
    Job { job: T, moved: u32 },
    /// The leaf was empty.
    Empty(Look),
    /// Another processor is taking jobs here, or has just taken the last one.
    Busy,
}

/// The jobs of one processor.
pub(super) struct Leaf<T, M: Machine> {
    ends: Line<Ends<M>>,
    own: Line<M::Cell<Own<T, M>>>,
    rest: Line<Rest<T, M>>,
    id: usize,
}

/// The words that both sides use.
struct Ends<M: Machine> {
    top: M::Word,
    head: M::Word,
    /// The number of times that the owner has popped the only job here, modulo 2^64.
    emptied: M::Word,
}

/// Words that are rarely written.
struct Rest<T, M: Machine> {
    /// The slots that the owner also has. Accessed only with `LOCKED` set.
    slots: M::Cell<Slots<T, M>>,
    /// The bell of the owner: see `idle.rs`.
    bell: M::Word,
    /// The id of the leaf that was registered before this one, plus 1. 0 if this is the first.
    next: M::Word,
}

/// The state that only the owner reads and writes.
pub(super) struct Own<T, M: Machine> {
    slots: Slots<T, M>,
    /// The end of the jobs that can be pushed without a look at `head`.
    room_end: u32,
    /// Whether the machine has light fences.
    has_light_fence: bool,
    pub(super) turn: Turn,
    /// The leaf where the owner last found a job, other than its own.
    pub(super) found_at: usize,
}

/// The state of the pops that look for jobs that no processor takes. See `Pool`, "Fairness".
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) pops_left: u32,
    /// The leaf to look at next.
    pub(super) leaf: usize,
    /// The count of oldest jobs taken from that leaf, at the first look.
    pub(super) seen: Option<u64>,
}

impl<T, M: Machine> Own<T, M> {
    #[inline]
    fn slot(&self, number: u32) -> &M::Cell<Job<T>> {
        slot::<T, M>(&self.slots, number)
    }
}

impl<T, M: Machine> Leaf<T, M> {
    /// The size of a job in bytes, at least 1.
    const JOB_BYTES: usize = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };

    /// The number of slots of the first ring: 512 bytes of jobs, but at least 4 and at most 32
    /// slots.
    const FIRST_SLOTS: usize = {
        let slots = 512 / Self::JOB_BYTES;
        if slots < 4 {
            4
        } else if slots > 32 {
            32
        } else {
            1 << slots.ilog2()
        }
    };

    /// The largest number of jobs moved at once: 4 kB of jobs, because the leaf is locked
    /// meanwhile.
    const MOST_MOVED: usize = 4096 / Self::JOB_BYTES;

    pub(super) fn new(id: usize) -> Self {
        let place = |name| Place::named(name).index(id).near(id);
        let slots = new_slots::<T, M>(id, Self::FIRST_SLOTS);
        Leaf {
            ends: Line::new::<M>(place("pool leaf"), |spot| Ends {
                top: M::Word::new(0, spot),
                head: M::Word::new(0, spot),
                emptied: M::Word::new(0, spot),
            }),
            rest: Line::new::<M>(place("pool leaf, rest"), |spot| Rest {
                slots: M::Cell::new(Arc::clone(&slots), spot),
                bell: M::Word::new(0, spot),
                next: M::Word::new(0, spot),
            }),
            own: Line::new::<M>(place("pool leaf, owner"), |spot| {
                let turn = Turn { pops_left: 0, leaf: id, seen: None };
                let room_end = Self::FIRST_SLOTS as u32;
                let has_light_fence = M::has_light_fence();
                M::Cell::new(Own { slots, room_end, has_light_fence, turn, found_at: id }, spot)
            }),
            id,
        }
    }

    pub(super) fn id(&self) -> usize {
        self.id
    }

    pub(super) fn bell(&self) -> &M::Word {
        &self.rest.bell
    }

    pub(super) fn next(&self) -> &M::Word {
        &self.rest.next
    }

    /// Calls `f` with the owner's state.
    ///
    /// # Safety
    /// The caller must be the processor with the id of this leaf, and `f` must not call this again.
    #[inline]
    pub(super) unsafe fn with_own<R>(&self, f: impl FnOnce(&mut Own<T, M>) -> R) -> R {
        // SAFETY: the machine gives each id to one processor at a time.
        unsafe { self.own.with_mut(f) }
    }

    #[inline]
    pub(super) fn look(&self) -> Look {
        // In this order.
        let (head, top) = (self.ends.head.load(Acquire), self.ends.top.load(Acquire));
        let (head, top) = (Head(head), Top(top));
        Look {
            jobs: jobs_between(head.start(), top.end()),
            puts: top.0 >> 33,
            is_pushing: top.0 & PUSHING != 0,
            is_locked: head.is_locked(),
        }
    }

    /// Returns the count of oldest jobs taken from this leaf, modulo 2^64.
    pub(super) fn oldest_taken(&self) -> u64 {
        let start = Head(self.ends.head.load(Acquire)).start();
        self.ends.emptied.load(Relaxed).wrapping_add(u64::from(start))
    }

    /// Returns the word `top`. Only for the owner, which alone writes it.
    #[inline]
    fn own_top(&self) -> Top {
        Top(self.ends.top.load(Relaxed))
    }

    /// Puts a job in. Only for the owner. Returns the idle word that the push saw.
    ///
    /// # Errors
    /// The job, if the pool is closed or there is no room for it.
    #[inline]
    pub(super) fn push(
        &self,
        own: &mut Own<T, M>,
        job: T,
        idle: &Idle<M>,
    ) -> Result<IdleState, (Refusal, T)> {
        let before = self.own_top();
        if before.end() == own.room_end {
            return Err((Refusal::NoRoom, job));
        }
        self.ends.top.store(before.0 | PUSHING, Release);
        let seen = idle.seen_by_push(own.has_light_fence);
        if seen.is_closing() {
            self.ends.top.store(before.0, Release);
            return Err((Refusal::Closed, job));
        }
        // SAFETY: the number is below `room_end`, so thieves are done with the slot; and none sees an end above it yet.
        unsafe { write::<T, M>(own.slot(before.end()), job) };
        self.ends.top.store(before.plus(1).0, Release);
        Ok(seen)
    }

    /// Takes the newest job. Only for the owner.
    ///
    /// # Errors
    /// If the leaf is empty, or a thief is taking the same job.
    #[inline]
    pub(super) fn pop(&self, own: &mut Own<T, M>) -> Result<T, NoJob> {
        let before = self.own_top();
        let start = Head(self.ends.head.load(Relaxed)).start();
        if jobs_between(start, before.end()) == 0 {
            return Err(NoJob::Empty);
        }
        let after = before.minus_newest();
        self.ends.top.store(after.0, Release);
        M::fence(SeqCst);
        let start = Head(self.ends.head.load(Acquire)).start();
        if jobs_between(start, before.end()) == 0 {
            return Err(NoJob::Contended);
        }
        // SAFETY: end was lowered to this job, and start is not above it since.
        Ok(unsafe { self.take_newest(own, start, after.end()) })
    }

    /// Takes job `newest` out of the ring.
    ///
    /// # Safety
    /// Job `newest` is the owner's, which is the caller.
    #[inline]
    unsafe fn take_newest(&self, own: &mut Own<T, M>, start: u32, newest: u32) -> T {
        if newest == start {
            let emptied = &self.ends.emptied;
            emptied.store(emptied.load(Relaxed).wrapping_add(1), Relaxed);
        }
        // SAFETY: as the caller says; no thief reads a job that is not its own.
        unsafe { take::<T, M>(own.slot(newest)) }
    }

    /// Finishes a pop that was [contended](NoJob::Contended): waits for the thief, and takes the
    /// job if the thief did not.
    pub(super) fn pop_contended(&self, cpu: &M::Cpu, own: &mut Own<T, M>) -> Option<T> {
        let after = self.own_top();
        let start = self.lock(cpu);
        let job = if jobs_between(start, after.end().wrapping_add(1)) > 0 {
            // SAFETY: end was lowered to this job, and start is final and not above it.
            Some(unsafe { self.take_newest(own, start, after.end()) })
        } else {
            self.ends.top.store(after.plus_newest().0, Release);
            None
        };
        self.unlock(start);
        job
    }

    /// Returns the number of jobs that can be moved in. Only for the owner.
    fn room(&self, own: &Own<T, M>) -> u32 {
        own.room_end.wrapping_sub(self.own_top().end())
    }

    /// Makes room for jobs that are moved in. Only for the owner of an empty leaf.
    pub(super) fn have_room(&self, cpu: &M::Cpu, own: &mut Own<T, M>) {
        if self.room(own) < Self::FIRST_SLOTS as u32 / 2 {
            self.make_room(cpu, own);
        }
    }

    /// Makes room for another job: takes over slots that thieves have emptied, or replaces the ring
    /// by a larger one.
    pub(super) fn make_room(&self, cpu: &M::Cpu, own: &mut Own<T, M>) {
        let (slots, end) = (own.slots.len() as u32, self.own_top().end());
        let head = Head(self.ends.head.load(Acquire));
        if !head.is_locked() && jobs_between(head.start(), end) < slots / 2 {
            own.room_end = head.start().wrapping_add(slots);
            return;
        }
        let start = self.lock(cpu);
        if jobs_between(start, end) >= slots / 2 {
            self.grow(own, start, end);
        }
        own.room_end = start.wrapping_add(own.slots.len() as u32);
        self.unlock(start);
    }

    /// Moves the jobs from `start` to `end` to a ring of twice the size. The owner must have locked
    /// the leaf.
    fn grow(&self, own: &mut Own<T, M>, start: u32, end: u32) {
        let slots = 2 * own.slots.len();
        let larger: Slots<T, M> = new_slots::<T, M>(self.id, slots);
        for number in (0..jobs_between(start, end)).map(|i| start.wrapping_add(i)) {
            // SAFETY: `LOCKED` is set, by the owner, so all jobs from start to end are the caller's.
            let job = unsafe { take::<T, M>(own.slot(number)) };
            // SAFETY: nothing else has the new slots yet.
            unsafe { write::<T, M>(slot::<T, M>(&larger, number), job) };
        }
        // SAFETY: `LOCKED` is set, by us.
        unsafe { self.rest.slots.with_mut(|shared| *shared = Arc::clone(&larger)) };
        own.slots = larger;
    }

    /// Takes the oldest job. If `most` is not 0, also moves half of the other jobs, at most `most`,
    /// to the leaf `home` of the thief, which must be another leaf.
    pub(super) fn steal(&self, own: &mut Own<T, M>, home: &Self, most: u32) -> Steal<T> {
        let look = self.look();
        if look.is_locked {
            return Steal::Busy;
        }
        if look.jobs == 0 {
            return Steal::Empty(look);
        }
        let head = &self.ends.head;
        let before = Head(head.load(Relaxed));
        let start = before.start();
        let is_ours = !before.is_locked()
            && head.compare_exchange(before.0, Head::locked(start).0, AcqRel, Relaxed).is_ok();
        if !is_ours {
            return Steal::Busy;
        }
        let jobs = || jobs_between(start, Top(self.ends.top.load(Acquire)).end());
        let others = (jobs().saturating_sub(1) / 2).min(most).min(home.room(own));
        let wanted = 1 + others.min(Self::MOST_MOVED as u32);
        head.store(Head::locked(start.wrapping_add(wanted)).0, Release);
        M::fence(SeqCst);
        let taken = jobs().min(wanted);
        if taken < wanted {
            head.store(Head::locked(start.wrapping_add(taken)).0, Release);
        }
        let home_top = home.own_top();
        let move_jobs = |slots: &mut Slots<T, M>| {
            let take = |i: u32| {
                let slot = slot::<T, M>(slots, start.wrapping_add(i));
                // SAFETY: start has been raised above this number, and end was above it after that: the job is ours.
                unsafe { take::<T, M>(slot) }
            };
            for i in 1..taken {
                let to = own.slot(home_top.end().wrapping_add(i - 1));
                // SAFETY: there is room at home, and no thief sees an end above it yet.
                unsafe { write::<T, M>(to, take(i)) };
            }
            (taken > 0).then(|| take(0))
        };
        // SAFETY: `LOCKED` is set, by us, until the store below.
        let job = unsafe { self.rest.slots.with_mut(move_jobs) };
        let moved = taken.saturating_sub(1);
        if moved > 0 {
            home.ends.top.store(home_top.plus(moved).0, Release);
        }
        self.unlock(start.wrapping_add(taken));
        job.map_or(Steal::Busy, |job| Steal::Job { job, moved })
    }

    /// Waits until the owner is not in the middle of a push.
    pub(super) fn wait_for_push(&self, cpu: &M::Cpu) {
        self.ends.top.wait_while(cpu, Acquire, |top| top & PUSHING != 0);
    }

    /// Locks the old end and returns start.
    fn lock(&self, cpu: &M::Cpu) -> u32 {
        let head = &self.ends.head;
        loop {
            let free = Head(head.wait_while(cpu, Acquire, |head| Head(head).is_locked()));
            let locked = Head::locked(free.start());
            if head.compare_exchange(free.0, locked.0, AcqRel, Relaxed).is_ok() {
                return free.start();
            }
        }
    }

    fn unlock(&self, start: u32) {
        self.ends.head.store(Head::free(start).0, Release);
    }
}

impl<T, M: Machine> Drop for Leaf<T, M> {
    fn drop(&mut self) {
        let start = Head(self.ends.head.load(Acquire)).start();
        let end = self.own_top().end();
        let take_all = |own: &mut Own<T, M>| {
            let take = |i| {
                // SAFETY: jobs from start to end are there, and nothing else has them.
                unsafe { take::<T, M>(own.slot(start.wrapping_add(i))) }
            };
            (0..jobs_between(start, end)).map(take).collect::<Vec<T>>()
        };
        // SAFETY: nothing else has the leaf.
        let jobs = unsafe { self.own.with_mut(take_all) };
        // If the drop of a job panics, the others are dropped nevertheless.
        drop(jobs);
    }
}
