//! Passes items from thread to thread through queues, in a process of its own: ping-pong and
//! streams.
//!
//! In both, threads wait for items by popping. An item is the time of its push, so that the thread
//! that pops it knows how long it was on its way.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::{Duration, Instant};

use throng::{Pool, Queue};

use super::laps::{Audience, Laps, Measured, Span, measured};
use super::progress::{EVERY, Publisher};
use crate::bench::latency::Recorder;
use crate::bench::pace::SteadyWork;
use crate::bench::queues::check::Wrong;
use crate::bench::queues::check::failed;
use crate::bench::queues::items::STOP;
use crate::bench::queues::mixes::{Role, spread};
use crate::bench::queues::peers::CrossbeamChannel;
use crate::bench::queues::seats::{Exchange, Seat};
use crate::bench::together::{self};
use crate::bench::window::{Phase, Times, Window};
use crate::error::Error;

/// Capacity of bounded queues.
const ROOM: usize = 1024;

/// The result of a run.
type Outcome = Result<Option<Measured>, Error>;

/// A queue to be measured.
#[derive(Clone, Copy)]
pub(super) struct Contender {
    /// Its name.
    pub(super) name: &'static str,
    room: Option<usize>,
    ping_pong: fn(&Contender, Audience) -> Outcome,
    stream: fn(&Contender, usize, u32, Audience) -> Outcome,
}

/// Returns all queues, ours first.
pub(super) fn all() -> [Contender; 5] {
    const BOUNDED: bool = true;
    const UNBOUNDED: bool = false;
    [
        Contender::of::<Queue<u64>>("queue", BOUNDED),
        Contender::of::<Queue<u64>>("queue-unbounded", UNBOUNDED),
        Contender::of::<Pool<u64>>("pool", UNBOUNDED),
        Contender::of::<CrossbeamChannel<u64>>("crossbeam-bounded", BOUNDED),
        Contender::of::<CrossbeamChannel<u64>>("crossbeam-unbounded", UNBOUNDED),
    ]
}

/// Returns the queue of this name.
pub(super) fn find(name: &str) -> Option<Contender> {
    all().into_iter().find(|queue| queue.name == name)
}

impl Contender {
    fn of<Q: Exchange<u64>>(name: &'static str, is_bounded: bool) -> Self {
        let room = is_bounded.then_some(ROOM);
        Contender { name, room, ping_pong: ping_pong::<Q>, stream: stream::<Q> }
    }

    /// Sends an item there and back, again and again.
    ///
    /// # Errors
    /// When threads cannot be started, or another item comes back.
    pub(super) fn ping_pong(&self, audience: Audience) -> Outcome {
        (self.ping_pong)(self, audience)
    }

    /// Sends a stream of items from half of the threads to the others.
    ///
    /// # Errors
    /// When threads cannot be started, or other items come out than went in.
    pub(super) fn stream(&self, threads: usize, work_ns: u32, audience: Audience) -> Outcome {
        (self.stream)(self, threads, work_ns, audience)
    }

    fn wrong(&self, threads: usize, load: &str, wrong: Wrong) -> Error {
        failed(self.name, load, threads, wrong)
    }
}

