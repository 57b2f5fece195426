//! A channel with a buffer: a [`Queue`], and the tasks that wait for it.
//!
//! Threads wait in the queue, as they do without a channel. Tasks wait in two lists of [`Waiters`], one for each side.
//!
//! # The protocol
//!
//! | a task that receives | a thread or task that sends |
//! |---|---|
//! | 1. pops; if there is an item, goes on at 5 | a. draws a ticket: a read-modify-write of the tail |
//! | 2. enters itself in the list and writes `count` | b. puts the item into its slot |
//! | 3. looks whether it [may pop](Queue::may_pop): a read-modify-write of the tail | c. reads `count` |
//! | 4. if so, begins again; if not, waits | d. if `count` is not 0, wakes the first task of the list |
//! | 5. with an item, after a wait: removes itself; if others wait and it may pop, wakes the first of them | |
//! | 6. if it gives up: removes itself; if it had been woken, wakes the first of the others | |
//!
//! A task that sends does the same with the other list, [`may_push`](Queue::may_push), and the head, from which a pop
//! draws. For a thread, c is one load of a line that is written only when a task begins or ends to wait.
//!
//! ## No wake-up is lost
//! *The race:* an item comes between 1 and 4, and its sender reads `count` before 2. Both 3 and a are read-modify-writes
//! of the tail, so one comes first.
//! - If a comes first, 3 sees the ticket, and the task begins again. It gets the item, or another consumer has it. If
//!   the item is not in its slot yet, the pop passes the producer over after some polls. The producer then begins again
//!   at a.
//! - If 3 comes first, a reads what 3 wrote or a later value. Release and acquire then order 2 before c, and c reads a
//!   `count` that includes the task, unless the task was woken in between.
//!
//! So an item that comes after 3 has answered `false` wakes a task. It may be another task, which takes another item.
//!
//! *Claim:* when nothing runs any more, no task waits while an item is inside. Suppose that task W waits and has not
//! been woken, and an item is inside. The item came after 3 of W, because 3 found nothing, so a task was woken after
//! that. Let V be the last one that was woken, and look at what V did next:
//! - V found nothing and waits again. Then the item came after 3 of V, and woke a task after V.
//! - V got an item. At 5 it saw more and woke another task, or the item came after 5, and woke a task after V.
//! - V gave up, and woke another task.
//!
//! W is in the list all the time, so in each case a task was woken after V, the last one. So there is no such W.
//!
//! Step 5 is needed although each item wakes a task. V may be woken between 2 and 4 and get an item that came before 2
//! and woke no task. Then V has used up the wake-up of a later item.
//!
//! Room can also come without an item, when a ticket was left because a consumer stopped in the
//! middle of a pop. A pop that passes such tickets reads `count` at its end, whatever it returns. A
//! push that passes such tickets takes the room itself. If a thread passes them and then sleeps in
//! its pop, a task that sends waits until the stopped consumer continues.
//!
//! A close changes the tail and the head, too, and then wakes all tasks.
//!
//! ## Nothing is lost with a future
//! A poll takes an item from the queue only if it returns it, and puts one in only if it returns `Ready`.

use std::fmt;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use super::waiters::{Entry, Waiters};
use crate::ShapeError;
use crate::error::{Closed, PopError, PushError};
use crate::machine::{Machine, Native, WayOut};
use crate::queue::generic::{Queue, QueueShape};

/// A queue for threads that block and tasks that await.
pub struct Buffered<T, M: Machine = Native> {
    queue: Queue<T, M>,
    senders: Waiters<M>,
    receivers: Waiters<M>,
}

impl<T, M: Machine> Buffered<T, M> {
    /// Returns a channel over a queue of this shape, on machine `M`.
    ///
    /// # Errors
    /// If the queue cannot be built.
    pub fn on_machine(shape: QueueShape) -> Result<Self, ShapeError> {
        Ok(Buffered {
            queue: Queue::on_machine(shape)?,
            senders: Waiters::new(),
            receivers: Waiters::new(),
        })
    }

    /// Sends `item` if there is room. Never waits.
    ///
    /// # Errors
    /// The item, if the channel is full or closed.
    #[inline(always)]
    pub fn try_send_on(&self, cpu: &M::Cpu, item: T) -> Result<(), PushError<T>> {
        self.queue.try_push_on(cpu, item)?;
        self.receivers.look(cpu);
        Ok(())
    }

    /// Sends `item`. Waits for room until the way out opens.
    ///
    /// # Errors
    /// The item, if the way out opened or the channel is closed.
    pub fn send_on(
        &self,
        cpu: &M::Cpu,
        item: T,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), PushError<T>> {
        self.queue.push_on(cpu, item, way_out)?;
        self.receivers.look(cpu);
        Ok(())
    }

