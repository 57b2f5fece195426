//! Writes to standard output and standard error, and survives a closed pipe.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::error::Error;
use crate::files;

/// Prints to standard output.
///
/// A reader that stops early (`throng list | head -1`) is no error.
///
/// # Errors
/// When standard output cannot be written for any other reason.
pub fn print(text: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    forgive_closed_pipe(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
        .map_err(|source| Error::Write { to: "standard output".to_owned(), source })
}

/// Prints to standard error. Ignores errors, which have no reader.
pub fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Formats a value as JSON.
pub fn json(value: &impl Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(value).expect("numbers and texts can always be written");
    text.push('\n');
    text
}

/// Returns a progress bar on standard error, hidden where that is no terminal.
pub fn progress_bar(steps: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    let style = ProgressStyle::with_template("{bar:30} {percent:>3}%, {eta} left: {msg}");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Makes a folder if it does not exist, and checks that files can be made in it. So the error comes
/// before the measurement and not after it.
///
/// # Errors
/// When it cannot be made, or nothing be written in it.
pub fn make_folder(path: &Path) -> Result<(), Error> {
    let probe = path.join(".throng-can-write-here");
    let tried = fs::create_dir_all(path)
        .and_then(|()| fs::write(&probe, []))
        .and_then(|()| fs::remove_file(&probe));
    tried.map_err(|source| Error::Folder { path: path.to_owned(), source })
}

/// Puts a text in place of what was in a file.
///
/// # Errors
/// When it cannot be written.
pub fn write_file(path: &Path, text: &str) -> Result<(), Error> {
    files::write_whole(path, text)
        .map_err(|source| Error::Write { to: path.display().to_string(), source })
}

/// A file for a result.
#[derive(Debug)]
pub struct OutputFile {
    /// Where it is.
    pub path: PathBuf,
}

impl OutputFile {
    /// Checks that the file can be written, and leaves it as it is.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(option: &'static str, path: PathBuf) -> Result<Self, Error> {
        match files::try_out(&path) {
            Ok(()) => Ok(OutputFile { path }),
            Err(source) => Err(Error::OpenOutput { option, path, source }),
        }
    }

    /// Replaces the file's contents.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, text: &str) -> Result<(), Error> {
        write_file(&self.path, text)
    }
}

/// Where every single number goes, for other programs. Found to be possible before anything is measured.
#[derive(Debug)]
pub enum JsonTarget {
    /// Standard output.
    Stdout,
    /// A file.
    File(OutputFile),
}

impl JsonTarget {
    /// Returns the target of the option `--json`; standard output for `-`, nothing where the option was not given.
    ///
    /// An existing file keeps its contents until the new ones are complete.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn open(path: Option<&PathBuf>) -> Result<Option<Self>, Error> {
        Ok(match path {
            None => None,
            Some(path) if path == Path::new("-") => Some(JsonTarget::Stdout),
            Some(path) => Some(JsonTarget::File(OutputFile::open("--json", path.clone())?)),
        })
    }

    /// Returns whether standard output is reserved for the numbers.
    pub fn is_stdout(&self) -> bool {
        matches!(self, JsonTarget::Stdout)
    }

    /// Writes the numbers.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(self, document: &impl Serialize) -> Result<(), Error> {
        match self {
            JsonTarget::Stdout => print(&json(document)),
            JsonTarget::File(file) => file.write(&json(document)),
        }
    }
}

/// Prints the text, and writes the numbers if asked for. If they go to standard output, the text
/// goes to standard error.
///
/// # Errors
/// When one of them cannot be written.
pub fn publish(
    text: &str,
    json: Option<JsonTarget>,
    document: &impl Serialize,
) -> Result<(), Error> {
    match json {
        Some(target) if target.is_stdout() => {
            say(text);
            target.write(document)
        }
        Some(target) => {
            print(text)?;
            target.write(document)
        }
        None => print(text),
    }
}

/// Treats a pipe closed by its reader as success.
fn forgive_closed_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
