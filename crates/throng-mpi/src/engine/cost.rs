//! The work of a rank for each message and each poll, by the number of ranks: one engine over a
//! link of memory, without MPI and without a network.
//!
//! `cargo test --release -p throng-mpi --lib cost -- --ignored --nocapture` prints a table.

use super::*;
use crate::counting::Counting;
use crate::meeting::Meeting;
use crate::options::Options;
use crate::packet::Words;
use crate::placement::place;
use crate::shape::Shape;
use std::cell::Cell;
use std::collections::VecDeque;
use std::hint::black_box;
use std::rc::Rc;
use std::thread;
use std::time::Instant;
use throng_messages::{BarrierKind, Message};

const RANKS: [u32; 4] = [4, 64, 1024, 16_384];
const NONCE: u64 = 99;
const PATIENCE: Duration = Duration::from_secs(30);
/// The time between two polls of a thread that waits.
const POLL_NS: u64 = 1_000;

/// The packets that have arrived, and the number of packets sent.
#[derive(Default)]
struct Memory {
    arrived: VecDeque<(u32, Words)>,
    sent: Rc<Cell<u64>>,
}

impl Link for Memory {
    fn send(&mut self, _rank: u32, words: Words) -> Result<(), Error> {
        black_box(words);
        self.sent.set(self.sent.get() + 1);
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(u32, Words)>, Error> {
        Ok(self.arrived.pop_front())
    }

    fn is_flushed(&mut self) -> Result<bool, Error> {
        Ok(true)
    }

    fn abandon(&mut self) {}
}

fn counter(shape: Shape, me: u32, ranks: u32) -> Engine<Memory, Counting> {
    let plan = shape.plan(ranks, &Options::new()).expect("the shape is good");
    let rank_of = place(&plan, ranks, ranks);
    let part = Counting::new(me, ranks, plan, rank_of, 1);
    Engine::new(Memory::default(), (me, ranks), NONCE, part, PATIENCE)
}

fn barrier(me: u32, ranks: u32) -> Engine<Memory, Meeting> {
    let member = BarrierKind::Dissemination.member(me, ranks).expect("the kind is good");
    Engine::new(Memory::default(), (me, ranks), NONCE, Meeting::new(member), PATIENCE)
}

/// Returns the nanoseconds of one of `count` steps: the least of some runs.
fn least_ns(count: u64, mut steps: impl FnMut()) -> f64 {
    let run = |_| {
        let start = Instant::now();
        steps();
        start.elapsed().as_nanos() as f64 / count as f64
    };
    (0..9).map(run).fold(f64::INFINITY, f64::min)
}

/// Returns the time of a request for a number, from all ranks in turn, answered by the one rank
/// that gives them out.
fn message_ns(ranks: u32) -> f64 {
    const MESSAGES: u64 = 100_000;
    let mut engine = counter(Shape::Central, 0, ranks);
    let mut asker = 0;
    let mut now_ns = 0;
    least_ns(MESSAGES, || {
        for _ in 0..MESSAGES / AT_ONCE as u64 {
            for _ in 0..AT_ONCE {
                asker = 1 + (asker + 1_234_567) % (ranks - 1);
                let ask = Message::Ask { asker: Address::Client(asker), count: 1 };
                let packet = Packet::To(Address::Role(0), ask);
                engine.link.arrived.push_back((asker, packet.encode(NONCE)));
            }
            now_ns += POLL_NS;
            assert!(engine.look(now_ns));
        }
    })
}

/// Returns the time of a poll that finds nothing, by a thread that waits.
fn poll_ns<P: Part>(engine: &mut Engine<Memory, P>, need: Need) -> f64 {
    const POLLS: u64 = 10_000;
    let mut now_ns = 0;
    least_ns(POLLS, || {
        for _ in 0..POLLS {
            now_ns += POLL_NS;
            assert!(!engine.look(now_ns));
            assert_eq!(engine.why_not_wait(need, 0, now_ns), None);
        }
    })
}

fn counter_poll_ns(ranks: u32) -> f64 {
    let mut engine = counter(Shape::for_ranks(ranks), ranks - 1, ranks);
    let asked = engine.act(0, |part, post| part.ask(1, 1, thread::current, post));
    assert!(asked.is_some());
    poll_ns(&mut engine, Need::Part)
}

fn barrier_poll_ns(ranks: u32) -> f64 {
    let mut engine = barrier(1, ranks);
    engine.act(0, |part, post| part.arrive(thread::current(), post));
    poll_ns(&mut engine, Need::Part)
}

fn leave_poll_ns(ranks: u32) -> f64 {
    let mut engine = counter(Shape::Central, 0, ranks);
    engine.leave();
    poll_ns(&mut engine, Need::Leave)
}

/// Returns the number of signs of life that one rank asks for in half the patience, while it waits
/// for a barrier and no rank answers.
fn pings(ranks: u32) -> f64 {
    let mut engine = barrier(1, ranks);
    engine.act(0, |part, post| part.arrive(thread::current(), post));
    let before = engine.link.sent.get();
    for now_ns in (0..PATIENCE.as_nanos() as u64 / 2).step_by(1_000_000) {
        assert_eq!(engine.why_not_wait(Need::Part, 0, now_ns), None);
    }
    (engine.link.sent.get() - before) as f64
}

/// Returns the time to find a rank for each role.
fn placement_us(ranks: u32) -> f64 {
    let plan = Shape::for_ranks(ranks).plan(ranks, &Options::new()).expect("the shape is good");
    least_ns(1, || drop(black_box(place(&plan, ranks, ranks)))) / 1e3
}

fn combining_placement_us(ranks: u32) -> f64 {
    let plan = Shape::CombiningTree.plan(ranks, &Options::new()).expect("the shape is good");
    least_ns(1, || drop(black_box(place(&plan, ranks, ranks)))) / 1e3
}

#[test]
fn a_poll_takes_as_long_for_many_ranks_as_for_few() {
    for poll_ns in [counter_poll_ns, barrier_poll_ns, leave_poll_ns] {
        let (few, many) = (poll_ns(4), poll_ns(16_384));
        // With a loop over the ranks it was 1000 times as long.
        assert!(many < 10.0 * few, "{few} ns, {many} ns");
    }
}

#[test]
#[ignore = "a measurement"]
fn cost() {
    println!("| ranks | {} |", RANKS.map(|ranks| ranks.to_string()).join(" | "));
    println!("|---|{}", "---:|".repeat(RANKS.len()));
    type Row = (&'static str, fn(u32) -> f64);
    let rows: [Row; 7] = [
        ("a message to a counter, ns", message_ns),
        ("a poll while a number is awaited, ns", counter_poll_ns),
        ("a poll while a barrier is awaited, ns", barrier_poll_ns),
        ("a poll of rank 0 while it leaves, ns", leave_poll_ns),
        ("signs of life a waiting rank asks for", pings),
        ("placing the roles, once, us", placement_us),
        ("placing those of a combining tree, once, us", combining_placement_us),
    ];
    for (name, row) in rows {
        println!("| {name} | {} |", RANKS.map(|ranks| format!("{:.3}", row(ranks))).join(" | "));
    }
}
