//! A pool of jobs in no order: local queues, and above them an elimination-diffraction tree (Shavit and
//! Touitou, *Elimination trees and the construction of pools and stacks*, 1997; mentioned at the end of DT96).
//!
//! ```text
//!    putters with too many jobs,                 leaves, one for each core
//!    takers without one        ┌────────────────> [ 0 | 1 | .. | 7 ]
//!          ─────────> [prism] ─┤                                       each a FIFO queue under
//!                     toggles  └────────────────> [ 8 | 9 | .. | 15 ]  a lock, and the home of
//!                                                                      the threads on its core
//! ```
//!
//! A thread puts jobs into the leaf of its core and takes from there while there is something: one
//! compare-exchange on a line that others seldom touch. Two more ways are there for when that will not do.
//!
//! *The tree.* A taker whose home is empty walks down the tree, and so does a putter whose home is in use,
//! or is crowded while guests take jobs from it. In the prism of a balancer two that come together need
//! nothing else: two putters (or two takers) go separate ways, and a putter and a taker pass the job
//! from hand to hand and go home. Who meets nobody passes a toggle; there is one for putters and one for
//! takers, so that takers go where putters went. Behind each exit jobs are dealt to its leaves in turn.
//!
//! *The search.* A taker that comes to an empty leaf looks at all leaves, and says that there is nothing
//! only if all were empty at once.
//!
//! *The haul.* A taker that finds a job elsewhere moves half of the others there to its home, if that is empty: the
//! next ones are near. If there are no others to move it is faster than the putters, and waits a little before it
//! comes again: else it would meet them at every job.
//!
//! What is promised is told at [`Pool`].
//!
//! # Differs from the paper
//! - leaves are used without the tree wherever that will do: on real machines a walk costs several
//!   hundred nanoseconds, and the leaf of one's own core ten;
//! - leaves are shared out among several for each exit of the tree, which so is no deeper than it needs
//!   to be to spread those who come;
//! - toggles are atomic words without locks, as in DT96 Figure 7;
//! - a taker at an empty leaf does not wait there but looks at the other leaves;
//! - a taker moves jobs home.

mod balancer;
mod bell;
mod leaf;
mod native;
mod shape;
#[cfg(test)]
mod tests;
mod visitor;

pub use native::{Drain, PoolBuilder};
pub use shape::PoolShape;

use std::fmt;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use self::balancer::{Balancer, Way};
use self::bell::Bells;
use self::leaf::{Leaf, Refusal, Take, Who};
use self::visitor::{Kind, Visitor, Walker};
use super::{Closed, Jobs, PopError};
use crate::ShapeError;
use crate::machine::{Cpu, Growing, Line, Machine, Native, Place, WayOut, Word};
use crate::topology::Topology;

/// No more processors than this find their entry made.
const FIRST_VISITORS: usize = 64;

/// All processors that ever came, by their ids.
type Crowd<T, M> = Growing<Visitor<T, M>>;

