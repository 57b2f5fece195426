//! The shape of a pool.

use crate::ShapeError;

/// More leaves than this nobody has processors for; and each thread remembers something of each leaf.
const MOST_LEAVES: usize = 1 << 12;

/// How a pool is built.
///
/// ```
/// use throng::pool::{Pool, PoolShape};
///
/// let shape = PoolShape { spin: 16, ..PoolShape::for_processors(4) };
/// let pool: Pool<u32> = Pool::on_machine(&shape)?;
/// pool.push(7).unwrap();
/// assert_eq!(pool.pop(), Some(7));
/// # Ok::<(), throng::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolShape {
    /// Local queues: a power of two up to 4096.
    pub leaves: usize,
    /// Levels of balancers above them; 2^depth is at most the number of leaves.
    pub depth: u32,
    /// Slots in the prism of the first balancer; each level below has half as many, but one at least.
    pub prism: usize,
    /// How many times one looks for a partner in a balancer, at most; and how many pauses a taker makes before
    /// it comes again to where it found one job.
    pub spin: u32,
    /// Every so many pops, a processor looks first not at home but at the leaf whose turn it is.
    pub turn_every: u32,
    /// Where so many jobs are, and guests take some of them, new ones are put elsewhere.
    pub crowd: usize,
    /// A taker that comes from elsewhere moves so many jobs to its home, at most, beside the one that it
    /// takes, and 4 kB of them at most.
    pub haul: usize,
}

impl PoolShape {
    /// A leaf for each of so many processors, and one exit of the tree for every eight leaves.
    #[must_use]
    pub const fn for_processors(processors: usize) -> Self {
        let wanted = if processors < MOST_LEAVES { processors } else { MOST_LEAVES };
        let leaves = wanted.next_power_of_two();
        // Two leaves at least, so that there is a tree at all.
        let leaves = if leaves < 2 { 2 } else { leaves };
        let depth = if leaves <= 16 { 1 } else { leaves.trailing_zeros() - 3 };
        let prism = if leaves < 4 { 1 } else { leaves / 4 };
        PoolShape { leaves, depth, prism, spin: 64, turn_every: 64, crowd: 16, haul: 512 }
    }

    pub(super) fn check(&self) -> Result<(), ShapeError> {
        if !self.leaves.is_power_of_two() || self.leaves > MOST_LEAVES {
            let allowed = format!("a power of two from 1 to {MOST_LEAVES}");
            return Err(ShapeError::new("leaves", self.leaves, allowed));
        }
        let most_depth = self.leaves.trailing_zeros() as usize;
        ShapeError::check_range("depth", self.depth as usize, 0..=most_depth)?;
        ShapeError::check_range("prism size", self.prism, 1..=MOST_LEAVES)?;
        ShapeError::check_range("pops to a turn", self.turn_every as usize, 1..=1 << 20)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_for_any_number_of_processors_can_be_built() {
        for processors in [0, 1, 2, 3, 16, 17, 192, usize::MAX] {
            let shape = PoolShape::for_processors(processors);
            shape.check().unwrap();
            assert!(shape.leaves >= processors.min(MOST_LEAVES));
        }
        let shape = PoolShape::for_processors(192);
        assert_eq!((shape.leaves, shape.depth, shape.prism), (256, 5, 64));
    }

    #[test]
    fn shapes_that_cannot_be_built_are_refused_by_name() {
        let good = PoolShape::for_processors(4);
        let told = |shape: PoolShape| shape.check().unwrap_err().to_string();
        let leaves = "leaves 3: must be a power of two from 1 to 4096";
        assert_eq!(told(PoolShape { leaves: 3, ..good.clone() }), leaves);
        assert_eq!(told(PoolShape { depth: 3, ..good.clone() }), "depth 3: must be from 0 to 2");
        assert!(told(PoolShape { prism: 0, ..good.clone() }).starts_with("prism size 0"));
        assert!(told(PoolShape { turn_every: 0, ..good }).starts_with("pops to a turn 0"));
    }
}
