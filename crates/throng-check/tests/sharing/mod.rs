//! Indices shared out among processors of any machine, and the checks of their promises.

#![allow(dead_code, reason = "each test binary uses some of it")]

use std::ops::Range;
use std::sync::Mutex;

use throng::machine::Machine;
use throng::structures::pool::Indices;

/// Indices, and the ones that each processor has got.
pub(crate) struct Sharing<M: Machine> {
    range: Range<usize>,
    indices: Indices<M>,
    shares: Mutex<Vec<Vec<usize>>>,
}

impl<M: Machine> Sharing<M> {
    pub(crate) fn new(range: Range<usize>, threads: usize) -> Self {
        let indices = Indices::on_machine(range.clone(), threads);
        Sharing { range, indices, shares: Mutex::new(Vec::new()) }
    }

    /// Takes indices until there are no more, and does `work` for each.
    pub(crate) fn take(&self, cpu: &M::Cpu, work: impl Fn(usize)) {
        let share: Vec<usize> = self.indices.iter_on(cpu).inspect(|&index| work(index)).collect();
        self.shares.lock().unwrap().push(share);
    }

    /// Takes indices as above, but asks for an end after `chunks` chunks of its own.
    pub(crate) fn take_some(&self, cpu: &M::Cpu, chunks: usize) {
        let mut share = self.indices.iter_on(cpu);
        let mut taken = Vec::new();
        while let Some(chunk) = share.next_chunk() {
            taken.push(chunk);
            if taken.len() == chunks {
                self.indices.stop();
            }
        }
        self.shares.lock().unwrap().push(taken.into_iter().flatten().collect());
    }

    /// Checks that each index was given to one processor, in ascending order.
    pub(crate) fn assert_once(&self) {
        let all = self.given();
        assert!(all.iter().copied().eq(self.range.clone()), "not {:?}: {all:?}", self.range);
    }

    /// Checks that no index was given to two.
    pub(crate) fn assert_no_more_than_once(&self) {
        let all = self.given();
        assert!(all.windows(2).all(|two| two[0] < two[1]), "one of them twice: {all:?}");
        assert!(all.iter().all(|index| self.range.contains(index)));
    }

    fn given(&self) -> Vec<usize> {
        let shares = self.shares.lock().unwrap();
        assert!(shares.iter().all(|share| share.is_sorted()), "not in order: {shares:?}");
        let mut all = shares.concat();
        all.sort_unstable();
        all
    }
}
