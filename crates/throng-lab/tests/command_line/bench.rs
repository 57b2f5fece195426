//! `throng bench`: the survey of a machine.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use throng_lab::survey::document::{Pace, Survey, Unit};

use crate::run::*;

fn read(path: &Path) -> Survey {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns a survey in a folder of its own, with its page there.
fn bench(folder: &Path, arguments: &[&str]) -> Command {
    fs::create_dir_all(folder).unwrap();
    let mut command = throng(&["bench"]);
    command.current_dir(folder).args(arguments);
    command
}

#[test]
fn a_survey_says_what_to_use_and_writes_all_it_measured() {
    let folder = fresh_folder("survey");
    let arguments = ["--quick", "--needs", "meeting,loop", "--threads", "1,2"];
    let mut command = bench(&folder, &arguments);
    command.args(["--json", "report.json", "--csv", "report.csv", "--repetitions", "2"]);
    let text = printed(command);
    assert!(text.contains("What to use on this machine"), "{text}");
    assert!(text.contains("std::sync::Barrier") && text.contains("rayon"), "{text}");
    assert!(text.contains("throng-report.html"), "{text}");

    let survey = read(&folder.join("report.json"));
    assert_eq!((survey.pace, survey.complete), (Pace::Quick, true));
    let names: Vec<&str> = survey.needs.iter().map(|need| need.name.as_str()).collect();
    assert_eq!(names, ["meeting", "loop"]);
    let [meeting, loops] = &survey.needs[..] else { panic!("two needs") };
    assert_eq!((meeting.unit, meeting.threads()), (Unit::NanosecondsARound, vec![2]));
    assert_eq!((loops.unit, loops.threads()), (Unit::MicrosecondsALoop, vec![1, 2]));
    for need in &survey.needs {
        let advice = need.advice.as_ref().unwrap();
        assert!(need.entrant(&advice.pick).is_some());
        for cell in need.entrants.iter().flat_map(|entrant| &entrant.cells) {
            assert!(cell.min <= cell.median && cell.median <= cell.max);
            assert_eq!(cell.runs.len(), 2);
            assert!(cell.min > 0.0, "{cell:?}");
        }
    }

    let runs = (survey.needs.iter().flat_map(|need| &need.entrants))
        .flat_map(|entrant| &entrant.cells)
        .map(|cell| cell.runs.len());
    let lines = fs::read_to_string(folder.join("report.csv")).unwrap();
    assert_eq!(lines.lines().count(), 1 + runs.sum::<usize>());
    let page = fs::read_to_string(folder.join("throng-report.html")).unwrap();
    assert!(page.contains("throng::Barrier"), "the page has the advice");
}

/// Ends a program as Ctrl-C does.
fn interrupt(id: u32) {
    let done = Command::new("kill").args(["-INT", &id.to_string()]).status();
    assert!(done.expect("there is a `kill`").success());
}

#[test]
fn ended_early_it_reports_what_it_has() {
    let folder = fresh_folder("survey-ended");
    let mut command = bench(&folder, &["--full", "--needs", "loop", "--json", "report.json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    sleep(Duration::from_millis(1500));
    let start = Instant::now();
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(20), "it takes long to end");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("Ended early"), "{}", stdout(&output));
    let survey = read(&folder.join("report.json"));
    assert!(!survey.complete);
    let cells = survey.needs[0].entrants.iter().flat_map(|entrant| &entrant.cells);
    assert!(cells.count() > 0, "some runs were over");
    assert!(folder.join("throng-report.html").exists());
}

#[test]
fn without_arguments_it_is_the_whole_survey_and_more_is_named() {
    let folder = fresh_folder("survey-bare");
    fs::create_dir_all(&folder).unwrap();
    let mut command = throng(&[]);
    command.current_dir(&folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    sleep(Duration::from_millis(1000));
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("throng list") && text.contains("throng-report.html"), "{text}");
}

#[test]
fn mistakes_are_found_before_anything_is_measured() {
    let folder = fresh_folder("survey-mistakes");
    for (arguments, expected) in [
        (&["--needs", "quue"][..], "error: --needs quue: no such need; did you mean"),
        (&["--threads", "0"], "error: --threads 0: must be whole numbers from 1 to 1024"),
        (&["--needs", "meeting", "--threads", "1"], "error: --threads 1: must be at least 2"),
        (&["--html", "no/such/folder/page.html"], "error: --html no/such/folder/page.html: cannot"),
        (&["--repetitions", "0"], "error: --repetitions 0: must be a whole number from 1 to 1000"),
        (&["--csv", "."], "error: --csv .: cannot be written"),
        (&["--json", "no/such/file.json"], "error: --json no/such/file.json: cannot be written"),
        (&["--figures", "no/such/folder"], "error: --figures \"no/such/folder\": must be a folder"),
    ] {
        let said = refusal(bench(&folder, arguments));
        assert!(said.starts_with(expected), "{said}");
    }
    let both = output(bench(&folder, &["--quick", "--full"]));
    assert_eq!(both.status.code(), Some(2));
}
