//! `throng simulate` and `throng machines`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use throng::machine::Native;
use throng::structures::counter::methods;
use throng_sim::MachineSpec;
use throng_sim::spec::presets;

use crate::run::*;

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
    // 20 000 values, after 100 of warm-up.
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

    // Another run replaces all files of this one, and leaves foreign files.
    fs::write(folder.join("mine.txt"), "").unwrap();
    printed(simulate_small(&["hardware", "--out", folder.to_str().unwrap()]));
    assert!(!folder.join("depth.csv").exists() && !folder.join("depth.svg").exists());
    assert!(folder.join("latency.svg").exists() && folder.join("mine.txt").exists());
}
