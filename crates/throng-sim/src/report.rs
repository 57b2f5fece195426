//! The counts of the memory, for each line and in all.

use std::ops::{AddAssign, SubAssign};

use throng::machine::Place;

/// The counts of a line, or of all lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Accesses that the processor's own cache answered.
    pub hits: u64,
    /// Accesses that needed others: each is one transaction.
    pub misses: u64,
    /// Copies taken away from processors.
    pub invalidations: u64,
    /// The cycles for which all misses together queued behind others at a home, a bus or the line
    /// itself.
    pub waited_cycles: u64,
}

impl Traffic {
    /// Returns the number of accesses.
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
    /// Subtracts each number, but not below 0.
    fn sub_assign(&mut self, other: Self) {
        let less = |number: &mut u64, other: u64| *number = number.saturating_sub(other);
        less(&mut self.hits, other.hits);
        less(&mut self.misses, other.misses);
        less(&mut self.invalidations, other.invalidations);
        less(&mut self.waited_cycles, other.waited_cycles);
    }
}

/// The counts of the memory in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryReport {
    /// The sum over all lines.
    pub total: Traffic,
    /// The number of messages that the network carried; on a snooping bus, the number of bus
    /// transactions.
    pub messages: u64,
    /// The counts of each line, in the order of creation.
    pub lines: Vec<(Place, Traffic)>,
}

impl MemoryReport {
    /// Returns the `count` lines at which processors waited longest, the worst first. Of lines with
    /// equal waits, those with more misses come first.
    #[must_use]
    pub fn hottest(&self, count: usize) -> Vec<(Place, Traffic)> {
        let heat = |line: &(Place, Traffic)| (line.1.waited_cycles, line.1.misses);
        let mut lines: Vec<_> =
            self.lines.iter().copied().filter(|(_, traffic)| traffic.misses > 0).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(heat(line)));
        lines.truncate(count);
        lines
    }

    /// Returns the counts less those of `shorter`, a run that did the same with the same lines and
    /// ended sooner. So accesses that happen only once, in the beginning, do not count.
    ///
    /// ```
    /// use throng::structures::counter::{Counting, Hardware};
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
