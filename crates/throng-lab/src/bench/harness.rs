//! What all benchmarks have in common: their description, the order of their runs, the record of every single number,
//! and the files that are written.

use std::path::PathBuf;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use throng_papers::output::{self, JsonTarget, OutputFile};

use super::setup::{Pinning, Setup};
use super::stats::Stats;
use crate::error::Error;

/// A benchmark with its resolved arguments: what is measured, and how that is told.
pub(crate) trait Benchmark {
    /// One run.
    type Sample: Serialize;
    /// All repetitions of one contender in one place.
    type Cell: Serialize;

    /// The columns of the CSV: fields of a sample, also those of its latency.
    const COLUMNS: &[&str] = &[];

    /// Returns its name in files.
    fn name(&self) -> &'static str;

    /// Returns the cores of its threads.
    fn pinning(&self) -> Pinning {
        Pinning::find()
    }

    /// Returns the machine as the record has it.
    fn setup(&self, pinning: &Pinning) -> Setup {
        Setup::look(pinning)
    }

    /// Makes all runs, and checks their results.
    ///
    /// # Errors
    /// When a structure fails its check, or threads or processes cannot be started.
    fn measure(&self, pinning: &Pinning) -> Result<Vec<Self::Sample>, Error>;

    /// Sums up the samples: the numbers of the tables.
    fn cells(&self, samples: &[Self::Sample]) -> Vec<Self::Cell>;

    /// Returns the text for the terminal.
    fn text(&self, setup: &Setup, cells: &[Self::Cell]) -> String;

    /// Returns what was asked for: fields of the record with their names.
    fn asked(&self, cells: &[Self::Cell]) -> Vec<(&'static str, Value)>;

    /// Returns every run as CSV.
    fn csv(&self, samples: &[Self::Sample]) -> String {
        csv(Self::COLUMNS, samples)
    }
}

/// Measures, prints the text, and writes the files.
///
/// # Errors
/// When a structure fails its check, threads or processes cannot be started, or a result cannot be written.
pub(crate) fn run<B: Benchmark>(benchmark: &B, files: Files) -> Result<(), Error> {
    let pinning = benchmark.pinning();
    let setup = benchmark.setup(&pinning);
    let samples = benchmark.measure(&pinning)?;
    let cells = benchmark.cells(&samples);
    let text = benchmark.text(&setup, &cells);
    let record = Record { benchmark, setup: &setup, summary: &cells, runs: &samples };
    if let Some(file) = &files.csv {
        file.write(&benchmark.csv(&samples))?;
    }
    if let Some(folder) = &files.folder {
        let name = benchmark.name();
        let write = |extension, content: &str| {
            output::write_file(&folder.join(format!("{name}.{extension}")), content)
        };
        write("txt", &text)?;
        write("json", &output::json(&record))?;
        write("csv", &benchmark.csv(&samples))?;
    }
    Ok(output::publish(&text, files.json, &record)?)
}

/// Where the numbers go. All of it is found to be writable before anything is measured.
#[derive(Debug, Default)]
pub(crate) struct Files {
    json: Option<JsonTarget>,
    csv: Option<OutputFile>,
    folder: Option<PathBuf>,
}

impl Files {
    /// Opens the file of `--json`, or standard output.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn json(self, path: Option<&PathBuf>) -> Result<Self, Error> {
        Ok(Files { json: JsonTarget::open(path)?, ..self })
    }

    /// Opens the file of `--csv`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn csv(self, path: Option<&PathBuf>) -> Result<Self, Error> {
        let csv = path.map(|path| OutputFile::open("--csv", path.clone())).transpose()?;
        Ok(Files { csv, ..self })
    }

    /// Makes the folder of `--out`, for all files and the text.
    ///
    /// # Errors
    /// When files cannot be made in it.
    pub(crate) fn folder(self, path: Option<&PathBuf>) -> Result<Self, Error> {
        path.map(|path| output::make_folder(path)).transpose()?;
        Ok(Files { folder: path.cloned(), ..self })
    }
}

