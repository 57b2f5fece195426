//! A processor as the pool knows it: where it can be met, and what it remembers for itself.
//!
//! # Location words
//!
//! | value | the processor is |
//! |---|---|
//! | 0 | in no balancer, or sent right by another of its kind |
//! | 1 | met by one of the other kind, who is passing a job on |
//! | 2 | met by one of the other kind, and the job was passed on |
//! | 4n | at balancer n with a job, which lies in its parcel |
//! | 4n + 1 | at balancer n, wanting one |
//!
//! A processor writes its own word; others may only take it from 4n or 4n + 1 to 0 or to 1 by a
//! compare-exchange, and who took it to 1 writes 2. The parcel belongs to its processor, except from 1
//! to 2: then it belongs to who wrote the 1.
//!
//! ## Memory ordering
//! Announcing releases the parcel to whoever meets the processor, whose compare-exchange acquires it;
//! the 2 releases it back, and the wait for it acquires.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::machine::{Cell, Cpu, Line, Machine, Place, Word};

pub(super) const NOWHERE: u64 = 0;
const BEING_MET: u64 = 1;
const MET: u64 = 2;

/// What a processor comes to the tree for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// To put a job: a token.
    Put = 0,
    /// To take one: an anti-token.
    Take = 1,
}

impl Kind {
    pub(super) const fn other(self) -> Self {
        match self {
            Kind::Put => Kind::Take,
            Kind::Take => Kind::Put,
        }
    }

    /// The location of one of this kind at balancer `node`, which is not 0.
    pub(super) const fn at(self, node: u64) -> u64 {
        4 * node + self as u64
    }
}

/// One processor.
pub(super) struct Visitor<T: Send, M: Machine> {
    meeting: Line<Meeting<T, M>>,
    pub(super) own: Line<Own>,
}

/// Where others find the processor.
struct Meeting<T: Send, M: Machine> {
    location: M::Word,
    parcel: M::Cell<Option<T>>,
}

/// What only the processor itself reads and writes, so that these are no words of the machine.
#[derive(Debug)]
pub(super) struct Own {
    /// Its leaf.
    home: AtomicU32,
    /// Pushes until it asks again where it is.
    pushes_left: AtomicU32,
    /// Pops until it takes a turn.
    pops_left: AtomicU32,
    /// The leaf of its next turn.
    next_turn: AtomicU32,
    /// 1 while it has a turn to take.
    turn_is_due: AtomicU32,
    /// For each leaf, how many jobs had been taken there when it was last its turn.
    served: Box<[AtomicU32]>,
    /// The leaf where it last found a job that was not at home.
    found_at: AtomicU32,
    /// How long to look for a partner.
    spin: AtomicU32,
    /// How long to wait before it takes a job elsewhere.
    breath: AtomicU32,
}

impl Own {
    #[inline]
    pub(super) fn home(&self) -> usize {
        self.home.load(Relaxed) as usize
    }

    pub(super) fn set_home(&self, leaf: usize) {
        self.home.store(leaf as u32, Relaxed);
    }

    /// Whether `every` pushes have passed since that was last so.
    #[inline]
    pub(super) fn asks_where(&self, every: u32) -> bool {
        Own::is_due(&self.pushes_left, every)
    }

    /// Whether it is time for a turn: `every` pops after that was last so.
    #[inline]
    pub(super) fn begins_turn(&self, every: u32) -> bool {
        let begins = Own::is_due(&self.pops_left, every);
        if begins {
            self.turn_is_due.store(1, Relaxed);
        }
        begins
    }

    /// The leaf whose turn it is, if there is a turn to take.
    #[inline]
    pub(super) fn turn(&self) -> Option<usize> {
        (self.turn_is_due.load(Relaxed) != 0).then(|| self.next_turn.load(Relaxed) as usize)
    }

    /// Whether jobs were taken at `leaf`, the leaf whose turn it is, since it was last its turn; `taken`
    /// were taken there so far.
    pub(super) fn is_served(&self, leaf: usize, taken: u64) -> bool {
        self.served[leaf].load(Relaxed) != taken as u32
    }

    /// The turn of `leaf` is over, where `taken` jobs were taken so far.
    pub(super) fn end_turn(&self, leaf: usize, taken: u64) {
        self.served[leaf].store(taken as u32, Relaxed);
        self.turn_is_due.store(0, Relaxed);
        self.next_turn.store((leaf as u32 + 1) % self.served.len() as u32, Relaxed);
    }

    #[inline]
    fn is_due(left: &AtomicU32, every: u32) -> bool {
        let now = left.load(Relaxed);
        left.store(if now == 0 { every - 1 } else { now - 1 }, Relaxed);
        now == 0
    }

    pub(super) fn found_at(&self) -> usize {
        self.found_at.load(Relaxed) as usize
    }

    pub(super) fn set_found_at(&self, leaf: usize) {
        self.found_at.store(leaf as u32, Relaxed);
    }

    pub(super) fn spin(&self) -> u32 {
        self.spin.load(Relaxed)
    }

    /// So many pauses it makes before it takes a job elsewhere. Takers that are faster than the putters meet
    /// them at every job, and keep them from putting more in. If they wait a little, they find several at once.
    pub(super) fn breath(&self) -> u32 {
        self.breath.load(Relaxed)
    }

