//! Looks for tasks that wait outside of the queue, as those of a [channel](crate::channel) do.
//!
//! A task writes down that it waits, looks here, and waits if the answer is `false`. The other side draws its ticket and
//! reads afterwards whether tasks wait. Each look is a read-modify-write of the word that the other side draws from, so
//! it comes before or after each draw:
//!
//! - after the draw: the look sees it and answers `true`;
//! - before the draw: the draw reads what the look wrote, so what the task wrote before is visible after the draw.
//!
//! All changes of the two words are read-modify-writes, so this holds for every draw.
//!
//! loom takes a light fence for a full one, and a pop has one after its draw. So loom does not notice if the look at the
//! head is a plain load. On real threads a light fence is none against this look.

use std::sync::atomic::Ordering::SeqCst;

use super::Queue;
use super::words::{Head, Tail};
use crate::machine::{Machine, Word};

impl<T, M: Machine> Queue<T, M> {
    /// Returns whether a pop may find an item or a closed queue.
    pub(crate) fn may_pop(&self) -> bool {
        let tail = Tail(self.tail.fetch_or(0, SeqCst));
        tail.is_closed() || tail.next().ahead_of(self.head().next()) > 0
    }

    /// Returns whether a push may find room or a closed queue.
    pub(crate) fn may_push(&self) -> bool {
        let head = Head(self.head.fetch_or(0, SeqCst));
        // A slot that skips a lap makes room, too, and does not change the head. A fence follows that change.
        M::fence(SeqCst);
        let next = self.end();
        head.is_closed() || self.room_from(next, head) > 0 || self.is_left(head, next)
    }
}
