//! The shapes of a counter, in the order in which it tries them.

use crate::counter::gathering::Levels;

/// The largest number of levels of groups in any shape.
#[cfg(test)]
pub(super) const MOST_DEPTH: u32 = 2;

const fn groups(height: u32) -> Levels {
    Levels::FLAT.and(height)
}

/// The shapes, from few callers to many.
const LADDER: [Levels; 12] = [
    Levels::FLAT,
    groups(1),
    groups(2),
    groups(3),
    groups(4),
    groups(5),
    groups(6),
    groups(5).and(8),
    groups(6).and(9),
    groups(6).and(10),
    groups(7).and(11),
    groups(7).and(12),
];

/// The shapes of a restless counter, which changes its shape all the time (for tests). Groups are
/// small, so that few callers are enough to exercise them.
const RESTLESS: [Levels; 7] = [
    Levels::FLAT,
    groups(1),
    groups(2),
    groups(1).and(2),
    groups(3),
    groups(2).and(4),
    groups(1).and(3),
];

/// All shapes.
pub(super) const WHOLE: &[Levels] = &LADDER;

/// Returns the shapes up to the first that has more than `depth` levels of groups.
pub(super) fn ladder(depth: u32) -> &'static [Levels] {
    up_to(&LADDER, depth)
}

/// Returns the shapes of a restless counter up to the first that has more than `depth` levels of
/// groups.
pub(super) fn restless(depth: u32) -> &'static [Levels] {
    up_to(&RESTLESS, depth)
}

fn up_to(all: &'static [Levels], depth: u32) -> &'static [Levels] {
    let deeper = all.iter().position(|levels| levels.depth() > depth);
    &all[..deeper.unwrap_or(all.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rung_is_there_twice_and_depth_does_not_fall() {
        for (i, &levels) in LADDER.iter().enumerate() {
            let fits = |lower: &Levels| *lower != levels && lower.depth() <= levels.depth();
            assert!(LADDER[..i].iter().all(fits));
        }
    }

    #[test]
    fn no_rung_is_deeper_than_asked_for() {
        assert_eq!((ladder(0), restless(0)), (&[Levels::FLAT][..], &[Levels::FLAT][..]));
        assert_eq!((ladder(1).len(), restless(1).len()), (7, 3));
        assert_eq!((ladder(9).len(), restless(MOST_DEPTH).len()), (12, 7));
    }
}
