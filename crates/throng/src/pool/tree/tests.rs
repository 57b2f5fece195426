//! The pool on real threads, and what it promises.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::machine::Patience;

/// Small enough for everything to happen.
fn tiny() -> PoolShape {
    PoolShape { leaves: 4, depth: 2, prism: 1, spin: 200, turn_every: 3, crowd: 1, haul: 2 }
}

fn small<T: Send>() -> Pool<T> {
    Pool::on_machine(&tiny()).unwrap()
}

fn shapes() -> Vec<PoolShape> {
    vec![
        tiny(),
        PoolShape { leaves: 1, depth: 0, ..tiny() },
        PoolShape { leaves: 8, depth: 1, turn_every: 1, ..tiny() },
        PoolShape::for_processors(16),
    ]
}

#[test]
fn a_thread_alone_gets_back_what_it_put_in() {
    for shape in shapes() {
        let pool: Pool<u32> = Pool::on_machine(&shape).unwrap();
        assert_eq!(pool.try_pop(), Err(PopError::Empty));
        (0..100).for_each(|job| pool.push(job).unwrap());
        assert_eq!((pool.len(), pool.is_empty()), (100, false));
        let jobs: HashSet<u32> = pool.drain().collect();
        assert_eq!(jobs, (0..100).collect());
        assert_eq!((pool.try_pop(), pool.is_empty()), (Err(PopError::Empty), true));
    }
}

#[test]
fn a_job_in_any_leaf_is_found_by_whoever_asks() {
    let pool = small();
    for leaf in 0..4 {
        assert!(pool.leaves[leaf].put(leaf, Who::Guest, 0).is_ok());
        thread::scope(|scope| {
            assert_eq!(scope.spawn(|| pool.try_pop()).join().unwrap(), Ok(leaf));
        });
        assert_eq!(pool.try_pop(), Err(PopError::Empty));
    }
}

#[test]
fn a_closed_pool_gives_out_what_it_has_and_takes_nothing() {
    let pool = small();
    pool.push(1).unwrap();
    assert!(!pool.is_closed());
    assert_eq!((pool.close(), pool.close(), pool.is_closed()), (true, false, true));
    assert_eq!(pool.push(2), Err(Closed(2)));
    assert_eq!((pool.pop(), pool.pop()), (Some(1), None));
    assert_eq!(pool.try_pop(), Err(PopError::Closed));
    assert_eq!(pool.pop_timeout(Duration::from_secs(60)), Err(PopError::Closed));
}

#[test]
fn a_wait_ends_in_time() {
    let pool = small::<u32>();
    let start = Instant::now();
    assert_eq!(pool.pop_timeout(Duration::ZERO), Err(PopError::Empty));
    assert_eq!(pool.pop_timeout(Duration::from_millis(30)), Err(PopError::Empty));
    assert!((30..30_000).contains(&start.elapsed().as_millis()));
    assert!(!pool.bells.anybody(), "who gave up waits no more");
}

/// Everything is put in and taken out by threads that do both, and by such that wait.
fn exactly_once(shape: &PoolShape, threads: usize, jobs: usize) {
    let pool: Pool<usize> = Pool::on_machine(shape).unwrap();
    let taken = Mutex::new(vec![0_u32; threads * jobs]);
    let here = Barrier::new(threads);
    thread::scope(|scope| {
        for id in 0..threads {
            let (pool, taken, here) = (&pool, &taken, &here);
            scope.spawn(move || {
                here.wait();
                let mut own = Vec::new();
                for i in 0..jobs {
                    pool.push(id * jobs + i).unwrap();
                    if id % 2 == 0 {
                        own.extend(pool.try_pop());
                    } else if i % 3 != 0 {
                        // One job in three stays, so nobody waits for nothing.
                        own.extend(pool.pop());
                    }
                }
                let mut taken = taken.lock().unwrap();
                own.into_iter().for_each(|job| taken[job] += 1);
            });
        }
    });
    let mut taken = taken.into_inner().unwrap();
    pool.drain().for_each(|job| taken[job] += 1);
    assert!(taken.iter().all(|&times| times == 1), "{shape:?}");
}

#[test]
fn crowds_larger_than_the_machine_lose_nothing_and_get_nothing_twice() {
    for shape in shapes() {
        exactly_once(&shape, 13, 2000);
    }
}

/// Whoever has just put a job in must find one: all others have put in as many as they took, or more.
#[test]
fn empty_is_never_said_while_there_is_a_job() {
    for shape in shapes() {
        let pool: Pool<u32> = Pool::on_machine(&shape).unwrap();
        thread::scope(|scope| {
            for _ in 0..7 {
                scope.spawn(|| {
                    for job in 0..3000 {
                        pool.push(job).unwrap();
                        pool.try_pop().expect("there is a job");
                    }
                });
            }
        });
        assert_eq!(pool.try_pop(), Err(PopError::Empty));
    }
}

