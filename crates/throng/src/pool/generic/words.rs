//! The two words of a leaf, as values.
//!
//! # The word `top`, written by the owner
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 0 | `PUSHING` | the owner is about to put a job in, unless the pool is being closed |
//! | 1..33 | end | the number of the next job, modulo 2^32 |
//! | 33..64 | puts | the count of jobs put or moved in so far, modulo 2^31 |
//!
//! A push adds 1 to both by one addition. When end begins again at 0, that addition carries 1 into
//! puts, and a pop that crosses back takes it away. That does no harm: after an empty leaf was
//! seen, puts never returns to its old value.
//!
//! # The word `head`, written under the lock that is its bit 0
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 0 | `LOCKED` | a processor is taking jobs from the old end, or the owner replaces the ring |
//! | 1..33 | start | the number of the oldest job, modulo 2^32 |

/// The bit of `top` that says that a push is in progress.
pub(super) const PUSHING: u64 = 1;
/// The bit of `head` that is the lock.
const LOCKED: u64 = 1;

/// The word `top`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Top(pub(super) u64);

impl Top {
    /// Returns the word after `jobs` more jobs were put in.
    #[inline]
    pub(super) const fn plus(self, jobs: u32) -> Self {
        Top(self.0.wrapping_add((jobs as u64) << 33 | (jobs as u64) << 1))
    }

    /// Returns the word after the newest job was popped.
    #[inline]
    pub(super) const fn minus_newest(self) -> Self {
        Top(self.0.wrapping_sub(1 << 1))
    }

    /// Returns the word after that pop was undone.
    pub(super) const fn plus_newest(self) -> Self {
        Top(self.0.wrapping_add(1 << 1))
    }

    #[inline]
    pub(super) const fn end(self) -> u32 {
        (self.0 >> 1) as u32
    }
}

/// The word `head`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head(pub(super) u64);

impl Head {
    #[inline]
    pub(super) const fn free(start: u32) -> Self {
        Head((start as u64) << 1)
    }

    #[inline]
    pub(super) const fn locked(start: u32) -> Self {
        Head(Head::free(start).0 | LOCKED)
    }

    #[inline]
    pub(super) const fn start(self) -> u32 {
        (self.0 >> 1) as u32
    }

    #[inline]
    pub(super) const fn is_locked(self) -> bool {
        self.0 & LOCKED != 0
    }
}

/// Returns the number of jobs from `start` to `end`. Returns 0 if `end` is below `start`, which can
/// happen while both sides decide about the last job.
#[inline]
pub(super) const fn jobs_between(start: u32, end: u32) -> u32 {
    let jobs = end.wrapping_sub(start);
    if jobs > u32::MAX / 2 { 0 } else { jobs }
}
