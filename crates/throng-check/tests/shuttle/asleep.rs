//! Waits that end by a wake-up and by nothing else: a wake-up that is lost is a deadlock.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use libtest_mimic::Trial;
use throng::ShapeError;
use throng::machine::{Cpu, Machine, Patience, WayOut, Word};
use throng::structures::barrier::{
    About, Anonymous, Broken, CountAndRelease, Dissemination, Meeting, Method, Registered, Shape,
    Switching, methods,
};
use throng_check::workload::{
    Kind, ObservedMeeting, ObservedQueue, ObservedTeam, alternating, kinds,
};
use throng_check::worlds::{Schedules, Shuttle, ShuttleCpu, ShuttlePark};

use super::seed;
use crate::harness::{self, is_caught, passes};

/// No alarm is raised.
type Calm = ShuttlePark<false>;
/// Alarms are raised.
type Alarmed = ShuttlePark<true>;

const WAYS: [(&str, Schedules); 2] = [("random", Schedules::Random), ("pct", Schedules::Pct(8))];

/// A method whose members [sleep at once](WayOut::sleeps_at_once).
#[derive(Debug)]
struct AtOnce<B>(B);

impl<B: Method<M>, M: Machine> Method<M> for AtOnce<B> {
    const ABOUT: About = B::ABOUT;

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        B::build(shape).map(AtOnce)
    }
}

impl<B: Meeting<M>, M: Machine> Meeting<M> for AtOnce<B> {
    fn members(&self) -> usize {
        self.0.members()
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let way_out = way_out.watching(way_out.watch).patience(Patience::NONE);
        self.0.meet_on(cpu, rank, round, &way_out)
    }

    fn wake_members(&self) {
        self.0.wake_members();
    }
}

/// A barrier that holds its first round at its first method, and all others asleep.
#[derive(Debug)]
struct Switched<M: Machine>(Switching<Dissemination<M>, M>);

impl<M: Machine> Method<M> for Switched<M> {
    const ABOUT: About = About::new("switching", "a barrier whose members sleep", "ours");

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Switching::new(Dissemination::build(shape)?).map(Switched)
    }
}

impl<M: Machine> Meeting<M> for Switched<M> {
    fn members(&self) -> usize {
        self.0.members()
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        self.0.meet_deciding(cpu, rank, round, way_out, true)
    }

    fn wake_members(&self) {
        self.0.wake_members();
    }
}

fn meet(method: Registered<Calm>, schedules: Schedules, count: usize, members: usize, rounds: u64) {
    Shuttle::explore(
        schedules,
        count,
        seed(),
        members,
        move || ObservedMeeting::new(&method, &Shape::for_members(members)),
        move |observed, cpu: &ShuttleCpu| observed.meet(cpu, cpu.id(), rounds),
        ObservedMeeting::assert_kept,
    );
}

/// More visitors than seats: some sleep until a seat is free. A visitor that is free takes the next of 15 visits.
fn come(method: Registered<Calm>, schedules: Schedules, count: usize) {
    const MEMBERS: usize = 3;
    const VISITS: usize = 5 * MEMBERS;
    let shared = move || {
        let meeting = method.build(&Shape::for_members(MEMBERS)).expect("three can meet");
        (Anonymous::new(meeting), AtomicUsize::new(0), AtomicUsize::new(0))
    };
    Shuttle::explore(
        schedules,
        count,
        seed(),
        MEMBERS + 2,
        shared,
        |(barrier, visits, leaders), cpu: &ShuttleCpu| {
            let mut seat = cpu.id();
            while visits.fetch_add(1, SeqCst) < VISITS {
                let result = barrier.wait_on(cpu, None, &mut seat).expect("all visits are made");
                leaders.fetch_add(usize::from(result.is_leader()), SeqCst);
            }
        },
        |(_, _, leaders)| assert_eq!(leaders.load(SeqCst), VISITS / MEMBERS),
    );
}

