//! Tasks and threads that share a channel on any machine, and the checks of the channel's promises.
//!
//! A task is a future that the processor runs to its end: it polls, and sleeps until its waker is
//! called. A waker only writes a word of the machine. So a lost wake-up is a processor that sleeps
//! for ever.

#![allow(dead_code, reason = "each test binary uses some of it")]

#[path = "../broken/channels.rs"]
pub(crate) mod broken;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use throng::channel::parts::{Buffered, Entry, block_on};
use throng::machine::{Machine, WayOut};
use throng::structures::pool::{Closed, PopError, PushError};
use throng_check::workload::{Ledger, Parcel, queue_shape};

/// A channel as the checks use it: the methods of [`Buffered`].
pub(crate) trait Channel<M: Machine>: Send + Sync {
    fn send_on(&self, cpu: &M::Cpu, item: Parcel) -> Result<(), PushError<Parcel>>;
    fn recv_on(&self, cpu: &M::Cpu) -> Result<Parcel, PopError>;
    fn poll_send_on(
        &self,
        cpu: &M::Cpu,
        item: &mut Option<Parcel>,
        entry: &mut Entry,
        waker: &Waker,
    ) -> Poll<Result<(), Closed<Parcel>>>;
    fn poll_recv_on(
        &self,
        cpu: &M::Cpu,
        entry: &mut Entry,
        waker: &Waker,
    ) -> Poll<Result<Parcel, PopError>>;
    fn give_up_send_on(&self, cpu: &M::Cpu, entry: &mut Entry);
    fn give_up_recv_on(&self, cpu: &M::Cpu, entry: &mut Entry);
    fn close_on(&self, cpu: &M::Cpu);
}

impl<M: Machine> Channel<M> for Buffered<Parcel, M> {
    fn send_on(&self, cpu: &M::Cpu, item: Parcel) -> Result<(), PushError<Parcel>> {
        Buffered::send_on(self, cpu, item, &WayOut::none())
    }

    fn recv_on(&self, cpu: &M::Cpu) -> Result<Parcel, PopError> {
        Buffered::recv_on(self, cpu, &WayOut::none())
    }

    fn poll_send_on(
        &self,
        cpu: &M::Cpu,
        item: &mut Option<Parcel>,
        entry: &mut Entry,
        waker: &Waker,
    ) -> Poll<Result<(), Closed<Parcel>>> {
        Buffered::poll_send_on(self, cpu, item, entry, waker)
    }

    fn poll_recv_on(
        &self,
        cpu: &M::Cpu,
        entry: &mut Entry,
        waker: &Waker,
    ) -> Poll<Result<Parcel, PopError>> {
        Buffered::poll_recv_on(self, cpu, entry, waker)
    }

    fn give_up_send_on(&self, cpu: &M::Cpu, entry: &mut Entry) {
        Buffered::give_up_send_on(self, cpu, entry);
    }

    fn give_up_recv_on(&self, cpu: &M::Cpu, entry: &mut Entry) {
        Buffered::give_up_recv_on(self, cpu, entry);
    }

    fn close_on(&self, cpu: &M::Cpu) {
        Buffered::close_on(self, cpu);
    }
}

/// The next step of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Sends as a thread.
    BlockSend,
    /// Sends as a task.
    AwaitSend,
    /// Receives as a thread.
    BlockRecv,
    /// Receives as a task.
    AwaitRecv,
    /// Polls a future that receives, once, and drops it. If it was ready, the item is sent again.
    GiveUpRecv,
    /// Polls two futures that send, drops the first, and runs the second to its end.
    AwaitSendBeside,
    /// Polls two futures that receive, drops the first, and runs the second to its end.
    AwaitRecvBeside,
    /// Receives as a task until the channel is closed.
    AwaitAll,
    /// Closes the channel.
    Close,
}

/// Builds a channel of a capacity.
pub(crate) type Make<M> = fn(Option<usize>) -> Box<dyn Channel<M>>;

/// Returns the library's channel.
pub(crate) fn buffered<M: Machine>(capacity: Option<usize>) -> Box<dyn Channel<M>> {
    Box::new(
        Buffered::on_machine(queue_shape(capacity, 2)).unwrap_or_else(|error| panic!("{error}")),
    )
}

/// A channel, with a record of what was sent and received.
pub(crate) struct Awaiting<M: Machine> {
    channel: Box<dyn Channel<M>>,
    ledger: Arc<Ledger>,
    sent: Mutex<BTreeSet<u64>>,
    received: Mutex<Vec<u64>>,
}

