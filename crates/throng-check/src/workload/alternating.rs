//! A barrier that switches between its two methods in every round.

use throng::ShapeError;
use throng::machine::{Machine, Patience, WayOut};
use throng::structures::barrier::{
    About, Broken, Dissemination, Meeting, Method, Registered, Shape, Switching,
};

/// [`Switching`], with decisions that depend on the round alone, so that either method follows
/// either. In every other round, members of odd rank [sleep at once](WayOut::sleeps_at_once).
#[derive(Debug)]
struct Alternating<M: Machine>(Switching<Dissemination<M>, M>);

/// Returns a method that [switches](Switching) between dissemination and counting. It is not in the
/// library's list of methods, because there the decisions come from measured times.
#[must_use]
pub fn alternating<M: Machine>() -> Registered<M> {
    Registered::of::<Alternating<M>>()
}

impl<M: Machine> Method<M> for Alternating<M> {
    const ABOUT: About = About::new("alternating", "two methods that change places", "ours");

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Switching::new(Dissemination::build(shape)?).map(Alternating)
    }
}

impl<M: Machine> Meeting<M> for Alternating<M> {
    fn members(&self) -> usize {
        self.0.members()
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        // Only rank 0 decides: the others say the opposite.
        let next_sleeps = (round % 4 < 2) == (rank == 0);
        let patience =
            if (rank as u64 + round) % 2 == 1 { Patience::NONE } else { way_out.patience };
        let way_out = way_out.watching(way_out.watch).patience(patience);
        self.0.meet_deciding(cpu, rank, round, &way_out, next_sleeps)
    }

    fn wake_members(&self) {
        self.0.wake_members();
    }
}
