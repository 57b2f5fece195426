//! A tournament of groups of f in which the last member to come wins.

use std::sync::atomic::Ordering::{AcqRel, Acquire, SeqCst};

use super::flags::{FlagAt, FlagBoard};
use super::method::{About, Method, Shape};
use super::static_fway::OF_THE_PAPER;
use super::tree::Tree;
use super::wake_up::Bells;
use super::{Broken, Meeting};
use crate::ShapeError;
use crate::machine::{Machine, Native, WayOut, Word};

/// The dynamic f-way barrier (GV93 section 3.2, Figures 14 and 15): members meet like in the
/// [static one](super::StaticFway), but the member that finds all others there continues. No member
/// reads a flag twice, so on a machine whose memory is all cache, few lines move.
///
/// Several members may find all others there. The first of them to write the flag of the node above
/// continues. The others find that flag written, and wait.
///
/// # Differs from the paper
/// - Figure 14 writes its own flag and then reads the others. Two members that do so at the same
///   time must not both miss the other, or neither continues. The paper's machines ensure that.
///   Today's machines do not, without a fence between the two.
/// - In Figure 14 all members that find the others there continue, and write the same flags: on the
///   simulated KSR-1 up to 128 members write one flag. Here a flag is written by a swap. A member
///   that finds it written leaves the rest to its writer.
/// - A flag is the number of rounds to which its writer came, not a sense. A member that sees late
///   that all have come may find flags of the next round. Then the round is over, and it need not
///   continue but only read the bell.
/// - `node^myPlace` is where the node reports, in its parent; the root has none.
///
/// ## Memory ordering
/// Flags: release and acquire, and the fence above. With the fences, the last of the members that
/// wrote their flags sees all flags. The rest is as in the static barrier.
#[derive(Debug)]
pub struct DynamicFway<M: Machine = Native> {
    tree: Tree,
    board: FlagBoard<M>,
    bells: Bells<M>,
    /// The flags of each node.
    flags: Vec<Vec<FlagAt>>,
}

impl<M: Machine> Method<M> for DynamicFway<M> {
    const ABOUT: About = About {
        name: "dynamic-fway",
        summary: "a tournament of groups of f that the last to come wins",
        paper: "GV93 section 3.2",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let tree = Tree::new(shape.checked_members()?, &shape.levels_or(&OF_THE_PAPER)?);
        let sizes = tree.nodes().iter().map(|children| (children.len(), children[0]));
        let board = FlagBoard::new("arrived", shape.flags, sizes);
        let flags = tree.nodes().iter().enumerate();
        let flags =
            flags.map(|(node, children)| (0..children.len()).map(|i| board.at(node, i)).collect());
        let flags = flags.collect();
        let bells = Bells::new(shape.wake_up, tree.homes());
        Ok(DynamicFway { tree, board, bells, flags })
    }
}

impl<M: Machine> DynamicFway<M> {
    /// Returns whether all have come to `node` in `round`.
    fn is_complete(&self, node: usize, round: u64) -> bool {
        self.flags[node].iter().all(|&flag| self.board.word(flag).load(Acquire) == round + 1)
    }
}

impl<M: Machine> Meeting<M> for DynamicFway<M> {
    fn members(&self) -> usize {
        self.tree.members()
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let path = self.tree.path(rank);
        let mut passed = 0;
        for step in path {
            let own = self.flags[step.node][step.place];
            let was_set = self.board.word(own).swap(round + 1, AcqRel) == round + 1;
            M::fence(SeqCst);
            if was_set || !self.is_complete(step.node, round) {
                self.bells.wait(cpu, step.node, round, way_out)?;
                break;
            }
            passed += 1;
        }
        self.bells.ring_back(path, passed, round);
        Ok(())
    }
}
