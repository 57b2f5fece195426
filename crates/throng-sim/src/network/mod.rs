//! Networks of processors that share nothing but messages.

mod counting;
mod error;
mod measured;
mod placement;
mod spec;

pub use counting::CountingRun;
pub use error::NetworkError;
pub use measured::{Busiest, Carried, Delivery, Measured};
pub use placement::Placement;
pub use spec::{NODES_MAX, NetworkSpec, Topology};
