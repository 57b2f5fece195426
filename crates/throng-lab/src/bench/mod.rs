//! `throng bench` of one kind: measuring, checking, reporting.
//!
//! | module | what it does |
//! |---|---|
//! | [`counters`], [`barriers`], [`queues`], [`loops`], [`heat`] | one kind of structure, or a computation with it |
//! | [`everyday`] | queues and pools in the loads most programs have |
//! | [`beside`] | barriers, queues and loops beside busy neighbours |
//! | [`start`] | first uses in fresh processes |
//!
//! What they have in common:
//!
//! | module | what it does |
//! |---|---|
//! | [`setup`] | the machine: its cores and its speed at the moment |
//! | [`window`] | the phases of a run, and their times |
//! | `harness` | what a benchmark is: one runner, one record of every single number, one set of files |
//! | `together` | threads that begin together |
//! | [`pace`] | how a thread takes its values, with or without work in between |
//! | [`stats`], `ranks` | medians, how far numbers lie apart, and whether two rows of them differ |
//! | [`latency`] | histograms and percentiles |
//! | `grid`, `noise` | the table, and how far to trust it |

pub mod barriers;
pub mod beside;
pub mod counters;
pub mod everyday;
pub(crate) mod grid;
pub(crate) mod harness;
pub mod heat;
pub mod latency;
pub mod loops;
pub(crate) mod noise;
pub mod pace;
pub mod queues;
pub(crate) mod ranks;
pub mod setup;
pub mod start;
pub mod stats;
mod together;
pub mod window;

/// Whose a measured structure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Of this library: what it recommends.
    Ours,
    /// One of those, called by its `try` forms until they work.
    OursTried,
    /// Another method of this library, such as those of the papers.
    Method,
    /// Of another library.
    Peer,
    /// No structure: what the measurement takes by itself.
    Nothing,
}

impl Origin {
    /// Returns whether it is of this library.
    pub const fn is_ours(self) -> bool {
        matches!(self, Origin::Ours | Origin::OursTried | Origin::Method)
    }
}

/// A line of memory, as counters are made of.
#[repr(align(128))]
pub(crate) struct Line(#[expect(dead_code, reason = "it takes up room")] [u8; 128]);
