//! `throng bench barriers` and `throng bench heat`, started as a process.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::run::*;
use throng::machine::Native;
use throng::structures::barrier::methods;

fn bench(arguments: &[&str]) -> Command {
    throng(&[&["bench"], arguments].concat())
}

/// Returns the document in the JSON file, written with the table on standard output.
fn document(name: &str, arguments: &[&str]) -> Value {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    let mut all = arguments.to_vec();
    all.extend(["--json", path.to_str().expect("a path in letters")]);
    assert!(printed(bench(&all)).contains("barrier"));
    serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap()
}

/// Returns the first words of the rows below the head of the first table.
fn rows(text: &str) -> Vec<&str> {
    text.lines()
        .skip_while(|line| !line.starts_with("barrier "))
        .skip(1)
        .map_while(|line| line.split_whitespace().next())
        .collect()
}

#[test]
fn every_barrier_has_a_row() {
    let text = printed(bench(&["barriers", "--quick", "--threads", "2"]));
    let rows = rows(&text);
    assert_eq!(rows[..3], ["std", "barrier", "team"], "{text}");
    for method in methods::<Native>() {
        assert!(rows.contains(&method.about.name), "{text}");
    }
    assert!(rows.contains(&"hurdles") && rows.contains(&"spin"), "{text}");
    assert!(text.contains("2 threads") && text.contains("the fastest is"), "{text}");
}

#[test]
fn the_numbers_add_up() {
    let tiny = ["--threads", "1,3", "--repetitions", "2", "--milliseconds", "2"];
    let arguments = [&["barriers", "--method", "team", "--method", "central"], &tiny[..]].concat();
    let document = document("barriers.json", &arguments);
    assert_eq!(document["benchmark"], "barriers");
    assert_eq!(document["reference"], "std");
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3 * 2 * 2, "barriers x thread counts x repetitions");
    for run in runs {
        let [rounds, seconds, ns] =
            ["rounds", "seconds", "ns_a_round"].map(|key| run[key].as_f64().unwrap());
        assert!(rounds >= 1.0 && (seconds * 1e9 / rounds - ns).abs() <= 1e-6 * ns, "{run}");
        assert_eq!(run["looks"].as_u64().unwrap() > 0, run["threads"] == 3, "{run}");
    }
    let cells = document["summary"].as_array().unwrap();
    assert_eq!(cells.len(), 3 * 2);
    for cell in cells {
        let [min, median, max] =
            ["min", "median", "max"].map(|key| cell["ns_a_round"][key].as_f64().unwrap());
        assert!(0.0 < min && min <= median && median <= max, "{cell}");
        assert!(cell["ratio"].as_f64().unwrap() > 0.0, "{cell}");
    }
}

#[test]
fn rounds_can_be_counted() {
    let arguments = ["barriers", "--method", "team", "--threads", "2", "--rounds", "100"];
    let document = document("rounds.json", &arguments);
    let runs = document["runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["rounds"] == 100));
}

#[test]
fn waiting_is_measured_too() {
    let arguments = ["barriers", "--idle", "--threads", "2", "--repetitions", "1"];
    let document = document("idle.json", &[&arguments[..], &["--milliseconds", "20"]].concat());
    assert_eq!(document["benchmark"], "barriers-idle");
    for run in document["runs"].as_array().unwrap() {
        assert!(run["cpu_ms"].as_f64().unwrap() >= 0.0, "{run}");
        assert!(run["release_us"].as_f64().unwrap() > 0.0, "{run}");
    }
}

#[test]
fn json_on_standard_output_stands_there_alone() {
    let output = output(bench(&[
        "barriers",
        "--method",
        "team",
        "--quick",
        "--threads",
        "2",
        "--json",
        "-",
    ]));
    assert!(output.status.success());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["runs"].as_array().unwrap().len(), 2 * 5);
    assert!(String::from_utf8_lossy(&output.stderr).contains("the fastest is"));
}

#[test]
fn heat_is_the_same_however_threads_meet() {
    let arguments = ["heat", "--quick", "--threads", "2", "--sizes", "16,32", "--steps", "200"];
    let document = document("heat.json", &arguments);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2 * 5 * (1 + 4), "sizes x repetitions x (one thread and four rows)");
    assert!(runs.iter().all(|run| run["us_a_step"].as_f64().unwrap() > 0.0));
    let text = printed(bench(&arguments));
    assert_eq!(rows(&text), ["std", "barrier", "team", "rayon"], "{text}");
}

#[test]
fn mistakes_are_refused_before_anything_is_measured() {
    for (arguments, expected) in [
        (
            &["barriers", "--threads", "0"][..],
            "error: --threads 0: must be whole numbers from 1 to 1024, separated by commas",
        ),
        (
            &["barriers", "--method", "disemination"],
            "error: --method disemination: no such barrier; did you mean dissemination? (`throng \
             bench barriers --help` names all)",
        ),
        (
            &["barriers", "--rounds", "0"],
            "error: --rounds 0: must be a whole number from 1 to 1000000000",
        ),
        (
            &["barriers", "--milliseconds", "1h"],
            "error: --milliseconds 1h: must be a whole number from 1 to 60000",
        ),
        (
            &["heat", "--sizes", "2"],
            "error: --sizes 2: must be whole numbers from 3 to 16384, separated by commas",
        ),
        (
            &["heat", "--sizes", "8", "--threads", "7"],
            "error: --threads 7: must be whole numbers from 1 to 6, separated by commas",
        ),
    ] {
        assert_eq!(refusal(bench(arguments)), expected);
    }
    let nowhere = refusal(bench(&["barriers", "--json", "/nowhere/at/all.json"]));
    assert!(nowhere.starts_with("error: --json /nowhere/at/all.json: cannot be written"));
}
