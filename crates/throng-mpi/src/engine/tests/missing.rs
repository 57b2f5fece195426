//! Ranks that stop, among many: the ranks that depend on them directly find out, and all get a
//! report.

use super::*;

/// Of this number of ranks, most depend on another only through others.
const RANKS: u32 = 40;

const KINDS: [BarrierKind; 3] =
    [BarrierKind::Dissemination, BarrierKind::Tree { fan_in: 2 }, BarrierKind::Tree { fan_in: 4 }];

/// The longest wait for an answer that does not come: the patience, counted from the first
/// question, which is asked after a quarter of it.
const LIMIT_NS: u64 = 3 * PATIENCE.as_nanos() as u64 / 2;

impl<P: Part> Cluster<P> {
    /// Returns the number of packets that all ranks have sent so far.
    fn sent(&self) -> u64 {
        self.engines.iter().map(|engine| engine.link.sent).sum()
    }

    /// Checks that a caller of `rank` that begins to wait now does not give up within `time`.
    fn assert_waits(&mut self, rank: u32, time: Duration) {
        let since_ns = self.now_ns;
        while self.now_ns - since_ns < time.as_nanos() as u64 {
            self.pass();
            let now_ns = self.now_ns;
            let engine = &mut self.engines[rank as usize];
            assert_eq!(engine.why_not_wait(Need::Part, since_ns, now_ns), None);
        }
    }
}

#[test]
fn a_caller_gets_the_error_of_a_rank_that_it_does_not_watch() {
    for kind in KINDS {
        for (waits, stopped) in [(0, 39), (39, 0), (7, 8), (20, 3)] {
            let mut cluster = Cluster::barrier(kind, RANKS);
            cluster.stopped = vec![stopped];
            // All others compute. Their service threads look for packets.
            cluster.arrive(waits);
            let error = cluster.passes(waits).expect_err("a rank has stopped");
            assert!(
                matches!(error, Error::NoAnswer { rank, silent_for } if rank == stopped && silent_for >= PATIENCE),
                "{kind:?}, {waits} waits, {stopped} has stopped: {error}"
            );
            assert!(cluster.now_ns < LIMIT_NS, "{kind:?}: {} ns", cluster.now_ns);

            // It gives up again as late as the first time, and passes when all have come.
            let since_ns = cluster.now_ns;
            cluster.passes(waits).expect_err("the rank is still stopped");
            let took_ns = cluster.now_ns - since_ns;
            assert!((PATIENCE.as_nanos() as u64..LIMIT_NS).contains(&took_ns), "{took_ns} ns");
            cluster.stopped.clear();
            (0..RANKS).for_each(|rank| cluster.arrive(rank));
            (0..RANKS).for_each(|rank| cluster.passes(rank).expect("all have come"));

            // The report that it got then is no reason to give up now.
            cluster.arrive(waits);
            cluster.assert_waits(waits, 2 * PATIENCE);
        }
    }
}

#[test]
fn a_short_wait_asks_no_rank() {
    for kind in KINDS {
        let mut cluster = Cluster::barrier(kind, RANKS);
        // Long after the ranks have last heard of each other.
        cluster.now_ns = 10 * PATIENCE.as_nanos() as u64;
        cluster.arrive(5);
        let before = cluster.sent();
        cluster.assert_waits(5, PATIENCE / 5);
        assert_eq!(cluster.sent(), before);
        cluster.assert_waits(5, PATIENCE);
        assert_ne!(cluster.sent(), before);
    }
}

#[test]
fn one_of_several_ranks_that_have_stopped_is_named() {
    for kind in KINDS {
        let mut cluster = Cluster::barrier(kind, RANKS);
        cluster.stopped = vec![1, 2, 5, 6, 38];
        for waits in [0, 3, 11, 39] {
            cluster.arrive(waits);
            let error = cluster.passes(waits).expect_err("ranks have stopped");
            let named = |rank| cluster.stopped.contains(&rank);
            assert!(matches!(error, Error::NoAnswer { rank, .. } if named(rank)), "{error}");
        }
    }
}

#[test]
fn a_token_that_is_lost_far_away_is_missed() {
    for shape in [
        Shape::DiffractingTree { width: 8 },
        Shape::CountingNetwork { width: 8 },
        Shape::CombiningTree,
    ] {
        for stopped in [0, 13, 38] {
            let mut cluster = Cluster::new(shape, RANKS);
            if !cluster.engines[stopped as usize].serves() {
                continue;
            }
            cluster.stopped = vec![stopped];
            let mut given_up = 0;
            for asks in (0..RANKS).filter(|&rank| rank != stopped) {
                // Some tokens do not come by the dead rank; sooner or later one does.
                for _ in 0..20 {
                    let since_ns = cluster.now_ns;
                    let answer = cluster.ask(asks);
                    let Err(error) = cluster.number(asks, &answer) else { continue };
                    assert!(
                        matches!(error, Error::NoAnswer { rank, .. } if rank == stopped),
                        "{shape}, {asks} asks, {stopped} has stopped: {error}"
                    );
                    assert!(cluster.now_ns - since_ns < LIMIT_NS, "{shape}");
                    given_up += 1;
                    break;
                }
            }
            let depend = if shape == Shape::CombiningTree { 1 } else { RANKS - 2 };
            assert!(given_up >= depend, "{shape}, {stopped} has stopped: {given_up} gave up");
        }
    }
}

#[test]
fn ranks_that_are_late_are_not_missed_by_any_of_many() {
    for kind in KINDS {
        let mut cluster = Cluster::barrier(kind, RANKS);
        cluster.arrive(3);
        cluster.arrive(30);
        for _ in 0..1000 {
            cluster.pass();
            let now_ns = cluster.now_ns;
            for waits in [3, 30] {
                let engine = &mut cluster.engines[waits];
                assert_eq!(engine.why_not_wait(Need::Part, 0, now_ns), None);
            }
        }
        assert!(cluster.now_ns >= 10 * PATIENCE.as_nanos() as u64);
    }
}

#[test]
fn each_of_many_ranks_that_wait_asks_a_few() {
    const MANY: u32 = 1024;
    const QUARTERS: u64 = 8;
    for (kind, few) in [(BarrierKind::Dissemination, 10), (BarrierKind::Tree { fan_in: 4 }, 5)] {
        let mut cluster = Cluster::barrier(kind, MANY);
        (1..MANY).for_each(|rank| cluster.arrive(rank));
        for _ in 0..5 {
            cluster.pass();
        }
        let before = cluster.sent();
        while cluster.now_ns < QUARTERS * PATIENCE.as_nanos() as u64 / 4 {
            cluster.pass();
            let now_ns = cluster.now_ns;
            for waits in 1..MANY as usize {
                let engine = &mut cluster.engines[waits];
                assert_eq!(engine.why_not_wait(Need::Part, 0, now_ns), None);
            }
        }
        let asked = cluster.sent() - before;
        // A question and an answer.
        let most = 2 * u64::from(MANY) * few * QUARTERS;
        assert!(asked > 0 && asked <= most, "{kind:?}: {asked} packets");
    }
}
