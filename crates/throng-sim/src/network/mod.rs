//! Networks of processors that share nothing but messages.

mod anneal;
mod calendar;
mod carrier;
mod counting;
mod error;
mod measured;
mod placement;
mod routes;
mod spec;

pub use carrier::Network;
pub use counting::CountingRun;
pub use error::NetworkError;
pub use measured::{Busiest, Carried, Delivery, Measured};
pub use placement::Placement;
pub use spec::{NODES_MAX, NetworkSpec, Topology};
