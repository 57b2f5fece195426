//! Caches, and a miss is answered by the nearest copy: rings of caches without memory (COMA), or
//! chiplets with a shared cache.
//!
//! The machine is made of groups in groups: rings in a ring of rings, chiplets in sockets. A read
//! goes to the nearest copy and back, a write to all other copies and back. For a line without
//! copies, the memory at the line's home answers, one request at a time.
//!
//! ```text
//!   a copy that is asked for   leaves when the request comes to it, or when it has come itself
//!   the access is complete     when data and acknowledgements of all copies have come
//! ```
//!
//! A line that several processors want goes from each owner to the next, one way each: the requests
//! wait at the owner and not at a home. Of the readers of a chiplet, and of those of a socket, only
//! the first goes far, and the others get their copies soon after.
//!
//! A reader that memory answers is alone, and may write. Requests for a line are served in the
//! order of issue, which is not always the order in which they would have arrived.
//!
//! With `hold_accesses` above 1, an owner that is asked for a line while it makes an access to it
//! makes further ones if they follow without a gap, until it has made that number since it got the
//! line. Then the other requests wait in a list, since it is not known when they will be served.

use std::collections::VecDeque;
use std::ops::Range;

use throng::machine::Place;

use super::lines::Lines;
use super::network::Network;
use super::seats::Seats;
use super::{Kind, LineId, Memory, Request, Revoked, Step, hit_cycles};
use crate::spec::{CoherenceSpec, MachineSpec, ProcessorSpec};

/// Caches in groups.
#[derive(Debug)]
pub(super) struct Nearest {
    processor: ProcessorSpec,
    holder_cycles: u64,
    memory_cycles: u64,
    hold_accesses: u64,
    network: Network,
    /// The sizes of the groups in nodes, the smallest first; the last group has all nodes.
    groups: Vec<usize>,
    lines: Lines,
    memory_free_at: Vec<u64>,
    ways: Vec<Way>,
    /// Accesses that have waited and are served now.
    served: VecDeque<(usize, Step)>,
    seats: Seats,
}

/// What is under way for a line.
#[derive(Debug)]
struct Way {
    /// The processor that was the last to get the right to write.
    last_owner: usize,
    /// The number of accesses that it has made since, or begun.
    accesses: u64,
    /// The groups to which a first copy is on its way, in order, and the times when it comes.
    coming: Vec<(Group, u64)>,
    /// The requests that wait for the owner to give the line up, and the time when each left.
    waiting: VecDeque<(Request, u64)>,
}

/// A group of nodes: its level and its number there.
type Group = (usize, usize);

impl Nearest {
    pub(super) fn new(spec: &MachineSpec, seats: Seats) -> Self {
        let CoherenceSpec::Nearest { holder_cycles, memory_cycles, hold_accesses } = spec.coherence
        else {
            unreachable!("chosen by the kind of coherence")
        };
        let lines = Lines::new(seats.clone());
        let network = Network::new(spec, lines.seats.count);
        Nearest {
            processor: spec.processor,
            holder_cycles,
            memory_cycles,
            hold_accesses,
            groups: network.groups(),
            memory_free_at: vec![0; lines.seats.count],
            network,
            lines,
            ways: Vec::new(),
            served: VecDeque::new(),
            seats,
        }
    }

    /// Returns the processors of the group of `nodes` nodes that `processor` is in.
    fn group(&self, processor: usize, nodes: usize) -> Range<usize> {
        let start = self.seats.node(processor) / nodes * nodes;
        self.seats.at(start..start.saturating_add(nodes))
    }

    /// Returns the nearest other processor that has a copy, and the level of the smallest group
    /// that both are in.
    fn nearest(&mut self, request: Request) -> Option<(usize, usize)> {
        (0..self.groups.len()).find_map(|level| {
            let group = self.group(request.processor, self.groups[level]);
            let copies = &self.lines.get(request.line).copies;
            copies.first_other(group, request.processor).map(|holder| (holder, level))
        })
    }

    /// Returns the farthest other processor that has a copy.
    fn farthest(&mut self, request: Request) -> Option<usize> {
        let from = self.lines.node(request.processor);
        let mut farthest = None;
        let Nearest { network, lines, seats, .. } = self;
        lines.get(request.line).copies.for_others(request.processor, |other| {
            let cycles = network.cycles(from, seats.node(other));
            if farthest.is_none_or(|(most, _)| cycles > most) {
                farthest = Some((cycles, other));
            }
        });
        farthest.map(|(_, other)| other)
    }