/// Many putters, many takers, no order: for jobs of which it does not matter which is done first.
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
/// A thread puts jobs into the local queue of its core, a *leaf*, and takes from there while there is
/// something, at the price of one compare-exchange on a line that others seldom touch. A thread whose
/// leaf is empty, or is crowded while others come to take from it, walks down a tree (Shavit and Touitou
/// 1997) in which putters and takers that meet pass a job from hand to hand, and the others are spread
/// over the leaves. A taker that still has nothing looks at all leaves, and then, in [`pop`](Pool::pop),
/// sleeps until somebody puts a job in. Where it finds a job elsewhere, it moves half of the others there to
/// its own leaf.
///
/// # What is promised
/// - **Nothing is lost, nothing is given twice.** A job that was put in is taken once, or dropped with
///   the pool.
/// - **Empty means empty.** [`Pool::try_pop`] answers [`PopError::Empty`] only if there was an instant
///   during the call at which no leaf had a job: it finds every leaf empty, and then that none has been put
///   in meanwhile. In particular a job whose push happened before the call is found, unless another takes
///   it. (Counts of puts are kept modulo 2^30: the promise needs that fewer jobs are put in or moved
///   during one look.)
/// - **Closed means over.** After [`PopError::Closed`], or `None` from [`Pool::pop`], no call that begins
///   later gets a job.
/// - **No job waits for ever.** See below.
/// - **No order**, except that a thread alone that stays on its core, with fewer than 2^32 - 1 jobs, has a
///   queue.
///
/// # Fairness
/// Every 64th pop of a thread ([`PoolShape::turn_every`]) *takes a turn*: before it goes home it looks at
/// a leaf, at each in turn, and if nobody has taken a job there since it last looked, it takes the first.
/// So from one look to the next at least one job of this leaf is taken, if it has any. Jobs leave a leaf in
/// their order, the first is taken, and those that are moved with it come to an empty leaf: so where a job is
/// moved, fewer are before it than were. Hence with L leaves, a job with q jobs before it is taken before any
/// one thread has popped 128 (q + 1) L times. (If somebody is at work at the leaf, and nothing was taken
/// there, the look is repeated with the thread's next pop; such pops do not count.)
///
/// # Progress
/// *Blocking, in parts*: a thread that stops in the middle of a call holds up one leaf, or two while it moves
/// jobs from one to the other, or one partner in the tree. Others put their jobs elsewhere, and take from
/// elsewhere while there is something; but a taker that finds no job except in a leaf that is held up waits for that, even in
/// [`try_pop`](Pool::try_pop), and [`close`](Pool::close) waits for every leaf. A push waits only while
/// every leaf is in use, or full: one holds 2^32 - 1 jobs.
///
/// # Memory
/// Two lines (256 bytes) for each leaf; for each thread that ever came two lines and 4 bytes for each
/// leaf; some lines for the tree. Queues keep the room they once needed until the pool is dropped.
pub struct Pool<T: Send, M: Machine = Native> {
    leaves: Box<[Leaf<T, M>]>,
    /// Balancer n is at n - 1.
    balancers: Box<[Balancer<M>]>,
    /// For each exit of the tree, how many putters and how many takers came out of it.
    exits: Box<[[Line<M::Word>; 2]]>,
    crowd: Crowd<T, M>,
    bells: Bells<M>,
    /// 1 when all leaves are closed.
    closed: Line<M::Word>,
    turn_every: u32,
    crowded_from: u64,
    haul: usize,
    most_breath: u32,
    depth: u32,
    /// Which core is the neighbour of which, on a real machine.
    topology: Option<&'static Topology>,
}

impl<T: Send, M: Machine> Pool<T, M> {
    /// A pool on machine `M`.
    ///
    /// # Errors
    /// When `leaves` is no power of two up to 4096, the tree is deeper than it has leaves for, or
    /// `prism` or `turn_every` is 0 or absurd.
    pub fn on_machine(shape: &PoolShape) -> Result<Self, ShapeError> {
        shape.check()?;
        let PoolShape { leaves, depth, prism, spin, turn_every, crowd, haul } = *shape;
        let balancer = |node: usize| Balancer::new(node, (prism >> node.ilog2()).max(1), spin);
        let exit = |i| {
            let word = |name| Line::word::<M>(0, Place::named(name).index(i));
            [word("pool exit of putters"), word("pool exit of takers")]
        };
        Ok(Pool {
            leaves: (0..leaves).map(Leaf::new).collect(),
            balancers: (1..1 << depth).map(balancer).collect(),
            exits: (0..1 << depth).map(exit).collect(),
            crowd: Growing::new(leaves.min(FIRST_VISITORS), move |id| {
                Visitor::new(id, leaves, spin)
            }),
            bells: Bells::new(leaves),
            closed: Line::word::<M>(0, Place::named("pool closed")),
            turn_every,
            crowded_from: crowd as u64,
            haul,
            most_breath: spin,
            depth,
            topology: None,
        })
    }

