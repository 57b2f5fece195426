//! One word that counts all arrivals.

use std::sync::atomic::Ordering::{Acquire, SeqCst};

use crate::ShapeError;
use crate::classic::barrier::{About, Method, Shape};
use crate::classic::barrier::{Broken, Meeting};
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// A barrier of one word: each arrival adds 1, and waits until the word has counted all arrivals of
/// the round.
///
/// The word is never set back, so an arrival is the only write. The last arrival of a round also
/// ends the round. With two or three members nothing is faster, because the last arrival of a round
/// is the first of the next and still has the word's line. With many members that spin on the word
/// it is slow, since each arrival takes the line from all of them. With many members that sleep it
/// is not slow.
///
/// Members need no ranks: the count gives each arrival its round.
///
/// ## Memory ordering
/// Arrivals are read-modify-writes of one word, so the last one acquires what all released. A
/// member that sees the full count acquires that. Arrivals are sequentially consistent because of
/// sleeping members ([`Word::wake`]).
#[derive(Debug)]
pub struct Tally<M: Machine = Native> {
    arrivals: Line<M::Word>,
    members: u64,
}

impl<M: Machine> Method<M> for Tally<M> {
    const ABOUT: About = About {
        name: "tally",
        summary: "one word that counts all arrivals, and that all members read",
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
    /// Counts one arrival and waits for the end of its round. `round` maps the number of earlier
    /// arrivals to the round. Returns whether this arrival was the last one of its round.
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
