//! The next event of each processor: a winner tree over one key for each processor.
//!
//! A key is the time of the processor's next event and, below it, the processor's id. So the
//! smallest key is the earliest event, and of events at the same time the one with the smallest id.
//! A leaf holds the key of one processor and an inner node the smaller key of its two children.
//! Changing a key repairs the path to the root, log2(n) steps without a branch that depends on the
//! times.

/// The limit of times: the rest of a key is the processor's id.
pub(crate) const TIME_END: u64 = 1 << (u64::BITS - ID_BITS);
/// The limit of ids.
pub(crate) const PROCESSORS_MAX: usize = 1 << ID_BITS;

const ID_BITS: u32 = 16;
/// The key of a processor that has no event: later than all events.
const NEVER: u64 = u64::MAX;

/// The next event of each processor.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The root is at 1, the children of `i` at `2 * i` and `2 * i + 1`, the leaves at the end.
    tree: Vec<u64>,
    /// The index of the first leaf; a power of two.
    leaves: usize,
}

impl EventQueue {
    /// Returns a queue for `processors` processors without events.
    pub(crate) fn new(processors: usize) -> Self {
        let leaves = processors.next_power_of_two();
        EventQueue { tree: vec![NEVER; 2 * leaves], leaves }
    }

    /// Sets the next event of `processor` to `time`.
    #[inline]
    pub(crate) fn set(&mut self, processor: usize, time: u64) {
        debug_assert!(time < TIME_END);
        self.put(processor, (time << ID_BITS) | processor as u64);
    }

    /// Removes the event of `processor`.
    pub(crate) fn clear(&mut self, processor: usize) {
        self.put(processor, NEVER);
    }

    /// Returns the time and the processor of the earliest event.
    #[inline]
    pub(crate) fn first(&self) -> Option<(u64, usize)> {
        let key = self.tree[1];
        (key != NEVER).then_some((key >> ID_BITS, key as usize % PROCESSORS_MAX))
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
            let mut queue = EventQueue::new(processors);
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
    fn the_largest_time_and_id_fit() {
        let mut queue = EventQueue::new(PROCESSORS_MAX);
        queue.set(PROCESSORS_MAX - 1, TIME_END - 2);
        assert_eq!(queue.first(), Some((TIME_END - 2, PROCESSORS_MAX - 1)));
    }
}
