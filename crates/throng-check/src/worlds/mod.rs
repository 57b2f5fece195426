//! The model checkers as machines.
//!
//! Both run one processor at a time and switch between them at every access of a word. loom tries
//! every schedule up to a number of preemptions, and every value that weak memory may show;
//! shuttle tries random schedules of larger runs, sequentially consistent.

mod checker;
mod loom_world;
mod shuttle_world;

pub use loom_world::{Loom, LoomCell, LoomCpu, LoomWord};
pub use shuttle_world::{Schedules, Shuttle, ShuttleCell, ShuttleCpu, ShuttleWord};
