//! `throng table`.

use std::fs;

use crate::run::*;
use crate::surveys::{survey, survey_file};

#[test]
fn a_table_is_printed() {
    let report = survey_file("table-print.json", &survey(1.0, 1.0));
    let text = printed(throng(&["table", report.to_str().unwrap()]));
    assert!(
        text.starts_with("Measured on Imaginary 1, 4 processors, threads pinned; 2026-11-16"),
        "{text}"
    );
    assert!(
        text.contains("\n| **throng** `some::barrier` | **100** | **200** | **400** | **800** |\n"),
        "{text}"
    );
    assert!(
        text.ends_with("On 4 threads `some::barrier` is 40.0 times as good as `some::std`.\n"),
        "{text}"
    );
}

#[test]
fn a_table_is_put_into_a_file() {
    let report = survey_file("table-into.json", &survey(1.0, 1.0));
    let file = fresh_file("table-into.md");
    let (begin, end) = ("<!-- table: table-into.json -->\n", "<!-- end of table -->\n");
    fs::write(&file, format!("Before.\n{begin}old\n{end}After.\n")).unwrap();
    let arguments = ["table", report.to_str().unwrap(), "--into", file.to_str().unwrap()];
    assert_eq!(printed(throng(&arguments)), "");
    let table = printed(throng(&arguments[..2]));
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("Before.\n{begin}{table}{end}After.\n"));
}

#[test]
fn a_file_without_a_place_for_it_is_refused() {
    let report = survey_file("table-refuse.json", &survey(1.0, 1.0));
    let file = fresh_file("table-refuse.md");
    let arguments = ["table", report.to_str().unwrap(), "--into", file.to_str().unwrap()];
    let said = refusal(throng(&arguments));
    assert!(said.contains("table-refuse.md: No such file"), "{said}");
    fs::write(&file, "Nothing.\n").unwrap();
    let said = refusal(throng(&arguments));
    assert!(said.contains("has no lines `<!-- table: table-refuse.json -->`"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "Nothing.\n");
    let said = refusal(throng(&["table", file.to_str().unwrap()]));
    assert!(said.contains("table-refuse.md: not JSON"), "{said}");
}
