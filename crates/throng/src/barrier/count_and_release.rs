//! One word that counts arrivals, and one that counts the rounds that are over.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

use crate::ShapeError;
use crate::classic::barrier::{About, Method, Shape};
use crate::classic::barrier::{Broken, Meeting};
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// All members add to one word. The last one of a round adds to the other word, too.
///
/// It is the barrier for members that sleep, and for more members than cores: only the last arrival
/// has work to do after it has counted itself. Members that [sleep at once](WayOut::sleeps_at_once)
/// sleep at the second word, where no arrival disturbs them. (A member that is about to sleep at
/// the first word finds it changed by the next arrival, and must try again.) One system call wakes
/// all of them. It is made in every round once a member has slept there. Members that spin or yield
/// read the first word, which changes a little earlier.
///
/// A sleeping member sets no timer, because a timer costs more than the rest of its wait. Instead,
/// breaking the barrier changes the second word, so a member that is about to sleep there does not.
///
/// Neither word is ever set back, and members need no ranks: arrival number a belongs to round a /
/// n.
///
/// # Why it is correct
/// The last arrival of a round adds 1 to `over`, whichever round it is. Of two rounds that are
/// complete at the same time, the last arrival of the later one may add first. Then the members of
/// the earlier round leave. That is correct: if the later round has all its arrivals, so has the
/// earlier one. `over` reaches r + 1 only when r + 1 rounds are complete, which then are rounds 0
/// to r.
///
/// ## Memory ordering
/// Arrivals are read-modify-writes of one word, so the last one acquires what all arrivals
/// released, of its round and of earlier ones. A member that sees the full count, or `over`,
/// acquires that. The additions are sequentially consistent because of sleeping members
/// ([`Word::wake`]). A member writes `has_sleepers` before it arrives, so the last arrival of the
/// round reads what it wrote.
#[derive(Debug)]
pub struct CountAndRelease<M: Machine = Native> {
    words: Line<Words<M>>,
    members: u64,
}

/// All on one line: a member that has slept needs one line until it sleeps again.
#[derive(Debug)]
struct Words<M: Machine> {
    arrivals: M::Word,
    /// The number of rounds that are over, times 2; the lowest bit is [`BROKEN`].
    over: M::Word,
    /// 1 once a member has slept at `over`.
    has_sleepers: M::Word,
}

/// The bit of `over` that is set when the barrier breaks. It tells sleeping members to check their
/// way out.
const BROKEN: u64 = 1;
/// What the end of a round adds to `over`.
const ROUND: u64 = 2;

impl<M: Machine> Method<M> for CountAndRelease<M> {
    const ABOUT: About = About {
        name: "count-and-release",
        summary: "one word that counts arrivals, and one that members sleep at",
        paper: "ours",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let words = |spot: &M::Spot| Words {
            arrivals: M::Word::new(0, spot),
            over: M::Word::new(0, spot),
            has_sleepers: M::Word::new(0, spot),
        };
        Ok(CountAndRelease {
            words: Line::new::<M>(Place::named("arrivals"), words),
            members: shape.checked_members()? as u64,
        })
    }
}

impl<M: Machine> CountAndRelease<M> {
    #[cfg(test)]
    pub(super) fn rounds(&self) -> u64 {
        self.words.over.load(Acquire) / ROUND
    }

    /// Arrives at the next round and waits until it is over. Returns whether the caller was the
    /// last arrival.
    #[inline]
    pub(super) fn meet(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<bool, Broken> {
        let Words { arrivals, over, has_sleepers } = &*self.words;
        let sleeps_at_once = way_out.sleeps_at_once();
        if sleeps_at_once && has_sleepers.load(Relaxed) == 0 {
            has_sleepers.store(1, Relaxed);
        }
        let before = arrivals.fetch_add(1, SeqCst);
        let round = before / self.members;
        let full = self.members * (round + 1);
        if before + 1 == full {
            arrivals.wake();
            over.fetch_add(ROUND, SeqCst);
            if has_sleepers.load(Relaxed) != 0 {
                over.wake_always();
            }
            return Ok(true);
        }
        let is_over = |over: u64| over / ROUND > round;
        let seen = if sleeps_at_once {
            let stays = |over| !is_over(over) && over & BROKEN == 0;
            match over.sleep_while(cpu, Acquire, &way_out.always_woken(), stays) {
                // A later round is broken. From now on, this member checks its way out from time to
                // time.
                Some(seen) if !is_over(seen) => {
                    over.sleep_while(cpu, Acquire, way_out, |over| !is_over(over))
                }
                seen => seen,
            }
        } else {
            arrivals.sleep_while(cpu, Acquire, way_out, |arrivals| arrivals < full)
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

    fn wake_members(&self) {
        self.words.over.fetch_or(BROKEN, SeqCst);
        self.words.over.wake_always();
    }

    #[inline]
    fn meet_unranked(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<Result<bool, Broken>> {
        Some(self.meet(cpu, way_out))
    }
}

#[cfg(test)]
mod tests {
    use super::super::team::team_with;
    use super::*;
    use crate::machine::Patience;
    use std::thread;
    use std::time::Duration;

    /// The first member sets no timer, so without the wake-up it would sleep for ever.
    #[test]
    fn members_that_sleep_are_woken_when_the_barrier_breaks() {
        let break_by: [fn(crate::barrier::team::Member<CountAndRelease>); 3] = [
            drop,
            |member| member.abort(),
            |mut member| assert!(member.wait_timeout(Duration::from_millis(1)).is_err()),
        ];
        for break_by in break_by {
            let shape = Shape::for_members(3);
            let barrier = CountAndRelease::build(&shape).expect("three members are enough");
            let mut members = team_with(barrier, Patience::NONE);
            let (mut sleeper, breaker) = (members.remove(0), members.remove(0));
            thread::scope(|scope| {
                let waited = scope.spawn(move || sleeper.wait_checked());
                thread::sleep(Duration::from_millis(20));
                break_by(breaker);
                assert!(waited.join().expect("it returns an error").is_err());
            });
        }
    }
}
