//! Structures with a recorder around them, ready to run in any world.

mod alternating;
mod barrier;
mod counter;
mod parcel;
mod queue;

pub use alternating::alternating;
pub use barrier::{Attendee, Entrance, Letters, ObservedEntrance, ObservedMeeting, ObservedTeam};
pub use counter::Observed;
pub use parcel::{Ledger, Miscounted, Parcel};
pub use queue::{
    AnyStore, ByJobs, Can, ForcePush, ForcedQueue, Kind, ObservedQueue, Step, Store, kinds,
    program, queue_shape,
};
