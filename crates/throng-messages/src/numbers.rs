//! Numbers that were asked for together.

use std::collections::VecDeque;
use std::ops::Range;

/// Several numbers, kept as runs: a first number and those that follow it, a step apart.
///
/// ```
/// use throng_messages::Numbers;
///
/// let mut numbers = Numbers::new(4);
/// numbers.push(3, 2);
/// numbers.push(0, 1);
/// assert_eq!((numbers.len(), numbers.range()), (3, None));
/// assert_eq!(numbers.into_iter().collect::<Vec<_>>(), [3, 7, 0]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    step: u64,
    len: u64,
    runs: VecDeque<Run>,
}

/// `count` numbers, at least one. After 2^64 numbers a counter begins again at 0, and so does a
/// run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    count: u64,
}

impl Numbers {
    /// Returns an empty list. The numbers of a run will be `step` apart.
    #[must_use]
    pub fn new(step: u64) -> Self {
        Numbers { step, len: 0, runs: VecDeque::new() }
    }

    /// Adds `first`, `first + step` and so on, `count` numbers in all.
    pub fn push(&mut self, first: u64, count: u64) {
        self.len = self.len.saturating_add(count);
        match self.runs.back_mut() {
            Some(last) if last.after(last.count, self.step) == first => last.count += count,
            _ if count > 0 => self.runs.push_back(Run { first, count }),
            _ => {}
        }
    }

    /// Adds the numbers of `other`, which have the same step.
    pub fn append(&mut self, other: &Numbers) {
        debug_assert_eq!(self.step, other.step, "numbers of different structures");
        other.runs.iter().for_each(|run| self.push(run.first, run.count));
    }

    /// Removes and returns the first number.
    pub fn pop_first(&mut self) -> Option<u64> {
        let first = self.runs.front()?.first;
        self.cut(1);
        Some(first)
    }

    /// Removes and returns the first `most` numbers, or all of them if there are no more.
    #[must_use]
    pub fn take(&mut self, most: u64) -> Numbers {
        let mut taken = Numbers::new(self.step);
        while taken.len < most
            && let Some(&Run { first, count }) = self.runs.front()
        {
            let count = count.min(most - taken.len);
            taken.push(first, count);
            self.cut(count);
        }
        taken
    }

    /// Removes `count` numbers, at least one, from the first run, which has at least as many.
    fn cut(&mut self, count: u64) {
        self.len -= count;
        if let Some(run) = self.runs.front_mut() {
            *run = Run { first: run.after(count, self.step), count: run.count - count };
            if run.count == 0 {
                self.runs.pop_front();
            }
        }
    }

    /// Returns the count of numbers.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the numbers as a range, or `None` if they do not follow each other.
    #[must_use]
    pub fn range(&self) -> Option<Range<u64>> {
        let Some(&Run { first, count }) = self.runs.front() else { return Some(0..0) };
        let in_a_row = self.runs.len() == 1 && (self.step == 1 || count == 1);
        in_a_row.then_some(first..first.checked_add(count)?)
    }

    /// Returns an iterator over the numbers, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        let step = self.step;
        self.runs
            .iter()
            .flat_map(move |run| (0..run.count).map(move |index| run.after(index, step)))
    }
}

impl Run {
    /// Returns the number that is `index` places after the first.
    fn after(self, index: u64, step: u64) -> u64 {
        self.first.wrapping_add(index.wrapping_mul(step))
    }
}

impl IntoIterator for Numbers {
    type Item = u64;
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(self)
    }
}

/// An iterator over the numbers of a [`Numbers`].
#[derive(Clone, Debug)]
pub struct IntoIter(Numbers);

impl Iterator for IntoIter {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0.pop_first()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = usize::try_from(self.0.len);
        (len.unwrap_or(usize::MAX), len.ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(numbers: &Numbers) -> Vec<u64> {
        numbers.iter().collect()
    }

    #[test]
    fn numbers_in_a_row_are_a_range() {
        let mut numbers = Numbers::new(1);
        assert_eq!(numbers.range(), Some(0..0));
        numbers.push(5, 3);
        numbers.push(8, 2);
        assert_eq!(numbers.range(), Some(5..10));
        numbers.push(11, 1);
        assert_eq!((numbers.range(), all(&numbers)), (None, vec![5, 6, 7, 8, 9, 11]));
    }

    #[test]
    fn numbers_go_on_at_0_after_the_last() {
        let mut numbers = Numbers::new(4);
        numbers.push(u64::MAX - 3, 2);
        assert_eq!((all(&numbers), numbers.range()), (vec![u64::MAX - 3, 0], None));
        let mut end = Numbers::new(1);
        end.push(u64::MAX, 1);
        assert_eq!(end.range(), None, "its end is no number");
    }

    proptest! {
        #[test]
        fn what_is_taken_out_and_what_is_left_is_what_was_put_in(
            runs in prop::collection::vec((0_u64..50, 0_u64..5), 0..6),
            step in 1_u64..4,
            takes in prop::collection::vec(0_u64..7, 0..6),
        ) {
            let mut expected = Vec::new();
            let mut numbers = Numbers::new(step);
            for &(first, count) in &runs {
                numbers.push(first, count);
                expected.extend((0..count).map(|index| first + index * step));
            }
            prop_assert_eq!(all(&numbers), &expected[..]);
            let mut found = Vec::new();
            for most in takes {
                let before = numbers.len();
                let taken = numbers.take(most);
                prop_assert_eq!((taken.len(), numbers.len()), (most.min(before), before - most.min(before)));
                found.extend(taken);
            }
            prop_assert_eq!(numbers.is_empty(), all(&numbers).is_empty());
            found.extend(numbers);
            prop_assert_eq!(found, expected);
        }
    }
}
