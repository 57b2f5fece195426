//! The job pool of a run.

use std::fmt;
use std::sync::Arc;

use throng::structures::pool::{JobQueue, Jobs, Pool, PoolShape, Queue, QueueShape, Rsu};
use throng_sim::Sim;

use super::Job;
use crate::error::Error;
use crate::workloads::CounterChoice;

/// Builds a pool for a number of processors.
type Build = Arc<dyn Fn(usize) -> Result<Box<dyn Jobs<Job, Sim>>, Error> + Send + Sync>;

/// A pool to be built in a run.
#[derive(Clone)]
pub struct PoolChoice {
    /// The name in the legend.
    pub name: &'static str,
    build: Build,
}

impl fmt::Debug for PoolChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PoolChoice {
    /// Returns a pool built by `build`.
    pub fn custom(
        name: &'static str,
        build: impl Fn(usize) -> Result<Box<dyn Jobs<Job, Sim>>, Error> + Send + Sync + 'static,
    ) -> Self {
        PoolChoice { name, build: Arc::new(build) }
    }

    /// Returns the papers' pool: an array of `elements` elements and two counters of this kind.
    pub fn on_counters(name: &'static str, counter: &CounterChoice, elements: usize) -> Self {
        let counter = counter.clone();
        Self::custom(name, move |processors| {
            let (enqueues, dequeues) = (counter.build(processors)?, counter.build(processors)?);
            let queue = JobQueue::on_machine(elements, enqueues, dequeues);
            Ok(Box::new(queue.map_err(|source| Error::Shape { method: name, source })?))
        })
    }

    /// Returns a pool with a queue for each processor, balanced between random pairs.
    pub fn rsu() -> Self {
        Self::custom("RSU", |processors| Ok(Box::new(Rsu::on_machine(processors))))
    }

    /// Returns the library's own queue, unbounded.
    pub fn queue() -> Self {
        const NAME: &str = "Queue";
        Self::custom(NAME, |_| {
            let queue = Queue::on_machine(QueueShape::UNBOUNDED);
            Ok(Box::new(queue.map_err(|source| Error::Shape { method: NAME, source })?))
        })
    }

    /// Returns the library's own pool, with a leaf for each processor.
    pub fn pool() -> Self {
        const NAME: &str = "Pool";
        Self::custom(NAME, |_| {
            let pool = Pool::on_machine(&PoolShape::DEFAULT);
            Ok(Box::new(pool.map_err(|source| Error::Shape { method: NAME, source })?))
        })
    }

    /// Builds the pool for `processors` processors.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn build(&self, processors: usize) -> Result<Box<dyn Jobs<Job, Sim>>, Error> {
        (self.build)(processors)
    }
}
