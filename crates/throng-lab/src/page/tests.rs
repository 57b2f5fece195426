//! Tests of the page's contents.

use std::path::{Path, PathBuf};

use throng_papers::output;

use super::sample::{empty, incomplete, odd, survey};
use super::*;
use crate::survey::document::Whose;
use crate::survey::read::read;

/// Returns the path of the sample that the browser checks use.
fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("browser/sample.json")
}

fn figure() -> Figure {
    Figure {
        id: "X-1".to_owned(),
        title: "a <b> figure".to_owned(),
        svg: "<svg><script>alert(1)</script></svg>".to_owned(),
        claims: vec!["holds: a < b".to_owned()],
    }
}

/// Returns the survey in the JSON that a page carries.
fn carried(page: &str) -> Survey {
    let (_, after) = page.split_once("id=\"survey\">").unwrap();
    let (json, _) = after.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

#[test]
fn every_entrant_and_every_number_is_on_the_page_as_in_the_json() {
    for processors in [1, 2, 16] {
        let survey = survey(processors);
        let page = html(&survey, &[]);
        for need in &survey.needs {
            assert!(page.contains(&text::escaped(&need.workload)));
            let advice = need.advice.as_ref().unwrap();
            assert!(page.contains(&text::escaped(&advice.words)), "{}", advice.words);
            for entrant in &need.entrants {
                for cell in &entrant.cells {
                    let numbers = [cell.median, cell.min, cell.max].map(|number| {
                        format!("<td class=\"number\">{}</td>", serde_json::json!(number))
                    });
                    let row = format!(
                        "<td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td>{}<td class=\"number\">5</td>",
                        need.name,
                        text::escaped(&entrant.name),
                        match entrant.whose {
                            Whose::Ours => "throng",
                            Whose::Method => "variant",
                            Whose::Peer => "other",
                        },
                        cell.threads,
                        numbers.concat(),
                    );
                    assert!(page.contains(&row), "{row}");
                    if let Some(latency) = cell.latency {
                        let p99 =
                            format!("<td class=\"number\">{}</td>", text::exact(latency.p99_ns));
                        assert!(page.contains(&p99), "{p99}");
                        let p99 = format!("p99 {} us", text::rough(latency.p99_ns / 1e3));
                        assert!(page.contains(&p99), "{p99}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_page_carries_its_survey() {
    for survey in [survey(1), survey(2), survey(16), incomplete(), empty()] {
        assert_eq!(carried(&html(&survey, &[])), survey);
    }
}

#[test]
fn text_of_the_data_does_no_harm() {
    let page = html(&odd(), &[figure()]);
    assert!(!page.contains("<script>alert"), "text became code");
    // The survey's own script, the page's, and no third one.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(page.contains("What to use on this machine"));
    assert!(page.contains("a &lt;b&gt; figure"));
    // The text of a placeholder, in the data, stays as it is.
    assert!(page.contains("&amp;{{survey}}"));
}

#[test]
fn odd_surveys_make_a_page() {
    for survey in [odd(), empty(), incomplete(), survey(1), survey(3)] {
        let page = html(&survey, &[]);
        assert!(page.ends_with("</html>\n"));
        assert!(
            !page.contains("NaN") && !page.contains(">inf"),
            "numbers that are none are dashes"
        );
    }
    let mut alone = survey(2);
    alone.layout.processors = 0;
    alone.calibration.as_mut().unwrap().transfer_ns.clear();
    alone.validation.as_mut().unwrap().rows.clear();
    assert!(html(&alone, &[]).contains("Nothing of that can be compared"));
}

#[test]
fn an_early_end_is_announced_at_the_top_and_only_then() {
    let page = html(&incomplete(), &[]);
    let notice = page.find("id=\"incomplete\"").unwrap();
    assert!(notice < page.find("id=\"advice\"").unwrap());
    assert!(!html(&survey(2), &[]).contains("id=\"incomplete\""));
    assert!(page.contains("Not enough was measured to recommend anything."));
}

#[test]
fn a_large_machine_is_drawn_whole_and_its_map_is_left_to_the_script() {
    let page = html(&survey(512), &[]);
    assert_eq!(page.matches("<i title=\"core ").count(), 512);
    assert!(page.contains("groups of 2 in groups of 8 in groups of 64."));
    assert!(page.contains("<figure class=\"heat\" id=\"heat\">"));
    assert!(html(&survey(16), &[]).contains("<table class=\"heat\" id=\"heat\""));
}

#[test]
fn figures_are_there_where_they_are_given() {
    let page = html(&survey(2), &[figure()]);
    assert!(page.contains("<a href=\"#gallery\">") && page.contains("<li>holds: a &lt; b</li>"));
    assert!(!html(&survey(2), &[]).contains("gallery\""));
}

#[test]
fn the_page_loads_nothing() {
    let page = html(&survey(2), &[]);
    assert!(page.contains("default-src 'none'"));
    for loads in ["http://", "https://", "src=\"/", "@import", "url("] {
        // The name space of drawings is an address that is never loaded.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains(loads), "{loads}");
    }
}

#[test]
fn the_committed_sample_is_what_is_made_here() {
    let kept = read(&committed()).unwrap();
    assert_eq!(
        kept,
        survey(4),
        "`cargo test -p throng-lab --lib writes_the_sample -- --ignored` renews it"
    );
}

#[test]
#[ignore = "writes a file of the repository"]
fn writes_the_sample() {
    std::fs::write(committed(), output::json(&survey(4))).unwrap();
}
