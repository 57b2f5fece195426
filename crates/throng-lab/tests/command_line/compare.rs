//! `throng compare`.

use std::process::Output;

use serde_json::{Value, json};

use crate::run::*;
use crate::surveys::{survey, survey_file};

fn compare(test: &str, old: &Value, new: &Value, options: &[&str]) -> Output {
    let old = survey_file(&format!("{test}-old.json"), old);
    let new = survey_file(&format!("{test}-new.json"), new);
    let mut command = throng(&["compare"]);
    command.args([old, new]).args(options);
    output(command)
}

#[test]
fn the_same_is_no_change() {
    let output = compare("compare-same", &survey(1.0, 1.0), &survey(1.0, 1.0), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("Nothing got faster or slower beyond noise."), "{text}");
    assert!(text.ends_with(
        "0 faster, 0 slower, 12 unchanged; only in the old one 0, only in the new one 0\n"
    ));
    assert_eq!(stderr(&output), "");
}

#[test]
fn what_got_slower_is_shown_and_told_by_the_exit_code() {
    let output = compare("compare-slower", &survey(1.0, 1.0), &survey(1.5, 1.0), &[]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(stderr(&output), "1 structure got slower\n", "a finding is no error");
    let text = stdout(&output);
    let row = text.lines().find(|line| line.starts_with("SLOWER")).unwrap();
    assert!(row.contains("barrier") && row.contains("1, 2, 4, 8"), "{text}");
    assert!(row.ends_with("0.67 on 1: 100 -> 150 nanoseconds a round"), "{text}");
    assert!(text.contains("0 faster, 4 slower, 8 unchanged"), "{text}");
}

#[test]
fn what_got_faster_is_fine_and_so_are_slower_peers_beside_a_slower_machine() {
    let output = compare("compare-faster", &survey(1.0, 1.0), &survey(0.5, 1.0), &[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("faster  meeting  barrier    1, 2, 4, 8  2.00 on 1"));

    let output = compare("compare-busier", &survey(1.0, 1.0), &survey(2.0, 2.0), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stdout(&output).contains("the peers are 0.50 times as good as before"));
}

#[test]
fn how_large_a_change_must_be_can_be_said() {
    let (old, new) = (survey(1.0, 1.0), survey(1.5, 1.0));
    let output = compare("compare-least", &old, &new, &["--least", "60"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let output = compare("compare-least", &old, &new, &["--least", "much"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "error: --least much: must be a number of percent from 0 to 1000\n"
    );
}

#[test]
fn as_json_it_says_the_same() {
    let output = compare("compare-json", &survey(1.0, 1.0), &survey(1.5, 1.0), &["--json"]);
    assert_eq!(output.status.code(), Some(3));
    let said: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(said["slower_structures"], 1);
    assert_eq!(
        said["counts"],
        json!({ "faster": 0, "slower": 4, "unchanged": 8, "unclear": 0, "only_old": 0, "only_new": 0 })
    );
    let first = &said["changes"][0];
    assert_eq!((&first["entrant"], &first["verdict"]), (&json!("barrier"), &json!("slower")));
    assert_eq!(said["drift"]["cells"], 8);
    assert_eq!(said["margin_percent"], 10.0);
}

#[test]
fn another_machine_is_warned_of_and_compared_all_the_same() {
    let mut new = survey(1.0, 1.0);
    new["setup"]["processor"] = json!("Imaginary 2");
    let output = compare("compare-machines", &survey(1.0, 1.0), &new, &[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("warning  The two are not of the same machine"));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let mut other = survey(1.0, 1.0);
    other["needs"][0]["name"] = json!("numbers");
    let output = compare("compare-nothing", &survey(1.0, 1.0), &other, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("was measured in both"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");

    let output = compare("compare-no-survey", &survey(1.0, 1.0), &json!([1, 2]), &[]);
    assert_eq!(output.status.code(), Some(2));
    let said = refusal(throng(&["compare", "no-such-file.json", "no-such-file.json"]));
    assert!(said.starts_with("error: report no-such-file.json: "), "{said}");
}
