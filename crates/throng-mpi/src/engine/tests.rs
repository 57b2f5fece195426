//! Several ranks in one thread, with a network that can lose contact.

use super::*;
use crate::options::Options;
use crate::packet::Words;
use crate::placement::place;
use crate::shape::Shape;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::thread;

const PATIENCE: Duration = Duration::from_micros(1_000);

/// What is on its way to each rank.
type Network = Rc<RefCell<Vec<VecDeque<(u32, Words)>>>>;

struct Wire {
    me: u32,
    network: Network,
}

impl Link for Wire {
    fn send(&mut self, rank: u32, words: Words) -> Result<(), Error> {
        self.network.borrow_mut()[rank as usize].push_back((self.me, words));
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(u32, Words)>, Error> {
        Ok(self.network.borrow_mut()[self.me as usize].pop_front())
    }

    fn is_flushed(&mut self) -> Result<bool, Error> {
        Ok(true)
    }

    fn abandon(&mut self) {}
}

/// Ranks, the time, and who is stopped.
struct Cluster {
    engines: Vec<Engine<Wire>>,
    now_ns: u64,
    stopped: Vec<u32>,
}

impl Cluster {
    fn new(shape: Shape, ranks: u32) -> Self {
        let network = Network::default();
        network.borrow_mut().resize(ranks as usize, VecDeque::new());
        let engine = |me| {
            let plan = shape.plan(ranks, &Options::new()).expect("the shape is good");
            let rank_of = place(&plan, ranks, ranks);
            let wire = Wire { me, network: Rc::clone(&network) };
            Engine::new(wire, (me, ranks), 99, plan, rank_of, PATIENCE)
        };
        Cluster { engines: (0..ranks).map(engine).collect(), now_ns: 0, stopped: Vec::new() }
    }

    fn ask(&mut self, rank: u32) -> u32 {
        let asked = self.engines[rank as usize].ask(self.now_ns, 1, thread::current);
        asked.expect("the seat is free").0
    }

    /// All that run look, some time later.
    fn pass(&mut self) {
        self.now_ns += 10_000;
        for rank in 0..self.engines.len() {
            if !self.stopped.contains(&(rank as u32)) {
                self.engines[rank].look(self.now_ns);
            }
        }
    }

    /// Lets time pass until the answer is there or the wait fails.
    fn wait(&mut self, rank: u32, seat: u32) -> Result<u64, Error> {
        let since_ns = self.now_ns;
        loop {
            self.pass();
            let engine = &mut self.engines[rank as usize];
            if let Some(number) = engine.take(seat) {
                return Ok(number);
            }
            if let Some(error) = engine.why_not_wait(Need::Roles, since_ns, self.now_ns) {
                engine.stand_up(seat);
                return Err(error);
            }
            assert!(self.now_ns - since_ns < 1_000_000_000, "waits for ever");
        }
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
                let seats: Vec<_> = (0..ranks).map(|rank| cluster.ask(rank)).collect();
                for (rank, seat) in (0..).zip(seats) {
                    numbers.push(cluster.wait(rank, seat).expect("everybody is there"));
                }
            }
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..20 * u64::from(ranks)), "{shape}, {ranks} ranks");
        }
    }
}

#[test]
fn a_rank_that_stops_is_named_and_its_late_answer_is_not_lost() {
    let mut cluster = Cluster::new(Shape::Central, 3);
    cluster.stopped = vec![0];
    let seat = cluster.ask(2);
    let error = cluster.wait(2, seat).expect_err("rank 0 does not answer");
    assert!(matches!(error, Error::NoAnswer { rank: 0, .. }), "{error}");
    assert!(cluster.now_ns < 3 * PATIENCE.as_nanos() as u64);

    cluster.stopped.clear();
    let seat = cluster.ask(2);
    assert_eq!(cluster.wait(2, seat), Ok(0), "the number that was asked for first");
    let seat = cluster.ask(1);
    assert_eq!(cluster.wait(1, seat), Ok(1));
}

#[test]
fn a_rank_without_roles_is_not_needed_for_a_number() {
    let mut cluster = Cluster::new(Shape::Central, 3);
    cluster.stopped = vec![1];
    for number in 0..1000 {
        let seat = cluster.ask(2);
        assert_eq!(cluster.wait(2, seat), Ok(number));
    }
}

#[test]
fn it_is_over_when_all_have_left_in_any_order() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
        let mut cluster = Cluster::new(Shape::Central, 3);
        for (index, rank) in order.into_iter().enumerate() {
            // Those that have left still serve those that have not.
            for &asks in &order[index..] {
                let seat = cluster.ask(asks);
                cluster.wait(asks, seat).expect("everybody serves");
            }
            assert!(cluster.engines.iter_mut().all(|engine| !engine.is_over()), "{order:?}");
            cluster.engines[rank as usize].leave();
            cluster.pass();
            cluster.pass();
        }
        assert!(cluster.engines.iter_mut().all(Engine::is_over), "{order:?}");
    }
}

#[test]
fn who_leaves_does_not_wait_for_a_rank_that_has_stopped() {
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
fn who_deserts_makes_the_calls_of_others_fail() {
    let mut cluster = Cluster::new(Shape::CombiningTree, 3);
    cluster.engines[1].desert();
    cluster.stopped = vec![1];
    let seat = cluster.ask(2);
    assert_eq!(cluster.wait(2, seat), Err(Error::Gone { rank: 1 }));
}

#[test]
fn a_packet_of_another_structure_is_ignored() {
    let mut cluster = Cluster::new(Shape::Central, 2);
    let stale = Packet::Gone(1).encode(98);
    cluster.engines[1].link.send(0, stale).expect("a wire never fails");
    cluster.pass();
    assert_eq!(cluster.engines[0].failed, None);
}
