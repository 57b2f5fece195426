//! The cost of an access to shared memory, and the copies that it takes away.
//!
//! The engine asks a [`Memory`] when an access that is issued now will be complete. A memory that
//! has to wait for another event first, such as the arrival of a request at the line's home, asks
//! to be called again at that time. So all its decisions are made in the order of simulated time,
//! and a queue is just the time at which a place will be free.
//!
//! | file | memory |
//! |---|---|
//! | `ideal.rs` | every access takes the same time |
//! | `directory.rs` | caches; homes that keep lists of copies |
//! | `snoop.rs` | caches; one bus that all snoop |
//! | `nearest.rs` | caches; the nearest copy answers |
//! | `uncached.rs` | memories, no copies |
//!
//! The state of a line changes when its home takes up the request, or, without a home, when the
//! request is issued. Copies that are taken away stay usable until their processors are told
//! (`lines.rs`). The value changes when the access is complete; requests that come in between
//! queue behind it, and see the new value. Where memory itself does the work (`uncached.rs` and
//! fetch-ops at home) they do not. There a value changes one message later than it would in a real
//! memory, and accesses whose answers overtake each other take effect in the order of the answers.
//! This shows in times only, not in values: each access takes effect at one moment,
//! between its beginning and its end.
//!
//! Every step of a request takes at least a cycle, also on a machine whose times are all 0.
//! `README.md` has the costs of each machine.

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
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Exchanges or compares and exchanges, whether or not the value changes.
    Exchange,
    /// Adds, subtracts, sets or clears bits: operations that a memory may do by itself.
    FetchOp,
}

/// The number of a line, in the order of creation.
pub(crate) type LineId = u32;

/// An access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) processor: usize,
    pub(crate) line: LineId,
    pub(crate) kind: Kind,
}

/// Returns the time of an access that the processor's own cache answers.
#[inline]
fn hit_cycles(processor: &ProcessorSpec, kind: Kind) -> u64 {
    match kind {
        Kind::Read | Kind::Write => processor.hit_cycles,
        Kind::Exchange | Kind::FetchOp => processor.rmw_hit_cycles.unwrap_or(processor.hit_cycles),
    }
}

/// The next step of a request. Both times are later than now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The access is complete at this time.
    Done(u64),
    /// The access continues at this time: [`Memory::resume`] must be called then.
    Again(u64),
    /// The access waits for another: [`Memory::next_served`] will return it with its next step.
    Wait,
}

/// Copies taken away: the processor, and the time when it learns of it.
pub(crate) type Revoked = Vec<(usize, u64)>;

/// A memory and the network to it.
pub(crate) trait Memory {
    /// Returns its lines.
    fn lines(&self) -> &Lines;

    /// Returns its lines, to be changed.
    fn lines_mut(&mut self) -> &mut Lines;

    /// Issues an access. The times of successive calls, of this method and the next together, must
    /// not decrease.
    fn issue(&mut self, request: Request, now: u64, revoked: &mut Revoked) -> Step;

    /// Continues a request at the time that its last step asked for.
    fn resume(&mut self, _request: Request, _now: u64, _revoked: &mut Revoked) -> Step {
        unreachable!("an access is one step here")
    }

    /// Returns an access that has waited and goes on because of the last call of
    /// [`resume`](Memory::resume): its processor and its next step.
    fn next_served(&mut self) -> Option<(usize, Step)> {
        None
    }

    /// Returns the number of messages sent.
    fn messages(&self) -> u64;

    /// Returns the number of cycles that a processor may run ahead of the others as long as it
    /// hits. For at least that time after a request is issued, a processor that has a copy sees
    /// nothing of it.
    fn lookahead(&self) -> u64 {
        0
    }

    /// Adds a line; lines are numbered 0, 1, 2, ...
    fn add_line(&mut self, place: Place) {
        self.lines_mut().add(place);
    }

    /// Returns the time until which a processor that has just read a line can read it again at no
    /// cost, `None` if it cannot. The time is beyond all others if the copy stays; then the
    /// processor is notified when it goes.
    fn copy_until(&self, processor: usize, line: LineId, now: u64) -> Option<u64> {
        self.lines().copy_until(processor, line, now)
    }

    /// Returns the counts of a line so far.
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

/// Builds the memory of a machine with room for `room` processors, of which `processors` run.
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
