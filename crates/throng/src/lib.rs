//! Shared counters, barriers, queues and pools, made to keep their speed as the crowd of threads grows.
//!
//! A shared counter is the simplest way for threads to agree: unique ids, sequence numbers, loop
//! indices, slots of a queue. It is also the simplest hot spot: every call moves the same cache
//! line to another core. A barrier is the simplest way to wait for each other, and most of them are
//! a counter, a lock and a queue of sleepers. This crate has the known ways to spread that load, each
//! kind behind one trait, each checked in every way we know.
//!
//! # A tour
//!
//! **Count.** A counter hands out 0, 1, 2, ... and no number twice. It is shared by reference, and
//! threads may come and go:
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
//! [`Counter`] needs no tuning. While few threads are there, it is one `fetch_add`, plus a load and
//! two branches. When so many call that they stand in line, callers gather in groups by the core they
//! run on, and one of each group fetches numbers for all; but only if that is measured to be faster
//! on this machine, under this load.
//!
//! ```
//! use throng::Counter;
//!
//! let orders = Counter::builder().start_at(1000).build();
//! assert_eq!(orders.next_many(3), 1000..1003);        // several at once
//! assert_eq!(orders.stats().levels.to_string(), "one word");
//! ```
//!
//! **Choose.** If you know better, take a structure that does not change: [`counter::Hardware`] is one
//! `fetch_add`; in a [`counter::Gathering`] callers gather whether they need to or not; in a
//! [`counter::DiffractingTree`] they meet in pairs and go separate ways. `throng bench counters` (the
//! crate `throng-lab`) measures them all on your machine. The table in [`counter`] says what each
//! promises.
//!
//! ```
//! use throng::counter::Gathering;
//! use throng::counter::diffracting::{DiffractingTree, TreeShape};
//! use throng::counter::gathering::Levels;
//!
//! let groups = Gathering::new(Levels::of_heights(&[3])?);         // groups of 8 cores
//! let tree = DiffractingTree::new(&TreeShape::of_depth(3))?;      // 8 words to count on
//! assert_eq!((groups.next(), tree.next()), (0, 0));
//!
//! let error = DiffractingTree::new(&TreeShape::of_depth(60)).unwrap_err();
//! assert_eq!(error.to_string(), "depth 60: must be from 0 to 16");
//! # Ok::<(), throng::counter::ShapeError>(())
//! ```
//!
//! **Meet.** [`Barrier`] is a drop-in for the standard library's: n threads meet, round after round.
//! Handles with fixed ranks are a little faster, and notice when one of them dies:
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
//! How they meet is chosen by how many they are and which cores share a cache ([`topology`]). They
//! spin for some microseconds, then let others run, then sleep. [`barrier`] has the methods to choose
//! from.
//!
//! **Hand over.** [`Queue`] is first in, first out; [`Pool`] has no order and is much faster where threads
//! put and take; a [`channel`] is a queue with two ends, for threads and tasks; [`for_each_index`] shares out a loop:
//!
//! ```
//! use throng::{Queue, for_each_index};
//!
//! let squares = Queue::unbounded();
//! for_each_index(0..100, 4, |index| squares.push(index * index).unwrap());
//! assert_eq!(squares.drain().sum::<usize>(), 328_350);
//! ```
//!
//! **Treat all alike.** Every counter implements [`counter::Counting`], and [`counter::methods`]
//! lists them; every barrier implements [`barrier::Meeting`], and [`barrier::methods`] lists those:
//!
//! ```
//! use throng::counter::{Shape, methods};
//! use throng::machine::Native;
//!
//! for method in methods::<Native>() {
//!     let counter = method.build(&Shape::for_processors(16))?;
//!     assert_eq!(counter.next_on(&Native::cpu()), 0, "{}", method.about.name);
//! }
//! # Ok::<(), throng::counter::ShapeError>(())
//! ```
//!
//! **Go elsewhere.** Every algorithm is generic over a [`machine::Machine`]. The same source runs on
//! real threads, under the model checkers loom and shuttle (crate `throng-check`) and on simulated
//! machines with hundreds of processors (crate `throng-sim`). On real threads the generality costs
//! nothing: the instructions are those of hand-written atomics, and a test compares them.
//!
//! # Panics
//! No call of a counter, a queue or a pool panics. `wait` of a barrier panics when a member that it would wait for has
//! died, left or given up; `wait_checked` returns an error instead. Constructors of a shape that
//! cannot be built return a [`ShapeError`] that names the value and what is allowed;
//! [`Barrier::new`], [`Barrier::team`] and [`Queue::bounded`] panic with that message. [`for_each_index`]
//! passes on the panic of its function.

#[cfg(not(target_has_atomic = "64"))]
compile_error!(
    "throng needs atomic operations on 64-bit words, which this target does not have; \
     32-bit x86, ARMv7 and WebAssembly have them"
);

pub mod barrier;
pub mod channel;
pub mod counter;
pub mod lock;
pub mod machine;
pub mod pool;
mod shape_error;
pub mod topology;

pub use barrier::Barrier;
pub use counter::Counter;
pub use pool::{Pool, Queue, for_each_index};
pub use shape_error::ShapeError;

/// The README's code, compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;
