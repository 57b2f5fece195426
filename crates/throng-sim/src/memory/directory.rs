//! Caches, and for each line a home that keeps a list of its copies.
//!
//! A miss sends a request to the line's home. Homes serve one request at a time, in the order of
//! arrival. Requests for one line are served one after the other. While a line is on its way from
//! one owner to the next, other requests for it wait, but they do not hold up requests for other
//! lines of that home.
//!
//! ```text
//!   read, memory is good        reader -> home -> reader
//!   read or write, one owner    reader -> home -> owner -> home -> reader, or, with `forward`,
//!                               reader -> home -> owner -> reader
//!   write, k readers            writer -> home -> each of k, one after another -> home -> writer
//!   fetch-op at memory          as a write, but the home does it and no copies are left afterwards
//! ```
//!
//! An owner that is asked for a line that has not come yet gives it up when its own access is
//! complete. Invalidations, copies beyond `pointers`, and fetch-ops keep the home itself busy, and
//! hold up all other requests that arrive there.

use super::lines::Lines;
use super::network::Network;
use super::seats::Seats;
use super::{Kind, Memory, Request, Revoked, Step, hit_cycles};
use crate::spec::{CoherenceSpec, MachineSpec, ProcessorSpec};

/// Caches, homes with directories, and the network between them.
#[derive(Debug)]
pub(super) struct Directory {
    processor: ProcessorSpec,
    costs: Costs,
    network: Network,
    seats: Seats,
    lines: Lines,
    /// For each home, the time when it has looked at all requests that have arrived.
    home_free_at: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Costs {
    home: u64,
    holder: u64,
    invalidate: u64,
    forward: bool,
    exclusive: bool,
    pointers: usize,
    overflow: u64,
    fetch_op: Option<u64>,
}

impl Directory {
    pub(super) fn new(spec: &MachineSpec, seats: Seats) -> Self {
        let CoherenceSpec::Directory {
            home_cycles,
            holder_cycles,
            invalidate_cycles,
            forward,
            exclusive,
            pointers,
            overflow_cycles,
            fetch_op_cycles,
        } = spec.coherence
        else {
            unreachable!("chosen by the kind of coherence")
        };
        let lines = Lines::new(seats.clone());
        Directory {
            processor: spec.processor,
            costs: Costs {
                home: home_cycles,
                holder: holder_cycles,
                invalidate: invalidate_cycles,
                forward,
                exclusive,
                pointers: pointers.unwrap_or(usize::MAX),
                overflow: overflow_cycles,
                fetch_op: fetch_op_cycles,
            },
            network: Network::new(spec, seats.count),
            home_free_at: vec![0; seats.count],
            seats,
            lines,
        }
    }

    fn is_done_at_home(&self, kind: Kind) -> bool {
        kind == Kind::FetchOp && self.costs.fetch_op.is_some()
    }

    /// Adds a copy to the home's list. Returns the time when that is done.
    fn note_copy(&mut self, request: Request, home: usize, at: u64) -> u64 {
        self.lines.share(request);
        if self.lines.get(request.line).copies.count() <= self.costs.pointers {
            return at;
        }
        self.home_free_at[home] += self.costs.overflow;
        at + self.costs.overflow
    }

    /// Gets the line out of its owner's cache. Returns the time when the owner gives it up, and the
    /// time when it is at home again.
    fn recall(&mut self, home: usize, owner: usize, settled_at: u64, at: u64) -> (u64, u64) {
        let way = self.network.there_and_back(home, self.lines.node(owner));
        let given = (at + way).max(settled_at) + self.costs.holder;
        (given, given + way)
    }

    /// Takes the readers' copies away, one message after another. Returns the time when the last
    /// reader has confirmed.
    fn invalidate(&mut self, request: Request, home: usize, at: u64, told: &mut Revoked) -> u64 {
        let Directory { costs, network, lines, home_free_at, seats, .. } = self;
        let (mut sent, mut gone) = (at, at);
        let tell = |reader: usize| {
            let way = network.there_and_back(home, seats.node(reader));
            sent += costs.invalidate;
            let told = sent + way;
            gone = gone.max(told + costs.holder + way);
            told
        };
        lines.own(request, told, tell);
        home_free_at[home] += sent - at;
        gone
    }
}

impl Memory for Directory {
    fn lines(&self) -> &Lines {
        &self.lines
    }

