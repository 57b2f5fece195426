//! Simulated annealing: roles move between nodes, at first at random, in the end only to where
//! paths are shorter.
//!
//! A step moves a role to another node; a role that is there moves to the first one's node. The
//! cost is the expected time of all messages, each alone in the network. A step that raises the
//! cost by `d` is made with the probability `exp(-d / t)`; the temperature `t` falls by the same
//! factor each round.

use throng::machine::SplitMix64;
use throng_messages::{Address, Traffic};

use super::{NetworkSpec, Topology};

/// The number of rounds of falling temperature, and the factor of each: to about 1/2000.
const ROUNDS: usize = 120;
const COOLING: f64 = 0.935;
/// The number of last rounds, at temperature 0.
const COLD: usize = 5;
/// The number of steps of a round for each role, and the limit for all together.
const STEPS_PER_ROLE: usize = 60;
const STEPS_MAX: usize = 40_000;
/// The largest number of clients of a role without a table of the cost of each node.
const FEW_CLIENTS: usize = 24;
/// The number of rows and columns that count as near.
const NEAR: u32 = 2;
/// The value for no role.
const NONE: u32 = u32::MAX;

/// Moves the roles to better nodes. The clients stay.
pub(super) fn anneal(
    spec: &NetworkSpec,
    traffic: &[Traffic],
    roles: &mut [u32],
    clients: &[u32],
    seed: u64,
) {
    if roles.is_empty() || spec.nodes == 1 {
        return;
    }
    let ways = Ways::new(spec);
    let mut state = State::new(&ways, traffic, roles.to_vec(), clients);
    let mut random = SplitMix64::from_state(SplitMix64::mix(seed ^ 0xA22E_A1ED));
    let steps = (STEPS_PER_ROLE * roles.len()).min(STEPS_MAX);
    let mut temperature = state.usual_step(&mut random);
    let mut gain = 0.0;
    for round in 0..ROUNDS {
        for _ in 0..steps {
            let step = state.propose(&mut random);
            let change = state.change(step);
            if change <= 0.0 || chance(&mut random) < (-change / temperature).exp() {
                state.make(step);
                gain -= change;
            }
        }
        // The last rounds make nothing worse.
        temperature *= if round + 1 < ROUNDS - COLD { COOLING } else { 0.0 };
    }
    if gain >= 0.0 {
        roles.copy_from_slice(&state.nodes);
    }
}

