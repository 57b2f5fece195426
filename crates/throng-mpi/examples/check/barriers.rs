//! Barriers on ranks that do not fail.

use crate::{Ranks, gather};
use rustix::time::{ClockId, clock_gettime};
use std::thread;
use std::time::Duration;
use throng_mpi::{Barrier, BarrierKind, Error};

pub(crate) const KINDS: [BarrierKind; 3] =
    [BarrierKind::Dissemination, BarrierKind::Tree { fan_in: 2 }, BarrierKind::Tree { fan_in: 4 }];

pub(crate) fn all(ranks: &Ranks) {
    for kind in KINDS {
        ranks.test(&format!("{kind:?}: no rank passes before all have arrived"), |r| meet(r, kind));
        ranks.test(&format!("{kind:?}: a wait for a rank that has left fails"), |r| left(r, kind));
    }
}

/// Checks that all ranks leave after all have come. All ranks run on one machine, whose clock they
/// share.
fn meet(ranks: &Ranks, kind: BarrierKind) {
    const ROUNDS: usize = 150;
    let mut barrier = Barrier::new(&ranks.world, kind).expect("all are here");
    let (mut came, mut went) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        if round % 25 == 0 && round as u32 / 25 % ranks.count == ranks.rank {
            thread::sleep(Duration::from_millis(3));
        }
        came.push(now_ns());
        barrier.wait().expect("all come");
        went.push(now_ns());
    }
    barrier.finish().expect("all leave");
    let (came, went) = (gather::all(&ranks.world, &came), gather::all(&ranks.world, &went));
    for round in 0..ROUNDS {
        let of_all = |times: &[u64]| times.iter().skip(round).step_by(ROUNDS).copied().collect();
        let (came, went): (Vec<u64>, Vec<u64>) = (of_all(&came), of_all(&went));
        assert!(came.iter().max() <= went.iter().min(), "round {round}: {came:?} {went:?}");
    }
}

fn left(ranks: &Ranks, kind: BarrierKind) {
    let mut barrier = Barrier::new(&ranks.world, kind).expect("all are here");
    barrier.wait().expect("all come");
    let leaves = ranks.count - 1;
    if ranks.rank != leaves {
        assert_eq!(barrier.wait(), Err(Error::Left { rank: leaves }));
    }
    barrier.finish().expect("all leave");
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
