//! `throng model`: which diffracting tree for how many processors.

use clap::Args;
use throng_papers::arguments::{not_allowed, number, optional};
use throng_papers::error::Error;
use throng_papers::model::Tree;
use throng_papers::model::advice::{MAX_DEPTH, Question};
use throng_papers::model::report::{ModelPlan, answer};
use throng_papers::output;

/// Arguments of `throng model`.
#[derive(Debug, Default, Args)]
pub struct ModelArguments {
    /// How many processors use the counter, each again and again
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub processors: String,

    /// Judge a tree of this depth, with 2^D counters [default: as the model advises]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub depth: Option<String>,

    /// Judge a tree with prisms of this width at the root [default: as the model advises]
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    pub prism: Option<String>,

    /// How long a processor works between two numbers, in steps [default: 0]
    #[arg(long, value_name = "W", allow_negative_numbers = true)]
    pub work: Option<String>,

    /// How many times faster a counter is than a prism; below 1 it is slower [default: 1]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub counter_speed: Option<String>,

    /// Seed of the simulated Markov chain: the same seed gives the same answer [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<String>,

    /// Write model.svg, a chart of latency against processors, and model.csv into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<std::path::PathBuf>,

    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Largest number of processors: a simulation of more takes too long.
const MAX_PROCESSORS: usize = 65_536;
const MAX_WORK: usize = 100_000;
/// Speeds of the slowest and of the fastest counter.
const SPEEDS: (f64, f64) = (0.001, 1000.0);

/// Answers the question.
///
/// # Errors
/// When a value is not allowed, or an output cannot be written.
pub fn run(typed: &ModelArguments) -> Result<(), Error> {
    answer(&resolve(typed)?)
}

fn resolve(typed: &ModelArguments) -> Result<ModelPlan, Error> {
    let processors = number(
        "--processors",
        &typed.processors,
        1..=MAX_PROCESSORS,
        &format!("a whole number from 1 to {MAX_PROCESSORS}"),
    )?;
    let work = optional("--work", typed.work.as_deref(), 0..=MAX_WORK)?.unwrap_or(0) as u32;
    let counter_speed = typed.counter_speed.as_deref().map_or(Ok(1.0), speed)?;
    let question = Question { processors, work, counter_speed };
    let depth = optional("--depth", typed.depth.as_deref(), 0..=MAX_DEPTH as usize)?;
    let prism = optional("--prism", typed.prism.as_deref(), 1..=1 << MAX_DEPTH)?;
    let tree = match (depth.map(|depth| depth as u32), prism) {
        (Some(depth), Some(prism)) => Tree { depth, prism },
        (Some(depth), None) => Tree { depth, prism: question.prism_over(depth) },
        (None, Some(prism)) => Tree { depth: question.depth_under(prism), prism },
        (None, None) => question.tree(),
    };
    let seed = typed.seed.as_deref().map_or(Ok(1), seed)?;
    // Last, so that only a plan that is otherwise right creates a folder.
    if let Some(folder) = &typed.out {
        output::make_folder(folder)?;
    }
    Ok(ModelPlan {
        question,
        tree,
        prism_given: prism.is_some(),
        depth_given: depth.is_some(),
        seed,
        out: typed.out.clone(),
        json: typed.json,
    })
}

fn speed(typed: &str) -> Result<f64, Error> {
    let (slowest, fastest) = SPEEDS;
    match typed.trim().parse() {
        Ok(speed) if (slowest..=fastest).contains(&speed) => Ok(speed),
        _ => Err(not_allowed(
            "--counter-speed",
            typed,
            format!("a number from {slowest} to {fastest}"),
        )),
    }
}

fn seed(typed: &str) -> Result<u64, Error> {
    typed
        .trim()
        .parse()
        .map_err(|_| not_allowed("--seed", typed, format!("a whole number from 0 to {}", u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(processors: &str) -> ModelArguments {
        ModelArguments { processors: processors.to_owned(), ..ModelArguments::default() }
    }

    fn message(typed: &ModelArguments) -> String {
        resolve(typed).unwrap_err().to_string()
    }

    #[test]
    fn wrong_values_are_named_with_what_is_allowed() {
        for wrong in ["0", "65537", "many", "-1", ""] {
            let said = message(&typed(wrong));
            assert!(said.ends_with("must be a whole number from 1 to 65536"), "{said}");
            assert!(said.starts_with("--processors "), "{said}");
        }
        let other = |depth: Option<&str>, prism: Option<&str>, speed: Option<&str>| {
            let text = |typed: Option<&str>| typed.map(str::to_owned);
            message(&ModelArguments {
                depth: text(depth),
                prism: text(prism),
                counter_speed: text(speed),
                ..typed("8")
            })
        };
        let depth = other(Some("17"), None, None);
        assert_eq!(depth, "--depth 17: must be a whole number from 0 to 16");
        let prism = other(None, Some("0"), None);
        assert_eq!(prism, "--prism 0: must be a whole number from 1 to 65536");
        for wrong in ["0", "-2", "NaN", "inf", "1001", "fast"] {
            let said = other(None, None, Some(wrong));
            assert_eq!(
                said,
                format!("--counter-speed {wrong}: must be a number from 0.001 to 1000")
            );
        }
        let work = ModelArguments { work: Some("1.5".to_owned()), ..typed("8") };
        assert_eq!(message(&work), "--work 1.5: must be a whole number from 0 to 100000");
    }

    #[test]
    fn what_is_not_given_follows_from_the_rules() {
        let plan = |depth: Option<&str>, prism: Option<&str>| {
            let typed = ModelArguments {
                depth: depth.map(str::to_owned),
                prism: prism.map(str::to_owned),
                ..typed("160")
            };
            let tree = resolve(&typed).unwrap().tree;
            (tree.depth, tree.prism)
        };
        assert_eq!(plan(None, None), (5, 32));
        assert_eq!(plan(Some("3"), None), (3, 8));
        assert_eq!(plan(None, Some("48")), (6, 48));
        assert_eq!(plan(Some("2"), Some("100")), (2, 100));
    }
}
