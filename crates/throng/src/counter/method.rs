//! The list of counting methods, so that one line makes a method known to every check, benchmark
//! and listing.

use std::fmt;

use super::diffracting::*;
use super::reactive::Policy;
use super::*;
use crate::ShapeError;
use crate::lock::{BackoffLock, MOST_BACKOFF, McsLock};
use crate::machine::Machine;

/// What a counter promises about the order of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    /// A call that starts after another has returned gets a larger number.
    Linearizable,
    /// Whenever no call is in progress, the numbers given are exactly 0..m-1.
    Quiescent,
}

/// What a counter promises when some processors stop for ever in the middle of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Every other call still finishes, in a bounded number of its own steps. (A thread's first
    /// call also takes its id from a shared list, and may allocate memory.)
    WaitFree,
    /// Some other call still finishes, whatever becomes of the rest.
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

/// What a method says of itself.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// A short name, as typed on a command line.
    pub name: &'static str,
    /// One line: how it works.
    pub summary: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// What it promises about order.
    pub consistency: Consistency,
    /// What it promises when a processor stops.
    pub progress: Progress,
}

/// How large a counter should be.
///
/// ```
/// use throng::counter::Shape;
/// let shape = Shape { width: Some(8), ..Shape::for_processors(16) };
/// assert_eq!(shape.processors, 16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many processors are expected at once. More may come.
    pub processors: usize,
    /// How many words the numbers come from, where the method has several: leaves of a tree,
    /// wires of a network, aggregators of a funnel. `None`: the method chooses for `processors`.
    pub width: Option<usize>,
    /// How many times a processor looks for a partner, at most, where it does.
    pub spin: u32,
    /// How long a processor idles between two looks at a lock, at most, in units of
    /// [`Cpu::pause`](crate::machine::Cpu::pause), where it does.
    pub backoff: u32,
    /// How many past batches are kept in one piece, where the method keeps them.
    pub bank: usize,
    /// How many calls in a row must find a counter too small or too large before it changes its
    /// shape, where it does. 0: it does all the time, as far as it can; for checks.
    pub patience: u32,
}

impl Shape {
    /// The shape for so many processors, all else as the papers advise.
    #[must_use]
    pub const fn for_processors(processors: usize) -> Self {
        Shape {
            processors,
            width: None,
            spin: 128,
            backoff: MOST_BACKOFF,
            bank: 128,
            patience: Policy::PAPER.run,
        }
    }

    /// The smallest shape of this width: what exhaustive checks use.
    #[must_use]
    pub const fn tiny(processors: usize, width: usize) -> Self {
        Shape { processors, width: Some(width), spin: 1, backoff: 1, bank: 1, patience: 0 }
    }

    /// The depth of a tree of this width; where none is said, of one with a leaf for every eight
    /// processors, as in DT96, and at most `deepest`.
    pub(super) fn tree_depth(&self, deepest: u32) -> Result<u32, ShapeError> {
        let usual = || (self.processors / 8).next_power_of_two().clamp(2, 1 << deepest);
        ShapeError::check_width(self.width.unwrap_or_else(usual))
    }
}

/// The deepest tree that can be built: 65 536 leaves.
pub(crate) const MAX_DEPTH: u32 = 16;

/// A counting method that can be built for a [`Shape`].
pub trait Method<M: Machine>: Counting<M> + Sized + 'static {
    /// What the method says of itself.
    const ABOUT: About;

    /// The counter of this method for `shape`.
    ///
    /// # Errors
    /// When the shape asks for something the method does not have.
    fn build(shape: &Shape) -> Result<Self, ShapeError>;
}

/// Builds a counter whose method has been forgotten.
type Build<M> = fn(&Shape) -> Result<Box<dyn Counting<M>>, ShapeError>;

/// A method in the list: what it says of itself, and how to build it.
pub struct Registered<M: Machine> {
    /// What the method says of itself.
    pub about: About,
    build: Build<M>,
}

// Derived, these would ask the machine to be `Copy` too.
impl<M: Machine> Copy for Registered<M> {}

impl<M: Machine> Clone for Registered<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine> Registered<M> {
    /// The entry of method `C`.
    #[must_use]
    pub fn of<C: Method<M>>() -> Self {
        Registered {
            about: C::ABOUT,
            build: |shape| C::build(shape).map(|counter| Box::new(counter) as Box<dyn Counting<M>>),
        }
    }

    /// A counter of this method.
    ///
    /// # Errors
    /// When the shape asks for something the method does not have.
    pub fn build(&self, shape: &Shape) -> Result<Box<dyn Counting<M>>, ShapeError> {
        (self.build)(shape)
    }
}

impl<M: Machine> fmt::Debug for Registered<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.about.fmt(f)
    }
}

/// Every counting method there is.
///
/// A method in this list is checked on real threads, under loom, under shuttle and on the
/// simulator, measured by `throng bench counters` and shown by `throng list`.
///
/// ```
/// use throng::counter::{Shape, methods};
/// use throng::machine::Native;
///
/// for method in methods::<Native>() {
///     let counter = method.build(&Shape::for_processors(4)).unwrap();
///     assert_eq!(counter.next_on(&Native::cpu()), 0, "{}", method.about.name);
/// }
/// ```
#[must_use]
pub fn methods<M: Machine>() -> Vec<Registered<M>> {
    vec![
        Registered::of::<Counter<M>>(),
        Registered::of::<Hardware<M>>(),
        Registered::of::<Locked<M, BackoffLock<M>>>(),
        Registered::of::<Locked<M, McsLock<M>>>(),
        Registered::of::<CombiningTree<M>>(),
        Registered::of::<CountingNetwork<M>>(),
        Registered::of::<CountingNetwork<M, LockedNumber<M>>>(),
        Registered::of::<DiffractingTree<M, Toggle<M>>>(),
        Registered::of::<DiffractingTree<M, Original<M>>>(),
        Registered::of::<DiffractingTree<M, Adaptive<M>>>(),
        Registered::of::<DiffractingTree<M, SecondChance<M>>>(),
        Registered::of::<DiffractingTree<M, StarvationFree<M>>>(),
        Registered::of::<DiffractingTree<M, WaitFree<M>>>(),
        Registered::of::<ReactiveTree<M>>(),
        Registered::of::<SelfTuning<M>>(),
        Registered::of::<SelfTuning<M, StarvationFree<M>>>(),
        Registered::of::<Funnel<M>>(),
        Registered::of::<Gathering<M>>(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_can_be_typed() {
        let mut seen = HashSet::new();
        for method in methods::<Native>() {
            let About { name, summary, paper, .. } = method.about;
            assert!(seen.insert(name), "{name} is listed twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
            assert!(!summary.is_empty() && !paper.is_empty());
        }
    }
}
