use std::fs;
use std::path::{Path, PathBuf};

use throng_papers::output;

use super::*;
use crate::survey::sample::{advice, entrant, need, survey};

pub(super) fn sample() -> Survey {
    let flat = |value: f64, threads: &[usize]| -> Vec<(usize, Vec<f64>)> {
        threads.iter().map(|&threads| (threads, vec![value * 0.99, value, value * 1.01])).collect()
    };
    let all = [1, 2, 4, 8];
    let mut meeting = need(
        "meeting",
        Unit::NanosecondsARound,
        vec![
            entrant("barrier", Whose::Ours, &flat(123.4, &all)),
            entrant("tally", Whose::Method, &flat(100.0, &all)),
            entrant("std", Whose::Peer, &flat(31_977.0, &all)),
            entrant("hurdles", Whose::Peer, &flat(200.0, &[1, 2])),
            entrant("spin", Whose::Peer, &flat(123.0, &[2, 4])),
        ],
    );
    meeting.advice = Some(advice("barrier", &all, true));
    let numbers = need(
        "numbers",
        Unit::MillionPerSecond,
        vec![
            entrant("fetch_add", Whose::Peer, &flat(40.0, &[1, 2])),
            entrant("counter", Whose::Ours, &flat(39.9, &[1, 2])),
        ],
    );
    let mut survey = survey(vec![meeting, numbers]);
    survey.needs[1].workload.clear();
    survey
}

#[test]
fn each_need_has_a_table_with_ours_the_usual_and_the_best_of_the_others() {
    let expected = "\
Measured on Imaginary 1, 4 processors, threads pinned; 2026-11-16, `throng` 0.1.0, pace usual.

**To have meeting**, nanoseconds a round. Threads do nothing else.

| | 1 thread | 2 | 4 | 8, more than cores |
|---|---:|---:|---:|---:|
| **throng** `some::barrier` | **123** | **123** | **123** | **123** |
| `some::std`, the usual | 32 000 | 32 000 | 32 000 | 32 000 |
| best of 2 others, each by itself | 200 | **123** | **123** |  |

On 4 threads `some::barrier` is 259 times as good as `some::std`.

**To have numbers**, million a second.

| | 1 thread | 2 |
|---|---:|---:|
| **throng** `some::counter` | 39.9 | 39.9 |
| `some::fetch_add`, the usual | **40.0** | **40.0** |

On 2 threads `some::counter` is 0.997 times as good as `some::fetch_add`, which is within the noise of the runs.
";
    assert_eq!(markdown(&sample()), expected);
}

#[test]
fn what_the_survey_says_of_noise_is_believed() {
    let mut survey = sample();
    survey.needs[0].advice = Some(advice("barrier", &[1, 2, 4, 8], false));
    assert!(markdown(&survey).contains("`some::std`, which is within the noise"));
}

#[test]
fn a_method_that_is_recommended_stands_for_ours_and_a_peer_does_not() {
    let mut survey = sample();
    survey.needs[0].advice = Some(advice("tally", &[1], true));
    assert!(markdown(&survey).contains("| **throng** `some::tally` | **100** |"));
    survey.needs[0].advice = Some(advice("spin", &[2], true));
    assert!(markdown(&survey).contains("| **throng** `some::barrier` | **123** |"));
}

#[test]
fn an_early_end_is_told_and_a_need_without_ours_left_out() {
    let mut survey = sample();
    survey.complete = false;
    survey.needs[0].entrants.retain(|entrant| entrant.whose == Whose::Peer);
    let text = markdown(&survey);
    assert!(text.contains("pace usual, ended early.") && !text.contains("To have meeting"));
}

#[test]
fn names_cannot_break_the_table() {
    let mut survey = sample();
    survey.needs[1].entrants[1].code = "a|b\n`c`".to_owned();
    assert!(markdown(&survey).contains("| **throng** `a\\|b 'c'` | 39.9 |"));
}

