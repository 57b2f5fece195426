//! The job queue of the papers: an array and two shared counters (DT96 section 3.3.2, Figure 13;
//! RDT97 section 5.4).
//!
//! An enqueue draws a number from one counter and puts its job into that element of the array,
//! modulo its length. A dequeue draws from the other counter and takes the job that comes to that
//! element. So the two counters are the only points of contention, and the queue is as fast as they
//! are.
//!
//! ```text
//!   enqueues: 6                       dequeues: 3
//!         ┌─────┬─────┬─────┬─────┐
//!         │ (4) │ (5) │     │  3  │   4 elements: ticket 4 has come round to element 0
//!         └─────┴─────┴─────┴─────┘
//! ```
//!
//! Two callers may be at one element at once, a lap apart, and counters that are quiescently
//! consistent may send the later one there first. So an element has a turn and serves its laps in
//! order. With lap = ticket / length:
//!
//! | turn | the element | changed by |
//! |---|---|---|
//! | 4 lap | is empty | the enqueue of this lap |
//! | 4 lap + 1 | is being filled | the same |
//! | 4 lap + 2 | holds the job of this lap | the dequeue of this lap |
//! | 4 lap + 3 | is being emptied | the same, to 4 (lap + 1) |
//!
//! *Order*: first in, first out if both counters are linearizable. With others, a job may overtake
//! another that was put in while calls were in progress. *Blocking*: an enqueue waits while its
//! element is full, and a dequeue until a job is in its element, although other elements may have
//! jobs. *Memory*: a line for each element, and one for each processor, to keep the ticket of a
//! dequeue that gave up. *When to use it*: to compare counters. [`Queue`](super::Queue) is the
//! modern form of the same idea.
//!
//! Differs from the paper: elements have turns, where the paper has a job or none. Without them two
//! calls that wait for the same element may go in the wrong order. A dequeue can also give up, see
//! [`JobQueue::dequeue_on`].
//!
//! ## Why it does not hang
//! An enqueue with ticket t waits for the dequeue with ticket t - length, which waits for the
//! enqueue of its own ticket, and so on downwards. Every smaller ticket has been drawn or is about
//! to be. A counter gives out a number only when as many calls as that have begun, and no call
//! waits for an element inside a counter. So calls wait only for calls that have not begun: for
//! dequeues if the queue is full, for enqueues if it is empty.
//!
//! ## Memory ordering
//! `turn` is claimed with acquire and passed on with release. So the job passes from the enqueue to
//! the dequeue, and the empty element from the dequeue to the next enqueue. The claim is a
//! compare-exchange, so that no two calls are in one element even if a counter gives out a number
//! twice, which it must not.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use super::Jobs;
use crate::ShapeError;
use crate::classic::counter::Counting;
use crate::counter::generic::Counter;
use crate::machine::{Cell, Cpu, Line, Machine, Native, PerCpu, Place, WayOut, Word};

const EMPTY: u64 = 0;
const FULL: u64 = 2;
/// The number of turns of a lap.
const TURNS: u64 = 4;

/// The largest number of elements. Memory has no room for more.
const MOST_ELEMENTS: usize = 1 << if usize::BITS < 64 { 27 } else { 32 };

/// The value of no ticket; ticket t is kept as t + 1.
const NO_TICKET: u64 = 0;

