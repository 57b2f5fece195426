//! Reactive trees with a chosen policy.

use std::fmt;

use throng::structures::counter::Method;
use throng::structures::counter::diffracting::Prisms;
use throng::structures::counter::reactive::{Policy, ReactiveShape, ReactiveTree};
use throng_sim::Sim;

use super::CounterChoice;

/// The name of the method.
pub const NAME: &str = <ReactiveTree<Sim> as Method<Sim>>::ABOUT.name;

/// The policy of a reactive tree, displayed as `throng simulate --policy` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Begins as a single counter and changes by this policy.
    Changing(Policy),
    /// Stays a full tree: a diffracting tree with queue locks at its leaves.
    Fixed,
}

impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Behaviour::Changing(Policy { fold_below, unfold_above, run, .. }) => {
                write!(f, "{fold_below},{unfold_above},{run}")
            }
            Behaviour::Fixed => f.write_str("fixed"),
        }
    }
}

/// A policy under which no counter ever folds or unfolds.
const NEVER: Policy = Policy::PAPER.fold_below(0).unfold_above(u64::MAX).run(u32::MAX);

/// Returns the reactive tree with at most `2^max_depth` leaves.
///
/// ```
/// use throng::structures::counter::reactive::Policy;
/// use throng_papers::workloads::reactive::{Behaviour, tree};
/// let policy = Policy::PAPER.fold_below(200).run(25);
/// let tree = tree(5, Behaviour::Changing(policy));
/// assert_eq!(tree.options, "--width 32 --policy 200,800,25");
/// ```
pub fn tree(max_depth: u32, behaviour: Behaviour) -> CounterChoice {
    // An impossible depth is refused when the tree is built.
    let width = 1_u64.checked_shl(max_depth).unwrap_or(u64::MAX);
    build(ReactiveShape::of_depth(max_depth), behaviour, format!("--width {width}"))
}

/// Returns the reactive tree with prisms of these sizes, from the root down: one for each possible
/// level.
///
/// ```
/// use throng_papers::workloads::reactive::{Behaviour, with_prisms};
/// let tree = with_prisms(&[4, 2, 1], Behaviour::Fixed);
/// assert_eq!(tree.options, "--prisms 4,2,1 --policy fixed");
/// ```
pub fn with_prisms(sizes: &[usize], behaviour: Behaviour) -> CounterChoice {
    let typed: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let prisms = Prisms::Sizes(sizes.to_vec());
    let shape = ReactiveShape::of_depth(sizes.len() as u32).prisms(prisms);
    build(shape, behaviour, format!("--prisms {}", typed.join(",")))
}

fn build(usual: ReactiveShape, behaviour: Behaviour, options: String) -> CounterChoice {
    let shape = match behaviour {
        Behaviour::Changing(policy) => usual.policy(policy),
        Behaviour::Fixed => {
            let max_depth = usual.max_depth;
            usual.first_depth(max_depth).policy(NEVER)
        }
    };
    CounterChoice::custom(NAME, format!("{options} --policy {behaviour}"), move |_| {
        Ok(Box::new(ReactiveTree::<Sim>::on_machine(&shape)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::CountingRun;
    use crate::workloads::measured::Measured;
    use throng_sim::MachineSpec;

    fn measure(counter: CounterChoice, processors: usize) -> Measured {
        let alewife = MachineSpec::preset("alewife").unwrap();
        let run = CountingRun { processors, values: 4000, ..CountingRun::new(counter, alewife) };
        run.measure().unwrap()
    }

    #[test]
    fn a_crowd_unfolds_it_and_one_alone_does_not() {
        let choice = || tree(3, Behaviour::Changing(Policy::PAPER.run(20)));
        let alone = measure(choice(), 1);
        assert_eq!(alone.notes.count("depth", 0), alone.handed_out);
        let crowd = measure(choice(), 64);
        assert!(crowd.notes.count("unfolded", 1) > 0);
        assert!(crowd.notes.count("depth", 3) > crowd.handed_out / 2);
    }

    #[test]
    fn a_fixed_tree_stays_as_it_is() {
        for processors in [1, 64] {
            let measured = measure(tree(2, Behaviour::Fixed), processors);
            assert_eq!(measured.notes.count("depth", 2), measured.handed_out);
            assert!(measured.notes.get("folded").is_none());
        }
    }

    #[test]
    fn the_usual_policy_typed_out_gives_the_usual_tree() {
        let usual = CounterChoice::named(NAME, Some(8)).unwrap();
        let typed = tree(3, Behaviour::Changing(Policy::PAPER));
        assert_eq!(measure(usual.clone(), 20).trace_hash, measure(typed, 20).trace_hash);
        let prisms = |sizes: &[usize]| with_prisms(sizes, Behaviour::Changing(Policy::PAPER));
        assert_eq!(measure(usual, 20).trace_hash, measure(prisms(&[8, 4, 2]), 20).trace_hash);
        assert_ne!(
            measure(prisms(&[8, 4, 2]), 60).trace_hash,
            measure(prisms(&[4, 2, 1]), 60).trace_hash
        );
    }

    #[test]
    fn a_tree_that_is_too_deep_is_refused() {
        let error = tree(70, Behaviour::Fixed).build(1).err().unwrap();
        assert_eq!(error.to_string(), "reactive: depth 70: must be from 0 to 12");
    }
}
