//! The binary `throng`: everything it does is in the library of this crate.

use std::process::ExitCode;

use clap::Parser;
use throng_lab::commands::{Arguments, run};
use throng_papers::{output, workloads};

fn main() -> ExitCode {
    workloads::silence_caught_panics();
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let prefix = if error.is_finding() { "" } else { "error: " };
            output::say(&format!("{prefix}{error}\n"));
            ExitCode::from(error.exit_code())
        }
    }
}
