//! Which pool a run is about.

use std::fmt;
use std::sync::Arc;

use throng::pool::{JobQueue, Jobs, Pool, PoolShape, Queue, QueueShape, Rsu};
use throng_sim::Sim;

use super::Job;
use crate::error::Error;
use crate::simulated::CounterChoice;

/// How to build a pool for so many processors.
type Build = Arc<dyn Fn(usize) -> Result<Box<dyn Jobs<Job, Sim>>, Error> + Send + Sync>;

/// A pool to be built in a run.
#[derive(Clone)]
pub struct PoolChoice {
    /// As it stands in the legend.
    pub name: &'static str,
    build: Build,
}

impl fmt::Debug for PoolChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PoolChoice {
    /// Any pool.
    #[must_use]
    pub fn custom(
        name: &'static str,
        build: impl Fn(usize) -> Result<Box<dyn Jobs<Job, Sim>>, Error> + Send + Sync + 'static,
    ) -> Self {
        PoolChoice { name, build: Arc::new(build) }
    }

    /// The papers' array of so many elements, and two counters of this kind.
    #[must_use]
    pub fn on_counters(name: &'static str, counter: &CounterChoice, elements: usize) -> Self {
        let counter = counter.clone();
        Self::custom(name, move |processors| {
            let (enqueues, dequeues) = (counter.build(processors)?, counter.build(processors)?);
            let queue = JobQueue::on_machine(elements, enqueues, dequeues);
            Ok(Box::new(queue.map_err(|source| Error::Shape { method: name, source })?))
        })
    }

    /// A pool for each processor, evened out between random pairs.
    #[must_use]
    pub fn rsu() -> Self {
        Self::custom("RSU", |processors| Ok(Box::new(Rsu::on_machine(processors))))
    }

    /// The library's own queue, without a bound.
    #[must_use]
    pub fn queue() -> Self {
        const NAME: &str = "Queue";
        Self::custom(NAME, |_| {
            let queue = Queue::on_machine(QueueShape::UNBOUNDED);
            Ok(Box::new(queue.map_err(|source| Error::Shape { method: NAME, source })?))
        })
    }

    /// The library's own pool, with a leaf for each processor.
    #[must_use]
    pub fn pool() -> Self {
        const NAME: &str = "Pool";
        Self::custom(NAME, |_| {
            let pool = Pool::on_machine(&PoolShape::DEFAULT);
            Ok(Box::new(pool.map_err(|source| Error::Shape { method: NAME, source })?))
        })
    }

    /// The pool for so many processors.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn build(&self, processors: usize) -> Result<Box<dyn Jobs<Job, Sim>>, Error> {
        (self.build)(processors)
    }
}
