//! `throng simulate`: runs one counter on a simulated machine, checks it, and reports.
//! seen there.
//!
//! [`SimulatePlan`] is what was typed, resolved; [`CountingRun`] does it; [`report::Report`] is
//! what there is to tell, as [text](text::render), as JSON, or as [files] in a folder. Barriers,
//! whose runs have other numbers, have all of this in [`barrier`].

pub mod barrier;
pub mod files;
pub mod report;
pub mod text;
use std::path::PathBuf;
use std::time::Instant;

use throng_papers::error::Error;
use throng_papers::output;
use throng_papers::workloads::CountingRun;

use report::Report;

/// The resolved arguments of `throng simulate`.
#[derive(Debug)]
pub struct SimulatePlan {
    /// The run.
    pub run: CountingRun,
    /// The requested width.
    pub width: Option<usize>,
    /// Whether to print JSON.
    pub json: bool,
    /// The folder for results; it exists.
    pub out: Option<PathBuf>,
}

/// Runs it and reports.
///
/// # Errors
/// When the counter fails its check, the machine cannot be simulated, or the report not be written.
pub fn simulate(plan: &SimulatePlan) -> Result<(), Error> {
    let start = Instant::now();
    let measured = plan.run.measure()?;
    let report = Report::new(plan, &measured, start.elapsed());
    if let Some(folder) = &plan.out {
        files::write(folder, &report, &measured)?;
    }
    output::print(&if plan.json { output::json(&report) } else { text::render(&report) })
}