    /// Receives an item if there is one. Never waits.
    ///
    /// # Errors
    /// [`PopError::Empty`] if the channel is empty, [`PopError::Closed`] if it is also closed.
    #[inline(always)]
    pub fn try_recv_on(&self, cpu: &M::Cpu) -> Result<T, PopError> {
        let received = self.queue.try_pop_on(cpu);
        // Look even if there was no item: the pop may have passed tickets that were left.
        self.senders.look(cpu);
        received
    }

    /// Receives an item. Waits for one until the way out opens.
    ///
    /// # Errors
    /// If the way out opened, or the channel is empty and closed.
    pub fn recv_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        let received = self.queue.pop_on(cpu, way_out);
        self.senders.look(cpu);
        received
    }

    /// Sends the item if there is room. Otherwise registers the task for a wake-up. `item` is
    /// `None` afterwards if the item was sent or returned.
    pub fn poll_send_on(
        &self,
        cpu: &M::Cpu,
        item: &mut Option<T>,
        entry: &mut Entry,
        waker: &Waker,
    ) -> Poll<Result<(), Closed<T>>> {
        while let Some(sent) = item.take() {
            match self.try_send_on(cpu, sent) {
                Ok(()) => {
                    self.senders.end_wait(cpu, entry, || self.queue.may_push());
                    return Poll::Ready(Ok(()));
                }
                Err(PushError::Closed(back)) => {
                    self.senders.remove(cpu, entry);
                    return Poll::Ready(Err(Closed(back)));
                }
                Err(PushError::Full(back)) => *item = Some(back),
            }
            self.senders.register(cpu, entry, waker);
            if !self.queue.may_push() {
                break;
            }
        }
        Poll::Pending
    }

    /// Receives an item if there is one. Otherwise registers the task for a wake-up.
    pub fn poll_recv_on(
        &self,
        cpu: &M::Cpu,
        entry: &mut Entry,
        waker: &Waker,
    ) -> Poll<Result<T, PopError>> {
        loop {
            let received = self.try_recv_on(cpu);
            if !matches!(received, Err(PopError::Empty)) {
                self.receivers.end_wait(cpu, entry, || self.queue.may_pop());
                return Poll::Ready(received);
            }
            self.receivers.register(cpu, entry, waker);
            if !self.queue.may_pop() {
                return Poll::Pending;
            }
        }
    }

    /// Removes a task that waits to send.
    pub fn give_up_send_on(&self, cpu: &M::Cpu, entry: &mut Entry) {
        self.senders.give_up(cpu, entry);
    }

    /// Removes a task that waits to receive.
    pub fn give_up_recv_on(&self, cpu: &M::Cpu, entry: &mut Entry) {
        self.receivers.give_up(cpu, entry);
    }

    /// Closes the channel. No more items can be sent; the items inside can still be received.
    pub fn close_on(&self, cpu: &M::Cpu) {
        if self.queue.close_on(cpu) {
            self.senders.wake_all(cpu);
            self.receivers.wake_all(cpu);
        }
    }

    pub(crate) fn queue(&self) -> &Queue<T, M> {
        &self.queue
    }
}

impl<T> Buffered<T> {
    #[inline(always)]
    pub(super) fn send(&self, item: T) -> Result<(), Closed<T>> {
        self.queue.push(item)?;
        self.receivers.look(&Native::cpu());
        Ok(())
    }

    pub(super) fn send_timeout(&self, item: T, timeout: Duration) -> Result<(), PushError<T>> {
        let cpu = Native::cpu();
        match self.try_send_on(&cpu, item) {
            Err(PushError::Full(item)) => self.send_on(&cpu, item, &WayOut::after(&cpu, timeout)),
            sent => sent,
        }
    }

    #[inline(always)]
    pub(super) fn recv(&self) -> Option<T> {
        let received = self.queue.pop();
        self.senders.look(&Native::cpu());
        received
    }

    pub(super) fn recv_timeout(&self, timeout: Duration) -> Result<T, PopError> {
        let cpu = Native::cpu();
        match self.try_recv_on(&cpu) {
            Err(PopError::Empty) => self.recv_on(&cpu, &WayOut::after(&cpu, timeout)),
            received => received,
        }
    }

    /// Closes the channel and drops the items inside, all of them even if a drop panics. The first
    /// panic is resumed afterwards.
    pub(super) fn discard(&self) {
        let cpu = Native::cpu();
        self.close_on(&cpu);
        let mut panicked = None;
        while let Ok(item) = self.try_recv_on(&cpu) {
            if mem::needs_drop::<T>() {
                let dropped = panic::catch_unwind(AssertUnwindSafe(|| drop(item)));
                panicked = panicked.or(dropped.err());
            }
        }
        if let Some(panic) = panicked
            && !thread::panicking()
        {
            panic::resume_unwind(panic);
        }
    }
}

impl<T, M: Machine> fmt::Debug for Buffered<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffered").field("queue", &self.queue).finish_non_exhaustive()
    }
}
