//! Where shared memory lives.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::{Machine, Word};

/// Whose memory a line is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Anywhere; a simulated machine spreads such lines over its memories.
    Anywhere,
    /// At the memory of the processor with this id.
    Near(usize),
}

/// Where a line should live, and what it is called in reports.
///
/// ```
/// use throng::machine::{Home, Place};
/// let place = Place::named("location").index(7).near(7);
/// assert_eq!(place.home, Home::Near(7));
/// assert_eq!(place.to_string(), "location[7]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// What the line holds.
    pub name: &'static str,
    /// Which of several lines of that name it is.
    pub index: Option<usize>,
    /// Whose memory it is in.
    pub home: Home,
    /// Whether the words on it hold addresses, which differ from run to run.
    pub holds_addresses: bool,
}

impl Place {
    /// A place anywhere in memory.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Place { name, index: None, home: Home::Anywhere, holds_addresses: false }
    }

    /// The `index`-th place of its name.
    #[must_use]
    pub const fn index(self, index: usize) -> Self {
        Place { index: Some(index), ..self }
    }

    /// The same place, in the memory of processor `id`.
    #[must_use]
    pub const fn near(self, id: usize) -> Self {
        Place { home: Home::Near(id), ..self }
    }

    /// The same place, for words that hold addresses. A simulation that is run again gives the same trace, so
    /// the trace tells of such words only whether they are 0.
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

/// Something that has cache lines of its own.
///
/// What is in one `Line` are neighbours: an access to one of them moves them all. What is in two
/// lines never disturbs the other. Aligned to 128 bytes, because today's processors fetch lines of
/// 64 bytes in pairs.
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
    /// Makes the content of a fresh line; every word and cell made with the spot lies on it.
    pub fn new<M: Machine>(place: Place, content: impl FnOnce(&M::Spot) -> T) -> Self {
        Line(content(&M::spot(place)))
    }

    /// Returns a line of content that was made without a spot: for constants.
    pub(crate) const fn of(content: T) -> Self {
        Line(content)
    }

    /// The content, taken off its line.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<W> Line<W> {
    /// A word alone on its line.
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