#[test]
fn texts_of_a_report_are_only_text() {
    let mut survey = sample();
    survey.needs[0].title =
        "**a** [b](https://c) <img src=x>\n| & `d` \u{1B}\u{202E}e\\".to_owned();
    let expected = r"\*\*a\*\* \[b\](https\://c) \<img src=x\> \| \& \`d\` e\\";
    assert!(markdown(&survey).contains(&format!("**{expected}**, ")), "{}", markdown(&survey));
    assert!(Form::Short.of(&survey).contains(&format!("| {expected} |")));
    survey.setup.processor = "<script>\n<!-- end of table -->".to_owned();
    survey.throng = "`_1_`".to_owned();
    let text = markdown(&survey);
    assert!(text.contains(r"\<script\> \<!-- end of table --\>, 4"), "{text}");
    assert!(text.contains(r"\`\_1\_\`"), "{text}");
}

#[test]
fn numbers_have_three_digits() {
    let numbers = [1234.0, 999.6, 100.0, 99.95, 9.996, 7.0, 1.0, 0.123_4, 0.001_239, 5e6];
    assert_eq!(
        numbers.map(three_digits),
        ["1 230", "1 000", "100", "100", "10.0", "7.00", "1.00", "0.123", "0.00124", "5 000 000"]
    );
    assert_eq!(three_digits(1e-300), format!("{:.22}", 0.0), "no panic for what cannot be");
}

/// Makes a folder with a report in it.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("throng-table-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("results")).unwrap();
    fs::write(folder.join("results/report.json"), output::json(&sample())).unwrap();
    folder
}

const OUTDATED: &str = "\
# Title

```markdown
<!-- table: results/report.json -->
as it should be written
```

<!-- table: results/report.json -->
something old
<!-- end of table -->
After it.

<!-- table: results/other.json -->
another report
<!-- end of table -->
No line end";

#[test]
fn a_table_is_put_between_its_comments_and_nothing_else_is_touched() {
    let folder = folder("replace");
    let file = folder.join("README.md");
    fs::write(&file, OUTDATED).unwrap();
    into::replace(&folder.join("results/../results/report.json"), &file).unwrap();
    let expected = OUTDATED.replace("something old\n", &markdown(&sample()));
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    // Once more, and no other file is left.
    into::replace(&folder.join("results/report.json"), &file).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_without_a_place_for_the_table_stays_as_it_is() {
    let folder = folder("refuse");
    let file = folder.join("README.md");
    let report = folder.join("results/report.json");
    let cases = [
        ("nothing\n", "has no lines `<!-- table: results/report.json -->`"),
        (
            "<!-- table: results/report.json -->\nno end\n",
            "there is no line `<!-- end of table -->`",
        ),
        (
            "<!-- table: a -->\n<!-- table: results/report.json -->\n<!-- end of table -->\n",
            "after `<!-- table: a -->` there is no line",
        ),
    ];
    for (text, said) in cases {
        fs::write(&file, text).unwrap();
        let error = into::replace(&report, &file).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(error.exit_code(), 2);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    fs::write(&file, OUTDATED).unwrap();
    fs::write(&report, "{}").unwrap();
    assert!(into::replace(&report, &file).is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), OUTDATED);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_tables_of_docs_are_those_of_their_reports() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/measured.md");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\n<!-- end of table -->\n"));
    let refreshed = into::refreshed(&text, file.parent().unwrap()).unwrap();
    assert!(
        refreshed == text,
        "run `throng table REPORT.json --into docs/measured.md` for each table"
    );
}

#[test]
fn a_short_table_is_put_where_one_is_wanted() {
    let folder = folder("short");
    let file = folder.join("README.md");
    fs::write(&file, "<!-- short table: results/report.json -->\n<!-- end of table -->\n").unwrap();
    into::replace(&folder.join("results/report.json"), &file).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("| To have meeting | `some::barrier` | `some::std` |"), "{text}");
    assert_eq!(into::refreshed(&text, &folder).unwrap(), text);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_table_that_is_out_of_date_is_noticed() {
    let folder = folder("refresh");
    let text = OUTDATED.replace("other", "report");
    let refreshed = into::refreshed(&text, &folder).unwrap();
    assert_ne!(refreshed, text);
    assert_eq!(refreshed.matches("To have meeting").count(), 2);
    assert_eq!(into::refreshed(&refreshed, &folder).unwrap(), refreshed);
    assert!(into::refreshed(OUTDATED, &folder).is_err(), "a report that is not there");
    fs::remove_dir_all(folder).unwrap();
}
