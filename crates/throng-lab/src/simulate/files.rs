//! Writes the report into a folder, for later use or for other programs.

use std::fs;
use std::io;
use std::path::Path;

use throng_papers::chart::{Axis, Chart, Look, Scale, Series};
use throng_papers::csv::csv;
use throng_papers::error::Error;
use throng_papers::output;
use throng_papers::workloads::measured::Measured;

use super::report::Report;
use super::text;

/// All files that [`write`] may write.
const NAMES: [&str; 8] = [
    "report.txt",
    "report.json",
    "lines.csv",
    "processors.csv",
    "latency.csv",
    "latency.svg",
    "depth.csv",
    "depth.svg",
];

/// Writes `report.txt`, `report.json`, `latency.csv` and `latency.svg` (the distribution of
/// latencies), `lines.csv` (the traffic of each line of memory), `processors.csv` (the values of
/// each processor), and for trees `depth.csv` and `depth.svg`. Files of an earlier run are removed
/// first.
///
/// # Errors
/// When a file cannot be written, or an old one not be removed.
pub fn write(folder: &Path, report: &Report, measured: &Measured) -> Result<(), Error> {
    let write = |name: &str, text: &str| output::write_file(&folder.join(name), text);
    NAMES.iter().try_for_each(|name| remove(&folder.join(name)))?;
    write("report.txt", &text::render(report))?;
    write("report.json", &output::json(report))?;
    write("lines.csv", &lines_csv(measured))?;
    write("processors.csv", &processors_csv(measured))?;
    let shares = latency_shares(measured);
    write("latency.csv", &csv(&["cycles", "calls", "share_not_longer"], &shares_rows(&shares)))?;
    if !shares.is_empty() {
        write("latency.svg", &latency_chart(report, &shares).svg()?)?;
    }
    if !report.depth.is_empty() {
        write("depth.csv", &depth_csv(report))?;
        write("depth.svg", &depth_chart(report).svg()?)?;
    }
    Ok(())
}

/// Removes a file if it is there.
fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::Write { to: path.display().to_string(), source: error })
        }
        _ => Ok(()),
    }
}

/// A step of the distribution: `calls` calls took `cycles` cycles, and the share `not_longer` of
/// all took no longer.
struct Share {
    cycles: u64,
    calls: u64,
    not_longer: f64,
}

fn latency_shares(measured: &Measured) -> Vec<Share> {
    let all = measured.latency.len().max(1) as f64;
    let mut so_far = 0;
    let share = |recorded: hdrhistogram::iterators::IterationValue<u64>| {
        so_far += recorded.count_at_value();
        Share {
            // A step of the histogram is written as its upper end, which may be above the longest.
            cycles: recorded.value_iterated_to().min(measured.latency_cycles_max),
            calls: recorded.count_at_value(),
            not_longer: so_far as f64 / all,
        }
    };
    measured.latency.iter_recorded().map(share).collect()
}

fn shares_rows(shares: &[Share]) -> Vec<Vec<String>> {
    let row = |share: &Share| {
        vec![share.cycles.to_string(), share.calls.to_string(), share.not_longer.to_string()]
    };
    shares.iter().map(row).collect()
}

fn lines_csv(measured: &Measured) -> String {
    let row = |(place, traffic): &(throng::machine::Place, throng_sim::Traffic)| {
        vec![
            place.to_string(),
            traffic.hits.to_string(),
            traffic.misses.to_string(),
            traffic.invalidations.to_string(),
            traffic.waited_cycles.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = measured.memory.lines.iter().map(row).collect();
    csv(&["line", "hits", "misses", "invalidations", "waited_cycles"], &rows)
}

fn processors_csv(measured: &Measured) -> String {
    let rows: Vec<Vec<String>> = (measured.per_processor.iter().enumerate())
        .map(|(processor, values)| vec![processor.to_string(), values.to_string()])
        .collect();
    csv(&["processor", "values"], &rows)
}

fn depth_csv(report: &Report) -> String {
    let rows: Vec<Vec<String>> = (report.depth.iter())
        .map(|d| vec![d.start_cycle.to_string(), d.calls.to_string(), d.depth_mean.to_string()])
        .collect();
    csv(&["start_cycle", "calls", "depth_mean"], &rows)
}

fn latency_chart(report: &Report, shares: &[Share]) -> Chart {
    // A logarithmic axis cannot show 0 cycles.
    let points = shares.iter().map(|s| (s.cycles.max(1) as f64, s.not_longer * 100.0)).collect();
    Chart {
        title: "Latency".to_owned(),
        subtitle: subtitle(report),
        x: Axis::new("latency (cycles)", Scale::Log10),
        y: Axis::new("calls that took no longer (%)", Scale::Linear),
        series: vec![Series { name: report.method.to_owned(), points, look: Look::Line }],
        marks: Vec::new(),
    }
}

fn depth_chart(report: &Report) -> Chart {
    let points = report.depth.iter().map(|d| (d.start_cycle as f64, d.depth_mean)).collect();
    Chart {
        title: "Depth of the tree".to_owned(),
        subtitle: subtitle(report),
        x: Axis::new("time (cycles)", Scale::Linear),
        y: Axis::new("mean depth", Scale::Linear),
        series: vec![Series { name: report.method.to_owned(), points, look: Look::Line }],
        marks: Vec::new(),
    }
}

fn subtitle(report: &Report) -> String {
    format!("{} on {}, {} processors", report.method, report.machine_in_words, report.processors)
}
