//! One node of a combining tree with a lock, above which there is one word.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use throng::machine::{Cpu, Line, Machine, Place, Word};
use throng::structures::counter::{
    About, Consistency, Counting, Method, Progress, Shape, ShapeError,
};

/// As it should be.
pub(crate) const AS_IT_SHOULD: u8 = 0;
/// The first of a node does not wait for its second's request.
pub(crate) const COMBINES_EARLY: u8 = 1;

const FREE: u64 = 0;
const COMBINE: u64 = 1;
const RESULT: u64 = 2;

#[derive(Debug)]
pub(crate) struct Combining<M: Machine, const FAULT: u8> {
    node: Line<Node<M>>,
    total: Line<M::Word>,
}

#[derive(Debug)]
struct Node<M: Machine> {
    lock: M::Word,
    status: M::Word,
    waits: M::Word,
    second: M::Word,
    result: M::Word,
}

impl<M: Machine> Node<M> {
    fn acquire(&self, cpu: &M::Cpu) {
        let mut round = 0;
        while self.lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            cpu.retry(round);
            round += 1;
        }
    }

    fn release(&self) {
        self.lock.store(0, Release);
    }

    /// Becomes the first (true) or the second (false), with the lock.
    fn reserve(&self, cpu: &M::Cpu) -> bool {
        loop {
            self.acquire(cpu);
            match (self.status.load(Relaxed), self.waits.load(Relaxed)) {
                (FREE, _) => return true,
                (COMBINE, 0) => return false,
                _ => self.release(),
            }
            self.waits.wait_while(cpu, Relaxed, |waits| waits == 1);
        }
    }
}

impl<M: Machine, const FAULT: u8> Counting<M> for Combining<M, FAULT> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        let node = &self.node;
        if node.reserve(cpu) {
            node.status.store(COMBINE, Relaxed);
            node.release();
            node.acquire(cpu);
            let value = self.total.fetch_add(1 + node.second.load(Relaxed), AcqRel);
            if node.waits.load(Relaxed) == 1 {
                node.result.store(value + 1, Relaxed);
                node.status.store(RESULT, Relaxed);
            } else {
                node.status.store(FREE, Relaxed);
            }
            node.release();
            return value;
        }
        node.waits.store(1, Relaxed);
        if FAULT == COMBINES_EARLY {
            // BROKEN: the lock should be kept until the request is written.
            node.release();
            node.acquire(cpu);
        }
        node.second.store(1, Relaxed);
        node.release();
        node.status.wait_while(cpu, Relaxed, |status| status == COMBINE);
        node.acquire(cpu);
        let value = node.result.load(Relaxed);
        node.waits.store(0, Relaxed);
        node.second.store(0, Relaxed);
        node.status.store(FREE, Relaxed);
        node.release();
        value
    }
}

impl<M: Machine, const FAULT: u8> Method<M> for Combining<M, FAULT> {
    const ABOUT: About = About::new(
        if FAULT == AS_IT_SHOULD { "combines" } else { "combines-early" },
        "",
        "",
        Consistency::Linearizable,
        Progress::Blocking,
    );

    fn build(_shape: &Shape) -> Result<Self, ShapeError> {
        let node = |spot: &M::Spot| {
            let [lock, status, waits, second, result] =
                std::array::from_fn(|_| M::Word::new(0, spot));
            Node { lock, status, waits, second, result }
        };
        Ok(Combining {
            node: Line::new::<M>(Place::named("combining node"), node),
            total: Line::word::<M>(0, Place::named("total")),
        })
    }
}
