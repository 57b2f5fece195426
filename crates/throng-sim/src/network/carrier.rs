//! Messages in flight: wires, switches, ports, and their queues.
//!
//! A part that holds one message at a time needs no queue: when a message arrives, the time at
//! which it leaves the part is known. Only a crossbar's port in has a queue, since the wait of its
//! first message for the port out is not known in advance. So a message costs one event for each
//! part that it passes.

use super::calendar::Calendar;
use super::measured::{Busiest, Carried};
use super::routes::{Routes, Turn};
use super::{NetworkError, NetworkSpec, Topology};

/// The end of a queue.
const NONE: u32 = u32::MAX;

/// Events at this time or later never happen. It is far beyond any run, and the time of a message
/// can be added to any time before it.
const TIME_END: u64 = 1 << 62;

/// A network on which a host sends messages, and that wakes the host at chosen times.
///
/// ```
/// use throng_sim::network::{Network, NetworkSpec};
///
/// let mut network = Network::new(NetworkSpec::crossbar(4))?;
/// network.send(0, 3, "first");
/// network.send(1, 3, "second");
/// network.wake_at(4, "alarm");
/// // A wire, the crossbar, a wire.
/// assert_eq!((network.advance(), network.now()), (Some("first"), 3));
/// // It had to wait for a cycle at the port to node 3.
/// assert_eq!((network.advance(), network.now()), (Some("alarm"), 4));
/// assert_eq!((network.advance(), network.now()), (Some("second"), 4));
/// assert_eq!(network.advance(), None);
/// # Ok::<(), throng_sim::network::NetworkError>(())
/// ```
#[derive(Debug)]
pub struct Network<P> {
    spec: NetworkSpec,
    routes: Routes,
    calendar: Calendar,
    /// Every message in flight, and every alarm.
    parcels: Vec<Parcel<P>>,
    /// The free places in `parcels`.
    free: Vec<u32>,
    /// By number of wire.
    wires: Vec<Part>,
    /// By number of switch; used if a switch passes one message at a time.
    switches: Vec<Part>,
    /// The first and last in the queue, by number of the wire that ends there; used if switches are
    /// crossbars.
    ports_in: Vec<(u32, u32)>,
    /// By number of the wire that begins there; used if switches are crossbars.
    ports_out: Vec<Part>,
    counts: Counts,
}

/// A part that holds one message at a time.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// The time when all messages that have come so far are through.
    free_at: u64,
    /// The number of messages that are through.
    passed: u64,
}

impl Part {
    /// Queues a message. Returns the time when its turn begins.
    #[inline]
    fn turn(&mut self, now: u64, cycles: u64) -> u64 {
        let start = self.free_at.max(now);
        self.free_at = start + cycles;
        start
    }
}

#[derive(Clone, Copy, Debug)]
struct Parcel<P> {
    payload: P,
    /// The node to which it goes.
    to: u32,
    stage: Stage,
    hops: u16,
    /// The next parcel in the queue of a port in.
    behind: u32,
    /// The time when it came to the port in.
    since: u64,
    /// The cycles that it has waited in queues, including the present one.
    waited: u64,
}

/// The place of a parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// There is no parcel.
    Free,
    /// An alarm, not a message.
    Alarm,
    /// It stays on its node.
    Local,
    /// On a wire, or in its queue.
    Wire(u32),
    /// In a switch that passes one message at a time, or in its queue.
    Switch(Turn),
    /// Between two ports of a crossbar, or in the queue of one.
    Ports { into: u32, out: u32 },
    /// In a part without a limit, on its way to a port of a fat tree.
    Flight { out: u32 },
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    arrived: u64,
    arrived_local: u64,
    hops: u64,
    waited: u64,
    events: u64,
}

impl<P: Copy> Network<P> {
    /// Returns an empty network at time 0.
    ///
    /// # Errors
    ///
    /// If such a network is not possible: [`NetworkSpec::check`].
    pub fn new(spec: NetworkSpec) -> Result<Self, NetworkError> {
        spec.check()?;
        let routes = Routes::new(&spec);
        let (wires, switches) = (routes.wires(), routes.switches());
        let (single, crossbar) = match spec.topology {
            Topology::MeshSingleWire => (switches, 0),
            Topology::MeshCrossbar | Topology::Butterfly | Topology::Crossbar => (0, wires),
            Topology::FatTree { .. } => (0, 0),
        };
        Ok(Network {
            spec,
            calendar: Calendar::new(),
            parcels: Vec::new(),
            free: Vec::new(),
            wires: vec![Part::default(); wires],
            switches: vec![Part::default(); single],
            ports_in: vec![(NONE, NONE); crossbar],
            ports_out: vec![Part::default(); crossbar],
            routes,
            counts: Counts::default(),
        })
    }

