//! Diffracting trees with prisms of chosen sizes.

use throng::structures::counter::diffracting::{
    Adaptive, Balancer, DiffractingTree, Original, Prisms, SecondChance, StarvationFree, TreeShape,
    WaitFree,
};
use throng::structures::counter::{Counting, ShapeError};
use throng_sim::Sim;

use super::CounterChoice;

/// Builds a tree with these prisms, from the root down.
type Build = fn(&[usize]) -> Result<Box<dyn Counting<Sim>>, ShapeError>;

/// Every kind of tree that has prisms.
const KINDS: [(&str, Build); 5] = [
    kind::<Original<Sim>>(),
    kind::<Adaptive<Sim>>(),
    kind::<SecondChance<Sim>>(),
    kind::<StarvationFree<Sim>>(),
    kind::<WaitFree<Sim>>(),
];

const fn kind<B: Balancer<Sim>>() -> (&'static str, Build) {
    (B::ABOUT.name, build::<B>)
}

fn build<B: Balancer<Sim>>(sizes: &[usize]) -> Result<Box<dyn Counting<Sim>>, ShapeError> {
    let prisms = Prisms::Sizes(sizes.to_vec());
    let shape = TreeShape::of_depth(sizes.len() as u32).prisms(prisms);
    Ok(Box::new(DiffractingTree::<Sim, B>::on_machine(&shape)?))
}

/// Returns the tree of this method with prisms of these sizes, from the root down: one for each
/// level. `None` where the method has no prisms.
///
/// ```
/// use throng_papers::workloads::trees::tree;
/// assert_eq!(tree("diffracting", &[8, 4, 2]).unwrap().options, "--prisms 8,4,2");
/// assert!(tree("hardware", &[8, 4, 2]).is_none());
/// ```
pub fn tree(method: &str, sizes: &[usize]) -> Option<CounterChoice> {
    let &(name, build) = KINDS.iter().find(|(name, _)| *name == method)?;
    let typed = sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let sizes = sizes.to_vec();
    Some(CounterChoice::custom(name, format!("--prisms {typed}"), move |_| build(&sizes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::CountingRun;
    use throng_sim::MachineSpec;

    #[test]
    fn the_papers_prisms_typed_out_give_the_papers_tree() {
        for (method, sizes) in
            [("diffracting", [8, 4, 2]), ("diffracting-second-chance", [2, 2, 1])]
        {
            let measure = |counter| {
                let run = CountingRun::new(counter, MachineSpec::ideal(10));
                CountingRun { processors: 16, values: 500, ..run }.measure().unwrap().trace_hash
            };
            let named = CounterChoice::named(method, Some(8)).unwrap();
            assert_eq!(measure(named), measure(tree(method, &sizes).unwrap()), "{method}");
        }
    }

    #[test]
    fn sizes_that_cannot_be_are_refused_by_the_tree() {
        let error = tree("diffracting", &[4, 0]).unwrap().build(8).err().unwrap();
        assert_eq!(error.to_string(), "diffracting: prism size 0: must be from 1 to 65536");
    }
}
