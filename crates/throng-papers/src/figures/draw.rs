//! Writes findings as CSV, SVG, JSON and text.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::claim::{Claim, Verdict};
use super::curve::{Curve, Point};
use super::{Figure, Made, Panel, figures};
use crate::chart::{Chart, Series};
use crate::csv::csv;
use crate::error::Error;
use crate::files::{self, REPORT_BYTES_MAX};
use crate::numbers::short;
use crate::output;
use crate::table::{Align, aligned};

/// Writes the files of a figure and returns their number.
///
/// # Errors When a file cannot be drawn or written.
pub fn write_files(made: &Made, folder: &Path) -> Result<usize, Error> {
    let stem = made.figure.file_stem();
    for (i, panel) in made.findings.panels.iter().enumerate() {
        let stem = panel_stem(made.figure, i);
        output::write_file(&folder.join(format!("{stem}.csv")), &csv_text(panel))?;
        output::write_file(&folder.join(format!("{stem}.svg")), &chart(made, panel).svg()?)?;
    }
    output::write_file(&folder.join(format!("{stem}.json")), &json_file(made))?;
    Ok(2 * made.findings.panels.len() + 1)
}

/// Returns the file name of the `i`-th chart of a figure, without its extension.
fn panel_stem(figure: &Figure, i: usize) -> String {
    let number = if i == 0 { String::new() } else { format!("-{}", i + 1) };
    figure.file_stem() + &number
}

/// The file with the claims of all figures.
pub const SUMMARY: &str = "summary.md";

/// Writes the summary of all figures whose JSON is in the folder, whether made now or earlier.
///
/// # Errors When it cannot be written.
pub fn write_summary(folder: &Path) -> Result<(), Error> {
    let kept = |figure: &Figure| {
        let text =
            files::read_text(&folder.join(figure.file_stem() + ".json"), REPORT_BYTES_MAX).ok()?;
        // A JSON file that is not a figure is skipped.
        serde_json::from_str(&text).ok()
    };
    let kept: Vec<Kept> = figures().iter().filter_map(kept).collect();
    output::write_file(&folder.join(SUMMARY), &summary(&kept))
}

fn csv_text(panel: &Panel) -> String {
    let header = ["series", &panel.x.label, &panel.y.label, "min", "max"];
    let rows: Vec<Vec<String>> = (panel.series.iter())
        .flat_map(|curve| curve.points.iter().map(move |point| (curve, point)))
        .map(|(curve, point)| {
            let numbers = [point.x, point.y, point.min, point.max].map(|number| number.to_string());
            std::iter::once(curve.name.clone()).chain(numbers).collect()
        })
        .collect();
    csv(&header, &rows)
}

fn chart(made: &Made, panel: &Panel) -> Chart {
    let series = |curve: &Curve| Series {
        name: curve.name.clone(),
        points: curve.between(panel.drawn_from, f64::INFINITY).iter().map(|p| (p.x, p.y)).collect(),
        look: curve.look,
    };
    Chart {
        title: format!("{}: {}", made.figure.id, made.figure.title),
        subtitle: format!("{}\n{}{}", panel.title, made.findings.setup, left_out(panel)),
        x: panel.x.clone(),
        y: panel.y.clone(),
        series: panel.series.iter().map(series).collect(),
        marks: panel.marks.clone(),
    }
}

/// Returns a note on the points that are in the numbers but not in the chart.
fn left_out(panel: &Panel) -> String {
    let all = panel.series.iter().flat_map(|curve| &curve.points);
    if all.clone().all(|point| point.x >= panel.drawn_from) {
        return String::new();
    }
    format!("; drawn from {} {} on", panel.drawn_from, panel.x.label)
}

/// A figure as JSON.
#[derive(Serialize)]
struct Document<'a> {
    id: &'static str,
    /// Present in files only, not on standard output.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    about: Option<AboutFigure<'a>>,
    claims: &'a [Claim],
    series: Vec<JsonSeries<'a>>,
}

/// The figure's description, for readers of the file.
#[derive(Serialize)]
struct AboutFigure<'a> {
    title: &'static str,
    paper: &'static str,
    setup: &'a str,
}

/// A curve as JSON, with the units of its numbers.
#[derive(Serialize)]
struct JsonSeries<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    panel: &'a str,
    x: &'a str,
    y: &'a str,
    /// The file name of the chart that shows it.
    chart: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    points: &'a [Point],
}

impl<'a> Document<'a> {
    fn of(made: &'a Made, in_file: bool) -> Self {
        let (&Figure { id, title, paper, .. }, findings) = (made.figure, &made.findings);
        let about = AboutFigure { title, paper, setup: &findings.setup };
        let series = |(i, panel): (usize, &'a Panel)| {
            panel.series.iter().map(move |curve| JsonSeries {
                name: &curve.name,
                panel: &panel.title,
                x: &panel.x.label,
                y: &panel.y.label,
                chart: panel_stem(made.figure, i) + ".svg",
                command: curve.command.as_deref(),
                note: curve.note.as_deref(),
                points: &curve.points,
            })
        };
        Document {
            id,
            about: in_file.then_some(about),
            claims: &findings.claims,
            series: findings.panels.iter().enumerate().flat_map(series).collect(),
        }
    }
}

