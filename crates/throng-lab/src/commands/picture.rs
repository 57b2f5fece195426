//! `throng picture`: throughput and 99th percentile side by side, as an SVG file for a README.
//!
//! It is drawn from the CSV of `throng bench everyday`. The colours follow the reader's choice of light or dark.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use throng_papers::files::{REPORT_BYTES_MAX, read_text};
use throng_papers::output;

use crate::error::Error;

/// What is typed behind `throng picture`.
#[derive(Args, Clone, Debug)]
pub struct PictureArguments {
    /// The CSV file of `throng bench everyday`
    everyday: PathBuf,

    /// The case that is drawn
    #[arg(long, default_value = "pairs-100")]
    case: String,

    /// Which queues are drawn, in the order of the legend
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "queue,array-queue,crossbeam-bounded,flume-bounded,kanal-bounded,atomic-queue"
    )]
    methods: Vec<String>,

    /// A line below the title: the machine and the date
    #[arg(long, default_value = "")]
    note: String,

    /// Write the picture to this file instead of printing it
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Draws the picture.
///
/// # Errors
/// When the file cannot be read or has no such case or method, or the picture cannot be written.
pub fn run(typed: &PictureArguments) -> Result<(), Error> {
    let svg = drawn(&typed.everyday, &typed.case, &typed.methods, &typed.note)?;
    match &typed.out {
        Some(out) => output::write_file(out, &svg)?,
        None => output::print(&svg)?,
    }
    Ok(())
}

/// Returns the picture of one case of a file.
///
/// # Errors
/// When the file cannot be read, or has no such case or method.
fn drawn(file: &Path, case: &str, methods: &[String], note: &str) -> Result<String, Error> {
    let wrong = |why: String| Error::Report { path: file.to_owned(), why };
    let text = read_text(file, REPORT_BYTES_MAX).map_err(|error| wrong(error.to_string()))?;
    let rows = rows(&text, case).map_err(&wrong)?;
    let lines: Result<Vec<Line>, Error> = methods
        .iter()
        .map(|method| {
            Line::of(method, &rows)
                .ok_or_else(|| wrong(format!("has no `{method}` in case `{case}`")))
        })
        .collect();
    let title = match case.strip_prefix("pairs-") {
        Some("untimed") => "Every thread pushes an item and pops one, again and again".to_owned(),
        Some(ns) => format!("Every thread works {ns} ns, pushes an item, works {ns} ns, pops one"),
        None => case.to_owned(),
    };
    Ok(svg(&title, note, &lines?))
}

/// One run of one method.
#[derive(Debug)]
struct Row {
    method: String,
    threads: usize,
    million_a_second: f64,
    p99_ns: f64,
}

/// Returns the runs of a case.
fn rows(text: &str, case: &str) -> Result<Vec<Row>, String> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        let place = header.iter().position(|&column| column == name);
        place.ok_or_else(|| format!("has no column `{name}`: it is not of `throng bench everyday`"))
    };
    let [in_case, threads, method, value, p99] = [
        column("case")?,
        column("threads")?,
        column("method")?,
        column("value")?,
        column("p99_ns")?,
    ];
    let mut rows = Vec::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != header.len() || fields[in_case] != case {
            continue;
        }
        let number = |place: usize| {
            fields[place].parse::<f64>().map_err(|_| format!("`{}` is not a number", fields[place]))
        };
        rows.push(Row {
            method: fields[method].to_owned(),
            threads: number(threads)? as usize,
            million_a_second: number(value)?,
            p99_ns: number(p99)?,
        });
    }
    Ok(rows)
}

/// One method, by threads.
struct Line {
    label: String,
    points: Vec<Point>,
}

#[derive(Clone, Copy)]
struct Point {
    threads: usize,
    million_a_second: f64,
    p99_us: f64,
}

impl Line {
    /// Returns the medians of the runs of a method, or `None` if there is no run.
    fn of(method: &str, rows: &[Row]) -> Option<Line> {
        let mut threads: Vec<usize> =
            rows.iter().filter(|row| row.method == method).map(|row| row.threads).collect();
        threads.sort_unstable();
        threads.dedup();
        let points = threads.into_iter().map(|threads| {
            let of = |value: fn(&Row) -> f64| {
                let mut values: Vec<f64> = rows
                    .iter()
                    .filter(|row| row.method == method && row.threads == threads)
                    .map(value)
                    .collect();
                values.sort_by(f64::total_cmp);
                values[values.len() / 2]
            };
            Point {
                threads,
                million_a_second: of(|row| row.million_a_second),
                p99_us: of(|row| row.p99_ns) / 1000.0,
            }
        });
        let points: Vec<Point> = points.collect();
        (!points.is_empty()).then(|| Line { label: label(method).to_owned(), points })
    }
}

