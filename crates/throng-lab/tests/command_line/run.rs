//! Starts the binary and returns its output.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub(crate) fn throng(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    command.args(arguments).stdin(Stdio::null());
    command
}

pub(crate) fn output(mut command: Command) -> Output {
    command.output().expect("the binary can be started")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a command that should succeed, and returns its standard output.
pub(crate) fn printed(command: Command) -> String {
    let output = output(command);
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

/// Runs a command that should be refused before anything is measured, and returns its one line of
/// error.
pub(crate) fn refusal(command: Command) -> String {
    let output = output(command);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(stdout(&output), "");
    assert_eq!(said.lines().count(), 1, "more than one line: {said}");
    said.trim_end().to_owned()
}

/// Returns a file name for one test, where no file exists yet.
pub(crate) fn fresh_file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path
}

/// Returns a folder name for one test, where no folder exists yet.
pub(crate) fn fresh_folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    path
}
