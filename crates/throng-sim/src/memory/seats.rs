//! The nodes of the processors.
//!
//! A machine may be larger than the number of processors that run; those are spread over it evenly,
//! in the order of their ids.

use std::ops::Range;

/// The nodes of the processors that run.
#[derive(Clone, Debug)]
pub(super) struct Seats {
    /// The node of each processor; ascending.
    nodes: Box<[u32]>,
    /// The number of nodes.
    pub(super) count: usize,
}

impl Seats {
    /// Returns the nodes of `processors` processors on a machine with room for `room`, `per_node`
    /// at a node.
    pub(super) fn new(processors: usize, room: usize, per_node: usize) -> Self {
        let node = |processor: usize| (processor * room / processors / per_node) as u32;
        Seats { nodes: (0..processors).map(node).collect(), count: room.div_ceil(per_node) }
    }

    pub(super) fn processors(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the node of a processor.
    #[inline]
    pub(super) fn node(&self, processor: usize) -> usize {
        self.nodes[processor] as usize
    }

    /// Returns the processors at these nodes.
    pub(super) fn at(&self, nodes: Range<usize>) -> Range<usize> {
        let before = |node: usize| self.nodes.partition_point(|&seat| (seat as usize) < node);
        before(nodes.start)..before(nodes.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_fill_a_machine_of_their_number_and_are_spread_over_a_larger_one() {
        let full = Seats::new(6, 6, 2);
        assert_eq!((0..6).map(|p| full.node(p)).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2]);
        assert_eq!((full.count, full.at(1..3), full.at(0..9)), (3, 2..6, 0..6));
        let spread = Seats::new(4, 10, 1);
        assert_eq!((0..4).map(|p| spread.node(p)).collect::<Vec<_>>(), [0, 2, 5, 7]);
        assert_eq!((spread.count, spread.at(2..6), spread.at(3..5)), (10, 1..3, 2..2));
        assert_eq!(Seats::new(1, 65_536, 1).node(0), 0);
    }
}