/// Returns a random number from 0 up to 1.
fn chance(random: &mut SplitMix64) -> f64 {
    (random.draw() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A faster [`NetworkSpec::cycles_alone`].
struct Ways {
    spec: NetworkSpec,
    /// In a mesh: the column and row of each node, and the cycles for each difference of these. The
    /// constant part is added to the columns.
    places: Vec<(u16, u16)>,
    columns: Vec<f64>,
    rows: Vec<f64>,
}

impl Ways {
    fn new(spec: &NetworkSpec) -> Self {
        let mut ways =
            Ways { spec: *spec, places: Vec::new(), columns: Vec::new(), rows: Vec::new() };
        if matches!(spec.topology, Topology::MeshSingleWire | Topology::MeshCrossbar) {
            let (rows, columns) = spec.sides();
            let place = |node| ((node % columns) as u16, (node / columns) as u16);
            ways.places = (0..spec.nodes).map(place).collect();
            let around = |side: usize, base: u64| -> Vec<f64> {
                let hops = (0..side).map(|apart| apart.min(side - apart) as u64);
                hops.map(|hops| (base + hops * (spec.wire_cycles + spec.switch_cycles)) as f64)
                    .collect()
            };
            ways.columns = around(columns, 2 * spec.wire_cycles + spec.switch_cycles);
            ways.rows = around(rows, 0);
        }
        ways
    }

    #[inline]
    fn cycles(&self, from: u32, to: u32) -> f64 {
        if self.places.is_empty() || from == to {
            return self.spec.cycles_alone(from as usize, to as usize) as f64;
        }
        let (a, b) = (self.places[from as usize], self.places[to as usize]);
        self.columns[usize::from(a.0.abs_diff(b.0))] + self.rows[usize::from(a.1.abs_diff(b.1))]
    }
}

/// A move of a role to a node. The role that is there, if any, moves back.
#[derive(Clone, Copy)]
struct Step {
    role: u32,
    to: u32,
    other: u32,
}

struct State<'a> {
    ways: &'a Ways,
    /// The node of each role.
    nodes: Vec<u32>,
    /// The role on each node.
    on: Vec<u32>,
    /// For each role the other roles with which it exchanges messages, and the number of messages.
    roles: Vec<Vec<(u32, f64)>>,
    /// For each role the nodes of its clients, if they are few.
    clients: Vec<Vec<(u32, f64)>>,
    /// The table of a role with many clients.
    table_of: Vec<Option<usize>>,
    /// The cost of the messages to and from clients on each node.
    tables: Vec<Vec<f64>>,
}

impl<'a> State<'a> {
    fn new(ways: &'a Ways, traffic: &[Traffic], nodes: Vec<u32>, clients: &[u32]) -> Self {
        let mut on = vec![NONE; ways.spec.nodes];
        for (role, &node) in (0..).zip(&nodes) {
            on[node as usize] = role;
        }
        let count = nodes.len();
        let (mut role_lists, mut client_lists) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for one in traffic {
            match (one.from, one.to) {
                (Address::Role(a), Address::Role(b)) if a != b => {
                    role_lists[a as usize].push((b, one.messages));
                    role_lists[b as usize].push((a, one.messages));
                }
                (Address::Role(role), Address::Client(client))
                | (Address::Client(client), Address::Role(role)) => {
                    client_lists[role as usize].push((clients[client as usize], one.messages));
                }
                _ => {}
            }
        }
        role_lists.iter_mut().chain(&mut client_lists).for_each(sum_up);
        let mut state = State {
            ways,
            nodes,
            on,
            roles: role_lists,
            clients: Vec::new(),
            table_of: Vec::new(),
            tables: Vec::new(),
        };
        state.tabulate(client_lists);
        state
    }

    /// Makes tables for roles with many clients. Roles of a kind have the same.
    fn tabulate(&mut self, lists: Vec<Vec<(u32, f64)>>) {
        let mut seen: Vec<(Vec<(u32, f64)>, usize)> = Vec::new();
        for list in lists {
            if list.len() <= FEW_CLIENTS {
                self.clients.push(list);
                self.table_of.push(None);
                continue;
            }
            let known = seen.iter().find(|(one, _)| *one == list).map(|&(_, table)| table);
            let table = known.unwrap_or_else(|| {
                let cost = |node| -> f64 {
                    list.iter().map(|&(at, many)| many * self.ways.cycles(node, at)).sum()
                };
                let costs = (0..self.ways.spec.nodes as u32).map(cost);
                self.tables.push(costs.collect());
                seen.push((list, self.tables.len() - 1));
                self.tables.len() - 1
            });
            self.clients.push(Vec::new());
            self.table_of.push(Some(table));
        }
    }

    fn propose(&self, random: &mut SplitMix64) -> Step {
        let role = random.below(self.nodes.len() as u64) as u32;
        let from = self.nodes[role as usize];
        let to = if random.below(2) == 0 { self.near_a_partner(role, random) } else { None };
        let to = to.filter(|&to| to != from).unwrap_or_else(|| {
            let to = random.below(self.on.len() as u64 - 1) as u32;
            to + u32::from(to >= from)
        });
        Step { role, to, other: self.on[to as usize] }
    }

    /// Returns a node near a partner of the role. For most structures good nodes are there, and few
    /// moves to other nodes are made when the temperature is low.
    fn near_a_partner(&self, role: u32, random: &mut SplitMix64) -> Option<u32> {
        let (roles, clients) = (&self.roles[role as usize], &self.clients[role as usize]);
        let many = roles.len() + clients.len();
        let which = random.below(many as u64) as usize;
        let partner = match roles.get(which) {
            Some(&(other, _)) => self.nodes[other as usize],
            None => clients.get(which - roles.len())?.0,
        };
        // In a mesh some columns and rows away, elsewhere some numbers.
        let nodes = self.on.len() as i64;
        let mut away = || random.below(2 * u64::from(NEAR) + 1) as i64 - i64::from(NEAR);
        let to = i64::from(partner) + away() + away() * self.ways.columns.len() as i64;
        Some(to.rem_euclid(nodes) as u32)
    }

    /// Returns the change of the cost by a step.
    fn change(&self, step: Step) -> f64 {
        let from = self.nodes[step.role as usize];
        let mut change = self.cost_at(step.role, step.to, step.other)
            - self.cost_at(step.role, from, step.other);
        if step.other != NONE {
            // The messages between the two cost the same afterwards.
            change += self.cost_at(step.other, from, step.role)
                - self.cost_at(step.other, step.to, step.role);
        }
        change
    }

    /// Returns the cost of a role's messages on a node, without those to role `but`.
    fn cost_at(&self, role: u32, node: u32, but: u32) -> f64 {
        let to_roles = self.roles[role as usize].iter().filter(|&&(other, _)| other != but);
        let roles = to_roles
            .map(|&(other, many)| many * self.ways.cycles(node, self.nodes[other as usize]))
            .sum::<f64>();
        let clients = self.clients[role as usize].iter();
        let clients = clients.map(|&(at, many)| many * self.ways.cycles(node, at)).sum::<f64>();
        let table = self.table_of[role as usize];
        roles + clients + table.map_or(0.0, |table| self.tables[table][node as usize])
    }

    fn make(&mut self, step: Step) {
        let from = std::mem::replace(&mut self.nodes[step.role as usize], step.to);
        self.on[step.to as usize] = step.role;
        self.on[from as usize] = step.other;
        if step.other != NONE {
            self.nodes[step.other as usize] = from;
        }
    }

    /// Returns the mean change of the cost, whatever its sign: a high enough first temperature.
    fn usual_step(&self, random: &mut SplitMix64) -> f64 {
        const LOOKS: usize = 200;
        let changes = (0..LOOKS).map(|_| self.change(self.propose(random)).abs());
        changes.sum::<f64>() / LOOKS as f64
    }
}

/// Merges the entries of each partner into one.
fn sum_up(list: &mut Vec<(u32, f64)>) {
    list.sort_by_key(|&(who, _)| who);
    list.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(pairs: &[(Address, Address)]) -> Vec<Traffic> {
        pairs.iter().map(|&(from, to)| Traffic { from, to, messages: 1.0 }).collect()
    }

    fn cost(spec: &NetworkSpec, traffic: &[Traffic], roles: &[u32], clients: &[u32]) -> f64 {
        let node = |who| match who {
            Address::Role(number) => roles[number as usize] as usize,
            Address::Client(number) => clients[number as usize] as usize,
        };
        let costs = traffic
            .iter()
            .map(|one| one.messages * spec.cycles_alone(node(one.from), node(one.to)) as f64);
        costs.sum()
    }

    #[test]
    fn the_change_of_a_step_is_the_difference_of_the_costs() {
        use Address::{Client, Role};
        for spec in [
            NetworkSpec::mesh_single_wire(30),
            NetworkSpec { wire_cycles: 3, switch_cycles: 5, ..NetworkSpec::mesh_crossbar(36) },
            NetworkSpec::butterfly(32),
            NetworkSpec { local_cycles: 0, ..NetworkSpec::crossbar(40) },
            NetworkSpec::fat_tree(40),
        ] {
            let mut random = SplitMix64::from_state(7);
            let clients: Vec<u32> = (0..30).collect();
            let mut traffic = links(&[(Role(0), Role(1)), (Role(1), Role(2)), (Role(2), Role(0))]);
            for role in 0..10 {
                // Roles 0 and 1 have many clients, and the same.
                for client in 0..if role < 2 { 30 } else { role } {
                    traffic.push(Traffic { from: Client(client), to: Role(role), messages: 0.5 });
                }
                traffic.push(Traffic { from: Role(role), to: Role(9 - role), messages: 0.25 });
            }
            let ways = Ways::new(&spec);
            let mut state = State::new(&ways, &traffic, (5..15).collect(), &clients);
            assert_eq!(state.tables.len(), 1);
            for _ in 0..1_000 {
                let before = cost(&spec, &traffic, &state.nodes, &clients);
                let step = state.propose(&mut random);
                let change = state.change(step);
                state.make(step);
                let after = cost(&spec, &traffic, &state.nodes, &clients);
                assert!(
                    (after - before - change).abs() < 1e-6,
                    "{spec}: {before} {after} {change}"
                );
                for (role, &node) in (0..).zip(&state.nodes) {
                    assert_eq!(state.on[node as usize], role);
                }
            }
        }
    }

    #[test]
    fn a_chain_becomes_a_line() {
        let spec = NetworkSpec::mesh_single_wire(64);
        let pairs: Vec<_> = (0..63).map(|i| (Address::Role(i), Address::Role(i + 1))).collect();
        let traffic = links(&pairs);
        // Far from each other.
        let start: Vec<u32> = (0..64).map(|role| role * 27 % 64).collect();
        let mut roles = start.clone();
        anneal(&spec, &traffic, &mut roles, &[], 1);
        let (before, after) =
            (cost(&spec, &traffic, &start, &[]), cost(&spec, &traffic, &roles, &[]));
        // Neighbours cost 5 each.
        assert!(after <= 63.0 * 5.0 * 1.15, "{before} {after}");
        let mut sorted = roles.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..64), "each on a node of its own");
    }
}
