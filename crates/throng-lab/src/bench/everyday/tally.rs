//! Checks the items that one thread pushes and pops, while it is measured.

use crate::bench::queues::check::Wrong;
use crate::bench::queues::items::Item;

/// Items that one thread pushed and popped.
///
/// Values are 1, 2, 3, ... in the order of pushes, so a queue that is first in, first out gives
/// them back in that order. Of others the number and the sum of squares are compared. Each item
/// takes little work, because it is part of the measured time.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pushed: u64,
    popped: u64,
    /// The sum of the squares of the values popped.
    squares: u64,
    /// The last value popped.
    last: u64,
    /// The first item that came out of order, and the value before it.
    disorder: Option<(u64, u64)>,
}

impl Tally {
    /// Returns the next item to push.
    #[inline(always)]
    pub(super) fn next<T: Item>(&mut self) -> T {
        self.pushed += 1;
        T::of(self.pushed)
    }

    /// Records that the last item was refused; the next one gets its value.
    #[inline(always)]
    pub(super) fn take_back(&mut self) {
        self.pushed -= 1;
    }

    /// Records an item that was popped.
    #[inline(always)]
    pub(super) fn note<T: Item>(&mut self, item: &T) {
        let value = item.value().unwrap_or(DAMAGED);
        self.popped += 1;
        self.squares = self.squares.wrapping_add(value.wrapping_mul(value));
        if value <= self.last && self.disorder.is_none() {
            self.disorder = Some((value, self.last));
        }
        self.last = value;
    }

    /// Returns the number of checked items.
    ///
    /// # Errors
    /// When other items were popped than pushed, or, with `in_order`, in another order.
    pub(super) fn verdict(&self, in_order: bool) -> Result<u64, Wrong> {
        let (pushed, popped) = (self.pushed, self.popped);
        match self.disorder {
            Some((number, after)) if in_order => Err(Wrong::Order { producer: 0, number, after }),
            _ if pushed != popped => Err(Wrong::Count { pushed, popped }),
            _ if self.squares != squares(pushed) => Err(Wrong::Others { pushed }),
            _ => Ok(popped),
        }
    }
}

/// The value of an item that is damaged: no run has this many items.
const DAMAGED: u64 = 1 << 31;

/// Returns the sum of the squares of 1 to `count`.
fn squares(count: u64) -> u64 {
    let count = u128::from(count);
    (count * (count + 1) * (2 * count + 1) / 6) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(pushes: usize, popped: &[u64]) -> Tally {
        let mut tally = Tally::default();
        (0..pushes).for_each(|_| assert!(tally.next::<u64>() > 0));
        popped.iter().for_each(|value| tally.note(value));
        tally
    }

    #[test]
    fn what_is_lost_doubled_or_out_of_order_is_seen() {
        assert_eq!(tally(3, &[1, 2, 3]).verdict(true), Ok(3));
        assert_eq!(tally(3, &[1, 3]).verdict(true), Err(Wrong::Count { pushed: 3, popped: 2 }));
        assert_eq!(tally(2, &[1, 3]).verdict(false), Err(Wrong::Others { pushed: 2 }));
        let disorder = Wrong::Order { producer: 0, number: 1, after: 2 };
        assert_eq!(tally(2, &[2, 1]).verdict(true), Err(disorder));
        assert_eq!(tally(2, &[2, 1]).verdict(false), Ok(2), "no order is asked for");
        assert!(tally(2, &[1, 1]).verdict(false).is_err(), "one came twice");
    }

    #[test]
    fn a_refused_item_was_not_pushed() {
        let mut tally = tally(1, &[1]);
        let _refused: u64 = tally.next();
        tally.take_back();
        assert_eq!(tally.verdict(true), Ok(1));
    }
}
