//! The binary `throng`: everything it does is in the library of this crate.

use std::process::ExitCode;

use clap::Parser;
use throng_lab::cli::Arguments;

fn main() -> ExitCode {
    match throng_lab::run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
