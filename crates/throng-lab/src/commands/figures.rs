//! `throng figure` and `throng figures`: the figures of the papers, made again.

use std::path::PathBuf;

use clap::Args;
use throng_papers::arguments::optional;
use throng_papers::error::Error;
use throng_papers::figures::lab::Lab;
use throng_papers::figures::{self, Figure, FiguresPlan, figures, find};
use throng_papers::output;

use crate::threads::cores;

/// Options of `throng figure` and `throng figures`.
#[derive(Debug, Default, Args)]
pub struct FigureOptions {
    /// Everything tiny, to see that it works: a few seconds; claims are not judged
    #[arg(long)]
    pub smoke: bool,

    /// The seed of the first repetition of each run; the others follow [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<String>,

    /// The folder for the files; it is made if it is not there [default: figures, of a small test
    /// figures-smoke]
    #[arg(long, value_name = "DIR")]
    pub out: Option<std::path::PathBuf>,

    /// Print JSON and nothing else on standard output
    #[arg(long)]
    pub json: bool,

    /// On how many threads runs are simulated; the results are the same [default: the cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<String>,
}

/// The default folder for files.
const OUT: &str = "figures";
/// The default folder of a small test, which must not overwrite measured figures.
const OUT_SMOKE: &str = "figures-smoke";

const MAX_THREADS: usize = 1024;

/// Makes one figure.
///
/// # Errors
/// When the figure is unknown, a value not allowed or the folder not writable.
pub fn run_one(id: &str, options: &FigureOptions) -> Result<(), Error> {
    figures::run(&one(id, options)?)
}

/// Makes the figures of these names; all where no name is given.
///
/// # Errors
/// When a figure is unknown, a value not allowed or the folder not writable.
pub fn run(ids: &[String], options: &FigureOptions) -> Result<(), Error> {
    figures::run(&many(ids, options)?)
}

fn one(id: &str, options: &FigureOptions) -> Result<FiguresPlan, Error> {
    resolve(vec![find(id)?], options, false)
}

fn many(ids: &[String], options: &FigureOptions) -> Result<FiguresPlan, Error> {
    let chosen = ids.iter().map(|id| find(id)).collect::<Result<Vec<_>, _>>()?;
    let is_chosen =
        |figure: &&Figure| chosen.is_empty() || chosen.iter().any(|c| c.id == figure.id);
    resolve(figures().iter().filter(is_chosen).collect(), options, true)
}

fn resolve(
    figures: Vec<&'static Figure>,
    options: &FigureOptions,
    all_in_one: bool,
) -> Result<FiguresPlan, Error> {
    // Seeds are consecutive: leave room above the first.
    let seed = optional("--seed", options.seed.as_deref(), 0..=usize::MAX / 2)?.unwrap_or(1);
    let threads = optional("--threads", options.threads.as_deref(), 1..=MAX_THREADS)?;
    let usual = if options.smoke { OUT_SMOKE } else { OUT };
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from(usual));
    // Last, so that only a plan that is otherwise right creates a folder.
    output::make_folder(&out)?;
    Ok(FiguresPlan {
        figures,
        lab: Lab::new(options.smoke, seed as u64, threads.unwrap_or_else(cores)),
        out,
        json: options.json,
        all_in_one,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> FigureOptions {
        FigureOptions { out: Some(std::env::temp_dir()), ..FigureOptions::default() }
    }

    fn ids(typed: &[&str]) -> Vec<&'static str> {
        let typed: Vec<String> = typed.iter().map(|&id| id.to_owned()).collect();
        let plan = many(&typed, &options()).unwrap();
        plan.figures.iter().map(|figure| figure.id).collect()
    }

    #[test]
    fn figures_are_made_once_and_in_the_order_of_the_list() {
        assert_eq!(ids(&["ss98-10", "DT96-8", "SS98-9"]), ["DT96-8", "SS98-9/10"]);
        assert_eq!(ids(&[]).len(), figures().len());
    }

    #[test]
    fn mistakes_are_named() {
        let message = |options: FigureOptions| one("DT96-8", &options).unwrap_err().to_string();
        let seed = FigureOptions { seed: Some("-1".to_owned()), ..options() };
        assert!(message(seed).starts_with("--seed -1: must be a whole number from 0"));
        let threads = FigureOptions { threads: Some("0".to_owned()), ..options() };
        assert_eq!(message(threads), "--threads 0: must be a whole number from 1 to 1024");
        let out = FigureOptions { out: Some(PathBuf::from("/dev/null/x")), ..options() };
        assert!(message(out).starts_with("--out /dev/null/x: cannot be written: "));
    }
}
