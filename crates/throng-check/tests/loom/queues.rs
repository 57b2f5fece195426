//! Each queue with 2 and 3 processors.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use libtest_mimic::Trial;
use throng::machine::{Cpu, Line, Place, WayOut, Word};
use throng::structures::counter::Hardware;
use throng::structures::pool::{JobQueue, Pool, PoolShape, PushError, Queue, QueueShape};
use throng_check::spec::queue::{Fullness, Order};
use throng_check::workload::Step::{
    Close, Pop, PopAll, PopFor, Push, PushFor, TryPop, TryPopMany, TryPush,
};
use throng_check::workload::{Can, ForcedQueue, Kind, ObservedQueue, Step, kinds, queue_shape};
use throng_check::worlds::Loom;

use crate::broken::queues as broken;
use crate::harness::{self, is_caught, is_caught_by_either, passes};

/// The steps of each processor.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    programs: &'static [&'static [Step]],
    preemptions: usize,
    /// The capacities; 0: unbounded.
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

    /// Returns the number of preemptions. Two waiting processors can pass the turn to each other
    /// for ever while a third is stopped, and loom follows them. So where calls may wait for each
    /// other, three processors get one preemption.
    fn preemptions(&self, kind: &Kind<Loom>, more: usize) -> usize {
        let is_three = self.programs.len() > 2;
        if is_three && !kind.can.survive_halts && kind.preemptions[1] > 1 {
            return 1;
        }
        // With another preemption, waits of three processors take minutes.
        let most = kind.preemptions[usize::from(is_three)]
            .saturating_sub(usize::from(is_three && self.waits()));
        self.preemptions.min(most).saturating_add(more)
    }

    fn waits(&self) -> bool {
        let waits = |step: &Step| !matches!(step, TryPush | TryPop | TryPopMany(_) | Close);
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
                Ending::Unsynchronized => {
                    ObservedQueue::unsynchronized(&kind, capacity, block, processors)
                }
                _ => ObservedQueue::scheduled(&kind, capacity, block, processors),
            },
            move |observed, cpu| observed.perform(cpu, cpu.id(), self.programs[cpu.id()]),
            move |observed, cpu| match ending {
                Ending::LeftInside => observed.abandon(0, ""),
                Ending::Emptied | Ending::Unsynchronized => observed.settle(cpu),
            },
        );
    }
}

/// The fate of the items that are inside at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// They are popped.
    Emptied,
    /// They are dropped with the queue.
    LeftInside,
    /// They are popped. Until then only the queue synchronises the processors.
    Unsynchronized,
}

impl Ending {
    const fn name(self) -> &'static str {
        match self {
            Ending::Emptied => "emptied",
            Ending::LeftInside => "left_inside",
            Ending::Unsynchronized => "unsynchronized",
        }
    }
}

/// A pool's leaf begins with 4 slots for large jobs; an unbounded queue with one, and each ring is twice as large.
const RINGS: [Case; 4] = [
    Case::new(
        "grows",
        2,
        &[&[TryPush, TryPush, TryPush, TryPush, TryPush, TryPop], &[TryPop, TryPop]],
    ),
    Case::new(
        "grows_with_what_it_took",
        2,
        &[&[TryPush, TryPush, TryPush], &[TryPop, TryPush, TryPush, TryPush, TryPush]],
    ),
    Case::new("both_grow", 2, &[&[TryPush, TryPush, TryPush], &[TryPush, TryPush, TryPop]]),
    Case::new("two_pop_while_it_grows", 2, &[&[TryPush, TryPush, TryPush], &[TryPop], &[TryPop]]),
];

const CASES: [Case; 23] = [
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
    Case::new("many", 3, &[&[TryPush, TryPush, TryPush], &[TryPopMany(2), TryPopMany(3)]]),
    Case::new("two_pop_many", 2, &[&[TryPush, TryPush], &[TryPopMany(2)], &[TryPopMany(2)]]),
    Case::new("many_or_one", 2, &[&[TryPush, TryPush, TryPop], &[TryPopMany(2), TryPush]]),
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
            // Programs that touch many words are tried in fewer sizes, unless there is time.
            let blocks = if is_large && more == 0 { &case.blocks[1..] } else { case.blocks };
            let endings = match case.name {
                "both_do_both" | "three_blocks" if is_large && more == 0 => &[Ending::Emptied][..],
                "push_and_pop" | "both_do_both" | "three_blocks" => {
                    &[Ending::Emptied, Ending::LeftInside, Ending::Unsynchronized][..]
                }
                _ => &[Ending::Emptied][..],
            };
            trials.extend(trials_of(kind, case, blocks, endings, more));
        }
        for case in RINGS {
            let case = case.with_capacities(&[0]);
            trials.extend(trials_of(kind, case, &[1], &[Ending::Emptied], more));
        }
    }
    for kind in broken::sound::<_, 1>() {
        // A processor that retries the lock writes it each time. Loom would show a waiting one the
        // old values for ever, and three processors pass the turn to each other for ever.
        let is_apt =
            |case: &Case| !broken::is_locked(&kind) || !case.waits() && case.programs.len() == 2;
        for case in CASES.into_iter().filter(is_apt) {
            trials.extend(trials_of(kind, case, &[1], &[Ending::Emptied], 0));
        }
    }
    for case in CASES {
        trials.extend(trials_of(drawing(), case, &[2], &[Ending::Emptied], more));
    }
    for kind in kinds::<Loom>().into_iter().filter(|kind| kind.can.be_closed) {
        trials.extend(without_light_fences(kind));
    }
    trials.push(passes("queues::pool::ring_begins_again::preempted_1".into(), || {
        ring_begins_again(1)
    }));
    trials.push(passes("queues::pool::last_job::preempted_2".into(), || last_job(2)));
    trials.push(passes("queues::job_queue::preempted_2".into(), || job_queue(2)));
    trials.push(passes("queues::forced::closed::preempted_2".into(), || forced_while_closed(2)));
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

