//! Makes one measured run: threads put items into a queue and take them out until the time is up.
//!
//! No thread may be left waiting for ever. Where every thread does both, it takes out as many items
//! as it has put in, so there is an item for every waiting thread. Where some threads only push,
//! they stop when the time is up. The last of them puts in one more item for each consumer, which
//! tells it to stop. Since the queue is first in, first out, all other items have come out by then.
//! So while they are measured, the threads share only the queue and the word with the phase, which
//! no thread writes meanwhile.

use std::marker::PhantomData;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use super::brake::{Brake, STINT};
use super::check::{self, Check, Totals, Wrong};
use super::ending::{Ending, Leaving};
use super::items::{Item, STOP, value_of};
use super::mixes::{BURST, Mix, Role};
use super::seats::{Exchange, Seat};
use crate::bench::barriers::run::pin;
use crate::bench::pace;
use crate::bench::setup::Pinning;
use crate::bench::together::{self, ThreadsFailure};
use crate::bench::window::{Phase, Times, Window};

/// The description of a run.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The queue, for messages.
    pub method: &'static str,
    /// The workload.
    pub mix: Mix,
    /// Number of threads.
    pub threads: usize,
    /// The times of its phases.
    pub times: Times,
    /// Capacity of the queue; `None` where it is unbounded.
    pub room: Option<usize>,
    /// Whether the items of a producer must come out in order.
    pub in_order: bool,
    /// Upper bound of a thread's random work before each push and each pop, in nanoseconds; the
    /// lower bound is 0.
    pub work_ns: u32,
    /// The cores of the threads.
    pub pinning: &'a Pinning,
}

/// The results of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Number of items popped in the measured time; of polls where the queue is empty.
    pub items: u64,
    /// The measured time in seconds.
    pub seconds: f64,
    /// Number of checked items, including those before and after the measured time.
    pub checked: u64,
}

/// The reason why a run has no result.
#[derive(Debug)]
pub(in crate::bench) enum Failure {
    /// The system refused a thread, or one panicked.
    Threads(ThreadsFailure),
    /// The queue made an error.
    Wrong(Wrong),
}

/// A function that runs one queue.
pub(in crate::bench) type Measure = fn(&Order<'_>) -> Result<Measured, Failure>;

/// Runs one queue. Only the code that uses the queue is compiled for each queue.
pub(in crate::bench) fn run<T: Item, X: Exchange<T>>(
    order: &Order<'_>,
) -> Result<Measured, Failure> {
    // On lines of its own, as in a program that avoids false sharing.
    let queue = Box::new(Alone(X::build(order.room)));
    run_on(order, &queue.0)
}

/// Runs a queue that was built before.
pub(in crate::bench) fn run_on<T: Item, X: Exchange<T>>(
    order: &Order<'_>,
    exchange: &X,
) -> Result<Measured, Failure> {
    let work = |desk: Desk<'_>, role: Role| {
        let seat = exchange.seat(role.pops());
        Worker { desk, seat, item: PhantomData::<T> }.work(order.mix, role)
    };
    let drain = |left: &mut Check| {
        let mut seat = exchange.seat(true);
        while let Some(item) = seat.poll() {
            left.note(&item);
        }
    };
    drive(order, &work, &drain)
}

