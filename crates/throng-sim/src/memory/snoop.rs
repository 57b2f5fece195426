//! Caches that snoop one bus.
//!
//! The bus takes one request at a time, in the order of requests, from the first to the last word
//! of the answer. Memory or the cache that has the line answers, and all caches see a write at
//! once. A reader that gets the first copy may also write it. A writer that has a copy only needs
//! the others to see its write: it fetches no line, and continues as soon as they have. An owner
//! that is asked for a line that has not come yet answers when its own access is complete; the bus
//! is free for others meanwhile.
//!
//! Copies change hands in the simulator's state when the bus is requested. The others learn of it
//! when they see it on the bus, and use their copies until then.

use super::lines::Lines;
use super::seats::Seats;
use super::{Kind, Memory, Request, Revoked, Step, hit_cycles};
use crate::spec::{CoherenceSpec, MachineSpec, NetworkSpec, ProcessorSpec};

/// Caches on a bus.
#[derive(Debug)]
pub(super) struct Snoop {
    processor: ProcessorSpec,
    arbitration_cycles: u64,
    fetch_cycles: u64,
    upgrade_cycles: u64,
    lines: Lines,
    bus_free_at: u64,
    transactions: u64,
}

impl Snoop {
    pub(super) fn new(spec: &MachineSpec, seats: Seats) -> Self {
        let CoherenceSpec::Snoop { fetch_cycles, upgrade_cycles } = spec.coherence else {
            unreachable!("chosen by the kind of coherence")
        };
        let NetworkSpec::Bus { arbitration_cycles } = spec.network else {
            unreachable!("refused by the check of the specification")
        };
        Snoop {
            processor: spec.processor,
            arbitration_cycles,
            fetch_cycles,
            upgrade_cycles,
            lines: Lines::new(seats),
            bus_free_at: 0,
            transactions: 0,
        }
    }
}

impl Memory for Snoop {
    fn lines(&self) -> &Lines {
        &self.lines
    }

    fn lines_mut(&mut self) -> &mut Lines {
        &mut self.lines
    }

    #[inline]
    fn issue(&mut self, request: Request, now: u64, revoked: &mut Revoked) -> Step {
        let ready = now + self.processor.instruction_cycles;
        let done = ready + hit_cycles(&self.processor, request.kind);
        if self.lines.hit(request, done) {
            return Step::Done(done);
        }
        let wanted = ready + self.processor.miss_cycles + self.arbitration_cycles;
        let start = wanted.max(self.bus_free_at);
        let has_copy = self.lines.holds(request.processor, request.line);
        let cycles = if has_copy { self.upgrade_cycles } else { self.fetch_cycles };
        let heard = start + cycles;
        self.bus_free_at = heard;
        self.transactions += 1;
        let line = self.lines.get(request.line);
        let answered = heard.max(line.settled_at);
        line.traffic.waited_cycles += start - wanted + (answered - heard);
        let done = if has_copy { answered } else { answered + self.processor.fill_cycles };
        if request.kind == Kind::Read && line.copies.count() > 0 {
            if let Some(owner) = line.copies.owner() {
                self.lines.may_write_until(owner, request.line, answered);
            }
            self.lines.share(request);
        } else {
            line.settled_at = done;
            self.lines.own(request, revoked, |_| heard);
        }
        Step::Done(done)
    }

    fn messages(&self) -> u64 {
        self.transactions
    }
}
