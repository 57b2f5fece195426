//! `throng bench queues`, started as a process.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::run::*;

/// Options for a measurement that takes no time, and whose numbers mean nothing.
const TINY: [&str; 6] = ["--threads", "1,3", "--repetitions", "2", "--duration", "4"];

fn bench(arguments: &[&str]) -> Command {
    throng(&[&["bench", "queues"], arguments].concat())
}

/// Returns the first words of the rows of a mix, below the head of its first table.
fn rows<'a>(text: &'a str, mix: &str) -> Vec<&'a str> {
    text.lines()
        .skip_while(|line| !line.starts_with(&format!("{mix}: ")))
        .skip_while(|line| !line.starts_with("queue "))
        .skip(1)
        .map_while(|line| line.split_whitespace().next())
        .collect()
}

#[test]
fn every_queue_has_a_row_in_every_mix_that_suits_it() {
    let text =
        printed(bench(&["--quick", "--repetitions", "1", "--duration", "2", "--threads", "2"]));
    let ours = ["queue", "queue-try", "queue-unbounded", "queue-unbounded-try"];
    let many = rows(&text, "pairs");
    assert_eq!((many[0], &many[1..5]), ("array-queue", &ours[..]), "{text}");
    assert!(many.contains(&"nothing") && !many.contains(&"std-bounded"), "{text}");
    for mix in ["even", "one-producer", "one-consumer"] {
        let names = rows(&text, mix);
        assert!(names.contains(&"std-bounded") && !names.contains(&"nothing"), "{text}");
        assert_eq!(names.len(), many.len() + 1, "{text}");
    }
    assert_eq!(rows(&text, "bursts"), many);
    assert_eq!(rows(&text, "large"), many);
    let polled = rows(&text, "empty");
    assert!(polled.contains(&"queue-try") && !polled.contains(&"queue"), "{text}");
    for name in ours {
        assert!(text.contains(&format!("{name} is at worst ")), "{text}");
    }
}

#[test]
fn the_numbers_add_up() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("queues.json");
    let _ = fs::remove_file(&path);
    let chosen = ["--methods", "queue,seg-queue", "--mixes", "bursts,one-consumer"];
    let json = ["--json", path.to_str().expect("a path in letters")];
    let text = printed(bench(&[&chosen[..], &TINY, &json].concat()));
    assert!(text.contains("1 thread") && text.contains("best of others"), "{text}");
    let document: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(document["benchmark"], "queues");
    assert_eq!(document["reference"], "array-queue");
    assert_eq!(document["mixes"], serde_json::json!(["one-consumer", "bursts"]));
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3 * (2 + 1) * 2, "queues x places x repetitions");
    for run in runs {
        let [items, seconds, rate, checked] = ["items", "seconds", "million_per_second", "checked"]
            .map(|key| run[key].as_f64().unwrap());
        assert!((items / seconds / 1e6 - rate).abs() <= 1e-6 * rate, "{run}");
        assert!(seconds > 0.0 && checked > 0.0 && checked >= items, "{run}");
    }
    let cells = document["summary"].as_array().unwrap();
    assert_eq!(cells.len(), 3 * (2 + 1));
    for cell in cells {
        let [min, median, max] =
            ["min", "median", "max"].map(|key| cell["million_per_second"][key].as_f64().unwrap());
        assert!(0.0 <= min && min <= median && median <= max, "{cell}");
        assert_eq!(cell["method"] == "queue", cell.get("of_best").is_some(), "{cell}");
    }
}

#[test]
fn with_something_else_to_do_fewer_items_go_through() {
    let rate = |work: &str| {
        let chosen = ["--methods", "array-queue", "--mixes", "pairs", "--threads", "1"];
        let json = ["--work", work, "--repetitions", "1", "--duration", "60", "--json", "-"];
        let document: Value =
            serde_json::from_str(&printed(bench(&[&chosen[..], &json].concat()))).unwrap();
        assert_eq!(document["work_ns"].to_string(), work);
        document["runs"][0]["million_per_second"].as_f64().unwrap()
    };
    // 50 us on average, twice an item; alone it takes less than one.
    assert!(10.0 * rate("100000") < rate("0"));
}

#[test]
fn json_on_standard_output_stands_there_alone() {
    let chosen = ["--methods", "queue-try", "--mixes", "pairs", "--json", "-"];
    let output = output(bench(&[&chosen[..], &TINY].concat()));
    assert!(output.status.success());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["runs"].as_array().unwrap().len(), 2 * 2 * 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("queue-try is at worst"));
}

#[test]
fn mistakes_are_refused_before_anything_is_measured() {
    for (arguments, expected) in [
        (
            &["--threads", "0"][..],
            "error: --threads 0: must be whole numbers from 1 to 1024, separated by commas",
        ),
        (
            &["--methods", "queue,seg-que"],
            "error: --methods seg-que: no such queue; did you mean seg-queue? (`throng bench queues \
             --help` names all)",
        ),
        (
            &["--mixes", "pears"],
            "error: --mixes pears: no such mix; did you mean pairs? (`throng bench queues --help` \
             names all)",
        ),
        (
            &["--mixes", "even,one-consumer", "--threads", "1"],
            "error: --threads 1: must be at least 2 for the mix even",
        ),
        (&["--duration", "0"], "error: --duration 0: must be a whole number from 1 to 60000"),
        (
            &["--repetitions", "many"],
            "error: --repetitions many: must be a whole number from 1 to 1000",
        ),
    ] {
        assert_eq!(refusal(bench(arguments)), expected);
    }
    let nowhere = refusal(bench(&["--json", "/nowhere/at/all.json"]));
    assert!(nowhere.starts_with("error: --json /nowhere/at/all.json: cannot be written"));
}
