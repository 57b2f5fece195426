//! The binary as a person at a keyboard meets it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use throng::counter::methods;
use throng::machine::Native;
use throng_sim::MachineSpec;
use throng_sim::spec::presets;

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

/// The rows of the table: how each is marked, and its depth.
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

    // Work is no part of latency: one processor alone takes a step a level.
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

/// A small run.
const SMALL: [&str; 6] = ["--machine", "ideal", "--processors", "9", "--values", "300"];

fn simulate(arguments: &[&str]) -> Command {
    let mut command = throng(&["simulate"]);
    command.args(arguments);
    command
}

fn simulate_small(arguments: &[&str]) -> Command {
    let mut command = simulate(&SMALL);
    command.args(arguments);
    command
}

fn json(command: Command) -> Value {
    serde_json::from_str(&printed(command)).unwrap()
}

#[test]
fn machines_are_listed_and_each_file_is_a_machine() {
    let text = printed(throng(&["machines"]));
    let document = json(throng(&["machines", "--json"]));
    let machines = document["machines"].as_array().unwrap();
    assert_eq!(machines.len(), presets().len() + 1, "and the ideal one");
    for machine in machines {
        let name = machine["name"].as_str().unwrap();
        assert!(text.contains(&format!("\n  {name} ")), "{text}");
        let spec = MachineSpec::from_toml(&printed(throng(&["machines", name]))).unwrap();
        assert_eq!(&serde_json::to_value(&spec).unwrap(), machine);
        assert_eq!(&json(throng(&["machines", name, "--json"])), machine);
    }
}

#[test]
fn a_machine_of_ones_own_is_simulated_and_its_mistakes_are_named() {
    let path = fresh_file("mine.toml");
    let name = path.to_str().unwrap();
    let text = printed(throng(&["machines", "ideal"]));
    fs::write(&path, text.replace("access_cycles = 10", "access_cycles = 7")).unwrap();
    let slow = json(simulate(&["hardware", "--processors", "2", "--machine", name, "--json"]));
    assert_eq!(slow["machine"]["coherence"]["access_cycles"], 7);
    assert!(slow["command"].as_str().unwrap().contains(name), "{}", slow["command"]);

    fs::write(&path, text.replace("access_cycles = 10", "access_cycles = 0")).unwrap();
    let said = refusal(simulate(&["--machine", name]));
    let range = "coherence.access_cycles = 0: must be from 1 to 4294967296";
    assert!(said.starts_with(&format!("error: machine {name}: line ")), "{said}");
    assert!(said.ends_with(range), "{said}");

    fs::write(&path, text.replace("clock_mhz", "clock")).unwrap();
    let output = output(throng(&["machines", name]));
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains(name) && said.contains("unknown field `clock`"), "{said}");

    fs::write(&path, [0xFF, 0xFE]).unwrap();
    let said = refusal(simulate(&["--machine", name]));
    assert!(said.starts_with(&format!("error: machine {name}: cannot be read: ")), "{said}");
}

#[test]
fn every_counter_is_simulated_and_reported() {
    for method in methods::<Native>() {
        let name = method.about.name;
        let text = printed(simulate_small(&[name, "--work", "50"]));
        assert!(text.starts_with(&format!("{name} on ideal with 9 processors, seed 0\n")));
        for part in ["each of 0 to 308 was handed out exactly once", "p99.9", "throughput", "trace"]
        {
            assert!(text.contains(part), "{part} is missing: {text}");
        }
    }
}

