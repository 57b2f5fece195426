//! The binary as a person at a keyboard meets it.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use throng::counter::methods;
use throng::machine::Native;

/// Options for a measurement that takes no time and is good for nothing.
const TINY: [&str; 6] = ["--threads", "1,3", "--repetitions", "2", "--milliseconds", "2"];

fn throng(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn bench(arguments: &[&str]) -> Command {
    let mut command = throng(&["bench", "counters"]);
    command.args(arguments);
    command
}

fn output(mut command: Command) -> Output {
    command.output().expect("the binary can be started")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs what should work, and returns what it printed.
fn printed(command: Command) -> String {
    let output = output(command);
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

/// Runs what should be refused before anything is measured, and returns the one line it says.
fn refusal(command: Command) -> String {
    let output = output(command);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(stdout(&output), "");
    assert_eq!(said.lines().count(), 1, "more than one line: {said}");
    said.trim_end().to_owned()
}

/// A file for one test, not there yet.
fn fresh_file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path
}

#[test]
fn list_shows_every_counter() {
    let text = printed(throng(&["list"]));
    assert!(text.starts_with("Counters"));
    for method in methods::<Native>() {
        assert!(text.contains(method.about.name) && text.contains(method.about.summary));
    }
}

#[test]
fn list_as_json_says_the_same() {
    let list: Value = serde_json::from_str(&printed(throng(&["list", "--json"]))).unwrap();
    let counters = list["counters"].as_array().unwrap();
    assert_eq!(counters.len(), methods::<Native>().len());
    for (entry, method) in counters.iter().zip(methods::<Native>()) {
        assert_eq!(entry["name"], method.about.name);
        assert_eq!(entry["summary"], method.about.summary);
        assert_eq!(entry["paper"], method.about.paper);
        let consistency = method.about.consistency.to_string();
        assert_eq!(entry["consistency"], consistency.as_str());
        assert_eq!(entry["progress"], method.about.progress.to_string().as_str());
    }
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
fn without_arguments_it_measures_quickly_and_says_what_else_there_is() {
    let text = printed(throng(&[]));
    assert!(text.contains("fetch_add") && text.contains("throng list"), "{text}");
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

/// The median must come from the runs, and the ratio from the medians.
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
    let depths: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("depth"))
        .skip(1)
        .map_while(|line| line.trim_start_matches(['>', ' ']).split_whitespace().next())
        .collect();
    assert_eq!(depths, ["2", "3", "4"], "{text}");
    let asked = printed(model(&["--processors", "24", "--depth", "1", "--work", "3"]));
    assert!(asked.contains("You asked about a tree of depth 1"), "{asked}");
    assert!(asked.contains("The rules of the model take"), "{asked}");
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
    assert_eq!(answer["neighbours"].as_array().unwrap().len(), 3);
}

#[test]
fn model_draws_its_chart() {
    let folder = fresh_file("model_chart").join("inner");
    let _ = fs::remove_dir_all(&folder);
    printed(model(&["--processors", "6", "--out", folder.to_str().unwrap()]));
    let svg = fs::read_to_string(folder.join("model.svg")).unwrap();
    for words in ["Markov chain", "theorem 3.2", "your P = 6", "P = d√L", "processors P"] {
        assert!(svg.contains(words), "{words}");
    }
    let numbers = fs::read_to_string(folder.join("model.csv")).unwrap();
    assert!(numbers.starts_with("processors,round_steps_chain,"), "{numbers}");
    assert!(numbers.lines().count() > 5);
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
        said.starts_with(&format!("error: --out {}: cannot be made: ", file.display())),
        "{said}"
    );
}

#[test]
fn output_that_cannot_be_written_is_an_error_and_no_panic() {
    // Always full.
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else { return };
    let output = throng(&["list"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: cannot write to standard output"));
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

#[test]
fn unknown_words_are_refused_by_the_parser() {
    for arguments in [&["lst"][..], &["list", "--jsn"], &["bench", "counter"]] {
        let output = output(throng(arguments));
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
    }
}

#[test]
fn help_and_version_work_everywhere() {
    for arguments in [
        &["--help"][..],
        &["list", "--help"],
        &["bench", "--help"],
        &["bench", "counters", "--help"],
        &["model", "--help"],
        &["--version"],
    ] {
        assert!(!printed(throng(arguments)).is_empty());
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut bench_to_stdout = bench(&TINY);
    bench_to_stdout.args(["--json", "-"]);
    for mut command in [throng(&["list"]), bench(&TINY), bench_to_stdout] {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The reading end goes away before, while or after the child writes: all must be fine.
        drop(child.stdout.take());
        let mut said = String::new();
        let mut child_stderr = child.stderr.take().unwrap();
        child_stderr.read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}
