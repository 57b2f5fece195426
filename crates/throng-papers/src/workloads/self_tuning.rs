//! Self-tuning trees with a chosen policy.

use std::fmt;

use throng::structures::counter::diffracting::{StarvationFree, Toggle};
use throng::structures::counter::self_tuning::policy::Policy;
use throng::structures::counter::self_tuning::{SelfTuning, Settled, TuningShape};
use throng::structures::counter::{Counting, ShapeError};
use throng_sim::Sim;

use super::CounterChoice;

/// The policy of a self-tuning tree, displayed and parsed as `throng simulate --policy` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuned {
    /// Decides when leaves move.
    pub policy: Policy,
    /// The number of processors P for which it decides, regardless of how many take part.
    pub processors: usize,
}

/// The values that `--policy` takes for these trees.
pub const ALLOWED: &str =
    "threat, printed or census, a comma, and a number of processors, such as threat,30";

const POLICIES: [(&str, Policy); 4] = [
    ("threat", Policy::Threat),
    ("printed", Policy::Printed),
    ("census", Policy::Census),
    ("restless", Policy::Restless),
];

impl fmt::Display for Tuned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = POLICIES.iter().find(|(_, policy)| *policy == self.policy);
        let (name, _) = named.expect("every policy has a name");
        write!(f, "{name},{}", self.processors)
    }
}

impl Tuned {
    /// Parses a policy, or returns `None` unless it is as [`ALLOWED`] says.
    ///
    /// ```
    /// use throng_papers::workloads::self_tuning::Tuned;
    /// assert_eq!(Tuned::parse("threat,30").unwrap().to_string(), "threat,30");
    /// assert_eq!(Tuned::parse("threat"), None);
    /// ```
    pub fn parse(typed: &str) -> Option<Self> {
        let (name, processors) = typed.trim().split_once(',')?;
        let (_, policy) = POLICIES.into_iter().find(|(known, _)| *known == name)?;
        let processors: u32 = processors.parse().ok()?;
        Some(Tuned { policy, processors: processors as usize })
    }
}

/// Builds a tree of this depth.
type Build = fn(u32, Tuned) -> Result<Box<dyn Counting<Sim>>, ShapeError>;

/// Every kind of self-tuning tree.
const KINDS: [(&str, Build); 2] = [kind::<Toggle<Sim>>(), kind::<StarvationFree<Sim>>()];

const fn kind<B: Settled<Sim>>() -> (&'static str, Build) {
    (B::TREE.name, build::<B>)
}

fn build<B: Settled<Sim>>(
    deepest: u32,
    tuned: Tuned,
) -> Result<Box<dyn Counting<Sim>>, ShapeError> {
    let Tuned { policy, processors } = tuned;
    let shape = TuningShape::for_processors(processors).deepest(deepest).policy(policy);
    Ok(Box::new(SelfTuning::<Sim, B>::on_machine(&shape)?))
}

/// Returns whether the method is a self-tuning tree.
pub fn is_one(method: &str) -> bool {
    KINDS.iter().any(|(name, _)| *name == method)
}

/// Returns the self-tuning tree of this method with at most `2^deepest` leaves, or `None` where the
/// method is another.
///
/// ```
/// use throng_papers::workloads::self_tuning::{Tuned, tree};
/// let tuned = Tuned::parse("census,30").unwrap();
/// let options = tree("self-tuning", 4, tuned).unwrap().options;
/// assert_eq!(options, "--width 16 --policy census,30");
/// assert!(tree("hardware", 4, tuned).is_none());
/// ```
pub fn tree(method: &str, deepest: u32, tuned: Tuned) -> Option<CounterChoice> {
    let &(name, build) = KINDS.iter().find(|(name, _)| *name == method)?;
    // An impossible depth is refused when the tree is built.
    let width = 1_u64.checked_shl(deepest).unwrap_or(u64::MAX);
    let options = format!("--width {width} --policy {tuned}");
    Some(CounterChoice::custom(name, options, move |_| build(deepest, tuned)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::CountingRun;
    use throng_sim::MachineSpec;

    #[test]
    fn the_usual_policy_typed_out_gives_the_usual_tree() {
        let measure = |counter| {
            let run = CountingRun::new(counter, MachineSpec::ideal(10));
            CountingRun { processors: 16, values: 900, ..run }.measure().unwrap().trace_hash
        };
        for method in ["self-tuning", "self-tuning-prism"] {
            for deepest in [2, 4] {
                let usual = CounterChoice::named(method, Some(1 << deepest)).unwrap();
                let typed = tree(method, deepest, Tuned::parse("threat,16").unwrap()).unwrap();
                assert_eq!(measure(usual), measure(typed), "{method}, {deepest} deep");
            }
        }
    }

    /// Checks that two processors that come back at once do not hand a leaf to each other past
    /// waiting ones.
    fn no_processor_starves(machine: &str) {
        // Long enough for two processors to get into such a cycle.
        const VALUES: u64 = 100_000;
        for (method, processors) in [
            ("self-tuning", 8),
            ("self-tuning", 12),
            ("self-tuning-prism", 8),
            ("self-tuning-prism", 12),
        ] {
            let counter = tree(method, 4, Tuned::parse("threat,30").unwrap()).unwrap();
            let usual = CountingRun::new(counter, MachineSpec::preset(machine).unwrap());
            let run = CountingRun { processors, nodes: Some(30), values: VALUES, seed: 1, ..usual };
            let got = run.measure().unwrap().per_processor;
            // Not the median: where two processors get all, it is as low.
            let fair = VALUES / processors as u64;
            assert!(got.iter().all(|&one| one >= fair / 2), "{}: {got:?}", run.replay_command());
        }
    }

    #[test]
    fn no_processor_starves_on_an_origin2000() {
        no_processor_starves("origin2000");
    }

    #[test]
    fn no_processor_starves_on_an_alewife() {
        no_processor_starves("alewife");
    }

    #[test]
    fn what_is_no_policy_is_refused() {
        for typed in ["", ",", "threat,", "threat,x", "greedy,30", "census,-1", "census,5000000000"]
        {
            assert_eq!(Tuned::parse(typed), None, "{typed}");
        }
        assert!(
            tree("self-tuning", 70, Tuned::parse("threat,4").unwrap()).unwrap().build(1).is_err()
        );
    }
}
