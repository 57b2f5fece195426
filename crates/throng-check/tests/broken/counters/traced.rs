//! A leaf that grows into two, once, like those of self-tuning trees. The token that switches the
//! link counts the tokens on the old way by their traces.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Release, SeqCst};

use throng::machine::{Cpu, Line, Machine, PerCpu, Place, Word};
use throng::structures::counter::{About, Consistency, Counting, Method, Shape, ShapeError};
use throng::structures::lock::{Guarded, McsLock};

use super::about;

/// Without a fault.
pub(crate) const AS_IT_SHOULD: u8 = 0;
/// A token reads the link before it announces that it will (ST07 Figure 12).
pub(crate) const READS_FIRST: u8 = 1;
/// A token leaves its trace after the lock of its leaf is free (ST07 Figure 6 as printed).
pub(crate) const LEAVES_LATE: u8 = 2;

/// The next number of the two leaves before they have one.
const NOT_YET: u64 = u64::MAX;

/// Values of a trace.
const OUTSIDE: u64 = 0;
const AT_LEAF: u64 = 1;

#[derive(Debug)]
pub(crate) struct Traced<M: Machine, const FAULT: u8> {
    /// 0: to the leaf; 1: to the toggle.
    link: Line<M::Word>,
    leaf: Guarded<u64, McsLock<M>, M>,
    toggle: Line<M::Word>,
    leaves: [Line<M::Word>; 2],
    traces: PerCpu<Line<M::Word>>,
}

impl<M: Machine, const FAULT: u8> Traced<M, FAULT> {
    /// Returns whether the token goes to the leaf; its trace says so, too.
    fn goes_to_leaf(&self, trace: &M::Word) -> bool {
        if FAULT == READS_FIRST {
            // BROKEN: a switch may come between.
            let leads_to_leaf = self.link.load(Acquire) == 0;
            trace.store(if leads_to_leaf { AT_LEAF } else { OUTSIDE }, Release);
            return leads_to_leaf;
        }
        // A token that is about to read the link counts as one that went to the leaf, and does so.
        trace.store(AT_LEAF, Release);
        M::fence(SeqCst);
        self.link.load(Acquire) == 0 || !self.is_uncounted(trace)
    }

    /// Returns whether the trace can still be withdrawn, because it has not been counted.
    fn is_uncounted(&self, trace: &M::Word) -> bool {
        trace.compare_exchange(AT_LEAF, OUTSIDE, AcqRel, Acquire).is_ok()
    }

    /// Grows the leaf, unless it has grown.
    fn grow(&self, next: u64) {
        if self.link.load(Acquire) == 1 {
            return;
        }
        self.link.store(1, Release);
        M::fence(SeqCst);
        // Counted by a compare-exchange: a trace that was counted cannot be withdrawn.
        let count = |trace: &Line<M::Word>| {
            trace.compare_exchange(AT_LEAF, OUTSIDE, AcqRel, Acquire).is_ok()
        };
        let pending = self.traces.iter().filter(|trace| count(trace)).count() as u64;
        for (side, leaf) in (0..).zip(&self.leaves) {
            leaf.store(next + pending + side, Release);
        }
    }

    fn at_leaf(&self, cpu: &M::Cpu, trace: &M::Word) -> u64 {
        let number = self.leaf.with(cpu, |next| {
            // Not with the very first number: then no other token could be miscounted.
            if *next > 0 {
                self.grow(*next);
            }
            if FAULT != LEAVES_LATE {
                trace.store(OUTSIDE, Release);
            }
            *next += 1;
            *next - 1
        });
        // BROKEN, with LEAVES_LATE: until now it looked as if it had no number yet.
        trace.store(OUTSIDE, Release);
        number
    }
}

impl<M: Machine, const FAULT: u8> Counting<M> for Traced<M, FAULT> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        let trace = self.traces.get(cpu.id());
        if self.goes_to_leaf(trace) {
            return self.at_leaf(cpu, trace);
        }
        let leaf = &self.leaves[self.toggle.fetch_add(1, AcqRel) as usize % 2];
        leaf.wait_while(cpu, Acquire, |next| next == NOT_YET);
        leaf.fetch_add(2, AcqRel)
    }
}

impl<M: Machine, const FAULT: u8> Method<M> for Traced<M, FAULT> {
    const ABOUT: About = about(
        match FAULT {
            READS_FIRST => "traced-reads-first",
            LEAVES_LATE => "traced-leaves-late",
            _ => "traced",
        },
        Consistency::Quiescent,
    );

    fn build(_shape: &Shape) -> Result<Self, ShapeError> {
        let word = |name, value| Line::word::<M>(value, Place::named(name));
        Ok(Traced {
            link: word("link", 0),
            leaf: Guarded::new(0),
            toggle: word("toggle", 0),
            leaves: [word("leaf", NOT_YET), word("leaf", NOT_YET)],
            traces: PerCpu::new(|id| Line::word::<M>(OUTSIDE, Place::named("trace").index(id))),
        })
    }
}
