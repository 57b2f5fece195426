//! Several ranks in one thread, with a network that can lose contact.

use super::*;
use crate::counting::{Answer, Counting};
use crate::meeting::Meeting;
use crate::options::Options;
use crate::packet::Words;
use crate::placement::place;
use crate::shape::Shape;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::thread;
use throng_messages::{BarrierKind, Numbers};

mod missing;

const PATIENCE: Duration = Duration::from_micros(1_000);

/// The packets in flight to each rank.
type Network = Rc<RefCell<Vec<VecDeque<(u32, Words)>>>>;

/// Pairs of sender and receiver whose packets do not arrive for now.
type Held = Rc<RefCell<Vec<(u32, u32)>>>;

struct Wire {
    me: u32,
    network: Network,
    held: Held,
    sent: u64,
}

impl Link for Wire {
    fn send(&mut self, rank: u32, words: Words) -> Result<(), Error> {
        self.network.borrow_mut()[rank as usize].push_back((self.me, words));
        self.sent += 1;
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(u32, Words)>, Error> {
        let inbox = &mut self.network.borrow_mut()[self.me as usize];
        let held = self.held.borrow();
        let first = inbox.iter().position(|&(from, _)| !held.contains(&(from, self.me)));
        Ok(first.and_then(|first| inbox.remove(first)))
    }

    fn is_flushed(&mut self) -> Result<bool, Error> {
        Ok(true)
    }

    fn abandon(&mut self) {}
}

/// The ranks, the time, and the ranks that are stopped.
struct Cluster<P> {
    engines: Vec<Engine<Wire, P>>,
    network: Network,
    held: Held,
    now_ns: u64,
    stopped: Vec<u32>,
}

impl<P: Part> Cluster<P> {
    fn of(ranks: u32, part: impl Fn(u32) -> P) -> Self {
        let network = Network::default();
        network.borrow_mut().resize(ranks as usize, VecDeque::new());
        let held = Held::default();
        let engine = |me| {
            let wire = Wire { me, network: Rc::clone(&network), held: Rc::clone(&held), sent: 0 };
            Engine::new(wire, (me, ranks), 99, part(me), PATIENCE)
        };
        let engines = (0..ranks).map(engine).collect();
        Cluster { engines, network, held, now_ns: 0, stopped: Vec::new() }
    }

    /// Lets all running ranks look, some time later.
    fn pass(&mut self) {
        self.now_ns += 10_000;
        for rank in 0..self.engines.len() {
            if !self.stopped.contains(&(rank as u32)) {
                self.engines[rank].look(self.now_ns);
            }
        }
    }

    /// Lets time pass until `ready` finds something or the wait fails.
    fn wait<T>(
        &mut self,
        rank: u32,
        mut ready: impl FnMut(&mut P) -> Option<T>,
    ) -> Result<T, Error> {
        let since_ns = self.now_ns;
        loop {
            self.pass();
            let engine = &mut self.engines[rank as usize];
            if let Some(found) = ready(engine.part()) {
                return Ok(found);
            }
            if let Some(error) = engine.why_not_wait(Need::Part, since_ns, self.now_ns) {
                return Err(error);
            }
            assert!(self.now_ns - since_ns < 1_000_000_000, "waits for ever");
        }
    }
}

impl Cluster<Counting> {
    fn new(shape: Shape, ranks: u32) -> Self {
        Self::of(ranks, |me| {
            let plan = shape.plan(ranks, &Options::new()).expect("the shape is good");
            let rank_of = place(&plan, ranks, ranks);
            Counting::new(me, ranks, plan, rank_of, 1)
        })
    }

    fn ask(&mut self, rank: u32) -> Answer {
        self.ask_many(rank, 1)
    }

    fn ask_many(&mut self, rank: u32, count: u64) -> Answer {
        let engine = &mut self.engines[rank as usize];
        let asked = engine.act(self.now_ns, |part, post| part.ask(1, count, thread::current, post));
        asked.expect("the seat is free")
    }

    fn number(&mut self, rank: u32, answer: &Answer) -> Result<u64, Error> {
        let number = self.wait(rank, |part| part.take_one(answer));
        if number.is_err() {
            self.engines[rank as usize].part().give_up(answer);
        }
        number
    }

    fn numbers(&mut self, rank: u32, answer: &Answer, most: u64) -> Vec<u64> {
        let numbers = self.wait(rank, |part| part.take(answer, most));
        numbers.expect("all ranks answer").into_iter().collect()
    }
}

impl Cluster<Meeting> {
    fn barrier(kind: BarrierKind, ranks: u32) -> Self {
        Self::of(ranks, |me| Meeting::new(kind.member(me, ranks).expect("the kind is good")))
    }

