//! What a counter is made of.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;
use throng_messages::Plan;

/// The structure behind a [`Counter`](crate::Counter). `docs/cluster.md` tells how to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// One rank gives out all numbers: two messages a number, and nothing faster while that rank can
    /// keep up.
    Central,
}

impl Shape {
    /// The shape that suits so many ranks.
    #[must_use]
    pub fn for_ranks(ranks: u32) -> Self {
        let _ = ranks;
        Shape::Central
    }

    /// The roles for so many clients.
    pub(crate) fn plan(self, clients: u32) -> Result<Plan, Error> {
        let _ = clients;
        match self {
            Shape::Central => Ok(Plan::central()),
        }
    }

    /// Whether it must know all who ask when it is made.
    pub(crate) fn knows_clients(self) -> bool {
        false
    }

    /// Numbers that are the same for equal shapes.
    pub(crate) fn fingerprint(self) -> [u64; 2] {
        match self {
            Shape::Central => [0, 0],
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Central => write!(f, "central"),
        }
    }
}

impl FromStr for Shape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "central" => Ok(Shape::Central),
            _ => Err(Error::Shape(format!("{text}: no such shape"))),
        }
    }
}
