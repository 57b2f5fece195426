//! Tests of the pool on real threads.

use std::collections::HashSet;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::absent::{Feature, is_absent};
use crate::machine::Patience;

impl<T> Pool<T> {
    fn drain(&self) -> impl Iterator<Item = T> {
        iter::from_fn(|| self.try_pop().ok())
    }

    fn pop_timeout(&self, timeout: Duration) -> Result<T, PopError> {
        let cpu = Native::cpu();
        self.pop_on(&cpu, &WayOut::after(&cpu, timeout))
    }
}

/// A pool that moves jobs, takes turns and sleeps after few calls.
fn tiny() -> PoolShape {
    PoolShape { turn_every: 3, most_moved: 2, rounds_before_sleep: 2 }
}

fn small<T: Send>() -> Pool<T> {
    Pool::on_machine(&tiny()).unwrap()
}

fn shapes() -> Vec<PoolShape> {
    vec![
        tiny(),
        PoolShape { turn_every: 1, most_moved: 0, ..tiny() },
        PoolShape { rounds_before_sleep: 0, ..tiny() },
        PoolShape::DEFAULT,
    ]
}

/// Returns the result of `f` on a thread of its own, which has a leaf of its own while it runs.
fn elsewhere<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(f).join().unwrap())
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
fn a_job_in_any_leaf_is_found_by_any_thread() {
    let pool = small();
    pool.push(0).unwrap();
    assert_eq!(elsewhere(|| pool.try_pop()), Ok(0));
    elsewhere(|| pool.push(1).unwrap());
    assert_eq!(pool.try_pop(), Ok(1));
    assert_eq!(pool.try_pop(), Err(PopError::Empty));
}

#[test]
fn a_thread_alone_gets_its_newest_job_first() {
    let pool = Pool::new();
    (0..20).for_each(|job| pool.push(job).unwrap());
    assert!(pool.drain().eq((0..20).rev()));
}

#[test]
fn a_thief_takes_the_oldest_job_and_moves_half_of_the_others() {
    for (most_moved, moved) in [(10, 4), (3, 3), (0, 0)] {
        let shape = PoolShape { most_moved, ..PoolShape::DEFAULT };
        let pool: Pool<u32> = Pool::on_machine(&shape).unwrap();
        (0..10).for_each(|job| pool.push(job).unwrap());
        let jobs_of = |leaf: usize| pool.leaves.iter_from(leaf).next().unwrap().look().jobs;
        let home = Native::cpu().id();
        elsewhere(|| {
            assert_eq!(pool.try_pop(), Ok(0));
            assert_eq!(jobs_of(Native::cpu().id()), moved);
        });
        assert_eq!(jobs_of(home), 9 - moved);
        assert_eq!(pool.drain().collect::<HashSet<_>>(), (1..10).collect());
    }
}

/// Rings grow and begin again at their first slot, and numbers of jobs begin again at 0.
#[test]
fn a_ring_that_grows_and_wraps_keeps_every_job() {
    let pool = Pool::new();
    let (mut next, mut sum, mut popped) = (0_u64, 0, 0_u64);
    for burst in [1, 5, 31, 32, 33, 100, 7, 1000, 3] {
        for _ in 0..burst {
            pool.push(next).unwrap();
            next += 1;
        }
        // Another thread takes from the old end, so that it moves on.
        for job in elsewhere(|| (0..burst / 2).map(|_| pool.try_pop().unwrap()).collect::<Vec<_>>())
        {
            (sum, popped) = (sum + job, popped + 1);
        }
    }
    for job in pool.drain() {
        (sum, popped) = (sum + job, popped + 1);
    }
    assert_eq!((popped, sum), (next, next * (next - 1) / 2));
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
    assert_eq!(pool.idle.counts(), (0, 0), "a thread that gave up waits no more");
}

#[test]
fn a_wait_that_sleeps_at_once_ends_in_time() {
    let cpu = Native::cpu();
    for shape in shapes() {
        let pool: Pool<u32> = Pool::on_machine(&shape).unwrap();
        let way_out = WayOut::after(&cpu, Duration::from_millis(5)).patience(Patience::NONE);
        assert_eq!(pool.pop_on(&cpu, &way_out), Err(PopError::Empty), "{shape:?}");
        assert_eq!(pool.idle.counts(), (0, 0));
    }
}

/// Pushes and pops all jobs on threads that do both, some of which wait.
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
                        // One job in three stays, so no thread waits for ever.
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

/// A thread that has just pushed a job must find one: all other threads have pushed at least as
/// many as they popped.
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

