//! Loops shared out among threads: every index once, whatever the range, the threads and the work.
//!
//! One file for all loops, because each property is tested for several of them.

use std::collections::HashSet;
use std::hint::{black_box, spin_loop};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
use std::sync::{Barrier, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use throng::for_each_index;
use throng::loops::{Crew, Indices, for_each, for_each_mut, map_indices, reduce_indices};

/// A mark for each index of a range.
struct Marks {
    start: usize,
    times: Vec<AtomicU32>,
}

impl Marks {
    fn new(range: &Range<usize>) -> Self {
        Marks { start: range.start, times: range.clone().map(|_| AtomicU32::new(0)).collect() }
    }

    fn mark(&self, index: usize) {
        self.times[index - self.start].fetch_add(1, Relaxed);
    }

    fn assert_once(&self) {
        let wrong = self.times.iter().position(|times| times.load(Relaxed) != 1);
        if let Some(place) = wrong {
            let times = &self.times[place];
            panic!("index {} of {} was done {times:?} times", place, self.times.len());
        }
    }
}

fn busy(units: u32) {
    for unit in 0..units {
        black_box(unit);
        spin_loop();
    }
}

fn assert_every_index_once(
    range: Range<usize>,
    threads: usize,
    units: impl Fn(usize) -> u32 + Sync,
) {
    let marks = Marks::new(&range);
    for_each_index(range, threads, |index| {
        busy(units(index));
        marks.mark(index);
    });
    marks.assert_once();
}

#[test]
fn every_index_is_done_once() {
    for threads in [0, 1, 2, 3, 8, 40] {
        for range in [0..0, 3..3, 0..1, 9..11, 0..7, 100..5000, 0..100_000] {
            assert_every_index_once(range, threads, |_| 0);
        }
        for range in [usize::MAX - 1..usize::MAX, usize::MAX - 5000..usize::MAX] {
            assert_every_index_once(range, threads, |_| 0);
        }
    }
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "it is what is tested")]
fn nothing_is_done_in_an_empty_range() {
    for threads in [0, 1, 4] {
        for range in [0..0, usize::MAX..usize::MAX, 5..2, usize::MAX..0] {
            for_each_index(range.clone(), threads, |index| panic!("{index} of {range:?}"));
            assert!(map_indices(range, threads, |index| index).is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_index_is_done_once_whatever_the_work(
        start in prop_oneof![Just(0), 0..1000_usize, Just(usize::MAX - 3000)],
        count in 0..3000_usize,
        threads in 0..12_usize,
        // Which indices take long, and how long.
        every in 1..500_usize,
        units in 0..2000_u32,
    ) {
        assert_every_index_once(start..start + count, threads, |index| {
            if index % every == 0 { units } else { 0 }
        });
    }

    #[test]
    fn results_come_in_order(start in 0..1000_usize, count in 0..3000_usize, threads in 0..12_usize) {
        let range = start..start + count;
        let texts = map_indices(range.clone(), threads, |index| {
            busy((index % 64) as u32);
            index.to_string()
        });
        prop_assert!(texts.into_iter().eq(range.map(|index| index.to_string())));
    }

    #[test]
    fn iterators_on_threads_of_ones_own_share_all_indices(
        count in 0..3000_usize,
        hint in 0..12_usize,
        threads in 1..6_usize,
        units in 0..200_u32,
    ) {
        let (range, indices) = (5..5 + count, Indices::new(5..5 + count, hint));
        let marks = Marks::new(&range);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for index in &indices {
                        busy(units);
                        marks.mark(index);
                    }
                });
            }
        });
        marks.assert_once();
    }
}

/// Waits until `all` threads have come here, or a while.
fn meet(come: &AtomicUsize, all: usize) -> bool {
    come.fetch_add(1, SeqCst);
    let start = Instant::now();
    while come.load(SeqCst) < all {
        if start.elapsed() > Duration::from_secs(20) {
            return false;
        }
        thread::yield_now();
    }
    true
}

