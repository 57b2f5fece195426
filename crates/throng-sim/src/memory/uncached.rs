//! Memories without copies of shared lines: every access goes to the line's home and back. A memory
//! serves one access at a time, in the order of arrival.

use super::lines::Lines;
use super::network::Network;
use super::seats::Seats;
use super::{Kind, LineId, Memory, Request, Revoked, Step};
use crate::spec::{CoherenceSpec, MachineSpec, ProcessorSpec};

/// Memories behind a network.
#[derive(Debug)]
pub(super) struct Uncached {
    processor: ProcessorSpec,
    memory_cycles: u64,
    rmw_cycles: u64,
    network: Network,
    lines: Lines,
    memory_free_at: Vec<u64>,
}

impl Uncached {
    pub(super) fn new(spec: &MachineSpec, seats: Seats) -> Self {
        let CoherenceSpec::None { memory_cycles, rmw_cycles } = spec.coherence else {
            unreachable!("chosen by the kind of coherence")
        };
        let lines = Lines::new(seats);
        Uncached {
            processor: spec.processor,
            memory_cycles,
            rmw_cycles,
            network: Network::new(spec, lines.seats.count),
            memory_free_at: vec![0; lines.seats.count],
            lines,
        }
    }
}

impl Memory for Uncached {
    fn lines(&self) -> &Lines {
        &self.lines
    }

    fn lines_mut(&mut self) -> &mut Lines {
        &mut self.lines
    }

    #[inline]
    fn issue(&mut self, request: Request, now: u64, _revoked: &mut Revoked) -> Step {
        let wanted = now + self.processor.instruction_cycles + self.processor.miss_cycles;
        let from = self.lines.node(request.processor);
        let line = self.lines.get(request.line);
        line.traffic.misses += 1;
        let leaves = self.network.stand_in_line(from, line.home, wanted);
        line.traffic.waited_cycles += leaves - wanted;
        Step::Again(self.network.send(from, line.home, leaves).max(now + 1))
    }

    /// Continues a request that has arrived at the memory.
    fn resume(&mut self, request: Request, now: u64, _revoked: &mut Revoked) -> Step {
        let node = self.lines.node(request.processor);
        let line = self.lines.get(request.line);
        let cycles = match request.kind {
            Kind::Read | Kind::Write => self.memory_cycles,
            Kind::Exchange | Kind::FetchOp => self.rmw_cycles,
        };
        let start = self.memory_free_at[line.home].max(now);
        self.memory_free_at[line.home] = start + cycles;
        line.traffic.waited_cycles += start - now;
        let back = self.network.send(line.home, node, start + cycles);
        Step::Done((back + self.processor.fill_cycles).max(now + 1))
    }

    #[inline]
    fn copy_until(&self, _processor: usize, _line: LineId, _now: u64) -> Option<u64> {
        None
    }

    fn messages(&self) -> u64 {
        self.network.messages
    }
}
