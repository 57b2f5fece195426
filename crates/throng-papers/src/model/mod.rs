//! The steady-state model of diffracting trees (SS98: Shavit, Upfal, Zemach, *A Steady State
//! Analysis of Diffracting Trees*, 1998, section 3) and what it advises.
//!
//! | file | what | toggles | counters | time |
//! |---|---|---|---|---|
//! | [`markov`] | the model: a Markov chain, simulated | yes | any speed | steps |
//! | [`jumps`] | the chain of the proof of theorem 3.2, simulated | no | no limit | continuous |
//! | [`flow`] | its differential equations, integrated | no | no limit | continuous |
//! | [`closed_form`] | their fixed point: theorem 3.2 | no | no limit | continuous |
//! | [`balance`] | the mean of the Markov chain, level by level; ours | yes | any speed | steps |
//! | [`ranges`] | the four ranges of `P` | | | |
//! | [`advice`] | which depth and prism for a number of processors | | | |
//!
//! # Where the paper is off
//!
//! What the figure SS98-M ([`crate::figures::ss98::model`]) finds; details in the files.
//!
//! - The differential equations are right for the continuous chain of the proof, and rest at the
//!   closed form. But that chain is not the model: in steps, two or more of Poisson(`x`) meet in a
//!   cell with probability `1 - (1+x) exp(-x)`, in continuous time with `x²/(1+x)²`. The second is
//!   twice the first for small `x`, equal at `x = 0.87`, and 0.7 of it at `x = 4`. So theorem 3.2
//!   as a lower bound for the model is wrong below `P/(dL) = 0.87` in the limit of large `L`. With
//!   `L = 2^d` toggles make up for it up to `d = 10` or so; for `d = 14` and `16`, at `α = 0.4`,
//!   the simulated chain has 0.963 and 0.937 of the bound (`P = 91750`, `419430`; errors 0.002 and
//!   less).
//! - The limit for large `P` is `E[Z] = 2L`, not `L`; see [`ranges`].
//! - Latency is `max(P, d)` only up to `P` of the order of `√L`, not `d√L`. The peak is within a
//!   factor of 2 of `P = d√L` for `d` from 5 to 18, but not because of `d`: for larger `d` it is at
//!   about `10 (√L + d)`. Its latency is about `d + √L` throughout. The bound `O(d√L)` on it holds
//!   and is far off: the toggles of a level double from level to level, and at the peak only the
//!   upper three or four levels are congested.
//! - Small things: see [`closed_form`] (processors at work), [`flow`] (the root has no parent,
//!   leaves no prism), [`markov`] (the chain can be periodic), [`ranges`] (`E[T] <= d`).
//!
//! `throng model` prints and draws what [`report`] finds.

pub mod advice;
pub mod balance;
pub mod closed_form;
pub mod flow;
pub mod jumps;
pub mod markov;
mod random;
pub mod ranges;
pub mod report;

/// A tree of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Tree {
    /// `d`: levels of balancers. The tree has `2^d` counters.
    pub depth: u32,
    /// `L`: prism cells of the root. A balancer of level `i` has `L / 2^i`, rounded up.
    pub prism: usize,
}

impl Tree {
    /// Returns the tree that the paper measures: `L = 2^d`, as many cells on each level as
    /// counters.
    pub fn of_depth(depth: u32) -> Self {
        Tree { depth, prism: 1 << depth }
    }

    /// Returns the cells of the prism of one balancer.
    pub fn cells(&self, level: u32) -> usize {
        self.prism.div_ceil(1 << level).max(1)
    }

    /// Returns `L d`: prism cells of all levels, as the paper counts them (before rounding up).
    pub fn all_cells(&self) -> f64 {
        f64::from(self.depth) * self.prism as f64
    }

    /// Returns the number of prism cells, each level rounded up. With `L = 3`, the prisms of a tree
    /// of depth 2 have 3, 2 and 2.
    pub fn prism_cells(&self) -> usize {
        (0..self.depth).map(|level| self.cells(level) << level).sum()
    }

    /// Returns the number of counters.
    pub fn counters(&self) -> usize {
        1 << self.depth
    }
}

/// The speed of counters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Counters {
    /// A counter serves any number of processors within the step of their arrival.
    Unlimited,
    /// Operations of a counter in a step. Below one, an operation takes more than a step. The step
    /// of arrival counts.
    Speed(f64),
}

/// A tree and its load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// The tree.
    pub tree: Tree,
    /// `P`: processors that cycle for ever through the tree, to work, and back.
    pub processors: usize,
    /// Mean number of steps that a processor works between two visits; geometric.
    pub work: u32,
    /// Whether balancers have toggles.
    pub toggles: bool,
    /// The speed of the counters.
    pub counters: Counters,
}

impl Setting {
    /// Returns the setting of section 3.1 of the paper: `work = 1`, toggles, and counters without a
    /// limit.
    pub fn of_paper(tree: Tree, processors: usize) -> Self {
        Setting { tree, processors, work: 1, toggles: true, counters: Counters::Unlimited }
    }

    /// Leaves out the toggles, as the proof of theorem 3.2 does.
    #[must_use]
    pub fn without_toggles(self) -> Self {
        Setting { toggles: false, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_those_of_all_balancers() {
        for (depth, prism, cells) in [(0, 1, 0), (1, 5, 5), (2, 3, 7), (3, 8, 24), (3, 1, 7)] {
            assert_eq!(Tree { depth, prism }.prism_cells(), cells, "{depth} {prism}");
        }
    }
}