    /// It has found a job elsewhere, and none that were worth taking home.
    pub(super) fn has_found_one(&self, most: u32) {
        let longer = self.breath().saturating_mul(2).saturating_add(1);
        self.breath.store(longer.min(most), Relaxed);
    }

    /// It has found jobs elsewhere, and taken some home.
    pub(super) fn has_found_many(&self) {
        self.breath.store(self.breath() / 2, Relaxed);
    }

    /// It has found nothing. Whoever asks again and again is told so at once.
    pub(super) fn has_found_nothing(&self) {
        self.breath.store(0, Relaxed);
    }

    /// Somebody came while it waited: waiting pays.
    pub(super) fn was_met(&self, most: u32) {
        self.spin.store(self.spin().saturating_mul(2).min(most), Relaxed);
    }

    /// Nobody came.
    pub(super) fn was_alone(&self) {
        self.spin.store((self.spin() / 2).max(1), Relaxed);
    }
}

/// How a meeting ended for one who was found.
#[derive(Debug)]
pub(super) enum Found<T> {
    /// By one of its kind: it goes right.
    Diffracted,
    /// By one of the other kind. One who wanted a job gets it here.
    Eliminated(Option<T>),
}

impl<T: Send, M: Machine> Visitor<T, M> {
    pub(super) fn new(id: usize, leaves: usize, spin: u32) -> Self {
        let place = Place::named("pool visitor").index(id).near(id);
        Visitor {
            meeting: Line::new::<M>(place, |spot| Meeting {
                location: M::Word::new(NOWHERE, spot),
                parcel: M::Cell::new(None, spot),
            }),
            own: Line::new::<M>(Place::named("pool visitor's own").near(id), |_| Own {
                home: AtomicU32::new(0),
                pushes_left: AtomicU32::new(0),
                pops_left: AtomicU32::new(0),
                // Not all begin with the same leaf.
                next_turn: AtomicU32::new((id % leaves) as u32),
                turn_is_due: AtomicU32::new(0),
                served: (0..leaves).map(|_| AtomicU32::new(0)).collect(),
                found_at: AtomicU32::new(0),
                spin: AtomicU32::new((spin / 8).max(1)),
                breath: AtomicU32::new(0),
            }),
        }
    }

    /// Lays a job into the parcel, or takes it out.
    ///
    /// # Safety
    /// The parcel must belong to the caller: it is its own, and it is not announced and not being met;
    /// or it is that of one whom the caller is meeting.
    pub(super) unsafe fn exchange(&self, job: Option<T>) -> Option<T> {
        // SAFETY: the parcel is the caller's until it gives it away by a word.
        unsafe { self.meeting.parcel.with_mut(|parcel| std::mem::replace(parcel, job)) }
    }

    /// Tells everyone that this processor, the caller, is at `place`.
    pub(super) fn announce(&self, place: u64) {
        self.meeting.location.store(place, Release);
    }

    /// Takes it back. False if somebody has met the processor already.
    pub(super) fn withdraw(&self, place: u64) -> bool {
        self.meeting.location.compare_exchange(place, NOWHERE, AcqRel, Acquire).is_ok()
    }

    pub(super) fn location(&self) -> u64 {
        self.meeting.location.load(Relaxed)
    }

    /// Sends this one, another of the caller's kind, away from `place`. False if it is not there.
    pub(super) fn diffract(&self, place: u64) -> bool {
        self.withdraw(place)
    }

    /// Begins to pass a job between this one, of the other kind, and the caller. False if it is not at
    /// `place`.
    pub(super) fn begin_to_meet(&self, place: u64) -> bool {
        self.meeting.location.compare_exchange(place, BEING_MET, AcqRel, Relaxed).is_ok()
    }

    /// The job has been passed on.
    pub(super) fn end_meeting(&self) {
        self.meeting.location.store(MET, Release);
    }

    /// Looks for a while whether somebody meets this processor, the caller, at `place`.
    pub(super) fn is_met_within(&self, cpu: &M::Cpu, polls: u32, place: u64) -> bool {
        self.meeting.location.spin_while(cpu, polls, Acquire, |at| at == place) != place
    }

    /// What happened to this processor, the caller, who has been met.
    pub(super) fn found(&self, cpu: &M::Cpu) -> Found<T> {
        let location = &self.meeting.location;
        match location.wait_while(cpu, Acquire, |at| at == BEING_MET) {
            // SAFETY: whoever met us is done with the parcel.
            MET => Found::Eliminated(unsafe { self.exchange(None) }),
            NOWHERE => Found::Diffracted,
            // Only where a processor is taken apart that was stopped for good.
            _ => Found::Eliminated(None),
        }
    }
}

/// A processor in the tree.
pub(super) struct Walker<'a, T: Send, M: Machine> {
    pub(super) cpu: &'a M::Cpu,
    pub(super) id: usize,
    pub(super) visitor: &'a Visitor<T, M>,
}

impl<'a, T: Send, M: Machine> Walker<'a, T, M> {
    #[inline]
    pub(super) fn new(cpu: &'a M::Cpu, crowd: &'a super::Crowd<T, M>) -> Self {
        let id = cpu.id();
        Walker { cpu, id, visitor: crowd.get(id) }
    }

    #[inline]
    pub(super) fn own(&self) -> &'a Own {
        &self.visitor.own
    }
}
