//! The pools of the papers: the common part of all queues and pools, and a file for each.

mod job_queue;
mod rsu;

pub use job_queue::JobQueue;
pub use rsu::Rsu;

use crate::machine::{Machine, Native, WayOut};

/// A place to put jobs into and to take them from, on machine `M`.
pub trait Jobs<T: Send, M: Machine = Native>: Send + Sync {
    /// Puts a job in. Waits for room if there is a bound.
    fn put_on(&self, cpu: &M::Cpu, job: T);

    /// Takes a job out. Waits for one, but not longer than until the way out opens. Returns `None`
    /// if it opened first.
    fn take_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<T>;
}
