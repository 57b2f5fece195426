//! The binary as a whole: help, typing errors, output that cannot be written.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use serde_json::Value;
use throng::machine::Native;
use throng::structures::counter::methods;

use crate::bench_counters::{TINY, bench};
use crate::run::*;

#[test]
fn list_shows_every_counter() {
    let text = printed(throng(&["list"]));
    assert!(text.starts_with("Counters"));
    for method in methods::<Native>() {
        assert!(text.contains(method.about.name) && text.contains(method.about.summary));
    }
}

#[test]
fn list_as_json_says_the_same() {
    let list: Value = serde_json::from_str(&printed(throng(&["list", "--json"]))).unwrap();
    let counters = list["counters"].as_array().unwrap();
    assert_eq!(counters.len(), methods::<Native>().len());
    for (entry, method) in counters.iter().zip(methods::<Native>()) {
        assert_eq!(entry["name"], method.about.name);
        assert_eq!(entry["summary"], method.about.summary);
        assert_eq!(entry["paper"], method.about.paper);
        let consistency = method.about.consistency.to_string();
        assert_eq!(entry["consistency"], consistency.as_str());
        assert_eq!(entry["progress"], method.about.progress.to_string().as_str());
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error_and_no_panic() {
    // A device that is always full.
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else { return };
    let output = throng(&["list"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: cannot write to standard output"));
}

#[test]
fn unknown_words_are_refused_by_the_parser() {
    for arguments in [&["lst"][..], &["list", "--jsn"], &["bench", "counter"]] {
        let output = output(throng(arguments));
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
    }
}

#[test]
fn help_and_version_work_everywhere() {
    for arguments in [
        &["--help"][..],
        &["list", "--help"],
        &["bench", "--help"],
        &["bench", "counters", "--help"],
        &["page", "--help"],
        &["table", "--help"],
        &["compare", "--help"],
        &["calibrate", "--help"],
        &["watch", "--help"],
        &["figure", "--help"],
        &["figures", "--help"],
        &["model", "--help"],
        &["machines", "--help"],
        &["simulate", "--help"],
        &["--version"],
    ] {
        assert!(!printed(throng(arguments)).is_empty());
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut bench_to_stdout = bench(&TINY);
    bench_to_stdout.args(["--json", "-"]);
    for mut command in [throng(&["list"]), bench(&TINY), bench_to_stdout] {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The reading end closes before, while or after the child writes: all must be fine.
        drop(child.stdout.take());
        let mut said = String::new();
        let mut child_stderr = child.stderr.take().unwrap();
        child_stderr.read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}
