//! Where shared memory is placed.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::{Machine, Word};

/// The processor whose memory a line is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Any memory; a simulated machine spreads such lines over its memories.
    Anywhere,
    /// The memory of the processor with this id.
    Near(usize),
}

/// The place of a line in memory, and its name in reports.
///
/// ```
/// use throng::machine::{Home, Place};
/// let place = Place::named("location").index(7).near(7);
/// assert_eq!(place.home, Home::Near(7));
/// assert_eq!(place.to_string(), "location[7]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The content of the line.
    pub name: &'static str,
    /// The index among lines of the same name.
    pub index: Option<usize>,
    /// The processor whose memory the line is in.
    pub home: Home,
    /// Whether the words on it hold addresses, which differ from run to run.
    pub holds_addresses: bool,
}

impl Place {
    /// Returns a place anywhere in memory.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Place { name, index: None, home: Home::Anywhere, holds_addresses: false }
    }

    /// Sets the index among places of the same name.
    #[must_use]
    pub const fn index(self, index: usize) -> Self {
        Place { index: Some(index), ..self }
    }

    /// Sets the place to the memory of processor `id`.
    #[must_use]
    pub const fn near(self, id: usize) -> Self {
        Place { home: Home::Near(id), ..self }
    }

    /// Marks the place as one for words that hold addresses. The trace of a simulation must be the
    /// same in each run, so it only says whether such words are 0.
    #[must_use]
    pub const fn of_addresses(self) -> Self {
        Place { holds_addresses: true, ..self }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}[{index}]", self.name),
            None => f.write_str(self.name),
        }
    }
}

/// A value on cache lines of its own.
///
/// The parts of one `Line` are neighbours: an access to one of them moves them all. Parts of
/// different lines never disturb each other. A `Line` is aligned to 128 bytes, because today's
/// processors fetch lines of 64 bytes in pairs.
///
/// ```
/// use throng::machine::{Line, Machine, Native, Place, Word};
///
/// // Alone on its line:
/// let toggle = Line::word::<Native>(0, Place::named("toggle"));
/// // Four flags, neighbours on one line in processor 3's memory:
/// let flags = Line::new::<Native>(Place::named("flags").near(3), |spot| {
///     std::array::from_fn::<_, 4, _>(|_| <Native as Machine>::Word::new(0, spot))
/// });
/// assert_eq!(flags.len(), 4);
/// assert_eq!(std::mem::align_of_val(&toggle), 128);
/// ```
#[derive(Debug)]
#[repr(align(128))]
pub struct Line<T>(T);

impl<T> Line<T> {
    /// Returns a new line with the result of `content`. Every word and cell made with the spot is
    /// on that line.
    pub fn new<M: Machine>(place: Place, content: impl FnOnce(&M::Spot) -> T) -> Self {
        Line(content(&M::spot(place)))
    }

    /// Returns a line of content that was made without a spot, for constants.
    pub(crate) const fn of(content: T) -> Self {
        Line(content)
    }

    /// Returns the content.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<W> Line<W> {
    /// Returns a word alone on its line.
    pub fn word<M: Machine<Word = W>>(value: u64, place: Place) -> Self
    where
        W: Word<M>,
    {
        Line::new::<M>(place, |spot| W::new(value, spot))
    }
}

impl<T> Deref for Line<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Line<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
