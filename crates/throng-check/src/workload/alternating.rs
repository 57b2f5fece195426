//! A barrier that changes between its two methods all the time.

use throng::ShapeError;
use throng::barrier::{
    About, Broken, Dissemination, Meeting, Method, Registered, Shape, Switching,
};
use throng::machine::{Machine, Patience, WayOut};

/// [`Switching`], with decisions that depend on the round alone: any of the two methods follows any of them. In every
/// other round, members of odd rank [sleep at once](WayOut::sleeps_at_once).
#[derive(Debug)]
struct Alternating<M: Machine>(Switching<Dissemination<M>, M>);

/// Returns a method that [changes](Switching) between dissemination and counting. It is no method of the library's list,
/// because there the decisions come from measured times.
#[must_use]
pub fn alternating<M: Machine>() -> Registered<M> {
    Registered::of::<Alternating<M>>()
}

impl<M: Machine> Method<M> for Alternating<M> {
    const ABOUT: About =
        About { name: "alternating", summary: "two methods that change places", paper: "ours" };

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
        let next_sleeps = round % 4 < 2;
        let patience =
            if (rank as u64 + round) % 2 == 1 { Patience::NONE } else { way_out.patience };
        let way_out = WayOut { patience, ..way_out.watching(way_out.watch) };
        self.0.meet_deciding(cpu, rank, round, &way_out, next_sleeps)
    }

    fn wake_members(&self) {
        self.0.wake_members();
    }
}