    fn lines_mut(&mut self) -> &mut Lines {
        &mut self.lines
    }

    #[inline]
    fn issue(&mut self, request: Request, now: u64, _revoked: &mut Revoked) -> Step {
        let ready = now + self.processor.instruction_cycles;
        if self.is_done_at_home(request.kind) {
            self.lines.miss(request);
        } else {
            let done = ready + hit_cycles(&self.processor, request.kind);
            if self.lines.hit(request, done) {
                return Step::Done(done);
            }
        }
        let home = self.lines.get(request.line).home;
        let from = self.lines.node(request.processor);
        let wanted = ready + self.processor.miss_cycles;
        let leaves = self.network.stand_in_line(from, home, wanted);
        self.lines.get(request.line).traffic.waited_cycles += leaves - wanted;
        Step::Again(self.network.send(from, home, leaves).max(now + 1))
    }

    /// Continues a request that has arrived at the line's home.
    fn resume(&mut self, request: Request, now: u64, revoked: &mut Revoked) -> Step {
        let Request { processor, line: id, kind } = request;
        let requester = self.lines.node(processor);
        let costs = self.costs;
        let line = self.lines.get(id);
        let (home, settled_at) = (line.home, line.settled_at);

        let seen = self.home_free_at[home].max(now) + costs.home;
        self.home_free_at[home] = seen;
        let start = seen.max(line.free_at);
        line.traffic.waited_cycles += start - costs.home - now;

        // A copy that came while the request was on its way would not help: an upgrade is served as
        // a write.
        let owner = line.copies.owner().filter(|&owner| owner != processor);
        let (leaves_from, leaves_at, home_again) = match owner {
            Some(owner) => {
                let (given, mut at_home) = self.recall(home, owner, settled_at, start);
                if kind == Kind::Read {
                    self.lines.may_write_until(owner, id, given);
                    at_home = self.note_copy(request, home, at_home);
                } else {
                    revoked.push(self.lines.take_over(request, owner, given));
                }
                let owner_node = self.lines.node(owner);
                if costs.forward && !self.is_done_at_home(kind) {
                    (owner_node, given, at_home)
                } else {
                    (home, at_home, at_home)
                }
            }
            None if kind == Kind::Read => {
                let alone = costs.exclusive && self.lines.get(id).copies.count() == 0;
                let at = if alone {
                    self.lines.own(request, revoked, |_| unreachable!("there is no copy"));
                    start
                } else {
                    self.note_copy(request, home, start)
                };
                (home, at, at)
            }
            None => {
                let gone = self.invalidate(request, home, start, revoked);
                (home, gone, gone)
            }
        };

        let (mut leaves_at, mut home_again) = (leaves_at, home_again);
        if self.is_done_at_home(kind) {
            self.lines.clear(request, revoked, |_| unreachable!("only its own copy is left"));
            let cycles = costs.fetch_op.unwrap_or(0);
            leaves_at += cycles;
            home_again = leaves_at;
            self.home_free_at[home] += cycles;
        }
        let done =
            self.network.send(leaves_from, requester, leaves_at) + self.processor.fill_cycles;
        let done = done.max(now + 1);
        let line = self.lines.get(id);
        line.free_at = home_again;
        if line.copies.owner() == Some(processor) {
            line.settled_at = done;
        }
        Step::Done(done)
    }

    /// Returns the time of a message to another node. A request that is taken up from now on cannot
    /// be complete sooner.
    /// A request that was taken up before is complete before the copy came that hits now. There are
    /// two exceptions, which have no lookahead: fetch-ops at home, which are complete only when the
    /// answer has come, and processors at one node, which see each other at once.
    fn lookahead(&self) -> u64 {
        let apart = self.processor.per_node == 1 && self.costs.fetch_op.is_none();
        if apart { self.network.least_cycles() } else { 0 }
    }

    fn messages(&self) -> u64 {
        self.network.messages
    }
}
