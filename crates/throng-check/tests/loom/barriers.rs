//! Each barrier with 2 and 3 members, and with anonymous callers.

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng::structures::barrier::{FanIn, Flags, Registered, Reinit, Shape, WakeUp, methods};
use throng_check::workload::{ObservedEntrance, ObservedMeeting, ObservedTeam, alternating};
use throng_check::worlds::Loom;

use crate::broken::barriers as broken;
use crate::harness::{self, is_caught, passes};

/// Numbers of members, rounds and preemptions.
#[derive(Clone, Copy)]
struct Size {
    members: usize,
    rounds: u64,
    preemptions: usize,
}

impl Size {
    const fn new(members: usize, rounds: u64, preemptions: usize) -> Self {
        Size { members, rounds, preemptions }
    }

    fn name(self) -> String {
        let Size { members, rounds, preemptions } = self;
        format!("{members}x{rounds}::preempted_{preemptions}")
    }
}

fn meet(method: Registered<Loom>, shape: Shape, size: Size) {
    Loom::explore(
        size.members,
        size.preemptions,
        move || ObservedMeeting::watched(&method, &shape),
        move |observed, cpu| observed.meet(cpu, cpu.id(), size.rounds),
        ObservedMeeting::assert_kept,
    );
}

fn come(method: Registered<Loom>, shape: Shape, visits: &'static [u64], preemptions: usize) {
    Loom::explore(
        visits.len(),
        preemptions,
        move || ObservedEntrance::anonymous(&method, &shape, visits.len()),
        move |observed, cpu| observed.visit(cpu, cpu.id(), visits[cpu.id()]),
        ObservedEntrance::assert_kept,
    );
}

/// The member of the highest rank leaves after a round. The others complete that round, and get an
/// error in the next one.
fn one_leaves(method: Registered<Loom>, size: Size) {
    let last = size.members - 1;
    Loom::explore(
        size.members,
        size.preemptions,
        move || ObservedTeam::new(&method, &Shape::for_members(size.members)),
        move |observed, cpu| {
            let mut member = observed.member(cpu.id());
            assert!(member.wait_on(cpu, None).is_ok(), "all come to the first round");
            if cpu.id() != last {
                assert!(member.wait_on(cpu, None).is_err(), "one does not come to the second");
            }
        },
        ObservedTeam::assert_kept,
    );
}

/// Returns the shapes that differ for a method, with their names.
fn shapes(method: &Registered<Loom>, members: usize) -> Vec<(String, Shape)> {
    let usual = Shape::for_members(members);
    let mut shapes = vec![("usual".to_owned(), usual.clone())];
    let (packed, padded) = (Flags::Packed, Flags::Padded);
    let mut add = |fan_in, flags, wake_up, reinit| {
        let name = format!("{fan_in}_way_{flags:?}_{wake_up:?}_{reinit:?}").to_lowercase();
        let shape = usual.clone().fan_in(FanIn::Fixed(fan_in));
        let shape = shape.flags(flags).wake_up(wake_up).reinit(reinit);
        shapes.push((name, shape));
    };
    match method.about.name {
        "shaped" | "tally" | "count-and-release" | "central" | "central-locked" | "alternating" => {
        }
        "dissemination" => add(2, padded, WakeUp::Global, Reinit::Clear),
        // Their flags are bytes of a word, or they have none.
        "combining-tree-locked"
        | "mcs-tree-bytes"
        | "dynamic-fway-bytes"
        | "dynamic-fway-all-go-on" => add(2, packed, WakeUp::Tree, Reinit::Count),
        _ => {
            add(2, packed, WakeUp::Tree, Reinit::Count);
            add(2, padded, WakeUp::Global, Reinit::Count);
            add(3, padded, WakeUp::Tree, Reinit::Clear);
        }
    }
    shapes
}

/// The runs that loom completes for a method in some seconds: preemptions, unless stated otherwise.
#[derive(Clone, Copy)]
struct Plan {
    of_two: usize,
    rounds_of_two: u64,
    /// In all shapes.
    of_three: usize,
    /// In one shape.
    of_three_once: usize,
    of_visitors: usize,
    visits: &'static [u64],
    /// For more callers than seats.
    of_crowd: usize,
}