/// The program of one thread.
type Work<'a> = &'a (dyn Fn(Desk<'_>, Role) -> Outcome + Sync);
/// Takes out the items that are left.
type Drain<'a> = &'a dyn Fn(&mut Check);

/// Starts all threads with their program, and judges the result.
fn drive(order: &Order<'_>, work: Work<'_>, drain: Drain<'_>) -> Result<Measured, Failure> {
    let roles = order.mix.roles(order.threads);
    let window = &Window::new();
    let shared = &Shared::new(&roles, order.room.is_none());
    let ending = &Ending::new(order.threads);
    let tasks = roles.iter().enumerate().map(|(rank, &role)| {
        move || {
            let _leaving = Leaving(ending);
            pin(order.pinning, rank, order.threads);
            let check = Check::new(order.threads, order.in_order);
            let work_between = pace::Work::up_to(order.work_ns);
            window.await_start();
            let clock = Clock::new(window);
            work(Desk { rank, shared, clock, pushed: 0, check, work: work_between }, role)
        }
    });
    let conduct = || {
        shared.is_complete.store(true, Release);
        window.conduct(order.times);
        if let Err(hung) = ending.watch() {
            hung.give_up(order.method, order.mix.of_messages(), order.threads);
        }
    };
    let results = together::run(window, tasks, conduct).map_err(Failure::Threads)?;
    // Without order, a consumer may be stopped before the items of others are out.
    let mut left = Check::new(order.threads, false);
    drain(&mut left);
    let items = results.iter().map(|result| result.items).sum();
    let pushed: Vec<Totals> = (results.iter().enumerate())
        .map(|(rank, result)| Totals::pushed(rank, result.pushed))
        .collect();
    let popped = results.into_iter().map(|result| result.check).chain([left]);
    let checked = check::verdict(pushed.into_iter(), popped).map_err(Failure::Wrong)?;
    Ok(Measured { items, seconds: window.seconds(), checked })
}

/// A value on lines of its own.
#[repr(align(128))]
pub(in crate::bench) struct Alone<X>(pub(in crate::bench) X);

/// The result of a thread.
struct Outcome {
    pushed: u64,
    check: Check,
    /// Number of measured items.
    items: u64,
}

/// What a thread has beside its handle of the queue.
struct Desk<'a> {
    rank: usize,
    shared: &'a Shared,
    clock: Clock<'a>,
    pushed: u64,
    check: Check,
    work: Option<pace::Work>,
}

/// The program of a thread, with its handle of the queue.
struct Worker<'a, T, S> {
    desk: Desk<'a>,
    seat: S,
    item: PhantomData<T>,
}

impl<T: Item, S: Seat<T>> Worker<'_, T, S> {
    /// Runs the loop of this role. Each loop is a function with nothing else in it. A thread that
    /// starts when the time is up goes through it once.
    fn work(mut self, mix: Mix, role: Role) -> Outcome {
        match role {
            // Not all threads could be started: no peers to wait for.
            _ if self.desk.shared.is_cancelled(self.desk.clock.window) => {}
            Role::Producer => self.produce(),
            Role::Consumer => self.consume(),
            Role::Poller => self.poll(),
            Role::Both if mix == Mix::Bursts => self.both::<BURST>(),
            Role::Both => self.both::<1>(),
        }
        let Desk { pushed, check, clock, .. } = self.desk;
        Outcome { pushed, check, items: clock.counted() }
    }

    #[inline(always)]
    fn push(&mut self) {
        self.do_something_else();
        self.desk.pushed += 1;
        self.seat.put(T::of(value_of(self.desk.rank, self.desk.pushed)));
    }

    #[inline(always)]
    fn pop(&mut self) -> T {
        self.do_something_else();
        self.seat.take()
    }

    #[inline(always)]
    fn do_something_else(&mut self) {
        if let Some(work) = &mut self.desk.work {
            work.once();
        }
    }

    #[inline(never)]
    fn both<const IN_A_ROW: usize>(&mut self) {
        loop {
            for _ in 0..STINT.div_ceil(IN_A_ROW) {
                (0..IN_A_ROW).for_each(|_| self.push());
                for _ in 0..IN_A_ROW {
                    let item = self.pop();
                    self.desk.check.note(&item);
                }
            }
            if !self.desk.clock.goes_on(self.desk.check.count()) {
                return;
            }
        }
    }

    #[inline(never)]
    fn produce(&mut self) {
        loop {
            (0..STINT).for_each(|_| self.push());
            if let Some(brake) = &self.desk.shared.brake {
                brake.hold_back(self.desk.rank, self.desk.pushed, || self.desk.clock.goes_on(0));
            }
            if !self.desk.clock.goes_on(0) {
                break;
            }
        }
        // The last producer knows that all items are in.
        if self.desk.shared.producers.fetch_sub(1, AcqRel) == 1 {
            (0..self.desk.shared.consumers).for_each(|_| self.seat.put(T::of(STOP)));
        }
    }

    #[inline(never)]
    fn consume(&mut self) {
        loop {
            self.desk.clock.goes_on(self.desk.check.count());
            if let Some(brake) = &self.desk.shared.brake {
                brake.note_popped(self.desk.rank, self.desk.check.count());
            }
            for _ in 0..STINT {
                let item = self.pop();
                match item.value() {
                    Some(STOP) => {
                        self.desk.clock.goes_on(self.desk.check.count());
                        return;
                    }
                    Some(value) => self.desk.check.note_value(value),
                    None => self.desk.check.note(&item),
                }
            }
        }
    }

    #[inline(never)]
    fn poll(&mut self) {
        let mut polls = 0;
        while self.desk.clock.goes_on(polls) {
            for _ in 0..STINT {
                if let Some(item) = self.seat.poll() {
                    self.desk.check.note(&item);
                }
            }
            polls += STINT as u64;
        }
    }
}