fn ping_pong<Q: Exchange<u64>>(queue: &Contender, audience: Audience) -> Outcome {
    let (there, back) = (Q::build(queue.room), Q::build(queue.room));
    let window = &Window::new();
    let ping = || {
        window.await_start();
        if window.phase() == Phase::Done {
            return Ok(None);
        }
        let (mut there, mut back) = (there.seat(false), back.seat(true));
        let mut laps = Laps::new(audience);
        for item in 0.. {
            there.put(item);
            let returned = back.take();
            if returned != item {
                there.put(STOP);
                return Err(Wrong::Unknown);
            }
            if laps.lap() {
                break;
            }
        }
        there.put(STOP);
        Ok(laps.measured())
    };
    let pong = || {
        window.await_start();
        if window.phase() == Phase::Done {
            return Ok(None);
        }
        let (mut there, mut back) = (there.seat(true), back.seat(false));
        loop {
            match there.take() {
                STOP => return Ok(None),
                item => back.put(item),
            }
        }
    };
    type Task<'a> = Box<dyn FnOnce() -> Result<Option<Measured>, Wrong> + Send + 'a>;
    let tasks: [Task<'_>; 2] = [Box::new(ping), Box::new(pong)];
    let results = together::run(window, tasks.into_iter(), || {})
        .map_err(|failure| failure.explain(queue.name, 2))?;
    let mut measured = None;
    for result in results {
        let result = result.map_err(|wrong| queue.wrong(2, "ping-pong", wrong))?;
        measured = measured.or(result);
    }
    Ok(measured)
}

/// Number of items a thread has moved, alone on its line.
#[derive(Default)]
#[repr(align(128))]
struct Moved(AtomicU64);

/// State shared by the threads of a stream besides the queue.
struct Stream {
    start: Instant,
    work: SteadyWork,
    is_measuring: AtomicBool,
    is_over: AtomicBool,
    /// Items popped, by consumer.
    popped: Vec<Moved>,
}

/// The result of a thread of a stream. The sum is of the items, and wraps.
#[derive(Default)]
struct Ended {
    pushed: u64,
    popped: u64,
    pushed_sum: u64,
    popped_sum: u64,
    latencies: Option<Recorder>,
}

fn stream<Q: Exchange<u64>>(
    queue: &Contender,
    threads: usize,
    work_ns: u32,
    mut audience: Audience,
) -> Outcome {
    let exchange = &Q::build(queue.room);
    let roles = spread(threads / 2, threads);
    let stream = &Stream {
        start: Instant::now(),
        work: SteadyWork::of(work_ns),
        is_measuring: AtomicBool::new(false),
        is_over: AtomicBool::new(false),
        popped: roles.iter().map(|_| Moved::default()).collect(),
    };
    let producers_left = &AtomicU64::new(threads as u64 / 2);
    let consumers = threads - threads / 2;
    let window = &Window::new();
    let tasks = roles.into_iter().enumerate().map(|(rank, role)| {
        move || {
            window.await_start();
            if window.phase() == Phase::Done {
                return Ended::default();
            }
            let mut seat = exchange.seat(role.pops());
            if role.pops() {
                return stream.consume(&mut seat, &stream.popped[rank].0);
            }
            let ended = stream.produce(&mut seat);
            if producers_left.fetch_sub(1, AcqRel) == 1 {
                (0..consumers).for_each(|_| seat.put(STOP));
            }
            ended
        }
    });
    debug_assert!(spread(threads / 2, threads).contains(&Role::Producer));
    let mut times = None;
    let all = together::run(window, tasks, || times = stream.conduct(&mut audience))
        .map_err(|failure| failure.explain(queue.name, threads))?;
    check::<Q>(exchange, &all).map_err(|wrong| queue.wrong(threads, "a stream", wrong))?;
    let recorders: Vec<Recorder> = all.into_iter().filter_map(|one| one.latencies).collect();
    Ok(times.and_then(|times| measured(times, times.0, recorders.iter())))
}

/// Returns whether the popped items are those pushed. An unordered queue may hand out the stop
/// signs before the last items, which are then still in it.
fn check<Q: Exchange<u64>>(exchange: &Q, all: &[Ended]) -> Result<(), Wrong> {
    let mut left = Ended::default();
    let mut seat = exchange.seat(true);
    while let Some(item) = seat.poll() {
        left.popped += 1;
        left.popped_sum = left.popped_sum.wrapping_add(item);
    }
    let total = |number: fn(&Ended) -> u64| {
        all.iter().chain([&left]).fold(0, |sum: u64, one| sum.wrapping_add(number(one)))
    };
    let (pushed, popped) = (total(|one| one.pushed), total(|one| one.popped));
    if pushed != popped {
        return Err(Wrong::Count { pushed, popped });
    }
    if total(|one| one.pushed_sum) != total(|one| one.popped_sum) {
        return Err(Wrong::Others { pushed });
    }
    Ok(())
}

impl Stream {
    /// Returns the nanoseconds since the start.
    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn produce(&self, seat: &mut impl Seat<u64>) -> Ended {
        let mut ended = Ended::default();
        while !self.is_over.load(Relaxed) {
            self.work.once();
            let item = self.now_ns();
            seat.put(item);
            ended.pushed += 1;
            ended.pushed_sum = ended.pushed_sum.wrapping_add(item);
        }
        ended
    }

    fn consume(&self, seat: &mut impl Seat<u64>, popped: &AtomicU64) -> Ended {
        let mut ended = Ended::default();
        let mut latencies = Recorder::new();
        loop {
            let item = seat.take();
            if item == STOP {
                return Ended { latencies: Some(latencies), ..ended };
            }
            if self.is_measuring.load(Acquire) {
                latencies.record(self.now_ns().saturating_sub(item));
            }
            ended.popped += 1;
            ended.popped_sum = ended.popped_sum.wrapping_add(item);
            popped.store(ended.popped, Relaxed);
        }
    }

    fn popped(&self) -> u64 {
        self.popped.iter().map(|moved| moved.0.load(Relaxed)).sum()
    }

    /// Keeps the time, on a thread that neither pushes nor pops. Returns the measured time and the
    /// processor time used meanwhile, or [`None`] from a neighbour.
    fn conduct(&self, audience: &mut Audience) -> Option<(Duration, Duration)> {
        let times = match audience {
            Audience::Lab(times) => Some(self.measure(*times)),
            Audience::Progress(publisher) => {
                self.publish(publisher);
                None
            }
        };
        self.is_over.store(true, Relaxed);
        times
    }

    fn measure(&self, times: Times) -> (Duration, Duration) {
        thread::sleep(times.warm_up);
        let span = Span::begin();
        self.is_measuring.store(true, Release);
        // Each consumer may have checked just before that, and so not record its next item.
        let first = self.popped() + self.popped.len() as u64 + 1;
        thread::sleep(times.measure);
        while self.popped() < first {
            thread::sleep(EVERY);
        }
        let measured = span.end();
        self.is_measuring.store(false, Release);
        measured
    }

    fn publish(&self, publisher: &mut Publisher) {
        let mut before = 0;
        loop {
            thread::sleep(EVERY);
            let popped = self.popped();
            if publisher.add(popped - before, Instant::now()) {
                return;
            }
            before = popped;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::queues::peers::Locked;

    #[test]
    fn items_that_are_lost_or_changed_are_seen() {
        let queue = Locked::<u64>::build(None);
        let one = |pushed, popped, sum| Ended {
            pushed,
            popped,
            pushed_sum: 10,
            popped_sum: sum,
            latencies: None,
        };
        assert_eq!(check(&queue, &[one(3, 3, 10)]), Ok(()));
        let lost = Wrong::Count { pushed: 3, popped: 2 };
        assert_eq!(check(&queue, &[one(3, 2, 10)]), Err(lost));
        assert_eq!(check(&queue, &[one(3, 3, 11)]), Err(Wrong::Others { pushed: 3 }));
        queue.seat(false).put(4);
        assert_eq!(check(&queue, &[one(3, 2, 6)]), Ok(()), "the last one is still in the queue");
    }
}
