//! `throng figures`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::run::*;

/// Makes figures in a small test.
fn figures(arguments: &[&str], out: &Path) -> Command {
    let mut command = throng(arguments);
    command.args(["--smoke", "--out"]).arg(out);
    command
}

fn read(path: PathBuf) -> String {
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Checks what the JSON of any figure must have.
fn check_figure(figure: &Value) {
    assert!(figure["id"].is_string(), "{figure}");
    let claims = figure["claims"].as_array().unwrap();
    assert!(!claims.is_empty(), "{figure}");
    for claim in claims {
        assert!(["text", "expected", "measured"].iter().all(|key| claim[key].is_string()));
        assert!(claim["holds"].is_null(), "a small test judges nothing: {claim}");
    }
    for series in figure["series"].as_array().unwrap() {
        assert!(series["name"].is_string() && series["points"].is_array(), "{series}");
        assert!(series["chart"].as_str().is_some_and(|file| file.ends_with(".svg")), "{series}");
        let command = &series["command"];
        let replays = command.as_str().is_some_and(|words| words.starts_with("throng simulate "));
        assert!(command.is_null() || replays, "{series}");
    }
}

#[test]
fn all_figures_are_written_with_a_summary() {
    let out = fresh_folder("all_figures");
    let text = printed(figures(&["figures"], &out));
    let summary = read(out.join("summary.md"));
    for figure in throng_papers::figures::figures() {
        let file = |ending: &str| out.join(format!("{}.{ending}", figure.file_stem()));
        assert!(text.contains(&format!("{}: {}", figure.id, figure.title)), "{text}");
        assert!(summary.contains(&format!("| [{}](", figure.id)), "{summary}");
        assert!(read(file("svg")).contains("</svg>"));
        assert!(read(file("csv")).lines().count() > 1);
        let json: Value = serde_json::from_str(&read(file("json"))).unwrap();
        assert_eq!(json["id"], figure.id);
        check_figure(&json);
    }
}

#[test]
fn one_figure_answers_to_each_of_its_numbers_and_is_the_same_on_any_number_of_threads() {
    let out = fresh_folder("one_figure");
    let json = |typed: &str, threads: &str| {
        let command = figures(&["figure", typed, "--json", "--threads", threads], &out);
        let text = printed(command);
        check_figure(&serde_json::from_str(&text).unwrap());
        text
    };
    let text = json("SS98-9", "1");
    assert!(text.contains("\"id\": \"SS98-9/10\""), "{text}");
    assert_eq!(text, json("ss98-10", "3"));
    let (printed, mut kept): (Value, Value) = (
        serde_json::from_str(&text).unwrap(),
        serde_json::from_str(&read(out.join("SS98-9-10.json"))).unwrap(),
    );
    kept.as_object_mut().unwrap().retain(|key, _| ["id", "claims", "series"].contains(&&**key));
    assert_eq!(printed, kept);
    assert!(!out.join("summary.md").exists());
}

#[test]
fn several_figures_as_json_are_a_list() {
    let out = fresh_folder("some_figures");
    let text = printed(figures(&["figures", "DT96-11", "DT96-8b", "--json"], &out));
    let list: Value = serde_json::from_str(&text).unwrap();
    let ids: Vec<&str> =
        list.as_array().unwrap().iter().map(|figure| figure["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["DT96-8b", "DT96-11"]);
    list.as_array().unwrap().iter().for_each(check_figure);
}

#[test]
fn a_summary_has_all_figures_in_its_folder() {
    let out = fresh_folder("summaries");
    printed(figures(&["figures", "DT96-11", "DT96-12"], &out));
    printed(figures(&["figures", "DT96-8b"], &out));
    printed(figures(&["figure", "SS98-11"], &out));
    fs::write(out.join("DT96-9.json"), "{}").unwrap();
    printed(figures(&["figures", "DT96-11"], &out));
    let summary = read(out.join("summary.md"));
    for id in ["DT96-8b", "DT96-11", "DT96-12", "SS98-11"] {
        assert!(summary.contains(&format!("| [{id}](")), "{summary}");
    }
    assert!(summary.contains("[DT96-12](DT96-12.svg) [2](DT96-12-2.svg)"), "{summary}");
    assert!(!summary.contains("DT96-9"), "{summary}");
    assert!(summary.contains(" 0 do not hold, "), "{summary}");
}

#[test]
fn a_small_test_has_a_folder_of_its_own() {
    let place = fresh_folder("usual_folders");
    fs::create_dir_all(&place).unwrap();
    let mut command = throng(&["figure", "DT96-11", "--smoke"]);
    command.current_dir(&place);
    printed(command);
    assert!(place.join("figures-smoke/DT96-11.json").exists());
    assert!(!place.join("figures").exists());
}

#[test]
fn an_unknown_figure_is_refused_with_the_nearest_names() {
    let out = fresh_folder("no_figure");
    for arguments in [["figure", "DT96-88"], ["figures", "DT96-88"]] {
        let said = refusal(figures(&arguments, &out));
        let start = "error: figure DT96-88: no such figure; did you mean DT96-8";
        assert!(said.starts_with(start), "{said}");
    }
    assert!(!out.exists(), "a wrong argument leaves no folder behind");
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_measuring() {
    let file = fresh_file("not_a_folder");
    fs::write(&file, "x").unwrap();
    for out in [file.clone(), file.join("below")] {
        let said = refusal(figures(&["figure", "DT96-8"], &out));
        let start = format!("error: --out {}: cannot be written: ", out.display());
        assert!(said.starts_with(&start), "{said}");
    }
}
