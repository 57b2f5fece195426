//! Rings of 32 caches on a ring of rings: the nearest copy answers. Processors 0 to 31 are ring 0,
//! 32 to 63 ring 1, 64 to 95 ring 2.

use crate::bench::{Do::*, preset, run};

// The numbers of ksr1.toml.
const INSTRUCTIONS: u64 = 2;
const HIT: u64 = INSTRUCTIONS + 2;
const MISS: u64 = 2;
const NEAR: u64 = 74;
const FAR: u64 = 299;
const SLOT: u64 = 3;
const MEMORY: u64 = 18;

/// Out of a cache of the own ring: published as 150 cycles.
const SAME_RING: u64 = INSTRUCTIONS + 150;
/// Out of another ring: 600.
const OTHER_RING: u64 = INSTRUCTIONS + 600;

#[test]
fn the_published_misses() {
    assert_eq!(SAME_RING, INSTRUCTIONS + MISS + 2 * NEAR);
    assert_eq!(OTHER_RING, INSTRUCTIONS + MISS + 2 * FAR);
    let script = [
        (0, 0, Write(0)),
        (1000, 31, Read(0)),
        (2000, 32, Read(0)),
        (3000, 33, Read(0)), // now there is a copy in ring 1
        (4000, 33, Read(0)),
        (5000, 95, Write(0)),
        (6000, 64, Write(0)),
        (7000, 0, Write(0)),
    ];
    let took = run(&preset("ksr1"), 96, &[0], &script).took;
    let expected = [SAME_RING, OTHER_RING, SAME_RING, HIT, OTHER_RING, SAME_RING, OTHER_RING];
    assert_eq!(took[1..], expected);
}

#[test]
fn a_line_that_nobody_has_is_at_home_and_the_first_reader_may_write() {
    let script = [(0, 5, Read(0)), (500, 5, Write(0)), (1000, 5, Read(1)), (2000, 5, Write(2))];
    let run = run(&preset("ksr1"), 96, &[5, 6, 40], &script);
    let own = INSTRUCTIONS + MISS + MEMORY;
    assert_eq!(run.took, [own, HIT, SAME_RING + MEMORY, OTHER_RING + MEMORY]);
    assert_eq!(run.memory.messages, 4);
}

#[test]
fn a_write_goes_as_far_as_the_farthest_copy_however_many_there_are() {
    for (readers, expected) in [
        (&[1][..], SAME_RING),
        (&[1, 2, 3, 4, 5, 6, 7, 8], SAME_RING),
        (&[1, 2, 70], OTHER_RING),
        (&[33, 34, 35, 36, 37, 38, 70, 71, 72], OTHER_RING),
    ] {
        let mut script = vec![(0, 0, Read(0))];
        let times = (1..).map(|i| i * 1000);
        script.extend(times.zip(readers).map(|(at, &who)| (at, who, Read(0))));
        script.push((20_000, 0, Write(0)));
        let run = run(&preset("ksr1"), 96, &[0], &script);
        assert_eq!(run.took.last(), Some(&expected), "{readers:?}");
        assert_eq!(run.line(0).invalidations, readers.len() as u64);
    }
}

#[test]
fn the_first_of_many_writers_takes_a_round_trip_and_the_others_one_way_each() {
    let mut script = vec![(0, 0, Write(0))];
    script.extend((1..=6).map(|who| (1000, who, Swap(0))));
    let took = run(&preset("ksr1"), 32, &[0], &script).took;
    let expected: Vec<_> = (1..=6).map(|n| SAME_RING + (n - 1) * NEAR).collect();
    assert_eq!(took[1..], expected);
}

#[test]
fn lines_of_one_home_queue_at_its_memory() {
    // Requests leave in slots of the ring, at 4 and 7, arrive at 78 and 81; memory has the first
    // until 96 and the second until 114.
    let took = run(&preset("ksr1"), 32, &[0, 0], &[(0, 1, Read(0)), (0, 2, Read(1))]).took;
    assert_eq!(took, [96 + NEAR, 114 + NEAR]);
}

#[test]
fn a_ring_takes_one_message_after_another() {
    // Eight lines in the caches of 0 to 7, read by 8 to 15 at the same time.
    let owned = (0..8).map(|i| (0, i, Write(i)));
    let read = (0..8).map(|i| (5000, 8 + i, Read(i)));
    let script: Vec<_> = owned.chain(read).collect();
    let homes = [0, 1, 2, 3, 4, 5, 6, 7];
    let run = run(&preset("ksr1"), 96, &homes, &script);
    let own = INSTRUCTIONS + MISS + MEMORY;
    assert_eq!(run.took[..8], [own; 8], "the own memory needs no ring");
    let expected: Vec<_> = (0..8).map(|before| SAME_RING + before * SLOT).collect();
    assert_eq!(run.took[8..], expected);
    assert_eq!(run.memory.total.waited_cycles, SLOT * 28);
}

