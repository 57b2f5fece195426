//! The counters of the papers, a file for each.

mod combining_tree;
mod combining_tree_locked;
mod counting_network;
pub mod diffracting;
mod funnel;
mod hardware;
mod locked;
pub mod reactive;
pub mod self_tuning;

pub use combining_tree::CombiningTree;
pub use combining_tree_locked::LockedCombiningTree;
pub use counting_network::{AtomicNumber, CountingNetwork, End, LockedNumber, Number, Wiring};
pub use diffracting::DiffractingTree;
pub use funnel::{Funnel, FunnelShape};
pub use hardware::Hardware;
pub use locked::Locked;
pub use reactive::ReactiveTree;
pub use self_tuning::SelfTuning;

pub use crate::ShapeError;
pub use crate::counter::method::{
    About, Consistency, Counting, Method, Progress, Registered, Shape,
};
