//! `throng calibrate`, started as a process.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::run::*;

fn calibrate(arguments: &[&str]) -> Command {
    throng(&[&["calibrate", "--quick"], arguments].concat())
}

fn letters(path: &Path) -> &str {
    path.to_str().expect("a path in letters")
}

#[test]
fn the_machine_is_measured_and_can_be_simulated_with_more_processors() {
    let (file, json) = (fresh_file("measured.toml"), fresh_file("measured.json"));
    fs::write(&file, "what was there").unwrap();
    let text = printed(calibrate(&["--out", letters(&file), "--json", letters(&json)]));
    assert!(text.contains("load that hits") && text.contains("--processors"), "{text}");

    let document: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(document["benchmark"], "calibration");
    let calibration = &document["calibration"];
    let cores = calibration["cores"].as_array().unwrap().len();
    let times = calibration["transfer_ns"].as_array().unwrap();
    assert_eq!(times.len(), cores);
    assert!(times.iter().all(|row| row.as_array().unwrap().len() == cores));
    if cores > 1 {
        assert!(text.contains("Half a round trip of a flag from core to core"), "{text}");
        assert!(times[0][1].as_f64().unwrap() > 0.0);
    }
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.ends_with(calibration["machine"].as_str().unwrap()), "{written}");
    assert!(written.contains("# measured: a load that hits"), "{written}");

    let machine = ["--machine", letters(&file), "--processors", "16", "--values", "500"];
    let simulated = printed(throng(&[&["simulate", "counter"], &machine[..]].concat()));
    assert!(simulated.contains("measured"), "{simulated}");
}

#[test]
fn numbers_for_another_program_are_alone_on_standard_output() {
    let file = fresh_file("alone.toml");
    let output = output(calibrate(&["--out", letters(&file), "--json", "-"]));
    assert!(output.status.success());
    serde_json::from_str::<Value>(&stdout(&output)).unwrap();
    assert!(stderr(&output).contains("One access, in ns"), "{}", stderr(&output));
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_anything_is_measured() {
    let said = refusal(calibrate(&["--out", "no/such/folder/a.toml"]));
    assert!(said.starts_with("error: --out no/such/folder/a.toml: cannot be written"), "{said}");
    let said = refusal(calibrate(&["--out", "."]));
    assert!(said.starts_with("error: --out .: cannot be written"), "{said}");
    let said = refusal(calibrate(&["--out", "-"]));
    assert_eq!(said, "error: --out -: must be the name of a file");

    let file = fresh_file("kept.toml");
    fs::write(&file, "what was there").unwrap();
    let said = refusal(calibrate(&["--out", letters(&file), "--json", "no/such/folder/a.json"]));
    assert!(said.starts_with("error: --json no/such/folder/a.json: cannot be written"), "{said}");
    let said = refusal(calibrate(&["--out", letters(&file), "--json", letters(&file)]));
    assert!(said.ends_with("must be another file than that of --out"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "what was there");
}
