//! `throng calibrate`: how long a line takes from core to core, and a machine file from that.

use clap::Args;
use throng_papers::output::{self, JsonTarget};

use crate::bench::setup::{Pinning, Setup};
use crate::calibrate::target::MachineTarget;
use crate::calibrate::{Document, measure, text};
use crate::error::Error;
use crate::validate::check;

/// Arguments of `throng calibrate`.
#[derive(Debug, Default, Args)]
pub struct CalibrateArguments {
    /// Shorter runs: a rougher answer in a few seconds
    #[arg(long)]
    pub quick: bool,

    /// Also measure a few counters, barriers and queues, simulate them on the machine just made, and
    /// tell how far the two are from each other
    #[arg(long)]
    pub check: bool,

    /// Where the machine file goes [default: throng-machine.toml]
    #[arg(long, value_name = "FILE")]
    pub out: Option<std::path::PathBuf>,

    /// Write every time to this file as JSON; `-` is standard output, and the table then goes to
    /// standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Measures this machine and writes a machine file.
///
/// # Errors
/// When a file cannot be written, or, with `--check`, a structure fails.
pub fn run(typed: &CalibrateArguments) -> Result<(), Error> {
    let target = MachineTarget::find(typed.out.as_deref())?;
    target.is_not(typed.json.as_deref())?;
    // Last, so that only arguments that are otherwise right create a file.
    let json = JsonTarget::open(typed.json.as_ref())?;
    let pinning = Pinning::find();
    let setup = Setup::look(&pinning);
    let calibration = measure(&pinning, typed.quick);
    let checked = match typed.check {
        true => Some(check::check(&calibration, &pinning, typed.quick)?),
        false => None,
    };
    target.write(&format!("# {}\n{}", setup.in_words(), calibration.machine))?;
    let mut text = text::text(&setup, &calibration, &target.path().display().to_string());
    if let Some(checked) = &checked {
        text.push_str(&text::validation(&checked.validation, calibration.cores.len()));
        text.push_str(&text::notes(&checked.notes));
    }
    let document = Document {
        throng: env!("CARGO_PKG_VERSION"),
        benchmark: "calibration",
        setup: &setup,
        calibration: &calibration,
        validation: checked.as_ref().map(|checked| &checked.validation),
    };
    Ok(output::publish(&text, json, &document)?)
}