/// Counts one thread's items in the measured time.
pub(in crate::bench) struct Clock<'a> {
    window: &'a Window,
    phase: Phase,
    began: u64,
    ended: u64,
}

impl<'a> Clock<'a> {
    pub(in crate::bench) fn new(window: &'a Window) -> Self {
        Clock { window, phase: Phase::Warming, began: 0, ended: 0 }
    }

    /// Returns whether the time is not up; `count` is the thread's count so far.
    #[inline]
    pub(in crate::bench) fn goes_on(&mut self, count: u64) -> bool {
        let phase = self.window.phase();
        if phase != self.phase {
            self.turn(phase, count);
        }
        phase != Phase::Done
    }

    #[cold]
    fn turn(&mut self, phase: Phase, count: u64) {
        // A thread that missed the measurement, because others had its core all the time, did
        // nothing.
        if self.phase == Phase::Warming {
            self.began = count;
        }
        self.ended = count;
        self.phase = phase;
    }

    /// Returns whether the thread has seen the measurement begin, and not its end.
    pub(in crate::bench) fn is_measuring(&self) -> bool {
        self.phase == Phase::Measuring
    }

    pub(in crate::bench) fn counted(&self) -> u64 {
        self.ended - self.began
    }
}

/// State that the threads share besides the queue. Nothing of it is written while they are
/// measured, except by the brake.
struct Shared {
    /// Whether all threads have been started.
    is_complete: AtomicBool,
    /// Number of threads that still push.
    producers: AtomicUsize,
    consumers: usize,
    brake: Option<Brake>,
}

impl Shared {
    fn new(roles: &[Role], needs_brake: bool) -> Self {
        let count = |which| roles.iter().filter(|&&role| role == which).count();
        Shared {
            is_complete: AtomicBool::new(false),
            producers: AtomicUsize::new(count(Role::Producer)),
            consumers: count(Role::Consumer),
            brake: needs_brake.then(|| Brake::new(roles)),
        }
    }

