//! The measured queues: those of the library, and those that programs use today.

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::{ArrayQueue, SegQueue};
use faaa_queue::FAAAQueue;
use lfqueue::AllocBoundedQueue;
use lprq_rs::LPRQueue;
use throng::structures::pool::Rsu;
use throng::{Pool, Queue};

use super::deque::Deques;
use super::items::Large;
use super::mixes::{BURST, Mix};
use super::ours::{Channel, Jobs, Tried};
use super::peers::{
    CrossbeamChannel, Flume, Kanal, Locked, Nothing, StandardBounded, StandardUnbounded,
};
use super::run::{Failure, Measure, Measured, Order, run};
use super::sampled::{Sample, sample};
use super::seats::Exchange;
use crate::bench::Origin;
use crate::bench::latency::Latency;
use crate::bench::setup::Pinning;
use crate::bench::window::Times;

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Row {
    /// Its name, as typed on a command line.
    pub name: &'static str,
    /// Whose it is.
    pub origin: Origin,
    /// The name to write in a program.
    pub code: &'static str,
    /// Whether it is built with a bound.
    pub bounded: bool,
    /// Whether the items of a producer come out in order.
    pub in_order: bool,
    /// Whether several threads can take items out.
    many_consumers: bool,
    /// Whether polling is measured. It is not where another row polls in the same way.
    polls: bool,
    /// The run with small items.
    small: Measure,
    /// The run with large items.
    large: Measure,
    /// The run with small items that samples the latency of calls.
    sample: Sample,
}

/// Capacity of bounded queues.
const ROOM: usize = 1024;

impl Row {
    /// Returns the row of a queue with its types for small and large items.
    fn of<S: Exchange<u64>, L: Exchange<Large>>(
        name: &'static str,
        code: &'static str,
        bounded: bool,
    ) -> Self {
        Row {
            name,
            origin: Origin::Peer,
            code,
            bounded,
            in_order: true,
            many_consumers: true,
            polls: true,
            small: run::<u64, S>,
            large: run::<Large, L>,
            sample: sample::<u64, S>,
        }
    }

    /// Returns whether this mix can be measured on `threads` threads, and says something new.
    pub fn suits(&self, mix: Mix, threads: usize) -> bool {
        let consumers = || mix.roles(threads).iter().filter(|role| role.pops()).count();
        threads >= mix.least_threads()
            && (self.many_consumers || consumers() == 1)
            && match self.origin {
                Origin::Nothing => matches!(mix, Mix::Pairs | Mix::Bursts | Mix::Large),
                _ => self.polls || mix != Mix::Empty,
            }
    }

    /// Makes one run.
    pub(in crate::bench) fn measure(
        &self,
        mix: Mix,
        threads: usize,
        times: Times,
        work_ns: u32,
        pinning: &Pinning,
    ) -> Result<Measured, Failure> {
        let order = Order { work_ns, ..self.order(mix, threads, times, pinning) };
        match mix {
            Mix::Large => (self.large)(&order),
            _ => (self.small)(&order),
        }
    }

    /// Makes one run that samples the latency of pushes and pops of small items.
    pub(in crate::bench) fn latency(
        &self,
        mix: Mix,
        threads: usize,
        times: Times,
        pinning: &Pinning,
    ) -> Result<Option<Latency>, Failure> {
        (self.sample)(&self.order(mix, threads, times, pinning))
    }

    fn order<'a>(&self, mix: Mix, threads: usize, times: Times, pinning: &'a Pinning) -> Order<'a> {
        // Bursts of all threads must fit in, or all threads might wait for room.
        let room = self.bounded.then(|| ROOM.max(BURST * threads));
        let (method, in_order) = (self.name, self.in_order);
        Order { method, mix, threads, times, room, in_order, work_ns: 0, pinning }
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.name.fmt(f)
    }
}

/// The row that all others are compared with.
pub const REFERENCE: &str = "array-queue";

const BOUNDED: bool = true;
const UNBOUNDED: bool = false;

