//! Reads a survey back from what `throng bench --json` has written.

use std::path::Path;

use serde_json::Value;
use throng_papers::files::{self, REPORT_BYTES_MAX};

use super::BENCHMARK;
use super::document::Survey;
use crate::error::Error;

/// Reads a survey.
///
/// # Errors
/// When the file cannot be read, has more than 64 MiB, is not JSON, or is the JSON of something else.
pub fn read(path: &Path) -> Result<Survey, Error> {
    let text = files::read_text(path, REPORT_BYTES_MAX)
        .map_err(|error| wrong(path, &error.to_string()))?;
    parse(&text).map_err(|why| wrong(path, &why))
}

fn wrong(path: &Path, why: &str) -> Error {
    Error::Report { path: path.to_owned(), why: why.to_owned() }
}

/// Parses a survey; the error says what the text is instead.
fn parse(text: &str) -> Result<Survey, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    match value.get("benchmark").and_then(Value::as_str) {
        Some(BENCHMARK) => {}
        Some(other) => {
            return Err(format!(
                "written by `throng bench {other}`; what is needed is what `throng bench --json FILE` \
                 writes, without the name of one kind"
            ));
        }
        None => {
            return Err("JSON, but not what `throng bench --json FILE` writes".to_owned());
        }
    }
    // From the text, not from the value: then the error has a line number.
    serde_json::from_str(text).map_err(|error| format!("a survey of another version? {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_survey_is_told_apart() {
        let cases = [
            ("", "not JSON: EOF"),
            ("{", "not JSON: EOF"),
            ("[1, 2]", "JSON, but not what `throng bench --json FILE` writes"),
            (r#"{"benchmark": "queues"}"#, "written by `throng bench queues`; "),
            (r#"{"benchmark": "survey"}"#, "a survey of another version? missing field"),
        ];
        for (text, said) in cases {
            let why = parse(text).unwrap_err();
            assert!(why.starts_with(said), "{text}: {why}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = read(Path::new("no/such/report.json")).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let said = error.to_string();
        assert!(said.starts_with("report no/such/report.json: No such file"), "{said}");
    }
}
