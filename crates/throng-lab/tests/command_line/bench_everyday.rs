//! `throng bench everyday`, started as a process.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::run::*;

/// Options for a measurement that takes no time, and whose numbers mean nothing.
const TINY: [&str; 6] = ["--repetitions", "2", "--duration", "4", "--depth", "6"];

fn bench(arguments: &[&str]) -> Command {
    throng(&[&["bench", "everyday"], arguments].concat())
}

#[test]
fn every_group_has_a_table_with_ratios() {
    let some = "burst-2,create-*,bytes,stream-8,open-1:1-1M,pairs-0,pipeline-1,tree-20";
    let chosen = ["--only", some, "--threads", "3"];
    let text = printed(bench(&[&chosen[..], &TINY].concat()));
    for group in ["single", "bytes", "stream", "open", "pairs", "pipeline", "tree"] {
        assert!(text.contains(&format!("\n{group}: ")), "{group} is not in: {text}");
    }
    for head in ["ratio", "best of others", "p99.9", "fair"] {
        assert!(text.contains(head), "{head} is not in: {text}");
    }
    for ours in ["queue", "queue-try", "drop-in-array", "queue-unbounded", "channel", "pool", "rsu"]
    {
        let line = format!("\n{ours}: at least as good as the best peer in ");
        assert!(text.contains(&line), "{ours} is not summed up: {text}");
    }
}

#[test]
fn the_numbers_add_up() {
    let (json, csv) = (fresh_file("everyday.json"), fresh_file("everyday.csv"));
    let chosen = ["--only", "pairs-100,burst-4", "--methods", "queue,array-queue,flume-bounded"];
    let threads = ["--threads", "2"];
    let files = ["--json", json.to_str().unwrap(), "--csv", csv.to_str().unwrap()];
    printed(bench(&[&chosen[..], &TINY, &threads, &files].concat()));
    let document: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(document["benchmark"], "everyday");
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3 * 2 * 2, "queues x cases x repetitions");
    for run in runs {
        assert!(run["checked"].as_f64().unwrap() > 0.0, "{run}");
        if run["case"] == "pairs-100" {
            let percentiles = ["p50_ns", "p99_ns", "p999_ns", "max_ns"];
            let at = percentiles.map(|key| run[key].as_f64().unwrap_or(0.0));
            assert!(at.is_sorted(), "{run}");
        }
    }
    let cells = document["summary"].as_array().unwrap();
    assert_eq!(cells.len(), 3 * 2);
    for cell in cells {
        assert_eq!(cell["method"] == "queue", cell.get("of_best").is_some(), "{cell}");
    }
    let lines = fs::read_to_string(&csv).unwrap().lines().count();
    assert_eq!(lines, 1 + runs.len());
}

#[test]
fn a_folder_gets_the_tables_and_all_numbers() {
    let folder = fresh_folder("everyday");
    let chosen = ["--only", "burst-1,bytes-small", "--out", folder.to_str().unwrap()];
    let text = printed(bench(&[&chosen[..], &TINY].concat()));
    assert_eq!(fs::read_to_string(folder.join("everyday.txt")).unwrap(), text);
    let document: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("everyday.json")).unwrap()).unwrap();
    let bytes = |method: &str| {
        let cells = document["summary"].as_array().unwrap();
        let mut here = cells.iter().filter(|cell| cell["case"] == "bytes-small");
        here.find(|cell| cell["method"] == method).unwrap()["value"]["median"].as_f64().unwrap()
    };
    assert!(bytes("array-queue") >= 16.0 * 16.0, "its items at least");
    assert!(bytes("queue-try") >= 16.0 * 16.0);
    assert!(folder.join("everyday.csv").is_file());
}

#[test]
fn numbers_of_others_stand_beside() {
    let file = fresh_file("everyday-beside.json");
    let run = r#"{"name": "ring", "kind": "bounded", "case": "pairs-0", "threads": 2, "repetition": 0,
        "million_per_second": 99999, "fairness": 1, "checked": 1,
        "latency": {"p50_ns": 1, "p99_ns": 1, "p999_ns": 1, "max_ns": 1}}"#;
    fs::write(&file, format!(r#"{{"benchmark": "everyday-peers", "runs": [{run}]}}"#)).unwrap();
    let chosen = ["--only", "pairs-0", "--methods", "queue,array-queue", "--threads", "2"];
    let beside = ["--beside", file.to_str().unwrap()];
    let text = printed(bench(&[&chosen[..], &TINY, &beside].concat()));
    assert!(text.contains("ring") && text.contains("99 999"), "{text}");
    fs::write(&file, "nonsense").unwrap();
    let refused = refusal(bench(&[&chosen[..], &TINY, &beside].concat()));
    assert!(refused.contains("not the numbers of `peers/everyday`"), "{refused}");
}

#[test]
fn the_list_names_cases_and_queues() {
    let text = printed(bench(&["--list", "--threads", "16"]));
    for name in
        ["burst-256", "open-1:15-2M", "pipeline-5", "tree-2000", "rayon-join", "drop-in-seg"]
    {
        assert!(text.contains(name), "{name} is not in: {text}");
    }
}

#[test]
fn mistakes_are_refused_before_anything_is_measured() {
    for (arguments, expected) in [
        (
            &["--threads", "0"][..],
            "error: --threads 0: must be whole numbers from 1 to 256, separated by commas",
        ),
        (
            &["--only", "creat-16"],
            "error: --only creat-16: no such case on this machine; did you mean create-16? (`throng \
             bench everyday --list` names all)",
        ),
        (
            &["--methods", "queue,seg-que"],
            "error: --methods seg-que: no such queue; did you mean seg-queue? (`throng bench everyday \
             --list` names all)",
        ),
        (&["--duration", "0"], "error: --duration 0: must be a whole number from 1 to 10000"),
        (
            &["--repetitions", "many"],
            "error: --repetitions many: must be a whole number from 1 to 1000",
        ),
        (&["--depth", "21"], "error: --depth 21: must be a whole number from 1 to 20"),
    ] {
        assert_eq!(refusal(bench(arguments)), expected);
    }
    for option in ["--json", "--csv", "--out"] {
        let nowhere = refusal(bench(&[option, "/dev/null/nowhere"]));
        let expected = format!("error: {option} /dev/null/nowhere: cannot be written");
        assert!(nowhere.starts_with(&expected), "{nowhere}");
    }
}