/// A queue that is an array and two counters of kind `C`.
///
/// ```
/// use std::thread;
/// use throng::structures::counter::{DiffractingTree, diffracting::TreeShape};
/// use throng::structures::pool::JobQueue;
///
/// let tree = || DiffractingTree::new(&TreeShape::of_depth(2));
/// let jobs = JobQueue::new(16, tree()?, tree()?)?;
/// let sum: u64 = thread::scope(|scope| {
///     scope.spawn(|| (1..=100).for_each(|job| jobs.enqueue(job)));
///     (0..100).map(|_| jobs.dequeue()).sum()
/// });
/// assert_eq!(sum, 5050);
/// # Ok::<(), throng::ShapeError>(())
/// ```
///
/// The kind of the counters may also be chosen at run time:
///
/// ```
/// use throng::structures::counter::{Counting, Hardware, Locked};
/// use throng::structures::pool::JobQueue;
///
/// let counters: [Box<dyn Counting>; 2] = [Box::new(Hardware::new()), Box::new(Locked::with_queue())];
/// let [enqueues, dequeues] = counters;
/// let jobs = JobQueue::new(4, enqueues, dequeues)?;
/// jobs.enqueue("sweep");
/// assert_eq!(jobs.dequeue(), "sweep");
/// # Ok::<(), throng::ShapeError>(())
/// ```
///
/// Dropping the queue drops the jobs inside.
#[derive(Debug)]
pub struct JobQueue<T: Send, M: Machine = Native, C = Counter<M>> {
    elements: Box<[Line<Element<T, M>>]>,
    enqueues: C,
    dequeues: C,
    /// For each processor, the ticket of a dequeue that gave up.
    kept: PerCpu<Line<AtomicU64>>,
}

/// One element of the array.
#[derive(Debug)]
struct Element<T: Send, M: Machine> {
    /// See the table in the module docs. Never decreases.
    turn: M::Word,
    /// `Some` only in turns of kind [`FULL`].
    job: M::Cell<Option<T>>,
}

impl<T: Send, M: Machine> Element<T, M> {
    fn new(index: usize) -> Line<Self> {
        Line::new::<M>(Place::named("element").index(index), |spot| Element {
            turn: M::Word::new(EMPTY, spot),
            job: M::Cell::new(None, spot),
        })
    }

    /// Waits until it is turn `from`, applies `change` to the content, and moves on to the turn
    /// after the next. Returns `None` if the way out was open and it was not that turn.
    fn serve<R>(
        &self,
        cpu: &M::Cpu,
        from: u64,
        way_out: &WayOut<'_, M>,
        change: impl FnOnce(&mut Option<T>) -> R,
    ) -> Option<R> {
        // Tried before the first read, which would cost an element that is ready a second transfer.
        while self.turn.compare_exchange(from, from.wrapping_add(1), Acquire, Relaxed).is_err() {
            self.turn.sleep_while(cpu, Relaxed, way_out, |turn| turn != from)?;
        }
        // SAFETY: the call that moved the turn on to an odd one is alone in the element until it
        // moves it on again below, since only an even turn is claimed. Acquire and release order
        // them.
        let result = unsafe { self.job.with_mut(change) };
        self.turn.signal(from.wrapping_add(2));
        Some(result)
    }
}

impl<T: Send, M: Machine, C: Counting<M>> JobQueue<T, M, C> {
    /// Returns a queue on machine `M` with `elements` elements. The counters must be new: each must
    /// give out 0, 1, 2 and so on.
    ///
    /// # Errors
    /// If `elements` is 0 or above 2^32.
    pub fn on_machine(elements: usize, enqueues: C, dequeues: C) -> Result<Self, ShapeError> {
        ShapeError::check_range("elements", elements, 1..=MOST_ELEMENTS)?;
        let keep =
            |id| Line::new::<M>(Place::named("kept ticket").index(id).near(id), |_| ticket());
        Ok(JobQueue {
            elements: (0..elements).map(Element::new).collect(),
            enqueues,
            dequeues,
            kept: PerCpu::new(keep),
        })
    }

    /// Returns the number of jobs that fit in.
    pub fn elements(&self) -> usize {
        self.elements.len()
    }

    /// Returns the element of a ticket, and the first turn of its lap.
    fn place(&self, ticket: u64) -> (&Element<T, M>, u64) {
        let elements = self.elements.len() as u64;
        let element = &self.elements[(ticket % elements) as usize];
        (element, (ticket / elements).wrapping_mul(TURNS))
    }

    /// Enqueues a job. Waits while its element is full.
    pub fn enqueue_on(&self, cpu: &M::Cpu, job: T) {
        let (element, lap) = self.place(self.enqueues.next_on(cpu));
        let put = element.serve(cpu, lap.wrapping_add(EMPTY), &WayOut::none(), |content| {
            *content = Some(job);
        });
        debug_assert!(put.is_some(), "there was no way out");
    }

