//! A balancer without a prism: one toggle (DT96 Figure 2).

use std::sync::atomic::Ordering::{AcqRel, Acquire};

use super::{Balancer, Node, Side, Token};
use crate::classic::counter::{About, Consistency, Progress};
use crate::machine::{Line, Machine, Native, Place, Word};

/// A balancer that sends tokens left and right by the lowest bit of a `fetch_add`.
///
/// Differs from the paper: it has no lock. It does not use `fetch_xor`, whose result x86-64 can
/// only get by a compare-exchange loop.
#[derive(Debug)]
pub struct Toggle<M: Machine = Native> {
    line: Line<Inner<M>>,
}

#[derive(Debug)]
struct Inner<M: Machine> {
    passed: M::Word,
    /// The index of the node. It is on the same line, which has room for it; a second line would
    /// double the size.
    node: u64,
}

impl<M: Machine> Toggle<M> {
    /// Returns the side of the next token. Only while no token is inside.
    pub(in crate::classic::counter) fn next(&self) -> Side {
        Side::of(self.line.passed.load(Acquire))
    }
}

impl<M: Machine> Balancer<M> for Toggle<M> {
    const ABOUT: About = About {
        name: "diffracting-toggle",
        summary: "a tree of plain toggles, a counter at each leaf",
        paper: "DT96 Figure 2",
        consistency: Consistency::Quiescent,
        progress: Progress::WaitFree,
    };

    const MEETS: bool = false;

    fn new(node: Node) -> Self {
        let place = Place::named("toggle").index(node.index);
        let inner =
            |spot: &M::Spot| Inner { passed: M::Word::new(0, spot), node: node.index as u64 };
        Toggle { line: Line::new::<M>(place, inner) }
    }

    #[inline]
    fn traverse(&self, token: &Token<'_, M>) -> Side {
        token.note_toggled(self.line.node);
        Side::of(self.line.passed.fetch_add(1, AcqRel))
    }
}
