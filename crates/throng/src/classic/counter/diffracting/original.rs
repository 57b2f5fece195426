//! The diffracting balancers of DT96: Figure 4, Figure 6, and the second chance of section 3.1.
//!
//! A token looks into one random slot of the prism, once. If it meets no token there, it polls for
//! a partner, and from time to time tries the toggle's lock.
//!
//! *Blocking*: a processor that stops while it holds the lock stops tokens without a partner. A
//! token can also starve, losing the lock again and again (SS98 section 2.3).
//!
//! Differs from the paper:
//! - the lock is read before it is tried (test-and-test-and-set, as in SS98);
//! - after several failed rounds the processor yields ([`Cpu::retry`]);
//! - the second chance writes the id into a new random slot; the paper does not say into which;
//! - a token that finds its own id in the prism does not try to pair with itself;
//! - section 3.1 says that only the *next* pass starts with half the spin and that doublings last
//!   for one pass, Figure 6 that both stay; this follows the figure;
//! - where the paper has a list of initial spins, spins start ([`Original`]: stay) at an eighth of
//!   the most.

use super::prism::{Attempt, LockedToggle, Prism};
use super::{Balancer, Node, Side, Token};
use crate::classic::counter::{About, Consistency, Progress};
use crate::machine::{Cpu, Machine, Native};

/// The balancer of DT96 Figure 4, with a fixed spin.
pub type Original<M = Native> = PrismThenLock<M, false, false>;

/// The balancer of DT96 Figure 6: every processor learns its own spin. It halves the spin after it
/// got the toggle, and doubles it after it found the toggle's lock taken.
pub type Adaptive<M = Native> = PrismThenLock<M, true, false>;

/// Like [`Adaptive`], but a token that found the lock taken writes its id into the prism again
/// before it polls again (DT96 section 3.1). The paper measured it as "DTree".
pub type SecondChance<M = Native> = PrismThenLock<M, true, true>;

/// A prism, and behind it a toggle under a lock.
#[derive(Debug)]
pub struct PrismThenLock<M: Machine, const ADAPTIVE: bool, const SECOND_CHANCE: bool> {
    prism: Prism<M>,
    toggle: LockedToggle<M>,
    node: u64,
    first_spin: u32,
    most_spin: u32,
}

impl<M: Machine, const ADAPTIVE: bool, const SECOND_CHANCE: bool>
    PrismThenLock<M, ADAPTIVE, SECOND_CHANCE>
{
    fn spin(&self, token: &Token<'_, M>) -> u32 {
        let learnt = if ADAPTIVE { token.own_spin(self.node) } else { None };
        learnt.unwrap_or(self.first_spin)
    }

    fn got_the_toggle(&self, token: &Token<'_, M>, spin: u32) {
        if ADAPTIVE {
            token.set_own_spin(self.node, (spin / 2).max(1));
        }
    }

    fn missed_the_toggle(&self, token: &Token<'_, M>, spin: u32) -> u32 {
        if SECOND_CHANCE {
            self.prism.leave_word(token);
        }
        if ADAPTIVE {
            let longer = spin.saturating_mul(2).min(self.most_spin);
            token.set_own_spin(self.node, longer);
            longer
        } else {
            spin
        }
    }
}

impl<M: Machine, const ADAPTIVE: bool, const SECOND_CHANCE: bool> Balancer<M>
    for PrismThenLock<M, ADAPTIVE, SECOND_CHANCE>
{
    const ABOUT: About = About {
        name: match (ADAPTIVE, SECOND_CHANCE) {
            (false, false) => "diffracting-original",
            (true, false) => "diffracting-adaptive",
            (_, true) => "diffracting-second-chance",
        },
        summary: match (ADAPTIVE, SECOND_CHANCE) {
            (false, false) => "a tree of prisms and locked toggles",
            (true, false) => "the original, each processor learning how long to wait for a partner",
            (_, true) => "the adaptive one, waiting tokens announced in the prism again",
        },
        paper: match (ADAPTIVE, SECOND_CHANCE) {
            (false, false) => "DT96 Figure 4",
            (true, false) => "DT96 Figure 6",
            (_, true) => "DT96 section 3.1",
        },
        consistency: Consistency::Quiescent,
        progress: Progress::Blocking,
    };

    const LEARNS: bool = ADAPTIVE;

    fn new(node: Node) -> Self {
        PrismThenLock {
            prism: Prism::new(node),
            toggle: LockedToggle::new(node),
            node: node.index as u64,
            first_spin: node.first_spin(),
            most_spin: node.spin.max(1),
        }
    }

    fn traverse(&self, token: &Token<'_, M>) -> Side {
        token.announce(self.node);
        if let Some(side) = self.prism.meet(token, self.node) {
            return side;
        }
        let mut spin = self.spin(token);
        let mut round = 0;
        loop {
            if token.is_diffracted_within(spin, self.node) {
                return Side::Right;
            }
            match self.toggle.attempt(token, self.node, 0) {
                Attempt::Toggled(side) => {
                    self.got_the_toggle(token, spin);
                    return side;
                }
                Attempt::Diffracted => return Side::Right,
                Attempt::Busy => spin = self.missed_the_toggle(token, spin),
                Attempt::Over => unreachable!("this toggle is never set anew"),
            }
            token.cpu.retry(round);
            round += 1;
        }
    }
}
