//! `throng validate`, started as a process.

use std::fs;

use serde_json::{Value, json};

use crate::run::*;
use crate::surveys::{survey, survey_file};

/// A survey of two cores on which a flag takes 40 ns, with these results of counters on 2 threads.
fn measured(results: &[(&str, f64)]) -> Value {
    let mut survey = survey(1.0, 1.0);
    let entrant = |&(name, median): &(&str, f64)| {
        json!({
            "name": name, "code": name, "whose": "method",
            "cells": [{
                "threads": 2, "median": median, "min": median, "max": median, "runs": [median],
                "latency": null
            }],
        })
    };
    survey["needs"] = json!([{
        "name": "numbers", "title": "Numbers", "workload": "", "unit": "million-per-second",
        "usual": "fetch_add", "advice": null,
        "entrants": results.iter().map(entrant).collect::<Vec<_>>(),
    }]);
    survey["calibration"] = json!({
        "cores": [0, 1], "transfer_ns": [[0.0, 40.0], [40.0, 0.0]], "costs": [], "machine": "",
    });
    survey
}

#[test]
fn the_order_of_methods_is_judged() {
    // One word is faster than a lock on the simulated machine; here the lock and the queue are.
    let results =
        [("locked-mcs", 90.0), ("locked-backoff", 70.0), ("fetch_add", 50.0), ("abacus", 1.0)];
    let report = survey_file("validate.json", &measured(&results));
    let text = printed(throng(&["validate", report.to_str().unwrap()]));
    assert!(text.contains("locked-mcs > fetch_add"), "{text}");
    let output = output(throng(&["validate", report.to_str().unwrap(), "--json"]));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let place = &document["places"][0];
    assert_eq!((&place["need"], &place["threads"]), (&json!("numbers"), &json!(2)));
    assert_eq!(place["rows"].as_array().unwrap().len(), 3, "no abacus can be simulated");
    assert!(place["rank_correlation"].as_f64().unwrap() < 0.0, "{place}");
    let off = place["worst_off"].as_f64().unwrap();
    assert!(off >= place["median_off"].as_f64().unwrap() && off > 1.0, "{place}");
    assert!(stderr(&output).contains("rank correlation"), "{}", stderr(&output));
}

#[test]
fn a_survey_from_which_no_machine_can_be_made_is_refused() {
    let report = survey_file("validate-without.json", &survey(1.0, 1.0));
    let said = refusal(throng(&["validate", report.to_str().unwrap()]));
    assert!(
        said.contains("validate-without.json: a survey without times from core to core"),
        "{said}"
    );
    fs::write(&report, "{}").unwrap();
    let said = refusal(throng(&["validate", report.to_str().unwrap()]));
    assert!(said.contains("JSON, but not what"), "{said}");
}