    /// Queues for the network. Returns the time when the request leaves.
    fn leave(&mut self, request: Request, wanted: u64) -> u64 {
        let from = self.lines.node(request.processor);
        let to = match request.kind {
            Kind::Read => self.nearest(request).map(|(holder, _)| holder),
            Kind::Write | Kind::Exchange | Kind::FetchOp => self.farthest(request),
        };
        let line = self.lines.get(request.line);
        let to = to.map_or(line.home, |holder| self.seats.node(holder));
        let leaves = self.network.stand_in_line(from, to, wanted);
        line.traffic.waited_cycles += leaves - wanted;
        leaves
    }

    /// Lets memory answer, because there is no copy. Returns the time when the answer comes.
    fn ask_memory(&mut self, request: Request, left: u64) -> u64 {
        let here = self.lines.node(request.processor);
        let home = self.lines.get(request.line).home;
        let asked = self.network.send(here, home, left);
        let start = self.memory_free_at[home].max(asked);
        self.memory_free_at[home] = start + self.memory_cycles;
        self.lines.get(request.line).traffic.waited_cycles += start - asked;
        self.network.send(home, here, start + self.memory_cycles)
    }

    /// Returns the time when the first copy of the processor's own group of this level came, or
    /// will come.
    fn copy_comes_at(&self, request: Request, level: usize) -> u64 {
        let group = (level, self.lines.node(request.processor) / self.groups[level]);
        let coming = &self.ways[request.line as usize].coming;
        let found = coming.binary_search_by_key(&group, |&(group, _)| group);
        found.map_or(0, |place| coming[place].1)
    }

    /// Records that the processor's groups below this level get their first copy.
    fn copy_will_come(&mut self, request: Request, level: usize, at: u64) {
        let node = self.lines.node(request.processor);
        let coming = &mut self.ways[request.line as usize].coming;
        for (level, nodes) in self.groups[..level].iter().enumerate() {
            let group = (level, node / nodes);
            match coming.binary_search_by_key(&group, |&(group, _)| group) {
                Ok(place) => coming[place].1 = at,
                Err(place) => coming.insert(place, (group, at)),
            }
        }
    }

    /// Gives the line to its next owner, which can use it from `done` on.
    fn goes_to_owner(&mut self, request: Request, done: u64) {
        self.lines.get(request.line).settled_at = done;
        let way = &mut self.ways[request.line as usize];
        (way.last_owner, way.accesses) = (request.processor, 1);
        way.coming.clear();
        self.copy_will_come(request, self.groups.len(), done);
    }

    /// Serves a read that left at this time. Returns the time when it is complete.
    fn read(&mut self, request: Request, left: u64, revoked: &mut Revoked) -> u64 {
        let fill = self.processor.fill_cycles;
        let Some((holder, level)) = self.nearest(request) else {
            let done = self.ask_memory(request, left) + fill;
            self.lines.own(request, revoked, |_| unreachable!("there is no copy"));
            self.goes_to_owner(request, done);
            return done;
        };
        let (here, there) = (self.lines.node(request.processor), self.lines.node(holder));
        let asked = self.network.send(here, there, left);
        let mut has_it = self.copy_comes_at(request, level).max(asked);
        let line = self.lines.get(request.line);
        if let Some(owner) = line.copies.owner() {
            has_it = has_it.max(line.settled_at);
            self.lines.may_write_until(owner, request.line, has_it);
        }
        self.lines.get(request.line).traffic.waited_cycles += has_it - asked;
        let done = self.network.send(there, here, has_it + self.holder_cycles) + fill;
        self.copy_will_come(request, level, done);
        self.lines.share(request);
        done
    }

    /// Serves a write that left at this time. Returns the time when it is complete.
    fn write(&mut self, request: Request, left: u64, revoked: &mut Revoked) -> u64 {
        let fill = self.processor.fill_cycles;
        let Some(farthest) = self.farthest(request) else {
            let done = self.ask_memory(request, left) + fill;
            self.lines.own(request, revoked, |_| unreachable!("there is no copy"));
            self.goes_to_owner(request, done);
            return done;
        };
        let (here, there) = (self.lines.node(request.processor), self.lines.node(farthest));
        let asked = self.network.send(here, there, left);
        let unhindered = self.network.send(there, here, asked + self.holder_cycles);
        let mut acknowledged = unhindered;
        let Nearest { network, lines, seats, ways, holder_cycles, .. } = self;
        let last_owner = ways[request.line as usize].last_owner;
        let settled_at = lines.get(request.line).settled_at;
        let told_at = |other: usize| {
            let way = network.cycles(here, seats.node(other));
            let told = left + way;
            // The owner gives up the line when it has come and its accesses are complete.
            let told = if other == last_owner { told.max(settled_at) } else { told };
            acknowledged = acknowledged.max(told + *holder_cycles + way);
            told
        };
        lines.own(request, revoked, told_at);
        lines.get(request.line).traffic.waited_cycles += acknowledged - unhindered;
        let done = acknowledged + fill;
        self.goes_to_owner(request, done);
        done
    }