/// Returns all rows, the reference first and then ours.
///
/// Left out:
///
/// - the unbounded queue of `lfqueue` 0.8.1 (LSCQ) loses an item now and then. A push that finds a
///   ring full links the next one without closing the first. A delayed push with its place in the
///   first ring then puts its item there when the ring has been emptied and left behind;
/// - `wcq` 0.1 wants the numbers of threads and items as types, a registration of every thread that
///   is never given back, and items that can be compared.
pub fn all() -> Vec<Row> {
    /// `Row::of` for a type with one parameter, the item.
    macro_rules! row {
        ($queue:ident, $name:expr, $code:expr, $bounded:expr) => {
            Row::of::<$queue<u64>, $queue<Large>>($name, $code, $bounded)
        };
    }
    let ours = |row: Row| Row { origin: Origin::Ours, ..row };
    let tried = |row: Row| Row { origin: Origin::OursTried, ..row };
    let method = |row: Row| Row { origin: Origin::Method, ..row };
    // It polls in the same way as the row `-try`.
    let waiting = |row: Row| Row { polls: false, ..row };
    let one_consumer = |row: Row| Row { many_consumers: false, ..row };
    vec![
        row!(ArrayQueue, REFERENCE, "crossbeam_queue::ArrayQueue", BOUNDED),
        waiting(ours(row!(Queue, "queue", "throng::Queue::bounded", BOUNDED))),
        tried(row!(Tried, "queue-try", "throng::Queue::bounded, try_push and try_pop", BOUNDED)),
        waiting(ours(row!(Queue, "queue-unbounded", "throng::Queue::unbounded", UNBOUNDED))),
        tried(row!(
            Tried,
            "queue-unbounded-try",
            "throng::Queue::unbounded, try_push and try_pop",
            UNBOUNDED
        )),
        ours(row!(Channel, "channel", "throng::channel::bounded", BOUNDED)),
        ours(row!(Channel, "channel-unbounded", "throng::channel::unbounded", UNBOUNDED)),
        Row { in_order: false, ..ours(row!(Pool, "pool", "throng::Pool", UNBOUNDED)) },
        Row {
            in_order: false,
            ..method(row!(Rsu, "rsu", "throng::structures::pool::Rsu", UNBOUNDED))
        },
        waiting(method(row!(Jobs, "job-queue", "throng::structures::pool::JobQueue", BOUNDED))),
        Row {
            in_order: false,
            ..row!(Deques, "crossbeam-deque", "crossbeam_deque::Worker", UNBOUNDED)
        },
        row!(SegQueue, "seg-queue", "crossbeam_queue::SegQueue", UNBOUNDED),
        row!(CrossbeamChannel, "crossbeam-bounded", "crossbeam_channel::bounded", BOUNDED),
        row!(CrossbeamChannel, "crossbeam-unbounded", "crossbeam_channel::unbounded", UNBOUNDED),
        row!(Flume, "flume-bounded", "flume::bounded", BOUNDED),
        row!(Flume, "flume-unbounded", "flume::unbounded", UNBOUNDED),
        row!(Kanal, "kanal-bounded", "kanal::bounded", BOUNDED),
        row!(Kanal, "kanal-unbounded", "kanal::unbounded", UNBOUNDED),
        row!(
            ConcurrentQueue,
            "concurrent-bounded",
            "concurrent_queue::ConcurrentQueue::bounded",
            BOUNDED
        ),
        row!(
            ConcurrentQueue,
            "concurrent-unbounded",
            "concurrent_queue::ConcurrentQueue::unbounded",
            UNBOUNDED
        ),
        one_consumer(row!(
            StandardBounded,
            "std-bounded",
            "std::sync::mpsc::sync_channel",
            BOUNDED
        )),
        one_consumer(row!(
            StandardUnbounded,
            "std-unbounded",
            "std::sync::mpsc::channel",
            UNBOUNDED
        )),
        row!(AllocBoundedQueue, "scq", "lfqueue::AllocBoundedQueue", BOUNDED),
        row!(LPRQueue, "lprq", "lprq_rs::LPRQueue", UNBOUNDED),
        row!(FAAAQueue, "faaa", "faaa_queue::FAAAQueue", UNBOUNDED),
        row!(Locked, "mutex-deque", "Mutex<VecDeque>", UNBOUNDED),
        Row {
            origin: Origin::Nothing,
            ..Row::of::<Nothing, Nothing>("nothing", "nothing", UNBOUNDED)
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn row(name: &str) -> Row {
        all().into_iter().find(|row| row.name == name).unwrap()
    }

    #[test]
    fn names_are_told_apart_and_the_reference_comes_first() {
        let rows = all();
        assert_eq!(rows[0].name, REFERENCE);
        let names: HashSet<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows.len(), "a name is taken twice");
    }

    #[test]
    fn what_makes_no_sense_is_not_measured() {
        assert!(!row("queue").suits(Mix::Even, 1), "no thread would pop");
        assert!(row("queue").suits(Mix::Pairs, 1));
        assert!(row("std-bounded").suits(Mix::OneConsumer, 9));
        assert!(row("std-bounded").suits(Mix::Even, 2));
        assert!(!row("std-bounded").suits(Mix::Even, 3), "two would pop");
        assert!(!row("queue").suits(Mix::Empty, 2) && row("queue-try").suits(Mix::Empty, 2));
        assert!(!row("nothing").suits(Mix::Even, 2) && row("nothing").suits(Mix::Large, 2));
    }
}
