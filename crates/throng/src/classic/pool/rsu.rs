//! A pool for each processor, and load balancing between random pairs of pools: the algorithm of
//! Rudolph, Slivkin-Allalouf and Upfal (RSU; SPAA 1991), the competitor of the counters' job pools
//! in RDT97 section 5.4.
//!
//! A processor puts its jobs into its own pool and takes them from there. Before it takes one, it
//! *balances* with probability 1 / (size of its pool), and always if that is empty. To balance, it
//! picks another processor at random, and the longer of the two pools gives the shorter one half of
//! the difference. So processors with many jobs rarely balance, and processors without jobs always
//! do.
//!
//! ```text
//!   pool of 0: a b c d e f         picks 2            pool of 0: d e f
//!   pool of 1: g              <-----------------      pool of 1: g
//!   pool of 2: (empty)          balances with 0       pool of 2: a b c
//! ```
//!
//! *Order*: none. Within a pool the oldest job is taken or moved first. *Blocking*: each pool has a
//! lock; two are taken in the order of their indices, so the waits form no circle. *Memory*: a line
//! for each job, in rings that grow and do not shrink, and two for each processor. *When to use
//! it*: where threads that take jobs also make them, and many at a time. Where jobs are few,
//! processors without jobs search at random, and the search takes longer the more processors there
//! are.
//!
//! ## Jobs of processors that have ended
//! A pool outlives its processor, and the next processor with the same id finds it. Until then the
//! others find it. Of K processors that have ever come, each one that balances picks a given pool
//! with probability 1 / (K - 1), and takes half of it, rounded up, if its own is empty. So after an
//! expected K - 1 balancings of processors without jobs the pool is found, and after (K - 1)
//! (1 + log2 s) the last of its s jobs. No bound is certain. But a processor that gives up first
//! looks at all pools.
//!
//! Differs from the paper, which leaves this open: a processor looks at the sizes before it locks
//! two pools, and locks neither if no job would move. A lone job is moved to a pool that is empty,
//! although that only turns the difference around. Otherwise only its owner could ever take it.
//!
//! ## Memory ordering
//! The locks order all access to the rings. Sizes are written while the lock is held and read
//! without it. They only decide which pools to look at.

use std::fmt;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::Jobs;
use crate::lock::{BackoffLock, Held, MOST_BACKOFF};
use crate::machine::{Cell, Cpu, Growing, Line, Machine, Native, PerCpu, Place, WayOut, Word};

/// The number of jobs for which a pool has room at first; a power of two.
const FIRST_ROOM: usize = 8;

/// The job pools of Rudolph, Slivkin-Allalouf and Upfal (RSU): one for each processor, balanced
/// between random pairs.
///
/// ```
/// use std::thread;
/// use throng::structures::pool::Rsu;
///
/// let jobs = Rsu::new();
/// let sum: u64 = thread::scope(|scope| {
///     scope.spawn(|| (1..=100).for_each(|job| jobs.put(job)));
///     (0..100).map(|_| jobs.take()).sum()
/// });
/// assert_eq!(sum, 5050);
/// assert_eq!(jobs.try_take(), None);
/// ```
///
/// Dropping it drops the jobs inside.
#[derive(Debug)]
pub struct Rsu<T: Send, M: Machine = Native> {
    pools: PerCpu<Local<T, M>>,
    /// Above the id of every processor that has come or is expected. Never decreases.
    known: Line<M::Word>,
}

/// The pool of one processor.
#[derive(Debug)]
struct Local<T: Send, M: Machine> {
    lock: BackoffLock<M>,
    head: Line<Head<T, M>>,
}

#[derive(Debug)]
struct Head<T: Send, M: Machine> {
    /// The number of jobs; written under the lock.
    size: M::Word,
    /// Accessed under the lock.
    ring: M::Cell<Ring<T, M>>,
}

impl<T: Send, M: Machine> Local<T, M> {
    fn new(id: usize) -> Self {
        let at = |name| Place::named(name).index(id).near(id);
        Local {
            lock: BackoffLock::at(at("pool lock"), MOST_BACKOFF),
            head: Line::new::<M>(at("pool"), |spot| Head {
                size: M::Word::new(0, spot),
                ring: M::Cell::new(Ring::near(id), spot),
            }),
        }
    }

    fn size(&self) -> usize {
        self.head.size.load(Relaxed) as usize
    }

