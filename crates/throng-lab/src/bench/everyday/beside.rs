//! Reads numbers that another program has measured in the same cases: `--beside`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use throng_papers::files::{self, REPORT_BYTES_MAX};

use super::Sample;
use super::contenders::Kind;
use super::contenders::Row;
use crate::bench::latency::Latency;
use crate::error::Error;

/// The `benchmark` of such a file.
const BENCHMARK: &str = "everyday-peers";

/// The runs of another program.
#[derive(Debug)]
pub struct Beside {
    /// The file.
    pub path: PathBuf,
    /// The contenders.
    pub rows: Vec<Row>,
    /// Every run.
    pub samples: Vec<Sample>,
}

#[derive(Deserialize)]
struct Document {
    benchmark: String,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    name: String,
    kind: Kind,
    case: String,
    threads: usize,
    repetition: usize,
    million_per_second: f64,
    latency: Option<Latency>,
    fairness: Option<f64>,
    checked: u64,
}

impl Beside {
    /// Reads what `peers/everyday` has written.
    ///
    /// # Errors
    /// When the file cannot be read or is something else.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |why: String| Error::Report { path: path.to_owned(), why };
        let text =
            files::read_text(path, REPORT_BYTES_MAX).map_err(|error| wrong(error.to_string()))?;
        let document: Document = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("not the numbers of `peers/everyday`: {error}")))?;
        if document.benchmark != BENCHMARK {
            let other = document.benchmark;
            return Err(wrong(format!("its benchmark is {other:?} and not {BENCHMARK:?}")));
        }
        let mut beside = Beside { path: path.to_owned(), rows: Vec::new(), samples: Vec::new() };
        document.runs.into_iter().for_each(|run| beside.add(run));
        Ok(beside)
    }

    fn add(&mut self, run: Run) {
        let row = Row { name: run.name.clone(), kind: run.kind, is_ours: false };
        if !self.rows.contains(&row) {
            self.rows.push(row);
        }
        self.samples.push(Sample {
            case: run.case,
            threads: run.threads,
            method: run.name,
            repetition: run.repetition,
            value: run.million_per_second,
            latency: run.latency,
            fairness: run.fairness,
            checked: run.checked,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read(name: &str, text: &str) -> Result<Beside, Error> {
        let path = std::env::temp_dir().join(format!("throng-{}-{name}", std::process::id()));
        fs::write(&path, text).unwrap();
        let beside = Beside::read(&path);
        fs::remove_file(&path).unwrap();
        beside
    }

    #[test]
    fn runs_become_samples_and_rows() {
        let run = r#"{"name": "ring", "kind": "bounded", "case": "pairs-0", "threads": 4, "repetition": 1,
            "million_per_second": 7.5, "fairness": 0.9, "checked": 100, "latency":
            {"p50_ns": 10, "p99_ns": 20, "p999_ns": 30, "max_ns": 40}}"#;
        let text =
            format!(r#"{{"benchmark": "everyday-peers", "cores": 4, "runs": [{run}, {run}]}}"#);
        let beside = read("right.json", &text).unwrap();
        let row = Row { name: "ring".to_owned(), kind: Kind::Bounded, is_ours: false };
        assert_eq!((beside.rows, beside.samples.len()), (vec![row], 2));
        let sample = &beside.samples[0];
        assert_eq!((sample.value, sample.latency.unwrap().p999_ns), (7.5, 30.0));
    }

    #[test]
    fn another_file_is_refused() {
        let error = |text| read("wrong.json", text).unwrap_err().to_string();
        assert!(error("{}").contains("not the numbers of `peers/everyday`"));
        let other = error(r#"{"benchmark": "queues", "runs": []}"#);
        assert!(
            other.ends_with("its benchmark is \"queues\" and not \"everyday-peers\""),
            "{other}"
        );
        let missing = Beside::read(Path::new("/nowhere.json")).unwrap_err();
        assert_eq!(missing.exit_code(), 2);
    }
}
