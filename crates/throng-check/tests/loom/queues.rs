//! Each queue with 2 and 3 processors.

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng_check::workload::Step::{Close, Pop, PopAll, PopFor, Push, PushFor, TryPop, TryPush};
use throng_check::workload::{ForcedQueue, Kind, ObservedQueue, Step, kinds};
use throng_check::worlds::Loom;

use crate::broken::queues as broken;
use crate::harness::{self, is_caught, is_caught_by_either, passes};

/// What each processor does.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    programs: &'static [&'static [Step]],
    preemptions: usize,
    /// For which capacities; 0: none.
    capacities: &'static [usize],
    blocks: &'static [usize],
}

impl Case {
    const fn new(
        name: &'static str,
        preemptions: usize,
        programs: &'static [&'static [Step]],
    ) -> Self {
        Case { name, programs, preemptions, capacities: &[0, 1, 2], blocks: &[1, 2] }
    }

    const fn with_capacities(self, capacities: &'static [usize]) -> Self {
        Case { capacities, ..self }
    }

    /// How often processors are preempted. Two that wait can hand the turn to each other for ever while a
    /// third is stopped, and loom follows them: where calls may wait for each other, three are stopped
    /// once only.
    fn preemptions(&self, kind: &Kind<Loom>, more: usize) -> usize {
        let is_three = self.programs.len() > 2;
        if is_three && !kind.can.survive_halts && kind.preemptions[1] > 1 {
            return 1;
        }
        // Waits of three take minutes with a preemption more.
        let most = kind.preemptions[usize::from(is_three)]
            .saturating_sub(usize::from(is_three && self.waits()));
        self.preemptions.min(most).saturating_add(more)
    }

    fn waits(&self) -> bool {
        let waits = |step: &Step| !matches!(step, TryPush | TryPop | Close);
        self.programs.iter().any(|steps| steps.iter().any(waits))
    }

    fn closes(&self) -> bool {
        let closes = |step: &Step| matches!(step, Close | PopAll);
        self.programs.iter().any(|steps| steps.iter().any(closes))
    }

    fn run(self, kind: Kind<Loom>, capacity: usize, block: usize, ending: Ending, more: usize) {
        let processors = self.programs.len();
        let capacity = (capacity > 0).then_some(capacity);
        Loom::explore_to_the_end(
            processors,
            self.preemptions(&kind, more),
            move || match ending {
                Ending::Untold => ObservedQueue::untold(&kind, capacity, block, processors),
                _ => ObservedQueue::scheduled(&kind, capacity, block, processors),
            },
            move |observed, cpu| observed.perform(cpu, cpu.id(), self.programs[cpu.id()]),
            move |observed, cpu| match ending {
                Ending::LeftInside => observed.abandon(0, ""),
                Ending::Emptied | Ending::Untold => observed.settle(cpu),
            },
        );
    }
}

/// What happens to what is inside at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// It is popped.
    Emptied,
    /// It is dropped with the queue.
    LeftInside,
    /// It is popped; and until then nobody is told anything but by the queue.
    Untold,
}

impl Ending {
    const fn name(self) -> &'static str {
        match self {
            Ending::Emptied => "emptied",
            Ending::LeftInside => "left_inside",
            Ending::Untold => "untold",
        }
    }
}

const CASES: [Case; 20] = [
    Case::new("push_and_pop", 3, &[&[TryPush, TryPush], &[TryPop, TryPop]]),
    Case::new("both_do_both", 3, &[&[TryPush, TryPop], &[TryPush, TryPop]]),
    Case::new("pop_and_push", 3, &[&[TryPush, TryPop, TryPush], &[TryPop, TryPush]])
        .with_capacities(&[1, 2]),
    Case::new("three_blocks", 3, &[&[TryPush, TryPush, TryPush], &[TryPop, TryPop, TryPush]]),
    Case::new("three", 2, &[&[TryPush, TryPop], &[TryPush, TryPop], &[TryPush, TryPop]]),
    Case::new("two_push", 2, &[&[TryPush, TryPush], &[TryPush, TryPush], &[TryPop, TryPop]]),
    Case::new("two_pop", 2, &[&[TryPush, TryPush], &[TryPop, TryPop], &[TryPop, TryPop]]),
    Case::new("three_at_once", 2, &[&[TryPush, TryPush, TryPush], &[TryPop], &[TryPop, TryPop]]),
    Case::new("three_then_close", 2, &[&[TryPush, TryPush, TryPush, Close], &[TryPop, TryPop]]),
    Case::new("close_and_push", 3, &[&[TryPush, TryPush], &[Close, TryPop]]),
    Case::new("close_and_pop", 3, &[&[TryPush, Close], &[TryPop, TryPop, TryPop]]),
    Case::new("both_close", 3, &[&[Close, TryPush], &[TryPush, Close, TryPop]]),
    Case::new("one_closes", 2, &[&[TryPush, TryPush], &[TryPop, TryPop], &[Close]]),
    Case::new("wait", 3, &[&[Push, Push], &[Pop, Pop]]),
    Case::new("wait_crossed", 3, &[&[Push, Pop], &[Push, Pop]]),
    Case::new("two_wait", 1, &[&[Push, Push], &[Pop], &[Pop]]),
    Case::new("three_for_two", 1, &[&[Push, Push, Push], &[Pop], &[Pop]]).with_capacities(&[0]),
    Case::new("wait_for_close", 2, &[&[Push, Push, Close], &[PopAll]]),
    Case::new("closed_while_full", 3, &[&[Push, Push], &[Close]]).with_capacities(&[1]),
    Case::new("give_up", 2, &[&[PushFor(2), PushFor(2)], &[PopFor(2), PopFor(2)]]),
];

