//! A pool of jobs in no order: a leaf of jobs for each thread, and stealing between them.
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
//! A thread pushes to its own leaf and pops the newest job there, without a lock and without a read-modify-write
//! (`leaf.rs`). If its leaf is empty, it *searches*: it looks at all leaves, beginning where it last found a job,
//! takes the oldest job of the first that has any, and moves half of the others to its own leaf. It answers
//! "empty" only if all leaves were empty at once. In [`Pool::pop`] it then waits (`idle.rs`).
//!
//! Newest first is what makes trees of jobs cheap: a thread works depth-first on what is in its cache, and
//! its leaf stays short. Oldest first is right for a thief: the oldest job of a tree is the largest part of it.
//!
//! What is promised is told at [`Pool`].

mod idle;
mod leaf;
mod leaves;
mod native;
mod shape;
#[cfg(test)]
mod tests;

pub use native::{Drain, IntoIter, PoolBuilder};
pub use shape::PoolShape;

use std::fmt;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use self::idle::{ASLEEP, AWAKE, Idle, IdleState, RUNG};
use self::leaf::{Leaf, NoJob, Own, Refusal, Steal};
use self::leaves::Leaves;
use super::{Closed, Jobs, PopError};
use crate::ShapeError;
use crate::machine::{Cpu, Machine, Native, Watch, WayOut, Word};

/// Many producers, many consumers, no order: for jobs that may be done in any order.
///
/// Any number of threads may use it through a shared reference, and threads may come and go.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use std::thread;
/// use throng::Pool;
///
/// let (pool, sum) = (Pool::new(), AtomicU64::new(0));
/// thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             while let Some(job) = pool.pop() {
///                 sum.fetch_add(job, Relaxed);
///             }
///         });
///     }
///     for job in 1..=100 {
///         pool.push(job).unwrap();
///     }
///     pool.close(); // what is inside is still handed out
/// });
/// assert_eq!(sum.into_inner(), 5050);
/// ```
///
/// # How it works
/// Each thread has a *leaf*, made at its first call. It pushes jobs there and pops the newest one. A push needs no atomic
/// read-modify-write, a pop needs one memory fence, and neither waits for other threads. A thread whose leaf is
/// empty takes the oldest job of another leaf, and moves half of the others there to its own. If all leaves are empty,
/// [`pop`](Pool::pop) looks again for some 50 microseconds and then sleeps until a push wakes it.
///
/// # What is promised
/// - **Nothing is lost, nothing is given twice.** A job that was pushed is popped once, or dropped with the pool.
/// - **Empty means empty.** [`Pool::try_pop`] answers [`PopError::Empty`] only if there was an instant during the
///   call at which no leaf had a job: it finds every leaf empty, and then that none was put in meanwhile. In
///   particular a job whose push happened before the call is found, unless another thread takes it. (Counts of puts are
///   kept modulo 2^31: the promise needs that fewer jobs are put into one leaf during one look.)
/// - **Closed means over.** After [`PopError::Closed`], or `None` from [`Pool::pop`], no call that begins later gets
///   a job.
/// - **No job waits for ever.** See below.
/// - **No order.** A thread alone gets its newest job first, nearly always.
///
/// # Fairness
/// Every 256th pop of a thread ([`PoolShape::turn_every`]) looks at a leaf before it goes to its own: twice in a row at
/// the same leaf, then at the next one, and at its own leaf in turn. If the oldest job was not taken between the two
/// looks, the second look takes it. A job that is moved to another leaf has fewer older jobs beside it there. Hence with
/// L leaves, a job with q older ones in its leaf is popped before any one thread has popped 512 (q + 2) L times. (If
/// another thread is taking jobs from the leaf at the second look, the next pop looks again.)
///
/// In trees of jobs the same rule keeps leaves from running dry: see [`PoolShape::DEFAULT`].
///
/// # Progress
/// *Blocking, in parts.* A thread that stops in the middle of [`push`](Pool::push) holds up [`close`](Pool::close), and
/// threads that are about to sleep. A thread that stops while it takes jobs from another leaf holds up that leaf. The
/// owner of the leaf goes on until it wants the last job or more room, and other threads take jobs elsewhere. But a
/// thread that finds no job except in a leaf that is held up waits for it, even in [`try_pop`](Pool::try_pop).
///
/// # Memory
/// 512 bytes; for each thread that ever came another 512 bytes and its ring. A ring has up to 32 places at first, grows
/// by factors of two, and keeps its size until the pool is dropped. One leaf holds at most 2^31 - 1 jobs.
///
/// Jobs need to be [`Send`] only if the pool is shared or sent:
///
/// ```compile_fail
/// use std::rc::Rc;
/// use throng::Pool;
///
/// fn share<T: Sync>(_: T) {}
/// share(Pool::<Rc<u8>>::new());
/// ```
pub struct Pool<T, M: Machine = Native> {
    leaves: Leaves<T, M>,
    idle: Idle<M>,
    shape: PoolShape,
}

