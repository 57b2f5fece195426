//! A balancer with elimination: sends putters left and right in turn, takers as well, and lets a putter
//! and a taker that meet in its prism do their business at once.
//!
//! ```text
//!             announce myself at this balancer
//!                        │
//!            swap my id into a random slot ── nobody there ────────┐
//!                        │ him                                    │
//!              withdraw ── fails ──> I was found                  │
//!                        │                                        │
//!       he is of my kind │ he is of the other kind                │
//!   take him away: LEFT  │ pass the job on: DONE                  │
//!                        │ he is not here                         │
//!              announce again                                     │
//!                        │<───────────────────────────────────────┘
//!       wait a while to be found ──> by my kind: RIGHT, by the other: DONE
//!                        │
//!              withdraw ── fails ──> I was found
//!                        │
//!            the toggle of my kind: LEFT, RIGHT, LEFT, ...
//! ```
//!
//! Of each kind as many leave on the left as on the right, or one more: pairs of one kind split, and the
//! toggle alternates (see `counter/diffracting/README.md`). Those who meet one of the other kind leave
//! the tree in pairs, one putter and one taker: so what is left is a tree in which they never were.

use std::sync::atomic::Ordering::AcqRel;

use super::Crowd;
use super::visitor::{Found, Kind, Walker};
use crate::machine::{Cpu, Line, Machine, Place, Word};

/// An empty slot; processor `id` is written as `id + 1`.
const NOBODY: u64 = 0;

/// How a processor leaves a balancer.
#[derive(Debug)]
pub(super) enum Way<T> {
    Left,
    Right,
    /// Its business is done: the job of a putter has been taken, and a taker has it here.
    Done(Option<T>),
}

#[derive(Debug)]
pub(super) struct Balancer<M: Machine> {
    node: u64,
    /// Each the last processor that came by, which may be long gone.
    slots: Box<[Line<M::Word>]>,
    /// How many of each kind met nobody: their lowest bits are the toggles.
    toggles: [Line<M::Word>; 2],
    most_spin: u32,
}

impl<M: Machine> Balancer<M> {
    /// The balancer `node`: 1 for the first, 2n and 2n + 1 for those after n.
    pub(super) fn new(node: usize, prism: usize, spin: u32) -> Self {
        let line = |name| Line::word::<M>(0, Place::named(name).index(node));
        Balancer {
            node: node as u64,
            slots: (0..prism).map(|_| line("pool prism")).collect(),
            toggles: [line("pool toggle of putters"), line("pool toggle of takers")],
            most_spin: spin.max(1),
        }
    }

    /// Takes a processor through. The job of one that puts is in its parcel, and is there still if it is
    /// not done.
    pub(super) fn pass<T: Send>(
        &self,
        walker: &Walker<'_, T, M>,
        crowd: &Crowd<T, M>,
        kind: Kind,
    ) -> Way<T> {
        let (me, cpu, here) = (walker.visitor, walker.cpu, kind.at(self.node));
        me.announce(here);
        if let Some(way) = self.meet(walker, crowd, kind) {
            return way;
        }
        if me.is_met_within(cpu, me.own.spin(), here) {
            me.own.was_met(self.most_spin);
            return self.was_found(walker);
        }
        if !me.withdraw(here) {
            return self.was_found(walker);
        }
        me.own.was_alone();
        cpu.note("pool toggled", self.node);
        match self.toggles[kind as usize].fetch_add(1, AcqRel) & 1 {
            0 => Way::Left,
            _ => Way::Right,
        }
    }

    /// Leaves word in the prism, and does what there is to do with whom it finds there. `None`: nobody,
    /// and the processor is still announced.
    fn meet<T: Send>(
        &self,
        walker: &Walker<'_, T, M>,
        crowd: &Crowd<T, M>,
        kind: Kind,
    ) -> Option<Way<T>> {
        let (me, here, name) = (walker.visitor, kind.at(self.node), walker.id as u64 + 1);
        let slot = &self.slots[walker.cpu.random_below(self.slots.len())];
        let found = slot.swap(name, AcqRel);
        if found == NOBODY || found == name {
            return None;
        }
        // Whoever meets another must not be met meanwhile.
        if !me.withdraw(here) {
            return Some(self.was_found(walker));
        }
        let him = crowd.get(found as usize - 1);
        let there = kind.other().at(self.node);
        match him.location() {
            place if place == here && him.diffract(here) => return Some(Way::Left),
            place if place == there && him.begin_to_meet(there) => {
                // SAFETY: we have withdrawn, so nobody else reaches our parcel.
                let mine = unsafe { me.exchange(None) };
                // SAFETY: we are meeting him, so his parcel is ours until we say that it is over.
                let his = unsafe { him.exchange(mine) };
                him.end_meeting();
                walker.cpu.note("pool eliminated", self.node);
                return Some(Way::Done(his));
            }
            _ => {}
        }
        me.announce(here);
        None
    }

    fn was_found<T: Send>(&self, walker: &Walker<'_, T, M>) -> Way<T> {
        match walker.visitor.found(walker.cpu) {
            Found::Diffracted => Way::Right,
            Found::Eliminated(job) => Way::Done(job),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Growing, Native};
    use crate::pool::tree::visitor::Visitor;
    use std::sync::atomic::Ordering::Relaxed;

    /// One of `kind` passes a balancer where another of kind `waiting` waits with `parcel`; what comes of
    /// it for both.
    fn meeting(
        kind: Kind,
        job: Option<u32>,
        waiting: Kind,
        parcel: Option<u32>,
    ) -> (Way<u32>, Found<u32>) {
        let cpu = Native::cpu();
        let crowd: Crowd<u32, Native> = Growing::new(2, |id| Visitor::new(id, 4, 8));
        let balancer = Balancer::<Native>::new(1, 1, 8);
        let [me, him] = [0, 1].map(|id| Walker { cpu: &cpu, id, visitor: crowd.get(id) });
        // SAFETY: neither is in the tree.
        unsafe { him.visitor.exchange(parcel) };
        // SAFETY: as before.
        unsafe { me.visitor.exchange(job) };
        him.visitor.announce(waiting.at(1));
        balancer.slots[0].store(2, Relaxed);
        let way = balancer.pass(&me, &crowd, kind);
        (way, him.visitor.found(&cpu))
    }

    #[test]
    fn a_putter_and_a_taker_that_meet_pass_the_job_on() {
        let (taker, putter) = meeting(Kind::Take, None, Kind::Put, Some(7));
        assert!(matches!((taker, putter), (Way::Done(Some(7)), Found::Eliminated(None))));
        let (putter, taker) = meeting(Kind::Put, Some(8), Kind::Take, None);
        assert!(matches!((putter, taker), (Way::Done(None), Found::Eliminated(Some(8)))));
    }

    #[test]
    fn two_of_a_kind_that_meet_go_separate_ways() {
        let takers = meeting(Kind::Take, None, Kind::Take, None);
        assert!(matches!(takers, (Way::Left, Found::Diffracted)));
        let putters = meeting(Kind::Put, Some(1), Kind::Put, Some(2));
        assert!(matches!(putters, (Way::Left, Found::Diffracted)));
    }
}