#[test]
fn the_report_adds_up_and_its_command_gives_the_same_run() {
    let arguments = ["diffracting", "--width", "8", "--seed", "3", "--json"];
    let report = json(simulate_small(&arguments));
    let count = |value: &Value| value.as_u64().unwrap();
    assert_eq!(count(&report["handed_out"]), 309);
    assert_eq!(report["finished"], true);
    let latency = &report["latency_cycles"];
    let ascending: Vec<f64> =
        ["p50", "p90", "p99", "p99_9", "max"].map(|name| latency[name].as_f64().unwrap()).to_vec();
    assert!(ascending.is_sorted() && ascending[0] > 0.0, "{ascending:?}");
    // 1000 MHz: a cycle is a nanosecond.
    assert_eq!(report["latency_ns"], report["latency_cycles"]);
    let calls: u64 =
        report["histogram"].as_array().unwrap().iter().map(|b| count(&b["count"])).sum();
    assert!(calls > 200 && calls <= 300, "all but the warm-up and the last: {calls}");
    let levels = report["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 3);
    for level in levels {
        assert_eq!(count(&level["toggled"]) + count(&level["diffracted"]), 309);
    }
    let depth = report["depth"].as_array().unwrap();
    assert!(depth.iter().all(|stretch| stretch["depth_mean"] == 3.0));
    assert_eq!(depth.iter().map(|stretch| count(&stretch["calls"])).sum::<u64>(), 309);

    let command = report["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let mut again = throng(&words);
    again.arg("--json");
    let again = json(again);
    for same in ["trace_hash", "cycles", "accesses", "histogram", "command"] {
        assert_eq!(again[same], report[same], "{same}");
    }
    let other = json(simulate_small(&["diffracting", "--width", "8", "--seed", "4", "--json"]));
    assert_ne!(other["trace_hash"], report["trace_hash"]);
}

#[test]
fn what_goes_wrong_is_reported_and_what_the_seed_chose() {
    let arguments = ["locked-mcs", "--fault", "halt any 1 within 40", "--fault", "slow 0 by 3"];
    let report = json(simulate_small(&[&arguments[..], &["--json"]].concat()));
    assert_eq!(report["faults"], "halt any 1 within 40; slow 0 by 3");
    let chosen = report["faults_chosen"].as_str().unwrap();
    let halted = report["halted"].as_array().unwrap();
    assert_eq!(halted.len(), 1);
    assert!(chosen.starts_with(&format!("halt {} before ", halted[0])), "{chosen}");
    let pinned = json(simulate_small(&["locked-mcs", "--fault", chosen, "--json"]));
    assert_eq!(pinned["trace_hash"], report["trace_hash"]);
    let check = report["check"].as_str().unwrap();
    assert!(check.contains("no two alike") && check.contains("may hold one"), "{check}");
}

#[test]
fn a_run_that_is_broken_off_says_how_to_see_it_again() {
    let output = output(simulate_small(&["locked-mcs", "--steps", "100", "--seed", "5"]));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stdout(&output), "");
    let said = stderr(&output);
    let start = "error: locked-mcs on ideal: not over after 100 steps, with ";
    let end = " values handed out and 9 processors unfinished; `--steps` sets the limit; to see it again: throng simulate locked-mcs --machine ideal \
               --processors 9 --values 300 --work 0 --seed 5 --steps 100\n";
    assert!(said.starts_with(start) && said.ends_with(end), "{said}");
}

#[test]
fn a_run_that_hangs_says_so_at_once() {
    let arguments = ["locked-mcs", "--fault", "halt 2 before 105"];
    let text = printed(simulate_small(&arguments));
    let second = text.lines().nth(1).unwrap();
    assert!(second.starts_with("HANGS: 8 processors (0, 1, 3, "), "{text}");
    assert!(second.ends_with(" values handed out of 300 asked for"), "{text}");
    let report = json(simulate_small(&[&arguments[..], &["--json"]].concat()));
    assert_eq!(report["finished"], false);
    assert!(report["handed_out"].as_u64() < Some(300), "{}", report["handed_out"]);
    assert_eq!(report["hanging"].as_array().unwrap().len(), 8);
    let waited = report["unserved_cycles_max"].as_u64().unwrap();
    assert!(waited > 0 && text.contains("and a call that was not over had waited "), "{text}");
}

#[test]
fn nothing_is_said_of_what_was_not_measured() {
    let arguments = ["hardware", "--fault", "halt any 9 within 2"];
    let report = json(simulate_small(&[&arguments[..], &["--json"]].concat()));
    assert_eq!(report["finished"], false);
    for name in ["window", "throughput", "latency_cycles", "latency_ns", "little"] {
        assert!(report[name].is_null(), "{name}: {}", report[name]);
    }
    let text = printed(simulate_small(&arguments));
    assert!(text.lines().nth(1).unwrap().starts_with("DID NOT REACH ITS VALUES"), "{text}");
    assert!(text.lines().any(|line| line.split_whitespace().eq(["throughput", "not", "measured"])));
    assert!(text.contains("Latency\n  not measured: "), "{text}");
}

#[test]
fn starvation_is_seen() {
    // One processor finds the lock in its cache again and again.
    let report =
        json(simulate(&["locked-backoff", "--processors", "8", "--values", "999", "--json"]));
    let values = &report["values_per_processor"];
    let of = |name: &str| values[name].as_u64().unwrap();
    assert!(of("least") <= of("median") && of("median") < of("most") / 10, "{values}");
    assert_eq!(report["little"]["too_low"], true, "{}", report["little"]);
    let fair = json(simulate(&["hardware", "--processors", "8", "--values", "999", "--json"]));
    assert_eq!(fair["little"]["too_low"], false, "{}", fair["little"]);
}

#[test]
fn the_machine_is_shown_as_it_was_built() {
    let path = fresh_file("named_like_a_preset.toml");
    fs::write(&path, printed(throng(&["machines", "alewife"]))).unwrap();
    let file = path.to_str().unwrap();
    let arguments = ["hardware", "--machine", file, "--processors", "4", "--nodes", "64"];
    let text = printed(simulate(&arguments));
    let head = format!("hardware on alewife ({file}) with 4 of 64 processors, seed 0\n");
    assert!(text.starts_with(&head), "{text}");
    let report = json(simulate(&[&arguments[..], &["--json"]].concat()));
    assert_eq!((&report["processors"], &report["nodes"]), (&4.into(), &64.into()));
    assert_eq!(report["machine"]["processors"], 64);
    // 20 000 values, 100 of them before.
    let window = &report["window"];
    assert!(window["from_cycle"].as_u64() > Some(0) && window["to_cycle"].as_u64() > Some(0));
    assert!((19_890..=19_900).contains(&window["values"].as_u64().unwrap()), "{window}");
}

#[test]
fn time_that_runs_out_is_an_error_and_no_panic() {
    let late = "delay 1 in 1 up to 1_000_000_000_000";
    let output = output(simulate(&["hardware", "--processors", "1", "--fault", late]));
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("stopped at the end of simulated time"), "{said}");
    assert!(!said.contains("RUST_BACKTRACE") && !said.contains(".rs:"), "{said}");
}

