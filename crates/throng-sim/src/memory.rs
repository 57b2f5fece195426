//! What an access to shared memory costs.
//!
//! The engine asks one question, [`Memory::serve`]: an access is issued now, when is it complete?
//! It asks in the order of simulated time, so a memory may keep whatever state it likes: who has a
//! copy of a line, how long a link is busy. [`Uniform`] is the plainest memory there is.

use throng::machine::Place;

/// What an access does to its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Looks.
    Read,
    /// Writes, or reads and writes in one step, whether or not the value changes.
    Write,
}

/// The number of a line, in the order of making.
pub(crate) type LineId = u32;

/// A memory and the way to it.
pub(crate) trait Memory {
    /// Sets aside a line; they are numbered 0, 1, 2, ...
    fn add_line(&mut self, place: Place);

    /// `processor` issues an access at `time`; returns when it is complete, at least one cycle
    /// later. The times of successive calls do not decrease.
    fn serve(&mut self, processor: usize, line: LineId, kind: Kind, time: u64) -> u64;
}

/// Every access takes the same time, but a line serves one at a time, first come, first served.
#[derive(Debug)]
pub(crate) struct Uniform {
    access_cycles: u64,
    /// For each line, when it has served all that was asked of it so far.
    free_at: Vec<u64>,
}

impl Uniform {
    /// A memory in which an access costs so many cycles, at least one.
    pub(crate) fn new(access_cycles: u64) -> Self {
        debug_assert!(access_cycles > 0, "time must pass");
        Uniform { access_cycles, free_at: Vec::new() }
    }
}

impl Memory for Uniform {
    fn add_line(&mut self, _place: Place) {
        self.free_at.push(0);
    }

    #[inline]
    fn serve(&mut self, _processor: usize, line: LineId, _kind: Kind, time: u64) -> u64 {
        let free_at = &mut self.free_at[line as usize];
        *free_at = time.max(*free_at) + self.access_cycles;
        *free_at
    }
}
