//! What the memory did: for each line, and in all.

use std::ops::{AddAssign, SubAssign};

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

impl SubAssign for Traffic {
    /// No number falls below 0.
    fn sub_assign(&mut self, other: Self) {
        let less = |number: &mut u64, other: u64| *number = number.saturating_sub(other);
        less(&mut self.hits, other.hits);
        less(&mut self.misses, other.misses);
        less(&mut self.invalidations, other.invalidations);
        less(&mut self.waited_cycles, other.waited_cycles);
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

    /// What came on top of `shorter`, a run that did the same with the same lines and ended sooner:
    /// so that what only happens once, in the beginning, does not count.
    ///
    /// ```
    /// use throng::counter::{Counting, Hardware};
    /// use throng_sim::{Sim, Simulation};
    ///
    /// let report = |calls| {
    ///     let run = Simulation::new().run(
    ///         || Hardware::<Sim>::on_machine(),
    ///         move |counter, cpu| (0..calls).for_each(|_| drop(counter.next_on(cpu))),
    ///     );
    ///     run.map(|outcome| outcome.memory)
    /// };
    /// let more = report(30)?.since(&report(10)?);
    /// assert_eq!((more.total.accesses(), more.lines[0].1.accesses()), (20, 20));
    /// # Ok::<(), throng_sim::SimError>(())
    /// ```
    #[must_use]
    pub fn since(&self, shorter: &MemoryReport) -> MemoryReport {
        let mut more = self.clone();
        more.total -= shorter.total;
        more.messages = more.messages.saturating_sub(shorter.messages);
        for ((_, line), (_, less)) in more.lines.iter_mut().zip(&shorter.lines) {
            *line -= *less;
        }
        more
    }
}
