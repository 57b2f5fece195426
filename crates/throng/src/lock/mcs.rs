//! The queue lock of Mellor-Crummey and Scott (TOCS 1991; DT96 section 3.3.1 "MCS").
//!
//! Waiting processors form a list. Each spins on a flag on a line in its own memory until the one
//! before it hands the lock over. So a hand-over costs one transfer of one line, however many
//! processors wait.
//!
//! ```text
//!   tail ───────────────────────────┐
//!   node[2] (holds) ──next──> node[7] (waits) ──next──> node[1] (waits)
//! ```
//!
//! With more threads than cores, every hand-over may have to wait until the next in the queue is
//! given a core. That is the price of fairness.
//!
//! Differs from the paper: nodes are found by processor id instead of being passed by pointer, so
//! no pointer can dangle. A processor needs one node because it can wait for a given lock only
//! once.
//!
//! ## Memory ordering
//! - `tail`: the swap in `acquire` is acquire-release. It acquires from the compare-exchange by
//!   which the last holder emptied the queue, and releases the freshly reset node to its successor.
//! - `next`: stored with release after `waiting` was set, so that a holder that sees its successor
//!   clears the flag after it was set.
//! - `waiting`: cleared with release, awaited with acquire: this passes on the protected content.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::Lock;
use crate::machine::{Cpu, Line, Machine, Native, PerCpu, Place, Word};

/// The value of an empty queue; processor `id` is written as `id + 1`.
const NO_PROCESSOR: u64 = 0;

/// A fair lock whose waiting processors spin on lines of their own.
#[derive(Debug)]
pub struct McsLock<M: Machine = Native> {
    /// The last processor in the queue.
    tail: Line<M::Word>,
    nodes: PerCpu<Line<Node<M>>>,
}

/// A processor's node in the queue.
#[derive(Debug)]
struct Node<M: Machine> {
    /// The processor behind this one.
    next: M::Word,
    /// 1 until the processor before this one hands the lock over.
    waiting: M::Word,
}

impl<M: Machine> Node<M> {
    fn new(id: usize) -> Line<Self> {
        Line::new::<M>(Place::named("queue node").index(id).near(id), |spot| Node {
            next: M::Word::new(NO_PROCESSOR, spot),
            waiting: M::Word::new(0, spot),
        })
    }
}

impl<M: Machine> McsLock<M> {
    fn node(&self, processor: u64) -> &Node<M> {
        self.nodes.get(processor as usize - 1)
    }
}

// SAFETY: a processor leaves `acquire` either because the queue was empty when it swapped itself
// in, or because the processor before it handed over. A holder empties the queue or hands over
// exactly once, in `release`. So there is one holder at a time.
unsafe impl<M: Machine> Lock<M> for McsLock<M> {
    fn new() -> Self {
        McsLock {
            tail: Line::word::<M>(NO_PROCESSOR, Place::named("queue tail")),
            nodes: PerCpu::new(Node::new),
        }
    }

    #[inline]
    fn acquire(&self, cpu: &M::Cpu) {
        let me = cpu.id() as u64 + 1;
        let node = self.node(me);
        node.next.store(NO_PROCESSOR, Relaxed);
        let before = self.tail.swap(me, AcqRel);
        if before != NO_PROCESSOR {
            node.waiting.store(1, Relaxed);
            self.node(before).next.store(me, Release);
            node.waiting.wait_while(cpu, Acquire, |waiting| waiting == 1);
        }
    }

    #[inline]
    unsafe fn release(&self, cpu: &M::Cpu) {
        let me = cpu.id() as u64 + 1;
        let node = self.node(me);
        let mut behind = node.next.load(Acquire);
        if behind == NO_PROCESSOR {
            if self.tail.compare_exchange(me, NO_PROCESSOR, Release, Relaxed).is_ok() {
                return;
            }
            // Another processor has swapped itself in but has not yet linked itself to this one.
            behind = node.next.wait_while(cpu, Acquire, |next| next == NO_PROCESSOR);
            if behind == NO_PROCESSOR {
                // Only while a simulated processor that was halted for good is being taken apart.
                return;
            }
        }
        self.node(behind).waiting.store(0, Release);
    }
}