/// Returns one figure as a JSON object with its description, as its file has it.
fn json_file(made: &Made) -> String {
    output::json(&Document::of(made, true))
}

/// Returns one figure as a JSON object, or all as a list, for standard output.
pub fn json(made: &[Made], as_list: bool) -> String {
    let documents: Vec<Document<'_>> = made.iter().map(|one| Document::of(one, false)).collect();
    match documents.first() {
        Some(only) if !as_list => output::json(only),
        _ => output::json(&documents),
    }
}

/// Returns the text for the terminal: a figure's numbers and claims.
pub fn text(made: &Made) -> String {
    let (figure, findings) = (made.figure, &made.findings);
    let mut text = format!(
        "{}: {} ({})\n{}\n{}\n\n",
        figure.id, figure.title, figure.paper, figure.shows, findings.setup
    );
    for panel in &findings.panels {
        let colon = if panel.title.is_empty() { "" } else { ": " };
        let Panel { title, x, y, series, .. } = panel;
        let _ = writeln!(text, "{title}{colon}{}, by {}", y.label, x.label);
        let _ = writeln!(text, "{}", numbers(&x.label, series));
        for curve in series {
            if let Some(note) = &curve.note {
                let _ = writeln!(text, "{}: {note}", curve.name);
            }
        }
        let commands: Vec<String> = (series.iter())
            .filter_map(|curve| Some(format!("{}: {}\n", curve.name, curve.command.as_ref()?)))
            .collect();
        if !commands.is_empty() {
            let _ = writeln!(text, "Last points, from the first seed:\n{}", commands.concat());
        }
    }
    for claim in &findings.claims {
        let Claim { text: claimed, expected, measured, note, .. } = claim;
        let _ = writeln!(text, "{:<14} {claimed}", claim.verdict());
        let _ = writeln!(text, "{:<14} expected: {expected}", "");
        let _ = writeln!(text, "{:<14} measured: {measured}", "");
        if let Some(note) = note {
            let _ = writeln!(text, "{:<14} why: {note}", "");
        }
    }
    text.push('\n');
    text
}

