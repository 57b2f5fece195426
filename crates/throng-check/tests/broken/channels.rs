//! A channel for tasks that is correct by fences on both sides, and its faults.

use std::sync::atomic::Ordering::SeqCst;
use std::task::{Poll, Waker};

use throng::channel::parts::{Entry, Waiters};
use throng::machine::{Machine, WayOut};
use throng::structures::pool::{Closed, PopError, PushError, Queue};
use throng_check::workload::{Parcel, queue_shape};

use crate::awaiting::{Channel, Make};

/// Without a fault: the checks must not complain.
pub(crate) const SOUND: u8 = 0;
/// A task does not check again after it has entered the list.
const NO_SECOND_LOOK: u8 = 1;
/// A task checks again, but before it enters the list.
const LOOKS_TOO_EARLY: u8 = 2;
/// A task that was woken and gives up does not wake the next one.
const KEEPS_WAKE_UP: u8 = 3;
/// A task that has got its item does not wake the next one, though there are more items.
const LEAVES_THE_REST: u8 = 6;
/// A close wakes no task.
const SILENT_CLOSE: u8 = 4;
/// No fences: with weak memory both sides may miss each other.
const NO_FENCES: u8 = 5;

/// Returns the faults that some orders show, with their names.
pub(crate) fn racy<M: Machine>() -> [(&'static str, Make<M>); 3] {
    [
        ("no-second-look", make::<M, NO_SECOND_LOOK>),
        ("looks-too-early", make::<M, LOOKS_TOO_EARLY>),
        ("keeps-wake-up", make::<M, KEEPS_WAKE_UP>),
    ]
}

/// Returns the fault that shows if a task is woken in the middle of a poll.
pub(crate) fn leaves_the_rest<M: Machine>() -> Make<M> {
    make::<M, LEAVES_THE_REST>
}

/// Returns the fault that shows if a task waits for the end.
pub(crate) fn silent_close<M: Machine>() -> Make<M> {
    make::<M, SILENT_CLOSE>
}

/// Returns the fault that weak memory shows.
pub(crate) fn no_fences<M: Machine>() -> Make<M> {
    make::<M, NO_FENCES>
}

/// Builds a channel with this fault.
pub(crate) fn make<M: Machine, const FAULT: u8>(capacity: Option<usize>) -> Box<dyn Channel<M>> {
    Box::new(Fenced::<M, FAULT> {
        queue: Queue::on_machine(queue_shape(capacity, 2)).expect("it can be built"),
        senders: Waiters::new(),
        receivers: Waiters::new(),
    })
}

struct Fenced<M: Machine, const FAULT: u8> {
    queue: Queue<Parcel, M>,
    senders: Waiters<M>,
    receivers: Waiters<M>,
}

impl<M: Machine, const FAULT: u8> Fenced<M, FAULT> {
    fn fence() {
        if FAULT != NO_FENCES {
            M::fence(SeqCst);
        }
    }

    /// Tries, enters the list, and tries again.
    fn poll<R>(
        waiters: &Waiters<M>,
        cpu: &M::Cpu,
        entry: &mut Entry,
        waker: &Waker,
        mut attempt: impl FnMut() -> Option<R>,
    ) -> Poll<R> {
        let mut done = attempt();
        // BROKEN: the change may come between this check and the entry.
        if done.is_none() && FAULT == LOOKS_TOO_EARLY {
            done = attempt();
        }
        if done.is_none() {
            waiters.register(cpu, entry, waker);
            Self::fence();
            // BROKEN: the change may have come before the entry.
            if FAULT != NO_SECOND_LOOK && FAULT != LOOKS_TOO_EARLY {
                done = attempt();
            }
        }
        match done {
            Some(done) => {
                let has_waited = entry.is_set();
                waiters.remove(cpu, entry);
                // BROKEN: it may have been woken for an item that came later than its own.
                if has_waited && FAULT != LEAVES_THE_REST {
                    waiters.look(cpu);
                }
                Poll::Ready(done)
            }
            None => Poll::Pending,
        }
    }

    fn try_send(&self, cpu: &M::Cpu, item: Parcel) -> Result<(), PushError<Parcel>> {
        self.queue.try_push_on(cpu, item)?;
        Self::fence();
        self.receivers.look(cpu);
        Ok(())
    }

    fn try_recv(&self, cpu: &M::Cpu) -> Result<Parcel, PopError> {
        let item = self.queue.try_pop_on(cpu)?;
        Self::fence();
        self.senders.look(cpu);
        Ok(item)
    }

    fn give_up(waiters: &Waiters<M>, cpu: &M::Cpu, entry: &mut Entry) {
        // BROKEN: the wake-up was meant for any of the tasks.
        if waiters.remove(cpu, entry) && FAULT != KEEPS_WAKE_UP {
            waiters.look(cpu);
        }
    }
}

impl<M: Machine, const FAULT: u8> Channel<M> for Fenced<M, FAULT> {
    fn send_on(&self, cpu: &M::Cpu, item: Parcel) -> Result<(), PushError<Parcel>> {
        self.queue.push_on(cpu, item, &WayOut::none())?;
        Self::fence();
        self.receivers.look(cpu);
        Ok(())
    }

    fn recv_on(&self, cpu: &M::Cpu) -> Result<Parcel, PopError> {
        let item = self.queue.pop_on(cpu, &WayOut::none())?;
        Self::fence();
        self.senders.look(cpu);
        Ok(item)
    }

    fn poll_send_on(
        &self,
        cpu: &M::Cpu,
        item: &mut Option<Parcel>,
        entry: &mut Entry,
        waker: &Waker,
    ) -> Poll<Result<(), Closed<Parcel>>> {
        Self::poll(&self.senders, cpu, entry, waker, || match self.try_send(cpu, item.take()?) {
            Ok(()) => Some(Ok(())),
            Err(PushError::Closed(back)) => Some(Err(Closed(back))),
            Err(PushError::Full(back)) => {
                *item = Some(back);
                None
            }
        })
    }

    fn poll_recv_on(
        &self,
        cpu: &M::Cpu,
        entry: &mut Entry,
        waker: &Waker,
    ) -> Poll<Result<Parcel, PopError>> {
        Self::poll(&self.receivers, cpu, entry, waker, || match self.try_recv(cpu) {
            Err(PopError::Empty) => None,
            received => Some(received),
        })
    }

    fn give_up_send_on(&self, cpu: &M::Cpu, entry: &mut Entry) {
        Self::give_up(&self.senders, cpu, entry);
    }

    fn give_up_recv_on(&self, cpu: &M::Cpu, entry: &mut Entry) {
        Self::give_up(&self.receivers, cpu, entry);
    }

    fn close_on(&self, cpu: &M::Cpu) {
        self.queue.close_on(cpu);
        Self::fence();
        // BROKEN: the tasks wait for ever.
        if FAULT != SILENT_CLOSE {
            self.senders.wake_all(cpu);
            self.receivers.wake_all(cpu);
        }
    }
}