#[test]
fn the_ring_of_rings_takes_one_message_after_another_from_all_rings() {
    // 0 and 1 read lines of ring 2, and so do 32 and 33: two in each ring, four in the ring of
    // rings and in ring 2. 34 stays in its ring.
    let owned = (0..4).map(|i| (0, 64 + i, Write(i)));
    let read = [0, 1, 32, 33].into_iter().zip(0..4).map(|(who, i)| (5000, who, Read(i)));
    let mut script: Vec<_> = owned.chain(read).collect();
    script.extend([(0, 35, Write(4)), (5000, 34, Read(4))]);
    let took = run(&preset("ksr1"), 96, &[64, 65, 66, 67, 35], &script).took;
    let expected: Vec<_> = (0..4).map(|before| OTHER_RING + before * SLOT).collect();
    assert_eq!(took[4..8], expected);
    assert_eq!(took[9], SAME_RING + 2 * SLOT);
}

#[test]
fn who_stands_in_line_at_one_ring_holds_nobody_up_at_the_next() {
    // Twenty messages in ring 0, then one to ring 1, which leaves ring 0 only 60 cycles later.
    // Ring 1 keeps one slot for it, no more: 40 waits for that, and not for 60 cycles.
    let owned = (0..20).map(|i| (0, i, Write(i)));
    let read = (0..20).map(|i| (5000, (i + 1) % 20, Read(i)));
    let mut script: Vec<_> = owned.chain(read).collect();
    script.extend([(0, 63, Write(20)), (0, 41, Write(21))]);
    script.extend([(5000, 20, Read(20)), (5000, 40, Read(21))]);
    let homes: Vec<_> = (0..20).chain([63, 41]).collect();
    let took = run(&preset("ksr1"), 96, &homes, &script).took;
    assert_eq!(took[42..], [OTHER_RING + 20 * SLOT, SAME_RING + SLOT]);
}

#[test]
fn of_the_readers_of_a_ring_only_the_first_goes_far() {
    let script = [
        (0, 0, Write(0)),
        (1000, 32, Read(0)),
        (1000, 33, Read(0)),
        (1500, 34, Read(0)),
        (1000, 64, Read(0)),
        (3000, 65, Read(0)),
    ];
    let run = run(&preset("ksr1"), 96, &[0], &script);
    // 32 has its copy at 1602; readers of its ring that asked before get it one message later. 64, of
    // another ring, has the ring of rings one slot after 32.
    let passed_on = 1000 + OTHER_RING + NEAR;
    let expected = [OTHER_RING, passed_on - 1000, passed_on - 1500, OTHER_RING + SLOT, SAME_RING];
    assert_eq!(run.took[1..], expected);
}

#[test]
fn spinning_is_free_until_the_write_and_then_every_reader_misses() {
    let script = [(1000, 1, Wait(0)), (2000, 2, Wait(0)), (3000, 40, Wait(0)), (5000, 0, Write(0))];
    let run = run(&preset("ksr1"), 96, &[0], &script);
    // The write leaves at 5004 and goes to 40 and back: 5602. 1 and 2 learn of it at 5078; their
    // requests are at 0 at 5156 and 5159, and wait for the line: 5602 + 74. 40 learns of it at
    // 5303; its request is at 0 at 5303 + 4 + 299 = 5606, and the answer comes at 5606 + 299.
    assert_eq!(run.took, [5676 - 1000, 5676 - 2000, 5905 - 3000, OTHER_RING]);
    assert_eq!(run.accesses, 7);
    assert_eq!((run.line(0).hits, run.line(0).misses, run.line(0).invalidations), (0, 7, 3));
}

#[test]
fn a_copy_is_read_until_the_write_comes_to_it() {
    // The write leaves at 1004: it is at 1 at 1078, and at 40 at 1303.
    let script = |near, far| {
        vec![
            (0, 0, Read(0)),
            (300, 1, Read(0)),
            (300, 40, Read(0)),
            (1000, 0, Write(0)),
            (near, 1, Read(0)),
            (far, 40, Read(0)),
        ]
    };
    let took = |near, far| run(&preset("ksr1"), 96, &[0], &script(near, far)).took;
    assert_eq!(took(1078 - HIT, 1303 - HIT)[4..], [HIT; 2]);
    // One cycle later they ask 0 for it, which has it at 1602: 1's request is there before, and
    // that of 40 at 1300 + 4 + 299 = 1603.
    let missed = took(1079 - HIT, 1304 - HIT);
    assert_eq!(missed[4..], [1602 + NEAR - 1075, 1603 + FAR - 1300]);
}

#[test]
fn words_of_a_line_share_its_fate() {
    let script =
        |second| [(0, 1, Write(0)), (1000, 4, second), (2000, 1, Write(0)), (3000, 4, second)];
    let together = run(&preset("ksr1"), 96, &[1, 4], &script(WriteOther(0)));
    assert_eq!(together.took[1..], [SAME_RING; 3]);
    let apart = run(&preset("ksr1"), 96, &[1, 4], &script(WriteOther(1)));
    assert_eq!(apart.took[2..], [HIT; 2]);
}
