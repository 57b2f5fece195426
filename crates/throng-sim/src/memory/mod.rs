//! What an access to shared memory costs, and whose copies it takes away.
//!
//! The engine asks a [`Memory`] when an access that is issued now will be complete. A memory that
//! has to wait for something first, such as the arrival of a request at the line's home, asks to be
//! called again at that time; so everything it decides, it decides in the order of simulated time,
//! and a queue is no more than the time at which a place will be free.
//!
//! | file | memory |
//! |---|---|
//! | `ideal.rs` | every access takes the same time |
//! | `directory.rs` | caches; homes that know who has copies |
//! | `snoop.rs` | caches; one bus that all listen to |
//! | `nearest.rs` | caches; the nearest copy answers |
//! | `uncached.rs` | memories, no copies |
//!
//! The state of a line changes when its home takes up the request, or where there is none, when the
//! request is issued. The value changes when the access is complete; requests that come in between
//! stand in line behind it, and see the new value. Where memory itself does the work (`uncached.rs`
//! and fetch-ops at home) they do not: there a value changes one message later than it would in a
//! real memory, and accesses whose answers overtake each other take effect in the order of the
//! answers. Nobody can tell by the values, only by the clock: each access takes effect at one
//! moment, between its beginning and its end.
//!
//! Every step of a request takes at least a cycle, on a machine of zeros, too. `README.md` has the
//! costs of each machine.

mod copies;
mod directory;
mod ideal;
mod lines;
mod nearest;
mod network;
mod seats;
mod snoop;
mod uncached;

use throng::machine::Place;

pub(crate) use self::lines::Lines;
use self::seats::Seats;
use crate::report::Traffic;
use crate::spec::{CoherenceSpec, MachineSpec, ProcessorSpec};

/// What an access does to its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Looks.
    Read,
    /// Writes.
    Write,
    /// Exchanges or compares and exchanges, whether or not the value changes.
    Exchange,
    /// Adds, subtracts, sets or clears bits: what a memory may know how to do by itself.
    FetchOp,
}

/// The number of a line, in the order of making.
pub(crate) type LineId = u32;

/// An access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) processor: usize,
    pub(crate) line: LineId,
    pub(crate) kind: Kind,
}

/// How long an access takes that the processor's own cache answers.
#[inline]
fn hit_cycles(processor: &ProcessorSpec, kind: Kind) -> u64 {
    match kind {
        Kind::Read | Kind::Write => processor.hit_cycles,
        Kind::Exchange | Kind::FetchOp => processor.rmw_hit_cycles.unwrap_or(processor.hit_cycles),
    }
}

/// What comes next for a request. Both times are later than now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The access is complete at this time.
    Done(u64),
    /// It goes on at this time: [`Memory::resume`] is to be called then.
    Again(u64),
}

/// Copies taken away: from which processor, and when it learns of it.
pub(crate) type Revoked = Vec<(usize, u64)>;

/// A memory and the way to it.
pub(crate) trait Memory {
    /// Its lines.
    fn lines(&self) -> &Lines;

    /// Its lines, to be changed.
    fn lines_mut(&mut self) -> &mut Lines;

    /// A processor issues an access. The times of successive calls, of this method and the next
    /// together, do not decrease.
    fn issue(&mut self, request: Request, now: u64, revoked: &mut Revoked) -> Step;

    /// The time has come that the last step of this request asked for.
    fn resume(&mut self, _request: Request, _now: u64, _revoked: &mut Revoked) -> Step {
        unreachable!("an access is one step here")
    }

    /// How many messages were sent.
    fn messages(&self) -> u64;

    /// How far ahead of the others a processor may run as long as it hits: for at least so long
    /// after a request is issued, nothing that it does can be seen by a processor that has a copy.
    fn lookahead(&self) -> u64 {
        0
    }

    /// Sets aside a line; they are numbered 0, 1, 2, ...
    fn add_line(&mut self, place: Place) {
        self.lines_mut().add(place);
    }

    /// Whether a processor that has just read a line can look at it again for nothing until it is
    /// told that its copy is gone.
    fn keeps_copy(&self, processor: usize, line: LineId) -> bool {
        self.lines().holds(processor, line)
    }

    /// What happened to a line so far.
    fn traffic(&self, line: LineId) -> Traffic {
        self.lines().traffic(line)
    }

    /// Counts everything again.
    ///
    /// # Panics
    /// If a copy has come from nowhere or was lost.
    fn check_conservation(&self) {
        self.lines().check_conservation();
    }
}

/// The memory of a machine with room for so many processors, of which `processors` run.
pub(crate) fn build(spec: &MachineSpec, processors: usize, room: usize) -> Box<dyn Memory> {
    let seats = Seats::new(processors, room, spec.processor.per_node);
    match spec.coherence {
        CoherenceSpec::Ideal { access_cycles } => Box::new(ideal::Ideal::new(access_cycles, seats)),
        CoherenceSpec::Directory { .. } => Box::new(directory::Directory::new(spec, seats)),
        CoherenceSpec::Snoop { .. } => Box::new(snoop::Snoop::new(spec, seats)),
        CoherenceSpec::Nearest { .. } => Box::new(nearest::Nearest::new(spec, seats)),
        CoherenceSpec::None { .. } => Box::new(uncached::Uncached::new(spec, seats)),
    }
}