    fn serve(&mut self, request: Request, left: u64, revoked: &mut Revoked) -> u64 {
        match request.kind {
            Kind::Read => self.read(request, left, revoked),
            Kind::Write | Kind::Exchange | Kind::FetchOp => self.write(request, left, revoked),
        }
    }

    /// Returns the processor that may hold the line although this request comes to it.
    fn holder(&mut self, request: Request) -> Option<usize> {
        let owner = self.lines.get(request.line).copies.owner();
        owner.filter(|_| self.hold_accesses > 1)
    }

    /// Returns the time when the request comes to the owner of the line.
    fn comes_to(&self, request: Request, owner: usize, left: u64) -> u64 {
        left + self.network.cycles(self.seats.node(request.processor), self.seats.node(owner))
    }

    /// Serves the requests that wait for this line, until one has to wait for an owner.
    fn serve_waiting(&mut self, line: LineId, now: u64, revoked: &mut Revoked) {
        while let Some(&(request, left)) = self.ways[line as usize].waiting.front() {
            if let Some(owner) = self.holder(request) {
                // The owner's access, for which it got the line, is complete then.
                let has_it = self.lines.get(line).settled_at;
                let at = self.comes_to(request, owner, left).max(has_it + 1).max(now + 1);
                self.served.push_back((request.processor, Step::Again(at)));
                return;
            }
            self.ways[line as usize].waiting.pop_front();
            let done = self.serve(request, left, revoked).max(now + 1);
            self.served.push_back((request.processor, Step::Done(done)));
        }
    }
}

impl Memory for Nearest {
    fn lines(&self) -> &Lines {
        &self.lines
    }

    fn lines_mut(&mut self) -> &mut Lines {
        &mut self.lines
    }

    fn add_line(&mut self, place: Place) {
        self.lines.add(place);
        self.ways.push(Way {
            last_owner: 0,
            accesses: 0,
            coming: Vec::new(),
            waiting: VecDeque::new(),
        });
    }

    #[inline]
    fn issue(&mut self, request: Request, now: u64, revoked: &mut Revoked) -> Step {
        let ready = now + self.processor.instruction_cycles;
        let done = ready + hit_cycles(&self.processor, request.kind);
        if self.lines.hit(request, done) {
            let line = self.lines.get(request.line);
            if line.copies.owner() == Some(request.processor) {
                line.settled_at = done;
                self.ways[request.line as usize].accesses += 1;
            }
            return Step::Done(done);
        }
        let left = self.leave(request, ready + self.processor.miss_cycles);
        let holder = self.holder(request);
        let waiting = &mut self.ways[request.line as usize].waiting;
        if !waiting.is_empty() {
            waiting.push_back((request, left));
            return Step::Wait;
        }
        let Some(owner) = holder else {
            return Step::Done(self.serve(request, left, revoked).max(now + 1));
        };
        waiting.push_back((request, left));
        Step::Again(self.comes_to(request, owner, left).max(now + 1))
    }

    /// Continues the first request that waits for the owner of its line, and has come to it.
    fn resume(&mut self, request: Request, now: u64, revoked: &mut Revoked) -> Step {
        let settled_at = self.lines.get(request.line).settled_at;
        let way = &mut self.ways[request.line as usize];
        if settled_at >= now && way.accesses < self.hold_accesses {
            // The next access of the owner, if it follows, is issued at that time.
            return Step::Again(settled_at + 1);
        }
        let (_, left) = way.waiting.pop_front().expect("it is the first that waits");
        let done = self.serve(request, left, revoked).max(now + 1);
        self.serve_waiting(request.line, now, revoked);
        Step::Done(done)
    }

    fn next_served(&mut self) -> Option<(usize, Step)> {
        self.served.pop_front()
    }

    fn messages(&self) -> u64 {
        self.network.messages
    }
}
