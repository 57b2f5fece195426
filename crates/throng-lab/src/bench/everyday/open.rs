//! Open loop: items arrive when they are due, whether the queue is ready or not.
//!
//! The latency of an item runs from its *intended* arrival to its pop. So a push that waits for
//! room delays that item and all behind it. Items that are due but not popped at the end of the run
//! count with the time they have waited until then.

use std::hint::spin_loop;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::AcqRel;
use std::thread;
use std::time::{Duration, Instant};

use super::arrivals::Arrivals;
use super::cases::OpenLoop;
use super::team::{self, Figures, Order, ns_since};
use crate::bench::latency::Recorder;
use crate::bench::pace::SteadyWork;
use crate::bench::queues::check::{self, Check, Totals};
use crate::bench::queues::items::{Item, STOP, value_of};
use crate::bench::queues::mixes::{Role, spread};
use crate::bench::queues::run::{Alone, Failure};
use crate::bench::queues::seats::{Exchange, Seat};

/// An item with the time it was due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamped {
    value: u64,
    due_ns: u64,
}

impl Item for Stamped {
    #[inline]
    fn of(value: u64) -> Self {
        Stamped { value, due_ns: 0 }
    }

    #[inline]
    fn value(&self) -> Option<u64> {
        Some(self.value)
    }
}

/// Smallest mean number of arrivals in a run, regardless of its time.
const LEAST_ARRIVALS: u32 = 200;

/// Measures million items a second delivered, and their latencies from arrival to pop.
pub(super) fn run<X: Exchange<Stamped>>(
    order: &Order<'_>,
    open: OpenLoop,
) -> Result<Figures, Failure> {
    let queue = Box::new(Alone(X::build(order.room())));
    let exchange = &queue.0;
    let shared = &Shared::new(order, open);
    // Mixed, so that not one half of the machine pushes to the other.
    let roles = spread(open.producers, order.case.threads);
    let (results, _) = team::run(order, None, |rank, team| {
        let is_producer = roles[rank] == Role::Producer;
        let producer = roles[..rank].iter().filter(|&&role| role == Role::Producer).count();
        let work = SteadyWork::of(open.work_ns);
        let mut thread = Thread {
            shared,
            seat: exchange.seat(!is_producer),
            pushed: 0,
            delivered: 0,
            check: Check::new(open.producers, order.in_order),
            times: Recorder::new(),
        };
        match (team.begin(), is_producer) {
            (false, _) => {}
            (true, true) => thread.produce(producer, open),
            (true, false) => thread.consume(work),
        }
        let Thread { pushed, delivered, check, times, .. } = thread;
        Outcome { producer, pushed, delivered, check, times }
    })?;
    // Without order, a consumer may be stopped before all items are out.
    let mut left = Check::new(open.producers, false);
    let mut late = Recorder::new();
    let mut seat = exchange.seat(true);
    while let Some(item) = seat.poll() {
        left.note(&item);
        shared.record_unserved(item.due_ns, &mut late);
    }
    let latency = Recorder::together(results.iter().map(|result| &result.times).chain([&late]));
    let delivered: u64 = results.iter().map(|result| result.delivered).sum();
    let pushed: Vec<Totals> =
        results.iter().map(|result| Totals::pushed(result.producer, result.pushed)).collect();
    let popped = results.into_iter().map(|result| result.check).chain([left]);
    let checked = check::verdict(pushed.into_iter(), popped).map_err(Failure::Wrong)?;
    let measured_ns = shared.end_ns - shared.begin_ns;
    let value = delivered as f64 * 1e3 / measured_ns as f64;
    Ok(Figures { value, latency, fairness: None, checked })
}

/// State that the threads share besides the queue.
struct Shared {
    /// When the first thread began.
    start: OnceLock<Instant>,
    /// Items due before this are not recorded.
    begin_ns: u64,
    /// Nothing is due from here on.
    end_ns: u64,
    producers: AtomicUsize,
    consumers: usize,
    /// Whether producers with time to spare yield, because not all threads have a core.
    yields: bool,
}

impl Shared {
    fn new(order: &Order<'_>, open: OpenLoop) -> Self {
        let least = Duration::from_secs(1) * LEAST_ARRIVALS / open.per_second;
        let begin = order.times.warm_up;
        let end = begin + order.times.measure.max(least);
        Shared {
            start: OnceLock::new(),
            begin_ns: begin.as_nanos() as u64,
            end_ns: end.as_nanos() as u64,
            producers: AtomicUsize::new(open.producers),
            consumers: open.consumers,
            yields: order.case.threads > crate::threads::cores(),
        }
    }

    fn start(&self) -> Instant {
        *self.start.get_or_init(Instant::now)
    }

    /// Records an item that was due and not popped at the end of the run.
    fn record_unserved(&self, due_ns: u64, times: &mut Recorder) {
        if due_ns >= self.begin_ns {
            times.record(self.end_ns.saturating_sub(due_ns));
        }
    }
}

/// The result of a thread.
struct Outcome {
    /// The number of the producer; unused for a consumer.
    producer: usize,
    pushed: u64,
    /// Items popped in the measured time.
    delivered: u64,
    check: Check,
    times: Recorder,
}

/// The program of a thread.
struct Thread<'a, S> {
    shared: &'a Shared,
    seat: S,
    pushed: u64,
    delivered: u64,
    check: Check,
    times: Recorder,
}

impl<S: Seat<Stamped>> Thread<'_, S> {
    #[inline(never)]
    fn produce(&mut self, producer: usize, open: OpenLoop) {
        let start = self.shared.start();
        let per_second = f64::from(open.per_second) / open.producers as f64;
        let end_ns = self.shared.end_ns;
        for due_ns in Arrivals::new(per_second, producer as u64 + 1).take_while(|&due| due < end_ns)
        {
            if wait_until(start, due_ns, self.shared.yields) < end_ns {
                self.pushed += 1;
                self.seat.put(Stamped { value: value_of(producer, self.pushed), due_ns });
            } else {
                self.shared.record_unserved(due_ns, &mut self.times);
            }
        }
        // The last producer knows that all items are in.
        if self.shared.producers.fetch_sub(1, AcqRel) == 1 {
            (0..self.shared.consumers).for_each(|_| self.seat.put(Stamped::of(STOP)));
        }
    }

    #[inline(never)]
    fn consume(&mut self, work: SteadyWork) {
        let start = self.shared.start();
        let Shared { begin_ns, end_ns, .. } = *self.shared;
        loop {
            let item = self.seat.take();
            if item.value == STOP {
                return;
            }
            let now_ns = ns_since(start);
            self.check.note_value(item.value);
            if item.due_ns >= begin_ns {
                self.times.record(now_ns.saturating_sub(item.due_ns));
            }
            if now_ns < end_ns {
                self.delivered += u64::from(now_ns >= begin_ns);
                work.once();
            }
        }
    }
}

/// Shortest wait for which a producer that shares its core yields, in nanoseconds.
const LONG_WAIT_NS: u64 = 20_000;

/// Waits until an item is due. Returns the time.
#[inline]
fn wait_until(start: Instant, due_ns: u64, yields: bool) -> u64 {
    loop {
        let now_ns = ns_since(start);
        match due_ns.saturating_sub(now_ns) {
            0 => return now_ns,
            left if yields && left > LONG_WAIT_NS => thread::yield_now(),
            _ => spin_loop(),
        }
    }
}
