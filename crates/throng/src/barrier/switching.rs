//! Two barriers: one for members that spin, one for members that sleep.

use std::sync::atomic::Ordering::Relaxed;

use super::count_and_release::CountAndRelease;
use crate::ShapeError;
use crate::classic::barrier::{Broken, Meeting};
use crate::classic::barrier::{Method, Shape};
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// A barrier whose members meet at `B` while they spin. While they [sleep at
/// once](WayOut::sleeps_at_once), they meet at a [`CountAndRelease`]: in a tree, a sleeping member
/// would have to be woken at every level.
///
/// # How all members agree on one of the two
/// Each round is held at one of the two, and rank 0 decides which. One word is for rounds with even
/// numbers, the other for rounds with odd numbers. Before rank 0 comes to round r, it writes the
/// word of round r + 1. A member reads the word of round r + 1 after it has left round r, so it
/// sees what rank 0 wrote before it came to r. Rank 0 writes the same word again, for round r + 3,
/// before it comes to round r + 2. By then it has left round r + 1, so all members have come to
/// r + 1, and have read the word.
///
/// So a change of method takes effect one round later, and costs two stores. A round without a
/// change costs one more load of a line that is rarely written.
///
/// `B` must stay correct if all members skip the same rounds.
///
/// ## Memory ordering
/// The words are read and written relaxed: the round between write and read orders them.
#[derive(Debug)]
pub struct Switching<B, M: Machine = Native> {
    spinning: B,
    sleeping: CountAndRelease<M>,
    /// The words for rounds of even and odd numbers: 1 if such a round is held at `sleeping`.
    sleeps: Line<[M::Word; 2]>,
}

impl<B: Meeting<M>, M: Machine> Switching<B, M> {
    /// Returns a barrier whose members meet at `spinning` first.
    ///
    /// # Errors
    /// If `spinning` has more than [`Shape::MOST_MEMBERS`] members.
    pub fn new(spinning: B) -> Result<Self, ShapeError> {
        let sleeping = CountAndRelease::build(&Shape::for_members(spinning.members()))?;
        let sleeps = Line::new::<M>(Place::named("sleeps"), |spot| {
            std::array::from_fn(|_| M::Word::new(0, spot))
        });
        Ok(Switching { spinning, sleeping, sleeps })
    }

    fn sleeps(&self, round: u64) -> &M::Word {
        &self.sleeps[(round % 2) as usize]
    }

    /// [Meets](Meeting::meet_on), and lets rank 0 decide where the next round is held.
    /// `next_sleeps` of other ranks is ignored.
    ///
    /// # Errors
    /// As for [`Meeting::meet_on`].
    #[inline]
    pub fn meet_deciding(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
        next_sleeps: bool,
    ) -> Result<(), Broken> {
        let next = self.sleeps(round + 1);
        if rank == 0 && (next.load(Relaxed) != 0) != next_sleeps {
            next.store(u64::from(next_sleeps), Relaxed);
        }
        if self.sleeps(round).load(Relaxed) != 0 {
            self.sleeping.meet(cpu, way_out).map(drop)
        } else {
            self.spinning.meet_on(cpu, rank, round, way_out)
        }
    }
}

impl<B: Meeting<M>, M: Machine> Meeting<M> for Switching<B, M> {
    fn members(&self) -> usize {
        self.spinning.members()
    }

    #[inline]
    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        self.meet_deciding(cpu, rank, round, way_out, way_out.sleeps_at_once())
    }

    fn wake_members(&self) {
        self.sleeping.wake_members();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classic::barrier::Dissemination;
    use std::thread;

    #[test]
    fn a_decision_takes_effect_one_round_later() {
        let one = Shape::for_members(1);
        let spinning = Dissemination::<Native>::build(&one).expect("one member is enough");
        let barrier = Switching::new(spinning).expect("one member is enough");
        let mut held_asleep = Vec::new();
        for (round, next_sleeps) in [true, true, false, false, true].into_iter().enumerate() {
            let before = barrier.sleeping.rounds();
            let way_out = WayOut::none();
            let met = barrier.meet_deciding(&Native::cpu(), 0, round as u64, &way_out, next_sleeps);
            assert!(met.is_ok());
            held_asleep.push(barrier.sleeping.rounds() > before);
        }
        assert_eq!(held_asleep, [false, true, true, false, false]);
    }

    #[test]
    fn only_rank_0_decides() {
        let spinning = Dissemination::<Native>::build(&Shape::for_members(2));
        let barrier = Switching::new(spinning.expect("two can meet")).expect("two can meet");
        let barrier = &barrier;
        thread::scope(|scope| {
            for rank in [0, 1] {
                scope.spawn(move || {
                    for round in 0..100 {
                        let (cpu, way_out) = (Native::cpu(), WayOut::none());
                        let met = barrier.meet_deciding(&cpu, rank, round, &way_out, rank == 1);
                        assert!(met.is_ok());
                    }
                });
            }
        });
        assert_eq!(barrier.sleeping.rounds(), 0);
    }
}
