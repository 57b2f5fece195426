//! A tournament of pairs with fixed winners.

use super::fixed_tree::FixedTree;
use super::method::{About, Method, Shape};
use super::static_fway::tournament_nodes;
use super::{Broken, Meeting, Reinit};
use crate::ShapeError;
use crate::machine::{Machine, Native, WayOut};

/// The tournament barrier (Hensgen, Finkel, Manber; GV93 section 2.4): members meet in pairs. The
/// member of lower rank waits for the other and continues, and the winner of the last pair releases
/// all. The winners are fixed, so only reads and writes have to be atomic.
#[derive(Debug)]
pub struct Tournament<M: Machine = Native>(FixedTree<M>);

impl<M: Machine> Method<M> for Tournament<M> {
    const ABOUT: About = About {
        name: "tournament",
        summary: "a tournament of pairs with fixed winners",
        paper: "Hensgen, Finkel, Manber 1988; GV93 section 2.4",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let members = shape.checked_members()?;
        let levels = vec![2; members.next_power_of_two().trailing_zeros() as usize];
        let nodes = tournament_nodes(members, &levels);
        Ok(Tournament(FixedTree::new(members, &nodes, shape.flags, shape.wake_up, Reinit::Count)))
    }
}

impl<M: Machine> Meeting<M> for Tournament<M> {
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
        self.0.meet(cpu, rank, round, way_out)
    }
}
