//! What the [engine](crate::engine) asks of a counter or a barrier.

use crate::error::Error;
use throng_messages::{Address, Event, Post};

/// A rank's part of a structure.
pub(crate) trait Part: Send + 'static {
    /// Returns the rank of this role or client.
    fn home(&self, of: Address) -> u32;
    /// Handles an event of a role or client of this rank.
    fn on(&mut self, to: Address, event: Event, now_ns: u64, post: &mut Post);
    /// Returns the ranks whose messages this one waits for, and those to which it sends messages
    /// that others wait for. Callers need these ranks, the ranks that these depend on, and so on.
    fn depends_on(&self) -> Vec<u32>;
    /// Returns whether others may need more than a sign of life of this rank while no thread here
    /// waits.
    fn serves(&self) -> bool;
    /// Wakes all callers, which then look for their answers themselves.
    fn wake(&self);
    /// Returns the number of rounds that have been passed, or `None` if there are no rounds.
    fn rounds(&self) -> Option<u64> {
        None
    }
    /// Reports that no member will pass more rounds than this, because `rank` has left.
    fn ends_after(&mut self, rank: u32, rounds: u64) {
        let _ = (rank, rounds);
    }
    /// Returns the reason why callers can never get what they wait for, if there is one.
    fn hopeless(&self) -> Option<Error> {
        None
    }
}
