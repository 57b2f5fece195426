//! A leaf: a queue of jobs under a lock, with all that others need to know of it in one word.
//!
//! # The state word
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 0 | `LOCKED` | a processor is putting jobs in or taking them out |
//! | 1 | `CLOSED` | no job is put in any more; never cleared |
//! | 2..34 | jobs | how many jobs are here and promised to nobody |
//! | 34..64 | puts | how many were ever put or moved in, modulo 2^30 |
//!
//! | step | from | to |
//! |---|---|---|
//! | a putter begins | free, open | `LOCKED` |
//! | a putter ends | `LOCKED` | free, jobs + 1, puts + 1 |
//! | a taker begins | free, jobs > 0 | `LOCKED`, jobs - 1 |
//! | a taker ends | `LOCKED` | free; jobs - k, if k more were moved |
//! | a taker begins to move jobs in | free, open, no jobs | `LOCKED` |
//! | it has moved k of them | `LOCKED` | free, jobs + k, puts + k |
//! | somebody closes | free | `CLOSED` |
//!
//! So a job is here from the end of its put to the beginning of its take: a leaf without jobs is empty
//! even while it is locked, and one look tells. A leaf that is locked is never waited for here; callers
//! go elsewhere.
//!
//! # Moving
//! A taker from elsewhere may move some jobs to its home, with both leaves locked, and frees its home first. So a
//! job that is moved is counted in both leaves for an instant, and never in neither. Who looks at one leaf
//! after the other and finds it in none finds that something was put in meanwhile. Nothing is moved into a
//! closed leaf: who has seen one without jobs has seen the last of it.
//!
//! ## Memory ordering
//! Locking acquires what freeing released: that passes on the queue, and all that a putter did before.
//! A taker's lock also releases: whoever sees that a job is gone sees what its taker did before, such as
//! putting another one elsewhere. Without that, loom finds two takers of two jobs of whom one gets none.
//! Closing and [`Leaf::looked_at`] are read-modify-writes of a free leaf: whoever locks it next acquires
//! from them. Waiting rests on that (`bell.rs`).

use std::collections::VecDeque;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::machine::{Cell, Line, Machine, Place, Word};

const LOCKED: u64 = 1;
const CLOSED: u64 = 1 << 1;
const JOB: u64 = 1 << 2;
const PUT: u64 = 1 << 34;
const MOST_JOBS: u64 = u32::MAX as u64;

/// What a leaf was, in one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(u64);

impl State {
    pub(super) const fn is_locked(self) -> bool {
        self.0 & LOCKED != 0
    }

    pub(super) const fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    pub(super) const fn jobs(self) -> u64 {
        (self.0 / JOB) & MOST_JOBS
    }

    /// How many jobs were ever put or moved in, modulo 2^30.
    pub(super) const fn puts(self) -> u64 {
        self.0 / PUT
    }

    /// How many jobs were ever taken or moved out, modulo 2^30.
    pub(super) const fn taken(self) -> u64 {
        self.puts().wrapping_sub(self.jobs()) % (1 << 30)
    }
}

/// Why a leaf did not take a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The pool is closed.
    Closed,
    /// Somebody else is at work here, or there is no room.
    Busy,
    /// There are many jobs here, and guests come for them: better put this one nearer to them.
    Crowded,
}

/// What came of an attempt to take a job.
#[derive(Debug)]
pub(super) enum Take<T> {
    Job(T),
    /// There was none.
    Empty(State),
    /// There was one, but somebody else is at work here.
    Busy,
}

/// Who puts or takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// A processor whose home this is.
    Owner,
    /// Any other.
    Guest,
}

/// What came of an attempt to take one job and to move others.
#[derive(Debug)]
pub(super) struct Haul<T> {
    pub(super) job: Take<T>,
    /// Whether others were moved.
    pub(super) moved: bool,
    /// Whether there were none that could have been.
    pub(super) single: bool,
}

/// So many thefts are remembered.
const MOST_THEFTS: u32 = 64;

pub(super) struct Leaf<T: Send, M: Machine>(Line<Inner<T, M>>);

struct Inner<T: Send, M: Machine> {
    state: M::Word,
    /// Reached only by who has set `LOCKED`.
    content: M::Cell<Content<T>>,
}

