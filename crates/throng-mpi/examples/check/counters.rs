//! Counters on ranks that do not fail.

use crate::{Ranks, gather};
use mpi::point_to_point::{Destination, Source};
use mpi::traits::Communicator;
use std::thread;
use std::time::Duration;
use throng_mpi::{Counter, Error, Options, Shape};

pub(crate) const SHAPES: [Shape; 6] = [
    Shape::Central,
    Shape::DiffractingTree { width: 2 },
    Shape::DiffractingTree { width: 8 },
    Shape::CombiningTree,
    Shape::CountingNetwork { width: 2 },
    Shape::CountingNetwork { width: 8 },
];

pub(crate) fn all(ranks: &Ranks) {
    for shape in SHAPES {
        // The same number in all whatever the number of ranks: with more ranks than cores each call
        // takes longer.
        let each = 1200 / ranks.count as usize;
        ranks.test(&format!("{shape}, 1 thread a rank"), |ranks| draw(ranks, shape, 1, each));
        ranks.test(&format!("{shape}, 3 threads a rank"), |ranks| draw(ranks, shape, 3, each / 3));
    }
    ranks.test("combining-tree, more threads than it knows", more_threads_than_known);
    for order in [Order::Up, Order::Down] {
        ranks.test(&format!("ranks leave {order:?}, the rest goes on"), |r| leave(r, order));
    }
    ranks.test("ranks ask differently often", uneven);
    ranks.test("the messages of others are not touched", others_messages);
    ranks.test("two counters at a time", two_at_a_time);
    ranks.test("counters come and go", come_and_go);
    ranks.test("ranks that disagree are told so", disagree);
    ranks.test("a shape that does not exist is refused", no_such_shape);
}

/// Fewer tests, for emulated hosts, on which all takes longer.
pub(crate) fn short(ranks: &Ranks) {
    for shape in SHAPES {
        ranks.test(&format!("{shape}, 2 threads a rank"), |ranks| draw(ranks, shape, 2, 100));
    }
    ranks.test("ranks leave Up, the rest goes on", |ranks| leave(ranks, Order::Up));
}

/// Every thread draws, and all numbers must be there. If the shape promises order, each thread must
/// see it.
fn draw(ranks: &Ranks, shape: Shape, threads: u32, each: usize) {
    let options = Options::new().threads(threads);
    let counter = Counter::with_options(&ranks.world, &shape, &options).expect("all are here");
    assert_eq!(counter.has_service(), ranks.count > 1);
    let ordered = matches!(shape, Shape::Central | Shape::CombiningTree);
    let numbers = draw_by(&counter, threads, each, ordered);
    counter.finish().expect("all leave");
    gather::are_all_there(&ranks.world, &numbers).expect("0..m-1");
}

fn draw_by(counter: &Counter, threads: u32, each: usize, ordered: bool) -> Vec<u64> {
    let draw = || (0..each).map(|_| counter.next().expect("all answer")).collect::<Vec<u64>>();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(draw)).collect();
        let mut numbers = Vec::new();
        for thread in threads {
            let its = thread.join().expect("a panic ends the process");
            assert!(!ordered || its.is_sorted(), "a later call got a smaller number");
            numbers.extend(its);
        }
        numbers
    })
}

fn more_threads_than_known(ranks: &Ranks) {
    let counter = Counter::new(&ranks.world, &Shape::CombiningTree).expect("all are here");
    let numbers = draw_by(&counter, 4, 50, true);
    counter.finish().expect("all leave");
    gather::are_all_there(&ranks.world, &numbers).expect("0..m-1");
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Up,
    Down,
}

/// Ranks leave one after the other. The remaining ones continue to draw from the roles of those
/// that left.
fn leave(ranks: &Ranks, order: Order) {
    let stays = match order {
        Order::Up => ranks.rank,
        Order::Down => ranks.count - 1 - ranks.rank,
    };
    for shape in [Shape::Central, Shape::DiffractingTree { width: 4 }, Shape::CombiningTree] {
        let counter = Counter::new(&ranks.world, &shape).expect("all are here");
        let mut numbers = Vec::new();
        for _ in 0..=stays {
            numbers.extend(draw_by(&counter, 1, 20, false));
            thread::sleep(Duration::from_millis(5));
        }
        counter.finish().expect("all leave");
        gather::are_all_there(&ranks.world, &numbers).expect("0..m-1");
    }
}

fn uneven(ranks: &Ranks) {
    for shape in SHAPES {
        let counter = Counter::new(&ranks.world, &shape).expect("all are here");
        let numbers = draw_by(&counter, 1, 10 * ranks.rank as usize, false);
        // By dropping this time.
        drop(counter);
        gather::are_all_there(&ranks.world, &numbers).expect("0..m-1");
    }
}

/// A message for any rank with any tag waits in the user's communicator all the while.
fn others_messages(ranks: &Ranks) {
    let next = ((ranks.rank + 1) % ranks.count) as i32;
    ranks.world.process_at_rank(next).send_with_tag(&ranks.rank, 1);
    draw(ranks, Shape::DiffractingTree { width: 4 }, 1, 50);
    let (from, status) = ranks.world.any_process().receive::<u32>();
    assert_eq!((from + 1) % ranks.count, ranks.rank);
    assert_eq!(status.tag(), 1);
}

fn two_at_a_time(ranks: &Ranks) {
    let new = |shape| Counter::new(&ranks.world, &shape).expect("all are here");
    let (one, two) = (new(Shape::Central), new(Shape::CountingNetwork { width: 4 }));
    let (of_one, of_two): (Vec<u64>, Vec<u64>) =
        (0..100).map(|_| (one.next().expect("answers"), two.next().expect("answers"))).unzip();
    drop(one);
    drop(two);
    gather::are_all_there(&ranks.world, &of_one).expect("0..m-1");
    gather::are_all_there(&ranks.world, &of_two).expect("0..m-1");
}

fn come_and_go(ranks: &Ranks) {
    for round in 0..20 {
        draw(ranks, SHAPES[round % SHAPES.len()], 1, 5);
    }
}

fn disagree(ranks: &Ranks) {
    let width = if ranks.rank == 0 { 4 } else { 8 };
    let counter = Counter::new(&ranks.world, &Shape::DiffractingTree { width });
    if ranks.count > 1 {
        assert_eq!(counter.err(), Some(Error::Disagree));
    }
}

fn no_such_shape(ranks: &Ranks) {
    let counter = Counter::new(&ranks.world, &Shape::CountingNetwork { width: 12 });
    assert!(matches!(counter, Err(Error::Shape(_))));
    // Even if one rank alone asks for it.
    let width = if ranks.rank == 0 { 12 } else { 8 };
    let counter = Counter::new(&ranks.world, &Shape::CountingNetwork { width });
    assert!(counter.is_err());
}
