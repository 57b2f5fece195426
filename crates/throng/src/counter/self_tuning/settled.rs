//! What a self-tuning tree asks of its balancers beyond balancing.

use crate::counter::diffracting::{Balancer, Side, StarvationFree, Toggle};
use crate::counter::{About, Consistency, Progress};
use crate::machine::Machine;

/// A balancer that can tell, while no token is inside, where the next one goes.
///
/// The paper sets the toggles of a subtree to 0 before it grows; to read where they are is enough.
pub trait Settled<M: Machine>: Balancer<M> {
    /// What the self-tuning tree of such balancers says of itself.
    const TREE: About;

    /// Where the next token goes. Only while none is inside.
    fn next_side(&self) -> Side;
}

const fn about(name: &'static str, summary: &'static str, paper: &'static str) -> About {
    let (consistency, progress) = (Consistency::Quiescent, Progress::Blocking);
    About { name, summary, paper, consistency, progress }
}

/// "ST-tree": one `fetch_add` a balancer.
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

/// "ST-tree(P)": the balancer of the [reactive tree](crate::counter::reactive), as in the paper.
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
