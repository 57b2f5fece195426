//! MPI initialised for a thread level below `Multiple`: no service thread.

use crate::{Ranks, gather};
use mpi::Threading;
use mpi::topology::SimpleCommunicator;
use std::thread;
use std::time::{Duration, Instant};
use throng_mpi::{Barrier, BarrierKind, Counter, Error, Options, Shape};

pub(crate) fn all(ranks: &Ranks, level: Threading) {
    for shape in crate::counters::SHAPES {
        ranks.test(&format!("{level:?}: {shape}"), |ranks| draw(ranks, shape));
    }
    ranks.test(&format!("{level:?}: a barrier"), meet);
    ranks.test(&format!("{level:?}: a rank that computes delays others"), |r| delay(r, false));
    ranks.test(&format!("{level:?}: unless it makes progress meanwhile"), |r| delay(r, true));
    ranks.test(&format!("{level:?}: another thread"), |ranks| other_thread(ranks, level));
    if level < Threading::Serialized {
        let name =
            format!("{level:?}: a rank whose thread is refused makes all fail, and all try again");
        ranks.test(&name, refused_once);
        ranks.test(&format!("{level:?}: ranks give up at every step and try again"), give_up_often);
    }
}

const PATIENCE: Duration = Duration::from_millis(400);

/// Tests a structure that all ranks make, the last one from a thread that may not call MPI. The
/// others would wait for it in the collective call; instead all get an error.
fn refused<T>(ranks: &Ranks, new: fn(&SimpleCommunicator) -> Result<T, Error>) {
    let start = Instant::now();
    let error = if ranks.rank == ranks.count - 1 {
        let make = || new(&SimpleCommunicator::world()).err();
        thread::scope(|scope| scope.spawn(make).join().expect("no panic"))
    } else {
        new(&ranks.world).err()
    };
    assert_eq!(error, Some(Error::WrongThread));
    assert!(start.elapsed() < 10 * PATIENCE, "{:?}", start.elapsed());
}

fn counter(world: &SimpleCommunicator) -> Result<Counter, Error> {
    Counter::with_options(world, &Shape::Central, &Options::new().patience(PATIENCE))
}

fn barrier(world: &SimpleCommunicator) -> Result<Barrier, Error> {
    let options = Options::new().patience(PATIENCE);
    Barrier::with_options(world, BarrierKind::Dissemination, &options)
}

/// Tests a program that ends when its structure cannot be made: MPI is finalised although arrivals
/// hold.
pub(crate) fn refused_and_over(ranks: &Ranks) {
    refused(ranks, counter);
    if ranks.rank == 0 {
        println!("test a program ends whose structure could not be made ... ok");
    }
}

fn refused_once(ranks: &Ranks) {
    for _ in 0..2 {
        refused(ranks, counter);
        let counter = try_again(ranks, counter);
        let number = counter.next().expect("all answer");
        counter.finish().expect("all leave");
        gather::are_all_there(&ranks.world, &[number]).expect("0..m-1");

        refused(ranks, barrier);
        let mut barrier = try_again(ranks, barrier);
        barrier.wait().expect("all come");
        barrier.finish().expect("all leave");
    }
}

/// With so short a patience a rank gives up several times before all have agreed, and while they
/// duplicate the communicator.
fn give_up_often(ranks: &Ranks) {
    let options = Options::new().patience(Duration::from_micros(1));
    let mut given_up = 0;
    for _ in 0..20 {
        let counter = loop {
            match Counter::with_options(&ranks.world, &Shape::Central, &options) {
                Err(Error::WrongThread) => given_up += 1,
                made => break made.expect("all agree"),
            }
        };
        // Its patience is also too short to wait until all have left.
        let _ = counter.finish();
    }
    assert!(gather::largest(&ranks.world, f64::from(given_up)) > 20.0);
}

/// Tries again until all ranks are here: one may be late, on a machine that is busy with other
/// programs.
fn try_again<T>(ranks: &Ranks, new: fn(&SimpleCommunicator) -> Result<T, Error>) -> T {
    // The last rank was refused at once. If it came back before the others give up, they would not
    // have to.
    thread::sleep(if ranks.rank == ranks.count - 1 { 3 * PATIENCE } else { 2 * PATIENCE });
    for _ in 0..20 {
        match new(&ranks.world) {
            Err(Error::WrongThread) => {}
            made => return made.expect("all are here"),
        }
    }
    panic!("rank {} waits in vain", ranks.rank)
}

fn draw(ranks: &Ranks, shape: Shape) {
    let counter = Counter::new(&ranks.world, &shape).expect("all are here");
    assert!(!counter.has_service());
    let numbers: Vec<u64> = (0..200).map(|_| counter.next().expect("all answer")).collect();
    counter.finish().expect("all leave");
    gather::are_all_there(&ranks.world, &numbers).expect("0..m-1");
}

fn meet(ranks: &Ranks) {
    for kind in crate::barriers::KINDS {
        let mut barrier = Barrier::new(&ranks.world, kind).expect("all are here");
        (0..100).for_each(|_| barrier.wait().expect("all come"));
    }
}

/// Rank 0, which has the only role, computes; rank 1 asks for a number meanwhile.
fn delay(ranks: &Ranks, progress: bool) {
    const COMPUTES: Duration = Duration::from_millis(300);
    let counter = Counter::new(&ranks.world, &Shape::Central).expect("all are here");
    let mut barrier = Barrier::new(&ranks.world, BarrierKind::Dissemination).expect("all are here");
    barrier.wait().expect("all come");
    let start = Instant::now();
    match ranks.rank {
        0 => {
            while start.elapsed() < COMPUTES {
                thread::sleep(Duration::from_millis(5));
                if progress {
                    counter.progress().expect("the right thread");
                }
            }
        }
        1 => {
            counter.next().expect("all answer");
            let took = start.elapsed();
            if progress {
                assert!(took < COMPUTES / 2, "{took:?}");
            } else {
                // It began a little later than rank 0.
                assert!(took > COMPUTES / 2, "{took:?}");
            }
        }
        _ => {}
    }
    counter.finish().expect("all leave");
    barrier.finish().expect("all leave");
}

/// Checks that any thread may call if calls are serialized, and only the main thread if they are
/// not.
fn other_thread(ranks: &Ranks, level: Threading) {
    let counter = Counter::new(&ranks.world, &Shape::Central).expect("all are here");
    let number = thread::scope(|scope| scope.spawn(|| counter.next()).join().expect("no panic"));
    if level == Threading::Serialized {
        assert!(number.is_ok(), "{number:?}");
    } else {
        assert_eq!(number, Err(Error::WrongThread));
    }
    counter.finish().expect("all leave");
}
