//! The bitonic counting network of messages (Aspnes, Herlihy and Shavit 1994; DT96, section 4.2 "CNet").
//!
//! Balancers are roles, tokens are messages: every balancer is a [`Toggle`], and each
//! output wire ends in a [`Dispenser`]. A client asks the balancer at the end of a
//! random input wire. The wiring is that of [`throng::structures::counter::CountingNetwork`], where it is drawn.
//!
//! A number takes depth + 2 messages, whatever the load: log2 w (log2 w + 1) / 2 + 2, which is 17
//! for width 32.
//!
//! # Why it counts
//!
//! A toggle is a balancer, since it handles one token at a time and alternates. The time that
//! tokens take does not matter to the step property of the bitonic network.
//!
//! # What is promised
//!
//! Slow messages make numbers late, and have no other effect. If the node of a role dies, the
//! tokens that come there are lost: their askers wait for ever. The balancers after it have seen
//! fewer tokens than they should, so numbers may be missing below those that others get. No number
//! is given twice.

use crate::balancer::{Toggle, Way, random_of};
use crate::central::Dispenser;
use crate::plan::{Plan, WayIn, log_of_width};
use crate::role::Role;
use throng::ShapeError;
use throng::structures::counter::{End, Wiring};

impl Plan {
    /// Returns the bitonic counting network of `width` wires. It is quiescently consistent: a
    /// number may be below one that was given out before it was asked for, but when no request is
    /// in flight none is missing.
    ///
    /// ```
    /// use throng_messages::Plan;
    ///
    /// let plan = Plan::counting_network(8)?;
    /// assert_eq!(plan.len(), 24 + 8); // balancers, dispensers
    /// assert_eq!(plan.longest_way(), 6 + 2);
    /// # Ok::<(), throng::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// If `width` is not a power of two up to 4096.
    pub fn counting_network(width: usize) -> Result<Plan, ShapeError> {
        let log = log_of_width(width)?;
        let wiring = Wiring::bitonic(width);
        let balancers = wiring.balancers.len() as u32;
        // The wiring numbers its balancers from the outputs backwards, the plan from the inputs on.
        let role = |end: End| match end {
            End::Balancer(balancer) => balancers - 1 - balancer,
            End::Output(wire) => balancers + wire,
        };
        let toggle = |(number, ends): (u32, &[End; 2])| {
            // Each output leads to one role: no random number is ever drawn.
            Role::Toggle(Toggle::new(ends.map(|end| Way::to(role(end))), random_of(0, number)))
        };
        let mut roles: Vec<Role> = (0..).zip(wiring.balancers.iter().rev()).map(toggle).collect();
        let dispenser = |wire| Role::Dispenser(Dispenser::new(wire, width as u64));
        roles.extend((0..width as u64).map(dispenser));

        let mut entries: Vec<u32> = wiring.inputs.iter().map(|&end| role(end)).collect();
        // Two wires lead to each.
        entries.sort_unstable();
        entries.dedup();
        let depth = log * (log + 1) / 2;
        Ok(Plan::new("counting network", roles, WayIn::Listed(entries.into()), depth + 2))
    }
}
