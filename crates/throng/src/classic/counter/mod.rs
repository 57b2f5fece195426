//! The counters of the papers: their common part, and a file for each.

mod combining_tree;
mod combining_tree_locked;
mod counting_network;
pub mod diffracting;
mod funnel;
mod hardware;
mod locked;
mod method;
pub mod reactive;
pub mod self_tuning;

pub use combining_tree::CombiningTree;
pub use combining_tree_locked::LockedCombiningTree;
pub use counting_network::{AtomicNumber, CountingNetwork, End, LockedNumber, Number, Wiring};
pub use diffracting::DiffractingTree;
pub use funnel::{Funnel, FunnelShape};
pub use hardware::Hardware;
pub use locked::Locked;
pub use method::{About, Consistency, Method, Progress, Registered, Shape};
pub use reactive::ReactiveTree;
pub use self_tuning::SelfTuning;

pub use crate::ShapeError;
use crate::machine::{Machine, Native};

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