struct Content<T> {
    jobs: VecDeque<T>,
    /// How many jobs guests have taken, for which the owner has put none elsewhere yet.
    thefts: u32,
}

impl<T> Content<T> {
    /// So many bytes a job has, 1 at least.
    const SIZE: usize = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };

    /// No more jobs are moved at once: it takes time, and two leaves are locked meanwhile.
    const MOST_MOVED: usize = 4096 / Self::SIZE;

    /// The first room of a queue: so much that queues of two cores do not share lines for long.
    const FIRST_ROOM: usize = {
        let jobs = 1024 / Self::SIZE;
        if jobs < 4 {
            4
        } else if jobs > 64 {
            64
        } else {
            jobs
        }
    };

    /// Makes room for another job.
    #[inline]
    fn make_room(&mut self) {
        if self.jobs.len() == self.jobs.capacity() {
            self.jobs.reserve(self.jobs.len().max(Self::FIRST_ROOM));
        }
    }

    /// A guest has taken a job, and nothing else.
    fn note_theft(&mut self) {
        self.thefts = (self.thefts + 1).min(MOST_THEFTS);
    }

    /// Moves so many jobs into this queue, which is empty: the first ones of the other.
    fn fill_from(&mut self, other: &mut Self, jobs: usize) {
        self.jobs.reserve(jobs.max(Self::FIRST_ROOM));
        self.jobs.extend(other.jobs.drain(..jobs));
    }
}

impl<T: Send, M: Machine> Leaf<T, M> {
    pub(super) fn new(index: usize) -> Self {
        let content = Content { jobs: VecDeque::new(), thefts: 0 };
        Leaf(Line::new::<M>(Place::named("pool leaf").index(index).near(index), |spot| Inner {
            state: M::Word::new(0, spot),
            content: M::Cell::new(content, spot),
        }))
    }

    #[inline]
    pub(super) fn look(&self) -> State {
        State(self.0.state.load(Acquire))
    }

    /// Puts a job in. An owner is sent elsewhere, now and then, when guests come and `crowd` or more jobs
    /// are here.
    #[inline]
    pub(super) fn put(&self, job: T, who: Who, crowd: u64) -> Result<(), (Refusal, T)> {
        let Inner { state, content } = &*self.0;
        let before = State(state.load(Relaxed));
        if before.0 & (LOCKED | CLOSED) != 0 || before.jobs() == MOST_JOBS {
            let refusal = if before.is_closed() { Refusal::Closed } else { Refusal::Busy };
            return Err((refusal, job));
        }
        if state.compare_exchange(before.0, before.0 | LOCKED, Acquire, Relaxed).is_err() {
            return Err((Refusal::Busy, job));
        }
        // SAFETY: `LOCKED` is set, by us, until the store below; nobody else reaches the content.
        let refused = unsafe {
            content.with_mut(|content| {
                if who == Who::Owner && content.thefts > 0 && before.jobs() >= crowd {
                    content.thefts -= 1;
                    return Some(job);
                }
                content.make_room();
                content.jobs.push_back(job);
                None
            })
        };
        if let Some(job) = refused {
            state.store(before.0, Release);
            return Err((Refusal::Crowded, job));
        }
        state.store(before.0.wrapping_add(JOB + PUT), Release);
        Ok(())
    }

    /// Takes the job out that was put in first.
    #[inline]
    pub(super) fn take(&self, who: Who) -> Take<T> {
        let after = match self.lock_to_take() {
            Ok(after) => after,
            Err(take) => return take,
        };
        // SAFETY: `LOCKED` is set, by us, until the store below; nobody else reaches the content.
        let job = unsafe {
            self.0.content.with_mut(|content| {
                if who == Who::Guest {
                    content.note_theft();
                }
                content.jobs.pop_front()
            })
        };
        self.0.state.store(after.0, Release);
        job.map_or(Take::Empty(after), Take::Job)
    }

