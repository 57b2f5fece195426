//! Caches that listen to one bus.
//!
//! The bus takes one request at a time, from the first to the last word of the answer; memory or
//! the cache that has the line answers, and all caches hear a write at once.

use throng::machine::Place;

use super::lines::Lines;
use super::{Kind, LineId, Memory, Request, Revoked, Step, hit_cycles};
use crate::report::Traffic;
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
    pub(super) fn new(spec: &MachineSpec, processors: usize) -> Self {
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
            lines: Lines::new(processors, 1),
            bus_free_at: 0,
            transactions: 0,
        }
    }
}

impl Memory for Snoop {
    fn add_line(&mut self, place: Place) {
        self.lines.add(place);
    }

    #[inline]
    fn issue(&mut self, request: Request, now: u64, revoked: &mut Revoked) -> Step {
        let ready = now + self.processor.instruction_cycles;
        if self.lines.hit(request) {
            return Step::Done(ready + hit_cycles(&self.processor, request.kind));
        }
        let wanted = ready + self.processor.miss_cycles + self.arbitration_cycles;
        let start = wanted.max(self.bus_free_at);
        let has_copy = self.lines.holds(request.processor, request.line);
        let cycles = if has_copy { self.upgrade_cycles } else { self.fetch_cycles };
        let heard = start + cycles;
        self.bus_free_at = heard;
        self.transactions += 1;
        let line = self.lines.get(request.line);
        line.traffic.waited_cycles += start - wanted;
        let alone = line.copies.count() == 0;
        if request.kind == Kind::Read && !alone {
            self.lines.share(request);
        } else {
            self.lines.own(request, revoked, |_| heard);
        }
        Step::Done(heard + self.processor.fill_cycles)
    }

    fn resume(&mut self, _request: Request, _now: u64, _revoked: &mut Revoked) -> Step {
        unreachable!("the bus is one step")
    }

    #[inline]
    fn keeps_copy(&self, processor: usize, line: LineId) -> bool {
        self.lines.holds(processor, line)
    }

    fn traffic(&self, line: LineId) -> Traffic {
        self.lines.traffic(line)
    }

    fn messages(&self) -> u64 {
        self.transactions
    }

    fn check_conservation(&self) {
        self.lines.check_conservation();
    }
}