#[test]
fn a_simulation_that_cannot_be_is_refused() {
    for (arguments, start) in [
        (&["hardwear"][..], "METHOD hardwear: no such counter; did you mean hardware"),
        (&["--machine", "alewive"], "machine alewive: no such machine; did you mean alewife"),
        (&["--machine", "no/such.toml"], "machine no/such.toml: cannot be read: "),
        (&["--processors", "0"], "--processors 0: must be a whole number from 1 to 65536"),
        (&["--processors", "1000000"], "--processors 1000000: must be a whole number"),
        (&["--values", "-5"], "--values -5: must be a whole number from 1"),
        (&["--work", "much"], "--work much: must be a whole number from 0"),
        (&["--seed", "-1"], "--seed -1: must be a whole number from 0 to 2^64 - 1"),
        (&["--width", "6"], "diffracting: width 6: must be a power of two"),
        (&["--fault", "halt 9"], "--fault: fault \"halt 9\": write \"halt PROCESSOR before"),
        (
            &["--fault", "halt 256 before 1"],
            "--fault: faults: processor 256: must be from 0 to 255",
        ),
        (&["--out", "/dev/null/x"], "--out /dev/null/x: cannot be written: "),
    ] {
        let said = refusal(simulate(arguments));
        assert!(said.starts_with(&format!("error: {start}")), "{said}");
    }
}

#[test]
fn a_folder_gets_the_report_and_its_numbers() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("simulated/here");
    let _ = fs::remove_dir_all(&folder);
    let text = printed(simulate_small(&["--out", folder.to_str().unwrap()]));
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("report.txt"), text);
    let report: Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(report["method"], "diffracting");
    let calls: u64 = report["histogram"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bucket| bucket["count"].as_u64().unwrap())
        .sum();
    let latency = read("latency.csv");
    let of_row = |row: &str| row.split(',').nth(1).unwrap().parse::<u64>().unwrap();
    assert_eq!(latency.lines().skip(1).map(of_row).sum::<u64>(), calls);
    assert!(latency.ends_with(",1\n"), "the longest is the last: {latency}");
    assert!(read("depth.csv").starts_with("start_cycle,calls,depth_mean\n0,"));
    assert!(read("lines.csv").starts_with("line,hits,misses,"));
    assert!(read("latency.svg").starts_with("<svg") && read("depth.svg").starts_with("<svg"));
    assert!(read("processors.csv").starts_with("processor,values\n0,"));

    // Another run there leaves nothing of this one, and what is not its own.
    fs::write(folder.join("mine.txt"), "").unwrap();
    printed(simulate_small(&["hardware", "--out", folder.to_str().unwrap()]));
    assert!(!folder.join("depth.csv").exists() && !folder.join("depth.svg").exists());
    assert!(folder.join("latency.svg").exists() && folder.join("mine.txt").exists());
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

/// A folder for one test, not there yet.
fn fresh_folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    path
}

/// Makes figures in a small test.
fn figures(arguments: &[&str], out: &Path) -> Command {
    let mut command = throng(arguments);
    command.args(["--smoke", "--out"]).arg(out);
    command
}

fn read(path: PathBuf) -> String {
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What must be in the JSON of any figure.
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
    for figure in throng_lab::papers::figures() {
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

#[test]
fn help_and_version_work_everywhere() {
    for arguments in [
        &["--help"][..],
        &["list", "--help"],
        &["bench", "--help"],
        &["bench", "counters", "--help"],
        &["figure", "--help"],
        &["figures", "--help"],
        &["model", "--help"],
        &["machines", "--help"],
        &["simulate", "--help"],
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
