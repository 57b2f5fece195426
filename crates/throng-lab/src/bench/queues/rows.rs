//! What is measured: the queues of the library, and those that people use today.

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::{ArrayQueue, SegQueue};
use faaa_queue::FAAAQueue;
use lfqueue::AllocBoundedQueue;
use lprq_rs::LPRQueue;
use throng::pool::Rsu;
use throng::{Pool, Queue};

use super::items::Large;
use super::mixes::{BURST, Mix};
use super::ours::{Channel, Jobs, Tried};
use super::peers::{
    CrossbeamChannel, Flume, Kanal, Locked, Nothing, StandardBounded, StandardUnbounded,
};
use super::run::{Failure, Measure, Measured, Order, run};
use super::sampled::{Sample, sample};
use super::seats::Exchange;
use crate::bench::latency::Latency;
use crate::bench::setup::Pinning;
use crate::bench::window::Times;

/// Whose queue it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of this library.
    Ours,
    /// Of others.
    Peer,
    /// No queue.
    Nothing,
}

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Row {
    /// Its name, as typed on a command line.
    pub name: &'static str,
    /// Whose it is.
    pub kind: Kind,
    /// Whether it is built with a bound.
    bounded: bool,
    /// Whether the items of a producer come out in order.
    in_order: bool,
    /// Whether several threads can take items out.
    many_consumers: bool,
    /// Whether it looks for an item in a way of its own, and not in that of another row.
    polls: bool,
    /// With small items.
    small: Measure,
    /// With large items.
    large: Measure,
    /// With small items, for the latency of calls.
    sample: Sample,
}

/// The room of queues that have a bound.
const ROOM: usize = 1024;

impl Row {
    /// A queue with its types for small and large items.
    fn of<S: Exchange<u64>, L: Exchange<Large>>(name: &'static str, bounded: bool) -> Self {
        Row {
            name,
            kind: Kind::Peer,
            bounded,
            in_order: true,
            many_consumers: true,
            polls: true,
            small: run::<u64, S>,
            large: run::<Large, L>,
            sample: sample::<u64, S>,
        }
    }

    /// Whether this mix on so many threads can be measured, and says something.
    #[must_use]
    pub fn suits(&self, mix: Mix, threads: usize) -> bool {
        let consumers = || mix.roles(threads).iter().filter(|role| role.pops()).count();
        threads >= mix.least_threads()
            && (self.many_consumers || consumers() == 1)
            && match self.kind {
                Kind::Nothing => matches!(mix, Mix::Pairs | Mix::Bursts | Mix::Large),
                Kind::Ours | Kind::Peer => self.polls || mix != Mix::Empty,
            }
    }

    /// One run.
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

    /// One run that samples the latency of pushes and pops of small items.
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
        // Bursts of all threads must fit in, or all of them might wait for room.
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

/// All rows, the reference first and then ours.
///
/// Left out:
///
/// - the unbounded queue of `lfqueue` 0.8.1 (LSCQ) loses an item now and then: a push that finds
///   a ring full links the next one without closing the first, so that a push which has its place in the
///   first but was held up puts its item there when the ring has been emptied and left behind;
/// - `wcq` 0.1 wants the numbers of threads and items as types, a registration of every thread that is
///   never given back, and items that can be compared.
#[must_use]
pub fn all() -> Vec<Row> {
    /// `Row::of` for a type with one parameter, the item.
    macro_rules! row {
        ($queue:ident, $name:expr, $bounded:expr) => {
            Row::of::<$queue<u64>, $queue<Large>>($name, $bounded)
        };
    }
    let ours = |row: Row| Row { kind: Kind::Ours, ..row };
    // Its look for an item is that of the row `-try`.
    let waiting = |row: Row| Row { polls: false, ..ours(row) };
    let one_consumer = |row: Row| Row { many_consumers: false, ..row };
    vec![
        row!(ArrayQueue, REFERENCE, BOUNDED),
        waiting(row!(Queue, "queue", BOUNDED)),
        ours(row!(Tried, "queue-try", BOUNDED)),
        waiting(row!(Queue, "queue-unbounded", UNBOUNDED)),
        ours(row!(Tried, "queue-unbounded-try", UNBOUNDED)),
        ours(row!(Channel, "channel", BOUNDED)),
        ours(row!(Channel, "channel-unbounded", UNBOUNDED)),
        Row { in_order: false, ..ours(row!(Pool, "pool", UNBOUNDED)) },
        Row { in_order: false, ..ours(row!(Rsu, "rsu", UNBOUNDED)) },
        waiting(row!(Jobs, "job-queue", BOUNDED)),
        row!(SegQueue, "seg-queue", UNBOUNDED),
        row!(CrossbeamChannel, "crossbeam-bounded", BOUNDED),
        row!(CrossbeamChannel, "crossbeam-unbounded", UNBOUNDED),
        row!(Flume, "flume-bounded", BOUNDED),
        row!(Flume, "flume-unbounded", UNBOUNDED),
        row!(Kanal, "kanal-bounded", BOUNDED),
        row!(Kanal, "kanal-unbounded", UNBOUNDED),
        row!(ConcurrentQueue, "concurrent-bounded", BOUNDED),
        row!(ConcurrentQueue, "concurrent-unbounded", UNBOUNDED),
        one_consumer(row!(StandardBounded, "std-bounded", BOUNDED)),
        one_consumer(row!(StandardUnbounded, "std-unbounded", UNBOUNDED)),
        row!(AllocBoundedQueue, "scq", BOUNDED),
        row!(LPRQueue, "lprq", UNBOUNDED),
        row!(FAAAQueue, "faaa", UNBOUNDED),
        row!(Locked, "mutex-deque", UNBOUNDED),
        Row { kind: Kind::Nothing, ..Row::of::<Nothing, Nothing>("nothing", UNBOUNDED) },
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
        assert!(!row("queue").suits(Mix::Even, 1), "nobody would pop");
        assert!(row("queue").suits(Mix::Pairs, 1));
        assert!(row("std-bounded").suits(Mix::OneConsumer, 9));
        assert!(row("std-bounded").suits(Mix::Even, 2));
        assert!(!row("std-bounded").suits(Mix::Even, 3), "two would pop");
        assert!(!row("queue").suits(Mix::Empty, 2) && row("queue-try").suits(Mix::Empty, 2));
        assert!(!row("nothing").suits(Mix::Even, 2) && row("nothing").suits(Mix::Large, 2));
    }
}
