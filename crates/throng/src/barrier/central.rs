//! One counter.

use std::sync::atomic::Ordering::Acquire;

use super::method::{About, Method, Shape};
use super::{Broken, Meeting, ShapeError};
use crate::counter::{AtomicNumber, LockedNumber, Number};
use crate::lock::MOST_BACKOFF;
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// The central barrier (GV93 section 2.1): members add themselves to a counter; the last one says that
/// the round is over. The counter is a [`Number`]: one that the machine adds to, or one under a lock, as
/// the paper's KSR-1 has it.
///
/// # Differs from the paper
/// Members wait on a word of their own kind, the number of rounds that are over, and not on the
/// counter. The counter would have to be seen full by all before the first comes back and it is set
/// back to 0; this is the usual cure, with more than two senses. And so it need not be set back at
/// all.
///
/// ## Memory ordering
/// Adding to the counter is a release, and an acquire for the last member, which so knows what all
/// did before; its release of the round, acquired by all, passes that on.
#[derive(Debug)]
pub struct Central<M: Machine = Native, N: Number<M> = AtomicNumber<M>> {
    /// How many have come, in all rounds together.
    arrived: N,
    /// How many rounds are over.
    over: Line<M::Word>,
    members: usize,
}

impl<M: Machine, N: Number<M>> Central<M, N> {
    fn of(shape: &Shape) -> Result<Self, ShapeError> {
        Ok(Central {
            arrived: N::new(0, Place::named("arrived"), MOST_BACKOFF),
            over: Line::word::<M>(0, Place::named("over")),
            members: shape.checked_members()?,
        })
    }
}

impl<M: Machine> Method<M> for Central<M> {
    const ABOUT: About = About {
        name: "central",
        summary: "one counter, and one word to wait on",
        paper: "GV93 section 2.1",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Central::of(shape)
    }
}

impl<M: Machine> Method<M> for Central<M, LockedNumber<M>> {
    const ABOUT: About = About {
        name: "central-locked",
        summary: "one counter under a lock, and one word to wait on",
        paper: "GV93 section 2.1, as on the KSR-1",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Central::of(shape)
    }
}

impl<M: Machine, N: Number<M>> Meeting<M> for Central<M, N> {
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
        // Nobody comes to the next round before this one is over.
        if self.arrived.fetch_add(cpu, 1) + 1 == self.members as u64 * (round + 1) {
            self.over.signal(round + 1);
            return Ok(());
        }
        self.over.sleep_while(cpu, Acquire, way_out, |over| over <= round).map(drop).ok_or(Broken)
    }
}
