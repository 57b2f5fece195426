//! The list of barrier methods, so that one line makes a method known to every check, benchmark and
//! listing.

use std::fmt;

use super::*;
use crate::machine::Machine;

/// What a method says of itself.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// A short name, as typed on a command line.
    pub name: &'static str,
    /// One line: how it works.
    pub summary: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
}

/// What a barrier should be like. What a method does not have, it ignores.
///
/// ```
/// use throng::barrier::{FanIn, Shape};
/// let shape = Shape { fan_in: FanIn::Fixed(3), ..Shape::for_members(9) };
/// assert_eq!(shape.members, 9);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many members meet.
    pub members: usize,
    /// How many meet at a node of a tree.
    pub fan_in: FanIn,
    /// Where arrival flags lie.
    pub flags: Flags,
    /// How those who wait learn that all have come.
    pub wake_up: WakeUp,
    /// How flags are made ready for the next round, where the method has a choice.
    pub reinit: Reinit,
}

impl Shape {
    /// More members than this are refused.
    pub const MOST_MEMBERS: usize = 1 << 16;

    /// The shape for so many members, all else as in GV93 on the KSR-1: flags packed, one word to
    /// wait on.
    #[must_use]
    pub const fn for_members(members: usize) -> Self {
        Shape {
            members,
            fan_in: FanIn::Usual,
            flags: Flags::Packed,
            wake_up: WakeUp::Global,
            reinit: Reinit::Clear,
        }
    }

    pub(super) fn checked_members(&self) -> Result<usize, ShapeError> {
        ShapeError::check_range("members", self.members, 1..=Self::MOST_MEMBERS)
    }

    /// The fan-ins from the leaves up.
    pub(super) fn levels(&self) -> Result<Vec<usize>, ShapeError> {
        self.levels_or(&FanIn::Usual)
    }

    /// The fan-ins from the leaves up; by `usual` where the method may choose.
    pub(super) fn levels_or(&self, usual: &FanIn) -> Result<Vec<usize>, ShapeError> {
        const ALLOWED: std::ops::RangeInclusive<usize> = 2..=Shape::MOST_MEMBERS;
        let fan_in = if self.fan_in == FanIn::Usual { usual } else { &self.fan_in };
        match *fan_in {
            FanIn::Usual => {}
            FanIn::Fixed(fan_in) => drop(ShapeError::check_range("fan-in", fan_in, ALLOWED)?),
            FanIn::Machine { most, .. } => {
                ShapeError::check_range("largest fan-in", most, ALLOWED)?;
            }
            FanIn::Fullest { least, most } => {
                ShapeError::check_range("largest fan-in", most, ALLOWED)?;
                ShapeError::check_range("least", least, 0..=most - 1)?;
            }
        }
        Ok(fan_in.levels(self.checked_members()?))
    }
}

/// A barrier method that can be built for a [`Shape`].
pub trait Method<M: Machine>: Meeting<M> + Sized + 'static {
    /// What the method says of itself.
    const ABOUT: About;

    /// The barrier of this method for `shape`.
    ///
    /// # Errors
    /// When the shape asks for something that cannot be built: no members, a fan-in of 1.
    fn build(shape: &Shape) -> Result<Self, ShapeError>;
}

/// Builds a barrier whose method has been forgotten.
type Build<M> = fn(&Shape) -> Result<Box<dyn Meeting<M>>, ShapeError>;

/// A method in the list: what it says of itself, and how to build it.
pub struct Registered<M: Machine> {
    /// What the method says of itself.
    pub about: About,
    build: Build<M>,
}

// Derived, these would ask the machine to be `Copy` too.
impl<M: Machine> Copy for Registered<M> {}

impl<M: Machine> Clone for Registered<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine> Registered<M> {
    /// The entry of method `B`.
    #[must_use]
    pub fn of<B: Method<M>>() -> Self {
        Registered {
            about: B::ABOUT,
            build: |shape| B::build(shape).map(|barrier| Box::new(barrier) as Box<dyn Meeting<M>>),
        }
    }

    /// A barrier of this method.
    ///
    /// # Errors
    /// When the shape asks for something that cannot be built.
    pub fn build(&self, shape: &Shape) -> Result<Box<dyn Meeting<M>>, ShapeError> {
        (self.build)(shape)
    }
}

impl<M: Machine> fmt::Debug for Registered<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.about.fmt(f)
    }
}

/// Every barrier method there is.
///
/// A method in this list is checked on real threads, under loom, under shuttle and on the
/// simulator, measured by `throng bench barriers` and shown by `throng list`.
///
/// ```
/// use throng::barrier::{Shape, methods};
/// use throng::machine::{Native, WayOut};
///
/// for method in methods::<Native>() {
///     let alone = method.build(&Shape::for_members(1)).unwrap();
///     for round in 0..3 {
///         assert!(alone.meet_on(&Native::cpu(), 0, round, &WayOut::none()).is_ok());
///     }
/// }
/// ```
#[must_use]
pub fn methods<M: Machine>() -> Vec<Registered<M>> {
    vec![
        Registered::of::<Shaped<M>>(),
        Registered::of::<Grouped<M>>(),
        Registered::of::<Tally<M>>(),
        Registered::of::<CountAndRelease<M>>(),
        Registered::of::<Central<M>>(),
        Registered::of::<CombiningTree<M>>(),
        Registered::of::<Dissemination<M>>(),
        Registered::of::<Tournament<M>>(),
        Registered::of::<McsTree<M>>(),
        Registered::of::<StaticFway<M>>(),
        Registered::of::<DynamicFway<M>>(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Native, WayOut};
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_can_be_typed() {
        let mut seen = HashSet::new();
        for method in methods::<Native>() {
            let About { name, summary, paper } = method.about;
            assert!(seen.insert(name), "{name} is listed twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
            assert!(!summary.is_empty() && !paper.is_empty());
        }
    }

    #[test]
    fn what_cannot_be_built_is_refused_with_a_reason() {
        for method in methods::<Native>() {
            let nobody = method.build(&Shape::for_members(0)).err().expect("nobody cannot meet");
            assert_eq!(nobody.to_string(), "members 0: must be from 1 to 65536");
            assert!(method.build(&Shape::for_members(1 << 17)).is_err(), "{}", method.about.name);
        }
        let lonely = Shape { fan_in: FanIn::Fixed(1), ..Shape::for_members(4) };
        let refused = StaticFway::<Native>::build(&lonely).expect_err("one cannot meet");
        assert_eq!(refused.to_string(), "fan-in 1: must be from 2 to 65536");
        let upside_down = FanIn::Fullest { least: 10, most: 4 };
        let upside_down = Shape { fan_in: upside_down, ..Shape::for_members(1000) };
        assert!(StaticFway::<Native>::build(&upside_down).is_err());
    }

    #[test]
    fn one_member_never_waits() {
        for method in methods::<Native>() {
            let barrier = method.build(&Shape::for_members(1)).expect("one member is enough");
            for round in 0..5 {
                assert!(barrier.meet_on(&Native::cpu(), 0, round, &WayOut::none()).is_ok());
            }
        }
    }
}
