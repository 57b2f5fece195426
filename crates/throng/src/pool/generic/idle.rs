//! How processors wait for jobs, and how pushes wake them.
//!
//! A processor in [`Pool::pop`](super::Pool) that has found no job looks at all leaves again and
//! again. After some rounds, or at once if others sleep, it counts itself as *searching*. After
//! more rounds it goes to *sleep* at the bell of its leaf, until another processor rings. A
//! processor that is not counted for a few rounds does no harm: no push relies on it.
//!
//! # The idle word
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 0 | `CLOSING` | pushes fail; never cleared |
//! | 1 | `CLOSED` | no push is in progress; never cleared |
//! | 2..33 | sleepers | processors that sleep, and that no ringer has claimed yet |
//! | 33..64 | searchers | processors that search, or that will search because they have been claimed |
//!
//! # The bell of a leaf
//!
//! | value | meaning |
//! |---|---|
//! | `AWAKE` | the owner is awake |
//! | `ASLEEP` | the owner sleeps or is about to |
//! | `RUNG` | a ringer has chosen this owner |
//!
//! A push wakes a sleeper only if there is no searcher: a searcher will find the job. A searcher
//! that leaves as the last one, with a job or at its time-out, wakes a sleeper that continues in
//! its place. So if work is scarce, one processor searches and the others sleep undisturbed.
//!
//! A ringer first *claims* a sleeper in the idle word. It then rings any bell that is `ASLEEP`. A
//! sleeper stores `ASLEEP` before it counts itself, so at least as many bells are `ASLEEP` as there
//! are sleepers and claims. A sleeper that wants to rise by itself also claims one sleeper. If it
//! was rung at the same time, it passes that ring on. If no sleeper is left to claim, it will be
//! rung.
//!
//! # Why no wake-up is lost
//! A push (a) stores `PUSHING` in its leaf, (b) passes a light fence, (c) loads the idle word. A processor that goes
//! to sleep (1) counts itself in the idle word, (2) passes a heavy fence, (3) looks at all leaves, and waits for each
//! `PUSHING` to end. Because of the fences either (c) sees the sleeper, or (3) sees `PUSHING` or the job.
//!
//! If (c) sees a searcher, no bell is rung. The number of searchers becomes 0 only in two ways: the
//! last searcher leaves when there are no sleepers, or it goes to sleep. In both cases all
//! processors that sleep later look at the leaves after (c). They find the job, or find that it was
//! taken.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

use crate::machine::{BusyCores, Line, Machine, Native, NativeWord, Place, Word};

pub(super) const AWAKE: u64 = 0;
pub(super) const ASLEEP: u64 = 1;
pub(super) const RUNG: u64 = 2;

const CLOSING: u64 = 1;
const CLOSED: u64 = 1 << 1;
const SLEEPER: u64 = 1 << 2;
const SEARCHER: u64 = 1 << 33;
const SLEEPERS: u64 = SEARCHER - SLEEPER;

/// A value of the idle word.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdleState(u64);

impl IdleState {
    /// Returns whether pushes fail.
    #[inline]
    pub(super) const fn is_closing(self) -> bool {
        self.0 & CLOSING != 0
    }

    /// Returns whether pushes fail and none is in progress.
    pub(super) const fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    /// Returns whether any processor sleeps that no ringer has claimed.
    #[inline]
    pub(super) const fn has_sleepers(self) -> bool {
        self.0 & SLEEPERS != 0
    }

    const fn searchers(self) -> u64 {
        self.0 / SEARCHER
    }
}

#[derive(Debug)]
pub(super) struct Idle<M: Machine>(Line<IdleLine<M>>);

#[derive(Debug)]
struct IdleLine<M: Machine> {
    word: M::Word,
    busy: BusyCores,
}

impl Idle<Native> {
    /// Like [`new`](Idle::new), for constants.
    pub(super) const fn of_no_processor() -> Self {
        Idle(Line::of(IdleLine { word: NativeWord::constant(0), busy: BusyCores::new() }))
    }
}