    /// The same for a guest, and moves half of the others to its home, but no more than so many, if there are none
    /// at home.
    pub(super) fn take_home(&self, home: &Self, most: usize) -> Haul<T> {
        let after = match self.lock_to_take() {
            Ok(after) => after,
            Err(job) => return Haul { job, moved: false, single: false },
        };
        let half = after.jobs() as usize / 2;
        let others = half.min(most).min(Content::<T>::MOST_MOVED);
        let empty = if others > 0 { home.lock_to_fill() } else { None };
        let take = |here: &mut Content<T>| {
            let job = here.jobs.pop_front();
            match empty {
                // SAFETY: `LOCKED` is set at home, by us, until the first store below.
                Some(_) => unsafe {
                    home.0.content.with_mut(|there| there.fill_from(here, others));
                },
                None => here.note_theft(),
            }
            job
        };
        // SAFETY: `LOCKED` is set, by us, until the last store below; nobody else reaches the content.
        let job = unsafe { self.0.content.with_mut(take) };
        let mut free = after.0;
        if let Some(State(empty)) = empty {
            home.0.state.store(empty.wrapping_add(others as u64 * (JOB + PUT)), Release);
            free -= others as u64 * JOB;
        }
        self.0.state.store(free, Release);
        let job = job.map_or(Take::Empty(after), Take::Job);
        Haul { job, moved: empty.is_some(), single: half == 0 }
    }

    /// Locks the leaf to take a job, if there is one; how it is to be when it is free again.
    #[inline]
    fn lock_to_take(&self) -> Result<State, Take<T>> {
        let state = &self.0.state;
        let before = State(state.load(Acquire));
        if before.jobs() == 0 {
            return Err(Take::Empty(before));
        }
        let after = before.0 - JOB;
        if before.is_locked()
            || state.compare_exchange(before.0, after | LOCKED, AcqRel, Relaxed).is_err()
        {
            return Err(Take::Busy);
        }
        Ok(State(after))
    }

    /// Locks the leaf to move jobs in, if it is free, open and without jobs; how it was.
    fn lock_to_fill(&self) -> Option<State> {
        let state = &self.0.state;
        let before = State(state.load(Relaxed));
        let is_ready = before.0 & (LOCKED | CLOSED) == 0 && before.jobs() == 0;
        let locked = before.0 | LOCKED;
        (is_ready && state.compare_exchange(before.0, locked, Acquire, Relaxed).is_ok())
            .then_some(before)
    }

    /// Leaves a mark at a free leaf that was `seen`: who locks it next has seen all that the caller did
    /// before. False if it has changed.
    pub(super) fn looked_at(&self, seen: State) -> bool {
        self.0.state.compare_exchange(seen.0, seen.0, AcqRel, Relaxed).is_ok()
    }

