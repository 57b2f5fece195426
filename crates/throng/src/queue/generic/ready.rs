//! Checks for tasks that wait outside of the queue, like those of a [channel](crate::channel).
//!
//! A task writes that it waits, checks here, and waits if the answer is `false`. The other side
//! draws its ticket and reads afterwards whether tasks wait. Each check is a read-modify-write of
//! the word from which the other side draws, so it comes before or after each draw:
//!
//! - after the draw: the check sees it and returns `true`;
//! - before the draw: the draw reads what the check wrote, so what the task wrote before is visible
//!   after the draw.
//!
//! All changes of the two words are read-modify-writes, so this holds for every draw.
//!
//! A plain load of the head would not do: a light fence follows the draw of a pop, and on real threads that is no fence
//! against this check.

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
        // A slot that skips a lap makes room, too, and does not change the head. A fence follows
        // that change.
        M::fence(SeqCst);
        let next = self.end();
        head.is_closed() || self.room_from(next, head) > 0 || self.is_left(head, next)
    }
}
