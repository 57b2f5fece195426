//! The shape of a pool.

use crate::ShapeError;
use crate::setters::setters;

/// How a pool is built.
///
/// ```
/// use throng::structures::pool::{Pool, PoolShape};
///
/// let shape = PoolShape::DEFAULT.most_moved(0);
/// let pool: Pool<u32> = Pool::on_machine(&shape)?;
/// pool.push(7).unwrap();
/// assert_eq!(pool.pop(), Some(7));
/// # Ok::<(), throng::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolShape {
    /// The number of pops of a thread from one look for old jobs to the next.
    pub turn_every: u32,
    /// The largest number of jobs that a thief moves to its own leaf, besides the job that it
    /// takes. A thief moves at most 4 kB of jobs.
    pub most_moved: u32,
    /// The number of times that a waiting thread looks at all leaves before it sleeps.
    pub rounds_before_sleep: u32,
}

impl PoolShape {
    /// The default for real machines, measured on 16 Xeon cores.
    ///
    /// - `turn_every` 256: with 64, jobs in pairs on 16 threads are 16 % slower. Without turns,
    ///   trees of 200 ns jobs on 16 threads were 27 and 42 % slower in two runs.
    /// - `most_moved` 512: with 0, one producer of 2 million jobs a second and 15 consumers fall behind.
    /// - `rounds_before_sleep` 64: some 50 microseconds, about the time that it takes to fall
    ///   asleep and to be woken.
    pub const DEFAULT: PoolShape =
        PoolShape { turn_every: 256, most_moved: 512, rounds_before_sleep: 64 };

    setters!(const fn turn_every: u32, most_moved: u32, rounds_before_sleep: u32);

    pub(super) fn check(&self) -> Result<(), ShapeError> {
        ShapeError::check_range("pops to a turn", self.turn_every as usize, 1..=1 << 20)?;
        Ok(())
    }
}

impl Default for PoolShape {
    fn default() -> Self {
        PoolShape::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_cannot_be_built_are_refused_by_name() {
        PoolShape::DEFAULT.check().unwrap();
        let shape = PoolShape { turn_every: 0, ..PoolShape::DEFAULT };
        assert!(shape.check().unwrap_err().to_string().starts_with("pops to a turn 0"));
    }
}
