//! A pool of jobs in no order: each thread has a leaf of jobs, and threads steal from each other's
//! leaves.
//!
//! ```text
//!   thread 0            thread 1            thread 2
//!   push, pop           push, pop           push, pop: empty, so it searches
//!       v                   v                   v
//!   [a b c d e f]       [g]                 [ ]
//!    ^ oldest              newest ^
//!    |
//!    +-- thread 2 takes a, and moves b and c to its own leaf
//! ```
//!
//! A thread pushes to its own leaf and pops the newest job there, without a lock and without a
//! read-modify-write (`leaf.rs`). If its leaf is empty, it *searches*: it looks at all leaves,
//! beginning with the leaf where it last found a job. It takes the oldest job of the first leaf
//! that has any, and moves half of the other jobs there to its own leaf. It returns "empty" only if
//! all leaves were empty at the same time. In [`Pool::pop`] it then waits (`idle.rs`).
//!
//! Popping the newest job makes trees of jobs cheap: a thread works depth-first on data in its
//! cache, and its leaf stays short. A thief takes the oldest job because it is the largest part of
//! such a tree.
//!
//! [`Pool`] says what is promised.

mod idle;
mod leaf;
mod leaves;
mod search;
mod shape;
mod slots;
#[cfg(test)]
mod tests;
mod words;

pub use shape::PoolShape;

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use self::idle::{ASLEEP, AWAKE, Idle, IdleState, RUNG};
use self::leaf::{Leaf, NoJob, Own, Refusal};
use self::leaves::Leaves;
use self::search::{Found, Nothing};
use crate::ShapeError;
use crate::classic::pool::Jobs;
use crate::error::{Closed, PopError};
use crate::machine::{Cpu, Machine, Native, Watch, WayOut, Word};

/// The pool on machine `M`. [`throng::Pool`](crate::Pool) is this one on real threads.
pub struct Pool<T, M: Machine = Native> {
    leaves: Leaves<T, M>,
    idle: Idle<M>,
    shape: PoolShape,
}

/// The number of searches that a waiting thread makes before it counts itself as a searcher.
/// Counting takes the line of the idle word from the pushes. If other threads sleep, it counts
/// itself at once, because a push wakes one of them if there is no searcher.
const UNCOUNTED_ROUNDS: u32 = 16;

// SAFETY: jobs go from the threads that push them to those that pop or drop them; nothing else of them is shared.
unsafe impl<T: Send, M: Machine> Send for Pool<T, M> {}
// SAFETY: as above.
unsafe impl<T: Send, M: Machine> Sync for Pool<T, M> {}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Methods for real threads.
impl<T> Pool<T> {
    /// Returns an empty pool.
    #[must_use]
    pub const fn new() -> Self {
        Pool {
            leaves: Leaves::none_yet(),
            idle: Idle::of_no_processor(),
            shape: PoolShape::DEFAULT,
        }
    }

    /// Pushes a job. Never waits.
    ///
    /// # Errors
    /// The job, if the pool is closed.
    #[inline]
    pub fn push(&self, job: T) -> Result<(), Closed<T>> {
        self.push_on(&Native::cpu(), job)
    }

    /// Pops a job if there is one.
    ///
    /// # Errors
    /// [`PopError::Empty`] if at one instant there was no job; [`PopError::Closed`] if there will
    /// be none.
    #[inline]
    pub fn try_pop(&self) -> Result<T, PopError> {
        self.try_pop_on(&Native::cpu())
    }

    /// Pops a job. Waits for one. Returns `None` if the pool is closed and there will be none.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        match self.try_pop() {
            Ok(job) => Some(job),
            Err(PopError::Empty) => self.pop_later(&Native::cpu(), &WayOut::none()).ok(),
            Err(PopError::Closed) => None,
        }
    }

    /// Closes the pool. Returns whether this call closed it.
    pub fn close(&self) -> bool {
        self.close_on(&Native::cpu())
    }
}

// A panic while a caller holds a job leaves the pool unchanged.
impl<T, M: Machine> UnwindSafe for Pool<T, M> {}
impl<T, M: Machine> RefUnwindSafe for Pool<T, M> {}

impl<T, M: Machine> Pool<T, M> {
    /// Returns an empty pool on machine `M`.
    ///
    /// # Errors
    /// If `turn_every` is 0 or above 2^20.
    pub fn on_machine(shape: &PoolShape) -> Result<Self, ShapeError> {
        shape.check()?;
        Ok(Pool { leaves: Leaves::new(), idle: Idle::new(), shape: shape.clone() })
    }