pub(crate) fn trials() -> Vec<Trial> {
    let more = usize::from(harness::effort() > 1);
    let mut trials = Vec::new();
    for kind in kinds::<Loom>() {
        let is_large = kind.preemptions[0] < 2;
        for case in CASES {
            // What touches many words is tried in fewer sizes, unless there is time.
            let blocks = if is_large && more == 0 { &case.blocks[1..] } else { case.blocks };
            let endings = match case.name {
                "both_do_both" | "three_blocks" if is_large && more == 0 => &[Ending::Emptied][..],
                "push_and_pop" | "both_do_both" | "three_blocks" => {
                    &[Ending::Emptied, Ending::LeftInside, Ending::Untold][..]
                }
                _ => &[Ending::Emptied][..],
            };
            trials.extend(trials_of(kind, case, blocks, endings, more));
        }
    }
    for kind in broken::sound::<_, 1>() {
        // Who waits for the lock again and again writes it each time, and loom would show another that
        // waits for it the old values for ever; three of them hand the turn to each other for ever.
        let is_apt =
            |case: &Case| !broken::is_locked(&kind) || !case.waits() && case.programs.len() == 2;
        for case in CASES.into_iter().filter(is_apt) {
            trials.extend(trials_of(kind, case, &[1], &[Ending::Emptied], 0));
        }
    }
    trials.extend([1, 2].map(|capacity| {
        let name = format!("queues::forced::capacity_{capacity}");
        passes(name, move || forced(move || ForcedQueue::new(capacity, 2)))
    }));
    let either = ["broke its promise", HANGS];
    let caught = || forced(|| broken::pops_then_pushes(1, 2));
    trials.push(is_caught_by_either("queues::broken::pops-then-pushes".into(), either, caught));
    trials.extend(broken_trials());
    trials
}

/// Two processors, with two forced pushes each.
fn forced(setup: impl Fn() -> ForcedQueue<Loom> + Send + Sync + 'static) {
    Loom::explore_to_the_end(
        2,
        1,
        setup,
        |forced, cpu| forced.perform(cpu, cpu.id(), 2),
        ForcedQueue::settle,
    );
}

fn trials_of(
    kind: Kind<Loom>,
    case: Case,
    blocks: &[usize],
    endings: &[Ending],
    more: usize,
) -> Vec<Trial> {
    let mut trials = Vec::new();
    if case.closes() && !kind.can.be_closed {
        return trials;
    }
    let can_have = |capacity: &&usize| kind.can.be_bounded || **capacity == 0;
    for &capacity in case.capacities.iter().filter(can_have) {
        for &block in blocks {
            for &ending in endings {
                let name = format!(
                    "queues::{}::{}::capacity_{capacity}::block_{block}::preempted_{}::{}",
                    kind.name,
                    case.name,
                    case.preemptions(&kind, more),
                    ending.name()
                );
                trials.push(passes(name, move || case.run(kind, capacity, block, ending, more)));
            }
        }
    }
    trials
}

/// What loom says when a wait never ends.
const HANGS: &str = "exceeded maximum number of branches";

/// All cases for a kind, with small capacities, until one complains.
fn all_cases(kind: Kind<Loom>) {
    for case in CASES {
        for &capacity in case.capacities {
            for ending in [Ending::Emptied, Ending::LeftInside] {
                case.run(kind, capacity, 1, ending, 0);
            }
        }
    }
}

fn broken_trials() -> Vec<Trial> {
    let caught = |kind: Kind<Loom>, words| {
        is_caught(format!("queues::broken::{}", kind.name), words, move || all_cases(kind))
    };
    let promise = "broke its promise";
    let mut trials: Vec<Trial> =
        broken::mistaken().into_iter().map(|kind| caught(kind, promise)).collect();
    trials.extend(broken::racy().into_iter().map(|kind| caught(kind, promise)));
    for kind in broken::overlapping() {
        let name = format!("queues::broken::{}", kind.name);
        let either = ["Causality violation", promise];
        trials.push(is_caught_by_either(name, either, move || all_cases(kind)));
    }
    trials.push(caught(broken::relaxed(), "Causality violation"));
    trials.push(caught(broken::deaf(), HANGS));
    trials.push(caught(broken::tickets::<_, 1>(), promise));
    trials
}