/// The consumers have no patience, so they sleep whenever there is no job.
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
            while pool.idle.counts().0 < 6 {
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
    assert_eq!(pool.idle.counts(), (0, 0));
    // Without wake-ups, a round takes the rest of a sleep of 20 milliseconds or more, and all take 10 seconds. Heavy
    // fences may take as long.
    let is_slow = is_absent(Feature::MembarrierLater);
    assert!(is_slow || start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// Three threads sleep, and one push wakes one of them. That thread wakes another only if it finds
/// more jobs.
#[test]
fn a_push_wakes_one_sleeper_and_none_while_a_thread_searches() {
    let pool = small::<u32>();
    (0..3).for_each(|_| pool.idle.begin_search());
    pool.push(0).unwrap();
    assert_eq!(pool.idle.counts(), (0, 3), "nothing to claim");
    pool.leaves.of(&Native::cpu()).bell().store(ASLEEP, Relaxed);
    pool.idle.fall_asleep();
    pool.push(1).unwrap();
    assert_eq!(pool.idle.counts(), (1, 2), "there are searchers");
    assert!(!pool.idle.end_search());
    assert!(pool.idle.end_search(), "the last searcher claims the sleeper");
    pool.ring(&Native::cpu());
    let bell = pool.leaves.of(&Native::cpu()).bell();
    assert_eq!((bell.load(Relaxed), pool.idle.counts()), (RUNG, (0, 1)));
    bell.store(ASLEEP, Relaxed);
    pool.idle.fall_asleep();
    pool.push(2).unwrap();
    assert_eq!((bell.load(Relaxed), pool.idle.counts()), (RUNG, (0, 1)), "the push claims it");
}

#[test]
fn close_rings_a_sleeper() {
    let pool = small::<u32>();
    let bell = pool.leaves.of(&Native::cpu()).bell();
    bell.store(ASLEEP, Relaxed);
    pool.idle.begin_search();
    pool.idle.fall_asleep();
    assert!(pool.close());
    assert_eq!((bell.load(Relaxed), pool.idle.counts()), (RUNG, (0, 1)));
}

/// A sleeper has not seen jobs that are moved to another leaf.
#[test]
fn a_thief_that_moves_jobs_wakes_a_sleeper() {
    for (jobs, moved) in [(2, 0), (10, 2)] {
        let pool = small::<u32>();
        (0..jobs).for_each(|job| pool.push(job).unwrap());
        let bell = pool.leaves.of(&Native::cpu()).bell();
        bell.store(ASLEEP, Relaxed);
        pool.idle.begin_search();
        pool.idle.fall_asleep();
        assert_eq!(elsewhere(|| pool.try_pop()), Ok(0));
        let woken = if moved > 0 { (RUNG, (0, 1)) } else { (ASLEEP, (1, 0)) };
        assert_eq!((bell.load(Relaxed), pool.idle.counts()), woken, "{moved} jobs were moved");
    }
}

#[test]
fn a_thread_that_pops_and_pushes_still_serves_every_leaf() {
    let shape = PoolShape { most_moved: 0, ..tiny() };
    let pool: Pool<&str> = Pool::on_machine(&shape).unwrap();
    let (older, others) = (2, 3);
    // All at the same time, so that each has a leaf.
    let here = Barrier::new(others);
    thread::scope(|scope| {
        for _ in 0..others {
            scope.spawn(|| {
                (0..older).for_each(|_| pool.push("waits").unwrap());
                pool.push("last").unwrap();
                here.wait();
            });
        }
    });
    // One job is in its own leaf, below the job that it is busy with.
    pool.push("last").unwrap();
    pool.push("busy").unwrap();
    // One visit more to each leaf than there are jobs up to the last one: if this thread has the
    // smallest id, it needs a few more pops.
    let bound = 2 * shape.turn_every as usize * (older + 2) * (others + 1);
    let mut last = 0;
    // A pop that takes a turn returns a job of another kind, and "busy" stays.
    for _ in 0..bound + 1 {
        match pool.try_pop().unwrap() {
            "busy" => pool.push("busy").unwrap(),
            "last" => last += 1,
            _ => {}
        }
    }
    assert_eq!(last, others + 1, "each was taken within {bound} pops");
    assert_eq!(pool.try_pop(), Ok("busy"), "and it was its own busy self all the time");
}

#[test]
fn a_turn_leaves_a_leaf_alone_that_is_served() {
    let pool: Pool<u32> = Pool::on_machine(&PoolShape { turn_every: 1, ..tiny() }).unwrap();
    pool.push(0).unwrap();
    let leaf = pool.leaves.of(&Native::cpu());
    let turn = || {
        // SAFETY: this is the leaf of this thread.
        unsafe { leaf.with_own(|own| pool.take_turn(own, leaf)) }
    };
    // SAFETY: as before.
    let pop = || unsafe { leaf.with_own(|own| leaf.pop(own)) };
    assert_eq!([turn(), turn()], [None, Some(0)], "two looks");
    pool.push(1).unwrap();
    assert_eq!((turn(), pop()), (None, Ok(1)));
    pool.push(2).unwrap();
    assert_eq!(turn(), None, "the job that was the oldest is gone");
    assert_eq!([turn(), turn()], [None, Some(2)]);
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
        elsewhere(|| {
            let job = || Noisy { drops: Arc::clone(&drops), panics: false };
            (0..4).for_each(|_| pool.push(job()).unwrap());
        });
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
    assert_eq!(format!("{pool:?}"), "Pool { leaves: 0, jobs: 0, .. }");
}

proptest! {
    /// On one thread, after any calls: the jobs that come out are the jobs inside.
    #[test]
    fn a_pool_is_a_bag(
        calls in prop::collection::vec(0..6_u8, 0..200),
        turn_every in 1..6_u32,
    ) {
        let shape = PoolShape { turn_every, ..tiny() };
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

    /// On several threads, with any shape.
    #[test]
    fn any_shape_hands_out_every_job_once(
        turn_every in 1..70_u32,
        most_moved in 0..40_u32,
        rounds_before_sleep in 0..10_u32,
        threads in 1..6_usize,
    ) {
        let shape = PoolShape { turn_every, most_moved, rounds_before_sleep };
        exactly_once(&shape, threads, 60);
    }
}

#[test]
fn an_empty_pool_is_small() {
    let bytes = if cfg!(target_pointer_width = "64") { 512 } else { 384 };
    assert_eq!(size_of::<Pool<u64>>(), bytes);
}