    /// Pushes a job. Never waits for room, since there is no bound.
    ///
    /// # Errors
    /// The job, if the pool is closed.
    #[inline(always)]
    pub fn push_on(&self, cpu: &M::Cpu, job: T) -> Result<(), Closed<T>> {
        let Some(leaf) = self.leaves.quickly_of(cpu) else {
            return self.push_slowly(cpu, job);
        };
        // SAFETY: the leaf is that of `cpu`, and a push does not ask for what it owns.
        match unsafe { leaf.with_own(|own| leaf.push(own, job, &self.idle)) } {
            Err((Refusal::NoRoom, job)) => self.push_slowly(cpu, job),
            pushed => self.wake_after(cpu, pushed),
        }
    }

    /// Pushes a job if the leaf has no room or is not in the first table.
    #[cold]
    #[inline(never)]
    fn push_slowly(&self, cpu: &M::Cpu, job: T) -> Result<(), Closed<T>> {
        let leaf = self.leaves.of(cpu);
        let push = |own: &mut Own<T, M>| match leaf.push(own, job, &self.idle) {
            Err((Refusal::NoRoom, job)) => {
                leaf.make_room(cpu, own);
                leaf.push(own, job, &self.idle)
            }
            end => end,
        };
        // SAFETY: the leaf is that of `cpu`, and neither call asks for what it owns.
        let pushed = unsafe { leaf.with_own(push) };
        self.wake_after(cpu, pushed)
    }

    /// Ends a push: wakes a sleeper if the push saw one.
    #[inline]
    fn wake_after(
        &self,
        cpu: &M::Cpu,
        pushed: Result<IdleState, (Refusal, T)>,
    ) -> Result<(), Closed<T>> {
        let idle = pushed.map_err(|(_, job)| Closed(job))?;
        if idle.has_sleepers() {
            self.wake_one(cpu);
        }
        Ok(())
    }

    /// Pops a job if there is one.
    ///
    /// # Errors
    /// [`PopError::Empty`] if at one instant there was no job; [`PopError::Closed`] if there will
    /// be none.
    #[inline(always)]
    pub fn try_pop_on(&self, cpu: &M::Cpu) -> Result<T, PopError> {
        let Some(leaf) = self.leaves.quickly_of(cpu) else {
            return self.try_pop_slowly(cpu, None);
        };
        let pop = |own: &mut Own<T, M>| {
            if own.turn.pops_left == 0 {
                return Err(None);
            }
            own.turn.pops_left -= 1;
            leaf.pop(own).map_err(Some)
        };
        // SAFETY: the leaf is that of `cpu`, and `pop` does not ask for what it owns.
        match unsafe { leaf.with_own(pop) } {
            Ok(job) => Ok(job),
            Err(why) => self.try_pop_slowly(cpu, why),
        }
    }

    /// Pops a job after a first attempt that failed for the reason `why`. `None`: there was no
    /// attempt, because the leaf is not in the first table or a turn is due.
    #[cold]
    #[inline(never)]
    fn try_pop_slowly(&self, cpu: &M::Cpu, why: Option<NoJob>) -> Result<T, PopError> {
        let leaf = self.leaves.of(cpu);
        let pop = |own: &mut Own<T, M>| {
            let first = match why {
                None => match self.pop_or_take_turn(own, leaf) {
                    Ok(job) => return Some(job),
                    Err(why) => why,
                },
                Some(why) => why,
            };
            match first {
                NoJob::Contended => leaf.pop_contended(cpu, own),
                NoJob::Empty => None,
            }
        };
        // SAFETY: the leaf is that of `cpu`, and none of these calls asks for what it owns.
        if let Some(job) = unsafe { leaf.with_own(pop) } {
            return Ok(job);
        }
        match self.search(cpu, leaf, Nothing::IsSure) {
            Found::Job(job) => Ok(job),
            Found::Nothing => Err(PopError::Empty),
            Found::Closed => Err(PopError::Closed),
        }
    }

    /// Takes a turn if one is due and finds a job, or else pops the newest job of the leaf.
    fn pop_or_take_turn(&self, own: &mut Own<T, M>, leaf: &Leaf<T, M>) -> Result<T, NoJob> {
        if own.turn.pops_left == 0
            && let Some(job) = self.take_turn(own, leaf)
        {
            return Ok(job);
        }
        own.turn.pops_left = own.turn.pops_left.saturating_sub(1);
        leaf.pop(own)
    }