/// The queue after collisions: the first pop draws a ticket before it looks.
fn drawing() -> Kind<Loom> {
    let build = |capacity, block| {
        let queue = Queue::on_machine(queue_shape(capacity, block));
        let queue = queue.unwrap_or_else(|error| panic!("queue: {error}"));
        queue.pop_by_fetch_add();
        Box::new(queue) as _
    };
    let kind = Kind::new("queue-drawing", Order::Fifo, Can::ALL, build);
    Kind { preemptions: [1, 1], fullness: Fullness::NotIdle, ..kind }
}

/// Two processors that push, pop and close where both sides need full fences.
fn without_light_fences(kind: Kind<Loom>) -> impl Iterator<Item = Trial> {
    let cases = [
        "pop_and_push",
        "wait",
        "wait_crossed",
        "wait_for_close",
        "closed_while_full",
        "close_and_pop",
        "give_up",
    ];
    let can_have = move |capacity: &usize| kind.can.be_bounded || *capacity == 0;
    CASES.into_iter().filter(move |case| cases.contains(&case.name)).flat_map(move |case| {
        case.capacities.iter().copied().filter(can_have).map(move |capacity| {
            let name = format!(
                "queues::{}::without_light_fences::{}::capacity_{capacity}",
                kind.name, case.name
            );
            passes(name, move || {
                Loom::without_light_fences(|| case.run(kind, capacity, 2, Ending::Emptied, 0));
            })
        })
    })
}

/// Owner and thief want the same job, and know nothing of each other but by the pool.
fn last_job(preemptions: usize) {
    Loom::explore_to_the_end(
        2,
        preemptions,
        || {
            let pool = Pool::<u32, Loom>::on_machine(&PoolShape::DEFAULT.most_moved(0));
            (pool.expect("a good shape"), AtomicUsize::new(0))
        },
        |(pool, taken), cpu| {
            if cpu.id() == 0 {
                pool.push_on(cpu, 7).expect("it is open");
            }
            if pool.try_pop_on(cpu).is_ok() {
                taken.fetch_add(1, Relaxed);
            }
        },
        |(pool, taken), _| assert_eq!(taken.into_inner() + pool.len(), 1),
    );
}

/// A thief takes the third of four jobs while the owner of the leaf, whose ring has four slots, uses them again.
fn ring_begins_again(preemptions: usize) {
    type Large = [u64; 16];
    Loom::explore_to_the_end(
        2,
        preemptions,
        || {
            let shape = PoolShape::DEFAULT.most_moved(0);
            let pool = Pool::<Large, Loom>::on_machine(&shape).expect("a good shape");
            (pool, Line::word::<Loom>(0, Place::named("turn")))
        },
        |(pool, turn), cpu| {
            let push = |job| pool.push_on(cpu, [job; 16]).expect("it is open");
            if cpu.id() == 0 {
                (0..4).for_each(push);
                turn.store(1, Release);
                // Then the owner may go on without the lock of the leaf.
                turn.wait_while(cpu, Acquire, |turn| turn < 2);
                (4..7).for_each(push);
            } else {
                turn.wait_while(cpu, Acquire, |turn| turn < 1);
                for oldest in 0..3 {
                    if oldest == 2 {
                        turn.store(2, Release);
                    }
                    assert_eq!(pool.try_pop_on(cpu).map(|job| job[15]), Ok(oldest));
                }
            }
        },
        |(pool, _), _| assert_eq!(pool.len(), 4),
    );
}

/// One processor enqueues two jobs, one after the other in the same element. The other one dequeues them.
fn job_queue(preemptions: usize) {
    Loom::explore_to_the_end(
        2,
        preemptions,
        || {
            let counter = Hardware::<Loom>::on_machine;
            JobQueue::<u64, Loom, _>::on_machine(1, counter(), counter()).expect("an element")
        },
        |queue, cpu| {
            for job in 0..2 {
                if cpu.id() == 0 {
                    queue.enqueue_on(cpu, job);
                } else {
                    assert_eq!(queue.dequeue_on(cpu, &WayOut::none()), Some(job));
                }
            }
        },
        |_, _| {},
    );
}

/// One processor forces an item into a full queue, which the other closes: no push succeeds after that.
fn forced_while_closed(preemptions: usize) {
    Loom::explore_to_the_end(
        2,
        preemptions,
        || {
            let shape = QueueShape::tiny(Some(1), 0).spare_slot(true);
            Queue::<u32, Loom>::on_machine(shape).expect("a capacity above 0")
        },
        |queue, cpu| {
            if cpu.id() == 0 {
                let _ = queue.try_push_on(cpu, 1);
                let _ = queue.force_push_on(cpu, 2);
            } else {
                assert!(queue.close_on(cpu));
                assert!(matches!(queue.try_push_on(cpu, 3), Err(PushError::Closed(3))));
            }
        },
        |queue, cpu| assert!(matches!(queue.try_push_on(cpu, 4), Err(PushError::Closed(4)))),
    );
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

/// Loom's message when a wait never ends.
const HANGS: &str = "exceeded maximum number of branches";

/// Runs all cases of a kind, with small capacities, until one complains.
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
