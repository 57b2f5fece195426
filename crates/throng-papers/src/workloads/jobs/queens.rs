//! Boards with queens as jobs. No queen may stand in the column or on a diagonal of another.

/// Bits of a column in a packed board.
const BITS: u32 = 4;
/// Rows that fit below the bits that count the queens.
pub(super) const MOST_ROWS: u32 = 14;

/// The first rows of a board, each with its queen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Board(u64);

impl Board {
    pub(super) const EMPTY: Board = Board(0);

    /// Returns the packed board: columns from the first row up, 4 bits each, and above them the
    /// number of queens.
    pub(super) const fn packed(self) -> u64 {
        self.0
    }

    pub(super) const fn unpack(bits: u64) -> Self {
        Board(bits)
    }

    /// Returns the number of rows with a queen.
    pub(super) const fn queens(self) -> u32 {
        (self.0 >> (BITS * MOST_ROWS)) as u32
    }

    const fn column(self, row: u32) -> u32 {
        (self.0 >> (BITS * row)) as u32 & ((1 << BITS) - 1)
    }

    /// Returns the board with one more queen in the next row, or `None` where another queen attacks
    /// it.
    pub(super) fn with(self, column: u32) -> Option<Self> {
        let row = self.queens();
        let attacks = |other: u32| {
            let apart = self.column(other).abs_diff(column);
            apart == 0 || apart == row - other
        };
        if (0..row).any(attacks) {
            return None;
        }
        let queen = u64::from(column) << (BITS * row);
        Some(Board((self.0 | queen) + (1 << (BITS * MOST_ROWS))))
    }

    /// Returns the number of boards that grow from this one, itself included, and the number of
    /// full ones among them.
    pub(super) fn count(self, side: u32) -> (u64, u64) {
        if self.queens() == side {
            return (1, 1);
        }
        let next = (0..side).filter_map(|column| self.with(column));
        next.map(|board| board.count(side))
            .fold((1, 0), |(boards, full), (more, more_full)| (boards + more, full + more_full))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_solutions_are_the_known_ones() {
        for (side, solutions) in [(1, 1), (2, 0), (3, 0), (4, 2), (6, 4), (8, 92), (10, 724)] {
            assert_eq!(Board::EMPTY.count(side).1, solutions, "side {side}");
        }
        assert_eq!(Board::EMPTY.count(10).0, 35_539, "jobs of 10 queens");
    }

    #[test]
    fn boards_survive_packing() {
        let board = Board::EMPTY.with(13).and_then(|board| board.with(3)).unwrap();
        let again = Board::unpack(board.packed());
        assert_eq!((again.queens(), again.column(0), again.column(1)), (2, 13, 3));
        assert_eq!(again.with(2), None, "the diagonal");
        assert_eq!(again.with(3), None, "the column");
    }
}