/// Formats a table with a row for each x and a column for each series.
fn numbers(x_label: &str, series: &[Curve]) -> String {
    let mut xs: Vec<f64> = series.iter().flat_map(|curve| &curve.points).map(|p| p.x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let head = std::iter::once(x_label.to_owned()).chain(series.iter().map(|c| c.name.clone()));
    let mut rows = vec![head.collect::<Vec<_>>()];
    rows.extend(xs.into_iter().map(|x| {
        let cell = |curve: &Curve| curve.at(x).map_or("-".to_owned(), short);
        std::iter::once(x.to_string()).chain(series.iter().map(cell)).collect()
    }));
    aligned(&rows, &vec![Align::Right; series.len() + 1])
}

/// The fields of a figure's JSON that the summary needs.
#[derive(Debug, Deserialize)]
struct Kept {
    id: String,
    title: String,
    setup: String,
    claims: Vec<Claim>,
    series: Vec<KeptSeries>,
}

#[derive(Debug, Deserialize)]
struct KeptSeries {
    chart: String,
}

impl Kept {
    /// Returns links to all charts of the figure. The first has the figure's name, the others a
    /// number.
    fn links(&self) -> String {
        let mut charts: Vec<&str> = self.series.iter().map(|one| one.chart.as_str()).collect();
        charts.dedup();
        let link = |(i, chart): (usize, &&str)| {
            let name = if i == 0 { self.id.clone() } else { (i + 1).to_string() };
            format!("[{name}]({chart})")
        };
        charts.iter().enumerate().map(link).collect::<Vec<_>>().join(" ")
    }
}

/// Returns all claims in one Markdown table.
fn summary(kept: &[Kept]) -> String {
    let claims = || kept.iter().flat_map(|one| one.claims.iter().map(move |c| (one, c)));
    let count = |verdict: Verdict| claims().filter(|(_, c)| c.verdict() == verdict).count();
    let mut text = format!(
        "# The papers' claims on the simulated machine\n\n\
         {} hold, {} do not hold, {} not judged.\n\n\
         The simulator is calibrated from published machine latencies only, never from a claim. A \
         claim that does not hold is reported as such, with the reason found.\n\n\
         | figure | claim | expected | measured | verdict |\n|---|---|---|---|---|\n",
        count(Verdict::Holds),
        count(Verdict::DoesNotHold),
        count(Verdict::TooSmall),
    );
    let row = |cells: &[&str]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    for (one, claim) in claims() {
        let verdict = claim.verdict().to_string();
        let cells = [&one.links(), &claim.text, &claim.expected, &claim.measured, &verdict];
        text.push_str(&row(&cells.map(String::as_str)));
    }
    text.push_str("\n## What was run\n\n| figure | what | how |\n|---|---|---|\n");
    for one in kept {
        text.push_str(&row(&[&one.links(), &one.title, &one.setup]));
    }
    let explained: Vec<_> = claims().filter(|(_, claim)| claim.note.is_some()).collect();
    if !explained.is_empty() {
        text.push_str("\n## Why claims do not hold\n\n");
    }
    for (one, claim) in explained {
        let note = claim.note.as_deref().unwrap_or_default();
        let _ = writeln!(text, "- **{}**, {}: {note}", one.id, claim.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::curve::tests::curve;
    use super::super::{Findings, find};
    use super::*;
    use crate::chart::{Axis, Scale};

    fn made() -> Made {
        let claim = |text: &str, holds| {
            Claim::new(text, "a < b").judged("a | b", holds).because("it is hot")
        };
        Made {
            figure: find("SS98-9").unwrap(),
            findings: Findings {
                setup: "somewhere".to_owned(),
                panels: vec![Panel::new(
                    Axis::new("processors", Scale::Log2),
                    Axis::new("latency (cycles)", Scale::Linear),
                    vec![
                        curve("one", &[(1.0, 2.5), (2.0, f64::NAN)]),
                        curve("two, wide", &[(2.0, 300.0)]),
                    ],
                )],
                claims: vec![
                    claim("good", Some(true)),
                    claim("bad", Some(false)),
                    claim("small", None),
                ],
            },
        }
    }

    #[test]
    fn numbers_are_in_the_table_and_the_csv() {
        let csv = csv_text(&made().findings.panels[0]);
        assert_eq!(
            csv,
            "series,processors,latency (cycles),min,max\none,1,2.5,2.5,2.5\none,2,NaN,NaN,NaN\n\
             \"two, wide\",2,300,300,300\n"
        );
        let text = text(&made());
        let rows: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(rows.contains(&vec!["1", "2.50", "-"]), "{text}");
        assert!(rows.contains(&vec!["2", "NaN", "300"]), "{text}");
    }

    #[test]
    fn verdicts_are_in_the_text_and_reasons_only_where_something_does_not_hold() {
        let text = text(&made());
        for line in ["holds          good", "does not hold  bad", "not judged     small"] {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(text.matches("why: it is hot").count(), 1);
    }

    #[test]
    fn the_summary_counts_and_explains_and_links_every_chart() {
        let mut made = made();
        made.findings.panels.push(made.findings.panels[0].clone());
        let kept: Kept = serde_json::from_str(&json_file(&made)).unwrap();
        let summary = summary(&[kept]);
        assert!(summary.contains("1 hold, 1 do not hold, 1 not judged."), "{summary}");
        let links = "[SS98-9/10](SS98-9-10.svg) [2](SS98-9-10-2.svg)";
        assert!(
            summary.contains(&format!("| {links} | good | a < b | a \\| b | holds |")),
            "{summary}"
        );
        assert!(summary.contains("| somewhere |"), "{summary}");
        assert!(summary.contains("- **SS98-9/10**, bad: it is hot\n"), "{summary}");
    }

    #[test]
    fn what_is_left_of_the_chart_is_in_the_numbers_and_said() {
        let mut made = made();
        let words = "somewhere; drawn from 2 processors on";
        assert!(!chart(&made, &made.findings.panels[0]).subtitle.contains(words));
        made.findings.panels[0].drawn_from = 2.0;
        let drawn = chart(&made, &made.findings.panels[0]);
        assert!(drawn.subtitle.contains(words), "{}", drawn.subtitle);
        assert_eq!(drawn.series[0].points.len(), 1);
        assert!(csv_text(&made.findings.panels[0]).contains("one,1,2.5"));
    }

    #[test]
    fn commands_and_notes_are_in_the_text_and_the_json() {
        let mut made = made();
        let one = &mut made.findings.panels[0].series[0];
        one.command = Some("throng simulate x".to_owned());
        one.note = Some("of survivors".to_owned());
        let text = text(&made);
        assert!(text.contains("one: throng simulate x\n"), "{text}");
        assert!(text.contains("one: of survivors\n"), "{text}");
        let json: serde_json::Value = serde_json::from_str(&json(&[made], false)).unwrap();
        assert_eq!(json["series"][0]["command"], "throng simulate x");
        assert_eq!(json["series"][0]["note"], "of survivors");
        assert!(json["series"][1].get("command").is_none());
    }

    #[test]
    fn json_is_an_object_or_a_list() {
        let one: serde_json::Value = serde_json::from_str(&json(&[made()], false)).unwrap();
        let keys: Vec<&String> = one.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["claims", "id", "series"]);
        assert_eq!(one["id"], "SS98-9/10");
        assert_eq!(one["claims"][0]["holds"], true);
        assert_eq!(one["claims"][2]["holds"], serde_json::Value::Null);
        assert_eq!(one["claims"][1]["note"], "it is hot");
        assert_eq!(one["series"][0]["points"][0]["y"], 2.5);
        let list: serde_json::Value = serde_json::from_str(&json(&[made()], true)).unwrap();
        assert_eq!(list.as_array().unwrap().len(), 1);
        assert_eq!(json(&[], true).trim(), "[]");
    }
}
