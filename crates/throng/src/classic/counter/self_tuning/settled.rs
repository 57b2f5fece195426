//! The operations that a self-tuning tree needs of its balancers beyond balancing.

use crate::classic::counter::diffracting::{Balancer, Side, StarvationFree, Toggle};
use crate::classic::counter::{About, Consistency, Progress};
use crate::machine::Machine;

/// A balancer that can return, while no token is inside, the side of the next one.
///
/// The paper sets the toggles of a subtree to 0 before it grows. Reading them is enough.
pub trait Settled<M: Machine>: Balancer<M> {
    /// The description of the self-tuning tree of such balancers.
    const TREE: About;

    /// Returns the side of the next token. Only while no token is inside.
    fn next_side(&self) -> Side;
}

const fn about(name: &'static str, summary: &'static str, paper: &'static str) -> About {
    let (consistency, progress) = (Consistency::Quiescent, Progress::Blocking);
    About { name, summary, paper, consistency, progress }
}

/// "ST-tree": each balancer is one `fetch_add`.
impl<M: Machine> Settled<M> for Toggle<M> {
    const TREE: About = about(
        "self-tuning",
        "a tree of toggles that finds its own depth, leaf by leaf",
        "ST07, ST",
    );

    fn next_side(&self) -> Side {
        self.next()
    }
}

/// "ST-tree(P)": the balancer of the [reactive tree](crate::structures::counter::reactive), as in
/// the paper.
impl<M: Machine> Settled<M> for StarvationFree<M> {
    const TREE: About = about(
        "self-tuning-prism",
        "the same, tokens passing its balancers in pairs",
        "ST07, ST(P)",
    );

    fn next_side(&self) -> Side {
        self.next()
    }
}