    /// Dequeues a job. Waits until there is one in its element. Returns `None` if the way out was
    /// open and the element still empty.
    ///
    /// The ticket that it drew is then kept for the processor, and its next dequeue uses it first.
    /// A later processor with the same [id](Cpu::id) inherits it. So giving up and coming back
    /// loses nothing. But if no processor comes back, the job that gets to that element stays there
    /// until the queue is dropped, and the enqueue that comes there a lap later waits for ever. The
    /// way out is for the end, when no more jobs come, and for processors that come back.
    pub fn dequeue_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<T> {
        let kept = self.kept.get(cpu.id());
        let ticket = match kept.load(Relaxed) {
            NO_TICKET => self.dequeues.next_on(cpu),
            kept => kept - 1,
        };
        let (element, lap) = self.place(ticket);
        let job = element.serve(cpu, lap.wrapping_add(FULL), way_out, Option::take);
        let keep = if job.is_none() { ticket.wrapping_add(1) } else { NO_TICKET };
        // Only this processor uses it.
        kept.store(keep, Relaxed);
        job.flatten()
    }
}

fn ticket() -> AtomicU64 {
    AtomicU64::new(NO_TICKET)
}

impl<T: Send, C: Counting> JobQueue<T, Native, C> {
    /// Returns a queue with `elements` elements. The counters must be new.
    ///
    /// # Errors
    /// If `elements` is 0 or above 2^32.
    pub fn new(elements: usize, enqueues: C, dequeues: C) -> Result<Self, ShapeError> {
        Self::on_machine(elements, enqueues, dequeues)
    }

    /// Enqueues a job. Waits while its element is full.
    pub fn enqueue(&self, job: T) {
        self.enqueue_on(&Native::cpu(), job);
    }

    /// Dequeues a job. Waits until there is one.
    pub fn dequeue(&self) -> T {
        let job = self.dequeue_on(&Native::cpu(), &WayOut::none());
        job.expect("there is no way out")
    }
}

impl<T: Send, M: Machine, C: Counting<M>> Jobs<T, M> for JobQueue<T, M, C> {
    fn put_on(&self, cpu: &M::Cpu, job: T) {
        self.enqueue_on(cpu, job);
    }

