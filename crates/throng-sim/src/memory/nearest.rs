//! Caches, and a miss is answered by the nearest copy: rings of caches without memory (COMA), or
//! chiplets with a shared cache.
//!
//! The machine is made of groups in groups: rings in a ring of rings, chiplets in sockets. A read
//! goes to the nearest copy and back, a write to the farthest copy that has to go and back. A line
//! goes from one owner to the next one at a time. For a line without copies, the memory at the
//! line's home answers, one request at a time.
//!
//! A copy that is itself still on its way answers when it has come. Of the readers of a chiplet,
//! and of those of a socket, only the first goes far, and the others get their copies soon after.
//!
//! A reader that memory answers is alone, and may write. All is decided when a request is issued,
//! in that order. The line's copies change hands in the simulator's state at once, and the times
//! say when others learn of it. So lines and memories serve in the order of issue, which is not
//! always the order in which requests would have arrived.

use std::ops::Range;

use throng::machine::Place;

use super::lines::Lines;
use super::network::Network;
use super::seats::Seats;
use super::{Kind, Memory, Request, Revoked, Step, hit_cycles};
use crate::spec::{CoherenceSpec, MachineSpec, ProcessorSpec};

/// Caches in groups.
#[derive(Debug)]
pub(super) struct Nearest {
    processor: ProcessorSpec,
    holder_cycles: u64,
    memory_cycles: u64,
    network: Network,
    /// The sizes of the groups in nodes, the smallest first; the last group has all nodes.
    groups: Vec<usize>,
    lines: Lines,
    memory_free_at: Vec<u64>,
    /// For each line the groups to which a first copy is on its way, in order, and the times when
    /// it comes.
    coming: Vec<Vec<(Group, u64)>>,
    seats: Seats,
}

/// A group of nodes: its level and its number there.
type Group = (usize, usize);

impl Nearest {
    pub(super) fn new(spec: &MachineSpec, seats: Seats) -> Self {
        let CoherenceSpec::Nearest { holder_cycles, memory_cycles } = spec.coherence else {
            unreachable!("chosen by the kind of coherence")
        };
        let lines = Lines::new(seats.clone());
        let network = Network::new(spec, lines.seats.count);
        Nearest {
            processor: spec.processor,
            holder_cycles,
            memory_cycles,
            groups: network.groups(),
            memory_free_at: vec![0; lines.seats.count],
            network,
            lines,
            coming: Vec::new(),
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

    /// Queues for the network, from now on, and for the line, which may take longer. Returns the
    /// time at which the request would have left without the wait for the line.
    fn stand_in_line(&mut self, request: Request, to: usize, wanted: u64) -> u64 {
        let from = self.lines.node(request.processor);
        let leaves = self.network.stand_in_line(from, to, wanted);
        let line = self.lines.get(request.line);
        let leaves = leaves.max(line.free_at);
        line.traffic.waited_cycles += leaves - wanted;
        leaves
    }

    /// Returns the time when a request to `holder` and back left, and the time when its answer
    /// comes.
    fn round_trip(&mut self, request: Request, holder: usize, wanted: u64) -> (u64, u64) {
        let (here, there) = (self.lines.node(request.processor), self.lines.node(holder));
        let left = self.stand_in_line(request, there, wanted);
        let asked = self.network.send(here, there, left);
        (left, self.network.send(there, here, asked + self.holder_cycles))
    }

    /// Lets memory answer, because there is no copy. Returns the time when the answer comes.
    fn ask_memory(&mut self, request: Request, wanted: u64) -> u64 {
        let here = self.lines.node(request.processor);
        let home = self.lines.get(request.line).home;
        let left = self.stand_in_line(request, home, wanted);
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
        let coming = &self.coming[request.line as usize];
        let found = coming.binary_search_by_key(&group, |&(group, _)| group);
        found.map_or(0, |place| coming[place].1)
    }

    /// Records that the processor's groups below this level get their first copy.
    fn copy_will_come(&mut self, request: Request, level: usize, at: u64, now: u64) {
        let node = self.lines.node(request.processor);
        let coming = &mut self.coming[request.line as usize];
        coming.retain(|&(_, at)| at > now);
        for (level, nodes) in self.groups[..level].iter().enumerate() {
            let group = (level, node / nodes);
            let place = coming.partition_point(|&(other, _)| other < group);
            coming.insert(place, (group, at));
        }
    }

    /// Gives the line to its next owner, which has it when its access is complete.
    fn goes_to_owner(&mut self, request: Request, done: u64) {
        self.lines.get(request.line).free_at = done + self.processor.fill_cycles;
        self.coming[request.line as usize].clear();
    }

    fn read(&mut self, request: Request, wanted: u64, now: u64, revoked: &mut Revoked) -> u64 {
        let Some((holder, level)) = self.nearest(request) else {
            let done = self.ask_memory(request, wanted);
            self.lines.own(request, revoked, |_| unreachable!("there is no copy"));
            self.goes_to_owner(request, done);
            return done;
        };
        let answered = self.round_trip(request, holder, wanted).1;
        let (here, there) = (self.lines.node(request.processor), self.lines.node(holder));
        let given = self.copy_comes_at(request, level) + self.holder_cycles;
        let done = answered.max(given + self.network.cycles(there, here));
        self.lines.get(request.line).traffic.waited_cycles += done - answered;
        self.copy_will_come(request, level, done, now);
        self.lines.share(request);
        done
    }

    fn write(&mut self, request: Request, wanted: u64, revoked: &mut Revoked) -> u64 {
        let (left, done) = match self.farthest(request) {
            Some(holder) => self.round_trip(request, holder, wanted),
            None => (wanted, self.ask_memory(request, wanted)),
        };
        let here = self.lines.node(request.processor);
        let Nearest { network, lines, seats, .. } = self;
        let told_at = |other: usize| left + network.cycles(here, seats.node(other));
        lines.own(request, revoked, told_at);
        self.goes_to_owner(request, done);
        done
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
        self.coming.push(Vec::new());
    }

    #[inline]
    fn issue(&mut self, request: Request, now: u64, revoked: &mut Revoked) -> Step {
        let ready = now + self.processor.instruction_cycles;
        if self.lines.hit(request) {
            return Step::Done(ready + hit_cycles(&self.processor, request.kind));
        }
        let wanted = ready + self.processor.miss_cycles;
        let done = match request.kind {
            Kind::Read => self.read(request, wanted, now, revoked),
            Kind::Write | Kind::Exchange | Kind::FetchOp => self.write(request, wanted, revoked),
        };
        Step::Done((done + self.processor.fill_cycles).max(now + 1))
    }

    fn messages(&self) -> u64 {
        self.network.messages
    }
}