    /// Returns whether the run was over before it began. A thread that starts late, when the time
    /// is up, must take part all the same.
    fn is_cancelled(&self, window: &Window) -> bool {
        window.phase() == Phase::Done && !self.is_complete.load(Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::queues::rows;
    use crate::bench::queues::seats::{Attempts, Retry};
    use std::collections::VecDeque;
    use std::sync::Mutex;
    use std::time::Duration;

    fn order(mix: Mix, threads: usize, pinning: &Pinning) -> Order<'_> {
        let time = Duration::from_millis(3);
        let times = Times { warm_up: time, measure: time };
        let room = Some(1024);
        Order { method: "test", mix, threads, times, room, in_order: true, work_ns: 0, pinning }
    }

    #[test]
    fn every_queue_is_right_in_every_mix() {
        let pinning = Pinning::find();
        for row in rows::all() {
            for mix in Mix::ALL {
                for threads in [1, 2, 3] {
                    if row.suits(mix, threads) {
                        let times = order(mix, threads, &pinning).times;
                        let measured = row.measure(mix, threads, times, 0, &pinning).unwrap();
                        assert!(measured.seconds > 0.0);
                        assert_eq!(measured.checked > 0, mix != Mix::Empty, "{}", row.name);
                    }
                }
            }
        }
    }

    #[test]
    fn a_full_queue_delays_no_thread_for_ever() {
        let pinning = Pinning::find();
        for mix in [Mix::Even, Mix::OneProducer, Mix::OneConsumer, Mix::Pairs] {
            let order = Order { room: Some(8), ..order(mix, 4, &pinning) };
            run::<u64, crossbeam_queue::ArrayQueue<u64>>(&order).unwrap();
        }
    }

    /// A queue that does something wrong with every thousandth item, or with the order.
    struct Broken<const WHAT: u32>(Mutex<(u64, VecDeque<u64>)>);

    const TWICE_AND_LOST: u32 = 0;
    const LAST_IN_FIRST_OUT: u32 = 1;
    const MADE_UP: u32 = 2;

    impl<const WHAT: u32> Exchange<u64> for Broken<WHAT> {
        type Seat<'a> = Retry<&'a Self>;

        fn build(_room: Option<usize>) -> Self {
            Broken(Mutex::default())
        }

        fn seat(&self, _pops: bool) -> Self::Seat<'_> {
            Retry(self)
        }
    }

    impl<const WHAT: u32> Attempts<u64> for &Broken<WHAT> {
        fn try_put(&mut self, item: u64) -> Result<(), u64> {
            let (count, items) = &mut *self.0.lock().unwrap();
            *count += 1;
            match WHAT {
                TWICE_AND_LOST if *count % 1000 == 0 && item != STOP && !items.is_empty() => {
                    items.push_back(items[items.len() - 1]);
                }
                MADE_UP if *count % 1000 == 0 && item != STOP => items.push_back(STOP - 1),
                _ => items.push_back(item),
            }
            Ok(())
        }

        fn try_take(&mut self) -> Option<u64> {
            let (_, items) = &mut *self.0.lock().unwrap();
            if WHAT == LAST_IN_FIRST_OUT { items.pop_back() } else { items.pop_front() }
        }
    }

    fn failure<const WHAT: u32>(mix: Mix) -> Wrong {
        let pinning = Pinning::find();
        let times = Times { warm_up: Duration::ZERO, measure: Duration::from_millis(100) };
        match run::<u64, Broken<WHAT>>(&Order { times, ..order(mix, 2, &pinning) }) {
            Err(Failure::Wrong(wrong)) => wrong,
            other => panic!("not caught: {other:?}"),
        }
    }

    #[test]
    fn broken_queues_are_caught() {
        assert!(matches!(failure::<MADE_UP>(Mix::Pairs), Wrong::Unknown));
        assert!(matches!(failure::<LAST_IN_FIRST_OUT>(Mix::Bursts), Wrong::Order { .. }));
        let twice = failure::<TWICE_AND_LOST>(Mix::Bursts);
        assert!(matches!(twice, Wrong::Order { .. } | Wrong::Others { .. }), "{twice:?}");
    }

    #[test]
    fn a_panic_ends_the_run_and_not_the_program() {
        struct Panics;
        impl Exchange<u64> for Panics {
            type Seat<'a> = Retry<&'a Self>;
            fn build(_room: Option<usize>) -> Self {
                Panics
            }
            fn seat(&self, _pops: bool) -> Retry<&Self> {
                Retry(self)
            }
        }
        impl Attempts<u64> for &Panics {
            fn try_put(&mut self, _item: u64) -> Result<(), u64> {
                panic!("as it should")
            }
            fn try_take(&mut self) -> Option<u64> {
                None
            }
        }
        let pinning = Pinning::find();
        let failure = run::<u64, Panics>(&order(Mix::Pairs, 1, &pinning)).unwrap_err();
        assert!(matches!(failure, Failure::Threads(ThreadsFailure::Panicked)), "{failure:?}");
    }
}
