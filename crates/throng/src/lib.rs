//! Shared counters, barriers, queues and pools that keep their speed as the number of threads
//! grows.
//!
//! A shared counter is the simplest way for threads to agree: unique ids, sequence numbers, loop
//! indices, slots of a queue. It is also the simplest hot spot: every call moves the same cache
//! line to another core. A barrier is the simplest way for threads to wait for each other. Most
//! barriers are a counter, a lock and a queue of sleeping threads. This crate has the known ways to
//! spread that load.
//!
//! # A tour
//!
//! **Count.** A counter hands out 0, 1, 2, ... and no number twice. It is shared by reference. Any
//! thread may call it at any time:
//!
//! ```
//! use std::thread;
//! use throng::Counter;
//!
//! let tickets = Counter::new();
//! let mut drawn: Vec<u64> = thread::scope(|scope| {
//!     let threads: Vec<_> = (0..4)
//!         .map(|_| scope.spawn(|| [tickets.next(), tickets.next()]))
//!         .collect();
//!     threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
//! });
//! drawn.sort();
//! assert_eq!(drawn, [0, 1, 2, 3, 4, 5, 6, 7]);
//! ```
//!
//! [`Counter`] needs no tuning. While few threads call, a call is one `fetch_add`, plus a load and
//! two branches. Under contention, callers gather in groups by the core they run on, and one caller
//! of each group fetches numbers for all of them. The counter keeps the groups only while it
//! measures that numbers come faster with them.
//!
//! ```
//! use throng::Counter;
//!
//! let orders = Counter::builder().start_at(1000).build();
//! assert_eq!(orders.next_many(3), 1000..1003);        // several at once
//! assert_eq!(orders.stats().depth, 0);                // one word, no groups
//! ```
//!
//! **Choose.** [`structures`] has structures that do not adapt, for callers that know their load.
//! [`Hardware`](structures::counter::Hardware) is one `fetch_add`. In a
//! [`Gathering`](structures::counter::Gathering), callers always gather in groups. In a
//! [`DiffractingTree`](structures::counter::DiffractingTree), callers meet in pairs, and the two of
//! a pair take different branches. `throng bench counters` (the crate `throng-lab`) measures all
//! counters on your machine. The table in [`structures::counter`] says what each promises.
//!
//! ```
//! use throng::structures::counter::Gathering;
//! use throng::structures::counter::diffracting::{DiffractingTree, TreeShape};
//! use throng::structures::counter::gathering::Levels;
//!
//! let groups = Gathering::new(Levels::of_heights(&[3])?);         // groups of 8 cores
//! let tree = DiffractingTree::new(&TreeShape::of_depth(3))?;      // 8 words to count on
//! assert_eq!((groups.next(), tree.next()), (0, 0));
//!
//! let error = DiffractingTree::new(&TreeShape::of_depth(60)).unwrap_err();
//! assert_eq!(error.to_string(), "depth 60: must be from 0 to 16");
//! # Ok::<(), throng::structures::counter::ShapeError>(())
//! ```
//!
//! **Meet.** [`Barrier`] is a drop-in for the standard library's: n threads meet, round after
//! round. Handles with fixed ranks are a little faster, and the other threads notice when one of
//! them is dropped:
//!
//! ```
//! use std::thread;
//! use throng::Barrier;
//!
//! thread::scope(|scope| {
//!     for mut member in Barrier::team(4) {
//!         scope.spawn(move || {
//!             for _step in 0..1000 {
//!                 // compute; then, when all have:
//!                 member.wait();
//!             }
//!         });
//!     }
//! });
//! ```
//!
//! The method is chosen by the number of threads and by which cores share a cache ([`topology`]). A
//! waiting thread spins for some microseconds and then sleeps. If there are more threads than
//! cores, it yields its core in between.
//! [`structures::barrier`] has the methods to choose from.
//!
//! **Hand over.** [`Queue`] is first in, first out. [`Pool`] has no order and is much faster where
//! the same threads push and pop. A [`channel`] is a queue with two ends, for threads and tasks.
//! [`for_each_index`] shares out the indices of a loop:
//!
//! ```
//! use throng::{Queue, for_each_index};
//!
//! let squares = Queue::unbounded();
//! for_each_index(0..100, 4, |index| squares.push(index * index).unwrap());
//! assert_eq!(squares.drain().sum::<usize>(), 328_350);
//! ```
//!
//! **Run elsewhere.** Every algorithm is generic over a [`machine::Machine`]. The same source runs
//! on real threads, under the model checkers loom and shuttle (crate `throng-check`) and on
//! simulated machines with hundreds of processors (crate `throng-sim`). On real threads the
//! generality costs nothing: the instructions are those of hand-written atomics, and a test
//! compares them.
//!
//! # After a fork
//! The child of a `fork` has one thread: the thread that called `fork`. Its structures are copies,
//! so nothing that the child does reaches the parent.
//!
//! - **[Loops](loops)** start threads of the child. So does a [`Crew`](loops::Crew) of the parent.
//!   A function of a loop that forks should not return in the child. If it does, the loop panics at
//!   its end, because indices that other threads had begun are done in the parent only.
//! - **A [`Queue`]** treats calls that other threads had not finished as stopped for ever, so calls
//!   of the child return. The child has copies of the items that were inside. It does not have
//!   items that other threads were pushing or popping.
//! - **A [`Barrier`]** waits for threads that the child does not have. Make a new one.
//! - **A [`Pool`], a [`channel`], a [`Counter`] with groups** can be used if no other thread was in
//!   a call at the fork. Otherwise a call may wait for a thread that does not exist. Make a new
//!   one.
//!
//! A fork is noticed by `pthread_atfork`. The child of `vfork` may not use this library.
//!
//! # Panics
//! No call of a counter, a queue or a pool panics, except [`Queue::force_push`] on a bounded queue
//! that was not made by [`Queue::overwriting`]. `wait` of a barrier panics if a member that it
//! would wait for has been dropped, has timed out or has aborted; `wait_checked` returns an error
//! instead. Constructors of a shape that cannot be built return a [`ShapeError`] that names the
//! value and what is allowed. [`Barrier::new`], [`Barrier::team`], [`Queue::bounded`],
//! [`Queue::overwriting`] and [`channel::bounded`] panic with that message. [`for_each_index`] passes on the panic of its
//! function.

#[cfg(not(target_has_atomic = "64"))]
compile_error!(
    "throng needs atomic operations on 64-bit words, which this target does not have; \
     32-bit x86, ARMv7 and WebAssembly have them"
);

#[cfg(not(feature = "std"))]
compile_error!(
    "throng needs its feature `std`, which is on by default: remove `default-features = false`"
);

mod absent;
pub mod barrier;
pub mod channel;
mod classic;
pub mod counter;
pub mod drop_in;
mod error;
mod lock;
pub mod loops;
pub mod machine;
pub mod pool;
mod published;
pub mod queue;
mod setters;
mod shape_error;
pub mod structures;
pub mod topology;

pub use barrier::Barrier;
pub use counter::Counter;
pub use loops::for_each_index;
pub use pool::Pool;
pub use queue::Queue;
pub use shape_error::ShapeError;

/// The README's code, compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;