#[test]
fn as_many_threads_as_asked_for_are_there_if_there_is_time() {
    for threads in [1, 2, 5, 33] {
        let (come, ids) = (AtomicUsize::new(0), Mutex::new(HashSet::new()));
        for_each_index(0..threads, threads, |_| {
            ids.lock().unwrap().insert(thread::current().id());
            assert!(meet(&come, threads), "{threads} threads");
        });
        let ids: HashSet<ThreadId> = ids.into_inner().unwrap();
        assert_eq!(ids.len(), threads);
        assert!(ids.contains(&thread::current().id()), "the calling thread is one of them");
    }
}

#[test]
fn there_are_never_more_threads_than_asked_for() {
    for threads in 1..6 {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        for_each_index(0..2000, threads, |_| {
            most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
            busy(100);
            running.fetch_sub(1, SeqCst);
        });
        assert!(most.into_inner() <= threads);
    }
}

#[test]
fn threads_that_can_see_each_other_write_what_the_caller_reads() {
    let mut cells = vec![0_usize; 10_000];
    let shared: Vec<Mutex<&mut usize>> = cells.iter_mut().map(Mutex::new).collect();
    for_each_index(0..10_000, 4, |index| **shared[index].lock().unwrap() = index);
    drop(shared);
    assert!(cells.into_iter().eq(0..10_000));
}

/// Counts the threads that are in a call.
struct Within<'a>(&'a AtomicUsize);

impl<'a> Within<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, SeqCst);
        Within(count)
    }
}

impl Drop for Within<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[derive(Debug, PartialEq)]
struct Reason(usize);

#[test]
fn a_panic_reaches_the_caller_when_all_threads_have_stopped() {
    for threads in [1, 2, 4, 9] {
        for bad in [0, 1, 500, 999] {
            let (running, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                for_each_index(0..1000, threads, |index| {
                    let _within = Within::new(&running);
                    busy(200);
                    if index == bad {
                        panic_any(Reason(index));
                    }
                    done.fetch_add(1, SeqCst);
                });
            }));
            assert_eq!(running.load(SeqCst), 0, "a thread still runs");
            let payload = outcome.expect_err("it panicked");
            assert_eq!(payload.downcast_ref(), Some(&Reason(bad)));
            let done_then = done.load(SeqCst);
            assert!(done_then < 1000);
            thread::sleep(Duration::from_millis(1));
            assert_eq!(done.load(SeqCst), done_then, "a thread continues");
        }
    }
    // The threads are as good as before.
    assert_every_index_once(0..1000, 9, |_| 10);
}

#[test]
fn after_a_panic_no_thread_begins_more_than_a_chunk() {
    let (panicked, after) = (AtomicBool::new(false), AtomicUsize::new(0));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        for_each_index(0..usize::MAX, 4, |index| {
            // An index that takes this long is a chunk of its own.
            let start = Instant::now();
            while start.elapsed() < Duration::from_micros(200) {
                spin_loop();
            }
            if index == 20 {
                panicked.store(true, SeqCst);
                panic!("twenty");
            }
            if panicked.load(SeqCst) {
                thread::sleep(Duration::from_millis(20));
                after.fetch_add(1, SeqCst);
            }
        });
    }));
    assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"twenty"));
    // Each of the others may have been in one, and in another before the panic was noted.
    assert!(after.into_inner() <= 6);
}

#[test]
fn when_all_panic_one_panic_is_passed_on() {
    for threads in [1, 2, 8] {
        let outcome = catch_unwind(|| for_each_index(0..100, threads, |index| panic_any(index)));
        assert!(*outcome.unwrap_err().downcast_ref::<usize>().unwrap() < 100);
        let outcome = catch_unwind(|| map_indices(0..100, threads, |i| -> u8 { panic_any(i) }));
        assert!(*outcome.unwrap_err().downcast_ref::<usize>().unwrap() < 100);
    }
}

#[test]
fn results_of_a_loop_that_panics_are_dropped() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    let make = |index| {
        if index == 700 {
            resume_unwind(Box::new(index));
        }
        MADE.fetch_add(1, SeqCst);
        busy(50);
        Counted
    };
    for threads in [1, 4] {
        assert!(catch_unwind(|| map_indices(0..1000, threads, make)).is_err());
        assert_eq!(MADE.load(SeqCst), DROPPED.load(SeqCst));
    }
    assert!(MADE.load(SeqCst) > 0);
}

