//! The next event of each processor: a winner tree over one key for each processor.
//!
//! A key is the time of the processor's next event and, below it, the processor's rank at that time.
//! So the smallest key is the earliest event, and of events at the same time the one of lowest rank.
//! The ranks at a time are a permutation of the processors that depends on the seed and the time
//! ([`Ties`]). A leaf holds the key of one processor and an inner node the smaller key of its two
//! children. Changing a key repairs the path to the root, log2(n) steps without a branch that
//! depends on the times.

use throng::machine::SplitMix64;

use crate::random::{Purpose, random};
use crate::spec::PROCESSORS_MAX;

/// The limit of times: the rest of a key is the processor's id.
pub(crate) const TIME_END: u64 = 1 << (u64::BITS - ID_BITS);

const ID_BITS: u32 = 16;
const _: () = assert!(PROCESSORS_MAX == 1 << ID_BITS);
/// The key of a processor that has no event: later than all events.
const NEVER: u64 = u64::MAX;

/// The order of events of the same cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ties {
    /// By processor id.
    ById,
    /// In an order drawn with this seed, another one in each cycle.
    Drawn(u64),
}

/// The ranks of processors: a fixed permutation, and a mask that depends on the time.
#[derive(Debug)]
struct Ranks {
    rank: Box<[u16]>,
    processor: Box<[u16]>,
    /// 0 if ties go by id.
    key: u64,
    mask: u64,
}

impl Ranks {
    /// Returns the ranks of `count` processors, a power of two.
    fn new(ties: Ties, count: usize) -> Self {
        let mut processor: Box<[u16]> = (0..count).map(|id| id as u16).collect();
        let mut key = 0;
        if let Ties::Drawn(seed) = ties {
            let mut random = random(seed, Purpose::Ties);
            for last in (1..count).rev() {
                processor.swap(last, random.below(last as u64 + 1) as usize);
            }
            key = random.draw() | 1;
        }
        let mut rank = vec![0; count].into_boxed_slice();
        for (at, &id) in processor.iter().enumerate() {
            rank[usize::from(id)] = at as u16;
        }
        Ranks { rank, processor, key, mask: count as u64 - 1 }
    }

    #[inline]
    fn at(&self, time: u64) -> u64 {
        if self.key == 0 { 0 } else { SplitMix64::mix(time ^ self.key) & self.mask }
    }
}

/// The next event of each processor.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The root is at 1, the children of `i` at `2 * i` and `2 * i + 1`, the leaves at the end.
    tree: Vec<u64>,
    /// The index of the first leaf; a power of two.
    leaves: usize,
    ranks: Ranks,
}

impl EventQueue {
    /// Returns a queue for `processors` processors without events.
    pub(crate) fn new(processors: usize, ties: Ties) -> Self {
        let leaves = processors.next_power_of_two();
        EventQueue { tree: vec![NEVER; 2 * leaves], leaves, ranks: Ranks::new(ties, leaves) }
    }

    /// Sets the next event of `processor` to `time`.
    #[inline]
    pub(crate) fn set(&mut self, processor: usize, time: u64) {
        debug_assert!(time < TIME_END);
        let rank = u64::from(self.ranks.rank[processor]) ^ self.ranks.at(time);
        self.put(processor, (time << ID_BITS) | rank);
    }

    /// Removes the event of `processor`.
    pub(crate) fn clear(&mut self, processor: usize) {
        self.put(processor, NEVER);
    }

    /// Returns the time and the processor of the earliest event.
    #[inline]
    pub(crate) fn first(&self) -> Option<(u64, usize)> {
        let key = self.tree[1];
        if key == NEVER {
            return None;
        }
        let time = key >> ID_BITS;
        let rank = (key ^ self.ranks.at(time)) & self.ranks.mask;
        Some((time, self.ranks.processor[rank as usize].into()))
    }

    /// Returns the time of the event of `processor`, or a time later than all others if it has
    /// none.
    #[inline]
    pub(crate) fn time_of(&self, processor: usize) -> u64 {
        self.tree[self.leaves + processor] >> ID_BITS
    }

    #[inline]
    fn put(&mut self, processor: usize, key: u64) {
        let mut node = self.leaves + processor;
        let mut smallest = key;
        self.tree[node] = key;
        while node > 1 {
            smallest = smallest.min(self.tree[node ^ 1]);
            node /= 2;
            self.tree[node] = smallest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_ties_go_to_the_smaller_id() {
        for processors in [1, 2, 3, 8, 100] {
            let mut queue = EventQueue::new(processors, Ties::ById);
            assert_eq!(queue.first(), None);
            for id in 0..processors {
                queue.set(id, (id as u64 * 7) % 5);
            }
            let mut expected: Vec<_> =
                (0..processors).map(|id| ((id as u64 * 7) % 5, id)).collect();
            expected.sort_unstable();
            for event in expected {
                assert_eq!(queue.first(), Some(event));
                queue.clear(event.1);
            }
            assert_eq!(queue.first(), None);
        }
    }

    #[test]
    fn the_order_of_ties_depends_on_seed_and_time_and_not_on_the_order_of_calls() {
        let order = |seed, time, ids: &mut dyn Iterator<Item = usize>| {
            let mut queue = EventQueue::new(100, Ties::Drawn(seed));
            ids.for_each(|id| queue.set(id, time));
            let mut order = Vec::new();
            while let Some((at, id)) = queue.first() {
                assert_eq!(at, time);
                order.push(id);
                queue.clear(id);
            }
            order
        };
        let first = order(1, 50, &mut (0..100));
        assert_eq!(first, order(1, 50, &mut (0..100).rev()));
        assert_ne!(first, order(2, 50, &mut (0..100)));
        assert_ne!(first, order(1, 51, &mut (0..100)));
        let apart = |id: &usize| first.iter().position(|at| at == id).unwrap();
        assert!((0..99).any(|id| apart(&id).abs_diff(apart(&(id ^ 1))) > 1), "no fixed neighbours");
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..100));
    }

    #[test]
    fn the_largest_time_and_id_fit() {
        let mut queue = EventQueue::new(PROCESSORS_MAX, Ties::Drawn(3));
        queue.set(PROCESSORS_MAX - 1, TIME_END - 2);
        assert_eq!(queue.first(), Some((TIME_END - 2, PROCESSORS_MAX - 1)));
    }
}