    /// Puts a job in. Never waits for room, since there is no bound.
    ///
    /// # Errors
    /// The job, if the pool is closed.
    #[inline]
    pub fn push_on(&self, cpu: &M::Cpu, job: T) -> Result<(), Closed<T>> {
        let walker = Walker::new(cpu, &self.crowd);
        if walker.own().asks_where(self.turn_every) {
            self.find_home(&walker);
        }
        let home = walker.own().home();
        match self.leaves[home].put(job, Who::Owner, self.crowded_from) {
            Ok(()) => {}
            Err((Refusal::Closed, job)) => return Err(Closed(job)),
            Err((why, job)) => self.put_elsewhere(&walker, job, why)?,
        }
        if self.bells.anybody() {
            self.bells.ring(home);
        }
        Ok(())
    }

    /// Takes a job out, if there is one.
    ///
    /// # Errors
    /// [`PopError::Empty`] if at one instant there was none; [`PopError::Closed`] if there will be none.
    #[inline]
    pub fn try_pop_on(&self, cpu: &M::Cpu) -> Result<T, PopError> {
        let walker = Walker::new(cpu, &self.crowd);
        let own = walker.own();
        if own.begins_turn(self.turn_every) {
            self.find_home(&walker);
        }
        if let Some(leaf) = own.turn()
            && let Some(job) = self.take_turn(&walker, leaf)
        {
            return Ok(job);
        }
        match self.leaves[own.home()].take(Who::Owner) {
            Take::Job(job) => Ok(job),
            Take::Empty(_) | Take::Busy => self.take_elsewhere(&walker),
        }
    }