#[test]
fn threads_come_and_go() {
    let pool = small();
    for generation in 0..50_u64 {
        thread::scope(|scope| {
            for id in 0..6 {
                let pool = &pool;
                scope.spawn(move || pool.push(generation * 6 + id).unwrap());
            }
        });
    }
    assert_eq!(pool.drain().collect::<HashSet<_>>(), (0..300).collect());
}

/// The consumers are so impatient that they sleep whenever there is nothing.
#[test]
fn sleepers_are_woken_by_a_job_and_by_the_end() {
    let pool = small::<usize>();
    let taken = AtomicUsize::new(0);
    let way_out = || WayOut {
        patience: Patience {
            spin: Duration::ZERO,
            yielding: Duration::ZERO,
            most_awake: Duration::ZERO,
        },
        ..WayOut::none()
    };
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while pool.pop_on(&Native::cpu(), &way_out()).is_ok() {
                    taken.fetch_add(1, Relaxed);
                }
            });
        }
        for round in 1..=400 {
            while pool.bells.count() < 6 {
                thread::yield_now();
            }
            // Time to fall asleep.
            thread::sleep(Duration::from_millis(1));
            pool.push(round).unwrap();
            pool.push(round).unwrap();
            while taken.load(Relaxed) < 2 * round {
                thread::yield_now();
            }
        }
        pool.close();
    });
    assert_eq!(taken.into_inner(), 800);
    assert!(!pool.bells.anybody());
    // Without wake-ups, a round takes the rest of a sleep of 20 milliseconds or more, and all take 10 seconds.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn who_finds_single_jobs_elsewhere_waits_longer_before_it_comes_again() {
    let pool: Pool<u32> = Pool::on_machine(&PoolShape { turn_every: 1000, ..tiny() }).unwrap();
    pool.push(0).unwrap();
    assert_eq!(pool.try_pop(), Ok(0));
    let own = &pool.crowd.get(Native::cpu().id()).own;
    let other = (own.home() + 1) % 4;
    let breath_after = |jobs: u32| {
        (0..jobs).for_each(|job| assert!(pool.leaves[other].put(job, Who::Guest, 0).is_ok()));
        assert!(pool.try_pop().is_ok());
        own.breath()
    };
    assert_eq!([1, 1, 1].map(breath_after), [1, 3, 7]);
    assert_eq!(breath_after(3), 3, "one of three was moved home");
    assert_eq!(pool.drain().count(), 2);
    assert_eq!(own.breath(), 0, "nothing was left");
}

/// Somebody may have looked at the one leaf before, and look at the other one after.
#[test]
fn who_moves_jobs_rings_for_who_waits() {
    let pool = small::<u32>();
    pool.push(0).unwrap();
    assert_eq!(pool.try_pop(), Ok(0));
    let home = pool.crowd.get(Native::cpu().id()).own.home();
    let other = (home + 1) % 4;
    let guest = pool.bells.enter(other);
    (0..20).for_each(|job| assert!(pool.leaves[other].put(job, Who::Guest, 0).is_ok()));
    while pool.leaves[home].look().jobs() == 0 {
        pool.try_pop().expect("there are jobs");
    }
    assert!(pool.bells.leave(guest));
}

#[test]
fn a_thread_that_pops_and_pushes_at_home_still_serves_every_leaf() {
    let shape = tiny();
    let pool: Pool<&str> = Pool::on_machine(&shape).unwrap();
    pool.push("busy").unwrap();
    let home = pool.crowd.get(Native::cpu().id()).own.home();
    let before = 2;
    for leaf in (0..4).filter(|&leaf| leaf != home) {
        for _ in 0..before {
            assert!(pool.leaves[leaf].put("waits", Who::Guest, 0).is_ok());
        }
        assert!(pool.leaves[leaf].put("last", Who::Guest, 0).is_ok());
    }
    let bound = shape.turn_every as usize * (before + 2) * shape.leaves;
    let mut last = 0;
    for _ in 0..bound {
        match pool.try_pop().unwrap() {
            "busy" => pool.push("busy").unwrap(),
            "last" => last += 1,
            _ => {}
        }
    }
    assert_eq!(last, 3, "each was taken within {bound} pops");
    assert_eq!(pool.try_pop(), Ok("busy"), "and it was its own busy self all the time");
}

