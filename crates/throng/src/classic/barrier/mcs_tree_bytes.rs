//! A tree with a member at every node, with the flags of its authors.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

use super::byte_flags::{flag, flags, within_a_word};
use super::method::{About, Method, Shape};
use super::senses::{Senses, sense_of};
use super::{Broken, FanIn, Meeting};
use crate::ShapeError;
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// The tree barrier of Mellor-Crummey and Scott to the letter (1991, Algorithm 11; GV93 section 2.5, Figures 2 and 3). The
/// flags of a member's children are the bytes of one word of its own, `childnotready`. Each child clears its byte. A member
/// waits until the word is 0, sets it back to `havechild` for the next round, and clears its own byte at its parent.
///
/// [`McsTree`](super::McsTree) beside it has a word for each flag, with a count of rounds, which is never set back.
///
/// # States of a member's word
///
/// | bytes | meaning |
/// |---|---|
/// | 1 for each child | no child has come to this round |
/// | some of them 0 | those children have come |
/// | all 0 | all have come; the member sets the word back |
///
/// With [`WakeUp::Tree`](super::WakeUp::Tree), members wait at words of their own, and member i wakes members 2i + 1 and 2i + 2, as its authors
/// have it. With [`WakeUp::Global`](super::WakeUp::Global), they wait at one word, as GV93 measured it.
///
/// Fan-in 4 unless a fixed one is asked for; one above 8 is taken as 8.
///
/// ```
/// use throng::machine::Native;
/// use throng::structures::barrier::{McsTreeBytes, Method, Shape, team};
///
/// let members = team(McsTreeBytes::<Native>::build(&Shape::for_members(3))?);
/// std::thread::scope(|scope| {
///     for mut member in members {
///         scope.spawn(move || (0..10).for_each(|_round| drop(member.wait())));
///     }
/// });
/// # Ok::<(), throng::ShapeError>(())
/// ```
///
/// # Differs from the paper
/// - A byte is cleared by an atomic *and* of its word, whose result is ignored: our machines write whole words.
/// - Section 2.5 says that flags are reinitialised by sense reversing, section 3.2 that they are not. Here only the words
///   for waking up have senses, as in the barrier's own paper.
/// - Member 0 has no parent and writes nothing; in the paper it writes to a dummy.
///
/// ## Memory ordering
/// A child's byte is cleared by a release and acquired by its parent, so the root knows what all did before. A member sets
/// its word back before it tells its parent, and its children come back only after the root has told all. So a relaxed
/// store does it. The clearing is sequentially consistent, which [`Word::wake`] asks for.
#[derive(Debug)]
pub struct McsTreeBytes<M: Machine = Native> {
    /// For each member, a byte for each of its children: 1 until that child has come.
    child_not_ready: Vec<Line<M::Word>>,
    /// For each member, its word before any child has come.
    have_child: Vec<u64>,
    senses: Senses<M>,
    fan_in: usize,
}

/// How many members a member wakes, where members wait at words of their own.
const WOKEN: usize = 2;

/// The children of `rank` in a tree of `members` in which a node has `fan_in`.
fn children(rank: usize, fan_in: usize, members: usize) -> std::ops::Range<usize> {
    let first = fan_in * rank + 1;
    first.min(members)..members.min(first + fan_in)
}

impl<M: Machine> Method<M> for McsTreeBytes<M> {
    const ABOUT: About = About {
        name: "mcs-tree-bytes",
        summary: "the tree with a member at every node, the flags of a node bytes of one word",
        paper: "Mellor-Crummey, Scott 1991; GV93 section 2.5",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let members = shape.checked_members()?;
        shape.levels()?;
        let fan_in = match within_a_word(&shape.fan_in) {
            FanIn::Fixed(fan_in) => fan_in,
            _ => 4,
        };
        let have_child: Vec<u64> =
            (0..members).map(|rank| flags(children(rank, fan_in, members).len())).collect();
        let word =
            |(rank, &all)| Line::word::<M>(all, Place::named("arrived").index(rank).near(rank));
        let child_not_ready = have_child.iter().enumerate().map(word).collect();
        let senses = Senses::new(shape.wake_up, 0..members);
        Ok(McsTreeBytes { child_not_ready, have_child, senses, fan_in })
    }
}

impl<M: Machine> Meeting<M> for McsTreeBytes<M> {
    fn members(&self) -> usize {
        self.have_child.len()
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let sense = sense_of(round);
        let own = &self.child_not_ready[rank];
        own.sleep_while(cpu, Acquire, way_out, |not_ready| not_ready != 0).ok_or(Broken)?;
        own.store(self.have_child[rank], Relaxed);
        if rank == 0 {
            self.senses.reverse_all(sense);
        } else {
            let parent = &self.child_not_ready[(rank - 1) / self.fan_in];
            parent.fetch_and(!flag((rank - 1) % self.fan_in), SeqCst);
            parent.wake();
            self.senses.wait(cpu, rank, sense, way_out)?;
        }
        for woken in children(rank, WOKEN, self.members()) {
            self.senses.reverse(woken, sense);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::WakeUp;
    use super::*;
    use std::thread;

    #[test]
    fn the_tree_is_that_of_figure_2() {
        assert_eq!(children(0, 4, 16), 1..5);
        assert_eq!(children(3, 4, 16), 13..16);
        assert!(children(4, 4, 16).is_empty());
        let barrier = McsTreeBytes::<Native>::build(&Shape::for_members(16)).unwrap();
        assert_eq!(barrier.have_child[0], 0x0101_0101);
        assert_eq!(barrier.have_child[3], 0x01_0101);
        assert_eq!(barrier.have_child[4], 0);
    }

    #[test]
    fn flags_are_set_back_in_every_round() {
        for wake_up in [WakeUp::Global, WakeUp::Tree] {
            let shape = Shape::for_members(7).wake_up(wake_up);
            let barrier = McsTreeBytes::<Native>::build(&shape).unwrap();
            for round in 0..4 {
                thread::scope(|scope| {
                    for rank in 0..7 {
                        let barrier = &barrier;
                        scope.spawn(move || {
                            let met = barrier.meet_on(&Native::cpu(), rank, round, &WayOut::none());
                            assert!(met.is_ok());
                        });
                    }
                });
                let words = barrier.child_not_ready.iter().map(|word| word.load(Relaxed));
                assert_eq!(words.collect::<Vec<_>>(), barrier.have_child);
            }
        }
    }
}
