//! The shapes of counters.

use crate::error::Error;
use crate::options::Options;
use std::fmt;
use std::str::FromStr;
use throng::ShapeError;
use throng_messages::{CombiningShape, Delay, DiffractingShape, Plan, Waiting};

/// The structure behind a [`Counter`](crate::Counter). `docs/cluster.md` says how to choose.
///
/// ```
/// use throng_mpi::Shape;
///
/// assert_eq!(Shape::for_ranks(4), Shape::Central);
/// assert_eq!("diffracting-tree:8".parse(), Ok(Shape::DiffractingTree { width: 8 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// One rank gives out all numbers: two messages a number, and nothing is faster while that rank
    /// can keep up. Linearizable.
    Central,
    /// Tokens meet in prisms and take different branches, through log2(width) levels, to one of
    /// `width` roles that give out numbers. It takes log2(width) + 2 messages a number, one more
    /// for each level where a token met no other. Quiescently consistent.
    DiffractingTree {
        /// The number of roles that give out numbers: a power of two.
        width: usize,
    },
    /// Requests of two ranks combine on their way to the root: at most two messages a level and
    /// number. Linearizable.
    CombiningTree,
    /// The bitonic network: log2(width) (log2(width) + 1) / 2 + 2 messages a number. Quiescently
    /// consistent.
    CountingNetwork {
        /// The number of wires: a power of two.
        width: usize,
    },
}

/// The largest number of ranks that one of them serves.
const CENTRAL_RANKS: u32 = 64;
/// With more ranks, the number of ranks for each role that gives out numbers.
const RANKS_A_LEAF: u32 = 16;

impl Shape {
    /// Returns the shape for `ranks` ranks, if all of them ask as fast as they can.
    #[must_use]
    pub fn for_ranks(ranks: u32) -> Self {
        if ranks <= CENTRAL_RANKS {
            Shape::Central
        } else {
            let width = (ranks / RANKS_A_LEAF).next_power_of_two() as usize;
            Shape::DiffractingTree { width: width.min(64) }
        }
    }

    /// Returns whether a call gets larger numbers than all calls that were over before it began,
    /// and several numbers at a time in a row.
    #[must_use]
    pub fn is_linearizable(self) -> bool {
        match self {
            Shape::Central | Shape::CombiningTree => true,
            Shape::DiffractingTree { .. } | Shape::CountingNetwork { .. } => false,
        }
    }

    /// Returns the roles for `ranks` ranks.
    pub(crate) fn plan(self, ranks: u32, options: &Options) -> Result<Plan, Error> {
        let meeting_ns = options.meeting_ns();
        let plan = match self {
            Shape::Central => Ok(Plan::central()),
            Shape::DiffractingTree { width } => {
                let delay = Delay::adaptive(meeting_ns, meeting_ns.saturating_mul(8));
                Plan::diffracting_tree(&DiffractingShape::new(width, delay))
            }
            Shape::CombiningTree => {
                let clients = options.threads as usize * ranks as usize;
                Plan::combining_tree(&CombiningShape {
                    clients,
                    waiting: Waiting::Fixed(meeting_ns),
                })
            }
            Shape::CountingNetwork { width } => Plan::counting_network(width),
        };
        plan.map_err(|error: ShapeError| Error::Shape(error.to_string()))
    }

    /// Returns numbers that are the same for equal shapes.
    pub(crate) fn fingerprint(self) -> [u64; 2] {
        match self {
            Shape::Central => [0, 0],
            Shape::DiffractingTree { width } => [1, width as u64],
            Shape::CombiningTree => [2, 0],
            Shape::CountingNetwork { width } => [3, width as u64],
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Central => write!(f, "central"),
            Shape::DiffractingTree { width } => write!(f, "diffracting-tree:{width}"),
            Shape::CombiningTree => write!(f, "combining-tree"),
            Shape::CountingNetwork { width } => write!(f, "counting-network:{width}"),
        }
    }
}

impl FromStr for Shape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let width = |width: &str| {
            width.parse().map_err(|_| Error::Shape(format!("{width}: the width is a number")))
        };
        match text.split_once(':').unwrap_or((text, "")) {
            ("central", "") => Ok(Shape::Central),
            ("combining-tree", "") => Ok(Shape::CombiningTree),
            ("diffracting-tree", text) => Ok(Shape::DiffractingTree { width: width(text)? }),
            ("counting-network", text) => Ok(Shape::CountingNetwork { width: width(text)? }),
            _ => Err(Error::Shape(format!(
                "{text}: there are central, combining-tree, diffracting-tree:8, counting-network:8"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_read_as_it_is_written() {
        for shape in [
            Shape::Central,
            Shape::DiffractingTree { width: 4 },
            Shape::CombiningTree,
            Shape::CountingNetwork { width: 16 },
        ] {
            assert_eq!(shape.to_string().parse(), Ok(shape));
        }
        assert!("central:4".parse::<Shape>().is_err());
        assert!("diffracting-tree".parse::<Shape>().is_err());
    }

    #[test]
    fn a_width_that_is_no_power_of_two_is_refused() {
        let shape = Shape::DiffractingTree { width: 6 };
        assert!(matches!(shape.plan(4, &Options::new()), Err(Error::Shape(_))));
    }

    #[test]
    fn the_default_shape_exists_for_every_number_of_ranks() {
        for ranks in (1..200).chain([1000, 1024, 5000, 100_000]) {
            assert!(Shape::for_ranks(ranks).plan(ranks, &Options::new()).is_ok(), "{ranks} ranks");
        }
    }
}
