//! `throng bench loop`, started as a process.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::run::*;

const WAYS: [&str; 6] =
    ["rayon", "rayon-single", "static", "fetch_add", "indices", "for_each_index"];

fn bench(arguments: &[&str]) -> Command {
    throng(&[&["bench", "loop"], arguments].concat())
}

#[test]
fn every_way_has_a_row_in_the_table_of_every_loop() {
    let tiny = ["--threads", "1,3", "--indices", "50", "--microseconds", "30"];
    let text = printed(bench(&[&tiny[..], &["--repetitions", "2", "--quick"]].concat()));
    for shape in ["skewed", "growing", "mandelbrot"] {
        let head = format!("{shape}, 50 indices, 30 us of work");
        let below: Vec<&str> = text.lines().skip_while(|line| *line != head).skip(3).collect();
        let names = below.iter().take(WAYS.len()).map(|line| line.split_whitespace().next());
        assert!(names.eq(WAYS.map(Some)), "{shape}: {text}");
    }
    assert!(text.contains("1 thread") && text.contains("3 threads"), "{text}");
    assert!(text.contains("for_each_index is at worst"), "{text}");
    assert!(!text.contains("gap"), "{text}");
}

#[test]
fn the_numbers_add_up() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("loop.json");
    let _ = fs::remove_file(&path);
    let text = printed(bench(&[
        "--threads=2",
        "--indices=10,100",
        "--microseconds=20",
        "--shape=growing",
        "--shape=skewed",
        "--gap=5",
        "--repetitions=3",
        "--json",
        path.to_str().expect("a path in letters"),
    ]));
    assert!(text.contains("gap       5 us between two loops"), "{text}");
    let document: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(document["benchmark"], "loop");
    assert_eq!(document["reference"], "rayon");
    assert_eq!(document["gap_us"], 5);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2 * 2 * WAYS.len() * 3, "sizes x shapes x ways x repetitions");
    for run in runs {
        assert!(
            run["us_a_loop"].as_f64().unwrap() > 0.0 && run["loops"].as_u64() >= Some(3),
            "{run}"
        );
        assert_eq!(run["microseconds"], 20, "{run}");
    }
    let cells = document["summary"].as_array().unwrap();
    assert_eq!(cells.len(), 2 * 2 * WAYS.len());
    for cell in cells {
        let [min, median, max] =
            ["min", "median", "max"].map(|key| cell["us_a_loop"][key].as_f64().unwrap());
        assert!(0.0 < min && min <= median && median <= max, "{cell}");
    }
}

#[test]
fn wrong_arguments_are_answered_with_what_is_allowed() {
    assert_eq!(
        refusal(bench(&["--threads", "0"])),
        "error: --threads 0: must be whole numbers from 1 to 1024, separated by commas"
    );
    assert_eq!(
        refusal(bench(&["--indices", "-1"])),
        "error: --indices -1: must be whole numbers from 1 to 100000000, separated by commas"
    );
    assert_eq!(
        refusal(bench(&["--shape", "round"])).split(';').next().unwrap(),
        "error: --shape round: no such loop"
    );
    assert!(refusal(bench(&["--gap", "soon"])).starts_with("error: --gap soon: must be"));
    assert!(refusal(bench(&["--json", "/no/such/folder/x.json"])).contains("cannot be written"));
}
