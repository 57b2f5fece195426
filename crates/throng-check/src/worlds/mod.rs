//! The model checkers as machines, and real threads that yield.
//!
//! Both model checkers (feature `worlds`) run one processor at a time and switch between them at every access of a
//! word. loom tries every schedule up to a number of preemptions, and every value that weak memory may show;
//! shuttle tries random schedules of larger runs, sequentially consistent.
//!
//! [`Yielding`] runs real threads, which now and then let others run between two accesses.

#[cfg(feature = "worlds")]
mod checker;
#[cfg(feature = "worlds")]
mod loom_world;
#[cfg(feature = "worlds")]
mod shuttle_park;
#[cfg(feature = "worlds")]
mod shuttle_world;
mod yielding_world;

#[cfg(feature = "worlds")]
pub use loom_world::{Loom, LoomCell, LoomCpu, LoomWord};
#[cfg(feature = "worlds")]
pub use shuttle_park::{ShuttlePark, ShuttleParkCell, ShuttleParkWord};
#[cfg(feature = "worlds")]
pub use shuttle_world::{Schedules, Shuttle, ShuttleCell, ShuttleCpu, ShuttleWord};
pub use yielding_world::{Yielding, YieldingCell, YieldingCpu, YieldingWord};