#[test]
fn loops_within_loops_within_loops_end() {
    let done = AtomicUsize::new(0);
    for_each_index(0..9, 4, |_| {
        for_each_index(0..9, 4, |_| {
            for_each_index(0..9, 4, |_| {
                busy(20);
                done.fetch_add(1, Relaxed);
            });
        });
    });
    assert_eq!(done.into_inner(), 9 * 9 * 9);
}

#[test]
fn a_panic_in_an_inner_loop_ends_the_outer_one() {
    let outcome = catch_unwind(|| {
        for_each_index(0..50, 3, |outer| {
            for_each_index(0..50, 3, |inner| {
                if (outer, inner) == (30, 30) {
                    panic_any(Reason(30));
                }
            });
        });
    });
    assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&Reason(30)));
}

#[test]
fn many_threads_call_at_the_same_time() {
    const CALLERS: usize = 16;
    let start = Barrier::new(CALLERS);
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for round in 0..60 {
                    let range = caller * 1000..caller * 1000 + 10 * round;
                    assert_every_index_once(range, 1 + (caller + round) % 5, |i| (i % 50) as u32);
                }
            });
        }
    });
}

#[test]
fn threads_are_kept_for_the_next_loop() {
    let ids = Mutex::new(HashSet::new());
    for _ in 0..50 {
        let come = AtomicUsize::new(0);
        for_each_index(0..3, 3, |_| {
            ids.lock().unwrap().insert(thread::current().id());
            assert!(meet(&come, 3));
        });
    }
    // Other tests of this process may call some away, and bring others.
    let ids: HashSet<ThreadId> = ids.into_inner().unwrap();
    assert!(ids.len() < 100, "{} threads for 50 loops", ids.len());
}

#[test]
fn every_element_of_a_slice_is_visited_once() {
    for threads in [0, 1, 3, 16] {
        for len in [0, 1, 2, 100, 10_000] {
            let mut visits = vec![0_u32; len];
            for_each_mut(&mut visits, threads, |index, visit| *visit += index as u32 + 1);
            assert!(visits.iter().copied().eq(1..=len as u32), "{threads} threads, {len} elements");
            let sum = AtomicUsize::new(0);
            for_each(&visits, threads, |&visit| _ = sum.fetch_add(visit as usize, Relaxed));
            assert_eq!(sum.into_inner(), len * (len + 1) / 2);
        }
    }
}

