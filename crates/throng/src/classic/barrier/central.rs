//! A barrier of one counter.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use super::method::{About, Method, Shape};
use super::{Broken, Meeting};
use crate::ShapeError;
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// The central barrier (GV93 section 2.1): members add themselves to a counter. The last one sets
/// it back to 0 and ends the round.
///
/// # Differs from the paper
/// Members wait on a separate word, the number of rounds that are over, and not on the counter.
/// Otherwise all would have to see the full counter before the first member comes back. This is the
/// usual remedy, with more than two senses.
///
/// ## Memory ordering
/// Adding to the counter is a release, and an acquire for the last member, which thus sees what all
/// did before. Its release of the round, acquired by all, passes that on.
#[derive(Debug)]
pub struct Central<M: Machine = Native> {
    arrived: Line<M::Word>,
    over: Line<M::Word>,
    members: usize,
}

impl<M: Machine> Method<M> for Central<M> {
    const ABOUT: About = About {
        name: "central",
        summary: "one counter, and one word to wait on",
        paper: "GV93 section 2.1",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Ok(Central {
            arrived: Line::word::<M>(0, Place::named("arrived")),
            over: Line::word::<M>(0, Place::named("over")),
            members: shape.checked_members()?,
        })
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
        if self.arrived.fetch_add(1, AcqRel) + 1 == self.members as u64 {
            // No member comes back before the round is over.
            self.arrived.store(0, Relaxed);
            self.over.signal(round + 1);
            return Ok(());
        }
        self.over.sleep_while(cpu, Acquire, way_out, |over| over <= round).map(drop).ok_or(Broken)
    }
}
