//! Writing to standard output and standard error without falling over a reader that has gone.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::error::Error;

/// Prints to standard output.
///
/// A reader that stops early (`throng list | head -1`) has what it wanted: that is no error.
///
/// # Errors
/// When standard output cannot be written for any other reason.
pub fn print(text: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    forgive_closed_pipe(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
        .map_err(|source| Error::Write { to: "standard output".to_owned(), source })
}

/// Says something on standard error; where even that is closed, there is nobody left to tell.
pub fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A value as it is printed for other programs.
#[must_use]
pub fn json(value: &impl Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(value).expect("numbers and texts can always be written");
    text.push('\n');
    text
}

/// A bar on standard error; hidden where that is no terminal.
#[must_use]
pub fn progress_bar(steps: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    let style = ProgressStyle::with_template("{bar:30} {percent:>3}%, {eta} left: {msg}");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Makes a folder if it is not there, and sees whether files can be made in it: nobody should wait
/// for a result that then has no place.
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

/// A file for a result.
#[derive(Debug)]
pub(crate) struct OutputFile {
    pub(crate) path: PathBuf,
}

impl OutputFile {
    /// Sees whether the file can be written. What is in it stays until there is something better.
    pub(crate) fn open(option: &'static str, path: PathBuf) -> Result<Self, Error> {
        let opened = fs::OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        match opened {
            Ok(_) => Ok(OutputFile { path }),
            Err(source) => Err(Error::OpenOutput { option, path, source }),
        }
    }

    /// Writes the text in place of what was in the file.
    pub(crate) fn write(&self, text: &str) -> Result<(), Error> {
        fs::write(&self.path, text)
            .map_err(|source| Error::Write { to: self.path.display().to_string(), source })
    }
}

/// Takes a pipe closed by its reader for success.
pub(crate) fn forgive_closed_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
