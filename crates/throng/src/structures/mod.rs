//! Every structure, generic over the [machine](crate::machine) that it runs on: those of the
//! papers, and those behind the defaults.
//!
//! A program that wants a counter, a barrier, a queue or a pool uses [`Counter`](crate::Counter),
//! [`Barrier`](crate::Barrier), [`Queue`](crate::Queue) or [`Pool`](crate::Pool). This module has
//! the structures behind them and the alternatives, for programs that know their load and for
//! study.

pub mod barrier;
pub mod counter;
pub mod pool;

/// The two locks that the papers' counters are built on.
pub mod lock {
    pub use crate::lock::*;
}
