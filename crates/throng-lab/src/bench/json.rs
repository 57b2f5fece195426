//! Every single number, for other programs.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Sample;
use super::setup::Setup;
use super::summary::{Cell, Summary};
use crate::error::Error;
use crate::output::forgive_closed_pipe;
use crate::plan::CountersPlan;

/// Where the numbers go, opened before anything is measured.
#[derive(Debug)]
pub enum JsonTarget {
    /// Standard output.
    Stdout,
    /// A file.
    File {
        /// Its name.
        path: PathBuf,
        /// Open for writing; what was in it is still there.
        file: File,
    },
}

impl JsonTarget {
    /// Opens a file, or standard output for `-`.
    ///
    /// A file that exists keeps its content until there is something to put in its place.
    ///
    /// # Errors
    /// When the file cannot be opened for writing.
    pub fn open(path: PathBuf) -> Result<Self, Error> {
        if path == Path::new("-") {
            return Ok(JsonTarget::Stdout);
        }
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        match opened {
            Ok(file) => Ok(JsonTarget::File { path, file }),
            Err(source) => Err(Error::OpenJson { path, source }),
        }
    }

    /// Whether standard output must be left to the numbers alone.
    #[must_use]
    pub fn is_stdout(&self) -> bool {
        matches!(self, JsonTarget::Stdout)
    }

    /// Writes the numbers.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(
        self,
        plan: &CountersPlan,
        setup: &Setup,
        samples: &[Sample],
        summary: &Summary,
    ) -> Result<(), Error> {
        let document = Document::new(plan, setup, samples, summary);
        match self {
            JsonTarget::Stdout => forgive_closed_pipe(document.write_to(io::stdout().lock()))
                .map_err(|source| Error::Write { to: "standard output".to_owned(), source }),
            JsonTarget::File { path, file } => emptied(file)
                .and_then(|file| document.write_to(file))
                .map_err(|source| Error::Write { to: path.display().to_string(), source }),
        }
    }
}

/// The file without its former content. What is no regular file (`/dev/null`, a pipe) has none.
fn emptied(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

/// What is written, in the order of the fields.
#[derive(Serialize)]
struct Document<'a> {
    throng: &'static str,
    benchmark: &'static str,
    setup: &'a Setup,
    reference: &'static str,
    threads: &'a [usize],
    width: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pace: Option<String>,
    repetitions: usize,
    milliseconds: f64,
    summary: Vec<&'a Cell>,
    runs: &'a [Sample],
}

impl<'a> Document<'a> {
    fn new(
        plan: &'a CountersPlan,
        setup: &'a Setup,
        samples: &'a [Sample],
        summary: &'a Summary,
    ) -> Self {
        Document {
            throng: env!("CARGO_PKG_VERSION"),
            benchmark: "counters",
            setup,
            reference: crate::peers::reference().about.name,
            threads: &plan.threads,
            width: plan.width,
            pace: plan.pace.in_words(),
            repetitions: plan.repetitions,
            milliseconds: plan.run_time.as_secs_f64() * 1e3,
            summary: summary.cells().collect(),
            runs: samples,
        }
    }

    fn write_to(&self, target: impl Write) -> io::Result<()> {
        let mut target = BufWriter::new(target);
        serde_json::to_writer_pretty(&mut target, self)?;
        target.write_all(b"\n")?;
        target.flush()
    }
}
