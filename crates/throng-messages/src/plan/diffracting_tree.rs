//! The roles of a [diffracting tree](crate::diffracting_tree), and how they are connected.

use super::{Plan, WayIn, log_of_width};
use crate::balancer::{Toggle, Way, random_of};
use crate::central::Dispenser;
use crate::diffracting_tree::{DiffractingShape, Prism};
use crate::role::Role;
use throng::ShapeError;

impl Plan {
    /// Returns a diffracting tree. It is quiescently consistent: a number may be below one that was
    /// given out before it was asked for, but when no request is in flight none is missing.
    ///
    /// # Errors
    /// If the width is not a power of two up to 4096, or the numbers of prisms or the delays do not
    /// fit it or each other.
    pub fn diffracting_tree(shape: &DiffractingShape) -> Result<Plan, ShapeError> {
        let width = shape.width;
        let depth = log_of_width(width)?;
        let sizes = shape.prisms.sizes(depth)?;
        let delays = shape.delay.levels(depth)?;

        // Balancer b of the shared-memory tree, 1 for the root and 2b, 2b + 1 below it, has its
        // prisms in ways[b]; its toggle follows them. From `width` on it is a dispenser.
        let level = |balancer: usize| balancer.ilog2() as usize;
        let mut ways = vec![Way::to(0)];
        let mut count = 0;
        for balancer in 1..2 * width {
            let size = if balancer < width { sizes[level(balancer)] as u32 } else { 1 };
            ways.push(Way { first: count, count: size });
            count += size + u32::from(balancer < width);
        }

        let mut roles = Vec::with_capacity(count as usize);
        for balancer in 1..width {
            let next = [ways[2 * balancer], ways[2 * balancer + 1]];
            let toggle = ways[balancer].roles().end;
            let first = delays[level(balancer)];
            roles.extend(ways[balancer].roles().map(|role| {
                let random = random_of(shape.seed, role);
                Role::Prism(Prism::new(next, toggle, first, &shape.delay, random))
            }));
            roles.push(Role::Toggle(Toggle::new(next, random_of(shape.seed, toggle))));
        }
        roles.extend((0..width).map(|place| {
            // The side taken at the root is the highest bit of the place, and the lowest of the number.
            let first = (place as u64).reverse_bits().checked_shr(64 - depth).unwrap_or(0);
            Role::Dispenser(Dispenser::new(first, width as u64))
        }));
        Ok(Plan::new("diffracting tree", roles, WayIn::Any(ways[1]), 2 * depth + 2))
    }
}
