//! The machine, its words and cells, and its processors, as the machine contract requires them.

mod cell;
mod word;

use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;

use throng::machine::{Cpu, Machine, Place, SplitMix64};

use crate::random::{Purpose, random};
use crate::report::MemoryReport;
use crate::turn::{self, LineAddress};

pub use cell::SimCell;
pub use word::{POLL_CYCLES, SimWord};

/// The simulated machine; [`Simulation`](crate::Simulation) runs it.
#[derive(Clone, Copy, Debug)]
pub struct Sim;

/// A line of simulated memory.
#[derive(Debug)]
pub struct SimSpot(pub(crate) LineAddress);

// SAFETY: one processor at a time runs, so operations are atomic and in order. Waits end when they
// may, except in a processor that is taken apart. Processors are numbered.
#[allow(unsafe_code)]
unsafe impl Machine for Sim {
    type Word = SimWord;
    type Cell<T: Send> = SimCell<T>;
    type Cpu = SimCpu;
    type Spot = SimSpot;

    fn spot(place: Place) -> SimSpot {
        SimSpot(LineAddress::new(place))
    }

    /// Does nothing: memory is sequentially consistent.
    fn fence(_order: Ordering) {}
}

/// A simulated processor. Each body of a simulation gets one.
#[derive(Debug)]
pub struct SimCpu {
    id: usize,
    random: Cell<SplitMix64>,
    /// The last value of each kind of note; there are few kinds.
    noted: RefCell<Vec<(&'static str, u64)>>,
}

/// The number of rounds after which [`Cpu::retry`] panics outside a simulation.
const RETRIES_OUTSIDE: u32 = 1_000_000;

/// The round from which on [`Cpu::retry`] costs the same.
const RETRY_ROUNDS: u32 = 16;

impl SimCpu {
    pub(crate) fn new(id: usize, seed: u64) -> Self {
        let random = Cell::new(random(seed, Purpose::Processor(id)));
        SimCpu { id, random, noted: RefCell::default() }
    }

    /// Returns the value that this processor last [noted](Cpu::note) about `what`, or `None`. After
    /// a call of a counter that is a tree, `depth` is the depth of that call.
    ///
    /// ```
    /// use throng::machine::Cpu;
    /// use throng_sim::SimCpu;
    ///
    /// let cpu = SimCpu::outside(0);
    /// cpu.note("depth", 3);
    /// cpu.note("depth", 2);
    /// assert_eq!((cpu.last_noted("depth"), cpu.last_noted("toggled")), (Some(2), None));
    /// ```
    #[must_use]
    pub fn last_noted(&self, what: &str) -> Option<u64> {
        self.noted.borrow().iter().find(|noted| noted.0 == what).map(|noted| noted.1)
    }

    /// Returns the counts of the memory so far, like [`Outcome::memory`](crate::Outcome::memory) at
    /// the end. It is for watching a run in progress. Free, and changes nothing.
    ///
    /// ```
    /// use throng::structures::counter::{Counting, Hardware};
    /// use throng_sim::{Sim, Simulation};
    ///
    /// let outcome = Simulation::new().run(
    ///     || Hardware::<Sim>::on_machine(),
    ///     |counter, cpu| {
    ///         counter.next_on(cpu);
    ///         cpu.memory_so_far().total.accesses()
    ///     },
    /// )?;
    /// assert_eq!((outcome.results[0], outcome.accesses), (Some(1), 1));
    /// # Ok::<(), throng_sim::SimError>(())
    /// ```
    #[must_use]
    pub fn memory_so_far(&self) -> MemoryReport {
        turn::memory_so_far()
    }

    /// Returns the result of `look`, which takes no time, costs nothing and is not recorded, as if
    /// it ran before the simulation. It is for watching a run in progress. A wait in `look` that
    /// would block panics.
    ///
    /// ```
    /// use throng::structures::counter::Counter;
    /// use throng::structures::counter::Counting;
    /// use throng_sim::{Sim, Simulation};
    ///
    /// let outcome = Simulation::new().run(
    ///     || Counter::builder().on_machine::<Sim>(),
    ///     |counter, cpu| {
    ///         counter.next_on(cpu);
    ///         let before = cpu.memory_so_far();
    ///         let next = cpu.aside(|| counter.stats().next);
    ///         (next, before == cpu.memory_so_far())
    ///     },
    /// )?;
    /// assert_eq!(outcome.results[0], Some((1, true)));
    /// # Ok::<(), throng_sim::SimError>(())
    /// ```
    pub fn aside<T>(&self, look: impl FnOnce() -> T) -> T {
        turn::aside(look)
    }

    /// Returns a processor for use before or after the run: to fill a structure in the setup, or to
    /// look at it afterwards. All its operations take effect at once.
    ///
    /// ```
    /// use throng::structures::counter::{Counting, Hardware};
    /// use throng_sim::{Sim, SimCpu, Simulation};
    ///
    /// let outcome = Simulation::new().processors(5).run(
    ///     || Hardware::<Sim>::on_machine(),
    ///     |counter, cpu| counter.next_on(cpu),
    /// )?;
    /// assert_eq!(outcome.shared.next_on(&SimCpu::outside(0)), 5);
    /// # Ok::<(), throng_sim::SimError>(())
    /// ```
    #[must_use]
    pub fn outside(id: usize) -> Self {
        Self::new(id, 0)
    }
}

impl Cpu for SimCpu {
    #[inline]
    fn id(&self) -> usize {
        self.id
    }

    #[inline]
    fn random(&self) -> u64 {
        let mut random = self.random.get();
        let bits = random.draw();
        self.random.set(random);
        bits
    }

    /// Lets `times` cycles pass.
    fn pause(&self, times: u32) {
        turn::pass(times.into());
    }

    /// Lets a few cycles pass, and a few more in later rounds.
    ///
    /// # Panics
    /// Outside a simulation in round 1 000 000: no other processor runs there that could end the
    /// loop.
    fn retry(&self, round: u32) {
        let cycles = POLL_CYCLES + u64::from(round.min(RETRY_ROUNDS));
        let time_passed = turn::pass(cycles);
        assert!(
            time_passed || round < RETRIES_OUTSIDE,
            "a loop outside a simulation has failed {round} times: no other processor runs \
             that could end it"
        );
    }

    fn clock(&self) -> u64 {
        turn::step();
        turn::now()
    }

    /// Counts the note in [`Outcome::notes`](crate::Outcome::notes), with the time. Takes no time
    /// on the simulated machine.
    fn note(&self, what: &'static str, value: u64) {
        turn::note(what, value);
        let mut noted = self.noted.borrow_mut();
        match noted.iter_mut().find(|noted| noted.0 == what) {
            Some(noted) => noted.1 = value,
            None => noted.push((what, value)),
        }
    }
}
