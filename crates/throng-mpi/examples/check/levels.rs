//! MPI initialised for less than any thread at any time: no service thread.

use crate::{Ranks, gather};
use mpi::Threading;
use std::thread;
use std::time::{Duration, Instant};
use throng_mpi::{Barrier, BarrierKind, Counter, Error, Shape};

pub(crate) fn all(ranks: &Ranks, level: Threading) {
    for shape in crate::counters::SHAPES {
        ranks.test(&format!("{level:?}: {shape}"), |ranks| draw(ranks, shape));
    }
    ranks.test(&format!("{level:?}: a barrier"), meet);
    ranks.test(&format!("{level:?}: a rank that computes delays others"), |r| delay(r, false));
    ranks.test(&format!("{level:?}: unless it makes progress meanwhile"), |r| delay(r, true));
    ranks.test(&format!("{level:?}: another thread"), |ranks| other_thread(ranks, level));
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

/// Rank 0, which has the only role, computes; rank 1 wants a number meanwhile.
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
                // Begun a little later than rank 0.
                assert!(took > COMPUTES / 2, "{took:?}");
            }
        }
        _ => {}
    }
    counter.finish().expect("all leave");
    barrier.finish().expect("all leave");
}

/// Any thread may call where calls are serialized; no other than the main thread where they are not.
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
