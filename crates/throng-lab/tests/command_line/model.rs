//! `throng model`.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::run::*;

fn model(arguments: &[&str]) -> Command {
    let mut command = throng(&["model"]);
    command.args(arguments);
    command
}

#[test]
fn model_names_a_tree_and_what_to_expect_of_it() {
    let text = printed(model(&["--processors", "24"]));
    assert!(text.starts_with("24 processors, no work"), "{text}");
    assert!(text.contains("\nUse a tree of depth 3, with prisms of 8, 4, 2 cells"), "{text}");
    assert!(text.contains("\nExpect ") && text.contains("\nRange: diffracting"), "{text}");
    // The tree and its two neighbours.
    assert_eq!(model_rows(&text), [" 2", ">3", " 4"], "{text}");
    let asked = printed(model(&["--processors", "24", "--depth", "1", "--work", "3"]));
    assert!(asked.contains("You asked about a tree of depth 1"), "{asked}");
    assert!(asked.contains("The rules of the model take"), "{asked}");
}

#[test]
fn model_says_how_sure_it_is_where_hardly_anyone_comes() {
    let text = printed(model(&["--processors", "2", "--work", "100000"]));
    let expected = text.lines().find(|line| line.starts_with("Expect ")).unwrap();
    assert!(expected.contains("e-5 numbers a step (+-"), "{text}");
    let text = printed(model(&["--processors", "4", "--work", "1"]));
    assert!(text.starts_with("4 processors, 1 step of work between"), "{text}");
    assert!(text.contains(" numbers a step.\n"), "{text}");
}

/// Returns the mark and the depth of each row of the table.
fn model_rows(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.trim_start().starts_with("depth")).skip(1);
    let rows = lines.take_while(|line| !line.is_empty()).map(|line| {
        let (mark, depth) = (line.chars().next().unwrap(), line[1..].split_whitespace().next());
        format!("{mark}{}", depth.unwrap())
    });
    rows.collect()
}

#[test]
fn model_shows_the_tree_of_the_rules_beside_another() {
    let text = printed(model(&["--processors", "64", "--depth", "0"]));
    assert_eq!(model_rows(&text), [">0", " 1", "*4"], "{text}");
    assert!(text.contains("\nFastest of these: a tree of depth 4,"), "{text}");
    assert!(text.contains("\n*: by the rules"), "{text}");
    let same = printed(model(&["--processors", "64", "--depth", "4"]));
    assert!(same.contains("\nThe rules of the model take the same."), "{same}");
    assert!(!same.contains('*'), "{same}");
}

#[test]
fn model_calls_fastest_what_no_other_tree_of_its_table_beats() {
    let asked = "--processors 64 --depth 3 --prism 16 --work 100 --counter-speed 4";
    let arguments: Vec<&str> = asked.split(' ').collect();
    let text = printed(model(&arguments));
    assert!(text.contains("\nThe rules of the model take one counter and no tree."), "{text}");
    assert!(text.contains("\nFastest of these: one counter and no tree, 1.0"), "{text}");
    assert!(text.contains("\nThe theorem is off by up to "), "{text}");
}

#[test]
fn model_says_where_processors_are() {
    let arguments = ["--processors", "64", "--depth", "2", "--prism", "3", "--work", "2"];
    let text = printed(model(&arguments));
    assert!(text.contains(" at the 7 prism cells, "), "{text}");
    let answer = printed({
        let mut command = model(&arguments);
        command.arg("--json");
        command
    });
    let tree = &serde_json::from_str::<Value>(&answer).unwrap()["tree"];
    let number = |name: &str| tree[name].as_f64().unwrap();
    assert_eq!(number("prism_cells"), 7.0);
    assert!((number("load") * 7.0 - number("at_balancers")).abs() < 1e-9, "{tree}");
    let in_tree = number("at_balancers") + number("at_counters");
    assert!((in_tree - number("in_tree")).abs() < 1e-6, "{tree}");
}

#[test]
fn model_as_json_stands_alone_and_is_the_same_for_the_same_seed() {
    let arguments = ["--processors", "12", "--work", "2", "--counter-speed", "0.5", "--json"];
    let text = printed(model(&arguments));
    assert_eq!(text, printed(model(&arguments)));
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&answer["processors"], &answer["work_steps"]), (&12.into(), &2.into()));
    let tree = &answer["tree"];
    let number = |name: &str| tree[name].as_f64().unwrap();
    // Little's law: processors in the tree are throughput times latency.
    let law = number("throughput") * number("latency");
    assert!((law / number("in_tree") - 1.0).abs() < 0.02, "{tree}");
    let depth = |tree: &Value| tree["depth"].as_u64().unwrap();
    let neighbours: Vec<u64> = answer["neighbours"].as_array().unwrap().iter().map(depth).collect();
    assert_eq!(neighbours, [depth(tree) - 1, depth(tree) + 1]);
    assert_eq!(tree, &answer["advised"]);
}

#[test]
fn model_draws_its_chart() {
    let folder = fresh_file("model_chart").join("inner");
    let _ = fs::remove_dir_all(&folder);
    printed(model(&["--processors", "6", "--out", folder.to_str().unwrap()]));
    let svg = fs::read_to_string(folder.join("model.svg")).unwrap();
    for words in ["Markov chain", "theorem 3.2", "your P = 6", "diffracting: d√L", "processors P"]
    {
        assert!(svg.contains(words), "{words}");
    }
    let numbers = fs::read_to_string(folder.join("model.csv")).unwrap();
    assert!(numbers.starts_with("processors,latency_steps_chain,"), "{numbers}");
    assert!(numbers.lines().count() > 5);

    // Work is not part of latency: one processor alone takes a step a level.
    let out = folder.to_str().unwrap();
    printed(model(&["--processors", "6", "--depth", "2", "--work", "1000", "--out", out]));
    let numbers = fs::read_to_string(folder.join("model.csv")).unwrap();
    let alone: Vec<&str> = numbers.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(alone[0], "1", "{numbers}");
    let latency: f64 = alone[1].parse().unwrap();
    assert!((latency - 2.0).abs() < 0.01, "{numbers}");
}

#[test]
fn model_refuses_what_it_cannot_answer() {
    for (arguments, said) in [
        (&["--processors", "0"][..], "--processors 0: must be a whole number from 1 to 65536"),
        (&["--processors", "1e9"], "--processors 1e9: must be a whole number from 1 to 65536"),
        (
            &["--processors", "8", "--depth", "17"],
            "--depth 17: must be a whole number from 0 to 16",
        ),
        (
            &["--processors", "8", "--prism", "-4"],
            "--prism -4: must be a whole number from 1 to 65536",
        ),
        (
            &["--processors", "8", "--counter-speed", "0"],
            "--counter-speed 0: must be a number from 0.001 to 1000",
        ),
        (
            &["--processors", "8", "--seed", "x"],
            "--seed x: must be a whole number from 0 to 18446744073709551615",
        ),
    ] {
        assert_eq!(refusal(model(arguments)), format!("error: {said}"));
    }
    let file = fresh_file("no_folder");
    fs::write(&file, "").unwrap();
    let said = refusal(model(&["--processors", "2", "--out", file.to_str().unwrap()]));
    assert!(
        said.starts_with(&format!("error: --out {}: cannot be written: ", file.display())),
        "{said}"
    );
}
