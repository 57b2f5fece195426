//! One counter.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use super::flags::{FlagAt, FlagBoard};
use super::method::{About, Method, Shape};
use super::{Broken, Meeting};
use crate::ShapeError;
use crate::machine::{Machine, Native, WayOut, Word};

/// The central barrier (GV93 section 2.1): members add themselves to a counter; the last one sets it
/// back to 0 and says that the round is over.
///
/// # Differs from the paper
/// Members wait on a word of their own kind, the number of rounds that are over, and not on the
/// counter. The counter would have to be seen full by all before the first comes back; this is the
/// usual cure, with more than two senses. Packed, both are on one line: best for two members, of whom
/// one has that line already.
///
/// ## Memory ordering
/// Adding to the counter is a release, and an acquire for the last member, which so knows what all
/// did before; its release of the round, acquired by all, passes that on.
#[derive(Debug)]
pub struct Central<M: Machine = Native> {
    board: FlagBoard<M>,
    /// How many have come to this round.
    arrived: FlagAt,
    /// How many rounds are over.
    over: FlagAt,
    members: usize,
}

impl<M: Machine> Method<M> for Central<M> {
    const ABOUT: About = About {
        name: "central",
        summary: "one counter, and one word to wait on",
        paper: "GV93 section 2.1",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let members = shape.checked_members()?;
        let board = FlagBoard::new("central", shape.flags, [(2, 0)]);
        Ok(Central { arrived: board.at(0, 0), over: board.at(0, 1), board, members })
    }
}

impl<M: Machine> Meeting<M> for Central<M> {
    fn members(&self) -> usize {
        self.members
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        _rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let (arrived, over) = (self.board.word(self.arrived), self.board.word(self.over));
        if arrived.fetch_add(1, AcqRel) + 1 == self.members as u64 {
            // Nobody comes back before the round is over.
            arrived.store(0, Relaxed);
            over.signal(round + 1);
            return Ok(());
        }
        over.sleep_while(cpu, Acquire, way_out, |over| over <= round).map(drop).ok_or(Broken)
    }
}
