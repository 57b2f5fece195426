//! The positions of the processors in the tree: the `location` array of the papers.
//!
//! # Location words
//!
//! | value | the processor is |
//! |---|---|
//! | 0 | in no balancer, or already taken: it is trying to diffract a partner, or was diffracted |
//! | n | at balancer n and free to be diffracted |
//! | n + s 2^32 | the same, if the balancer's toggle is in its setting s (reactive trees) |
//!
//! A processor writes its own word. Others may only change it from n to 0, which diffracts the
//! processor.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::machine::{Cpu, Line, Machine, PerCpu, Place, Word};

/// The location of a processor at no balancer: no balancer has index 0.
const NOWHERE: u64 = 0;

/// The id of a token that never meets another. No processor has it.
const ANONYMOUS: usize = usize::MAX;

/// The number of spins that are kept on one line.
const ON_A_LINE: usize = 32;

/// All processors that have ever walked the tree.
#[derive(Debug)]
pub struct Locations<M: Machine> {
    visitors: PerCpu<Visitor<M>>,
}

/// The location of one processor, and the state that it keeps for itself.
#[derive(Debug)]
struct Visitor<M: Machine> {
    location: Line<M::Word>,
    /// The number of polls for which this processor last waited for a partner at each balancer; 0
    /// before the first time. Only this processor reads or writes it, so it is not a word of the
    /// machine.
    spins: Box<[Line<[AtomicU32; ON_A_LINE]>]>,
}

impl<M: Machine> Visitor<M> {
    /// Takes the visitor away from `node`. Returns false if it is not there any more.
    #[inline]
    fn leave(&self, node: u64) -> bool {
        self.location.compare_exchange(node, NOWHERE, AcqRel, Acquire).is_ok()
    }
}

impl<M: Machine> Locations<M> {
    /// Returns the locations for a tree. Each processor can remember a spin for balancers
    /// 0..`balancers`.
    #[must_use]
    pub fn new(balancers: usize) -> Self {
        let lines = balancers.div_ceil(ON_A_LINE);
        let spins = move |id: usize| {
            (0..lines)
                .map(|_| {
                    let place = Place::named("own spins").near(id);
                    Line::new::<M>(place, |_| std::array::from_fn(|_| AtomicU32::new(0)))
                })
                .collect()
        };
        let location =
            |id: usize| Line::word::<M>(NOWHERE, Place::named("location").index(id).near(id));
        let visitor = move |id| Visitor { location: location(id), spins: spins(id) };
        Locations { visitors: PerCpu::new(visitor) }
    }
}

/// A call on its way through the tree, run by a processor.
#[derive(Debug)]
pub struct Token<'a, M: Machine> {
    /// The processor.
    pub cpu: &'a M::Cpu,
    id: usize,
    own: &'a Visitor<M>,
    locations: &'a Locations<M>,
}

impl<'a, M: Machine> Token<'a, M> {
    /// Returns a token of `cpu` that may meet others.
    #[inline]
    #[must_use]
    pub fn new(cpu: &'a M::Cpu, locations: &'a Locations<M>) -> Self {
        let id = cpu.id();
        Token { cpu, id, own: locations.visitors.get(id), locations }
    }

    /// Returns a token that never meets another, and so needs no id.
    #[inline]
    pub(super) fn anonymous(cpu: &'a M::Cpu, locations: &'a Locations<M>) -> Self {
        Token { cpu, id: ANONYMOUS, own: locations.visitors.get(0), locations }
    }

    /// Returns the processor's id.
    #[inline]
    #[must_use]
    pub fn id(&self) -> usize {
        debug_assert_ne!(self.id, ANONYMOUS, "a balancer whose tokens meet must say so");
        self.id
    }

    #[inline]
    fn own(&self) -> &Visitor<M> {
        debug_assert_ne!(self.id, ANONYMOUS, "a balancer whose tokens meet must say so");
        self.own
    }

    /// Announces that this token is at `node` and may be diffracted.
    #[inline]
    pub fn announce(&self, node: u64) {
        self.own().location.store(node, Release);
    }

    /// Withdraws the announcement. Returns false if another token has diffracted this one already.
    #[inline]
    pub fn withdraw(&self, node: u64) -> bool {
        self.own().leave(node)
    }

    /// Diffracts the token of processor `other`, if it is at `node` and announced. Returns whether
    /// it was.
    #[inline]
    pub fn diffract(&self, other: usize, node: u64) -> bool {
        self.locations.visitors.get(other).leave(node)
    }

    /// Notes that this token passes the toggle of `node`. Tokens that do not were diffracted.
    #[inline]
    pub fn note_toggled(&self, node: u64) {
        self.cpu.note("toggled", node);
    }

    /// Polls `polls` times for being diffracted. Returns whether this token was.
    #[inline]
    pub fn is_diffracted_within(&self, polls: u32, node: u64) -> bool {
        self.own().location.spin_while(self.cpu, polls, Acquire, |at| at == node) != node
    }

    /// Returns the number of polls for which this processor last waited for a partner at `node`, or
    /// `None` if it never did.
    ///
    /// # Panics
    /// If there is no room for a spin at `node`.
    #[inline]
    #[must_use]
    pub fn own_spin(&self, node: u64) -> Option<u32> {
        let spin = self.spin_of(node).load(Relaxed);
        (spin != 0).then_some(spin)
    }

    /// Sets the number of polls for a partner at `node`; not 0.
    ///
    /// # Panics
    /// If there is no room for a spin at `node`.
    #[inline]
    pub fn set_own_spin(&self, node: u64, spin: u32) {
        self.spin_of(node).store(spin, Relaxed);
    }

    #[inline]
    fn spin_of(&self, node: u64) -> &AtomicU32 {
        let node = node as usize;
        &self.own().spins[node / ON_A_LINE][node % ON_A_LINE]
    }
}
