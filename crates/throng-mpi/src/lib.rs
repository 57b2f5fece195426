//! Counters and barriers over the ranks of an MPI communicator.

#![deny(unsafe_code)]

mod barrier;
mod counter;
mod counting;
mod engine;
mod error;
mod host;
#[expect(unsafe_code, reason = "calls the C functions of MPI")]
mod link;
mod meeting;
mod options;
mod packet;
mod placement;
mod rest;
mod shape;
mod watch;

pub use barrier::{Barrier, BarrierKind};
pub use counter::Counter;
pub use error::Error;
pub use options::Options;
pub use shape::Shape;