impl Plan {
    fn of(method: &str) -> Self {
        let usual = Plan {
            of_two: 3,
            rounds_of_two: 3,
            of_three: 1,
            of_three_once: 2,
            of_visitors: 2,
            visits: &[3, 3],
            of_crowd: 1,
        };
        match method {
            // In every step all members write and all wait, so there is more to try than in trees.
            "dissemination" => Plan { of_three_once: 1, of_crowd: 0, ..usual },
            // Contenders, which programs do not use. At each lock all may wait for each other.
            "central-locked"
            | "combining-tree-locked"
            | "mcs-tree-bytes"
            | "dynamic-fway-bytes"
            | "dynamic-fway-all-go-on" => {
                Plan { of_two: 2, rounds_of_two: 2, of_three_once: 1, of_crowd: 0, ..usual }
            }
            // Four rounds, so that both methods have been left.
            "alternating" => Plan {
                rounds_of_two: 5,
                of_two: 2,
                of_three: 0,
                of_three_once: 0,
                of_crowd: 0,
                ..usual
            },
            // The same, twice a round.
            "grouped" => Plan {
                of_two: 2,
                rounds_of_two: 2,
                of_three: 0,
                of_three_once: 0,
                of_visitors: 1,
                visits: &[2, 2],
                of_crowd: 0,
            },
            _ => usual,
        }
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let more = usize::from(harness::effort() > 1);
    let mut trials = Vec::new();
    for method in methods::<Loom>().into_iter().chain([alternating()]) {
        let name = method.about.name;
        let plan = Plan::of(name);
        let mut add = |size: Size, shape_count| {
            for (shaped, shape) in shapes(&method, size.members).into_iter().take(shape_count) {
                let name = format!("barriers::{name}::{}::{shaped}", size.name());
                trials.push(passes(name, move || meet(method, shape, size)));
            }
        };
        add(Size::new(2, plan.rounds_of_two, plan.of_two + more), usize::MAX);
        add(Size::new(3, 2, plan.of_three), usize::MAX);
        if plan.of_three_once > plan.of_three {
            // Fewer preemptions show the differences of shapes.
            add(Size::new(3, 2, plan.of_three_once + more), 1);
        }
        for size in [Size::new(2, 2, 2 + more), Size::new(3, 2, plan.of_three)] {
            let name = format!("barriers::{name}::one_leaves::{}", size.name());
            trials.push(passes(name, move || one_leaves(method, size)));
        }
        let crowds: [(&str, &[u64], usize); 2] =
            [("2_for_2", plan.visits, plan.of_visitors), ("3_for_2", &[2, 1, 1], plan.of_crowd)];
        for (crowd, visits, preemptions) in crowds {
            let preemptions = preemptions + more;
            let name = format!("barriers::{name}::anonymous::{crowd}::preempted_{preemptions}");
            let run = move || come(method, Shape::for_members(2), visits, preemptions);
            trials.push(passes(name, run));
        }
    }
    trials.extend(broken_trials());
    trials
}

/// Loom's message when a wait never ends.
const HANGS: &str = "exceeded maximum number of branches";

fn broken_trials() -> Vec<Trial> {
    use broken::{
        ChildNotReady, CountsDown, LastGoesOn, RELAXED_BELL, SOUND, StopsShort, TwoLeaders,
        WITHOUT_FENCE,
    };

    let caught = |method: Registered<Loom>, size: Size, words| {
        let name = format!("barriers::broken::{}", method.about.name);
        let shape = Shape::for_members(size.members);
        is_caught(name, words, move || meet(method, shape, size))
    };
    let two = Size::new(2, 2, 2);
    // Loom did not catch this one with up to 4 preemptions. Shuttle and the simulator do.
    let found = |method: &Registered<Loom>| method.about.name != "child-not-ready-late";
    let hanging = broken::hanging().into_iter().filter(found);
    let mut trials: Vec<Trial> = hanging.map(|method| caught(method, two, HANGS)).collect();
    trials.push(caught(Registered::of::<LastGoesOn<Loom, WITHOUT_FENCE>>(), two, HANGS));
    let relaxed = Registered::of::<LastGoesOn<Loom, RELAXED_BELL>>();
    // With two members, each has the other's work by way of the fences.
    let three = Size::new(3, 2, 1);
    trials.push(caught(relaxed, three, "Causality violation"));
    trials.push(caught(Registered::of::<StopsShort<Loom>>(), three, "Causality violation"));

    for sound in [
        Registered::of::<CountsDown<Loom, SOUND>>(),
        Registered::of::<ChildNotReady<Loom, SOUND>>(),
        Registered::of::<LastGoesOn<Loom, SOUND>>(),
    ] {
        for size in [two, three] {
            let name = format!(
                "barriers::broken::but-for-its-faults::{}::{}",
                sound.about.name,
                size.name()
            );
            let shape = Shape::for_members(size.members);
            trials.push(passes(name, move || meet(sound, shape, size)));
        }
    }
    trials.push(is_caught("barriers::broken::two-leaders".into(), "had 2 leaders", || {
        Loom::explore(
            2,
            2,
            || ObservedEntrance::new("two-leaders", Box::new(TwoLeaders::<Loom>::new(2)), 2),
            |observed, cpu| observed.visit(cpu, cpu.id(), 2),
            ObservedEntrance::assert_kept,
        );
    }));
    trials
}
