//! Checks that every item came out exactly once, while it is measured.
//!
//! A consumer keeps, in memory of its own, the number of its items, the sum of their values and of
//! their squares, and the last number from each producer. An item that comes twice to one consumer,
//! or before an older one of its producer, is found at once. An item that is lost, damaged, or
//! comes to two consumers changes the totals. Producers keep only the number of their items: their
//! totals are computed after the run.
//!
//! The cost is some additions, one multiplication and a store to a line that no other thread uses.
//! The row `nothing`, with no queue between the two ends, shows it together with all the rest.

use std::fmt;

use super::items::{Item, origin_of, value_of};
use crate::error::{self, Error};

/// Totals of the items that went in or came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    count: u64,
    sum: u64,
    squares: u64,
}

impl Totals {
    #[inline]
    fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(value);
        self.squares = self.squares.wrapping_add(value.wrapping_mul(value));
    }

    /// Returns the totals of the first `count` items of a producer.
    pub fn pushed(producer: usize, count: u64) -> Self {
        let mut totals = Totals::default();
        (1..=count).for_each(|number| totals.add(value_of(producer, number)));
        totals
    }

    fn join(self, other: Self) -> Self {
        Totals {
            count: self.count + other.count,
            sum: self.sum.wrapping_add(other.sum),
            squares: self.squares.wrapping_add(other.squares),
        }
    }
}

/// Returns the error for a queue that failed. `load` is the mix or the case, such as "the mix even".
pub(in crate::bench) fn failed(
    method: &str,
    load: &str,
    threads: usize,
    wrong: impl fmt::Display,
) -> Error {
    Error::check(method, format_args!("failed in {load} on {}: {wrong}", error::count(threads)))
}

/// The error of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Another number of items came out than went in.
    Count {
        /// Number of items that went in.
        pushed: u64,
        /// Number of items popped.
        popped: u64,
    },
    /// The number of items is right, but the items are not those pushed.
    Others {
        /// Number of items that went in.
        pushed: u64,
    },
    /// An item came out that was never pushed, or that was damaged.
    Unknown,
    /// An item came out after a younger one of the same producer, or twice.
    Order {
        /// The producer.
        producer: usize,
        /// The number of its item.
        number: u64,
        /// The one that came before it.
        after: u64,
    },
    /// A bounded queue took an item that had no room, or refused one that had.
    Room {
        /// The bound.
        capacity: usize,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Count { pushed, popped } => {
                write!(f, "{pushed} items were pushed and {popped} popped")
            }
            Wrong::Others { pushed } => {
                write!(f, "{pushed} items were pushed and as many popped, but not the same ones")
            }
            Wrong::Unknown => write!(f, "an item was popped that was never pushed"),
            Wrong::Order { producer, number, after } => write!(
                f,
                "item {number} of thread {producer} was popped after its item {after} on the same \
                 thread"
            ),
            Wrong::Room { capacity } => write!(
                f,
                "a queue with room for {capacity} took more, or refused an item that had room"
            ),
        }
    }
}

/// Numbers on a line of their own.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(128))]
struct Numbers([u64; NUMBERS]);

const NUMBERS: usize = 16;

/// The items that one consumer has got.
#[derive(Debug)]
#[repr(align(128))]
pub struct Check {
    totals: Totals,
    /// The last number from each producer.
    last: Vec<Numbers>,
    in_order: bool,
    wrong: Option<Wrong>,
}

impl Check {
    /// Returns a check for items of `producers` producers. `in_order`: those of one producer come
    /// in order.
    pub fn new(producers: usize, in_order: bool) -> Self {
        let last = vec![Numbers::default(); producers.div_ceil(NUMBERS)];
        Check { totals: Totals::default(), last, in_order, wrong: None }
    }

    /// Records an item that came out.
    #[inline]
    pub fn note(&mut self, item: &impl Item) {
        match item.value() {
            Some(value) => self.note_value(value),
            None => self.wrong = Some(Wrong::Unknown),
        }
    }

    /// Records an item of this value that came out.
    #[inline]
    pub fn note_value(&mut self, value: u64) {
        let (producer, number) = origin_of(value);
        self.totals.add(value);
        let Some(Numbers(line)) = self.last.get_mut(producer / NUMBERS) else {
            self.wrong = Some(Wrong::Unknown);
            return;
        };
        let last = &mut line[producer % NUMBERS];
        if number <= *last && self.in_order {
            self.wrong = Some(Wrong::Order { producer, number, after: *last });
        }
        *last = number;
    }

    /// Returns the number of items that came out.
    #[inline]
    pub fn count(&self) -> u64 {
        self.totals.count
    }
}

/// Returns the number of checked items, or an error if they are not those pushed, each once and in
/// order.
///
/// # Errors
/// The error of the queue.
pub fn verdict(
    pushed: impl Iterator<Item = Totals>,
    popped: impl Iterator<Item = Check>,
) -> Result<u64, Wrong> {
    let pushed = pushed.fold(Totals::default(), Totals::join);
    let mut all = Totals::default();
    for check in popped {
        check.wrong.map_or(Ok(()), Err)?;
        all = all.join(check.totals);
    }
    if all == pushed {
        Ok(all.count)
    } else if all.count == pushed.count {
        Err(Wrong::Others { pushed: pushed.count })
    } else {
        Err(Wrong::Count { pushed: pushed.count, popped: all.count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges two consumers that got these items; two producers have pushed two items each.
    fn judge(first: &[(usize, u64)], second: &[(usize, u64)]) -> Result<u64, Wrong> {
        let popped = [first, second].map(|items| {
            let mut check = Check::new(2, true);
            items.iter().for_each(|&(producer, number)| check.note(&value_of(producer, number)));
            check
        });
        verdict([0, 1].map(|producer| Totals::pushed(producer, 2)).into_iter(), popped.into_iter())
    }

    #[test]
    fn each_item_once_is_right_on_any_thread() {
        assert_eq!(judge(&[(0, 1), (1, 1), (0, 2), (1, 2)], &[]), Ok(4));
        assert_eq!(judge(&[(0, 1), (1, 2)], &[(1, 1), (0, 2)]), Ok(4));
    }

    #[test]
    fn what_is_wrong_is_seen() {
        let lost = judge(&[(0, 1), (1, 1)], &[(0, 2)]);
        assert_eq!(lost, Err(Wrong::Count { pushed: 4, popped: 3 }));
        let twice = judge(&[(0, 1), (1, 1)], &[(0, 1), (1, 2)]);
        assert_eq!(twice, Err(Wrong::Others { pushed: 4 }));
        let order = judge(&[(0, 2), (0, 1)], &[(1, 1), (1, 2)]);
        assert_eq!(order, Err(Wrong::Order { producer: 0, number: 1, after: 2 }));
        assert_eq!(judge(&[(0, 1), (0, 2)], &[(1, 1), (77, 1)]), Err(Wrong::Unknown));
    }

    #[test]
    fn where_no_order_is_promised_none_is_asked_for() {
        let mut check = Check::new(1, false);
        [2, 1].iter().for_each(|&number| check.note(&value_of(0, number)));
        assert_eq!(verdict([Totals::pushed(0, 2)].into_iter(), [check].into_iter()), Ok(2));
    }
}