impl<M: Machine> Idle<M> {
    pub(super) fn new() -> Self {
        Idle(Line::new::<M>(Place::named("pool idle"), |spot| IdleLine {
            word: M::Word::new(0, spot),
            busy: BusyCores::new(),
        }))
    }

    /// Returns the measurement of whether other threads want the cores of the waiting processors.
    pub(super) fn busy(&self) -> &BusyCores {
        &self.0.busy
    }

    pub(super) fn state(&self) -> IdleState {
        IdleState(self.0.word.load(Acquire))
    }

    /// Returns the state, for a push that has just stored `PUSHING`. `has_light_fence` says whether
    /// the machine has light fences.
    #[inline]
    pub(super) fn seen_by_push(&self, has_light_fence: bool) -> IdleState {
        if has_light_fence {
            M::light_fence();
        } else {
            M::fence(SeqCst);
        }
        IdleState(self.0.word.load(Acquire))
    }

    /// Returns the numbers of sleepers and searchers.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (u64, u64) {
        let state = self.state();
        ((state.0 & SLEEPERS) / SLEEPER, state.searchers())
    }

    pub(super) fn begin_search(&self) {
        self.0.word.fetch_add(SEARCHER, AcqRel);
    }

    /// Ends a search. Returns whether the caller has claimed a sleeper to continue in its place. If
    /// so, the caller must ring.
    #[must_use]
    pub(super) fn end_search(&self) -> bool {
        let mut now = self.state();
        loop {
            let claims = now.searchers() == 1 && now.has_sleepers();
            let next = now.0 - if claims { SLEEPER } else { SEARCHER };
            match self.0.word.compare_exchange(now.0, next, AcqRel, Acquire) {
                Ok(_) => return claims,
                Err(other) => now = IdleState(other),
            }
        }
    }

    /// Counts a searcher as a sleeper. Its bell must be `ASLEEP`, and it must look at all leaves
    /// before it sleeps.
    pub(super) fn fall_asleep(&self) -> IdleState {
        let before = self.0.word.fetch_sub(SEARCHER - SLEEPER, AcqRel);
        M::heavy_fence();
        IdleState(before)
    }

    /// Claims a sleeper for a ring or for itself, and returns whether there was one. If `lone`,
    /// claims only if there is no searcher.
    #[must_use]
    pub(super) fn claim(&self, lone: bool) -> bool {
        let mut now = IdleState(self.0.word.load(Relaxed));
        while now.has_sleepers() && !(lone && now.searchers() > 0) {
            let next = now.0 + SEARCHER - SLEEPER;
            match self.0.word.compare_exchange(now.0, next, AcqRel, Relaxed) {
                Ok(_) => return true,
                Err(other) => now = IdleState(other),
            }
        }
        false
    }

    /// Makes pushes fail. Returns whether this call did.
    pub(super) fn begin_close(&self) -> bool {
        let before = IdleState(self.0.word.fetch_or(CLOSING, AcqRel));
        !before.is_closing()
    }

    pub(super) fn end_close(&self) {
        self.0.word.fetch_or(CLOSED, AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    #[test]
    fn the_last_searcher_claims_a_sleeper_in_its_place() {
        let idle = Idle::<Native>::new();
        (0..3).for_each(|_| idle.begin_search());
        idle.fall_asleep();
        assert!(idle.state().has_sleepers());
        assert!(!idle.claim(true), "there are searchers");
        assert!(!idle.end_search(), "there is another searcher");
        assert!(idle.end_search());
        assert_eq!((idle.state().searchers(), idle.state().has_sleepers()), (1, false));
        assert!(!idle.end_search(), "there is no sleeper");
        assert!(!idle.claim(true));
        assert_eq!(idle.state().0, 0);
    }

    #[test]
    fn a_lone_sleeper_is_claimed_once() {
        let idle = Idle::<Native>::new();
        idle.begin_search();
        idle.fall_asleep();
        assert!(idle.begin_close());
        assert!(!idle.begin_close());
        idle.end_close();
        assert_eq!([idle.claim(true), idle.claim(false)], [true, false]);
        assert!(idle.state().is_closing());
        assert!(idle.state().is_closed());
        assert_eq!(idle.state().searchers(), 1);
    }
}
