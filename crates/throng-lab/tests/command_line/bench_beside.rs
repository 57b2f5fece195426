//! `throng bench barriers`, `queues` and `loop` beside neighbours, started as a process.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::*;

fn bench(arguments: &[&str]) -> Command {
    throng(&[&["bench"], arguments].concat())
}

/// Measures, and returns the text, the document and the CSV.
fn measured(name: &str, arguments: &[&str]) -> (String, Value, String) {
    let (json, csv) = (fresh_file(&format!("{name}.json")), fresh_file(&format!("{name}.csv")));
    let files = ["--json", json.to_str().unwrap(), "--csv", csv.to_str().unwrap()];
    let text = printed(bench(&[arguments, &files].concat()));
    let document = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    (text, document, fs::read_to_string(&csv).unwrap())
}

/// Checks every run that has a result.
fn check_runs(document: &Value, expected: usize) {
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), expected);
    for run in runs {
        // A run may take too long on a busy machine.
        let Some(ns) = run.get("ns").and_then(Value::as_f64) else { continue };
        let number = |key: &str| run[key].as_f64().unwrap_or_else(|| panic!("{key}: {run}"));
        assert!(ns > 0.0 && number("operations") >= 1.0, "{run}");
        let ratio = number("cpu_seconds") / number("seconds");
        assert!((number("cores_used") - ratio).abs() < 1e-6, "{run}");
        let at = |key: &str| run["latency"][key].as_f64().unwrap();
        assert!(at("p50_ns") <= at("p99_ns") && at("p99_ns") <= at("max_ns"), "{run}");
        assert_eq!(run["neighbours_keep"].is_null(), run["neighbours"] == "0", "{run}");
    }
}

#[test]
fn barriers_are_measured_beside_numbers_of_neighbours_and_a_copy() {
    let chosen = ["barriers", "--method", "barrier", "--neighbours", "copy,2,0"];
    let short =
        ["--threads", "2", "--repetitions", "1", "--milliseconds", "20", "--work", "0,1000"];
    let (text, document, csv) = measured("beside", &[&chosen[..], &short].concat());
    assert_eq!(document["benchmark"], "barriers-beside");
    assert_eq!(document["neighbours"], serde_json::json!(["0", "2", "copy"]));
    assert_eq!(document["loads"], serde_json::json!(["rounds:0", "rounds:1000"]));
    let expected = 2 * 3 * 3;
    check_runs(&document, expected);
    assert_eq!(document["summary"].as_array().unwrap().len(), expected);
    assert_eq!(csv.lines().count(), 1 + expected, "loads x settings x barriers");
    for words in [
        "threads not pinned",
        "rounds with nothing in between, beside no neighbour",
        "rounds with 1 000 ns of work in between, beside 2 busy neighbours",
        "beside a copy of itself",
        "ours beside the best of std and pthread",
        "barrier is at least 0.95 times as fast as the best of std and pthread in ",
    ] {
        assert!(text.contains(words), "{words} is not in: {text}");
    }
}

#[test]
fn queues_and_loops_are_measured_beside_neighbours_too() {
    let short = ["--threads", "2,4", "--repetitions", "1", "--neighbours", "1,copy"];
    let chosen = ["queues", "--methods", "pool", "--duration", "20", "--work", "20000"];
    let (text, document, _) = measured("queues-beside", &[&chosen[..], &short].concat());
    assert_eq!(document["benchmark"], "queues-beside");
    check_runs(&document, (1 + 2) * 2 * 3);
    assert!(text.contains("ping-pong: one item to another thread and back"), "{text}");
    assert!(text.contains("stream: half of the threads push, after 20 000 ns"), "{text}");

    let chosen = ["loop", "--indices", "50", "--microseconds", "100", "--seconds", "20"];
    let short = ["--threads", "2", "--repetitions", "1", "--neighbours", "1,copy"];
    let (text, document, _) = measured("loop-beside", &[&chosen[..], &short].concat());
    assert_eq!(document["benchmark"], "loop-beside");
    check_runs(&document, 2 * 2);
    assert!(text.contains("growing loop, 50 indices, 100 us of work, beside 1 busy"), "{text}");
    assert!(text.contains("as fast as the best of rayon in "), "{text}");
}

#[test]
fn without_a_list_the_usual_neighbours_are_taken() {
    let arguments = ["barriers", "--neighbours", "--threads", "2", "--milliseconds", "1"];
    let short = ["--method", "team", "--repetitions", "1", "--json", "-"];
    let printed = printed(bench(&[&arguments[..], &short].concat()));
    let document: Value = serde_json::from_str(&printed).unwrap();
    let settings = document["neighbours"].as_array().unwrap();
    assert_eq!(settings.first().unwrap(), "0");
    assert_eq!(settings.last().unwrap(), "copy");
}

#[test]
fn when_the_time_is_up_the_measurement_ends() {
    let arguments = ["barriers", "--neighbours", "0,1", "--threads", "2", "--milliseconds", "400"];
    let limits = ["--seconds", "1", "--repetitions", "1000", "--json", "-"];
    let start = Instant::now();
    let printed = printed(bench(&[&arguments[..], &limits].concat()));
    assert!(start.elapsed() < Duration::from_secs(30), "1000 repetitions take an hour");
    let document: Value = serde_json::from_str(&printed).unwrap();
    let runs = document["runs"].as_array().unwrap();
    assert!(!runs.is_empty() && runs.len() < 20, "{}", runs.len());
}

/// Starts a process with a pipe to its standard input, and its output nowhere.
fn start(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn is_over(child: &mut Child) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}

