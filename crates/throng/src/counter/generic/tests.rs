use super::ladder::MOST_DEPTH;
use super::*;
use crate::machine::SplitMix64;
use std::thread;

fn groups_of(heights: &[u32]) -> Levels {
    Levels::of_heights(heights).unwrap()
}

/// The constant is written apart from the code that builds counters on any machine.
#[test]
fn a_constant_counter_is_like_one_that_was_built() {
    let words = |counter: &Counter| {
        let mode = counter.way.mode.load(Relaxed);
        let Counter { policy, depth, slots, ladder, .. } = *counter;
        (counter.stats(), mode, counter.tuner.state().to_words(), policy, depth, slots, ladder)
    };
    assert_eq!(words(&const { Counter::new() }), words(&Counter::builder().build()));
}

#[test]
fn modes_keep_levels_and_window() {
    for window in [0, 8, 30] {
        let flat = Mode::new(Next { levels: Levels::FLAT, window });
        assert!(flat.is_flat() && flat.window() == window && flat.levels() == Levels::FLAT);
        let levels = groups_of(&[5, 8]);
        let crowd = Mode::new(Next { levels, window });
        assert!(!crowd.is_flat() && crowd.window() == window && crowd.levels() == levels);
    }
    assert!(Mode::FLAT_FOR_EVER.is_flat());
}

#[test]
fn looks_follow_the_multiples_and_nothing_else() {
    for levels in [Levels::FLAT, groups_of(&[3])] {
        let mode = Mode::new(Next { levels, window: 4 });
        for first in 0..100_u64 {
            for count in 1..40 {
                let has_multiple = (first..first + count).any(|number| number % 16 == 0);
                assert_eq!(mode.looks_after(first, count), has_multiple, "{first} {count}");
            }
            assert_eq!(first & 15 == 0, mode.looks_after(first, 1));
        }
    }
}

#[test]
fn it_starts_at_the_given_number_and_gives_the_count_asked_for() {
    for policy in [Policy::Measured, Policy::Restless, Policy::Stay(groups_of(&[1, 2]))] {
        let counter = Counter::builder().start_at(500).policy(policy).build();
        assert_eq!(counter.next_many(0), 500..500);
        assert_eq!(counter.next_many(7), 500..507);
        assert_eq!(counter.next_many(1 << 20), 507..507 + (1 << 20));
        let mut values = [0; 4];
        counter.fill_on(&Native::cpu(), &mut values);
        let next = 507 + (1 << 20);
        assert_eq!(values, [next, next + 1, next + 2, next + 3]);
        assert_eq!(counter.stats().next, next + 4);
    }
}

#[test]
fn large_numbers_come_from_one_word_and_the_last_is_followed_by_0() {
    let restless = Counter::builder().policy(Policy::Restless).start_at(FLAT_FROM - 50).build();
    assert!((0..100).all(|i| restless.next() == FLAT_FROM - 50 + i));
    assert_eq!(restless.mode(), Mode::FLAT_FOR_EVER);
    restless.reshape(groups_of(&[2]));
    assert_eq!(restless.stats().levels, Levels::FLAT);

    let stay = Policy::Stay(groups_of(&[3]));
    let stays = Counter::builder().policy(stay).start_at(FLAT_FROM - 2).build();
    assert_eq!(stays.stats().levels, groups_of(&[3]));
    assert!((0..9).all(|i| stays.next() == FLAT_FROM - 2 + i));
    assert_eq!(stays.mode(), Mode::FLAT_FOR_EVER);

    let forced = Counter::builder().start_at(FLAT_FROM - 2).build();
    forced.reshape(groups_of(&[3]));
    assert!((0..9).all(|i| forced.next() == FLAT_FROM - 2 + i));
    assert_eq!(forced.mode(), Mode::FLAT_FOR_EVER);

    let last = Counter::builder().start_at(u64::MAX - 1).build();
    assert_eq!([last.next(), last.next(), last.next()], [u64::MAX - 1, u64::MAX, 0]);
    let around = Counter::builder().start_at(u64::MAX).build().next_many(3);
    assert_eq!((around.start, around.end), (u64::MAX, 2));
}

#[test]
fn no_deeper_than_allowed() {
    for depth in [0, 1, 2, 1000] {
        let counter = Counter::builder().max_depth(depth).policy(Policy::Restless).build();
        for _ in 0..500 {
            counter.next();
            assert!(counter.stats().levels.depth() <= depth.min(MOST_DEPTH));
        }
        counter.reshape(groups_of(&[1, 2, 3]));
        assert!(counter.stats().levels.depth() <= depth);
        let stay = Policy::Stay(groups_of(&[1, 3, 5]));
        let stays = Counter::builder().max_depth(depth).policy(stay).prepared_for(9).build();
        assert_eq!(stays.stats().levels.depth(), depth.min(3));
        assert_eq!(stays.next(), 0);
        assert_eq!(counter.stats().changes > 0, depth > 0);
    }
}

#[test]
fn alone_it_stays_one_word() {
    let counter = Counter::new();
    for i in 0..1_000_000 {
        assert_eq!(counter.next(), i);
    }
    // On a busy machine the policy may have taken an interruption for contention, and tried
    // groups.
    assert_eq!(counter.stats().moves, 0);

    let wait_free = Counter::builder().max_depth(0).build();
    assert_eq!(wait_free.next_many(1 << 20), 0..1 << 20);
    assert_eq!(wait_free.mode(), Mode::FLAT_FOR_EVER);
    assert!(wait_free.way.groups.get().is_none(), "nothing was made for a crowd");
}

/// 64 threads count while another one changes the shape as fast as it can.
#[test]
fn shapes_forced_from_outside_lose_nothing() {
    const THREADS: usize = 64;
    const CHANGES: u64 = 300;
    let mut builder = Counter::builder();
    builder.checked = Some((usize::MAX, 3));
    let counter = builder.build();
    let force = || {
        let (mut random, ladder) = (SplitMix64::from_state(7), ladder::ladder(MOST_DEPTH));
        while counter.stats().changes < CHANGES {
            counter.reshape(ladder[random.below(ladder.len() as u64) as usize]);
            Native::cpu().pause(200);
        }
    };
    let count = || {
        let mut drawn = Vec::new();
        while drawn.len() < 200 || counter.stats().changes < CHANGES {
            drawn.push(counter.next());
        }
        drawn
    };
    let mut drawn: Vec<u64> = thread::scope(|s| {
        let threads: Vec<_> = (0..THREADS).map(|_| s.spawn(count)).collect();
        s.spawn(force);
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    drawn.sort_unstable();
    let last = drawn.len() as u64;
    assert!(drawn.into_iter().eq(0..last));
}
