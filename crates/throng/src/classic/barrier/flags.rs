//! Arrival flags.

use crate::machine::{Line, Machine, Place, Word};

/// The placement of the flags of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flags {
    /// Neighbours on one line: one access reads all of them, but their writers take the line from
    /// each other. Corresponds to the papers' words of packed bytes.
    Packed,
    /// Each on its own line.
    Padded,
}

/// The number of words on a line.
const WORDS: usize = 8;

/// The flags of all nodes of a tree.
#[derive(Debug)]
pub(super) struct FlagBoard<M: Machine> {
    lines: Vec<Line<[M::Word; WORDS]>>,
    /// For each node, its first line and the number of its flags.
    nodes: Vec<(usize, usize)>,
    flags: Flags,
}

/// The place of one flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlagAt {
    line: u32,
    word: u32,
}

impl<M: Machine> FlagBoard<M> {
    /// Returns a board with all flags 0. `nodes` has the number of flags of each node, and the
    /// processor whose memory they are in.
    pub(super) fn new(
        name: &'static str,
        flags: Flags,
        nodes: impl IntoIterator<Item = (usize, usize)>,
    ) -> Self {
        let mut board = FlagBoard { lines: Vec::new(), nodes: Vec::new(), flags };
        for (count, home) in nodes {
            board.nodes.push((board.lines.len(), count));
            let lines = match flags {
                Flags::Packed => count.div_ceil(WORDS),
                Flags::Padded => count,
            };
            for _ in 0..lines {
                let place = Place::named(name).index(board.lines.len()).near(home);
                board.lines.push(Line::new::<M>(place, |spot| {
                    std::array::from_fn(|_| M::Word::new(0, spot))
                }));
            }
        }
        board
    }

    /// Returns the place of the `flag`-th flag of `node`.
    pub(super) fn at(&self, node: usize, flag: usize) -> FlagAt {
        let (first, count) = self.nodes[node];
        assert!(flag < count, "node {node} has {count} flags");
        let (line, word) = match self.flags {
            Flags::Packed => (first + flag / WORDS, flag % WORDS),
            Flags::Padded => (first + flag, 0),
        };
        FlagAt { line: line as u32, word: word as u32 }
    }

    #[inline]
    pub(super) fn word(&self, at: FlagAt) -> &M::Word {
        &self.lines[at.line as usize][at.word as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;
    use std::ptr;

    #[test]
    fn packed_flags_are_neighbours_and_padded_ones_are_not() {
        for (flags, apart) in [(Flags::Packed, 8), (Flags::Padded, 128)] {
            let board = FlagBoard::<Native>::new("test", flags, [(3, 0), (9, 0)]);
            let address = |node, flag| ptr::from_ref(board.word(board.at(node, flag))).addr();
            assert_eq!(address(0, 1) - address(0, 0), apart, "{flags:?}");
            assert!(address(1, 0) - address(0, 2) > 64, "{flags:?}: nodes never share a line");
            assert!(address(1, 8) - address(1, 7) >= 64, "{flags:?}: eight words are a line");
        }
    }
}
