//! `throng simulate --barrier`, started as a process.

use std::process::Command;

use serde_json::Value;
use throng::structures::barrier::methods;
use throng_sim::Sim;

use crate::run::*;

/// Options for a run that takes no time.
const SMALL: [&str; 6] = ["--machine", "ksr1", "--processors", "9", "--rounds", "10"];

fn simulate(arguments: &[&str]) -> Command {
    throng(&[&["simulate"], &SMALL[..], arguments].concat())
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(simulate(&[arguments, &["--json"]].concat()))).unwrap()
}

#[test]
fn every_barrier_is_simulated_and_reported() {
    for method in methods::<Sim>() {
        let name = method.about.name;
        let text = printed(simulate(&["--barrier", name]));
        let head = format!("barrier {name} on ksr1 with 9 processors, seed 0\n");
        assert!(text.starts_with(&head), "{text}");
        assert!(text.contains("no member left any of 30 rounds before all had entered"), "{text}");
        let again = format!(
            "again: throng simulate --barrier {name} --machine ksr1 --processors 9 --rounds 10 \
             --work 0 --seed 0\n"
        );
        assert!(text.ends_with(&again), "{text}");
    }
}

#[test]
fn the_shape_is_as_it_was_asked_for_and_the_command_repeats_it() {
    let options = ["--fan-in", "3", "--flags", "padded", "--wake-up", "tree", "--reinit", "count"];
    let report = json(&[&["--barrier", "static-fway"][..], &options].concat());
    assert_eq!(report["options"], options.join(" "));
    // Nodes 3 + 3 + 3 and 3: each node's parent has a flag for two others, and a bell.
    assert_eq!(report["lines"], 4 * 2 + 4);
    assert_eq!((&report["writers_a_line"], &report["processors"]), (&1.into(), &9.into()));
    let command = report["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(2).collect();
    let again = Command::new(env!("CARGO_BIN_EXE_throng"))
        .arg("simulate")
        .args(words)
        .arg("--json")
        .output()
        .unwrap();
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["trace_hash"], report["trace_hash"]);
    assert_eq!(again["cycles_a_round"], report["cycles_a_round"]);
}

#[test]
fn a_round_takes_what_its_parts_take() {
    let report = json(&["--barrier", "dissemination", "--flags", "padded"]);
    assert_eq!(report["critical_path"], 4);
    // 9 members, 4 steps: each flag is written once and read once.
    assert_eq!(report["a_round"]["misses"], 72.0);
    assert_eq!(report["a_round"]["misses_of_arrival"], 72.0);
    let cycles = report["cycles_a_round"].as_f64().unwrap();
    assert!(cycles > 4.0 * 2.0 * 150.0, "{cycles}");
    assert_eq!(report["nanoseconds_a_round"].as_f64().unwrap(), cycles * 50.0);
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    for (arguments, start) in [
        (&["--barrier", "centrel"][..], "--barrier centrel: no such barrier; did you mean central"),
        (&["--barrier", "central", "--flags", "padded"], "--flags padded: must be left out"),
        (&["--barrier", "mcs-tree", "--fan-in", "0"], "--fan-in 0: must be a whole number from 2"),
        (
            &["--barrier", "central", "--fault", "halt 3 before 5"],
            "--fault: member 3 was halted, and the others wait for it for ever",
        ),
        (&["--barrier", "central", "--steps", "9"], "central on ksr1: not over after 9 steps"),
    ] {
        let output = output(simulate(arguments));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with(&format!("error: {start}")), "{said}");
    }
}

#[test]
fn options_of_counters_and_of_barriers_do_not_go_together() {
    for arguments in [
        &["--barrier", "central", "--width", "8"][..],
        &["hardware", "--barrier", "central"],
        &["--barrier", "central", "--values", "9"],
        &["--fan-in", "4"],
    ] {
        let output = output(simulate(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}
