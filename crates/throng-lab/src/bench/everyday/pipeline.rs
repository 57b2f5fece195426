//! A pipeline of three stages: producers, a middle stage, consumers, and a queue between each two.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::AcqRel;

use super::team::{self, Figures, Order};
use crate::bench::queues::brake::Brake;
use crate::bench::queues::brake::STINT;
use crate::bench::queues::check::{self, Check, Totals};
use crate::bench::queues::items::{Item, STOP, value_of};
use crate::bench::queues::mixes::Role;
use crate::bench::queues::run::{Alone, Clock, Failure};
use crate::bench::queues::seats::{Exchange, Seat};

/// Stages of the pipeline. Neighbouring threads are of different stages.
const STAGES: usize = 3;

/// Measures million items a second at the end of the pipeline, with `each` threads in each stage.
pub(super) fn run<X: Exchange<u64>>(order: &Order<'_>, each: usize) -> Result<Figures, Failure> {
    let first = Box::new(Alone(X::build(order.room())));
    let second = Box::new(Alone(X::build(order.room())));
    let line = &Line::new(order, each);
    let (results, seconds) = team::run(order, Some(order.times), |rank, team| {
        // Several threads in the middle stage overtake each other.
        let in_order = order.in_order && each == 1;
        let clock = Clock::new(&team.window);
        let mut thread = Thread { line, rank, clock, pushed: 0, check: Check::new(each, in_order) };
        let (mut input, mut output) = match rank % STAGES {
            0 => (None, Some(first.0.seat(false))),
            1 => (Some(first.0.seat(true)), Some(second.0.seat(false))),
            _ => (Some(second.0.seat(true)), None),
        };
        if team.begin() {
            match (&mut input, &mut output) {
                (None, Some(output)) => thread.produce(output),
                (Some(input), Some(output)) => thread.pass_on(input, output),
                (Some(input), None) => thread.consume(input),
                (None, None) => {}
            }
        }
        (thread.pushed, thread.check, thread.clock.counted())
    })?;
    // Without order, a thread may be stopped before all items are out.
    let mut left = Check::new(each, false);
    for queue in [&first.0, &second.0] {
        let mut seat = queue.seat(true);
        while let Some(item) = seat.poll() {
            left.note(&item);
        }
    }
    let items: u64 = results.iter().map(|(_, _, counted)| counted).sum();
    let pushed: Vec<Totals> = results
        .iter()
        .enumerate()
        .map(|(rank, result)| Totals::pushed(rank / STAGES, result.0))
        .collect();
    let popped = results.into_iter().map(|(_, check, _)| check).chain([left]);
    let checked = check::verdict(pushed.into_iter(), popped).map_err(Failure::Wrong)?;
    let value = items as f64 / seconds.max(1e-9) / 1e6;
    Ok(Figures { value, checked, ..Figures::default() })
}

/// State that the threads share besides the queues.
struct Line {
    each: usize,
    /// Number of threads of the first and of the middle stage that are not done.
    at_work: [AtomicUsize; 2],
    /// Keeps producers from filling the memory where queues have no bound.
    brake: Option<Brake>,
}

impl Line {
    fn new(order: &Order<'_>, each: usize) -> Self {
        // The middle stage counts on neither side: the contents of both queues are the backlog.
        let roles: Vec<Role> = (0..STAGES * each)
            .map(|rank| if rank % STAGES == 0 { Role::Producer } else { Role::Consumer })
            .collect();
        Line {
            each,
            at_work: [AtomicUsize::new(each), AtomicUsize::new(each)],
            brake: (!order.bounded).then(|| Brake::new(&roles)),
        }
    }

    /// Leaves a stage. The last thread of a stage tells the next stage to stop.
    fn leave(&self, stage: usize, output: &mut impl Seat<u64>) {
        if self.at_work[stage].fetch_sub(1, AcqRel) == 1 {
            (0..self.each).for_each(|_| output.put(u64::of(STOP)));
        }
    }
}

/// The program of a thread of one stage.
struct Thread<'a> {
    line: &'a Line,
    rank: usize,
    clock: Clock<'a>,
    pushed: u64,
    check: Check,
}

impl Thread<'_> {
    #[inline(never)]
    fn produce(&mut self, output: &mut impl Seat<u64>) {
        while self.clock.goes_on(0) {
            for _ in 0..STINT {
                self.pushed += 1;
                output.put(value_of(self.rank / STAGES, self.pushed));
            }
            if let Some(brake) = &self.line.brake {
                brake.hold_back(self.rank, self.pushed, || self.clock.goes_on(0));
            }
        }
        self.line.leave(0, output);
    }

    #[inline(never)]
    fn pass_on(&mut self, input: &mut impl Seat<u64>, output: &mut impl Seat<u64>) {
        loop {
            match input.take() {
                STOP => return self.line.leave(1, output),
                value => output.put(value),
            }
        }
    }

    #[inline(never)]
    fn consume(&mut self, input: &mut impl Seat<u64>) {
        loop {
            self.clock.goes_on(self.check.count());
            if let Some(brake) = &self.line.brake {
                brake.note_popped(self.rank, self.check.count());
            }
            for _ in 0..STINT {
                match input.take() {
                    STOP => {
                        self.clock.goes_on(self.check.count());
                        return;
                    }
                    value => self.check.note_value(value),
                }
            }
        }
    }
}
