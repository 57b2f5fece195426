//! Each counter with 4 to 16 processors.

use libtest_mimic::Trial;
use throng::structures::counter::{Registered, Shape, methods};
use throng_check::workload::Observed;
use throng_check::worlds::{Schedules, Shuttle};

use super::seed;
use crate::broken::counters as broken;
use crate::harness::{self, is_caught, passes};

#[derive(Clone, Copy)]
struct Plan {
    schedules: Schedules,
    count: usize,
    processors: usize,
    calls: usize,
    shape: Shape,
}

fn explore(method: Registered<Shuttle>, plan: Plan) {
    Shuttle::explore(
        plan.schedules,
        plan.count,
        seed(),
        plan.processors,
        move || Observed::new(&method, &plan.shape),
        move |observed, cpu| observed.count(cpu, plan.calls),
        Observed::assert_kept,
    );
}

/// Returns all plans for one method, with about `effort` times the usual number of schedules.
fn plans(effort: usize) -> Vec<(String, Plan)> {
    let crowds = [(4, 3, 4000), (7, 3, 2000), (16, 2, 700)];
    let ways = [
        ("random", Schedules::Random),
        ("pct", Schedules::Pct(8)),
        ("uniform", Schedules::Uniform),
    ];
    let mut plans = Vec::new();
    for (processors, calls, count) in crowds {
        for (way, schedules) in ways {
            for width in [2, 4] {
                let shape = Shape::tiny(processors, width).spin(2).bank(2);
                let plan = Plan { schedules, count: count * effort, processors, calls, shape };
                plans.push((format!("{way}::{processors}x{calls}::width_{width}"), plan));
            }
        }
    }
    plans
}

pub(crate) fn trials() -> Vec<Trial> {
    let effort = harness::effort();
    let mut trials = Vec::new();
    for method in methods::<Shuttle>() {
        for (name, mut plan) in plans(effort) {
            if method.about.name == "reactive" {
                // Its calls take several times the steps of others, because they change the tree,
                // too.
                plan.count /= 2;
            }
            let name = format!("{}::{name}", method.about.name);
            trials.push(passes(name, move || explore(method, plan)));
        }
    }
    for method in broken::miscounting::<Shuttle>() {
        let plan = Plan {
            schedules: Schedules::Random,
            count: 20_000,
            processors: 3,
            calls: 2,
            shape: Shape::tiny(3, 2),
        };
        let name = format!("broken::{}", method.about.name);
        trials.push(is_caught(name, "broke its promise", move || explore(method, plan)));
    }
    trials
}
