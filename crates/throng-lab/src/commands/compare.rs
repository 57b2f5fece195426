//! `throng compare`: what got faster or slower between two surveys.

use clap::Args;
use throng_papers::arguments::not_allowed;
use throng_papers::output;

use crate::compare::{Comparison, LEAST_PERCENT, text};
use crate::error::Error;
use crate::survey::read::read;

const MOST_PERCENT: f64 = 1000.0;

/// Arguments of `throng compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// What `throng bench --json` has written before
    #[arg(value_name = "OLD.json")]
    pub old: std::path::PathBuf,

    /// And now
    #[arg(value_name = "NEW.json")]
    pub new: std::path::PathBuf,

    /// Smallest change that counts, in percent; larger on a noisy machine [default: 10]
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    pub least: Option<String>,

    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Compares two surveys.
///
/// # Errors
/// When something got slower, a file is none of a survey, or the two have nothing in common.
pub fn run(typed: &CompareArguments) -> Result<(), Error> {
    let least_percent = least_percent(typed.least.as_deref())?;
    let comparison = Comparison::of(&read(&typed.old)?, &read(&typed.new)?, least_percent);
    if comparison.judged.changes.is_empty() {
        return Err(Error::NothingInCommon { old: typed.old.clone(), new: typed.new.clone() });
    }
    let text = if typed.json { output::json(&comparison) } else { text::text(&comparison) };
    output::print(&text)?;
    match comparison.slower_structures {
        0 => Ok(()),
        count => Err(Error::Slower { count }),
    }
}

fn least_percent(typed: Option<&str>) -> Result<f64, Error> {
    let Some(typed) = typed else { return Ok(LEAST_PERCENT) };
    let percent = typed.trim().trim_end_matches('%').trim_end().parse::<f64>();
    percent.ok().filter(|percent| (0.0..=MOST_PERCENT).contains(percent)).ok_or_else(|| {
        not_allowed("--least", typed, format!("a number of percent from 0 to {MOST_PERCENT}"))
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_numbers() {
        assert_eq!(least_percent(None).unwrap(), 10.0);
        assert_eq!(least_percent(Some("2.5")).unwrap(), 2.5);
        assert_eq!(least_percent(Some("5 %")).unwrap(), 5.0);
        for wrong in ["", "-1", "many", "NaN", "inf", "1001"] {
            let said = least_percent(Some(wrong)).unwrap_err().to_string();
            assert!(said.ends_with("must be a number of percent from 0 to 1000"), "{said}");
        }
    }
}
