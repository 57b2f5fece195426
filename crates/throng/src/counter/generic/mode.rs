//! The word `mode`: the shape of a counter, and when callers look whether to change it.

use super::policy::Next;
use crate::counter::gathering::Levels;

/// From this number on a counter stays one word, because the policy does not handle numbers that
/// wrap.
pub(super) const FLAT_FROM: u64 = 1 << 62;

/// The window of a counter that needs no looks, as a power of two. No number below [`FLAT_FROM`] is
/// a multiple of it, except 0.
pub(super) const NEVER: u32 = 62;

/// The window of a new counter: numbers from one look to the next, as a power of two.
pub(super) const FIRST_WINDOW: u32 = 8;

/// The word `mode`: the way to the root, and the numbers that are followed by a look.
///
/// | bits | on one word | in groups |
/// |---|---|---|
/// | 63 | 0 | 1 |
/// | 0..63 | a mask: look when all these bits of the number are 0 | |
/// | 0..8 | | look when a fetch passes a multiple of 2^this |
/// | 8..24 | | the [`Levels`] |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode(pub(super) u64);

impl Mode {
    /// The bit of a mode with groups.
    pub(super) const GROUPS: u64 = 1 << 63;

    /// One word, and no look after any number below 2^63 but 0.
    pub(super) const FLAT_FOR_EVER: Mode = Mode(Self::GROUPS - 1);

    /// Returns the mode of one word with a look after each `2^window` numbers.
    pub(super) const fn flat(window: u32) -> Self {
        Mode((1 << window) - 1)
    }

    pub(super) fn new(next: Next) -> Self {
        let Next { levels, window } = next;
        if levels == Levels::FLAT {
            Mode::flat(window)
        } else {
            Mode(Self::GROUPS | levels.bits() << 8 | u64::from(window))
        }
    }

    #[inline]
    pub(super) const fn is_flat(self) -> bool {
        self.0 & Self::GROUPS == 0
    }

    #[inline]
    pub(super) const fn levels(self) -> Levels {
        if self.is_flat() { Levels::FLAT } else { Levels::from_bits(self.0 >> 8) }
    }

    /// Returns the count of numbers between two looks, as a power of two.
    #[inline]
    pub(super) const fn window(self) -> u32 {
        if self.is_flat() { self.0.trailing_ones() } else { (self.0 & 63) as u32 }
    }

    /// Returns whether a fetch of `count` numbers from `first` on is followed by a look.
    #[inline]
    pub(super) const fn looks_after(self, first: u64, count: u64) -> bool {
        // A look follows if there is a multiple of 2^window among them.
        let window = self.window();
        first.wrapping_sub(1) >> window != first.wrapping_add(count).wrapping_sub(1) >> window
    }
}