    fn arrive(&mut self, rank: u32) {
        let engine = &mut self.engines[rank as usize];
        engine.act(self.now_ns, |part, post| part.arrive(thread::current(), post));
    }

    fn passes(&mut self, rank: u32) -> Result<(), Error> {
        self.wait(rank, Meeting::pass)
    }
}

#[test]
fn every_shape_hands_out_each_number_once() {
    for shape in [
        Shape::Central,
        Shape::DiffractingTree { width: 4 },
        Shape::CombiningTree,
        Shape::CountingNetwork { width: 4 },
    ] {
        for ranks in [1, 2, 3, 5, 8] {
            let mut cluster = Cluster::new(shape, ranks);
            let mut numbers = Vec::new();
            for _ in 0..20 {
                let answers: Vec<_> = (0..ranks).map(|rank| cluster.ask(rank)).collect();
                for (rank, answer) in (0..).zip(answers) {
                    numbers.push(cluster.number(rank, &answer).expect("all ranks are there"));
                }
            }
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..20 * u64::from(ranks)), "{shape}, {ranks} ranks");
        }
    }
}

#[test]
fn every_shape_hands_out_each_number_once_to_callers_that_want_many() {
    for shape in [
        Shape::Central,
        Shape::DiffractingTree { width: 4 },
        Shape::CombiningTree,
        Shape::CountingNetwork { width: 4 },
    ] {
        for ranks in [1, 2, 3, 5, 8] {
            let mut cluster = Cluster::new(shape, ranks);
            let (mut numbers, mut asked) = (Vec::new(), 0);
            for round in 0..20 {
                let counts = (0..ranks).map(|rank| 1 + u64::from(rank * round) % 13);
                let counts: Vec<_> = counts.collect();
                let ask = |(rank, &count): (u32, &u64)| cluster.ask_many(rank, count);
                let answers: Vec<_> = (0..).zip(&counts).map(ask).collect();
                for ((rank, answer), count) in (0..).zip(answers).zip(counts) {
                    let its = cluster.numbers(rank, &answer, count);
                    assert_eq!(its.len() as u64, count);
                    let in_a_row = its.windows(2).all(|two| two[0] + 1 == two[1]);
                    assert!(in_a_row || !shape.is_linearizable(), "{shape}: {its:?}");
                    numbers.extend(its);
                    asked += count;
                }
            }
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..asked), "{shape}, {ranks} ranks");
        }
    }
}

#[test]
fn numbers_of_a_call_that_failed_go_to_the_next_callers() {
    let mut cluster = Cluster::new(Shape::Central, 3);
    cluster.stopped = vec![0];
    let failed = cluster.ask_many(2, 10);
    let error = cluster.wait(2, |part| part.take(&failed, 10)).expect_err("rank 0 has stopped");
    assert!(matches!(error, Error::NoAnswer { rank: 0, .. }), "{error}");
    cluster.engines[2].part().give_up(&failed);
    cluster.stopped.clear();

    // The answer has not come yet: its first numbers go to the next caller, the others stay.
    let next = cluster.ask(2);
    assert_eq!(cluster.numbers(2, &next, 1), [0]);
    // Fewer than this caller asks for.
    let many = cluster.ask_many(2, 4);
    assert_eq!(cluster.numbers(2, &many, 4), [1, 2, 3, 4]);
    let more = cluster.ask_many(2, 20);
    assert_eq!(cluster.numbers(2, &more, 20), [5, 6, 7, 8, 9]);
    // A caller that failed after it had got some numbers gives them back.
    let mut back = Numbers::new(1);
    back.push(5, 5);
    cluster.engines[2].part().put_back(&back);
    let again = cluster.ask_many(2, 2);
    assert_eq!(cluster.numbers(2, &again, 2), [5, 6]);
    let rest = cluster.ask_many(2, 3);
    assert_eq!(cluster.numbers(2, &rest, 3), [7, 8, 9]);
    let fresh = cluster.ask_many(2, 3);
    assert_eq!(cluster.numbers(2, &fresh, 3), [10, 11, 12]);
}

#[test]
fn an_answer_that_comes_when_no_caller_waits_is_kept() {
    let mut cluster = Cluster::new(Shape::DiffractingTree { width: 4 }, 3);
    let failed = cluster.ask_many(1, 6);
    cluster.engines[1].part().give_up(&failed);
    for _ in 0..20 {
        cluster.pass();
    }
    let mut numbers = Vec::new();
    for count in [1, 2, 3, 2] {
        let answer = cluster.ask_many(1, count);
        numbers.extend(cluster.numbers(1, &answer, count));
    }
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..8));
}

