//! The arguments of `throng figure` and `throng figures`, resolved and checked.

use std::path::PathBuf;

use super::lab::Lab;
use super::{Figure, figures, find};
use crate::cli::FigureOptions;
use crate::error::Error;
use crate::output;
use crate::plan::{cores, optional};
use crate::table::{Align, aligned};

/// Where files go if nobody says otherwise.
const OUT: &str = "figures";
/// The same of a small test, which must not take the place of what was measured.
const OUT_SMOKE: &str = "figures-smoke";

const MAX_THREADS: usize = 1024;

/// The figures there are, for the help.
pub(crate) fn list() -> String {
    let row = |figure: &Figure| vec![format!("  {}", figure.id), figure.title.to_owned()];
    let rows: Vec<Vec<String>> = figures().iter().map(row).collect();
    format!("Figures:\n{}", aligned(&rows, &[Align::Left; 2]))
}

/// What `throng figure` or `throng figures` will do.
#[derive(Debug)]
pub struct FiguresPlan {
    /// Which, in the order of the list.
    pub figures: Vec<&'static Figure>,
    /// How large, from which seed, on how many threads.
    pub lab: Lab,
    /// Where files go; the folder exists and can be written.
    pub out: PathBuf,
    /// Whether standard output carries JSON alone.
    pub json: bool,
    /// Whether there is also a summary of all, and the JSON is a list.
    pub all_in_one: bool,
}

impl FiguresPlan {
    /// Resolves `throng figure ID`.
    ///
    /// # Errors
    /// When the figure is unknown, a value not allowed or the folder not writable.
    pub fn one(id: &str, options: &FigureOptions) -> Result<Self, Error> {
        Self::resolve(vec![find(id)?], options, false)
    }

    /// Resolves `throng figures ID...`: all where none is named.
    ///
    /// # Errors
    /// When a figure is unknown, a value not allowed or the folder not writable.
    pub fn many(ids: &[String], options: &FigureOptions) -> Result<Self, Error> {
        let chosen = ids.iter().map(|id| find(id)).collect::<Result<Vec<_>, _>>()?;
        let is_chosen =
            |figure: &&Figure| chosen.is_empty() || chosen.iter().any(|c| c.id == figure.id);
        Self::resolve(figures().iter().filter(is_chosen).collect(), options, true)
    }

    fn resolve(
        figures: Vec<&'static Figure>,
        options: &FigureOptions,
        all_in_one: bool,
    ) -> Result<Self, Error> {
        // Seeds follow each other: some room is left above.
        let seed = optional("--seed", options.seed.as_deref(), 0..=usize::MAX / 2)?.unwrap_or(1);
        let threads = optional("--threads", options.threads.as_deref(), 1..=MAX_THREADS)?;
        let usual = if options.smoke { OUT_SMOKE } else { OUT };
        let out = options.out.clone().unwrap_or_else(|| PathBuf::from(usual));
        // Last: only a plan that is right in all else may create a folder.
        output::make_folder(&out)?;
        Ok(FiguresPlan {
            figures,
            lab: Lab::new(options.smoke, seed as u64, threads.unwrap_or_else(cores)),
            out,
            json: options.json,
            all_in_one,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> FigureOptions {
        FigureOptions { out: Some(std::env::temp_dir()), ..FigureOptions::default() }
    }

    fn ids(typed: &[&str]) -> Vec<&'static str> {
        let typed: Vec<String> = typed.iter().map(|&id| id.to_owned()).collect();
        let plan = FiguresPlan::many(&typed, &options()).unwrap();
        plan.figures.iter().map(|figure| figure.id).collect()
    }

    #[test]
    fn figures_are_made_once_and_in_the_order_of_the_list() {
        assert_eq!(ids(&["ss98-10", "DT96-8", "SS98-9"]), ["DT96-8", "SS98-9/10"]);
        assert_eq!(ids(&[]).len(), figures().len());
    }

    #[test]
    fn mistakes_are_named() {
        let message =
            |options: FigureOptions| FiguresPlan::one("DT96-8", &options).unwrap_err().to_string();
        let seed = FigureOptions { seed: Some("-1".to_owned()), ..options() };
        assert!(message(seed).starts_with("--seed -1: must be a whole number from 0"));
        let threads = FigureOptions { threads: Some("0".to_owned()), ..options() };
        assert_eq!(message(threads), "--threads 0: must be a whole number from 1 to 1024");
        let out = FigureOptions { out: Some(PathBuf::from("/dev/null/x")), ..options() };
        assert!(message(out).starts_with("--out /dev/null/x: cannot be written: "));
    }
}
