//! Invented files of `throng bench --json`.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::run::fresh_file;

/// Returns a survey in which the times of ours and of the peers are multiplied by these factors.
pub(crate) fn survey(ours: f64, peers: f64) -> Value {
    json!({
        "throng": "0.1.0",
        "benchmark": "survey",
        "pace": "usual",
        "complete": true,
        "seconds": 60.0,
        "date": "2026-11-16",
        "setup": { "processor": "Imaginary 1", "cores": 4, "pinned": true, "flag_ns": 50.0 },
        "layout": { "processors": 4, "groups": [4], "cores": [0, 1, 2, 3] },
        "needs": [{
            "name": "meeting",
            "title": "Threads that meet",
            "workload": "They meet, and do nothing else.",
            "unit": "nanoseconds-a-round",
            "usual": "std",
            "entrants": [
                entrant("barrier", "ours", 100.0 * ours),
                entrant("std", "peer", 4000.0 * peers),
                entrant("spin", "peer", 300.0 * peers),
            ],
            "advice": null,
        }],
    })
}

fn entrant(name: &str, whose: &str, ns: f64) -> Value {
    let cells: Vec<Value> =
        [1, 2, 4, 8].map(|threads| cell(threads, ns * f64::from(threads))).into();
    json!({ "name": name, "code": format!("some::{name}"), "whose": whose, "cells": cells })
}

fn cell(threads: u32, ns: f64) -> Value {
    let runs = [0.98, 0.99, 1.0, 1.01, 1.02].map(|times| times * ns);
    json!({ "threads": threads, "median": ns, "min": runs[0], "max": runs[4], "runs": runs })
}

/// Writes the survey to a file for one test.
pub(crate) fn survey_file(name: &str, survey: &Value) -> PathBuf {
    let path = fresh_file(name);
    fs::write(&path, survey.to_string()).unwrap();
    path
}
