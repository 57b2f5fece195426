//! A tournament of f in which the last to come goes on, with the paper's flags.

use std::sync::atomic::Ordering::{AcqRel, Acquire};

use super::byte_flags::{flag, flags, within_a_word};
use super::method::{About, Method, Shape};
use super::senses::{Senses, sense_of};
use super::static_fway::OF_THE_PAPER;
use super::tree::Tree;
use super::{Broken, Meeting};
use crate::ShapeError;
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// The dynamic f-way barrier to the letter (GV93 section 3.2, Figures 14 and 15): the flags of a node are the bytes of one
/// word. A member writes its own byte and reads the word once. If all bytes have the sense of this round, it goes on.
///
/// [`DynamicFway`](super::DynamicFway) beside it has a word for each flag, which it reads one by one, and counts of rounds
/// instead of senses.
///
/// # States of a node's word
///
/// | bytes | meaning |
/// |---|---|
/// | all 0, or all 1 | all have come to the last round of this sense |
/// | some 0, some 1 | those of one sense have come to this round, the others have not |
///
/// Several members may find all others there. In the paper all of them go on and write the same byte of the node above:
/// with `ALL_GO_ON`, this is so here. Otherwise only the first to write that byte goes on; the others wait. A member that
/// is late writes the sense of its own round. It changes nothing: as long as it has not left the round, its byte has that
/// sense in every node on its way, because no member can complete its node in the next round.
///
/// A fan-in above 8 is taken as 8.
///
/// ```
/// use throng::machine::Native;
/// use throng::structures::barrier::{DynamicFwayBytes, Method, Shape, team};
///
/// let members = team(DynamicFwayBytes::<Native>::build(&Shape::for_members(3))?);
/// std::thread::scope(|scope| {
///     for mut member in members {
///         scope.spawn(move || (0..10).for_each(|_round| drop(member.wait())));
///     }
/// });
/// # Ok::<(), throng::ShapeError>(())
/// ```
///
/// # Differs from the paper
/// - A byte is written by an atomic *or* or *and* of its word: our machines write whole words. With `ALL_GO_ON` its result is
///   ignored. Otherwise a member that finds its byte written leaves the way to the one that wrote it. On the simulated KSR-1
///   with 256 members, a round takes six times as long if all go on.
/// - `expected` is in the memory of each processor, since it never changes. In the paper it is beside `so_far`.
/// - Figure 15's `get_next_fanin` gives 8, then 4. Usual here is Figure 5, from 8 down, as the text says of the KSR-1.
/// - `node^myPlace` is where the node reports, in its parent; the root has none.
///
/// ## Memory ordering
/// All flags of a node are one word, so their writers come one after another, and the last of them reads what all wrote.
/// No fence is needed, as it is with a word for each flag. Writing a byte is a release and an acquire; the word's reader
/// acquires. The member that reverses the sense so knows what all did before, and its release passes it on.
#[derive(Debug)]
pub struct DynamicFwayBytes<M: Machine = Native, const ALL_GO_ON: bool = false> {
    tree: Tree,
    /// For each node, a byte for each child: the sense of its last round.
    so_far: Vec<Line<M::Word>>,
    /// For each node, its word when all have come to a round of sense 1. For sense 0 it is 0.
    expected: Vec<u64>,
    senses: Senses<M>,
}

impl<M: Machine, const ALL_GO_ON: bool> Method<M> for DynamicFwayBytes<M, ALL_GO_ON> {
    const ABOUT: About = About {
        name: if ALL_GO_ON { "dynamic-fway-all-go-on" } else { "dynamic-fway-bytes" },
        summary: if ALL_GO_ON {
            "the same, all that find the others there going on"
        } else {
            "the dynamic tournament, the flags of a node bytes of one word"
        },
        paper: "GV93 section 3.2, Figure 14",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        shape.levels()?;
        let fan_in = within_a_word(&shape.fan_in);
        let levels = shape.clone().fan_in(fan_in).levels_or(&OF_THE_PAPER)?;
        let tree = Tree::new(shape.checked_members()?, &levels);
        let place = |(index, node)| Place::named("arrived").index(index).near(node);
        Ok(DynamicFwayBytes {
            so_far: tree.homes().enumerate().map(|at| Line::word::<M>(0, place(at))).collect(),
            expected: tree.nodes().iter().map(|children| flags(children.len())).collect(),
            senses: Senses::new(shape.wake_up, tree.homes()),
            tree,
        })
    }
}

impl<M: Machine, const ALL_GO_ON: bool> Meeting<M> for DynamicFwayBytes<M, ALL_GO_ON> {
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
        let sense = sense_of(round);
        let path = self.tree.path(rank);
        let mut passed = 0;
        for step in path {
            let so_far = &self.so_far[step.node];
            let own = flag(step.place);
            let before = if sense == 1 {
                so_far.fetch_or(own, AcqRel)
            } else {
                so_far.fetch_and(!own, AcqRel)
            };
            let is_written = !ALL_GO_ON && (before & own != 0) == (sense == 1);
            if is_written || so_far.load(Acquire) != sense * self.expected[step.node] {
                self.senses.wait(cpu, step.node, sense, way_out)?;
                break;
            }
            passed += 1;
        }
        self.senses.reverse_back(path, passed, sense);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::FanIn;
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;
    use std::thread;

    #[test]
    fn all_flags_of_a_node_have_the_sense_of_the_last_round() {
        has_the_sense_of_the_last_round::<false>();
        has_the_sense_of_the_last_round::<true>();
    }

    fn has_the_sense_of_the_last_round<const ALL_GO_ON: bool>() {
        let shape = Shape::for_members(9).fan_in(FanIn::Fixed(3));
        let barrier = DynamicFwayBytes::<Native, ALL_GO_ON>::build(&shape).unwrap();
        for round in 0..4 {
            thread::scope(|scope| {
                for rank in 0..9 {
                    let barrier = &barrier;
                    scope.spawn(move || {
                        let met = barrier.meet_on(&Native::cpu(), rank, round, &WayOut::none());
                        assert!(met.is_ok());
                    });
                }
            });
            let expected = if round % 2 == 0 { 0x01_0101 } else { 0 };
            assert_eq!(barrier.so_far.len(), 4);
            assert!(barrier.so_far.iter().all(|word| word.load(Relaxed) == expected));
        }
    }
}
