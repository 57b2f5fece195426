//! The wires of a network, and the path of a message.
//!
//! Wires are numbered. A wire ends at a switch, as the only one of its port in, or at a processor.
//! It begins at a switch, as the only one of its port out, or at a processor. So the number of a
//! wire is also the number of these ports. There is one path for each pair of nodes, whatever the
//! load.

use super::{NetworkSpec, Topology};

/// What follows at the end of a wire for a message that has not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// The switch.
    pub(super) switch: u32,
    /// The wire after it.
    pub(super) out: u32,
}

/// The ports of a switch in a mesh.
const PROCESSOR: usize = 0;
const RIGHT: usize = 1;
const LEFT: usize = 2;
const UP: usize = 3;
const DOWN: usize = 4;
const PORTS: usize = 5;

/// The wires and paths of a network.
#[derive(Debug)]
pub(super) enum Routes {
    /// Wire `5 s + p` leaves switch `s` by port `p`; wire `5 n + s` comes from the processor.
    Mesh {
        nodes: usize,
        rows: i32,
        columns: i32,
        /// The column and row of each node.
        places: Vec<(i16, i16)>,
        /// The switch at the end of each wire; unused for wires to processors.
        ends: Vec<u32>,
    },
    /// Wire `n l + r` comes to layer `l` in row `r`; after the last layer to processor `r`.
    Butterfly { nodes: usize, layers: usize },
    /// Wire `i` comes from processor `i`, and wire `n + i` goes there. Also the ports of a fat tree.
    Star { nodes: usize, fat_tree: bool },
}

impl Routes {
    pub(super) fn new(spec: &NetworkSpec) -> Self {
        let nodes = spec.nodes;
        match spec.topology {
            Topology::MeshSingleWire | Topology::MeshCrossbar => {
                let (rows, columns) = spec.sides();
                let place = |node| (node % columns, node / columns);
                let switch = |x: usize, y: usize| (x % columns + y % rows * columns) as u32;
                let leaving = (0..nodes).flat_map(|node| {
                    let (x, y) = place(node);
                    let mut ends = [node as u32; PORTS];
                    ends[RIGHT] = switch(x + 1, y);
                    ends[LEFT] = switch(x + columns - 1, y);
                    ends[UP] = switch(x, y + 1);
                    ends[DOWN] = switch(x, y + rows - 1);
                    ends
                });
                Routes::Mesh {
                    nodes,
                    rows: rows as i32,
                    columns: columns as i32,
                    places: (0..nodes).map(place).map(|(x, y)| (x as i16, y as i16)).collect(),
                    ends: leaving.chain(0..nodes as u32).collect(),
                }
            }
            Topology::Butterfly => Routes::Butterfly { nodes, layers: nodes.ilog2() as usize },
            Topology::Crossbar => Routes::Star { nodes, fat_tree: false },
            Topology::FatTree { .. } => Routes::Star { nodes, fat_tree: true },
        }
    }

    /// Returns the number of wires.
    pub(super) fn wires(&self) -> usize {
        match *self {
            Routes::Mesh { nodes, .. } => (PORTS + 1) * nodes,
            Routes::Butterfly { nodes, layers } => (layers + 1) * nodes,
            Routes::Star { nodes, .. } => 2 * nodes,
        }
    }

    /// Returns the number of switches.
    pub(super) fn switches(&self) -> usize {
        match *self {
            Routes::Mesh { nodes, .. } => nodes,
            Routes::Butterfly { nodes, layers } => layers * nodes / 2,
            Routes::Star { .. } => 1,
        }
    }

    /// Returns the wire that comes from a processor.
    #[inline]
    pub(super) fn first(&self, node: u32) -> u32 {
        match *self {
            Routes::Mesh { nodes, .. } => (PORTS * nodes) as u32 + node,
            Routes::Butterfly { .. } | Routes::Star { .. } => node,
        }
    }

    /// Returns the next switch and wire of a message for `to` at the end of a wire, or `None` if it
    /// has arrived.
    #[inline]
    pub(super) fn turn(&self, wire: u32, to: u32) -> Option<Turn> {
        match self {
            Routes::Mesh { nodes, rows, columns, places, ends } => {
                let wire = wire as usize;
                if wire < PORTS * nodes && wire % PORTS == PROCESSOR {
                    return None;
                }
                let switch = ends[wire];
                let (here, there) = (places[switch as usize], places[to as usize]);
                let port = if here.0 != there.0 {
                    shorter(here.0, there.0, *columns, RIGHT, LEFT)
                } else if here.1 != there.1 {
                    shorter(here.1, there.1, *rows, UP, DOWN)
                } else {
                    PROCESSOR
                };
                Some(Turn { switch, out: switch * PORTS as u32 + port as u32 })
            }
            Routes::Butterfly { nodes, layers } => {
                let (nodes, layers) = (*nodes as u32, *layers as u32);
                // A power of two.
                let (layer, row) = (wire >> layers, wire & (nodes - 1));
                if layer == layers {
                    return None;
                }
                // A layer corrects one bit, the highest first; a switch joins the two rows that
                // differ in it.
                let bit = 1 << (layers - 1 - layer);
                let (high, low) = (row / (2 * bit), row % bit);
                Some(Turn {
                    switch: layer * nodes / 2 + high * bit + low,
                    out: ((layer + 1) << layers) + ((row & !bit) | (to & bit)),
                })
            }
            Routes::Star { nodes, .. } => {
                let nodes = *nodes as u32;
                (wire < nodes).then_some(Turn { switch: 0, out: nodes + to })
            }
        }
    }