#[test]
fn a_rank_that_stops_is_named_and_its_late_answer_is_not_lost() {
    let mut cluster = Cluster::new(Shape::Central, 3);
    cluster.stopped = vec![0];
    let answer = cluster.ask(2);
    let error = cluster.number(2, &answer).expect_err("rank 0 does not answer");
    assert!(matches!(error, Error::NoAnswer { rank: 0, .. }), "{error}");
    assert!(cluster.now_ns < 3 * PATIENCE.as_nanos() as u64);

    cluster.stopped.clear();
    let answer = cluster.ask(2);
    assert_eq!(cluster.number(2, &answer), Ok(0), "the number that was asked for first");
    let answer = cluster.ask(1);
    assert_eq!(cluster.number(1, &answer), Ok(1));
}

#[test]
fn a_rank_without_roles_is_not_needed_for_a_number() {
    let mut cluster = Cluster::new(Shape::Central, 3);
    cluster.stopped = vec![1];
    for number in 0..1000 {
        let answer = cluster.ask(2);
        assert_eq!(cluster.number(2, &answer), Ok(number));
    }
}

#[test]
fn it_is_over_when_all_have_left_in_any_order() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
        let mut cluster = Cluster::new(Shape::Central, 3);
        for (index, rank) in order.into_iter().enumerate() {
            // Ranks that have left still serve those that have not.
            for &asks in &order[index..] {
                let answer = cluster.ask(asks);
                cluster.number(asks, &answer).expect("all ranks serve");
            }
            assert!(cluster.engines.iter_mut().all(|engine| !engine.is_over()), "{order:?}");
            cluster.engines[rank as usize].leave();
            cluster.pass();
            cluster.pass();
        }
        cluster.pass();
        cluster.pass();
        assert!(cluster.engines.iter_mut().all(Engine::is_over), "{order:?}");
    }
}

#[test]
fn no_rank_is_over_while_a_packet_is_on_its_way() {
    for kind in KINDS {
        for held in (0..4).flat_map(|from| (0..4).map(move |to| (from, to))) {
            let mut cluster = Cluster::barrier(kind, 4);
            cluster.held.borrow_mut().push(held);
            // The last rank never comes. The others send what they can, and leave.
            (0..3).for_each(|rank| cluster.arrive(rank));
            cluster.engines.iter_mut().for_each(Engine::leave);
            for _ in 0..20 {
                cluster.pass();
                for rank in 0..4 {
                    let is_on_its_way = !cluster.network.borrow()[rank].is_empty();
                    assert!(
                        !is_on_its_way || !cluster.engines[rank].is_over(),
                        "{kind:?} {held:?}"
                    );
                }
            }
            cluster.held.borrow_mut().clear();
            (0..5).for_each(|_| cluster.pass());
            assert!(cluster.engines.iter_mut().all(Engine::is_over), "{kind:?} {held:?}");
            assert!(cluster.network.borrow().iter().all(VecDeque::is_empty));
        }
    }
}

#[test]
fn a_rank_that_dies_after_all_have_left_holds_up_the_others_for_the_patience_only() {
    for stopped in 0..3 {
        let mut cluster = Cluster::barrier(BarrierKind::Dissemination, 3);
        cluster.engines.iter_mut().for_each(Engine::leave);
        // Rank 0 learns that all have left, then the others do.
        for rank in 0..3 {
            cluster.engines[rank].look(cluster.now_ns);
        }
        cluster.stopped = vec![stopped];
        let left_ns = cluster.now_ns;
        let running: Vec<usize> = (0..3).filter(|&rank| rank != stopped as usize).collect();
        while running.iter().any(|&rank| !cluster.engines[rank].is_over()) {
            cluster.pass();
            for &rank in &running {
                let end = cluster.engines[rank].why_not_wait(Need::Leave, 0, cluster.now_ns);
                assert_eq!(end, None, "all have left");
            }
            assert!(cluster.now_ns - left_ns < 2 * PATIENCE.as_nanos() as u64, "{stopped}");
        }
    }
}

#[test]
fn a_leaving_rank_does_not_wait_for_a_rank_that_has_stopped() {
    let mut cluster = Cluster::new(Shape::Central, 3);
    cluster.stopped = vec![2];
    cluster.engines[0].leave();
    cluster.engines[1].leave();
    let mut ends = [None, None];
    while ends.contains(&None) {
        cluster.pass();
        assert!(cluster.now_ns < 5 * PATIENCE.as_nanos() as u64, "hangs: {ends:?}");
        for rank in [0, 1] {
            let end = cluster.engines[rank].why_not_wait(Need::Leave, 0, cluster.now_ns);
            if let (0, Some(Error::NoAnswer { rank, .. })) = (rank, &end) {
                cluster.engines[0].give_up(*rank);
            }
            ends[rank] = ends[rank].take().or(end);
        }
    }
    assert!(matches!(ends[0], Some(Error::NoAnswer { rank: 2, .. })), "{ends:?}");
    assert_eq!(ends[1], Some(Error::Gone { rank: 2 }));
}

