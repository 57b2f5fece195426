//! One counter under a lock.

use std::sync::atomic::Ordering::Acquire;

use super::locked_arrivals::LockedArrivals;
use super::method::{About, Method, Shape};
use super::senses::sense_of;
use super::{Broken, Meeting};
use crate::ShapeError;
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// The central barrier with a lock, as GV93 measured it (sections 2.1 and 5.1): members lock the counter, add one, and
/// unlock it. All words are on one line, which members read while they wait.
///
/// [`Central`](super::Central) beside it adds by `fetch_add`, and its members wait at another line.
///
/// ```
/// use throng::machine::Native;
/// use throng::structures::barrier::{LockedCentral, Method, Shape, team};
///
/// let members = team(LockedCentral::<Native>::build(&Shape::for_members(3))?);
/// std::thread::scope(|scope| {
///     for mut member in members {
///         scope.spawn(move || (0..10).for_each(|_round| drop(member.wait())));
///     }
/// });
/// # Ok::<(), throng::ShapeError>(())
/// ```
///
/// # Differs from the paper
/// - Members wait for a sense on the counter's line, which the last to come reverses. In section 2.1 they wait until the
///   counter is full; the paper does not say who sets it back, nor how members that have not yet seen it full are protected from that.
/// - The lock is a word on the line, not the KSR-1's lock of the whole subpage.
///
/// ## Memory ordering
/// The lock passes on what members did before, and the last one's release of the sense tells all.
#[derive(Debug)]
pub struct LockedCentral<M: Machine = Native> {
    line: Line<Inner<M>>,
    members: usize,
}

#[derive(Debug)]
struct Inner<M: Machine> {
    arrivals: LockedArrivals<M>,
    /// The sense of the last round that is over.
    sense: M::Word,
}

impl<M: Machine> Method<M> for LockedCentral<M> {
    const ABOUT: About = About {
        name: "central-locked",
        summary: "one counter under a lock, on the line that members wait at",
        paper: "GV93 sections 2.1 and 5.1",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let inner = |spot: &M::Spot| Inner {
            arrivals: LockedArrivals::new(spot),
            sense: M::Word::new(0, spot),
        };
        Ok(LockedCentral {
            line: Line::new::<M>(Place::named("arrived"), inner),
            members: shape.checked_members()?,
        })
    }
}

impl<M: Machine> Meeting<M> for LockedCentral<M> {
    fn members(&self) -> usize {
        self.members
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        _rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let Inner { arrivals, sense } = &*self.line;
        let own = sense_of(round);
        if arrivals.arrive(cpu, self.members, way_out)? {
            sense.signal(own);
            return Ok(());
        }
        sense.sleep_while(cpu, Acquire, way_out, |now| now != own).map(drop).ok_or(Broken)
    }
}
