//! `throng bench counters`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use throng::machine::Native;
use throng::structures::counter::methods;

use crate::run::*;

/// Options for a measurement that takes no time, and whose numbers mean nothing.
pub(crate) const TINY: [&str; 6] =
    ["--threads", "1,3", "--repetitions", "2", "--milliseconds", "2"];

pub(crate) fn bench(arguments: &[&str]) -> Command {
    let mut command = throng(&["bench", "counters"]);
    command.args(arguments);
    command
}

#[test]
fn bench_prints_a_row_for_every_counter_with_the_reference_first() {
    let text = printed(bench(&TINY));
    let first_words: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("counter "))
        .skip(1)
        .map_while(|line| line.split_whitespace().next())
        .collect();
    let mut expected = vec!["fetch_add"];
    let all = methods::<Native>();
    expected.extend(all.iter().map(|m| m.about.name));
    assert_eq!(first_words, expected, "{text}");
    assert!(text.lines().next().unwrap().contains("core"), "{text}");
    assert!(text.contains("3 threads"), "{text}");
}

#[test]
fn json_adds_up() {
    let path = fresh_file("adds_up.json");
    let mut command = bench(&TINY);
    command.arg("--json").arg(&path);
    assert!(printed(command).contains("fetch_add"));
    let document: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    check_document(&document);
}

#[test]
fn json_replaces_a_longer_file_whole() {
    let path = fresh_file("longer.json");
    fs::write(&path, "x".repeat(1 << 20)).unwrap();
    let mut command = bench(&["--method", "hardware"]);
    command.args(TINY).arg("--json").arg(&path);
    printed(command);
    let document: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(document["benchmark"], "counters");
}

#[test]
fn json_on_standard_output_stands_there_alone() {
    let mut command = bench(&TINY);
    command.args(["--json", "-"]);
    let output = output(command);
    assert!(output.status.success());
    check_document(&serde_json::from_slice(&output.stdout).unwrap());
    assert!(stderr(&output).contains("fetch_add"), "the table goes to standard error");
}

fn check_document(document: &Value) {
    let methods = 1 + methods::<Native>().len();
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), methods * 2 * 2, "methods x thread counts x repetitions");
    for run in runs {
        let per_thread = run["per_thread"].as_array().unwrap();
        assert_eq!(run["threads"], per_thread.len());
        let sum: u64 = per_thread.iter().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(run["values"], sum);
        assert!(sum <= run["checked"].as_u64().unwrap());
        assert!(run["seconds"].as_f64().unwrap() > 0.0);
    }
    let summary = document["summary"].as_array().unwrap();
    assert_eq!(summary.len(), methods * 2);
    for cell in summary {
        check_cell(cell, summary, runs);
    }
}

/// Checks that the median comes from the runs, and the ratio from the medians.
fn check_cell(cell: &Value, summary: &[Value], runs: &[Value]) {
    let rate = |cell: &Value| cell["million_per_second"].as_f64().unwrap();
    let of_cell =
        |run: &&Value| run["method"] == cell["method"] && run["threads"] == cell["threads"];
    let rates: Vec<f64> = runs
        .iter()
        .filter(of_cell)
        .map(|run| run["values"].as_f64().unwrap() / run["seconds"].as_f64().unwrap() / 1e6)
        .collect();
    let mean_of_two = rates.iter().sum::<f64>() / 2.0;
    assert!((rate(cell) - mean_of_two).abs() <= 1e-9 * mean_of_two, "{cell}");
    let is_reference =
        |other: &&Value| other["method"] == "fetch_add" && other["threads"] == cell["threads"];
    let reference = rate(summary.iter().find(is_reference).unwrap());
    match cell["ratio"].as_f64() {
        Some(ratio) => assert!((ratio * reference - rate(cell)).abs() <= 1e-9 * rate(cell)),
        None => assert_eq!(reference, 0.0),
    }
}

#[test]
fn wrong_thread_counts_are_refused() {
    for (typed, shown) in [
        ("0", "0"),
        ("100000", "100000"),
        ("abc", "abc"),
        ("-1", "-1"),
        ("1,x", "x"),
        ("", "\"\""),
        (",", "\"\""),
    ] {
        assert_eq!(
            refusal(bench(&["--threads", typed])),
            format!(
                "error: --threads {shown}: \
                 must be whole numbers from 1 to 4096, separated by commas"
            )
        );
    }
}

#[test]
fn other_wrong_numbers_are_refused() {
    for (option, typed) in [
        ("--width", "0"),
        ("--width", "wide"),
        ("--width", "1000000000"),
        ("--width", "-2"),
        ("--repetitions", "0"),
        ("--milliseconds", "0"),
        ("--milliseconds", "1000000"),
    ] {
        let said = refusal(bench(&[option, typed]));
        let start = format!("error: {option} {typed}: must be a whole number from 1");
        assert!(said.starts_with(&start), "{said}");
    }
}

#[test]
fn a_width_that_a_counter_cannot_have_is_refused_in_its_name() {
    assert_eq!(
        refusal(bench(&["--width", "6"])),
        "error: combining-tree: width 6: must be a power of two from 1 to 65536"
    );
    assert_eq!(
        refusal(bench(&["--depth", "60"])),
        "error: --depth 60: must be a whole number from 0 to 16"
    );
}

#[test]
fn an_unknown_counter_is_refused_with_the_nearest_name() {
    let said = refusal(bench(&["--method", "hardwear"]));
    assert!(
        said.starts_with("error: --method hardwear: no such counter; did you mean hardware"),
        "{said}"
    );
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_measuring() {
    let nowhere = fresh_file("no_such_folder").join("numbers.json");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for path in [nowhere, folder] {
        let said = refusal(bench(&["--json", path.to_str().unwrap()]));
        let start = format!("error: --json {}: cannot be written: ", path.display());
        assert!(said.starts_with(&start), "{said}");
    }
}

#[test]
fn a_wrong_argument_leaves_no_file_behind() {
    let path = fresh_file("not_made.json");
    refusal(bench(&["--json", path.to_str().unwrap(), "--threads", "0"]));
    assert!(!path.exists());
}
