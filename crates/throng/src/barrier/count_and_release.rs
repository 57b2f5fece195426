//! One word that counts arrivals, and one that counts the rounds that are over.

use std::sync::atomic::Ordering::{Acquire, SeqCst};

use super::method::{About, Method, Shape};
use super::{Broken, Meeting, ShapeError};
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// All members add to one word. The last one of a round adds to the other word, too.
///
/// It is the barrier for members that sleep, and for more members than cores: only the last one to come has
/// something to do. Members that [sleep at once](WayOut::sleeps_at_once) do so at the second word, where no arrival
/// disturbs them. (A member that is about to sleep at the first word finds it changed by the next arrival, and must
/// try again.) One system call wakes all of them. Members that spin or yield look at the first word, which
/// changes a little earlier.
///
/// Neither word is ever set back, and members need no ranks: arrival number a belongs to round a / n.
///
/// # Why it holds
/// The last arrival of a round adds 1 to `over`, whichever round it is. Of two rounds that are complete at the same
/// time, the later one may add first. Then the members of the earlier round leave, and rightly: if the later
/// round has all its arrivals, so has the earlier one. `over` reaches r + 1 only when r + 1 rounds are complete,
/// which then are rounds 0 to r.
///
/// ## Memory ordering
/// Arrivals are read-modify-writes of one word, so the last one acquires what all released, of its round and of those
/// before; a member that sees the full count, or `over`, acquires that. The additions are sequentially consistent for
/// the sake of sleeping members ([`Word::wake`]).
#[derive(Debug)]
pub struct CountAndRelease<M: Machine = Native> {
    arrivals: Line<M::Word>,
    over: Line<M::Word>,
    members: u64,
}

impl<M: Machine> Method<M> for CountAndRelease<M> {
    const ABOUT: About = About {
        name: "count-and-release",
        summary: "one word that counts arrivals, and one that members sleep at",
        paper: "ours",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Ok(CountAndRelease {
            arrivals: Line::word::<M>(0, Place::named("arrivals")),
            over: Line::word::<M>(0, Place::named("over")),
            members: shape.checked_members()? as u64,
        })
    }
}

impl<M: Machine> CountAndRelease<M> {
    #[cfg(test)]
    pub(super) fn rounds(&self) -> u64 {
        self.over.load(Acquire)
    }

    /// Comes to the next round, and returns whether the caller was the last one.
    #[inline]
    pub(super) fn meet(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<bool, Broken> {
        let before = self.arrivals.fetch_add(1, SeqCst);
        let round = before / self.members;
        let full = self.members * (round + 1);
        if before + 1 == full {
            self.arrivals.wake();
            self.over.fetch_add(1, SeqCst);
            self.over.wake();
            return Ok(true);
        }
        let seen = if way_out.sleeps_at_once() {
            self.over.sleep_while(cpu, Acquire, way_out, |over| over <= round)
        } else {
            self.arrivals.sleep_while(cpu, Acquire, way_out, |arrivals| arrivals < full)
        };
        seen.map(|_| false).ok_or(Broken)
    }
}

impl<M: Machine> Meeting<M> for CountAndRelease<M> {
    fn members(&self) -> usize {
        self.members as usize
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        _rank: usize,
        _round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        self.meet(cpu, way_out).map(drop)
    }

    #[inline]
    fn meet_unranked(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<Result<bool, Broken>> {
        Some(self.meet(cpu, way_out))
    }
}
