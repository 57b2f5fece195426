//! Structures with a recorder around them, ready to run in any world.

mod barrier;
mod counter;

pub use barrier::{Attendee, Entrance, Letters, ObservedEntrance, ObservedMeeting, ObservedTeam};
pub use counter::Observed;
