//! The arguments of `throng model`, resolved and checked.

use std::path::PathBuf;

use super::Tree;
use super::advice::{MAX_DEPTH, Question};
use crate::cli::ModelArguments;
use crate::error::Error;
use crate::output;
use crate::plan::{number, optional};

/// The most processors: a simulation of more takes too long.
const MAX_PROCESSORS: usize = 65_536;
const MAX_WORK: usize = 100_000;
/// Slowest and fastest counter.
const SPEEDS: (f64, f64) = (0.001, 1000.0);

/// What `throng model` will do.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelPlan {
    /// What is asked.
    pub question: Question,
    /// The tree: as asked for, the rest by the rules.
    pub tree: Tree,
    /// Whether the width of prisms was asked for; then the trees compared with have it too.
    pub prism_given: bool,
    /// Whether the depth was.
    pub depth_given: bool,
    /// Of the simulation.
    pub seed: u64,
    /// Where the chart goes; the folder exists.
    pub out: Option<PathBuf>,
    /// Whether to print JSON and nothing else.
    pub json: bool,
}

impl ModelPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, or the folder cannot be made.
    pub fn resolve(typed: &ModelArguments) -> Result<Self, Error> {
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
        // Last: only a plan that is right in all else may create a folder.
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
}

fn speed(typed: &str) -> Result<f64, Error> {
    let (slowest, fastest) = SPEEDS;
    match typed.trim().parse() {
        Ok(speed) if (slowest..=fastest).contains(&speed) => Ok(speed),
        _ => Err(Error::Value {
            option: "--counter-speed",
            value: typed.to_owned(),
            allowed: format!("a number from {slowest} to {fastest}"),
        }),
    }
}

fn seed(typed: &str) -> Result<u64, Error> {
    typed.trim().parse().map_err(|_| Error::Value {
        option: "--seed",
        value: typed.to_owned(),
        allowed: format!("a whole number from 0 to {}", u64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(processors: &str) -> ModelArguments {
        ModelArguments { processors: processors.to_owned(), ..ModelArguments::default() }
    }

    fn message(typed: &ModelArguments) -> String {
        ModelPlan::resolve(typed).unwrap_err().to_string()
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
            let tree = ModelPlan::resolve(&typed).unwrap().tree;
            (tree.depth, tree.prism)
        };
        assert_eq!(plan(None, None), (5, 32));
        assert_eq!(plan(Some("3"), None), (3, 8));
        assert_eq!(plan(None, Some("48")), (6, 48));
        assert_eq!(plan(Some("2"), Some("100")), (2, 100));
    }
}