    /// Runs `f` on the jobs while no other processor can access them.
    fn with<R>(&self, cpu: &M::Cpu, f: impl FnOnce(&mut Ring<T, M>) -> R) -> R {
        let _held = Held::acquire(&self.lock, cpu);
        let counted = |ring: &mut Ring<T, M>| {
            let before = ring.len;
            (f(ring), (ring.len != before).then_some(ring.len as u64))
        };
        // SAFETY: the lock is held until `_held` is dropped at the end of this function, every other
        // access goes through this function too, and `Lock` promises exclusion.
        let (result, new_size) = unsafe { self.head.ring.with_mut(counted) };
        if let Some(size) = new_size {
            self.head.size.store(size, Release);
        }
        result
    }

    /// Takes the oldest job, or returns `None`. Takes the lock only if the size is not 0.
    fn take(&self, cpu: &M::Cpu) -> Option<T> {
        if self.size() == 0 { None } else { self.with(cpu, Ring::pop) }
    }
}

/// Jobs in the order in which they came, each on a line of its own.
struct Ring<T: Send, M: Machine> {
    /// Job number p, counted from the first that ever came, is in slot p modulo `room`.
    slots: Growing<Line<M::Cell<Option<T>>>>,
    /// The number of slots; a power of two.
    room: usize,
    /// The number of the oldest job.
    oldest: usize,
    len: usize,
}

impl<T: Send, M: Machine> Ring<T, M> {
    /// Returns an empty ring in the memory of processor `id`.
    fn near(id: usize) -> Self {
        let slot = move |_| {
            Line::new::<M>(Place::named("pooled job").near(id), |spot| M::Cell::new(None, spot))
        };
        Ring { slots: Growing::new(FIRST_ROOM, slot), room: FIRST_ROOM, oldest: 0, len: 0 }
    }

    fn slot<R>(&mut self, index: usize, f: impl FnOnce(&mut Option<T>) -> R) -> R {
        // SAFETY: the ring is borrowed mutably, and no other code has its slots.
        unsafe { self.slots.get(index).with_mut(f) }
    }

    fn push(&mut self, job: T) {
        if self.len == self.room {
            self.grow();
        }
        let index = self.oldest.wrapping_add(self.len) & (self.room - 1);
        self.slot(index, |slot| *slot = Some(job));
        self.len += 1;
    }

    fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let index = self.oldest & (self.room - 1);
        let job = self.slot(index, Option::take);
        self.oldest = self.oldest.wrapping_add(1);
        self.len -= 1;
        job
    }

    /// Doubles the room. Every job of the full ring stays in its slot or moves on by the old room.
    fn grow(&mut self) {
        let (room, oldest) = (self.room, self.oldest);
        self.room = 2 * room;
        for number in (0..self.len).map(|i| oldest.wrapping_add(i)) {
            let (from, to) = (number & (room - 1), number & (2 * room - 1));
            if from != to {
                let job = self.slot(from, Option::take);
                self.slot(to, |slot| *slot = job);
            }
        }
    }
}

impl<T: Send, M: Machine> fmt::Debug for Ring<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("len", &self.len).field("room", &self.room).finish()
    }
}

/// The move that balances two pools, as seen by the processor that is about to take a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Get(usize),
    Give(usize),
    Nothing,
}

impl Move {
    fn between(mine: usize, theirs: usize) -> Self {
        let round_up = usize::from(mine == 0);
        let half = |more: usize, less: usize, round_up| (more - less + round_up) / 2;
        match () {
            () if theirs > mine && half(theirs, mine, round_up) > 0 => {
                Move::Get(half(theirs, mine, round_up))
            }
            () if mine > theirs && half(mine, theirs, 0) > 0 => Move::Give(half(mine, theirs, 0)),
            () => Move::Nothing,
        }
    }
}

impl<T: Send, M: Machine> Rsu<T, M> {
    /// Returns empty pools on machine `M` for processors 0 to `expected` - 1. More or fewer may
    /// come. [`Rsu::new`] is for real threads.
    #[must_use]
    pub fn on_machine(expected: usize) -> Self {
        Rsu {
            // A closure, since the function itself would have to live as long as the program.
            pools: PerCpu::new(|id| Local::new(id)),
            known: Line::word::<M>(expected as u64, Place::named("known processors")),
        }
    }

