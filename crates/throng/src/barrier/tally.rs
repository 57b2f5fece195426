//! One word that counts all arrivals.

use std::sync::atomic::Ordering::{Acquire, SeqCst};

use super::method::{About, Method, Shape};
use super::{Broken, Meeting, ShapeError};
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// All add to one word, and wait until it has counted all of this round.
///
/// It is never set back, so an arrival is all there is to write: the last one of a round also says
/// that the round is over. With two or three members nothing is faster, for the last one of a round
/// is the first of the next and has the word's line still. With many that look at the word all the
/// time it is slow, since each arrival takes the line from all of them; with many that sleep it is
/// not.
///
/// Members need no ranks: the word tells each its round.
///
/// ## Memory ordering
/// Arrivals are read-modify-writes of one word, so the last one acquires what all released; whoever
/// sees the full count acquires that. They are sequentially consistent for the sake of those who
/// sleep ([`Word::wake`]).
#[derive(Debug)]
pub struct Tally<M: Machine = Native> {
    arrivals: Line<M::Word>,
    members: u64,
}

impl<M: Machine> Method<M> for Tally<M> {
    const ABOUT: About = About {
        name: "tally",
        summary: "one word that counts all arrivals, and that all look at",
        paper: "ours",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Ok(Tally {
            arrivals: Line::word::<M>(0, Place::named("arrivals")),
            members: shape.checked_members()? as u64,
        })
    }
}

impl<M: Machine> Tally<M> {
    /// One more arrival; `round` tells its round from how many came before. Tells whether it was
    /// the last of its round.
    #[inline]
    fn arrive(
        &self,
        cpu: &M::Cpu,
        way_out: &WayOut<'_, M>,
        round: impl FnOnce(u64) -> u64,
    ) -> Result<bool, Broken> {
        let before = self.arrivals.fetch_add(1, SeqCst);
        let full = self.members * (round(before) + 1);
        if before + 1 == full {
            self.arrivals.wake();
            return Ok(true);
        }
        let counted = self.arrivals.sleep_while(cpu, Acquire, way_out, |counted| counted < full);
        counted.map(|_| false).ok_or(Broken)
    }
}

impl<M: Machine> Meeting<M> for Tally<M> {
    fn members(&self) -> usize {
        self.members as usize
    }

    #[inline]
    fn meet_on(
        &self,
        cpu: &M::Cpu,
        _rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        self.arrive(cpu, way_out, |_| round).map(drop)
    }

    #[inline]
    fn meet_unranked(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<Result<bool, Broken>> {
        Some(self.arrive(cpu, way_out, |before| before / self.members))
    }
}
