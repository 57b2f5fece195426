//! Queues, pools and index distribution: how jobs get from those who have them to those who do them.
//!
//! | structure | order | idea |
//! |---|---|---|
//! | [`Queue`] | first in, first out | an array without an end and two counters |
//! | [`Pool`] | none | a stack of jobs for each thread; threads without jobs steal |
//! | [`JobQueue`] | first in, first out, as its counters are | the papers' array and two counters of any kind |
//! | [`Rsu`] | none | a pool for each processor; random pairs even out |
//! | [`for_each_index`], [`Indices`] | none | the indices of a loop, taken from a counter |
//!
//! The first four implement [`Jobs`]. [`drop_in`] has [`Queue`] under the names of `crossbeam-queue`.

pub mod drop_in;
mod error;
mod index;
mod job_queue;
pub mod queue;
mod rsu;
pub mod stealing;

pub use error::{Closed, PopError, PushError};
pub use index::{
    Indices, Share, for_each, for_each_index, for_each_mut, map_indices, reduce_indices,
};
pub use job_queue::JobQueue;
pub use queue::{Queue, QueueShape};
pub use rsu::Rsu;
pub use stealing::{Pool, PoolBuilder, PoolShape};

use crate::machine::{Machine, Native, WayOut};

/// A place to put jobs in and to take them out of, on machine `M`.
pub trait Jobs<T: Send, M: Machine = Native>: Send + Sync {
    /// Puts a job in; waits where there is no room.
    fn put_on(&self, cpu: &M::Cpu, job: T);

    /// Takes a job out; waits for one, but not longer than until the way out opens.
    fn take_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<T>;
}
