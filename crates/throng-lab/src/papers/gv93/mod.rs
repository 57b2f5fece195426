//! Grunwald and Vajracharya, *Efficient Barriers for Distributed Shared Memory Computers* (1993).
//!
//! Members meet, round after round, with nothing to do in between (section 5.1). Flags of a node are
//! packed on one line, and one word tells all that a round is over, as the paper has it on the KSR-1
//! and the Sequent.
//!
//! Processors that have nothing else to do come in step, which no real machine does exactly: so most
//! figures are also made with a little work before each round.

pub mod fan_in;
pub mod figure_10;
pub mod figure_11;
pub mod figure_6;
pub mod figure_8;
pub mod figure_9;
pub mod table_2;

use super::curve::Curve;
use super::lab::Lab;
use super::meetings::{
    BarrierRow, Contender, Setting, by_members, cycles, cycles_axis, measure_rows, named,
    over_best, processors_axis, row,
};
use super::{Findings, Panel};
use crate::error::Error;
use crate::simulated::barrier::BarrierTuning;
use throng::barrier::Reinit;

const CENTRAL: Contender = Contender::new("central", "central");
/// Fan-in 4.
const COMBINING: Contender = Contender::new("combining tree", "combining-tree");
const DISSEMINATION: Contender = Contender::new("dissemination", "dissemination");
const TOURNAMENT: Contender = Contender::new("tournament", "tournament");
/// Fan-in 4.
const MCS: Contender = Contender::new("MCS tree", "mcs-tree");
/// Fan-ins as Figure 5 chooses, up to 8.
const STATIC: Contender = Contender::new("static f-way", "static-fway");
/// Fan-ins as Figure 5 chooses, up to 8.
const DYNAMIC: Contender = Contender::new("dynamic f-way", "dynamic-fway");

/// The same with flags that count rounds, so that nobody clears them: not the paper's.
const STATIC_COUNTED: Contender = Contender {
    label: "static f-way, counted",
    tuning: BarrierTuning { reinit: Some(Reinit::Count), ..STATIC.tuning },
    ..STATIC
};

const CONTENDERS: [Contender; 7] =
    [CENTRAL, COMBINING, DISSEMINATION, TOURNAMENT, MCS, STATIC, DYNAMIC];

/// Work before each round, where processors should not come in step: several times what a line takes
/// from another ring of the KSR-1.
const WORK: u32 = 2000;

/// What was measured of all at `x`, from the fastest to the slowest.
fn order(curves: &[Curve], x: f64) -> String {
    let mut at_x: Vec<(f64, &str)> =
        curves.iter().filter_map(|curve| Some((curve.at(x)?, curve.name.as_str()))).collect();
    at_x.sort_by(|a, b| a.0.total_cmp(&b.0));
    let words: Vec<String> = at_x.iter().map(|(y, name)| format!("{name} {y:.0}")).collect();
    format!("{} (P = {x})", words.join(", "))
}