    /// Returns the time of the last event.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        self.calendar.now()
    }

    /// Sends a message now.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    #[inline]
    pub fn send(&mut self, from: usize, to: usize, message: P) {
        let nodes = self.spec.nodes;
        assert!(from < nodes && to < nodes, "from {from} to {to}: there are {nodes} nodes");
        self.counts.sent += 1;
        let parcel = self.keep(message, to, Stage::Local);
        if from == to {
            self.calendar.put(parcel, self.now() + self.spec.local_cycles);
        } else {
            self.enter_wire(parcel, self.routes.first(from as u32));
        }
    }

    /// Returns `payload` from [`advance`](Self::advance) at that time, or now if that is in the
    /// past. Never does if the time is 2^62 or later, which lets a role wait for ever.
    #[inline]
    pub fn wake_at(&mut self, time: u64, payload: P) {
        if time >= TIME_END {
            return;
        }
        let parcel = self.keep(payload, 0, Stage::Alarm);
        self.calendar.put(parcel, time.max(self.now()));
    }

    /// Advances to the next message that arrives, or to the next alarm. Returns `None` if there is
    /// none.
    #[inline]
    pub fn advance(&mut self) -> Option<P> {
        loop {
            let index = self.calendar.take()?;
            self.counts.events += 1;
            let parcel = &mut self.parcels[index as usize];
            match parcel.stage {
                Stage::Wire(wire) => {
                    self.wires[wire as usize].passed += 1;
                    match self.routes.turn(wire, parcel.to) {
                        Some(turn) => self.enter_switch(index, wire, turn),
                        None => {
                            self.counts.arrived += 1;
                            self.counts.hops += u64::from(parcel.hops);
                            self.counts.waited += parcel.waited;
                            return Some(self.hand_over(index));
                        }
                    }
                }
                Stage::Switch(Turn { switch, out }) => {
                    parcel.hops += 1;
                    self.switches[switch as usize].passed += 1;
                    self.enter_wire(index, out);
                }
                Stage::Ports { into, out } => {
                    parcel.hops += 1;
                    self.ports_out[out as usize].passed += 1;
                    self.enter_wire(index, out);
                    self.leave_port(index, into);
                }
                Stage::Flight { out } => self.enter_wire(index, out),
                Stage::Local => {
                    self.counts.arrived_local += 1;
                    return Some(self.hand_over(index));
                }
                Stage::Alarm => return Some(self.hand_over(index)),
                Stage::Free => unreachable!("an event without a parcel"),
            }
        }
    }

    fn keep(&mut self, payload: P, to: usize, stage: Stage) -> u32 {
        let to = to as u32;
        let parcel = Parcel { payload, to, stage, hops: 0, behind: NONE, since: 0, waited: 0 };
        match self.free.pop() {
            Some(index) => {
                self.parcels[index as usize] = parcel;
                index
            }
            None => {
                self.parcels.push(parcel);
                self.parcels.len() as u32 - 1
            }
        }
    }

    fn hand_over(&mut self, index: u32) -> P {
        let parcel = &mut self.parcels[index as usize];
        parcel.stage = Stage::Free;
        self.free.push(index);
        parcel.payload
    }

    #[inline]
    fn enter_wire(&mut self, index: u32, wire: u32) {
        let (now, cycles) = (self.now(), self.spec.wire_cycles);
        let start = self.wires[wire as usize].turn(now, cycles);
        let parcel = &mut self.parcels[index as usize];
        parcel.waited += start - now;
        parcel.stage = Stage::Wire(wire);
        self.calendar.put(index, start + cycles);
    }

    #[inline]
    fn enter_switch(&mut self, index: u32, wire: u32, turn: Turn) {
        let now = self.now();
        let parcel = &mut self.parcels[index as usize];
        match self.spec.topology {
            Topology::MeshSingleWire => {
                let cycles = self.spec.switch_cycles;
                let start = self.switches[turn.switch as usize].turn(now, cycles);
                parcel.waited += start - now;
                parcel.stage = Stage::Switch(turn);
                self.calendar.put(index, start + cycles);
            }
            Topology::MeshCrossbar | Topology::Butterfly | Topology::Crossbar => {
                parcel.stage = Stage::Ports { into: wire, out: turn.out };
                parcel.since = now;
                let (first, last) = &mut self.ports_in[wire as usize];
                if *first == NONE {
                    (*first, *last) = (index, index);
                    self.enter_port_out(index, turn.out);
                } else {
                    self.parcels[*last as usize].behind = index;
                    *last = index;
                }
            }
            Topology::FatTree { .. } => {
                let (from, to) = (wire as usize, parcel.to as usize);
                let flight = self.spec.cycles_alone(from, to) - 2 * self.spec.wire_cycles;
                parcel.hops += self.spec.hops(from, to) as u16;
                parcel.stage = Stage::Flight { out: turn.out };
                self.calendar.put(index, now + flight);
            }
        }
    }

    /// Moves the first message of a port in to the queue of its port out.
    #[inline]
    fn enter_port_out(&mut self, index: u32, out: u32) {
        let (now, cycles) = (self.now(), self.spec.switch_cycles);
        let start = self.ports_out[out as usize].turn(now, cycles);
        let parcel = &mut self.parcels[index as usize];
        parcel.waited += start - parcel.since;
        self.calendar.put(index, start + cycles);
    }

    #[inline]
    fn leave_port(&mut self, index: u32, into: u32) {
        let next = std::mem::replace(&mut self.parcels[index as usize].behind, NONE);
        self.ports_in[into as usize].0 = next;
        if next != NONE
            && let Stage::Ports { out, .. } = self.parcels[next as usize].stage
        {
            self.enter_port_out(next, out);
        }
    }

    /// Returns the counts of the network so far.
    ///
    /// # Panics
    ///
    /// If a message was lost or doubled. Then the simulator is wrong.
    #[must_use]
    pub fn carried(&self) -> Carried {
        let counts = self.counts;
        let under_way = |parcel: &&Parcel<P>| !matches!(parcel.stage, Stage::Free | Stage::Alarm);
        let on_the_way = self.parcels.iter().filter(under_way).count() as u64;
        assert_eq!(counts.sent, counts.arrived + counts.arrived_local + on_the_way);
        Carried {
            messages: counts.arrived,
            local_messages: counts.arrived_local,
            on_the_way,
            mean_hops: counts.hops as f64 / counts.arrived.max(1) as f64,
            waited: counts.waited,
            busiest: self.busiest(),
            events: counts.events,
        }
    }

    fn busiest(&self) -> Option<Busiest> {
        let most = |parts: &[Part], cycles: u64| {
            let passed = parts.iter().map(|part| part.passed).enumerate();
            // The first of those that are equal.
            let (index, passed) = passed.rev().max_by_key(|&(_, passed)| passed)?;
            Some((passed * cycles, index))
        };
        let (wire, switch) = (self.spec.wire_cycles, self.spec.switch_cycles);
        let wires =
            most(&self.wires, wire).map(|(busy, index)| (busy, self.routes.name_of_wire(index)));
        let switches =
            most(&self.switches, switch).map(|(busy, index)| (busy, format!("switch {index}")));
        let ports = most(&self.ports_out, switch).map(|(busy, index)| {
            (busy, format!("port before the {}", self.routes.name_of_wire(index)))
        });
        let all = [wires, switches, ports].into_iter().flatten();
        let (busy, part) = all.rev().max_by_key(|&(busy, _)| busy)?;
        (busy > 0).then(|| Busiest { part, share: busy as f64 / self.now() as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng::machine::SplitMix64;

    #[test]
    fn messages_that_go_round_take_no_more_memory() {
        const NODES: usize = 64;
        for spec in [
            NetworkSpec::mesh_single_wire(NODES),
            NetworkSpec::butterfly(NODES),
            NetworkSpec::fat_tree(NODES),
        ] {
            let mut network = Network::new(spec).unwrap();
            (0..NODES).for_each(|node| network.send(node, NODES - 1 - node, NODES - 1 - node));
            let mut random = SplitMix64::from_state(1);
            for _ in 0..50_000 {
                let at = network.advance().unwrap();
                let to = random.below(NODES as u64) as usize;
                network.send(at, to, to);
                assert!(network.parcels.len() == NODES && network.free.is_empty(), "{spec}");
            }
        }
    }
}