#[test]
fn a_process_that_is_beside_ends_with_its_standard_input_or_its_time() {
    let copy =
        ["part", "run", "rounds:0", "barrier", "2", "--warm-up-us", "0", "--measure-us", "0"];
    for arguments in
        [&["part", "neighbour", "600"][..], &[&copy[..], &["--endless", "600"]].concat()]
    {
        let mut process = start(throng(arguments));
        thread::sleep(Duration::from_millis(50));
        drop(process.stdin.take());
        assert!(is_over(&mut process), "{arguments:?} does not end with its standard input");
    }
    let mut process = start(throng(&["part", "neighbour", "1"]));
    assert!(is_over(&mut process), "a neighbour does not end after its time");
}

/// Returns the processes whose parent is `id`.
fn children_of(id: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

#[test]
fn no_neighbour_outlives_a_lab_that_is_killed() {
    let arguments = ["barriers", "--neighbours", "3", "--threads", "2", "--milliseconds", "10000"];
    let mut lab = start(bench(&arguments));
    let begun = Instant::now();
    let mut children = children_of(lab.id());
    while children.len() < 3 && begun.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(10));
        children = children_of(lab.id());
    }
    lab.kill().unwrap();
    lab.wait().unwrap();
    if children.is_empty() {
        eprintln!("this system does not list the children of a process: nothing is checked");
        return;
    }
    assert!(children.len() >= 3, "{children:?}");
    let killed = Instant::now();
    let is_there = |id: &u32| Path::new(&format!("/proc/{id}/exe")).exists();
    while children.iter().any(is_there) {
        assert!(killed.elapsed() < Duration::from_secs(20), "{children:?} are still there");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_process_that_fails_ends_the_measurement_with_its_name() {
    // A program that is not a barrier of OpenMP.
    let folder = fresh_folder("peers");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("barrier_gomp");
    fs::write(&program, "#!/bin/sh\necho 'error: no barrier' >&2\nexit 1\n").unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let peers = ["--peers", folder.to_str().unwrap(), "--method", "libgomp-passive"];
    let short = ["barriers", "--neighbours", "0", "--threads", "2", "--milliseconds", "1"];
    let mut command = bench(&[&short[..], &peers].concat());
    let mut lab = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    lab.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(lab.wait().unwrap().code(), Some(1), "{said}");
    let expected = "error: no barrier\nerror: the process that measured libgomp-passive on 2 threads \
                    beside no neighbour failed; the line above says why\n";
    assert!(said.ends_with(expected), "{said}");
}

#[test]
fn barriers_of_openmp_are_measured_beside_neighbours() {
    let folder = fresh_folder("peers-built");
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/run");
    let built = Command::new(run).arg("build").arg(&folder).output();
    let Some(built) = built.ok().filter(|built| built.status.success()) else {
        eprintln!("the programs of the peers cannot be built here: nothing is checked");
        return;
    };
    assert!(stdout(&built).starts_with("built in "), "{}", stdout(&built));
    let peers = ["--peers", folder.to_str().unwrap(), "--method", "libgomp-passive"];
    let short = ["barriers", "--neighbours", "0,1,copy", "--threads", "2", "--milliseconds", "20"];
    let rest = ["--work", "0,20000", "--repetitions", "1"];
    let (_, document, _) = measured("openmp-beside", &[&short[..], &peers, &rest].concat());
    check_runs(&document, 2 * 3 * 3);
    let is_peer = |run: &&Value| run["method"] == "libgomp-passive" && run["ns"].is_f64();
    let runs = document["runs"].as_array().unwrap();
    let with_work = runs.iter().filter(is_peer).filter(|run| run["load"] == "rounds:20000");
    let ns: Vec<f64> = with_work.map(|run| run["ns"].as_f64().unwrap()).collect();
    assert!(!ns.is_empty() && ns.iter().all(|&ns| ns > 5_000.0), "{ns:?}");
}

#[test]
fn mistakes_are_refused_before_anything_is_measured() {
    for (arguments, expected) in [
        (
            &["barriers", "--neighbours", "-1"][..],
            "error: --neighbours -1: must be whole numbers from 0 to 1024 and copy, separated by commas",
        ),
        (
            &["queues", "--neighbours", "0,copies"],
            "error: --neighbours copies: must be whole numbers from 0 to 1024 and copy, separated by \
             commas",
        ),
        (
            &["loop", "--neighbours", "0", "--threads", "1"],
            "error: --threads 1: must be whole numbers from 2 to 1024, separated by commas",
        ),
        (
            &["barriers", "--neighbours", "0", "--seconds", "1h"],
            "error: --seconds 1h: must be a whole number from 1 to 86400",
        ),
        (
            &["barriers", "--neighbours", "0", "--peers", "/nowhere"],
            "error: --peers \"/nowhere\": must be a folder that `crates/throng-lab/peers/run build` has \
             made, with gcc",
        ),
        (
            &["queues", "--neighbours", "0", "--methods", "flume-bounded"],
            "error: --methods flume-bounded: no such queue; did you mean queue-unbounded? (`throng \
             bench queues --help` names those beside neighbours)",
        ),
    ] {
        assert_eq!(refusal(bench(arguments)), expected);
    }
    for arguments in [
        &["barriers", "--work", "5"][..],
        &["barriers", "--neighbours", "0", "--idle"],
        &["barriers", "--neighbours", "0", "--rounds", "5"],
        &["loop", "--seconds", "5"],
    ] {
        let output = output(bench(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains("--neighbours"), "{}", stderr(&output));
    }
}