    /// Takes a job out; waits for one, but not longer than until the way out opens.
    ///
    /// # Errors
    /// [`PopError::Empty`] if there was none in time; [`PopError::Closed`] if there will be none.
    pub fn pop_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        let mut rung = false;
        let mut round = 0;
        loop {
            match self.try_pop_on(cpu) {
                Err(PopError::Empty) => {}
                end => {
                    if rung && end.is_ok() {
                        self.pass_on(cpu);
                    }
                    return end;
                }
            }
            if way_out.is_open(cpu) {
                return Err(PopError::Empty);
            }
            let guest = self.bells.enter(self.crowd.get(cpu.id()).own.home());
            let found = self.last_look(cpu, way_out);
            if let LastLook::Nothing = found {
                self.bells.sleep(cpu, guest, way_out);
            }
            rung |= self.bells.leave(guest);
            match found {
                LastLook::Job(job) => {
                    if rung {
                        self.pass_on(cpu);
                    }
                    return Ok(job);
                }
                LastLook::Nothing => round = 0,
                LastLook::Unsure => {
                    cpu.retry(round);
                    round = round.saturating_add(1);
                }
            }
        }
    }

    /// Closes the pool: no job is taken in any more, and what is inside can still be taken out. Tells
    /// whether it was open.
    pub fn close_on(&self, cpu: &M::Cpu) -> bool {
        if self.is_closed() {
            return false;
        }
        // All begin with the same leaf: who closes that one closes the pool, the others help.
        let closed: Vec<bool> = self.leaves.iter().map(|leaf| leaf.close(cpu)).collect();
        self.closed.store(1, Release);
        self.bells.ring_all();
        closed[0]
    }

    /// Whether the pool is closed.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Acquire) != 0
    }

    /// How many jobs are inside, one leaf counted after the other. One that is moved meanwhile may be counted
    /// twice.
    pub fn len(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.look().jobs() as usize).sum()
    }

    /// Whether no leaf had a job when it was looked at. [`try_pop`](Pool::try_pop) knows better.
    pub fn is_empty(&self) -> bool {
        self.leaves.iter().all(|leaf| leaf.look().jobs() == 0)
    }

    #[cold]
    fn find_home(&self, walker: &Walker<'_, T, M>) {
        let location = walker.cpu.location();
        let place = self.topology.map_or(location, |topology| topology.place(location));
        walker.own().set_home(place & (self.leaves.len() - 1));
    }

    /// All leaves, from `first` on and around.
    fn leaves_from(&self, first: usize) -> impl Iterator<Item = (usize, &Leaf<T, M>)> {
        let last = self.leaves.len() - 1;
        (first..=first + last).map(move |i| (i & last, &self.leaves[i & last]))
    }

    /// Walks down the tree to a leaf, or meets one of the other kind: then the job of a taker comes back.
    fn walk(&self, walker: &Walker<'_, T, M>, kind: Kind) -> Result<usize, Option<T>> {
        let mut exit = 0;
        let mut node = 1;
        for level in 0..self.depth {
            let right = match self.balancers[node - 1].pass(walker, &self.crowd, kind) {
                Way::Left => 0,
                Way::Right => 1,
                Way::Done(job) => return Err(job),
            };
            exit |= right << level;
            node = 2 * node + right;
        }
        let of_exit = self.leaves.len() >> self.depth;
        if of_exit == 1 {
            return Ok(exit);
        }
        let count = self.exits[exit][kind as usize].fetch_add(1, Relaxed) as usize;
        Ok(exit * of_exit + (count & (of_exit - 1)))
    }

    /// Puts a job where the tree says, or nearby.
    #[cold]
    fn put_elsewhere(
        &self,
        walker: &Walker<'_, T, M>,
        job: T,
        why: Refusal,
    ) -> Result<(), Closed<T>> {
        // SAFETY: the parcel is our own, and we are not in the tree yet.
        unsafe { walker.visitor.exchange(Some(job)) };
        let Ok(exit) = self.walk(walker, Kind::Put) else {
            return Ok(());
        };
        // SAFETY: the parcel is our own, and we are out of the tree again.
        let Some(mut job) = (unsafe { walker.visitor.exchange(None) }) else {
            return Ok(());
        };
        for round in 0.. {
            for (i, leaf) in self.leaves_from(exit) {
                job = match leaf.put(job, Who::Guest, self.crowded_from) {
                    Ok(()) => {
                        // Whoever is at work at home may have lost its core there: this is home for now.
                        if why == Refusal::Busy {
                            walker.own().set_home(i);
                        }
                        return Ok(());
                    }
                    Err((Refusal::Closed, job)) => return Err(Closed(job)),
                    Err((Refusal::Busy | Refusal::Crowded, job)) => job,
                };
            }
            walker.cpu.retry(round);
        }
        unreachable!("rounds do not end")
    }

    /// Looks at the leaf whose turn it is, and takes a job if nobody has taken one there since its last
    /// turn.
    #[cold]
    fn take_turn(&self, walker: &Walker<'_, T, M>, leaf: usize) -> Option<T> {
        let state = self.leaves[leaf].look();
        if state.jobs() == 0 || walker.own().is_served(leaf, state.taken()) {
            walker.own().end_turn(leaf, state.taken());
            return None;
        }
        // If somebody is at work there, the turn is taken by the next pop.
        let Take::Job(job) = self.leaves[leaf].take(self.who(walker, leaf)) else {
            return None;
        };
        walker.own().end_turn(leaf, state.taken() + 1);
        Some(job)
    }

    fn who(&self, walker: &Walker<'_, T, M>, leaf: usize) -> Who {
        if leaf == walker.own().home() { Who::Owner } else { Who::Guest }
    }

    /// Takes a job that is not at home: where the last one was, by way of the tree, or anywhere.
    #[cold]
    fn take_elsewhere(&self, walker: &Walker<'_, T, M>) -> Result<T, PopError> {
        let (own, home) = (walker.own(), walker.own().home());
        walker.cpu.pause(own.breath());
        let last = own.found_at();
        if last != home
            && let Take::Job(job) = self.take_home(walker, last)
        {
            return Ok(job);
        }
        // Once the pool is closed, nobody new comes to meet, and who has seen the end must not be
        // followed by one who gets a job from a putter that is late.
        let first = if self.leaves[home].look().is_closed() {
            home
        } else {
            match self.walk(walker, Kind::Take) {
                Ok(leaf) => leaf,
                Err(Some(job)) => return Ok(job),
                Err(None) => home,
            }
        };
        self.search(walker, first)
    }

    /// Takes a job from a leaf, and others home.
    fn take_home(&self, walker: &Walker<'_, T, M>, leaf: usize) -> Take<T> {
        let home = walker.own().home();
        if leaf == home {
            return self.leaves[home].take(Who::Owner);
        }
        let haul = self.leaves[leaf].take_home(&self.leaves[home], self.haul);
        // For who is about to sleep, they are new.
        if haul.moved && self.bells.anybody() {
            self.bells.ring(home);
        }
        if haul.moved {
            walker.own().has_found_many();
        } else if haul.single {
            walker.own().has_found_one(self.most_breath);
        }
        haul.job
    }

    /// Looks at all leaves until it has a job, or has seen that there is none.
    fn search(&self, walker: &Walker<'_, T, M>, first: usize) -> Result<T, PopError> {
        for round in 0.. {
            // What others did before this call began is seen now.
            M::fence(SeqCst);
            let (mut puts, mut sure, mut closed) = (0_u64, true, true);
            for (i, _) in self.leaves_from(first) {
                match self.take_home(walker, i) {
                    Take::Job(job) => {
                        walker.own().set_found_at(i);
                        return Ok(job);
                    }
                    Take::Busy => sure = false,
                    Take::Empty(state) => {
                        puts = puts.wrapping_add(state.puts());
                        closed &= state.is_closed();
                    }
                }
            }
            if sure && closed {
                return Err(PopError::Closed);
            }
            // Puts are only ever added to: if their sum is what it was, none came, and all leaves were
            // empty when the last was looked at. If all are closed by now, "closed" is what the next round
            // will say, unless it finds a job.
            let looks = self.leaves.iter().map(Leaf::look);
            let again = looks.fold((0_u64, true), |(puts, closed), state| {
                (puts.wrapping_add(state.puts()), closed && state.is_closed())
            });
            if sure && again == (puts, false) {
                walker.own().has_found_nothing();
                return Err(PopError::Empty);
            }
            walker.cpu.retry(round);
        }
        unreachable!("rounds do not end")
    }

    /// Looks at all leaves, in the way that `bell.rs` asks for, before the caller sleeps.
    fn last_look(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> LastLook<T> {
        let walker = Walker::new(cpu, &self.crowd);
        for (i, leaf) in self.leaves_from(walker.own().home()) {
            for round in 0.. {
                match leaf.take(self.who(&walker, i)) {
                    Take::Job(job) => return LastLook::Job(job),
                    Take::Empty(state) if state.is_closed() => return LastLook::Unsure,
                    Take::Empty(state) if !state.is_locked() && leaf.looked_at(state) => break,
                    Take::Empty(_) | Take::Busy => {}
                }
                if way_out.is_open(cpu) {
                    return LastLook::Unsure;
                }
                cpu.retry(round);
            }
        }
        LastLook::Nothing
    }

    /// Wakes another, if there is something for it.
    #[cold]
    fn pass_on(&self, cpu: &M::Cpu) {
        if self.bells.anybody() && !self.is_empty() {
            self.bells.ring(self.crowd.get(cpu.id()).own.home());
        }
    }
}

/// What one sees who is about to sleep.
enum LastLook<T> {
    Job(T),
    /// No job, in any leaf.
    Nothing,
    /// The pool is being closed, or the way out is open.
    Unsure,
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
impl<T: Send, M: Machine> fmt::Debug for Pool<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaves = self.leaves.len();
        f.debug_struct("Pool")
            .field("leaves", &leaves)
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}
