//! The binary `throng`: everything it does is in the library of this crate.

use std::process::ExitCode;

use clap::Parser;
use throng_lab::cli::Arguments;
use throng_lab::{output, simulated};

fn main() -> ExitCode {
    simulated::silence_caught_panics();
    match throng_lab::run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let prefix = if error.is_finding() { "" } else { "error: " };
            output::say(&format!("{prefix}{error}\n"));
            ExitCode::from(error.exit_code())
        }
    }
}
