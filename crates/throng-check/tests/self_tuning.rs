//! Checks the proof in `classic/counter/self_tuning/README.md` on the simulator. Self-tuning trees
//! change at every visit, processors are stopped for long at every step, and the trees are counted
//! and then inspected. Also runs the same trees on real threads.

use std::sync::Barrier;
use std::thread;

use throng::machine::{Machine, Native};
use throng::structures::counter::diffracting::{StarvationFree, Toggle};
use throng::structures::counter::self_tuning::policy::Policy;
use throng::structures::counter::self_tuning::{Quorum, SelfTuning, Settled, TuningShape};
use throng::structures::counter::{Counting, Method, Shape};
use throng_check::history::Recorder;
use throng_check::spec::check_counting;
use throng_sim::{End, Faults, MachineSpec, Outcome, Sim, Simulation};

const SEEDS: u64 = 60;

/// Longer than everything else takes together.
const LONG: u64 = 1_000_000;

/// A tree and the numbers taken from it.
struct Shared<B: Settled<Sim>> {
    tree: SelfTuning<Sim, B>,
    recorder: Recorder,
}

/// One run of a tree.
#[derive(Clone)]
struct Run {
    processors: usize,
    calls: usize,
    shape: TuningShape,
    seed: u64,
    faults: Faults,
}

/// Returns the shape of a tree whose leaves may move to any level, at any visit, with any other
/// processors.
fn restless(deepest: u32, quorum: Quorum) -> TuningShape {
    let usual = TuningShape::for_processors(8);
    usual.deepest(deepest).policy(Policy::Restless).quorum(quorum).spin(4)
}

impl Run {
    fn of<B: Settled<Sim>>(&self) -> Outcome<Shared<B>, ()> {
        let (shape, calls) = (self.shape.clone(), self.calls);
        let setup = move || Shared {
            tree: SelfTuning::<Sim, B>::on_machine(&shape).expect("a shape that can be"),
            recorder: Recorder::default(),
        };
        let simulation = Simulation::new()
            .machine(MachineSpec::ideal(10))
            .processors(self.processors)
            .seed(self.seed)
            .faults(self.faults.clone());
        let body = move |shared: &Shared<B>, cpu: &throng_sim::SimCpu| {
            for _ in 0..calls {
                shared.recorder.call(|| shared.tree.next_on(cpu));
            }
        };
        simulation.run(setup, body).expect("the simulation can be set up")
    }

    /// Runs to the end: no deadlock, every number once. At rest the tree must hold what was
    /// counted.
    fn check<B: Settled<Sim>>(&self) -> Outcome<Shared<B>, ()> {
        let outcome = self.of::<B>();
        let known = || {
            let faults = self.faults.chosen(self.processors, self.seed);
            format!("{}, seed {}, faults: {faults}", B::TREE.name, self.seed)
        };
        assert_eq!(outcome.end, End::Finished, "{}", known());
        if let Err(violation) = check_counting(&outcome.shared.recorder.calls()) {
            panic!("{violation}: {}", known());
        }
        let tree = &outcome.shared.tree;
        assert!(tree.is_at_rest(), "a trace, a visitor or a lock is left: {}", known());
        let calls = (self.processors * self.calls) as u64;
        assert!(continues_from(calls, &leaves(tree)), "{:?}, {}", tree.leaves(), known());
        outcome
    }
}

/// Returns the depth of each leaf in use, and the number that it gives next.
fn leaves<M: Machine, B: Settled<M>>(tree: &SelfTuning<M, B>) -> Vec<(u32, u64)> {
    tree.leaves().iter().map(|leaf| (leaf.depth, leaf.next)).collect()
}

/// Returns whether the leaves, all expanded to the deepest level, give `next` and what follows.
fn continues_from(next: u64, leaves: &[(u32, u64)]) -> bool {
    let deepest = leaves.iter().map(|&(depth, _)| depth).max().unwrap_or(0);
    let taken_down = |&(depth, first): &(u32, u64)| {
        (0..1_u64 << (deepest - depth)).map(move |i| first + (i << depth))
    };
    let mut starts: Vec<u64> = leaves.iter().flat_map(taken_down).collect();
    starts.sort_unstable();
    starts.into_iter().eq(next..next + (1 << deepest))
}

/// Returns how often the tree grew and shrank, and by how many levels at most.
fn changes<T>(outcome: &Outcome<T, ()>) -> [(u64, usize); 2] {
    ["grown", "shrunk"].map(|what| {
        let by_levels: Vec<u64> = (0..17).map(|n| outcome.notes.count(what, n)).collect();
        (by_levels.iter().sum(), by_levels.iter().rposition(|&n| n > 0).unwrap_or(0))
    })
}

#[test]
fn leaves_that_continue_are_distinguished_from_those_that_do_not() {
    assert!(continues_from(7, &[(0, 7)]));
    assert!(continues_from(7, &[(1, 8), (2, 9), (2, 7)]));
    assert!(!continues_from(7, &[(1, 8), (2, 9), (2, 11)]));
    assert!(!continues_from(6, &[(0, 7)]));
}

/// Checks that the smallest shapes, as loom and shuttle build them, do change.
fn tiny_trees_change<B: Settled<Sim>>() {
    for (processors, width) in [(2, 2), (3, 2), (2, 4)] {
        let shape = Shape::tiny(processors, width);
        let setup = move || <SelfTuning<Sim, B>>::build(&shape).expect("a shape that can be");
        let mut all = [0; 2];
        for seed in 0..20 {
            let outcome = Simulation::new()
                .processors(processors)
                .seed(seed)
                .run(setup, |tree, cpu| {
                    (0..2).for_each(|_| {
                        tree.next_on(cpu);
                    })
                })
                .expect("the simulation can be set up");
            let [grown, shrunk] = changes(&outcome);
            assert!(grown.0 > 0, "{width} wide, seed {seed}");
            all = [all[0] + grown.0, all[1] + shrunk.0];
        }
        // With two leaves there is nothing to draw: the first call grows, a later one shrinks.
        assert!(all[1] >= if width == 2 { 20 } else { 5 }, "{width} wide: {all:?}");
    }
}

