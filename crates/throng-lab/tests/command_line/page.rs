//! `throng page`.

use std::fs;
use std::path::Path;

use crate::run::*;

/// Returns an invented survey.
fn sample() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser/sample.json");
    fs::read_to_string(path).unwrap()
}

#[test]
fn the_page_is_written_beside_the_report() {
    let folder = fresh_folder("page_beside");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mine.json"), sample()).unwrap();
    let mut command = throng(&["page", "mine.json"]);
    command.current_dir(&folder);
    assert_eq!(printed(command), "mine.html\n");
    let page = fs::read_to_string(folder.join("mine.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("Imaginary(R) Loom 4100"));
    assert_eq!(fs::read_to_string(folder.join("mine.json")).unwrap(), sample());
}

#[test]
fn the_page_goes_where_it_is_wanted_with_figures() {
    let folder = fresh_folder("page_elsewhere");
    fs::create_dir_all(&folder).unwrap();
    let (report, page) = (folder.join("report.json"), folder.join("page.html"));
    fs::write(&report, sample()).unwrap();
    let figures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/2026-11-20-figures");
    let mut command = throng(&["page"]);
    command.arg(&report).arg("--html").arg(&page).arg("--figures").arg(&figures);
    printed(command);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("<b>DT96-8</b>") && text.contains("data:image/svg+xml,"));
}

#[test]
fn what_is_no_report_is_refused_in_one_line() {
    let refused = |name: &str, text: &str| {
        let path = fresh_file(name);
        fs::write(&path, text).unwrap();
        let mut command = throng(&["page"]);
        command.arg(&path);
        let said = refusal(command);
        assert!(!path.with_extension("html").exists(), "a page was written all the same");
        said
    };
    assert!(refused("page_text.json", "hello").contains("page_text.json: not JSON: "));
    let queues = refused("page_queues.json", r#"{"benchmark": "queues", "runs": []}"#);
    assert!(queues.contains("written by `throng bench queues`"), "{queues}");
    assert!(queues.contains("`throng bench --json FILE`"), "{queues}");
    let other = refused("page_other.json", r#"{"a": 1}"#);
    assert!(other.contains("JSON, but not what `throng bench --json FILE` writes"), "{other}");
    let half = refused("page_half.json", r#"{"benchmark": "survey"}"#);
    assert!(half.contains("a survey of another version?"), "{half}");
    let none = refusal(throng(&["page", "no/such/report.json"]));
    assert!(none.starts_with("error: report no/such/report.json: "), "{none}");
}

#[test]
fn a_page_that_cannot_be_written_and_a_folder_without_figures_are_refused() {
    let path = fresh_file("page_good.json");
    fs::write(&path, sample()).unwrap();
    let with = |option: &str, value: &str| {
        let mut command = throng(&["page"]);
        command.arg(&path).args([option, value]);
        refusal(command)
    };
    let nowhere = with("--html", "no/such/folder/page.html");
    assert!(nowhere.starts_with("error: cannot write to no/such/folder/page.html: "), "{nowhere}");
    let itself = with("--html", path.to_str().unwrap());
    assert!(itself.contains("must be another file than the report"), "{itself}");
    let bare = with("--figures", "no/such/folder");
    assert!(bare.contains("must be a folder that `throng figures --out DIR` has filled"), "{bare}");
}