#[test]
fn a_deserting_rank_makes_the_calls_of_others_fail() {
    let mut cluster = Cluster::new(Shape::CombiningTree, 3);
    cluster.engines[1].desert();
    cluster.stopped = vec![1];
    let answer = cluster.ask(2);
    assert_eq!(cluster.number(2, &answer), Err(Error::Gone { rank: 1 }));
}

#[test]
fn a_packet_of_another_structure_is_ignored() {
    let mut cluster = Cluster::new(Shape::Central, 2);
    let stale = Packet::Gone(1).encode(98);
    cluster.engines[1].link.send(0, stale).expect("a wire never fails");
    cluster.pass();
    assert_eq!(cluster.engines[0].failed, None);
}

const KINDS: [BarrierKind; 2] = [BarrierKind::Dissemination, BarrierKind::Tree { fan_in: 2 }];

#[test]
fn no_rank_passes_a_barrier_before_the_last_has_come() {
    for kind in KINDS {
        for ranks in [1, 2, 3, 5, 8] {
            let mut cluster = Cluster::barrier(kind, ranks);
            for round in 0..5 {
                let last = round % ranks;
                (0..ranks).filter(|&rank| rank != last).for_each(|rank| cluster.arrive(rank));
                // Longer than the patience: all ranks are there, though late, so none gives up.
                for _ in 0..500 {
                    cluster.pass();
                    for rank in (0..ranks).filter(|&rank| rank != last) {
                        let now_ns = cluster.now_ns;
                        let engine = &mut cluster.engines[rank as usize];
                        assert_eq!(engine.part().pass(), None, "{kind:?}, {ranks} ranks");
                        assert_eq!(engine.why_not_wait(Need::Part, 0, now_ns), None);
                    }
                }
                cluster.arrive(last);
                (0..ranks).for_each(|rank| cluster.passes(rank).expect("all have come"));
            }
        }
    }
}

#[test]
fn an_arrival_holds_though_its_caller_has_given_up() {
    for kind in KINDS {
        let mut cluster = Cluster::barrier(kind, 3);
        cluster.stopped = vec![1];
        cluster.arrive(0);
        cluster.arrive(2);
        let error = cluster.passes(2).expect_err("rank 1 has stopped");
        assert!(matches!(error, Error::NoAnswer { rank: 1, .. }), "{error}");
        cluster.stopped.clear();
        cluster.arrive(1);
        cluster.arrive(2);
        (0..3).for_each(|rank| cluster.passes(rank).expect("all have come"));
    }
}

#[test]
fn a_round_that_ended_after_its_caller_gave_up_is_the_one_it_comes_back_to() {
    for kind in KINDS {
        let mut cluster = Cluster::barrier(kind, 3);
        cluster.stopped = vec![1];
        cluster.arrive(0);
        cluster.arrive(2);
        cluster.passes(2).expect_err("rank 1 has stopped");
        cluster.stopped.clear();
        cluster.arrive(1);
        (0..2).for_each(|rank| cluster.passes(rank).expect("all have come"));
        // Rank 2 has passed without knowing it. The others do not come again.
        cluster.arrive(2);
        assert_eq!(cluster.passes(2), Ok(()));
    }
}

#[test]
fn a_wait_for_a_rank_that_has_left_ends_with_an_error() {
    for kind in KINDS {
        let mut cluster = Cluster::barrier(kind, 4);
        (0..4).for_each(|rank| cluster.arrive(rank));
        (0..4).for_each(|rank| cluster.passes(rank).expect("all have come"));
        (0..3).for_each(|rank| cluster.arrive(rank));
        cluster.engines[3].leave();
        (0..3).for_each(|rank| assert_eq!(cluster.passes(rank), Err(Error::Left { rank: 3 })));
    }
}

#[test]
fn a_rank_that_leaves_after_the_last_round_does_not_disturb_those_still_in_it() {
    for kind in KINDS {
        for first in 0..4 {
            let mut cluster = Cluster::barrier(kind, 4);
            (0..4).for_each(|rank| cluster.arrive(rank));
            cluster.passes(first).expect("all have come");
            cluster.engines[first as usize].leave();
            for rank in (0..4).filter(|&rank| rank != first) {
                cluster.passes(rank).expect("all have come");
            }
        }
    }
}
