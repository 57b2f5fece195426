//! The levels of groups that callers pass.

use std::fmt;

use crate::ShapeError;

/// The groups that a call passes on its way to the root, smallest first: a set of *heights*. A
/// group of height h is all locations that differ only in their lowest h bits.
///
/// ```
/// use throng::structures::counter::gathering::Levels;
///
/// assert_eq!(Levels::FLAT.to_string(), "one word");
/// let levels = Levels::of_heights(&[3, 6])?;
/// assert_eq!(levels.to_string(), "groups of 8, of 64");
/// assert_eq!(levels.depth(), 2);
/// # Ok::<(), throng::structures::counter::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Levels {
    /// Bit h is set if there are groups of height h.
    heights: u32,
}

impl Levels {
    /// No groups: every call goes to the root itself.
    pub const FLAT: Levels = Levels { heights: 0 };

    /// The height of the largest groups: 2^12 locations.
    pub(super) const MAX_HEIGHT: u32 = 12;

    /// The number of heights, 0 included.
    pub(super) const HEIGHTS: usize = Levels::MAX_HEIGHT as usize + 1;

    /// Returns levels with groups of 2^h locations for each h of `heights`.
    ///
    /// # Errors
    /// If a height is not from 1 to 12.
    pub fn of_heights(heights: &[u32]) -> Result<Self, ShapeError> {
        let mut levels = Levels::FLAT;
        for &height in heights {
            ShapeError::check_range("height", height as usize, 1..=Levels::MAX_HEIGHT as usize)?;
            levels = levels.and(height);
        }
        Ok(levels)
    }

    /// Adds groups of `height`, which must be from 1 to 12.
    pub(crate) const fn and(self, height: u32) -> Self {
        assert!(height >= 1 && height <= Levels::MAX_HEIGHT);
        Levels { heights: self.heights | 1 << height }
    }

    /// Returns the levels that [`bits`](Levels::bits) encoded. Other bits are ignored.
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Levels { heights: bits as u32 & ((2 << Levels::MAX_HEIGHT) - 2) }
    }

    /// Encodes the levels as a number below 2^16.
    pub(crate) const fn bits(self) -> u64 {
        self.heights as u64
    }

    /// Removes the largest groups until at most `depth` levels are left.
    pub(crate) fn at_most(self, depth: u32) -> Self {
        self.heights().take(depth as usize).fold(Levels::FLAT, Levels::and)
    }

    /// Returns the number of groups that a call passes.
    #[must_use]
    pub const fn depth(self) -> u32 {
        self.heights.count_ones()
    }

    /// Returns the heights of the groups, smallest first.
    pub fn heights(self) -> impl Iterator<Item = u32> {
        (1..=Levels::MAX_HEIGHT).filter(move |height| self.heights & 1 << height != 0)
    }

    /// Returns the smallest height and the levels above it, or `None` if there are no groups.
    #[inline]
    pub(super) fn split(self) -> Option<(u32, Levels)> {
        let above = self.heights & self.heights.wrapping_sub(1);
        (self.heights != 0).then(|| (self.heights.trailing_zeros(), Levels { heights: above }))
    }

    /// Returns one level of groups, of about the square root of `processors`. As many callers then
    /// meet in a group as groups meet at the root.
    #[must_use]
    pub fn for_processors(processors: usize) -> Self {
        if processors < 8 {
            return Levels::FLAT;
        }
        // Half of the base-2 logarithm, rounded up.
        Levels::FLAT.and(processors.ilog2().div_ceil(2).min(Levels::MAX_HEIGHT))
    }
}

impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Levels::FLAT {
            return f.pad("one word");
        }
        let sizes: Vec<String> = self.heights().map(|h| format!("of {}", 1 << h)).collect();
        f.pad(&format!("groups {}", sizes.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_passed_from_the_smallest_to_the_largest() {
        let levels = Levels::of_heights(&[6, 3]).unwrap();
        let (height, above) = levels.split().unwrap();
        assert_eq!((height, above), (3, Levels::of_heights(&[6]).unwrap()));
        assert_eq!(above.split(), Some((6, Levels::FLAT)));
        assert_eq!(Levels::FLAT.split(), None);
        assert_eq!(levels.heights().collect::<Vec<_>>(), [3, 6]);
    }

    #[test]
    fn the_largest_groups_are_left_out_first() {
        let levels = Levels::of_heights(&[1, 4, 9]).unwrap();
        let left = |depth| levels.at_most(depth).heights().collect::<Vec<_>>();
        assert_eq!((left(0), left(2), left(7)), (vec![], vec![1, 4], vec![1, 4, 9]));
    }

    #[test]
    fn any_bits_are_some_levels() {
        for bits in [0, 1, u64::MAX, 1 << 40] {
            let levels = Levels::from_bits(bits);
            assert!(levels.heights().all(|h| (1..=Levels::MAX_HEIGHT).contains(&h)));
            assert_eq!(Levels::from_bits(levels.bits()), levels);
        }
    }

    #[test]
    fn heights_that_cannot_be_are_refused() {
        let error = Levels::of_heights(&[2, 13]).unwrap_err();
        assert_eq!(error.to_string(), "height 13: must be from 1 to 12");
        assert!(Levels::of_heights(&[0]).is_err());
    }

    #[test]
    fn groups_are_as_large_as_there_are_groups() {
        let heights = |n| Levels::for_processors(n).heights().collect::<Vec<_>>();
        assert_eq!(heights(4), []);
        assert_eq!((heights(16), heights(64), heights(192)), (vec![2], vec![3], vec![4]));
        assert_eq!(heights(usize::MAX), [12]);
    }
}
