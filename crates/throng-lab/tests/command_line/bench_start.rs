//! `throng bench start`, started as a process.

use std::fs;

use serde_json::Value;

use crate::run::*;

#[test]
fn every_structure_is_used_in_processes_of_its_own() {
    let (json, csv) = (fresh_file("start.json"), fresh_file("start.csv"));
    let files = ["--json", json.to_str().unwrap(), "--csv", csv.to_str().unwrap()];
    let text = printed(throng(&[&["bench", "start", "--repetitions", "2"], &files[..]].concat()));
    let document: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(document["benchmark"], "start");
    let cells = document["summary"].as_array().unwrap();
    for cell in cells {
        let name = cell["structure"].as_str().unwrap();
        assert!(text.contains(name), "{name} is not in: {text}");
        let is_reference = cell["method"] == "std";
        assert_eq!(cell["more_us"] == 0.0, is_reference, "{cell}");
        assert!(cell["sum_us"]["median"].as_f64().unwrap() > 0.0, "{cell}");
    }
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2 * cells.len(), "cases x repetitions");
    assert!(runs.iter().all(|run| run["first_ns"].as_u64().unwrap() > 0));
    assert_eq!(fs::read_to_string(&csv).unwrap().lines().count(), 1 + runs.len());
}

#[test]
fn mistakes_are_refused_before_anything_is_measured() {
    for (arguments, expected) in [
        (
            ["--only", "counters"],
            "error: --only counters: no such structure; did you mean counter? (`throng bench start \
             --help` names all)",
        ),
        (["--repetitions", "0"], "error: --repetitions 0: must be a whole number from 1 to 100000"),
    ] {
        assert_eq!(refusal(throng(&[&["bench", "start"], &arguments[..]].concat())), expected);
    }
}
