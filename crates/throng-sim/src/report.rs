//! What the memory did: for each line, and in all.

use std::ops::AddAssign;

use throng::machine::Place;

/// What happened to a line, or to all lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Accesses that the processor's own cache answered.
    pub hits: u64,
    /// Accesses that needed others: each is one transaction.
    pub misses: u64,
    /// Copies taken away from processors.
    pub invalidations: u64,
    /// How long misses stood in line, behind others at a home, a bus or the line itself: of all
    /// together.
    pub waited_cycles: u64,
}

impl Traffic {
    /// All accesses.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.hits + self.misses
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.invalidations += other.invalidations;
        self.waited_cycles += other.waited_cycles;
    }
}

/// What the memory did in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryReport {
    /// Of all lines together.
    pub total: Traffic,
    /// Messages that the network carried; on a snooping bus, times it was taken.
    pub messages: u64,
    /// Each line, in the order of making.
    pub lines: Vec<(Place, Traffic)>,
}

impl MemoryReport {
    /// The lines at which processors waited longest, the worst first; of lines that are alike in
    /// this, those with more misses.
    #[must_use]
    pub fn hottest(&self, count: usize) -> Vec<(Place, Traffic)> {
        let heat = |line: &(Place, Traffic)| (line.1.waited_cycles, line.1.misses);
        let mut lines: Vec<_> =
            self.lines.iter().copied().filter(|(_, traffic)| traffic.misses > 0).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(heat(line)));
        lines.truncate(count);
        lines
    }
}
