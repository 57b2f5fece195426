//! Queues, pools and index distribution: how jobs get from those who have them to those who do them.
//!
//! | structure | order | idea |
//! |---|---|---|
//! | [`Queue`] | first in, first out | an array without an end and two counters |
//! | [`for_each_index`], [`Indices`] | none | the indices of a loop, taken from a counter |
//! | [`JobQueue`] | first in, first out, as its counters are | the papers' array and two counters of any kind |
//! | [`Rsu`] | none | a pool for each processor; random pairs even out |
//! | [`Pool`] | none | a queue for each core, and a tree in which putters and takers meet |
//!
//! Every structure of the first four implements [`Jobs`].

mod error;
mod index;
mod job_queue;
mod queue;
mod rsu;

mod tree;
pub use error::{Closed, PopError, PushError};
pub use index::{Indices, Share, for_each_index, map_indices};
pub use job_queue::JobQueue;
pub use queue::{Drain, Iter, Queue, QueueShape};
pub use rsu::Rsu;
pub use tree::{Drain, Pool, PoolBuilder, PoolShape};

use crate::machine::{Machine, Native, WayOut};

/// A place to put jobs in and to take them out of, on machine `M`.
pub trait Jobs<T: Send, M: Machine = Native>: Send + Sync {
    /// Puts a job in; waits where there is no room.
    fn put_on(&self, cpu: &M::Cpu, job: T);

    /// Takes a job out; waits for one, but not longer than until the way out opens.
    fn take_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<T>;
}
