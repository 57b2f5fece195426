//! Checks whether a barrier holds, while it is measured.
//!
//! Before it waits, every thread writes the number of its round on a line of its own. When it
//! returns, it reads the number of another thread. If that is smaller, the other thread had not
//! arrived yet.
//!
//! A look fetches a line from another core, which takes about as long as a barrier for two. So
//! A check fetches a line from another core, which takes about as long as a barrier for two. So
//! every round is checked in warm-up, but only one in [`SAMPLED`] while measuring, the same one on
//! all threads. Writing a line that no other thread has read costs next to nothing.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// One round in this many is checked while measuring. A power of two.
pub const SAMPLED: u64 = 64;

/// The round of one thread, on a line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Own(AtomicU64);

/// The rounds of all threads.
#[derive(Debug)]
pub struct Board(Vec<Own>);

impl Board {
    /// Returns a board for `threads` threads.
    pub fn new(threads: usize) -> Self {
        Board((0..threads).map(|_| Own::default()).collect())
    }

    /// Returns the witness of thread `rank`.
    pub fn witness(&self, rank: usize) -> Witness<'_> {
        Witness {
            own: &self.0[rank].0,
            board: &self.0,
            rank,
            round: 0,
            mask: 0,
            looks: 0,
            early: None,
        }
    }
}

/// A thread that was let out too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Early {
    /// That thread.
    pub thread: usize,
    /// The round it returned from.
    pub round: u64,
    /// The thread that had not arrived at it.
    pub missing: usize,
    /// The round of that thread.
    pub missing_round: u64,
}

impl fmt::Display for Early {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Early { thread, round, missing, missing_round } = self;
        write!(
            f,
            "thread {thread} was let out of round {round} when thread {missing} had come to round \
             {missing_round} only"
        )
    }
}

/// A thread's handle: writes its own round and checks others.
#[derive(Debug)]
pub struct Witness<'a> {
    own: &'a AtomicU64,
    board: &'a [Own],
    rank: usize,
    round: u64,
    /// Rounds that have none of these bits are checked.
    mask: u64,
    looks: u64,
    early: Option<Early>,
}

impl Witness<'_> {
    /// Checks one round in `one_in` from now on, a power of two.
    pub fn look_at(&mut self, one_in: u64) {
        self.mask = one_in - 1;
    }

    /// Records that the thread arrives at its next round.
    ///
    /// # Memory ordering
    /// Relaxed here and in [`leaves`](Witness::leaves). A barrier promises that what was written
    /// before is seen after it, and that promise is tested too.
    #[inline]
    pub fn comes(&mut self) {
        self.round += 1;
        self.own.store(self.round, Relaxed);
    }

    /// Records that the thread has returned from the round.
    #[inline]
    pub fn leaves(&mut self) {
        if self.round & self.mask == 0 {
            self.look();
        }
    }

    /// Checks one other thread, another one each time.
    fn look(&mut self) {
        let threads = self.board.len();
        if threads < 2 {
            return;
        }
        self.looks += 1;
        let distance = 1 + (self.looks % (threads as u64 - 1)) as usize;
        let missing = (self.rank + distance) % threads;
        let missing_round = self.board[missing].0.load(Relaxed);
        if missing_round < self.round && self.early.is_none() {
            self.early =
                Some(Early { thread: self.rank, round: self.round, missing, missing_round });
        }
    }

    /// Returns how many rounds were checked, or an error if one of them was left too early.
    ///
    /// # Errors
    /// The first such round.
    pub fn verdict(&self) -> Result<u64, Early> {
        self.early.map_or(Ok(self.looks), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leaves_before_another_has_come_is_seen() {
        let board = Board::new(3);
        let mut witnesses: Vec<_> = (0..3).map(|rank| board.witness(rank)).collect();
        for witness in &mut witnesses {
            witness.comes();
        }
        for witness in &mut witnesses {
            witness.leaves();
            assert_eq!(witness.verdict(), Ok(1));
        }
        // Checks both other threads in turn; neither has arrived.
        witnesses[1].comes();
        witnesses[1].leaves();
        let early = witnesses[1].verdict().unwrap_err();
        assert_eq!((early.thread, early.round, early.missing_round), (1, 2, 1));
        assert!(early.to_string().contains("thread 1 was let out of round 2"), "{early}");
    }

    #[test]
    fn one_round_in_many_is_looked_at_and_every_other_thread_in_turn() {
        let board = Board::new(3);
        let mut witness = board.witness(0);
        witness.look_at(SAMPLED);
        for _ in 0..10 * SAMPLED {
            witness.comes();
            for other in 1..3 {
                board.0[other].0.store(witness.round, Relaxed);
            }
            witness.leaves();
        }
        assert_eq!(witness.verdict(), Ok(10));
    }

    #[test]
    fn a_single_thread_has_no_other_to_look_at() {
        let board = Board::new(1);
        let mut alone = board.witness(0);
        alone.comes();
        alone.leaves();
        assert_eq!(alone.verdict(), Ok(0));
    }
}
