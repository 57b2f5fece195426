//! The items of a queue: numbered, so that none is lost or comes twice unnoticed.

use std::hint::black_box;

/// Bits of an item's value that number the items of one producer.
const NUMBER_BITS: u32 = 48;

/// The value that tells a consumer to stop; it is larger than that of any item.
pub const STOP: u64 = u64::MAX;

/// Returns the value of the `number`-th item of a producer; numbers begin at 1.
pub const fn value_of(producer: usize, number: u64) -> u64 {
    ((producer as u64) << NUMBER_BITS) | number
}

/// Returns the producer of an item with this value, and its number.
pub const fn origin_of(value: u64) -> (usize, u64) {
    ((value >> NUMBER_BITS) as usize, value & ((1 << NUMBER_BITS) - 1))
}

/// An item with a value in it.
pub trait Item: Send + Sync + 'static {
    /// Returns the item of this value.
    fn of(value: u64) -> Self;
    /// Returns its value, or [`None`] if the item has been damaged.
    fn value(&self) -> Option<u64>;
}

impl Item for u64 {
    #[inline]
    fn of(value: u64) -> Self {
        value
    }

    #[inline]
    fn value(&self) -> Option<u64> {
        Some(*self)
    }
}

/// An item of `WORDS` times 8 bytes, each word with the value in it.
#[derive(Clone, Copy, Debug)]
pub struct Words<const WORDS: usize>([u64; WORDS]);

/// An item of 256 bytes, the size of a message or a job with some content.
pub type Large = Words<32>;

impl<const WORDS: usize> Item for Words<WORDS> {
    #[inline]
    fn of(value: u64) -> Self {
        Words([value; WORDS])
    }

    #[inline]
    fn value(&self) -> Option<u64> {
        // All of it must be loaded, not only the words that are compared.
        let words = &black_box(self).0;
        let value = words[0];
        (value == words[WORDS / 2 - 1] && value == words[WORDS - 1]).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_tells_where_it_comes_from() {
        assert_eq!(origin_of(value_of(1023, 77)), (1023, 77));
        assert_ne!(value_of(1023, (1 << NUMBER_BITS) - 1), STOP);
    }

    #[test]
    fn a_large_item_shows_its_damage() {
        assert_eq!(size_of::<Large>(), 256);
        let mut item = Large::of(5);
        assert_eq!(item.value(), Some(5));
        item.0[31] = 6;
        assert_eq!(item.value(), None);
    }
}
