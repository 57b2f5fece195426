//! Ranks that stop, die or panic. `docs/cluster.md` describes what mpirun itself does when a rank
//! dies; here an option makes it leave the other ranks running.

use crate::{Ranks, gather};
use std::process::{Command, exit};
use std::thread;
use std::time::{Duration, Instant};
use throng_mpi::{Barrier, BarrierKind, Counter, Error, Options, Shape};

const PATIENCE: Duration = Duration::from_millis(600);

/// The longest wait for a rank that does not answer: the patience, a part of it before the first
/// question, and some time for a busy machine.
const LIMIT: Duration = Duration::from_secs(3);

fn options() -> Options {
    Options::new().patience(PATIENCE)
}

/// Rank 0, which gives out the numbers, is stopped and continues later: calls fail meanwhile, and
/// no number is lost.
pub(crate) fn stops(ranks: &Ranks) {
    ranks.test(
        "a rank that stops makes calls fail, and nothing is lost when it goes on",
        |ranks| {
            let process = gather::all(&ranks.world, &[std::process::id()])[0];
            let counter = Counter::with_options(&ranks.world, &Shape::Central, &options())
                .expect("all are here");
            let mut barrier =
                Barrier::with_options(&ranks.world, BarrierKind::Dissemination, &options())
                    .expect("all are here");
            let mut numbers = vec![counter.next().expect("all answer")];
            barrier.wait().expect("all come");
            if ranks.rank == 0 {
                signal("STOP", process);
            } else {
                thread::sleep(Duration::from_millis(100));
                expect_no_answer(|| counter.next().map(|number| numbers.push(number)), 0);
                expect_no_answer(|| barrier.wait(), 0);
                // All have seen it when the last rank, which comes late, lets it continue.
                if ranks.rank == ranks.count - 1 {
                    thread::sleep(2 * PATIENCE + LIMIT / 3);
                    signal("CONT", process);
                }
            }
            go_on(|| barrier.wait());
            numbers.extend((0..50).map(|_| go_on(|| counter.next())));
            barrier.finish().expect("all leave");
            counter.finish().expect("all leave");
            // Each question of a call that failed was answered to the next caller of that rank, so
            // no number is lost.
            gather::are_all_there(&ranks.world, &numbers).expect("0..m-1");
        },
    );
}

/// How a rank disappears.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Exit,
    Kill,
    /// Its host loses the network; for emulated hosts.
    Cut,
}

/// The last rank disappears without a message. The others get an error, whatever they wait for.
/// Only rank 0 prints, and no rank finalises MPI, which would wait for the dead rank.
pub(crate) fn vanishes(ranks: &Ranks, way: Way) {
    let last = ranks.count - 1;
    let new =
        |shape| Counter::with_options(&ranks.world, &shape, &options()).expect("all are here");
    // The network has roles on all ranks, the central counter on rank 0 only.
    let (spread, central) = (new(Shape::CountingNetwork { width: 8 }), new(Shape::Central));
    let mut barrier = Barrier::with_options(&ranks.world, BarrierKind::Dissemination, &options())
        .expect("all are here");
    barrier.wait().expect("all come");
    if ranks.rank == last {
        match way {
            Way::Exit => exit(0),
            Way::Kill => signal("KILL", std::process::id()),
            Way::Cut => {
                run("ip link set eth0 down");
                // No other rank can end it any more.
                thread::sleep(4 * LIMIT);
                exit(0);
            }
        }
    }
    expect_no_answer(|| barrier.wait(), last);
    expect_no_answer(|| (0..1000).try_for_each(|_| spread.next().map(drop)), last);
    for _ in 0..100 {
        central.next().expect("the needed ranks are there");
    }
    for end in [barrier.finish(), spread.finish(), central.finish()] {
        // Rank 0 misses the dead rank and reports it to the others.
        assert!(
            matches!(end, Err(Error::NoAnswer { rank, .. } | Error::Gone { rank }) if rank == last),
            "{end:?}"
        );
    }
    if ranks.rank == 0 {
        println!(
            "test a rank that is lost by {way:?} is named to the ranks that wait for it ... ok"
        );
    }
    // The others may be a little behind, and mpirun ends them when a rank has exited.
    thread::sleep(Duration::from_millis(500));
    exit(0);
}

/// A rank panics: unwinding reports that to the others at once.
pub(crate) fn panics(ranks: &Ranks) {
    let last = ranks.count - 1;
    let counter = Counter::new(&ranks.world, &Shape::CountingNetwork { width: 8 });
    let counter = counter.expect("all are here");
    let barrier = Barrier::new(&ranks.world, BarrierKind::Dissemination);
    let mut barrier = barrier.expect("all are here");
    barrier.wait().expect("all come");
    if ranks.rank == last {
        panic!("this panic is part of the test");
    }
    let start = Instant::now();
    assert_eq!(barrier.wait(), Err(Error::Gone { rank: last }));
    let gone = loop {
        if let Err(error) = counter.next() {
            break error;
        }
        assert!(start.elapsed() < LIMIT);
    };
    assert_eq!(gone, Error::Gone { rank: last });
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
    assert_eq!(barrier.finish(), Err(Error::Gone { rank: last }));
    assert_eq!(counter.finish(), Err(Error::Gone { rank: last }));
    if ranks.rank == 0 {
        println!("test a rank that panics is named to the ranks that wait for it ... ok");
    }
}

fn expect_no_answer(mut call: impl FnMut() -> Result<(), Error>, missing: u32) {
    let start = Instant::now();
    let result = call();
    assert!(
        matches!(result, Err(Error::NoAnswer { rank, .. }) if rank == missing),
        "rank {missing} is not there, and the call says {result:?}"
    );
    assert!(start.elapsed() >= PATIENCE / 2, "given up after {:?}", start.elapsed());
    assert!(start.elapsed() < LIMIT, "given up after {:?} only", start.elapsed());
}

/// Repeats a call while the rank is still stopped.
fn go_on<T>(mut call: impl FnMut() -> Result<T, Error>) -> T {
    let start = Instant::now();
    loop {
        match call() {
            Ok(result) => return result,
            Err(Error::NoAnswer { .. }) if start.elapsed() < 5 * LIMIT => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// By the shell's command, so that no other library is needed.
fn signal(name: &str, process: u32) {
    run(&format!("kill -{name} {process}"));
    // A stop takes effect a little later.
    thread::sleep(Duration::from_millis(20));
}

fn run(command: &str) {
    let status = Command::new("sh").args(["-c", command]).status();
    assert!(status.is_ok_and(|status| status.success()), "{command}");
}
