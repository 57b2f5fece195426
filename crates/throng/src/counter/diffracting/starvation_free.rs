//! The diffracting balancer of SS98 Figure 6.
//!
//! Tokens that met nobody used to queue up at the toggle, where only one at a time can leave, while
//! newcomers met each other and passed them by. Here a token that finds the toggle's lock taken
//! goes back to the prism like a newcomer, so its chances never get worse.
//!
//! The spin belongs to the balancer: doubled by a token that was diffracted while it waited (a
//! crowd: waiting pays), halved by one that got the toggle (few are here: it does not).
//!
//! *Blocking*: a processor that stops while it holds the lock stops those who meet nobody.
//!
//! Differs from the paper: the spin has a line of its own, so that learning it does not disturb the
//! lock, and starts at an eighth of the most; a token that finds its own name in the prism does not
//! try to pair with itself; after several rounds without luck the processor lets other threads run
//! ([`Cpu::retry`]).

use std::sync::atomic::Ordering::Relaxed;

use super::prism::{Attempt, LockedToggle, Prism};
use super::{Balancer, Node, Prisms, Side, Token};
use crate::counter::{About, Consistency, Progress};
use crate::machine::{Cpu, Line, Machine, Native, Place, Word};

/// A prism, and behind it a toggle under a lock; those who find the lock taken go back to the
/// prism.
#[derive(Debug)]
pub struct StarvationFree<M: Machine = Native> {
    prism: Prism<M>,
    toggle: LockedToggle<M>,
    /// How long to look for a partner. A hint: two tokens may overwrite each other's.
    spin: Line<M::Word>,
    node: u64,
    most_spin: u64,
}

impl<M: Machine> StarvationFree<M> {
    fn was_diffracted(&self, spin: u64) {
        if spin < self.most_spin {
            self.spin.store((2 * spin).min(self.most_spin), Relaxed);
        }
    }

    fn got_the_toggle(&self, spin: u64) {
        if spin > 1 {
            self.spin.store(spin / 2, Relaxed);
        }
    }
}

impl<M: Machine> Balancer<M> for StarvationFree<M> {
    const ABOUT: About = About {
        name: "diffracting",
        summary: "a tree of prisms; who finds the toggle taken goes back to the prism",
        paper: "SS98 Figure 6",
        consistency: Consistency::Quiescent,
        progress: Progress::Blocking,
    };

    const PRISMS: Prisms = Prisms::Ss98;

    fn new(node: Node) -> Self {
        let most_spin = u64::from(node.spin.max(1));
        let place = Place::named("spin").index(node.index);
        StarvationFree {
            prism: Prism::new(node),
            toggle: LockedToggle::new(node),
            spin: Line::word::<M>(u64::from(node.first_spin()), place),
            node: node.index as u64,
            most_spin,
        }
    }

    fn traverse(&self, token: &Token<'_, M>) -> Side {
        token.announce(self.node);
        let mut round = 0;
        loop {
            if let Some(side) = self.prism.meet(token, self.node) {
                return side;
            }
            let spin = self.spin.load(Relaxed);
            if token.is_diffracted_within(spin as u32, self.node) {
                self.was_diffracted(spin);
                return Side::Right;
            }
            match self.toggle.attempt(token, self.node) {
                Attempt::Toggled(side) => {
                    self.got_the_toggle(spin);
                    return side;
                }
                Attempt::Diffracted => return Side::Right,
                Attempt::Busy => token.cpu.retry(round),
            }
            round += 1;
        }
    }
}
