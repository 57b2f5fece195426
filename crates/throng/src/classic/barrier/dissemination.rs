//! A barrier in which every member signals others, in log2 n steps.

use std::sync::atomic::Ordering::Acquire;

use super::flags::FlagBoard;
use super::method::{About, Method, Shape};
use super::{Broken, Flags, Meeting};
use crate::ShapeError;
use crate::machine::{Machine, Native, WayOut, Word};

/// The dissemination barrier (Hensgen, Finkel, Manber; GV93 section 2.3): in step k, member i
/// signals member i + 2^k (mod n) and waits for the signal of member i - 2^k. After step k a member
/// knows that 2^(k+1) members have come. So after the last step each member knows that all have
/// come, without a wake-up.
///
/// A flag is the number of rounds in which its writer came to that step. So it is never cleared,
/// and a writer that is a round ahead does no harm.
///
/// ## Memory ordering
/// Each flag is written by a release and read by an acquire. A member's work is passed on from step
/// to step.
#[derive(Debug)]
pub struct Dissemination<M: Machine = Native> {
    /// For each member, a flag for each step.
    board: FlagBoard<M>,
    members: usize,
    steps: u32,
}

impl<M: Machine> Method<M> for Dissemination<M> {
    const ABOUT: About = About {
        name: "dissemination",
        summary: "in step k, member i signals member i + 2^k",
        paper: "Hensgen, Finkel, Manber 1988; GV93 section 2.3",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Ok(Dissemination::starting_at(0, shape.checked_members()?, shape.flags))
    }
}

impl<M: Machine> Dissemination<M> {
    /// Returns a barrier for `members` processors from `first` on.
    pub(crate) fn starting_at(first: usize, members: usize, flags: Flags) -> Self {
        let steps = members.next_power_of_two().trailing_zeros();
        let signals = (first..first + members).map(|home| (steps as usize, home));
        Dissemination { board: FlagBoard::new("signals", flags, signals), members, steps }
    }
}

impl<M: Machine> Meeting<M> for Dissemination<M> {
    fn members(&self) -> usize {
        self.members
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        for step in 0..self.steps as usize {
            let mut partner = rank + (1 << step);
            if partner >= self.members {
                partner -= self.members;
            }
            self.board.word(self.board.at(partner, step)).signal(round + 1);
            let signals = self.board.word(self.board.at(rank, step));
            signals.sleep_while(cpu, Acquire, way_out, |signals| signals <= round).ok_or(Broken)?;
        }
        Ok(())
    }
}