    /// Makes the processor known to the others, and returns its id.
    fn come(&self, cpu: &M::Cpu) -> usize {
        let id = cpu.id();
        let mut known = self.known.load(Relaxed);
        while known <= id as u64 {
            match self.known.compare_exchange(known, id as u64 + 1, AcqRel, Relaxed) {
                Ok(_) => break,
                Err(found) => known = found,
            }
        }
        id
    }

    /// Puts a job into the processor's own pool. Waits only for a processor that is moving jobs
    /// there.
    pub fn put_on(&self, cpu: &M::Cpu, job: T) {
        let me = self.come(cpu);
        self.pools.get(me).with(cpu, |ring| ring.push(job));
    }

    /// Takes a job from the processor's own pool, after balancing. Waits until there is one.
    ///
    /// Returns `None` if the way out was open, and a look at all pools after that found no job. A
    /// job that was being moved meanwhile may have been missed. It is then in the pool of the
    /// processor that moved it.
    pub fn take_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<T> {
        let me = self.come(cpu);
        let mine = self.pools.get(me);
        let mut round = 0_u32;
        loop {
            // 0 below 0 and below 1: always if there is no job, and with probability 1 / size
            // otherwise.
            let balances = cpu.random_below(mine.size()) == 0;
            let balanced = if balances { self.balance(cpu, me) } else { None };
            if let Some(job) = balanced.or_else(|| mine.take(cpu)) {
                return Some(job);
            }
            if way_out.is_open(cpu) {
                return self.take_anywhere(cpu);
            }
            cpu.retry(round);
            round = round.saturating_add(1);
        }
    }

    /// Balances the pool of `me` with that of a random other processor, and takes a job if any
    /// moved. The job is taken before the locks are free, since a third processor might move it on.
    fn balance(&self, cpu: &M::Cpu, me: usize) -> Option<T> {
        let known = self.known.load(Acquire) as usize;
        if known < 2 {
            return None;
        }
        let other = (me + 1 + cpu.random_below(known - 1)) % known;
        let (mine, theirs) = (self.pools.get(me), self.pools.get(other));
        if Move::between(mine.size(), theirs.size()) == Move::Nothing {
            cpu.note("balanced", 0);
            return None;
        }
        let even_out = |mine: &mut Ring<T, M>, theirs: &mut Ring<T, M>| {
            cpu.note("balanced", even_out(mine, theirs) as u64);
            mine.pop()
        };
        if me < other {
            mine.with(cpu, |mine| theirs.with(cpu, |theirs| even_out(mine, theirs)))
        } else {
            theirs.with(cpu, |theirs| mine.with(cpu, |mine| even_out(mine, theirs)))
        }
    }

    /// Looks at every pool once, and takes a job from the first that has one.
    fn take_anywhere(&self, cpu: &M::Cpu) -> Option<T> {
        let known = self.known.load(Acquire) as usize;
        (0..known).find_map(|id| self.pools.get(id).take(cpu))
    }
}

/// Balances two pools, and returns the number of jobs that moved.
fn even_out<T: Send, M: Machine>(mine: &mut Ring<T, M>, theirs: &mut Ring<T, M>) -> usize {
    let (from, to, count) = match Move::between(mine.len, theirs.len) {
        Move::Get(count) => (theirs, mine, count),
        Move::Give(count) => (mine, theirs, count),
        Move::Nothing => return 0,
    };
    for job in (0..count).map_while(|_| from.pop()) {
        to.push(job);
    }
    count
}

impl<T: Send> Rsu<T> {
    /// Returns empty pools.
    #[must_use]
    pub fn new() -> Self {
        Self::on_machine(0)
    }

    /// Puts a job into the thread's own pool. Never waits for room.
    pub fn put(&self, job: T) {
        self.put_on(&Native::cpu(), job);
    }

    /// Takes a job. Waits until there is one.
    pub fn take(&self) -> T {
        self.take_on(&Native::cpu(), &WayOut::none()).expect("there is no way out")
    }

    /// Takes a job if there is one. Looks at all pools once.
    pub fn try_take(&self) -> Option<T> {
        let open = WayOut { deadline: Some(0), ..WayOut::none() };
        self.take_on(&Native::cpu(), &open)
    }
}

impl<T: Send> Default for Rsu<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send, M: Machine> Jobs<T, M> for Rsu<T, M> {
    fn put_on(&self, cpu: &M::Cpu, job: T) {
        self.put_on(cpu, job);
    }