    /// Pops a job. Waits for one, but not longer than until the way out opens.
    ///
    /// # Errors
    /// [`PopError::Empty`] if there was no job in time; [`PopError::Closed`] if there will be none.
    #[inline]
    pub fn pop_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        match self.try_pop_on(cpu) {
            Err(PopError::Empty) => self.pop_later(cpu, way_out),
            end => end,
        }
    }

    /// Waits for a job after a first attempt that found none.
    #[cold]
    #[inline(never)]
    fn pop_later(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        if way_out.is_open(cpu) {
            return Err(PopError::Empty);
        }
        for round in 0..self.shape.rounds_before_sleep.min(UNCOUNTED_ROUNDS) {
            let idle = self.idle.state();
            if idle.has_sleepers() || idle.is_closing() {
                break;
            }
            cpu.retry(round);
            if let Found::Job(job) = self.search(cpu, self.leaves.of(cpu), Nothing::IsLikely) {
                return Ok(job);
            }
        }
        self.idle.begin_search();
        let end = self.wait_for_job(cpu, way_out);
        if self.idle.end_search() {
            self.ring(cpu);
        }
        end
    }

    /// Closes the pool: pushes fail from now on, and jobs inside can still be popped. Returns
    /// whether this call closed it.
    pub fn close_on(&self, cpu: &M::Cpu) -> bool {
        let was_open = self.idle.begin_close();
        self.end_close(cpu);
        while self.idle.claim(false) {
            self.ring(cpu);
        }
        was_open
    }

    /// Waits for pushes that have not seen that the pool is being closed. After that no push is in
    /// progress.
    fn end_close(&self, cpu: &M::Cpu) {
        M::heavy_fence();
        self.leaves.iter().for_each(|leaf| leaf.wait_for_push(cpu));
        self.idle.end_close();
    }

    /// Returns whether the pool is closed.
    pub fn is_closed(&self) -> bool {
        self.idle.state().is_closing()
    }

    /// Returns the number of jobs inside, one leaf counted after the other. A job that is moved
    /// meanwhile may be counted twice, or not at all.
    pub fn len(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.look().jobs as usize).sum()
    }

    /// Returns whether no leaf had a job when it was looked at. [`try_pop`](Pool::try_pop) gives a
    /// stronger answer.
    pub fn is_empty(&self) -> bool {
        self.leaves.iter().all(|leaf| leaf.look().jobs == 0)
    }

    /// Searches, and sleeps, until there is a job, the pool is closed, or the way out is open. The
    /// caller must be counted as a searcher.
    #[cold]
    fn wait_for_job(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        let leaf = self.leaves.of(cpu);
        let way_out = &way_out.watching(Watch::Cores(self.idle.busy()));
        loop {
            for round in 0..self.shape.rounds_before_sleep.max(1) {
                // Every wait makes the first round: only here it can end at its deadline.
                if round > 0 && way_out.sleeps_at_once() {
                    break;
                }
                cpu.retry_watching(round, way_out.watch);
                match self.search(cpu, leaf, Nothing::IsLikely) {
                    Found::Job(job) => return Ok(job),
                    Found::Closed => return Err(PopError::Closed),
                    Found::Nothing if way_out.is_open(cpu) => return Err(PopError::Empty),
                    Found::Nothing => {}
                }
            }
            leaf.bell().store(ASLEEP, Release);
            let is_closing = self.idle.fall_asleep().is_closing();
            let found = self.search(cpu, leaf, Nothing::AndNoPush);
            if !is_closing && matches!(found, Found::Nothing) {
                leaf.bell().sleep_while(cpu, Acquire, way_out, |bell| bell == ASLEEP);
            }
            self.rise(cpu, leaf);
            match found {
                Found::Job(job) => return Ok(job),
                Found::Closed => return Err(PopError::Closed),
                Found::Nothing => {}
            }
        }
    }

    /// Makes a sleeper a searcher again, whether it was rung or not.
    fn rise(&self, cpu: &M::Cpu, leaf: &Leaf<T, M>) {
        let bell = leaf.bell();
        if bell.load(Acquire) == ASLEEP {
            if self.idle.claim(false) {
                if bell.swap(AWAKE, AcqRel) == RUNG {
                    // That ring was for another sleeper.
                    self.ring(cpu);
                }
                return;
            }
            bell.wait_while(cpu, Acquire, |bell| bell == ASLEEP);
        }
        bell.store(AWAKE, Relaxed);
    }

    /// Wakes a sleeper, if there is one and no searcher.
    #[cold]
    fn wake_one(&self, cpu: &M::Cpu) {
        if self.idle.claim(true) {
            self.ring(cpu);
        }
    }

    /// Rings for a sleeper that the caller has claimed.
    #[cold]
    fn ring(&self, cpu: &M::Cpu) {
        for round in 0.. {
            for bell in self.leaves.iter().map(Leaf::bell) {
                if bell.load(Relaxed) == ASLEEP
                    && bell.compare_exchange(ASLEEP, RUNG, SeqCst, Relaxed).is_ok()
                {
                    bell.wake();
                    return;
                }
            }
            cpu.retry(round);
        }
    }
}

impl<T: Send, M: Machine> Jobs<T, M> for Pool<T, M> {
    fn put_on(&self, cpu: &M::Cpu, job: T) {
        let _ = self.push_on(cpu, job);
    }

    fn take_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<T> {
        self.pop_on(cpu, way_out).ok()
    }
}

// Jobs need not be printable.
impl<T, M: Machine> fmt::Debug for Pool<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("leaves", &self.leaves.iter().count())
            .field("jobs", &self.len())
            .finish_non_exhaustive()
    }
}
