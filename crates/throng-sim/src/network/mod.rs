//! Networks of processors that share nothing but messages.
//!
//! The structures of [`throng_messages`] run here on simulated networks: two torus meshes, a
//! butterfly, a crossbar, as in DT96, section 4, and a present-day cluster. A message takes time on
//! each wire and in each switch of its path and waits behind earlier messages; computing takes no
//! time. A [`NetworkSpec`] describes the network, a [`Placement`] the nodes of the participants,
//! and a [`CountingRun`] or [`MeetingRun`] their work. The `README.md` in `src/network` has the
//! rules, and which of them are the paper's.
//!
//! ```
//! use throng_messages::{CombiningShape, Plan, Waiting};
//! use throng_sim::network::{CountingRun, NetworkSpec, Placement};
//!
//! let (network, clients, numbers) = (NetworkSpec::mesh_single_wire(64), 64, 5_000);
//! let plan = Plan::combining_tree(&CombiningShape { clients: 64, waiting: Waiting::ForEver })?;
//! let throughput = |placement| {
//!     let plan = plan.clone();
//!     let run = CountingRun { network, plan, placement, clients, work: 0, numbers, seed: 1 };
//!     run.run().map(|measured| measured.throughput_per(1_000))
//! };
//! let random = throughput(Placement::random(&network, &plan, clients, 1)?)?;
//! let annealed = throughput(Placement::annealed(&network, &plan, clients, 1)?)?;
//! // Where a structure is put matters in a mesh.
//! assert!(annealed > 1.3 * random, "{annealed} {random}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anneal;
mod calendar;
mod carrier;
mod counting;
mod error;
mod measured;
mod meeting;
mod placement;
mod routes;
mod spec;

pub use carrier::Network;
pub use counting::CountingRun;
pub use error::NetworkError;
pub use measured::{Busiest, Carried, Delivery, Measured};
pub use meeting::{MeetingRun, Met, Round};
pub use placement::Placement;
pub use spec::{NODES_MAX, NetworkSpec, Topology};
