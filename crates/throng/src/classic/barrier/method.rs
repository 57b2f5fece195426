//! The list of barrier methods: one line makes a method known to every check, benchmark and
//! listing.

use std::fmt;

use super::*;
use crate::machine::Machine;
use crate::setters::setters;

/// The description of a method.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct About {
    /// A short name, as typed on a command line.
    pub name: &'static str,
    /// One line that says how it works.
    pub summary: &'static str,
    /// The paper that it comes from.
    pub paper: &'static str,
}

impl About {
    /// Returns the description of a method.
    #[must_use]
    pub const fn new(name: &'static str, summary: &'static str, paper: &'static str) -> Self {
        About { name, summary, paper }
    }
}

/// The parameters of a barrier. A method ignores those that it does not have.
///
/// ```
/// use throng::structures::barrier::{FanIn, Shape};
/// let shape = Shape::for_members(9).fan_in(FanIn::Fixed(3));
/// assert_eq!(shape.members, 9);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// The number of members that meet.
    pub members: usize,
    /// The number of members that meet at a node of a tree.
    pub fan_in: FanIn,
    /// The placement of arrival flags.
    pub flags: Flags,
    /// How waiting members learn that all have come.
    pub wake_up: WakeUp,
    /// How flags are made ready for the next round, if the method has a choice.
    pub reinit: Reinit,
}

impl Shape {
    /// The largest number of members.
    pub const MOST_MEMBERS: usize = 1 << 16;

    /// Returns the shape for `members` members, all else as in GV93 on the KSR-1: flags packed, one
    /// word to wait on.
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

    setters!(const fn members: usize, flags: Flags, wake_up: WakeUp, reinit: Reinit);
    setters!(fn fan_in: FanIn);

    pub(crate) fn checked_members(&self) -> Result<usize, ShapeError> {
        ShapeError::check_range("members", self.members, 1..=Self::MOST_MEMBERS)
    }

    /// Returns the fan-ins from the leaves up.
    pub(crate) fn levels(&self) -> Result<Vec<usize>, ShapeError> {
        self.levels_or(&FanIn::Usual)
    }

    /// Returns the fan-ins from the leaves up, by `usual` if the method may choose.
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
    /// The description of the method.
    const ABOUT: About;

    /// Builds the barrier of this method for `shape`.
    ///
    /// # Errors
    /// If the shape cannot be built: no members, a fan-in of 1.
    fn build(shape: &Shape) -> Result<Self, ShapeError>;
}

/// Builds a barrier of a method that is known at run time.
type Build<M> = fn(&Shape) -> Result<Box<dyn Meeting<M>>, ShapeError>;

/// A method in the list: its description, and how to build it.
#[doc(hidden)]
pub struct Registered<M: Machine> {
    /// The description of the method.
    pub about: About,
    build: Build<M>,
}

// Derived implementations would require the machine to be `Copy`, too.
impl<M: Machine> Copy for Registered<M> {}

impl<M: Machine> Clone for Registered<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine> Registered<M> {
    /// Returns the entry of method `B`.
    #[must_use]
    pub fn of<B: Method<M>>() -> Self {
        Registered {
            about: B::ABOUT,
            build: |shape| B::build(shape).map(|barrier| Box::new(barrier) as Box<dyn Meeting<M>>),
        }
    }

    /// Builds a barrier of this method.
    ///
    /// # Errors
    /// If the shape cannot be built.
    pub fn build(&self, shape: &Shape) -> Result<Box<dyn Meeting<M>>, ShapeError> {
        (self.build)(shape)
    }
}

impl<M: Machine> fmt::Debug for Registered<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.about.fmt(f)
    }
}