    /// Lets no job in any more. Waits for who is at work here. Tells whether it was open.
    pub(super) fn close(&self, cpu: &M::Cpu) -> bool {
        let state = &self.0.state;
        loop {
            let free = state.wait_while(cpu, Acquire, |state| State(state).is_locked());
            let closed = free | CLOSED;
            if free == closed {
                return false;
            }
            if state.compare_exchange(free, closed, AcqRel, Relaxed).is_ok() {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    const NEVER: u64 = u64::MAX;

    fn leaf() -> Leaf<u32, Native> {
        Leaf::new(0)
    }

    fn taken(leaf: &Leaf<u32, Native>, who: Who) -> Option<u32> {
        match leaf.take(who) {
            Take::Job(job) => Some(job),
            Take::Empty(_) | Take::Busy => None,
        }
    }

    #[test]
    fn a_leaf_is_first_in_first_out_and_counts_what_is_put_in() {
        let leaf = leaf();
        for job in 0..5 {
            leaf.put(job, Who::Owner, NEVER).unwrap();
        }
        assert_eq!((leaf.look().jobs(), leaf.look().puts()), (5, 5));
        assert!((0..5).all(|job| taken(&leaf, Who::Guest) == Some(job)));
        assert_eq!(taken(&leaf, Who::Guest), None);
        assert_eq!((leaf.look().jobs(), leaf.look().puts(), leaf.look().taken()), (0, 5, 5));
    }

    #[test]
    fn a_closed_leaf_takes_nothing_and_still_gives() {
        let leaf = leaf();
        leaf.put(7, Who::Guest, NEVER).unwrap();
        leaf.close(&Native::cpu());
        assert_eq!(leaf.put(8, Who::Guest, NEVER), Err((Refusal::Closed, 8)));
        assert_eq!(taken(&leaf, Who::Owner), Some(7));
    }

    #[test]
    fn the_owner_is_sent_elsewhere_once_for_every_theft() {
        let leaf = leaf();
        for job in 0..6 {
            leaf.put(job, Who::Owner, 2).unwrap();
        }
        taken(&leaf, Who::Owner);
        leaf.put(6, Who::Owner, 2).expect("no guest was here");
        taken(&leaf, Who::Guest);
        assert_eq!(leaf.put(7, Who::Owner, 2), Err((Refusal::Crowded, 7)));
        leaf.put(7, Who::Owner, 2).expect("one theft, one job elsewhere");
    }

    #[test]
    fn half_of_the_others_are_moved_home_if_nothing_is_there() {
        let (leaf, home) = (leaf(), Leaf::new(1));
        let haul = |home: &Leaf<u32, Native>| {
            let haul = leaf.take_home(home, 3);
            let Take::Job(job) = haul.job else { panic!("there is a job: {haul:?}") };
            (job, haul.moved)
        };
        (0..12).for_each(|job| leaf.put(job, Who::Owner, NEVER).unwrap());
        assert_eq!(haul(&home), (0, true), "5 would be half, and 3 are allowed");
        assert_eq!((leaf.look().jobs(), leaf.look().taken()), (8, 4));
        assert_eq!((home.look().jobs(), home.look().puts(), home.look().taken()), (3, 3, 0));
        assert_eq!(haul(&home), (4, false), "there is something at home");
        assert!((1..4).all(|job| taken(&home, Who::Owner) == Some(job)), "in their order");
        assert_eq!(haul(&home), (5, true));
        assert_eq!((leaf.look().jobs(), home.look().jobs()), (3, 3));
        assert!((6..9).all(|job| taken(&home, Who::Owner) == Some(job)));
        home.0.state.fetch_or(LOCKED, Relaxed);
        assert_eq!(haul(&home), (9, false), "somebody is at work there");
        home.0.state.fetch_and(!LOCKED, Relaxed);
        leaf.put(12, Who::Owner, NEVER).unwrap();
        home.close(&Native::cpu());
        assert_eq!(haul(&home), (10, false), "nothing is put into a closed leaf");
        assert_eq!((leaf.look().jobs(), home.look().jobs()), (2, 0));
    }

    /// Without that, its owner would put jobs elsewhere for guests who come rarely.
    #[test]
    fn a_haul_is_not_a_theft() {
        let (leaf, home) = (leaf(), Leaf::new(1));
        (0..9).for_each(|job| leaf.put(job, Who::Owner, 2).unwrap());
        assert!(leaf.take_home(&home, 9).moved);
        leaf.put(9, Who::Owner, 2).expect("there was no theft");
        assert!(!leaf.take_home(&home, 9).moved);
        assert_eq!(leaf.put(10, Who::Owner, 2), Err((Refusal::Crowded, 10)));
    }

    #[test]
    fn counts_of_puts_begin_again_without_touching_the_rest() {
        let leaf = leaf();
        leaf.0.state.store(PUT.wrapping_neg(), Relaxed);
        leaf.put(1, Who::Owner, NEVER).unwrap();
        assert_eq!((leaf.look().jobs(), leaf.look().puts()), (1, 0));
        assert_eq!(leaf.look().taken(), (1 << 30) - 1);
        assert!(!leaf.look().is_locked());
        assert!(!leaf.look().is_closed());
    }

    #[test]
    fn a_locked_leaf_sends_everybody_away() {
        let leaf = leaf();
        leaf.put(1, Who::Owner, NEVER).unwrap();
        leaf.0.state.fetch_or(LOCKED, Relaxed);
        assert_eq!(leaf.put(2, Who::Owner, NEVER), Err((Refusal::Busy, 2)));
        assert!(matches!(leaf.take(Who::Owner), Take::Busy));
        leaf.0.state.fetch_and(!LOCKED, Relaxed);
        assert_eq!(taken(&leaf, Who::Owner), Some(1));
    }
}