#[test]
fn the_trees_of_other_checks_change() {
    tiny_trees_change::<Toggle<Sim>>();
    tiny_trees_change::<StarvationFree<Sim>>();
}

/// Stops one processor after another for long, at one step after another: at every step of a grow
/// and of a shrink, under each of their locks.
fn stopped_anywhere<B: Settled<Sim>>(shape: TuningShape, processors: usize, calls: usize) {
    let several = shape.deepest.min(2) as usize;
    let run = Run { processors, calls, shape, seed: 0, faults: Faults::none() };
    let steps = run.check::<B>().accesses / processors as u64;
    let mut all = [(0, 0); 2];
    for stopped in 0..processors {
        for step in 1..=steps {
            let faults = Faults::none().stall(stopped, step, LONG).random_delays(5, 60);
            let run = Run { faults, seed: step, ..run.clone() };
            for (sum, one) in all.iter_mut().zip(changes(&run.check::<B>())) {
                *sum = (sum.0 + one.0, sum.1.max(one.1));
            }
        }
    }
    assert!(all.iter().all(|&(count, levels)| count > steps && levels >= several), "{all:?}");
}

#[test]
fn a_stop_at_any_step_harms_no_other_processor() {
    for deepest in 1..=3 {
        stopped_anywhere::<Toggle<Sim>>(restless(deepest, Quorum::Any), 3, 4);
        stopped_anywhere::<StarvationFree<Sim>>(restless(deepest, Quorum::Any), 3, 4);
    }
    stopped_anywhere::<Toggle<Sim>>(restless(2, Quorum::Majority), 4, 5);
}

#[test]
fn crowds_with_stalls_are_counted() {
    for seed in 0..SEEDS {
        let processors = [2, 3, 5, 9, 17][seed as usize % 5];
        let quorum = [Quorum::Any, Quorum::Majority, Quorum::All][seed as usize % 3];
        let deepest = 1 + seed as u32 % 4;
        let faults = Faults::none()
            .random_delays(3, 200)
            .random_stalls(2 * processors, 200, 20_000)
            .random_preemptions(3_000, 4_000);
        let run = Run { processors, calls: 12, shape: restless(deepest, quorum), seed, faults };
        let [grown, shrunk] = changes(&run.check::<Toggle<Sim>>());
        assert!(grown.0 > 0, "{grown:?} {shrunk:?}");
        run.check::<StarvationFree<Sim>>();
    }
}

/// Returns the number of leaves after many processors, and after one alone.
fn leaves_after(policy: Policy) -> (usize, usize) {
    let shape = TuningShape::for_processors(32).policy(policy);
    let run = Run { processors: 32, calls: 60, shape, seed: 1, faults: Faults::none() };
    let crowd = run.check::<Toggle<Sim>>();
    let tree = &crowd.shared.tree;
    let together = tree.leaves().len();
    let late = throng_sim::SimCpu::outside(0);
    (0..20_000).for_each(|_| {
        tree.next_on(&late);
    });
    (together, tree.leaves().len())
}

#[test]
fn a_crowd_makes_a_tree_and_only_a_census_takes_it_back() {
    let (together, alone) = leaves_after(Policy::Threat);
    assert!(together > 2, "{together} leaves");
    assert_eq!(alone, together, "the paper's: see its docs");
    let (together, alone) = leaves_after(Policy::Census);
    assert!(together > 2, "{together} leaves");
    assert_eq!(alone, 1);
}

#[test]
fn a_leaf_can_become_several_levels_at_once_and_one_alone_stays_a_leaf() {
    let shape = || TuningShape::for_processors(32);
    let run = |processors, calls| Run {
        processors,
        calls,
        shape: shape(),
        seed: 1,
        faults: Faults::none(),
    };
    let [grown, _] = changes(&run(32, 60).check::<Toggle<Sim>>());
    assert!(grown.1 > 1, "{grown:?}");
    assert_eq!(run(1, 60).check::<Toggle<Sim>>().notes.count("depth", 0), 60);
}

/// Counts on real threads, with a tree that changes at every visit.
fn threads_are_counted<B: Settled<Native>>(deepest: u32, quorum: Quorum) {
    const THREADS: usize = 4;
    const CALLS: usize = 20_000;
    let tree = SelfTuning::<Native, B>::on_machine(&restless(deepest, quorum)).unwrap();
    let start = Barrier::new(THREADS);
    let body = || -> Vec<u64> {
        start.wait();
        (0..CALLS).map(|_| tree.next()).collect()
    };
    let mut numbers: Vec<u64> = thread::scope(|scope| {
        let all: Vec<_> = (0..THREADS).map(|_| scope.spawn(body)).collect();
        all.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
    });
    numbers.sort_unstable();
    let calls = (THREADS * CALLS) as u64;
    assert!(numbers.into_iter().eq(0..calls), "something twice or missing");
    assert!(tree.is_at_rest());
    assert!(continues_from(calls, &leaves(&tree)), "{:?}", tree.leaves());
}

#[test]
fn real_threads_are_counted() {
    for (deepest, quorum) in [(1, Quorum::Any), (3, Quorum::Any), (4, Quorum::Majority)] {
        threads_are_counted::<Toggle>(deepest, quorum);
        threads_are_counted::<StarvationFree>(deepest, quorum);
    }
}
