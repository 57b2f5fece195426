//! Queues, pools and index distribution: passing jobs from producers to consumers.
//!
//! | structure | order | idea |
//! |---|---|---|
//! | [`Queue`] | first in, first out | a ring and two ticket words |
//! | [`Pool`] | none | a stack of jobs for each thread; threads without jobs steal |
//! | [`JobQueue`] | first in, first out, if its counters are linearizable | the papers' array and two counters of any kind |
//! | [`Rsu`] | none | Rudolph, Slivkin-Allalouf and Upfal: a pool for each processor; random pairs balance their load |
//! | [`for_each_index`](crate::for_each_index), [`Indices`] | none | the indices of a loop, taken from a counter |
//!
//! The first four implement [`Jobs`]. [`drop_in`](crate::drop_in) has the queue under the names of `crossbeam-queue` and
//! `concurrent-queue`.

pub use crate::classic::pool::{JobQueue, Jobs, Rsu};
pub use crate::error::{Closed, PopError, PushError};
pub use crate::loops::generic::{Indices, Share};
pub use crate::pool::generic::{Pool, PoolShape};
pub use crate::queue::generic::{Queue, QueueShape};
