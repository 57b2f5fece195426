//! Each barrier with 4 to 16 members, and with more callers than seats.

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng::structures::barrier::{FanIn, Flags, Registered, Reinit, Shape, WakeUp, methods};
use throng_check::workload::{ObservedEntrance, ObservedMeeting, ObservedTeam, alternating};
use throng_check::worlds::{Schedules, Shuttle};

use super::seed;
use crate::broken::barriers as broken;
use crate::harness::{self, is_caught, passes};

#[derive(Clone)]
struct Plan {
    schedules: Schedules,
    count: usize,
    rounds: u64,
    shape: Shape,
}

fn meet(method: Registered<Shuttle>, plan: Plan) {
    let Plan { schedules, count, rounds, shape } = plan;
    Shuttle::explore(
        schedules,
        count,
        seed(),
        shape.members,
        move || ObservedMeeting::new(&method, &shape),
        move |observed, cpu| observed.meet(cpu, cpu.id(), rounds),
        ObservedMeeting::assert_kept,
    );
}

fn come(method: Registered<Shuttle>, plan: Plan, visitors: usize) {
    let Plan { schedules, count, rounds, shape } = plan;
    Shuttle::explore(
        schedules,
        count,
        seed(),
        visitors,
        move || ObservedEntrance::anonymous(&method, &shape, visitors),
        move |observed, cpu| observed.visit(cpu, cpu.id(), rounds),
        ObservedEntrance::assert_kept,
    );
}

/// One member leaves after a round. The others complete it, and get an error in the next round.
fn one_leaves(method: Registered<Shuttle>, plan: Plan) {
    let Plan { schedules, count, shape, .. } = plan;
    let members = shape.members;
    Shuttle::explore(
        schedules,
        count,
        seed(),
        members,
        move || ObservedTeam::new(&method, &shape),
        move |observed, cpu| {
            let mut member = observed.member(cpu.id());
            assert!(member.wait_on(cpu, None).is_ok(), "all come to the first round");
            if cpu.id() != members / 2 {
                assert!(member.wait_on(cpu, None).is_err(), "one does not come to the second");
            }
        },
        ObservedTeam::assert_kept,
    );
}

const WAYS: [(&str, Schedules); 3] =
    [("random", Schedules::Random), ("pct", Schedules::Pct(8)), ("uniform", Schedules::Uniform)];

/// Returns all kinds of arrival and wake-up, each in a tree of another fan-in.
fn shapes(members: usize) -> [Shape; 4] {
    let shape = |fan_in, flags, wake_up, reinit| {
        let usual = Shape::for_members(members);
        usual.fan_in(fan_in).flags(flags).wake_up(wake_up).reinit(reinit)
    };
    [
        shape(FanIn::Usual, Flags::Packed, WakeUp::Global, Reinit::Clear),
        shape(FanIn::Fixed(2), Flags::Packed, WakeUp::Tree, Reinit::Clear),
        shape(FanIn::Fixed(3), Flags::Padded, WakeUp::Tree, Reinit::Count),
        shape(FanIn::Fixed(2), Flags::Padded, WakeUp::Global, Reinit::Count),
    ]
}

pub(crate) fn trials() -> Vec<Trial> {
    let effort = harness::effort();
    let mut trials = Vec::new();
    for method in methods::<Shuttle>().into_iter().chain([alternating()]) {
        let name = method.about.name;
        for (way, schedules) in WAYS {
            for (members, rounds, count) in [(4, 4, 400), (7, 3, 160), (16, 3, 40)] {
                let count = count * effort;
                for (index, shape) in shapes(members).into_iter().enumerate() {
                    let name =
                        format!("barriers::{name}::{way}::{members}x{rounds}::shape_{index}");
                    let plan = Plan { schedules, count, rounds, shape };
                    trials.push(passes(name, move || meet(method, plan)));
                }
                let shape = Shape::for_members(members);
                let plan = Plan { schedules, count, rounds, shape };
                let of_team = plan.clone();
                trials.push(passes(
                    format!("barriers::{name}::{way}::one_of_{members}_leaves"),
                    move || one_leaves(method, of_team),
                ));
                for visitors in [members, members + 1, 2 * members] {
                    let plan = plan.clone();
                    trials.push(passes(
                        format!("barriers::{name}::{way}::anonymous::{visitors}_for_{members}"),
                        move || come(method, plan, visitors),
                    ));
                }
            }
        }
    }
    trials.extend(broken_trials());
    trials
}

/// Shuttle's message when a wait never ends.
const HANGS: &str = "exceeded max_steps";

fn broken_trials() -> Vec<Trial> {
    let plan = |members| Plan {
        schedules: Schedules::Random,
        count: 20_000,
        rounds: 3,
        shape: Shape::for_members(members),
    };
    let caught = |method: Registered<Shuttle>, words| {
        let name = format!("barriers::broken::{}", method.about.name);
        is_caught(name, words, move || meet(method, plan(3)))
    };
    let mut trials: Vec<Trial> =
        broken::hanging().into_iter().map(|method| caught(method, HANGS)).collect();
    let stops_short = Registered::of::<broken::StopsShort<Shuttle>>();
    trials.push(caught(stops_short, "broke its promise: a member left"));
    let sound = Registered::of::<broken::CountsDown<Shuttle, { broken::SOUND }>>();
    trials.push(passes("barriers::broken::but-for-its-faults::figure-14".into(), move || {
        meet(sound, Plan { count: 2000, ..plan(3) });
    }));
    trials.push(is_caught("barriers::broken::two-leaders".into(), "had 2 leaders", || {
        let entrance = || Box::new(broken::TwoLeaders::<Shuttle>::new(3));
        Shuttle::explore(
            Schedules::Random,
            20_000,
            seed(),
            3,
            move || ObservedEntrance::new("two-leaders", entrance(), 3),
            |observed, cpu| observed.visit(cpu, cpu.id(), 3),
            ObservedEntrance::assert_kept,
        );
    }));
    trials
}