/// What a search found.
enum Found<T> {
    Job(T),
    /// All leaves were empty at once.
    Nothing,
    /// The same, and there will be no more jobs.
    Closed,
}

// SAFETY: jobs go from the threads that push them to those that pop or drop them; nothing else of them is shared.
unsafe impl<T: Send, M: Machine> Send for Pool<T, M> {}
// SAFETY: as above.
unsafe impl<T: Send, M: Machine> Sync for Pool<T, M> {}

impl<T, M: Machine> Pool<T, M> {
    /// A pool on machine `M`.
    ///
    /// # Errors
    /// When `turn_every` is 0 or absurd.
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

    /// The same where the leaf has no room or is not found quickly.
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

    /// Ends a push: wakes a sleeper, if the push saw one.
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

    /// Pops a job, if there is one.
    ///
    /// # Errors
    /// [`PopError::Empty`] if at one instant there was none; [`PopError::Closed`] if there will be none.
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

    /// The same after a first attempt that ended so: `None` if there was none, because the leaf is not found quickly or
    /// there is a turn to take.
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
        match self.search(cpu, leaf, false) {
            Found::Job(job) => Ok(job),
            Found::Nothing => Err(PopError::Empty),
            Found::Closed => Err(PopError::Closed),
        }
    }

    /// Takes the turn that is due, if it is, or the newest job of the leaf.
    fn pop_or_take_turn(&self, own: &mut Own<T, M>, leaf: &Leaf<T, M>) -> Result<T, NoJob> {
        if own.turn.pops_left == 0
            && let Some(job) = self.take_turn(own, leaf)
        {
            return Ok(job);
        }
        own.turn.pops_left = own.turn.pops_left.saturating_sub(1);
        leaf.pop(own)
    }

    /// Pops a job; waits for one, but not longer than until the way out opens.
    ///
    /// # Errors
    /// [`PopError::Empty`] if there was none in time; [`PopError::Closed`] if there will be none.
    #[inline]
    pub fn pop_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        match self.try_pop_on(cpu) {
            Err(PopError::Empty) => self.pop_later(cpu, way_out),
            end => end,
        }
    }

    /// The same after a first attempt that found no job.
    #[cold]
    #[inline(never)]
    fn pop_later(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        if way_out.is_open(cpu) {
            return Err(PopError::Empty);
        }
        self.idle.begin_search();
        let end = self.wait_for_job(cpu, way_out);
        if self.idle.end_search() {
            self.ring(cpu);
        }
        end
    }

    /// Closes the pool: no job is taken in any more, and what is inside can still be taken out. Tells
    /// whether it was open.
    pub fn close_on(&self, cpu: &M::Cpu) -> bool {
        let was_open = self.idle.begin_close();
        self.end_close(cpu);
        while self.idle.claim(false) {
            self.ring(cpu);
        }
        was_open
    }

    /// Waits for pushes that have not seen that the pool is being closed. After that there are none.
    fn end_close(&self, cpu: &M::Cpu) {
        M::heavy_fence();
        self.leaves.iter().for_each(|leaf| leaf.wait_for_push(cpu));
        self.idle.end_close();
    }

    /// Whether the pool is closed.
    pub fn is_closed(&self) -> bool {
        self.idle.state().is_closing()
    }

    /// How many jobs are inside, one leaf counted after the other. One that is moved meanwhile may be counted
    /// twice, or not at all.
    pub fn len(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.look().jobs as usize).sum()
    }

    /// Whether no leaf had a job when it was looked at. [`try_pop`](Pool::try_pop) knows better.
    pub fn is_empty(&self) -> bool {
        self.leaves.iter().all(|leaf| leaf.look().jobs == 0)
    }

    /// Looks at the leaf whose turn it is: takes its oldest job if that was the oldest at the last look as well.
    fn take_turn(&self, own: &mut Own<T, M>, home: &Leaf<T, M>) -> Option<T> {
        let id = own.turn.leaf;
        let leaf = self.leaves.iter_from(id).next()?;
        let taken = leaf.oldest_taken();
        let Some(seen) = own.turn.seen else {
            own.turn.seen = Some(taken);
            own.turn.pops_left = self.shape.turn_every;
            return None;
        };
        let job = if seen != taken {
            None
        } else {
            match leaf.steal(own, home, 0) {
                Steal::Job { job, .. } => Some(job),
                Steal::Empty(_) => None,
                // The next pop looks again.
                Steal::Busy => return None,
            }
        };
        own.turn.leaf = self.leaves.id_after(id);
        own.turn.seen = None;
        own.turn.pops_left = self.shape.turn_every;
        job
    }

    /// Looks at all leaves until it has a job, or has seen that there is none. If `before_sleep`, also waits for
    /// pushes that are in progress.
    #[cold]
    fn search(&self, cpu: &M::Cpu, home: &Leaf<T, M>, before_sleep: bool) -> Found<T> {
        for round in 0.. {
            let state = self.idle.state();
            let is_closed = state.is_closing();
            if is_closed && !state.is_closed() {
                // A push may have failed already, so "empty" is no answer any more.
                self.end_close(cpu);
            }
            let mut puts = 0_u64;
            let look_at_all = |own: &mut Own<T, M>| {
                let mut is_sure = true;
                for leaf in self.leaves.iter_from(own.found_at) {
                    let look = match self.take_from(cpu, own, home, leaf) {
                        Steal::Job { job, moved } => return Ok((job, moved)),
                        Steal::Empty(look) => look,
                        Steal::Busy => {
                            is_sure = false;
                            continue;
                        }
                    };
                    puts = puts.wrapping_add(look.puts);
                    is_sure &= !(before_sleep && look.is_pushing);
                }
                Err(is_sure)
            };
            // SAFETY: `home` is the leaf of `cpu`, and `take_from` does not ask for what it owns.
            let is_sure = match unsafe { home.with_own(look_at_all) } {
                Ok((job, moved)) => {
                    // For a sleeper, moved jobs are new.
                    if moved > 0 && self.idle.state().has_sleepers() {
                        self.wake_one(cpu);
                    }
                    return Found::Job(job);
                }
                Err(is_sure) => is_sure,
            };
            // Puts are only ever added to: if their sum is what it was, none came, to new leaves neither, and all leaves
            // were empty when the last was looked at. If the pool is being closed by now, the next round will say
            // so, unless it finds a job.
            if is_sure {
                let again = self
                    .leaves
                    .iter()
                    .fold(0, |puts: u64, leaf| puts.wrapping_add(leaf.look().puts));
                if again == puts && self.idle.state().is_closing() == is_closed {
                    return if is_closed { Found::Closed } else { Found::Nothing };
                }
            }
            cpu.retry(round);
        }
        unreachable!("rounds do not end")
    }

    /// Takes a job from a leaf, and moves others to `home`.
    fn take_from(
        &self,
        cpu: &M::Cpu,
        own: &mut Own<T, M>,
        home: &Leaf<T, M>,
        leaf: &Leaf<T, M>,
    ) -> Steal<T> {
        if leaf.id() != home.id() {
            if self.shape.most_moved > 0 && leaf.look().jobs > 1 {
                home.have_room(cpu, own);
            }
            let steal = leaf.steal(own, home, self.shape.most_moved);
            if let Steal::Job { .. } = steal {
                own.found_at = leaf.id();
            }
            return steal;
        }
        let look = home.look();
        match () {
            () if look.is_locked => Steal::Busy,
            () if look.jobs == 0 => Steal::Empty(look),
            () => {
                let job = match home.pop(own) {
                    Ok(job) => Some(job),
                    Err(NoJob::Contended) => home.pop_contended(cpu, own),
                    Err(NoJob::Empty) => None,
                };
                job.map_or(Steal::Busy, |job| Steal::Job { job, moved: 0 })
            }
        }
    }

    /// Searches, and sleeps, until there is a job, or the pool is closed, or the way out is open. The caller is
    /// counted as a searcher.
    #[cold]
    fn wait_for_job(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        let leaf = self.leaves.of(cpu);
        let way_out = &way_out.watching(Watch::Cores(self.idle.busy()));
        loop {
            for round in 0..self.shape.rounds_before_sleep {
                if way_out.sleeps_at_once() {
                    break;
                }
                cpu.retry_watching(round, way_out.watch);
                match self.search(cpu, leaf, false) {
                    Found::Job(job) => return Ok(job),
                    Found::Closed => return Err(PopError::Closed),
                    Found::Nothing if way_out.is_open(cpu) => return Err(PopError::Empty),
                    Found::Nothing => {}
                }
            }
            leaf.bell().store(ASLEEP, Release);
            let is_closing = self.idle.fall_asleep().is_closing();
            let found = self.search(cpu, leaf, true);
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

    /// A sleeper becomes a searcher again, whether it was rung or not.
    fn rise(&self, cpu: &M::Cpu, leaf: &Leaf<T, M>) {
        let bell = leaf.bell();
        if bell.load(Acquire) == ASLEEP {
            if self.idle.claim(false) {
                if bell.swap(AWAKE, AcqRel) == RUNG {
                    // That claim was for another.
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
