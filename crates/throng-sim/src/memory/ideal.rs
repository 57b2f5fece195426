//! A memory in which every access takes the same time, but a line serves one at a time, first come,
//! first served.

use super::lines::Lines;
use super::seats::Seats;
use super::{LineId, Memory, Request, Revoked, Step};

/// The simplest memory.
#[derive(Debug)]
pub(super) struct Ideal {
    access_cycles: u64,
    lines: Lines,
}

impl Ideal {
    pub(super) fn new(access_cycles: u64, seats: Seats) -> Self {
        Ideal { access_cycles, lines: Lines::new(seats) }
    }
}

impl Memory for Ideal {
    fn lines(&self) -> &Lines {
        &self.lines
    }

    fn lines_mut(&mut self) -> &mut Lines {
        &mut self.lines
    }

    #[inline]
    fn issue(&mut self, request: Request, now: u64, _revoked: &mut Revoked) -> Step {
        let line = self.lines.get(request.line);
        let start = line.free_at.max(now);
        line.free_at = start + self.access_cycles;
        line.traffic.misses += 1;
        line.traffic.waited_cycles += start - now;
        Step::Done(line.free_at)
    }

    fn messages(&self) -> u64 {
        0
    }

    /// There are no caches, but a waiting processor is still notified of a write.
    fn copy_until(&self, _processor: usize, _line: LineId, _now: u64) -> Option<u64> {
        Some(u64::MAX)
    }
}