/// Returns these fields of each run as CSV. A field that a run does not have is looked for in its latency, and
/// otherwise left empty.
pub(super) fn csv(columns: &[&str], runs: &[impl Serialize]) -> String {
    let cell = |run: &Value, column: &str| match run.get(column).or(run["latency"].get(column)) {
        Some(Value::String(text)) => text.clone(),
        // As `f64` writes it: 100, not 100.0.
        Some(Value::Number(number)) if number.is_f64() => {
            number.as_f64().map_or(String::new(), |number| number.to_string())
        }
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let row = |run| {
        let run = serde_json::to_value(run).expect("numbers and texts can always be written");
        columns.iter().map(|column| cell(&run, column)).collect()
    };
    throng_papers::csv::csv(columns, &runs.iter().map(row).collect::<Vec<_>>())
}

/// Measures all places in turn, `repetitions` times over. So a disturbance from outside hits all of them alike, and none
/// in every repetition. `measure` gets the number of the repetition, from 0, and may have nothing to add.
pub(super) fn in_turn<P, S>(
    repetitions: usize,
    places: &[P],
    name: impl Fn(&P) -> String,
    mut measure: impl FnMut(&P, usize) -> Result<Option<S>, Error>,
) -> Result<Vec<S>, Error> {
    // The bar moves between runs only, so that drawing it disturbs no measurement.
    let progress = output::progress_bar(places.len() * repetitions);
    let mut samples = Vec::with_capacity(places.len() * repetitions);
    for repetition in 0..repetitions {
        for place in places {
            progress.set_message(name(place));
            samples.extend(measure(place, repetition)?);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(samples)
}

/// Returns each place in the order of its first sample, with the statistics of all samples there.
pub(super) fn by_place<S, P: PartialEq>(
    samples: &[S],
    place: impl Fn(&S) -> P,
    number: impl Fn(&S) -> f64,
) -> impl Iterator<Item = (P, Stats)> {
    let mut places: Vec<P> = Vec::new();
    for here in samples.iter().map(&place) {
        if !places.contains(&here) {
            places.push(here);
        }
    }
    places.into_iter().filter_map(move |here| {
        let same = samples.iter().filter(|sample| place(sample) == here);
        Stats::of(same.map(&number)).map(|stats| (here, stats))
    })
}

/// The JSON output, in the order of the fields.
pub(super) struct Record<'a, B: Benchmark> {
    pub(super) benchmark: &'a B,
    pub(super) setup: &'a Setup,
    pub(super) summary: &'a [B::Cell],
    pub(super) runs: &'a [B::Sample],
}

impl<B: Benchmark> Serialize for Record<'_, B> {
    fn serialize<W: Serializer>(&self, writer: W) -> Result<W::Ok, W::Error> {
        let mut map = writer.serialize_map(None)?;
        map.serialize_entry("throng", env!("CARGO_PKG_VERSION"))?;
        map.serialize_entry("benchmark", self.benchmark.name())?;
        map.serialize_entry("setup", self.setup)?;
        for (name, value) in self.benchmark.asked(self.summary) {
            map.serialize_entry(name, &value)?;
        }
        map.serialize_entry("summary", self.summary)?;
        map.serialize_entry("runs", self.runs)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bench::setup::Pinning;

    #[test]
    fn each_place_is_measured_once_in_each_repetition() {
        let measure = |&place: &char, repetition| Ok((place != 'b').then_some((place, repetition)));
        let samples = in_turn(2, &['a', 'b', 'c'], char::to_string, measure).unwrap();
        assert_eq!(samples, [('a', 0), ('c', 0), ('a', 1), ('c', 1)]);
    }

    /// Counts to three.
    struct Counts;

    #[derive(serde::Serialize)]
    struct Sample {
        count: usize,
        seconds: f64,
        latency: Value,
    }

    impl Benchmark for Counts {
        type Sample = Sample;
        type Cell = f64;

        const COLUMNS: &[&str] = &["count", "seconds", "p99_ns", "unknown"];

        fn name(&self) -> &'static str {
            "counts"
        }

        fn measure(&self, _: &Pinning) -> Result<Vec<Sample>, Error> {
            Ok(vec![Sample { count: 3, seconds: 2.0, latency: json!({"p99_ns": 1.5}) }])
        }

        fn cells(&self, samples: &[Sample]) -> Vec<f64> {
            samples.iter().map(|sample| sample.seconds).collect()
        }

        fn text(&self, _: &Setup, cells: &[f64]) -> String {
            format!("{cells:?}")
        }

        fn asked(&self, _: &[f64]) -> Vec<(&'static str, Value)> {
            vec![("threads", json!([2])), ("repetitions", json!(1))]
        }
    }

    #[test]
    fn a_record_has_its_fields_in_order() {
        let (setup, samples) = (Setup::look(&Pinning::none()), Counts.measure(&Pinning::none()));
        let samples = samples.unwrap();
        let cells = Counts.cells(&samples);
        let record = Record { benchmark: &Counts, setup: &setup, summary: &cells, runs: &samples };
        let text = serde_json::to_string(&record).unwrap();
        let order = ["throng", "benchmark", "setup", "threads", "repetitions", "summary", "runs"];
        let places = order.map(|name| text.find(&format!("\"{name}\":")).unwrap());
        assert!(places.is_sorted(), "{text}");
        assert!(text.contains("\"threads\":[2],\"repetitions\":1,\"summary\":[2.0],"), "{text}");
    }

    #[test]
    fn every_file_has_its_part() {
        let folder = std::env::temp_dir().join(format!("throng-harness-{}", std::process::id()));
        let table = folder.join("table.csv");
        let files = Files::default().json(Some(&folder.join("all.json")));
        assert!(files.is_err(), "there is no folder yet");
        let files = Files::default().folder(Some(&folder)).unwrap().csv(Some(&table)).unwrap();
        run(&Counts, files).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(read("table.csv"), "count,seconds,p99_ns,unknown\n3,2,1.5,\n");
        assert_eq!(read("counts.csv"), read("table.csv"));
        assert_eq!(read("counts.txt"), "[2.0]");
        let json: Value = serde_json::from_str(&read("counts.json")).unwrap();
        assert_eq!(json["runs"][0]["count"], 3);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn repetitions_of_a_place_belong_together() {
        let samples = [("b", 1.0), ("a", 5.0), ("b", 3.0)];
        let places: Vec<(&str, f64)> = by_place(&samples, |one| one.0, |one| one.1)
            .map(|(place, stats)| (place, stats.median))
            .collect();
        assert_eq!(places, [("b", 2.0), ("a", 5.0)]);
    }
}