impl<M: Machine> Awaiting<M>
where
    M::Word: 'static,
{
    pub(crate) fn new(make: Make<M>, capacity: Option<usize>, processors: usize) -> Self {
        Awaiting {
            channel: make(capacity),
            ledger: Ledger::for_makers(processors),
            sent: Mutex::default(),
            received: Mutex::default(),
        }
    }

    pub(crate) fn perform(&self, cpu: &M::Cpu, processor: usize, steps: &[Step]) {
        for step in steps {
            match step {
                Step::BlockSend => {
                    let item = self.ledger.parcel(processor);
                    let number = item.number();
                    let sent = self.channel.send_on(cpu, item).is_ok();
                    self.note_sent(number, sent);
                }
                Step::AwaitSend => self.await_send(cpu, self.ledger.parcel(processor)),
                Step::BlockRecv => self.note_received(self.channel.recv_on(cpu)),
                Step::AwaitRecv => self.note_received(self.await_recv(cpu)),
                Step::GiveUpRecv => self.give_up_recv(cpu),
                Step::AwaitSendBeside => self.await_send_beside(cpu, processor),
                Step::AwaitRecvBeside => self.await_recv_beside(cpu),
                Step::AwaitAll => {
                    while let Ok(item) = self.await_recv(cpu) {
                        self.note_received(Ok(item));
                    }
                }
                Step::Close => self.channel.close_on(cpu),
            }
        }
    }

    fn await_send(&self, cpu: &M::Cpu, item: Parcel) {
        self.await_send_then(cpu, item, || {});
    }

    /// Runs a future that sends, and `after_poll` after each of its polls.
    fn await_send_then(&self, cpu: &M::Cpu, item: Parcel, mut after_poll: impl FnMut()) {
        let number = item.number();
        let (mut item, mut entry) = (Some(item), Entry::EMPTY);
        let poll = |waker: &Waker| {
            let sent = self.channel.poll_send_on(cpu, &mut item, &mut entry, waker);
            after_poll();
            sent
        };
        let sent = block_on(cpu, &WayOut::<M>::none(), poll).expect("there is no way out");
        self.note_sent(number, sent.is_ok());
        assert!(!entry.is_set(), "broke its promise: a task that is done waits");
    }

    fn await_recv(&self, cpu: &M::Cpu) -> Result<Parcel, PopError> {
        self.await_recv_then(cpu, || {})
    }

    /// Runs a future that receives, and `after_poll` after each of its polls.
    fn await_recv_then(
        &self,
        cpu: &M::Cpu,
        mut after_poll: impl FnMut(),
    ) -> Result<Parcel, PopError> {
        let mut entry = Entry::EMPTY;
        let poll = |waker: &Waker| {
            let received = self.channel.poll_recv_on(cpu, &mut entry, waker);
            after_poll();
            received
        };
        let received = block_on(cpu, &WayOut::<M>::none(), poll).expect("there is no way out");
        assert!(!entry.is_set(), "broke its promise: a task that is done waits");
        received
    }

    /// Polls a future that sends, once. Returns its entry and whether the item was sent.
    fn poll_send_once(&self, cpu: &M::Cpu, processor: usize) -> (Entry, bool) {
        let (mut item, mut entry) = (Some(self.ledger.parcel(processor)), Entry::EMPTY);
        let number = item.as_ref().map_or(0, Parcel::number);
        let poll = self.channel.poll_send_on(cpu, &mut item, &mut entry, Waker::noop());
        let was_sent = matches!(poll, Poll::Ready(Ok(())));
        self.note_sent(number, was_sent);
        (entry, was_sent)
    }

    fn await_send_beside(&self, cpu: &M::Cpu, processor: usize) {
        let (mut first, was_sent) = self.poll_send_once(cpu, processor);
        if !was_sent {
            let item = self.ledger.parcel(processor);
            self.await_send_then(cpu, item, || self.channel.give_up_send_on(cpu, &mut first));
        }
    }

    fn give_up_recv(&self, cpu: &M::Cpu) {
        let mut entry = Entry::EMPTY;
        let poll = self.channel.poll_recv_on(cpu, &mut entry, Waker::noop());
        self.channel.give_up_recv_on(cpu, &mut entry);
        if let Poll::Ready(Ok(item)) = poll {
            assert!(self.channel.send_on(cpu, item).is_ok(), "it is open");
        }
    }

    fn await_recv_beside(&self, cpu: &M::Cpu) {
        let mut first = Entry::EMPTY;
        match self.channel.poll_recv_on(cpu, &mut first, Waker::noop()) {
            Poll::Ready(received) => self.note_received(received),
            Poll::Pending => {
                let give_up = || self.channel.give_up_recv_on(cpu, &mut first);
                self.note_received(self.await_recv_then(cpu, give_up));
            }
        }
    }

    fn note_sent(&self, number: u64, was_sent: bool) {
        if was_sent {
            self.sent.lock().unwrap().insert(number);
        }
    }

    fn note_received(&self, received: Result<Parcel, PopError>) {
        if let Ok(item) = received {
            self.received.lock().unwrap().push(item.number());
        }
    }

    /// Receives the items that are left, and checks that each item that was sent was received once.
    pub(crate) fn settle(self, cpu: &M::Cpu) {
        self.channel.close_on(cpu);
        while let Ok(item) = self.channel.recv_on(cpu) {
            self.note_received(Ok(item));
        }
        let mut received = self.received.into_inner().unwrap();
        let sent: Vec<u64> = self.sent.into_inner().unwrap().into_iter().collect();
        received.sort_unstable();
        assert_eq!(received, sent, "broke its promise: received and sent");
        drop(self.channel);
        self.ledger.check(0).unwrap_or_else(|error| panic!("broke its promise: {error}"));
    }
}

