//! Each counter with 2 and 3 processors.

use libtest_mimic::Trial;
use throng::counter::{Progress, Registered, Shape, methods};
use throng_check::workload::Observed;
use throng_check::worlds::Loom;

use crate::broken::counters as broken;
use crate::broken::counters::traced::{self, Traced};
use crate::harness::{self, is_caught, passes};

/// So many processors, calls each, preemptions, and the width of the counter.
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

/// The runs for one method.
fn sizes(method: &Registered<Loom>, more: usize) -> Vec<Size> {
    // Two processors that wait can hand the turn to each other for ever while a third is stopped,
    // and loom follows them. So where processors wait, three of them are stopped once only; twice
    // in those methods that are known to come to an end.
    let name = method.about.name;
    let comes_to_an_end =
        ["combining-tree", "gathering"].contains(&name) || name.starts_with("diffracting");
    let of_three = match method.about.progress {
        Progress::Blocking => 1 + usize::from(comes_to_an_end),
        Progress::LockFree | Progress::WaitFree => 2 + more,
    };
    // A call of a tree that changes takes three times as many steps as others, since it also changes
    // the tree.
    let changes = name == "reactive" || name.starts_with("self-tuning");
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

pub(crate) fn trials() -> Vec<Trial> {
    let more = usize::from(harness::effort() > 1);
    let mut trials = Vec::new();
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
    let weakly_locked = Registered::of::<broken::WeaklyLocked<Loom>>();
    trials.push(is_caught("broken::weakly-locked".into(), "Causality violation", move || {
        explore(weakly_locked, size);
    }));
    trials
}
