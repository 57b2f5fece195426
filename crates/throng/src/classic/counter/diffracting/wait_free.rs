//! The diffracting balancer of DT96 Figure 7, without locks.
//!
//! A token looks into the prism once, polls for a partner a bounded number of times, withdraws, and
//! passes an atomic toggle. So a call takes a bounded number of its own steps whatever the others
//! do, even if they stop for ever (DT96 Lemma 5.19). A thread's first call is the exception: it
//! gets its id under a lock, and memory may have to be allocated.
//!
//! Differs from the paper: the toggle is the lowest bit of a `fetch_add` instead of a
//! fetch-and-complement, which x86-64 has only as a loop. A token that finds its own id in the
//! prism does not try to pair with itself. The spin is an eighth of the largest that adaptive
//! balancers use.

use std::sync::atomic::Ordering::AcqRel;

use super::prism::Prism;
use super::{Balancer, Node, Side, Token};
use crate::classic::counter::{About, Consistency, Progress};
use crate::machine::{Line, Machine, Native, Place, Word};

/// A prism, and behind it an atomic toggle.
#[derive(Debug)]
pub struct WaitFree<M: Machine = Native> {
    prism: Prism<M>,
    passed: Line<M::Word>,
    node: u64,
    spin: u32,
}

impl<M: Machine> Balancer<M> for WaitFree<M> {
    const ABOUT: About = About {
        name: "diffracting-wait-free",
        summary: "a tree of prisms and atomic toggles: no lock, a bounded number of steps",
        paper: "DT96 Figure 7",
        consistency: Consistency::Quiescent,
        progress: Progress::WaitFree,
    };

    fn new(node: Node) -> Self {
        WaitFree {
            prism: Prism::new(node),
            passed: Line::word::<M>(0, Place::named("toggle").index(node.index)),
            node: node.index as u64,
            spin: node.first_spin(),
        }
    }

    #[inline]
    fn traverse(&self, token: &Token<'_, M>) -> Side {
        token.announce(self.node);
        if let Some(side) = self.prism.meet(token, self.node) {
            return side;
        }
        if token.is_diffracted_within(self.spin, self.node) || !token.withdraw(self.node) {
            return Side::Right;
        }
        token.note_toggled(self.node);
        Side::of(self.passed.fetch_add(1, AcqRel))
    }
}