/// Returns the name that readers know a method by.
fn label(method: &str) -> &str {
    match method {
        "queue" => "throng::Queue",
        "queue-unbounded" => "throng::Queue, unbounded",
        "pool" => "throng::Pool",
        "array-queue" => "crossbeam ArrayQueue",
        "seg-queue" => "crossbeam SegQueue",
        "crossbeam-bounded" => "crossbeam-channel",
        "crossbeam-deque" => "crossbeam-deque",
        "flume-bounded" => "flume",
        "kanal-bounded" => "kanal",
        "atomic-queue" => "atomic_queue (C++)",
        "tbb" => "oneTBB (C++)",
        other => other,
    }
}

const WIDTH: f64 = 880.0;
const HEIGHT: f64 = 384.0;
/// The left edges of the two panels, and the size of each, in pixels.
const PANELS: [f64; 2] = [56.0, 508.0];
const PANEL: (f64, f64) = (344.0, 228.0);
const PANEL_TOP: f64 = 84.0;
/// The series' colours on light and on dark ground. Okabe and Ito's palette, which colour-blind readers can tell apart.
const COLOURS: [(&str, &str); 6] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff8c42"),
    ("#009e73", "#2fd0a3"),
    ("#b85c94", "#e39bc7"),
    ("#b8860b", "#f0c04a"),
    ("#6b7280", "#a3aab5"),
];