#[test]
fn a_turn_leaves_a_leaf_alone_that_is_served() {
    let pool = small::<u32>();
    let cpu = Native::cpu();
    let walker = Walker::new(&cpu, &pool.crowd);
    let put = |job| assert!(pool.leaves[2].put(job, Who::Guest, 0).is_ok());
    (0..4).for_each(put);
    assert_eq!(pool.take_turn(&walker, 2), Some(0), "nobody was there since the pool was made");
    assert!(matches!(pool.leaves[2].take(Who::Guest), Take::Job(1)));
    assert_eq!(pool.take_turn(&walker, 2), None);
    assert_eq!(pool.take_turn(&walker, 2), Some(2));
}

#[test]
fn walks_of_each_kind_spread_evenly_and_takers_follow_putters() {
    let pool = small::<u32>();
    let cpu = Native::cpu();
    let walker = Walker::new(&cpu, &pool.crowd);
    let leaf = |kind| pool.walk(&walker, kind).expect("nobody is there to be met");
    for _ in 0..3 {
        let put: Vec<usize> = (0..4).map(|_| leaf(Kind::Put)).collect();
        let taken: Vec<usize> = (0..4).map(|_| leaf(Kind::Take)).collect();
        assert_eq!((&put, &taken), (&vec![0, 1, 2, 3], &vec![0, 1, 2, 3]));
    }
}

/// Counts its drops, and panics in one of them.
struct Noisy {
    drops: Arc<AtomicUsize>,
    panics: bool,
}

impl Drop for Noisy {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Relaxed);
        assert!(!self.panics, "on purpose");
    }
}

#[test]
fn every_job_is_dropped_once_even_if_one_of_them_panics() {
    for panics in [false, true] {
        let drops = Arc::new(AtomicUsize::new(0));
        let pool = small();
        for i in 0..40 {
            pool.push(Noisy { drops: Arc::clone(&drops), panics: panics && i == 20 }).unwrap();
        }
        for leaf in &pool.leaves {
            let job = Noisy { drops: Arc::clone(&drops), panics: false };
            assert!(leaf.put(job, Who::Guest, 0).is_ok());
        }
        drop(pool.pop());
        assert_eq!(drops.load(Relaxed), 1);
        let dropping = catch_unwind(AssertUnwindSafe(|| drop(pool)));
        assert_eq!((dropping.is_err(), drops.load(Relaxed)), (panics, 44));
    }
}

#[test]
fn jobs_may_be_nothing_at_all_or_borrowed() {
    let pool = small();
    (0..1000).for_each(|_| pool.push(()).unwrap());
    assert_eq!(pool.drain().count(), 1000);
    let text = String::from("a job");
    let pool = Pool::new();
    pool.push(text.as_str()).unwrap();
    assert_eq!(pool.pop(), Some("a job"));
}

#[test]
fn pools_can_be_shared_and_printed() {
    fn shared<X: Send + Sync>(_: &X) {}
    let pool = small::<std::cell::Cell<u32>>();
    shared(&pool);
    assert_eq!(format!("{pool:?}"), "Pool { leaves: 4, depth: 2, .. }");
}

proptest! {
    /// One thread, any calls: what comes out is what is in.
    #[test]
    fn a_pool_is_a_bag(
        calls in prop::collection::vec(0..6_u8, 0..200),
        leaves in 0..4_u32,
        turn_every in 1..6_u32,
    ) {
        let depth = leaves / 2;
        let shape = PoolShape { leaves: 1 << leaves, depth, turn_every, ..tiny() };
        let pool: Pool<usize> = Pool::on_machine(&shape).unwrap();
        let (mut inside, mut open) = (HashSet::new(), true);
        for (i, call) in calls.into_iter().enumerate() {
            match call {
                0..3 => {
                    prop_assert_eq!(pool.push(i), if open { Ok(()) } else { Err(Closed(i)) });
                    if open {
                        inside.insert(i);
                    }
                }
                3 if i % 37 == 0 => {
                    prop_assert_eq!(pool.close(), open);
                    open = false;
                }
                _ => match pool.try_pop() {
                    Ok(job) => prop_assert!(inside.remove(&job)),
                    Err(PopError::Empty) => prop_assert!(inside.is_empty() && open),
                    Err(PopError::Closed) => prop_assert!(inside.is_empty() && !open),
                },
            }
            prop_assert_eq!(pool.len(), inside.len());
        }
        prop_assert_eq!(pool.drain().collect::<HashSet<_>>(), inside);
    }

    /// Several threads, any shape.
    #[test]
    fn any_shape_hands_out_every_job_once(
        leaves in 0..5_u32,
        shallower in 0..5_u32,
        prism in 1..4_usize,
        spin in 0..100_u32,
        turn_every in 1..70_u32,
        crowd in 0..20_usize,
        haul in 0..40_usize,
        threads in 1..6_usize,
    ) {
        let depth = leaves.saturating_sub(shallower);
        let shape = PoolShape { leaves: 1 << leaves, depth, prism, spin, turn_every, crowd, haul };
        exactly_once(&shape, threads, 60);
    }
}
