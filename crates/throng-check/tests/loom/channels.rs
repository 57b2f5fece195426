//! Channels with 2 and 3 processors, which run tasks and block as threads.

use std::sync::atomic::Ordering::{Acquire, Release};
use std::task::Waker;

use libtest_mimic::Trial;
use throng::channel::parts::{Buffered, Entry, block_on};
use throng::machine::{Cpu, WayOut, Word};
use throng_check::workload::queue_shape;
use throng_check::worlds::{Loom, LoomCpu, LoomWord};

use crate::awaiting::{Awaiting, CASES, Case, Make, broken, buffered};
use crate::harness::{self, is_caught, passes};

fn run(case: Case, make: Make<Loom>, capacity: usize, preemptions: usize) {
    let capacity = (capacity > 0).then_some(capacity);
    let processors = case.programs.len();
    Loom::explore_to_the_end(
        processors,
        preemptions,
        move || Awaiting::new(make, capacity, processors),
        move |awaiting, cpu| awaiting.perform(cpu, cpu.id(), case.programs[cpu.id()]),
        Awaiting::settle,
    );
}

/// Loom's message when a wait never ends.
const HANGS: &str = "exceeded maximum number of branches";

/// Runs all cases with one preemption, until one complains.
fn all_cases(make: Make<Loom>) {
    for case in CASES {
        for &capacity in case.capacities {
            run(case, make, capacity, case.preemptions.min(1));
        }
    }
}

/// A task sends to a full channel while a thread receives, and light fences are no fences against that task.
///
/// No ticket is left: the thread finds its item in place, and the fourth item has the fourth slot.
fn one_sided_fences() {
    const CAPACITY: u64 = 3;
    let setup = || {
        let channel = Buffered::<u64, Loom>::on_machine(queue_shape(Some(CAPACITY as usize), 2));
        (channel.expect("it can be built"), LoomWord::new(0, &()))
    };
    let body = |(channel, is_full): &(Buffered<u64, Loom>, LoomWord), cpu: &LoomCpu| {
        if cpu.id() == 1 {
            is_full.wait_while(cpu, Acquire, |value| value == 0);
            assert_eq!(channel.recv_on(cpu, &WayOut::none()), Ok(0));
            return;
        }
        for item in 0..CAPACITY {
            channel.try_send_on(cpu, item).expect("there is room");
        }
        is_full.store(1, Release);
        let (mut item, mut entry) = (Some(CAPACITY), Entry::EMPTY);
        let poll = |waker: &Waker| channel.poll_send_on(cpu, &mut item, &mut entry, waker);
        let sent = block_on(cpu, &WayOut::<Loom>::none(), poll).expect("there is no way out");
        sent.expect("it is open");
    };
    let end = |(channel, _): (Buffered<u64, Loom>, LoomWord), cpu: &LoomCpu| {
        for item in 1..=CAPACITY {
            assert_eq!(channel.try_recv_on(cpu), Ok(item));
        }
    };
    Loom::with_one_sided_fences(|| Loom::explore_to_the_end(2, 3, setup, body, end));
}

pub(crate) fn trials() -> Vec<Trial> {
    let more = usize::from(harness::effort() > 1);
    let mut trials = Vec::new();
    for case in CASES {
        for &capacity in case.capacities {
            let preemptions = case.preemptions + more;
            let name = |kind| {
                format!(
                    "channels::{kind}{}::capacity_{capacity}::preempted_{preemptions}",
                    case.name
                )
            };
            trials.push(passes(name(""), move || run(case, buffered, capacity, preemptions)));
            let sound = broken::make::<Loom, { broken::SOUND }>;
            trials.push(passes(name("fenced::"), move || {
                run(case, sound, capacity, case.preemptions.min(1))
            }));
        }
    }
    trials.push(passes("channels::one_sided_fences".into(), one_sided_fences));
    let mut caught = |name: &str, make| {
        let name = format!("channels::broken::{name}");
        trials.push(is_caught(name, HANGS, move || all_cases(make)));
    };
    broken::racy().into_iter().for_each(|(name, make)| caught(name, make));
    caught("silent-close", broken::silent_close());
    caught("no-fences", broken::no_fences());
    trials
}
