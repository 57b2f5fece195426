//! What all counters have in common: the trait [`Counting`], the description of a method, and the
//! parameters to build one.

use std::fmt;

use crate::ShapeError;
use crate::lock::MOST_BACKOFF;
use crate::machine::{Machine, Native};
use crate::setters::setters;

/// A shared counter on machine `M`.
///
/// ```
/// use throng::structures::counter::{Counting, Hardware};
/// use throng::machine::Native;
///
/// let counter = Hardware::new();
/// let mut values = [0; 3];
/// counter.fill_on(&Native::cpu(), &mut values);
/// assert_eq!(values, [0, 1, 2]);
/// ```
pub trait Counting<M: Machine = Native>: Send + Sync {
    /// Returns the next number, on processor `cpu`.
    fn next_on(&self, cpu: &M::Cpu) -> u64;

    /// Fills `values` by one call of [`next_on`](Counting::next_on) each. This makes many calls
    /// behind one dynamic dispatch.
    fn fill_on(&self, cpu: &M::Cpu, values: &mut [u64]) {
        for value in values {
            *value = self.next_on(cpu);
        }
    }
}

impl<M: Machine, C: Counting<M> + ?Sized> Counting<M> for Box<C> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        (**self).next_on(cpu)
    }

    fn fill_on(&self, cpu: &M::Cpu, values: &mut [u64]) {
        (**self).fill_on(cpu, values);
    }
}

/// What a counter promises about the order of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    /// A call that starts after another has returned gets a larger number.
    Linearizable,
    /// Whenever no call is in progress, the numbers given are exactly 0..m-1.
    Quiescent,
}

/// What a counter promises if some processors stop for ever in the middle of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Every other call still finishes, in a bounded number of its own steps. (A thread's first
    /// call also takes its id from a shared list, and may allocate memory.)
    WaitFree,
    /// Some other call still finishes, whatever happens to the rest.
    LockFree,
    /// Other calls may wait for ever.
    Blocking,
}

impl fmt::Display for Consistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Consistency::Linearizable => "linearizable",
            Consistency::Quiescent => "quiescently consistent",
        })
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Progress::WaitFree => "wait-free",
            Progress::LockFree => "lock-free",
            Progress::Blocking => "blocking",
        })
    }
}

/// The description of a method.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct About {
    /// A short name, as typed on a command line.
    pub name: &'static str,
    /// One line that says how it works.
    pub summary: &'static str,
    /// The paper that it comes from.
    pub paper: &'static str,
    /// What it promises about order.
    pub consistency: Consistency,
    /// What it promises if a processor stops.
    pub progress: Progress,
}

impl About {
    /// Returns the description of a method.
    #[must_use]
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        paper: &'static str,
        consistency: Consistency,
        progress: Progress,
    ) -> Self {
        About { name, summary, paper, consistency, progress }
    }
}

/// The parameters of a counter.
///
/// ```
/// use throng::structures::counter::Shape;
/// let shape = Shape::for_processors(16).width(Some(8));
/// assert_eq!(shape.processors, 16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// The number of processors that are expected at once. More may come.
    pub processors: usize,
    /// The number of words that the numbers come from, if the method has several: leaves of a tree,
    /// wires of a network, aggregators of a funnel. With `None` the method chooses for
    /// `processors`.
    pub width: Option<usize>,
    /// The largest number of polls of a processor for a partner, if the method has partners.
    pub spin: u32,
    /// The longest time for which a processor idles between two looks at a lock, in units of
    /// [`Cpu::pause`](crate::machine::Cpu::pause), if the method has locks.
    pub backoff: u32,
    /// The number of past batches in one bank, if the method keeps them.
    pub bank: usize,
    /// The number of calls in a row that must find a counter too small or too large before it
    /// changes its shape, if it can. 0: it changes all the time, as far as it can; for checks.
    pub patience: u32,
}

impl Shape {
    /// Returns the shape for `processors` processors, all else as the papers advise.
    #[must_use]
    pub const fn for_processors(processors: usize) -> Self {
        Shape {
            processors,
            width: None,
            spin: 128,
            backoff: MOST_BACKOFF,
            bank: 128,
            patience: PAPER_PATIENCE,
        }
    }

    setters!(const fn width: Option<usize>, spin: u32, backoff: u32, bank: usize, patience: u32);

    /// Returns the smallest shape of this width, for exhaustive checks.
    #[doc(hidden)]
    #[must_use]
    pub const fn tiny(processors: usize, width: usize) -> Self {
        Shape { processors, width: Some(width), spin: 1, backoff: 1, bank: 1, patience: 0 }
    }

    /// Returns the depth of a tree of this width. By default it has a leaf for every eight
    /// processors, as in DT96, and a depth of at most `deepest`.
    pub(crate) fn tree_depth(&self, deepest: u32) -> Result<u32, ShapeError> {
        let usual = || (self.processors / 8).next_power_of_two().clamp(2, 1 << deepest);
        ShapeError::check_width(self.width.unwrap_or_else(usual))
    }
}

/// The depth of the deepest tree: 65 536 leaves.
pub(crate) const MAX_DEPTH: u32 = ShapeError::MAX_DEPTH;

/// The number of calls in a row that must agree before a reactive tree changes: the best value of
/// RDT97 section 5.2.1.
pub(crate) const PAPER_PATIENCE: u32 = 80;

/// A counting method that can be built for a [`Shape`].
pub trait Method<M: Machine>: Counting<M> + Sized + 'static {
    /// The description of the method.
    const ABOUT: About;

    /// Builds the counter of this method for `shape`.
    ///
    /// # Errors
    /// If the method cannot build this shape.
    fn build(shape: &Shape) -> Result<Self, ShapeError>;
}

/// Builds a counter of a method that is known at run time.
type Build<M> = fn(&Shape) -> Result<Box<dyn Counting<M>>, ShapeError>;

/// A method in the list: its description, and how to build it.
#[doc(hidden)]
pub struct Registered<M: Machine> {
    /// The description of the method.
    pub about: About,
    build: Build<M>,
}

// Derived implementations would require the machine to be `Copy`, too.
impl<M: Machine> Copy for Registered<M> {}

impl<M: Machine> Clone for Registered<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine> Registered<M> {
    /// Returns the entry of method `C`.
    #[must_use]
    pub fn of<C: Method<M>>() -> Self {
        Registered {
            about: C::ABOUT,
            build: |shape| C::build(shape).map(|counter| Box::new(counter) as Box<dyn Counting<M>>),
        }
    }

    /// Builds a counter of this method.
    ///
    /// # Errors
    /// If the method cannot build this shape.
    pub fn build(&self, shape: &Shape) -> Result<Box<dyn Counting<M>>, ShapeError> {
        (self.build)(shape)
    }
}

impl<M: Machine> fmt::Debug for Registered<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.about.fmt(f)
    }
}