/// One member leaves after two rounds, by an abort or a drop; the others are told in the next round.
fn breaks(method: Registered<Alarmed>, schedules: Schedules, count: usize, aborts: bool) {
    const ROUNDS: u64 = 2;
    Shuttle::explore(
        schedules,
        count,
        seed(),
        3,
        move || ObservedTeam::new(&method, &Shape::for_members(3)),
        move |observed, cpu| {
            let mut member = observed.member(cpu.id());
            let result = member.meet(cpu, if cpu.id() == 1 { ROUNDS } else { ROUNDS + 1 });
            assert_eq!(result.is_ok(), cpu.id() == 1);
            if aborts {
                member.member.abort();
            }
        },
        ObservedTeam::assert_kept,
    );
}

/// Two processors push and two pop, all of them asleep until there is something to do.
fn share(kind: Kind<Calm>, schedules: Schedules, count: usize, capacity: Option<usize>) {
    Shuttle::explore_to_the_end(
        schedules,
        count,
        seed(),
        4,
        move || ObservedQueue::ticking(&kind, capacity, 2, 4),
        |observed, cpu: &ShuttleCpu| observed.share(cpu, cpu.id(), 2, 4),
        ObservedQueue::settle,
    );
}

/// A barrier whose last member wakes no other member.
#[derive(Debug)]
struct Silent<M: Machine> {
    arrivals: M::Word,
    members: u64,
}

impl<M: Machine<Spot = ()>> Method<M> for Silent<M> {
    const ABOUT: About = About::new("silent", "one word, and no wake-up", "broken on purpose");

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Ok(Silent { arrivals: M::Word::new(0, &()), members: shape.members as u64 })
    }
}

impl<M: Machine> Meeting<M> for Silent<M> {
    fn members(&self) -> usize {
        self.members as usize
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        _rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        self.arrivals.fetch_add(1, SeqCst);
        let full = self.members * (round + 1);
        let over = self.arrivals.sleep_while(cpu, SeqCst, way_out, |arrivals| arrivals < full);
        over.map(drop).ok_or(Broken)
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let effort = harness::effort();
    let count = 300 * effort;
    let mut trials = Vec::new();
    for (way, schedules) in WAYS {
        for method in methods::<Calm>().into_iter().chain([alternating()]) {
            let name = method.about.name;
            for (members, rounds, count) in [(4, 4, count), (9, 2, count / 3)] {
                let name = format!("asleep::barriers::{name}::{way}::{members}x{rounds}");
                let run = move || meet(method, schedules, count, members, rounds);
                trials.push(passes(name, run));
            }
            let name = format!("asleep::anonymous::{name}::{way}");
            trials.push(passes(name, move || come(method, schedules, count)));
        }
        // A push polls before it sleeps, which schedules by priority may let it do for ever.
        for kind in kinds::<Calm>().into_iter().filter(|_| way == "random") {
            for capacity in [None, Some(1), Some(3)] {
                if kind.can.be_bounded || capacity.is_none() {
                    let bound = capacity.unwrap_or(0);
                    let name = format!("asleep::queues::{}::{way}::capacity_{bound}", kind.name);
                    let run = move || share(kind, schedules, count, capacity);
                    trials.push(passes(name, run));
                }
            }
        }
        let at_once = Registered::<Calm>::of::<AtOnce<CountAndRelease<_>>>();
        let name = format!("asleep::barriers::count-and-release::{way}::at_once");
        let run = move || meet(at_once, schedules, 10 * count, 3, 3);
        trials.push(passes(name, run));
        for method in [
            Registered::<Alarmed>::of::<AtOnce<CountAndRelease<_>>>(),
            Registered::of::<AtOnce<Switched<_>>>(),
        ] {
            for (how, aborts) in [("dropped", false), ("aborted", true)] {
                let name = format!("asleep::breaks::{way}::{}::{how}", method.about.name);
                let run = move || breaks(method, schedules, 10 * count, aborts);
                trials.push(passes(name, run));
            }
        }
    }
    let silent = Registered::of::<Silent<_>>();
    trials.push(is_caught("asleep::broken::silent".into(), "deadlock", move || {
        meet(silent, Schedules::Random, 1000, 3, 2);
    }));
    trials
}
