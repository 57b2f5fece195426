//! A simulated machine: any algorithm of [`throng`], on hundreds of processors, in one thread.
//!
//! [`Sim`] implements the [machine contract](throng::machine). A virtual processor is a coroutine.
//! Every access to shared memory costs simulated cycles, and the processor that is earliest in
//! simulated time runs next. Nothing else decides, so the same seed gives the same run, bit for
//! bit: every value, every time, every order. That makes rare interleavings repeatable, lets one
//! laptop simulate machines of thousands of processors, and lets processors be delayed, stalled,
//! preempted or halted at any chosen access or time ([`Faults`]). A [`MachineSpec`] gives the cost
//! of an access: presets of known machines, a TOML file, or the ideal machine used here:
//!
//! ```
//! use throng::structures::counter::{Counting, Hardware};
//! use throng_sim::{End, Sim, Simulation};
//!
//! let outcome = Simulation::new()
//!     .processors(256)
//!     .access_cycles(10)
//!     .run(
//!         || Hardware::<Sim>::on_machine(),      // made once
//!         |counter, cpu| counter.next_on(cpu),   // run by every processor
//!     )?;
//!
//! assert_eq!(outcome.end, End::Finished);
//! // Every access goes to the one word, and a line serves one access at a time.
//! assert_eq!(outcome.cycles, 256 * 10);
//! let mut numbers: Vec<u64> = outcome.results.into_iter().flatten().collect();
//! numbers.sort();
//! assert!(numbers.into_iter().eq(0..256));
//! # Ok::<(), throng_sim::SimError>(())
//! ```
//!
//! # The rules of this machine
//!
//! - **Time.** Computing costs nothing except a few instructions that the machine charges with each
//!   shared access. [`Cpu::pause`] costs a cycle a unit, [`Cpu::retry`] a few cycles;
//!   [`Cpu::clock`] is free. On the ideal machine an access costs [`access_cycles`], and accesses
//!   to one line are served one at a time, in the order in which they were issued. Other machines
//!   have caches, homes, buses, networks: [`spec`] lists the parts, and `src/memory` has a file for
//!   each kind with its rules.
//! - **Order.** An access takes effect at the moment it completes. Events of the same cycle happen
//!   in an order that the seed decides, another one in each cycle: that is the only tie rule. A
//!   processor whose accesses all hit
//!   its cache is simulated a few cycles ahead of the others, as long as none of them can see it.
//!   That is faster, and changes no result.
//! - **Memory is sequentially consistent.** Orderings are ignored, and a fence does nothing and
//!   costs nothing. Errors of ordering are for the model checkers to find.
//! - **Lines.** Words made on one line move together: a processor that writes one of them takes
//!   away the others' copies of all (false sharing).
//! - **Waiting.** A processor in [`Word::wait_while`] looks once, then sleeps, at no cost, until a
//!   writer takes away its copy of the line (whatever the value), and then pays for a new look.
//!   [`Word::spin_while`] does the same until its polls, [`POLL_CYCLES`] each, have passed. On a
//!   machine without copies both look again every [`POLL_CYCLES`], and each look costs.
//! - **Outside.** Before and after the run, and while a processor unwinds from a panic or from
//!   having been halted, operations act at once and cost nothing. No other processor is running
//!   there. A wait that would block panics, or, while unwinding, returns the value that it saw.
//!
//! Every run counts accesses and copies twice, where they begin and where they end. It panics if
//! the two differ: then the simulator is wrong, not the algorithm.
//!
//! Words have numbers, 0, 1, 2, ... in the order in which they were made, so that two runs can be
//! compared. A word belongs to the run in which it was made: make it in the setup or in the body.
//!
//! Several threads can each run simulations at the same time. A simulation inside another is
//! refused.
//!
//! [`access_cycles`]: Simulation::access_cycles
//! [`Cpu::pause`]: throng::machine::Cpu::pause
//! [`Cpu::retry`]: throng::machine::Cpu::retry
//! [`Cpu::clock`]: throng::machine::Cpu::clock
//! [`Word::wait_while`]: throng::machine::Word::wait_while
//! [`Word::spin_while`]: throng::machine::Word::spin_while

#![deny(unsafe_code)]

mod coroutine;
mod engine;
mod error;
mod faults;
mod machine;
mod memory;
pub mod network;
mod notes;
mod outcome;
mod queue;
mod random;
mod report;
mod simulation;
mod sleepers;
pub mod spec;
mod trace;
mod turn;

pub use error::SimError;
pub use faults::{Faults, ScriptError};
pub use machine::{POLL_CYCLES, Sim, SimCell, SimCpu, SimSpot, SimWord};
pub use notes::{Note, Notes, Stretch};
pub use outcome::{End, Outcome, Waiting};
pub use report::{MemoryReport, Traffic};
pub use simulation::Simulation;
pub use spec::{MachineSpec, SpecError};
pub use trace::{Access, Operation};