    /// Returns the name of a wire.
    pub(super) fn name_of_wire(&self, wire: usize) -> String {
        match *self {
            Routes::Mesh { nodes, .. } if wire >= PORTS * nodes => {
                format!("wire from processor {} to its switch", wire - PORTS * nodes)
            }
            Routes::Mesh { .. } => {
                let ways = ["to its processor", "to the right", "to the left", "up", "down"];
                format!("wire from switch {} {}", wire / PORTS, ways[wire % PORTS])
            }
            Routes::Butterfly { nodes, layers } => match (wire / nodes, wire % nodes) {
                (0, row) => format!("wire from processor {row} to layer 0"),
                (layer, row) if layer == layers => {
                    format!("wire from layer {} to processor {row}", layer - 1)
                }
                (layer, row) => {
                    format!("wire from layer {} to layer {layer} in row {row}", layer - 1)
                }
            },
            Routes::Star { nodes, fat_tree } => {
                let way = if wire < nodes { "from" } else { "to" };
                let kind = if fat_tree { "port" } else { "wire" };
                format!("{kind} {way} node {}", wire % nodes)
            }
        }
    }
}

/// Returns the shorter way around a ring; upwards if both are equal.
#[inline]
fn shorter(here: i16, there: i16, side: i32, up: usize, down: usize) -> usize {
    let ahead = i32::from(there) - i32::from(here);
    let ahead = if ahead < 0 { ahead + side } else { ahead };
    if 2 * ahead <= side { up } else { down }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the switches and wires of the path from one node to another.
    fn way(routes: &Routes, from: usize, to: usize) -> (Vec<u32>, Vec<u32>) {
        let (mut switches, mut wires) = (Vec::new(), vec![routes.first(from as u32)]);
        while let Some(turn) = routes.turn(*wires.last().unwrap(), to as u32) {
            switches.push(turn.switch);
            wires.push(turn.out);
            assert!(wires.len() < 1000, "a message goes round in circles");
        }
        (switches, wires)
    }

    /// Returns the node at the end of a last wire.
    fn end(routes: &Routes, wire: u32) -> usize {
        match *routes {
            Routes::Mesh { .. } => wire as usize / PORTS,
            Routes::Butterfly { nodes, .. } | Routes::Star { nodes, .. } => wire as usize % nodes,
        }
    }

    #[test]
    fn every_way_ends_at_its_node_after_as_many_switches_as_the_spec_says() {
        for nodes in [1, 2, 3, 4, 7, 8, 12, 15, 16, 30, 32, 64] {
            let all = [
                NetworkSpec::mesh_single_wire(nodes),
                NetworkSpec::mesh_crossbar(nodes),
                NetworkSpec::butterfly(nodes),
                NetworkSpec::crossbar(nodes),
            ];
            for spec in all.into_iter().filter(|spec| spec.check().is_ok()) {
                let routes = Routes::new(&spec);
                for (from, to) in (0..nodes * nodes).map(|pair| (pair / nodes, pair % nodes)) {
                    if from == to {
                        continue;
                    }
                    let (switches, wires) = way(&routes, from, to);
                    assert_eq!(end(&routes, wires[wires.len() - 1]), to, "{spec}: {from} to {to}");
                    assert_eq!(
                        switches.len() as u64,
                        spec.hops(from, to),
                        "{spec}: {from} to {to}"
                    );
                    assert!(wires.iter().all(|&wire| (wire as usize) < routes.wires()));
                    assert!(switches.iter().all(|&switch| (switch as usize) < routes.switches()));
                }
            }
        }
    }

    #[test]
    fn a_mesh_goes_along_the_row_first_and_around_the_back_where_that_is_shorter() {
        // 8 9 10 11
        // 4 5  6  7
        // 0 1  2  3
        let routes = Routes::new(&NetworkSpec::mesh_crossbar(12));
        assert_eq!(way(&routes, 0, 5).0, [0, 1, 5]);
        assert_eq!(way(&routes, 5, 0).0, [5, 4, 0]);
        assert_eq!(way(&routes, 0, 11).0, [0, 3, 11]);
        // Both ways are of the same length: to the right.
        assert_eq!(way(&routes, 1, 3).0, [1, 2, 3]);
        assert_eq!(way(&routes, 3, 1).0, [3, 0, 1]);
    }

    #[test]
    fn a_butterfly_puts_the_highest_bit_right_first() {
        let routes = Routes::new(&NetworkSpec::butterfly(8));
        // Rows 1, 5, 7, 6: bits 4, 2 and 1 in turn.
        assert_eq!(way(&routes, 1, 6).1, [1, 8 + 5, 16 + 7, 24 + 6]);
    }

    #[test]
    fn two_wires_lead_to_each_switch_of_a_butterfly_and_two_away() {
        for nodes in [2_u32, 8, 32] {
            let routes = Routes::new(&NetworkSpec::butterfly(nodes as usize));
            let mut into = vec![Vec::new(); routes.switches()];
            let mut out = vec![std::collections::BTreeSet::new(); routes.switches()];
            for wire in 0..routes.wires() as u32 - nodes {
                let turns = (0..nodes).map(|to| routes.turn(wire, to).unwrap());
                let turns: Vec<_> = turns.collect();
                into[turns[0].switch as usize].push(wire);
                for turn in turns {
                    assert!(into[turn.switch as usize].contains(&wire));
                    out[turn.switch as usize].insert(turn.out);
                }
            }
            assert!(into.iter().all(|wires| wires.len() == 2));
            assert!(out.iter().all(|wires| wires.len() == 2));
        }
    }
}
