//! Grunwald and Vajracharya, *Efficient Barriers for Distributed Shared Memory Computers*
//! (1993).
//!
//! Members run round after round with no work in between (section 5.1). The flags of a node are
//! packed on one line, and one word releases all members, as the paper has it on the KSR-1 and the
//! Sequent.
//!
//! Simulated processors without other work arrive in step, which no real machine does exactly. So
//! most figures are also made with a little work before each round.

pub mod fan_in;
pub mod figure_10;
pub mod figure_11;
pub mod figure_6;
pub mod figure_8;
pub mod figure_9;
pub mod table_2;

use throng::structures::barrier::Reinit;

use super::claim::Claim;
use super::curve::{Curve, Point};
use super::lab::Lab;
use super::meetings::{
    BarrierRow, Contender, Setting, by_members, cycles, cycles_axis, measure_rows, named,
    over_best, processors_axis, row,
};
use super::{Figure, Findings, Panel};
use crate::chart::{Axis, Scale};
use crate::error::Error;
use crate::workloads::barrier::BarrierTuning;

const CENTRAL: Contender = Contender::new("central", "central");
/// The combining tree, with fan-in 4.
const COMBINING: Contender = Contender::new("combining tree", "combining-tree");
const DISSEMINATION: Contender = Contender::new("dissemination", "dissemination");
const TOURNAMENT: Contender = Contender::new("tournament", "tournament");
/// The MCS tree, with fan-in 4.
const MCS: Contender = Contender::new("MCS tree", "mcs-tree");
/// Static f-way, with the fan-ins that Figure 5 chooses, up to 8.
const STATIC: Contender = Contender::new("static f-way", "static-fway");
/// Dynamic f-way, with the fan-ins that Figure 5 chooses, up to 8.
const DYNAMIC: Contender = Contender::new("dynamic f-way", "dynamic-fway");

/// Static f-way with flags that count rounds and need no clearing, which the paper does not have.
const STATIC_COUNTED: Contender = Contender {
    label: "static f-way, counted",
    tuning: BarrierTuning { reinit: Some(Reinit::Count), ..STATIC.tuning },
    ..STATIC
};

const CONTENDERS: [Contender; 7] =
    [CENTRAL, COMBINING, DISSEMINATION, TOURNAMENT, MCS, STATIC, DYNAMIC];

/// Largest work before each round in cycles, where processors should not arrive in step. It is
/// several times the transfer of a line from another ring of the KSR-1.
const WORK: u32 = 2000;

/// Lists what was measured at `x`, from the fastest to the slowest.
fn order(curves: &[Curve], x: f64) -> String {
    let mut at_x: Vec<(f64, &str)> =
        curves.iter().filter_map(|curve| Some((curve.at(x)?, curve.name.as_str()))).collect();
    at_x.sort_by(|a, b| a.0.total_cmp(&b.0));
    let words: Vec<String> = at_x.iter().map(|(y, name)| format!("{name} {y:.0}")).collect();
    format!("{} (P = {x})", words.join(", "))
}
