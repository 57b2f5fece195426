//! Each counter with 2 and 3 processors.

use std::sync::Mutex;

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng::structures::counter::self_tuning::parts::{Kind, Link, Position, Traces};
use throng::structures::counter::{Progress, Registered, Shape, methods};
use throng_check::workload::Observed;
use throng_check::worlds::{Loom, LoomCpu};

use crate::broken::counters as broken;
use crate::broken::counters::combining::{self, Combining};
use crate::broken::counters::traced::{self, Traced};
use crate::harness::{self, is_caught, passes};

/// Numbers of processors, calls of each, and preemptions, and the width of the counter.
#[derive(Clone, Copy)]
struct Size {
    processors: usize,
    calls: usize,
    preemptions: usize,
    width: usize,
}

impl Size {
    const fn new(processors: usize, calls: usize, preemptions: usize, width: usize) -> Self {
        Size { processors, calls, preemptions, width }
    }

    fn name(self, method: &Registered<Loom>) -> String {
        let Size { processors, calls, width, preemptions } = self;
        format!(
            "{}::{processors}x{calls}::preempted_{preemptions}::width_{width}",
            method.about.name
        )
    }
}

fn explore(method: Registered<Loom>, size: Size) {
    let shape = Shape::tiny(size.processors, size.width);
    Loom::explore(
        size.processors,
        size.preemptions,
        move || Observed::new(&method, &shape),
        move |observed, cpu| observed.count(cpu, size.calls),
        Observed::assert_kept,
    );
}

/// Returns the number of preemptions of three processors.
///
/// Two waiting processors can pass the turn to each other for ever while a third is stopped, and loom follows them. So
/// where processors wait, three of them get one preemption. Methods that are known to end get two.
pub(crate) fn preemptions_of_three(method: &Registered<Loom>, more: usize) -> usize {
    let name = method.about.name;
    let comes_to_an_end = ["combining-tree", "gathering"].contains(&name)
        || name.starts_with("diffracting") && name != "diffracting-locked-leaves";
    match method.about.progress {
        Progress::Blocking => 1 + usize::from(comes_to_an_end),
        Progress::LockFree | Progress::WaitFree => 2 + more,
    }
}

/// Returns the runs for one method.
fn sizes(method: &Registered<Loom>, more: usize) -> Vec<Size> {
    let name = method.about.name;
    let of_three = preemptions_of_three(method, more);
    // A call of a tree that changes takes three times the steps of others, since it also changes
    // the tree; so does one of a tree with locks.
    let changes = name == "reactive" || name.starts_with("self-tuning") || name.contains("-locked");
    let of_three_calls = if changes { 2 + more } else { 3 + more };
    let mut sizes = vec![
        Size::new(2, 2, 3 + more, 1),
        Size::new(2, 2, 3 + more, 2),
        Size::new(2, 3, of_three_calls, 2),
        Size::new(2, 2, 2 + more, 4),
        Size::new(3, 2, of_three, 1),
        Size::new(3, 2, of_three, 2),
    ];
    if name == "gathering" {
        // All three in one group.
        sizes.push(Size::new(3, 2, 1, 4));
    }
    sizes
}

/// The trace lemma of the self-tuning trees, with a third processor that completes moves.
fn positions_are_exact() {
    struct Followed {
        traces: Traces<Loom>,
        link: Link<Loom>,
        went: Mutex<Option<Kind>>,
        found: Mutex<Option<Position>>,
    }
    impl Followed {
        /// Returns the position of processor 0.
        fn position(&self) -> Option<Position> {
            self.traces.positions(|_| &self.link).next()
        }
    }
    let setup = || {
        let traces = Traces::default();
        // Only traces that were used are looked at.
        let _ = traces.of(0);
        Followed { traces, link: Link::new(1), went: Mutex::default(), found: Mutex::default() }
    };
    let body = |followed: &Followed, cpu: &LoomCpu| match cpu.id() {
        0 => {
            let went = followed.traces.of(0).follow(1, &followed.link);
            *followed.went.lock().unwrap() = Some(went);
        }
        1 => {
            followed.link.set(Kind::Balancer);
            *followed.found.lock().unwrap() = followed.position();
        }
        _ => drop(followed.position()),
    };
    let verify = |followed: &Followed| {
        let went = followed.went.lock().unwrap().expect("it has followed the link");
        let found = followed.found.lock().unwrap().expect("there is a trace");
        // Found outside, it goes the new way.
        let goes = if found == Position::At(Kind::Leaf, 1) { Kind::Leaf } else { Kind::Balancer };
        assert_eq!(went, goes, "broke its promise: found {found:?}");
    };
    Loom::explore(3, 3, setup, body, verify);
}

pub(crate) fn trials() -> Vec<Trial> {
    let more = usize::from(harness::effort() > 1);
    let mut trials = vec![passes("self-tuning::positions_are_exact".into(), positions_are_exact)];
    for method in methods::<Loom>() {
        for size in sizes(&method, more) {
            trials.push(passes(size.name(&method), move || explore(method, size)));
        }
    }

    let size = Size::new(3, 2, 2, 2);
    for method in broken::miscounting::<Loom>() {
        let name = format!("broken::{}", method.about.name);
        let preemptions = match method.about.name {
            // A token without a version must be overtaken by two changes before it does harm.
            "folding-without-versions" => size.preemptions + 1,
            // Processors wait: see `sizes`.
            "traced-reads-first" | "traced-leaves-late" => 1,
            _ => size.preemptions,
        };
        let size = Size { preemptions, ..size };
        trials.push(is_caught(name, "broke its promise", move || explore(method, size)));
    }
    let sound = Registered::of::<broken::Folding<Loom, { broken::SOUND }>>();
    trials.push(passes("broken::but-for-its-faults::folding".into(), move || explore(sound, size)));
    let sound = Registered::of::<Traced<Loom, { traced::AS_IT_SHOULD }>>();
    let once = Size { preemptions: 1, ..size };
    trials.push(passes("broken::but-for-its-faults::traced".into(), move || explore(sound, once)));
    let sound = Registered::of::<Combining<Loom, { combining::AS_IT_SHOULD }>>();
    let name = "broken::but-for-its-faults::combines".into();
    trials.push(passes(name, move || explore(sound, once)));
    let weakly_locked = Registered::of::<broken::WeaklyLocked<Loom>>();
    trials.push(is_caught("broken::weakly-locked".into(), "Causality violation", move || {
        explore(weakly_locked, size);
    }));
    trials
}