#[test]
fn a_panic_in_a_slice_leaves_its_elements_in_place() {
    let mut items: Vec<String> = (0..1000).map(|item| item.to_string()).collect();
    let panics = || {
        for_each_mut(&mut items, 4, |index, item| {
            assert!(index != 500, "this one");
            item.push('!');
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    let is_whole =
        |(index, item): (usize, &String)| item.trim_end_matches('!') == index.to_string();
    assert!(items.iter().enumerate().all(is_whole) && items[500] == "500");
}

#[test]
fn a_reduction_keeps_the_order_of_the_indices() {
    for threads in [1, 4, 9] {
        for len in [0, 1, 10, 3000] {
            let digits = reduce_indices(
                0..len,
                threads,
                Vec::new,
                |mut all, index| {
                    all.push(index);
                    all
                },
                |mut left, mut right| {
                    left.append(&mut right);
                    left
                },
            );
            assert!(digits.into_iter().eq(0..len), "{threads} threads, {len} indices");
        }
    }
}

/// Which threads take part in a loop in which each index waits a little.
fn threads_of(crew: &Crew) -> HashSet<ThreadId> {
    let ids = Mutex::new(HashSet::new());
    crew.for_each_index(0..200, |_| {
        ids.lock().unwrap().insert(thread::current().id());
        thread::sleep(Duration::from_micros(200));
    });
    ids.into_inner().unwrap()
}

#[test]
fn a_crew_does_what_the_functions_do() {
    let words = ["many", "words", "in", "a", "row"];
    for threads in [1, 2, 5, 40] {
        let crew = Crew::new(threads);
        for _ in 0..20 {
            let range = 7..3007;
            let marks = Marks::new(&range);
            crew.for_each_index(range, |index| marks.mark(index));
            marks.assert_once();
            assert!(
                crew.map_indices(5..900, |index| index * 3)
                    .into_iter()
                    .eq((5..900).map(|index| index * 3))
            );
            let text = crew.reduce_indices(
                0..5,
                String::new,
                |text, index| text + words[index],
                |a, b| a + &b,
            );
            assert_eq!(text, "manywordsinarow");
            let letters = AtomicUsize::new(0);
            crew.for_each(&words, |word| _ = letters.fetch_add(word.len(), Relaxed));
            assert_eq!(letters.into_inner(), 15);
            let mut squares = [0; 300];
            crew.for_each_mut(&mut squares, |index, square| *square = index * index);
            assert!(squares.into_iter().eq((0..300).map(|index| index * index)));
        }
        crew.for_each_index(0..0, |_| unreachable!());
    }
}

#[test]
fn a_crew_keeps_its_threads_and_ends_them() {
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    struct Alive;
    impl Drop for Alive {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, SeqCst);
        }
    }
    thread_local! {
        static HERE: Alive = {
            ALIVE.fetch_add(1, SeqCst);
            Alive
        };
    }

    let numbers = std::sync::Arc::new(Mutex::new(Vec::new()));
    let log = numbers.clone();
    let crew = Crew::builder()
        .threads(4)
        .thread_name("some crew")
        .stack_size(256 * 1024)
        .on_start(move |number| {
            HERE.with(|_| {});
            assert_eq!(thread::current().name(), Some("some crew"));
            log.lock().unwrap().push(number);
        })
        .build();
    assert_eq!(crew.threads(), 4);
    assert_eq!(ALIVE.load(SeqCst), 0, "no thread before it is needed");
    let mut all = HashSet::new();
    for round in 0..100 {
        all.extend(threads_of(&crew));
        if round > 4 && all.len() == 4 {
            break;
        }
    }
    assert_eq!(all.len(), 4, "the caller and the same three in every loop");
    // Longer than the program's own threads stay.
    thread::sleep(Duration::from_millis(1500));
    all.extend(threads_of(&crew));
    assert_eq!(all.len(), 4);
    let mut numbers = numbers.lock().unwrap().clone();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(ALIVE.load(SeqCst), 3);
    drop(crew);
    assert_eq!(ALIVE.load(SeqCst), 0, "the crew waits for its threads");
}

#[test]
fn several_threads_share_a_crew_and_a_loop_may_call_it_again() {
    let crew = Crew::new(3);
    let ids = Mutex::new(HashSet::new());
    let total = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..50 {
                    crew.for_each_index(0..40, |_| {
                        ids.lock().unwrap().insert(thread::current().id());
                        crew.for_each_index(0..10, |_| _ = total.fetch_add(1, Relaxed));
                    });
                }
            });
        }
    });
    assert_eq!(total.into_inner(), 3 * 50 * 40 * 10);
    assert!(ids.into_inner().unwrap().len() <= 3 + 2, "three callers and two threads");
}

#[test]
fn a_crew_survives_panics() {
    let crew = Crew::builder()
        .threads(4)
        .on_start(|number| panic!("thread {number} cannot pin itself"))
        .build();
    for round in 0..20 {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            crew.for_each_index(0..1000, |index| {
                busy(500);
                if index == 500 {
                    panic_any(round);
                }
            });
        }));
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&round));
        assert_eq!(crew.map_indices(0..100, |index| index).len(), 100);
    }
    drop(Crew::default());
    let crew = Crew::new(usize::MAX);
    assert!(crew.threads() >= 256 && crew.threads() < 1 << 20);
    crew.for_each_index(0..3, |_| {});
    let named = catch_unwind(|| Crew::builder().thread_name("a\0b"));
    assert!(
        named.unwrap_err().downcast_ref::<String>().is_some_and(|text| text.contains("zero byte"))
    );
}

#[test]
fn no_number_of_threads_is_too_large() {
    let sum = AtomicUsize::new(0);
    for_each_index(0..100_000, usize::MAX, |index| _ = sum.fetch_add(index, Relaxed));
    assert_eq!(sum.into_inner(), 99_999 * 100_000 / 2);
}