    fn take_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<T> {
        self.take_on(cpu, way_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn moves_make_two_pools_even() {
        assert_eq!(Move::between(0, 0), Move::Nothing);
        assert_eq!(Move::between(0, 1), Move::Get(1), "otherwise no other processor could get it");
        assert_eq!(Move::between(0, 5), Move::Get(3));
        assert_eq!(Move::between(1, 2), Move::Nothing);
        assert_eq!(Move::between(1, 5), Move::Get(2));
        assert_eq!(Move::between(2, 0), Move::Give(1));
        assert_eq!(Move::between(1, 0), Move::Nothing);
        for mine in 0..20_usize {
            for theirs in 0..20_usize {
                let (m, t) = match Move::between(mine, theirs) {
                    Move::Get(count) => (mine + count, theirs - count),
                    Move::Give(count) => (mine - count, theirs + count),
                    Move::Nothing => (mine, theirs),
                };
                assert!(m.abs_diff(t) <= 1, "{mine} and {theirs} became {m} and {t}");
            }
        }
    }

    #[test]
    fn many_threads_take_every_job_once_and_end_by_the_way_out() {
        const MAKERS: u64 = 4;
        const JOBS: u64 = 2000;
        let pools = Rsu::new();
        let over = Line::word::<Native>(0, Place::named("over"));
        let (pools, over) = (&pools, &over);
        let mut taken: Vec<u64> = thread::scope(|scope| {
            let take = || {
                let way_out = WayOut { alarm: Some(&**over), until: 1, ..WayOut::none() };
                let mut taken = Vec::new();
                while let Some(job) = pools.take_on(&Native::cpu(), &way_out) {
                    taken.push(job);
                    // Some jobs make jobs.
                    if job < MAKERS * JOBS && job % 3 == 0 {
                        pools.put(job + MAKERS * JOBS);
                    }
                }
                taken
            };
            let takers: Vec<_> = (0..3).map(|_| scope.spawn(take)).collect();
            let put = |first: u64| (first..first + JOBS).for_each(|job| pools.put(job));
            let makers: Vec<_> =
                (0..MAKERS).map(|maker| scope.spawn(move || put(maker * JOBS))).collect();
            makers.into_iter().for_each(|maker| maker.join().unwrap());
            over.signal(1);
            takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
        });
        taken.extend(std::iter::from_fn(|| pools.try_take()));
        taken.sort_unstable();
        let all = MAKERS * JOBS;
        let made = (0..all).filter(|job| job % 3 == 0).map(|job| job + all);
        assert!(taken.into_iter().eq((0..all).chain(made)));
    }

    #[test]
    fn a_job_of_a_thread_that_has_gone_is_found() {
        let pools = Rsu::new();
        // Two threads at the same time have two pools.
        let both = std::sync::Barrier::new(2);
        let put = |job| {
            both.wait();
            pools.put(job);
            both.wait();
        };
        thread::scope(|scope| {
            scope.spawn(|| put(7));
            scope.spawn(|| put(8));
        });
        let mut found = [pools.take(), pools.take()];
        found.sort_unstable();
        assert_eq!(found, [7, 8]);
    }

    #[test]
    fn what_is_inside_is_dropped_once() {
        let job = Arc::new(());
        let pools = Rsu::new();
        (0..40).for_each(|_| pools.put(Arc::clone(&job)));
        (0..10).for_each(|_| drop(pools.take()));
        assert_eq!(Arc::strong_count(&job), 1 + 30);
        drop(pools);
        assert_eq!(Arc::strong_count(&job), 1);
    }

    proptest! {
        /// For any growth and wrap-around of the ring.
        #[test]
        fn a_ring_is_a_queue(steps in prop::collection::vec(0_u8..5, 0..300)) {
            let mut ring = Ring::<usize, Native>::near(0);
            let mut model = VecDeque::new();
            for (job, step) in steps.into_iter().enumerate() {
                if step < 3 {
                    ring.push(job);
                    model.push_back(job);
                } else {
                    prop_assert_eq!(ring.pop(), model.pop_front());
                }
                prop_assert_eq!(ring.len, model.len());
            }
            prop_assert!(std::iter::from_fn(|| ring.pop()).eq(model));
        }
    }
}