fn svg(title: &str, note: &str, lines: &[Line]) -> String {
    let mut out = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif" font-size="13" role="img">
<title>{}</title>
<style>
.ground {{ fill: #ffffff }} .text {{ fill: #1f2328 }} .faint {{ fill: #59636e }} .grid {{ stroke: #d1d9e0 }}
"#,
        escaped(title)
    );
    for (series, (light, _)) in COLOURS.iter().enumerate() {
        let _ = writeln!(out, ".s{series} {{ stroke: {light}; fill: {light} }}");
    }
    out.push_str("@media (prefers-color-scheme: dark) {\n.ground { fill: #0d1117 } .text { fill: #e6edf3 } .faint { fill: #9198a1 } .grid { stroke: #30363d }\n");
    for (series, (_, dark)) in COLOURS.iter().enumerate() {
        let _ = writeln!(out, ".s{series} {{ stroke: {dark}; fill: {dark} }}");
    }
    let _ = write!(
        out,
        r#"}}
.line {{ fill: none; stroke-width: 2 }} .first {{ stroke-width: 3.5 }} .dot {{ stroke: none }}
</style>
<rect class="ground" width="{WIDTH}" height="{HEIGHT}" rx="6"/>
<text class="text" x="24" y="30" font-size="16" font-weight="600">{}</text>
<text class="faint" x="24" y="50">{}</text>
"#,
        escaped(title),
        escaped(note)
    );
    let most = |value: fn(&Point) -> f64| {
        lines.iter().flat_map(|line| &line.points).map(value).fold(0.0, f64::max)
    };
    let throughput = Scale::linear(most(|point| point.million_a_second));
    let latency = Scale::log10(most(|point| point.p99_us));
    panel(&mut out, 0, "million pairs a second (more is better)", lines, &throughput, |point| {
        point.million_a_second
    });
    panel(
        &mut out,
        1,
        "99th percentile of a call, µs (less is better)",
        lines,
        &latency,
        |point| point.p99_us,
    );
    for (series, line) in lines.iter().enumerate() {
        let x = 56.0 + 272.0 * (series % 3) as f64;
        let y = HEIGHT - 34.0 + 20.0 * (series / 3) as f64;
        let class = class(series);
        let _ = writeln!(
            out,
            r#"<line class="line {class}" x1="{x}" x2="{}" y1="{y}" y2="{y}"/><circle class="dot {class}" cx="{}" cy="{y}" r="4"/><text class="text" x="{}" y="{}">{}</text>"#,
            x + 26.0,
            x + 13.0,
            x + 34.0,
            y + 4.0,
            escaped(&line.label)
        );
    }
    out.push_str("</svg>\n");
    out
}

fn class(series: usize) -> String {
    format!("s{}{}", series % COLOURS.len(), if series == 0 { " first" } else { "" })
}

/// The vertical scale of a panel: from values to heights, and the grid lines.
struct Scale {
    least: f64,
    most: f64,
    is_log: bool,
    ticks: Vec<f64>,
}

impl Scale {
    fn linear(most: f64) -> Self {
        let steps = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
        let step = steps.into_iter().find(|step| most / step <= 5.0).unwrap_or(200.0);
        let count = (most / step).ceil();
        let ticks = (0..=count as usize).map(|tick| tick as f64 * step).collect();
        Scale { least: 0.0, most: count * step, is_log: false, ticks }
    }

    /// Returns a log scale from 0.1 on.
    fn log10(most: f64) -> Self {
        let ticks: Vec<f64> = (-1..6).map(|power| 10f64.powi(power)).collect();
        let last = ticks.iter().position(|&tick| tick >= most).unwrap_or(ticks.len() - 1);
        Scale { least: 0.05, most: ticks[last], is_log: true, ticks: ticks[..=last].to_vec() }
    }

    /// Returns the height of a value in its panel, from the top.
    fn y(&self, value: f64) -> f64 {
        let part = if self.is_log {
            (value.max(self.least) / self.least).ln() / (self.most / self.least).ln()
        } else {
            value / self.most
        };
        PANEL_TOP + PANEL.1 * (1.0 - part)
    }
}

fn panel(
    out: &mut String,
    number: usize,
    title: &str,
    lines: &[Line],
    scale: &Scale,
    value: impl Fn(&Point) -> f64,
) {
    let left = PANELS[number];
    let _ =
        writeln!(out, r#"<text class="text" x="{left}" y="{}">{title}</text>"#, PANEL_TOP - 12.0);
    for &tick in &scale.ticks {
        let y = scale.y(tick);
        let _ = writeln!(
            out,
            r#"<line class="grid" x1="{left}" x2="{:.1}" y1="{y:.1}" y2="{y:.1}"/><text class="faint" x="{}" y="{:.1}" text-anchor="end">{tick}</text>"#,
            left + PANEL.0,
            left - 8.0,
            y + 4.0
        );
    }
    let most = lines.iter().flat_map(|line| &line.points).map(|point| point.threads).max();
    let most = (most.unwrap_or(1).max(2) as f64).log2();
    let x = |threads: usize| left + 8.0 + (PANEL.0 - 16.0) * (threads as f64).log2() / most;
    let bottom = PANEL_TOP + PANEL.1 + 18.0;
    for point in
        lines.iter().max_by_key(|line| line.points.len()).map_or(&[][..], |line| &line.points)
    {
        let threads = match point.threads {
            1 => "1 thread".to_owned(),
            several => several.to_string(),
        };
        let _ = writeln!(
            out,
            r#"<text class="faint" x="{:.1}" y="{bottom}" text-anchor="middle">{threads}</text>"#,
            x(point.threads)
        );
    }
    // The first series is on top of the others.
    for (series, line) in lines.iter().enumerate().rev() {
        let class = class(series);
        let places: Vec<(f64, f64)> =
            line.points.iter().map(|point| (x(point.threads), scale.y(value(point)))).collect();
        let points: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(out, r#"<polyline class="line {class}" points="{}"/>"#, points.join(" "));
        for (x, y) in places {
            let _ = writeln!(out, r#"<circle class="dot {class}" cx="{x:.1}" cy="{y:.1}" r="4"/>"#);
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str = "group,case,threads,method,value,p99_ns\n\
        pairs,pairs-100,1,queue,8.0,100\npairs,pairs-100,2,queue,4.0,900\npairs,pairs-100,2,queue,6.0,1100\n\
        pairs,pairs-100,2,queue,5.0,1000\npairs,pairs-0,1,queue,99,1\npairs,pairs-100,1,<b>,7.0,200\n";

    #[test]
    fn a_line_has_the_medians_of_its_case() {
        let line = Line::of("queue", &rows(CSV, "pairs-100").unwrap()).unwrap();
        let points: Vec<_> = line
            .points
            .iter()
            .map(|point| (point.threads, point.million_a_second, point.p99_us))
            .collect();
        assert_eq!(points, [(1, 8.0, 0.1), (2, 5.0, 1.0)]);
        assert!(Line::of("seg-queue", &rows(CSV, "pairs-100").unwrap()).is_none());
        assert!(rows("a,b\n1,2\n", "pairs-100").unwrap_err().contains("no column `case`"));
    }

    #[test]
    fn a_picture_shows_larger_values_higher_and_names_as_text() {
        let rows = rows(CSV, "pairs-100").unwrap();
        let lines: Vec<Line> =
            ["queue", "<b>"].iter().map(|method| Line::of(method, &rows).unwrap()).collect();
        let svg = svg("a & b", "", &lines);
        assert!(svg.contains("a &amp; b") && svg.contains("&lt;b&gt;") && !svg.contains("<b>"));
        let scale = Scale::linear(8.0);
        assert!(scale.y(8.0) < scale.y(5.0) && scale.y(0.0) == PANEL_TOP + PANEL.1);
        let scale = Scale::log10(60.0);
        assert!((scale.y(1.0) - scale.y(10.0) - (scale.y(10.0) - scale.y(100.0))).abs() < 1e-9);
    }

    /// The picture in the repository must be what this program draws from the committed result.
    #[test]
    fn the_committed_picture_is_that_of_its_result() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let committed = std::fs::read_to_string(root.join("docs/queues.svg")).unwrap();
        let again = committed_picture(&root);
        assert!(
            again == committed,
            "throng picture, as docs/lab.md has it, makes another docs/queues.svg"
        );
    }

    fn committed_picture(root: &Path) -> String {
        let typed = <crate::commands::Arguments as clap::Parser>::try_parse_from([
            "throng",
            "picture",
            "results/2026-11-19-everyday-xeon-16-cores/everyday.csv",
            "--note",
            NOTE,
        ]);
        let crate::commands::Command::Picture(typed) = typed.unwrap().command.unwrap() else {
            unreachable!("it says so")
        };
        drawn(&root.join(&typed.everyday), &typed.case, &typed.methods, &typed.note).unwrap()
    }

    const NOTE: &str = "Bounded queues with room for 4096 items, on 16 cores of an Intel Xeon, 2026-11-19; medians of 3 runs";
}
