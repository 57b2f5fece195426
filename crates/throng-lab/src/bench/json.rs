//! Where every single number goes, for other programs.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Error;
use crate::output::forgive_closed_pipe;

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
    pub fn write(self, document: &impl Serialize) -> Result<(), Error> {
        match self {
            JsonTarget::Stdout => {
                forgive_closed_pipe(write_document(document, io::stdout().lock()))
                    .map_err(|source| Error::Write { to: "standard output".to_owned(), source })
            }
            JsonTarget::File { path, file } => emptied(file)
                .and_then(|file| write_document(document, file))
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

fn write_document(document: &impl Serialize, target: impl Write) -> io::Result<()> {
    let mut target = BufWriter::new(target);
    serde_json::to_writer_pretty(&mut target, document)?;
    target.write_all(b"\n")?;
    target.flush()
}
