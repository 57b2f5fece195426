//! The diffracting balancer of SS98 Figure 6.
//!
//! In the earlier balancers, tokens without a partner queue up at the toggle, where only one at a
//! time can leave, while newcomers meet each other and pass them by. Here a token that finds the
//! toggle's lock taken goes back to the prism like a newcomer, so its chances never get worse.
//!
//! Each processor keeps a spin for each balancer. It is doubled by a token that was diffracted
//! while it polled (contention is high, so polling pays). It is halved by a token that got the
//! toggle (contention is low, so polling does not pay).
//!
//! *Blocking*: a processor that stops while it holds the lock stops tokens without a partner.
//!
//! Differs from the paper: its figure writes the spin as a field of the balancer, its text calls it
//! the technique of DT96, where each processor keeps its own. Here each processor keeps its own. A
//! shared spin is read by all and written often. On the simulated Alewife with 256 processors it
//! was by far the hottest word of the tree and cost more than half the throughput. The spin starts
//! at an eighth of the largest. A token that finds its own id in the prism does not try to pair
//! with itself. After several failed rounds the processor yields ([`Cpu::retry`]).

use super::prism::{Attempt, LockedToggle, Prism, Setting, spot};
use super::{Balancer, Node, Prisms, Side, Token};
use crate::classic::counter::{About, Consistency, Progress};
use crate::machine::{Cpu, Machine, Native};

/// A prism, and behind it a toggle under a lock. Tokens that find the lock taken go back to the
/// prism.
#[derive(Debug)]
pub struct StarvationFree<M: Machine = Native> {
    prism: Prism<M>,
    toggle: LockedToggle<M>,
    node: u64,
    first_spin: u32,
    most_spin: u32,
}

impl<M: Machine> StarvationFree<M> {
    fn was_diffracted(&self, token: &Token<'_, M>, spin: u32) {
        token.set_own_spin(self.node, spin.saturating_mul(2).min(self.most_spin));
    }

    fn got_the_toggle(&self, token: &Token<'_, M>, spin: u32) {
        token.set_own_spin(self.node, (spin / 2).max(1));
    }

    /// Takes a token through that has come for this setting of the toggle. Returns `None` if the
    /// toggle has been set anew.
    pub(in crate::classic::counter) fn traverse_in(
        &self,
        setting: Setting,
        token: &Token<'_, M>,
    ) -> Option<Side> {
        self.traverse_within(setting, token, usize::MAX)
    }

    /// Does the same as [`traverse_in`](Self::traverse_in) with the first `slots` slots of the prism, at least one.
    pub(in crate::classic::counter) fn traverse_within(
        &self,
        setting: Setting,
        token: &Token<'_, M>,
        slots: usize,
    ) -> Option<Side> {
        let spot = spot(self.node, setting);
        token.announce(spot);
        let mut round = 0;
        loop {
            if let Some(side) = self.prism.meet_within(token, spot, slots) {
                return Some(side);
            }
            let spin = token.own_spin(self.node).unwrap_or(self.first_spin);
            if token.is_diffracted_within(spin, spot) {
                self.was_diffracted(token, spin);
                return Some(Side::Right);
            }
            match self.toggle.attempt(token, self.node, setting) {
                Attempt::Toggled(side) => {
                    self.got_the_toggle(token, spin);
                    return Some(side);
                }
                Attempt::Diffracted => return Some(Side::Right),
                Attempt::Busy => token.cpu.retry(round),
                Attempt::Over => return None,
            }
            round += 1;
        }
    }

    /// Returns the side of the next token. Only while no token is inside.
    pub(in crate::classic::counter) fn next(&self) -> Side {
        self.toggle.next()
    }

    /// Starts again with a toggle that sends the next token to `side`. Tokens of other settings
    /// neither pass it nor meet tokens of this one.
    pub(in crate::classic::counter) fn set(&self, cpu: &M::Cpu, setting: Setting, side: Side) {
        self.toggle.set(cpu, setting, side);
    }
}

impl<M: Machine> Balancer<M> for StarvationFree<M> {
    const ABOUT: About = About {
        name: "diffracting",
        summary: "a tree of prisms; tokens that find the toggle taken go back to the prism",
        paper: "SS98 Figure 6",
        consistency: Consistency::Quiescent,
        progress: Progress::Blocking,
    };

    const LEARNS: bool = true;
    const PRISMS: Prisms = Prisms::Ss98;

    fn new(node: Node) -> Self {
        StarvationFree {
            prism: Prism::new(node),
            toggle: LockedToggle::new(node),
            node: node.index as u64,
            first_spin: node.first_spin(),
            most_spin: node.spin.max(1),
        }
    }

    #[inline]
    fn traverse(&self, token: &Token<'_, M>) -> Side {
        self.traverse_in(0, token).expect("this toggle is never set anew")
    }
}