/// The steps of each processor, and the capacities of the channels; 0: unbounded.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Number of preemptions where every schedule is tried.
    pub(crate) preemptions: usize,
    pub(crate) capacities: &'static [usize],
    pub(crate) programs: &'static [&'static [Step]],
}

use Step::{
    AwaitAll, AwaitRecv, AwaitRecvBeside, AwaitSend, AwaitSendBeside, BlockRecv, BlockSend, Close,
    GiveUpRecv,
};

/// In all cases every schedule ends, unless a wake-up is lost. Each processor receives as many
/// items as it sends: with items left inside, a queue may be full with fewer items than its
/// capacity.
pub(crate) const CASES: [Case; 10] = [
    Case {
        name: "one_item",
        preemptions: 3,
        capacities: &[0, 1],
        programs: &[&[AwaitRecv], &[BlockSend]],
    },
    Case {
        name: "receiver_gives_up",
        preemptions: 2,
        capacities: &[0, 2],
        programs: &[&[AwaitRecvBeside], &[BlockSend]],
    },
    Case {
        name: "sender_gives_up",
        preemptions: 2,
        capacities: &[1],
        programs: &[&[AwaitSend, AwaitSendBeside], &[BlockRecv]],
    },
    Case {
        name: "two_receivers",
        preemptions: 1,
        capacities: &[2],
        programs: &[&[AwaitRecv], &[AwaitRecv], &[BlockSend, BlockSend]],
    },
    Case {
        name: "one_place",
        preemptions: 2,
        capacities: &[1],
        programs: &[&[AwaitSend, AwaitSend], &[BlockRecv, BlockRecv]],
    },
    Case {
        name: "thread_and_task",
        preemptions: 2,
        capacities: &[0],
        programs: &[&[AwaitSend, BlockSend], &[BlockRecv, AwaitRecv]],
    },
    Case {
        name: "both_await",
        preemptions: 2,
        capacities: &[0],
        programs: &[&[AwaitSend, AwaitSend], &[AwaitRecv, AwaitRecv]],
    },
    Case {
        name: "both_await_one_place",
        preemptions: 1,
        capacities: &[1],
        programs: &[&[AwaitSend, AwaitSend], &[AwaitRecv, AwaitRecv]],
    },
    Case {
        name: "closed",
        preemptions: 2,
        capacities: &[0, 1],
        programs: &[&[AwaitAll], &[BlockSend, Close]],
    },
    Case {
        name: "closed_while_full",
        preemptions: 3,
        capacities: &[1],
        programs: &[&[AwaitSend, AwaitSend], &[Close]],
    },
];

/// Larger than those for every schedule.
pub(crate) const LARGE: [Case; 4] = [
    Case {
        name: "tasks_and_threads",
        preemptions: 0,
        capacities: &[0, 1, 3],
        programs: &[
            &[AwaitSend, AwaitSend, AwaitSend],
            &[BlockSend, BlockSend, BlockSend],
            &[AwaitRecv, AwaitRecv, AwaitRecv],
            &[BlockRecv, BlockRecv, BlockRecv],
        ],
    },
    Case {
        name: "receivers_give_up",
        preemptions: 0,
        capacities: &[0, 9],
        programs: &[
            &[GiveUpRecv, GiveUpRecv, GiveUpRecv],
            &[GiveUpRecv, GiveUpRecv],
            &[AwaitRecv, AwaitRecv],
            &[AwaitRecv, BlockRecv],
            &[AwaitSend, BlockSend, BlockSend, AwaitSend],
        ],
    },
    // Found a task that was woken while it got an earlier item, and used up the wake-up of a later one.
    Case {
        name: "both_give_up",
        preemptions: 0,
        capacities: &[1, 2],
        programs: &[
            &[AwaitSendBeside, AwaitSendBeside],
            &[AwaitSendBeside, AwaitSend],
            &[AwaitSend, BlockSend],
            &[AwaitRecv, AwaitRecvBeside, AwaitRecv],
            &[BlockRecv, AwaitRecvBeside, AwaitRecvBeside],
        ],
    },
    Case {
        name: "all_get_the_error",
        preemptions: 0,
        capacities: &[0, 1],
        programs: &[&[AwaitAll], &[AwaitAll], &[AwaitAll], &[AwaitSend, AwaitSend, Close]],
    },
];