    fn take_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<T> {
        self.dequeue_on(cpu, way_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structures::counter::{Hardware, Shape, methods};
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::thread;
    use std::time::Duration;

    /// A way out that is open from the start.
    const OPEN: WayOut<'_, Native> = WayOut { deadline: Some(0), ..WayOut::none() };

    fn hardware<T: Send>(elements: usize) -> JobQueue<T, Native, Hardware> {
        JobQueue::new(elements, Hardware::new(), Hardware::new()).unwrap()
    }

    /// A counter that gives out numbers in a given order.
    struct Scripted(Vec<u64>, AtomicUsize);

    impl Scripted {
        fn new(numbers: &[u64]) -> Self {
            Scripted(numbers.to_vec(), AtomicUsize::new(0))
        }

        fn wait_for_the_first(&self) {
            while self.1.load(Relaxed) == 0 {
                thread::yield_now();
            }
        }
    }

    impl Counting for Scripted {
        fn next_on(&self, _: &<Native as Machine>::Cpu) -> u64 {
            self.0[self.1.fetch_add(1, Relaxed)]
        }
    }

    #[test]
    fn with_any_counter_every_job_is_taken_once() {
        const JOBS: u64 = 300;
        for method in methods::<Native>() {
            for elements in [1, 3, 64] {
                let counter = || method.build(&Shape::for_processors(4)).unwrap();
                let queue = JobQueue::new(elements, counter(), counter()).unwrap();
                let queue = &queue;
                let mut taken: Vec<u64> = thread::scope(|scope| {
                    let take = || (0..JOBS).map(|_| queue.dequeue()).collect::<Vec<_>>();
                    let takers = [scope.spawn(take), scope.spawn(take)];
                    for first in [0, JOBS] {
                        scope.spawn(move || {
                            (first..first + JOBS).for_each(|job| queue.enqueue(job))
                        });
                    }
                    takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
                });
                taken.sort_unstable();
                let name = method.about.name;
                assert!(taken.iter().copied().eq(0..2 * JOBS), "{name}, {elements} elements");
            }
        }
    }

    #[test]
    fn an_element_serves_its_laps_in_order_though_the_later_one_comes_first() {
        let (enqueues, dequeues) = (Scripted::new(&[1, 0]), Scripted::new(&[1, 0]));
        let queue = JobQueue::new(1, enqueues, dequeues).unwrap();
        thread::scope(|scope| {
            let later = scope.spawn(|| queue.dequeue());
            queue.dequeues.wait_for_the_first();
            scope.spawn(|| queue.enqueue("lap 1"));
            queue.enqueues.wait_for_the_first();
            queue.enqueue("lap 0");
            assert_eq!(queue.dequeue(), "lap 0");
            assert_eq!(later.join().unwrap(), "lap 1");
        });
    }

    #[test]
    fn a_ticket_that_was_left_is_taken_up_again() {
        let queue = hardware(2);
        assert_eq!(queue.dequeue_on(&Native::cpu(), &OPEN), None);
        assert_eq!(queue.dequeue_on(&Native::cpu(), &OPEN), None);
        queue.enqueue('a');
        queue.enqueue('b');
        assert_eq!(queue.dequeue_on(&Native::cpu(), &OPEN), Some('a'));
        assert_eq!(queue.dequeue_on(&Native::cpu(), &OPEN), Some('b'));
        assert_eq!(queue.dequeue_on(&Native::cpu(), &OPEN), None);
    }

    #[test]
    fn an_enqueue_waits_for_room_and_a_dequeue_for_a_job() {
        let queue = hardware(1);
        queue.enqueue(1);
        thread::scope(|scope| {
            let second = scope.spawn(|| queue.enqueue(2));
            thread::sleep(Duration::from_millis(20));
            assert!(!second.is_finished(), "the only element is full");
            assert_eq!([queue.dequeue(), queue.dequeue()], [1, 2]);
            let third = scope.spawn(|| queue.dequeue());
            thread::sleep(Duration::from_millis(20));
            assert!(!third.is_finished(), "there is no job");
            queue.enqueue(3);
            assert_eq!(third.join().unwrap(), 3);
        });
    }

    #[test]
    fn a_counter_that_stutters_makes_callers_wait_and_nothing_worse() {
        let queue = JobQueue::new(2, Scripted::new(&[0, 1]), Scripted::new(&[0, 0, 1])).unwrap();
        queue.enqueue('a');
        queue.enqueue('b');
        assert_eq!(queue.dequeue_on(&Native::cpu(), &OPEN), Some('a'));
        assert_eq!(queue.dequeue_on(&Native::cpu(), &OPEN), None, "'a' is gone");
    }

    #[test]
    fn what_is_inside_is_dropped_once() {
        let job = Arc::new(());
        let queue = hardware(4);
        (0..4).for_each(|_| queue.enqueue(Arc::clone(&job)));
        drop(queue.dequeue());
        queue.enqueue(Arc::clone(&job));
        assert_eq!(Arc::strong_count(&job), 1 + 4);
        drop(queue);
        assert_eq!(Arc::strong_count(&job), 1);
    }

    #[test]
    fn no_element_is_refused() {
        let error = JobQueue::<(), Native, _>::new(0, Hardware::new(), Hardware::new());
        let text = format!("elements 0: must be from 1 to {MOST_ELEMENTS}");
        assert_eq!(error.unwrap_err().to_string(), text);
    }

    proptest! {
        /// With one processor that gives up and comes back it is exactly a queue.
        #[test]
        fn alone_it_is_a_queue(elements in 1_usize..5, steps in prop::collection::vec(any::<bool>(), 0..80)) {
            let queue = hardware(elements);
            let mut model = VecDeque::new();
            for (job, puts) in steps.into_iter().enumerate() {
                if puts && model.len() < elements {
                    queue.enqueue(job);
                    model.push_back(job);
                } else if !puts {
                    prop_assert_eq!(queue.dequeue_on(&Native::cpu(), &OPEN), model.pop_front());
                }
            }
        }
    }
}
