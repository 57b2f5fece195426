//! Every access takes the same time, but a line serves one at a time, first come, first served.

use throng::machine::Place;

use super::{LineId, Memory, Request, Revoked, Step};
use crate::report::Traffic;

/// The plainest memory there is.
#[derive(Debug)]
pub(super) struct Ideal {
    access_cycles: u64,
    lines: Vec<Line>,
}

#[derive(Debug, Default)]
struct Line {
    /// When it has served all that was asked of it so far.
    free_at: u64,
    accesses: u64,
    waited_cycles: u64,
}

impl Ideal {
    pub(super) fn new(access_cycles: u64) -> Self {
        Ideal { access_cycles, lines: Vec::new() }
    }
}

impl Memory for Ideal {
    fn add_line(&mut self, _place: Place) {
        self.lines.push(Line::default());
    }

    #[inline]
    fn issue(&mut self, request: Request, now: u64, _revoked: &mut Revoked) -> Step {
        let line = &mut self.lines[request.line as usize];
        let start = line.free_at.max(now);
        line.free_at = start + self.access_cycles;
        line.accesses += 1;
        line.waited_cycles += start - now;
        Step::Done(line.free_at)
    }

    fn resume(&mut self, _request: Request, _now: u64, _revoked: &mut Revoked) -> Step {
        unreachable!("an access is one step")
    }

    /// There are no caches, but a processor that waits is told of the write all the same.
    fn keeps_copy(&self, _processor: usize, _line: LineId) -> bool {
        true
    }

    fn traffic(&self, line: LineId) -> Traffic {
        let line = &self.lines[line as usize];
        Traffic { misses: line.accesses, waited_cycles: line.waited_cycles, ..Traffic::default() }
    }

    fn messages(&self) -> u64 {
        0
    }

    fn check_conservation(&self) {}
}
