//! A directory on a mesh. Sixteen processors are a square of four by four:
//!
//! ```text
//!    0   1   2   3
//!    4   5   6   7
//!    8   9  10  11
//!   12  13  14  15
//! ```

use throng_sim::spec::CoherenceSpec;

use crate::bench::{Do::*, preset, run};

// The numbers of alewife.toml.
const INSTRUCTIONS: u64 = 2;
const HIT: u64 = 2;
const MISS: u64 = 2;
const FILL: u64 = 2;
const HOME: u64 = 7;
const HOLDER: u64 = 2;
const INVALIDATE: u64 = 5;

/// Returns the time of a message over `hops` hops.
const fn way(hops: u64) -> u64 {
    if hops == 0 { 0 } else { 12 + hops }
}

fn hops(a: u64, b: u64) -> u64 {
    (a % 4).abs_diff(b % 4) + (a / 4).abs_diff(b / 4)
}

/// Returns the time of a miss that memory answers, over `hops` hops. The paper: 11 and 38 cycles; the file: 11 and 37.
const fn clean(hops: u64) -> u64 {
    INSTRUCTIONS + MISS + way(hops) + HOME + way(hops) + FILL
}

#[test]
fn the_published_misses() {
    // Line 0 is at home at 0, line 1 at 1 and changed there, line 2 at 1 and changed by 2.
    let homes = [0, 1, 1, 1];
    let script = [
        (0, 1, Write(1)),
        (0, 2, Write(2)),
        (1000, 0, Read(0)),
        (2000, 0, Read(3)),
        (3000, 0, Read(1)),
        (4000, 0, Read(2)),
    ];
    let took = run(&preset("alewife"), 16, &homes, &script).took;
    let published = [11, 37, 39, 65].map(|cycles| INSTRUCTIONS + cycles);
    assert_eq!(took[2..], published);
}

#[test]
fn a_miss_costs_by_distance_and_a_hit_does_not() {
    let near_to_far = [0, 1, 2, 3, 7, 11, 15];
    for (distance, home) in near_to_far.into_iter().enumerate() {
        let script = [(0, 0, Read(0)), (500, 0, Read(0)), (1000, 1, Write(1)), (1500, 1, Swap(1))];
        let run = run(&preset("alewife"), 16, &[home, 1], &script);
        let hit = INSTRUCTIONS + HIT;
        assert_eq!(run.took, [clean(distance as u64), hit, clean(0), hit]);
        assert_eq!((run.line(0).hits, run.line(0).misses), (1, 1));
        assert_eq!(run.memory.messages, if distance == 0 { 0 } else { 2 });
    }
}

#[test]
fn a_changed_line_comes_back_over_its_home() {
    // Home 5, changed by 6; then 4 reads it, and memory is good again for 1; then 9 writes.
    let script = [(0, 6, Write(0)), (500, 4, Read(0)), (1000, 1, Read(0)), (1500, 6, Read(0))];
    let changed = clean(1) + way(1) + HOLDER + way(1);
    let hit = INSTRUCTIONS + HIT;
    assert_eq!(run(&preset("alewife"), 16, &[5], &script).took, [clean(1), changed, clean(1), hit]);
    let script = [(0, 6, Write(0)), (500, 9, Write(0)), (1000, 6, Read(0))];
    assert_eq!(run(&preset("alewife"), 16, &[5], &script).took, [clean(1), changed, changed]);
}

#[test]
fn an_upgrade_costs_a_miss_although_nobody_else_has_a_copy() {
    // There is no exclusive reading here.
    let script = [(0, 0, Read(0)), (500, 0, Write(0)), (1000, 0, Write(0))];
    let run = run(&preset("alewife"), 16, &[1], &script);
    assert_eq!(run.took, [clean(1), clean(1), INSTRUCTIONS + HIT]);
    assert_eq!(run.line(0).invalidations, 0);
}

#[test]
fn a_failed_exchange_takes_the_line_as_a_write_does() {
    let script = [(0, 0, Read(0)), (500, 1, FailToExchange(0)), (1000, 0, Read(0))];
    let run = run(&preset("alewife"), 16, &[0], &script);
    let invalidation = INVALIDATE + way(0) + HOLDER + way(0);
    let changed = clean(0) + way(1) + HOLDER + way(1);
    assert_eq!(run.took, [clean(0), clean(1) + invalidation, changed]);
}

#[test]
fn invalidations_leave_the_home_one_after_another() {
    let readers = [15_u64, 3, 6, 1, 12, 9, 2, 11, 5];
    for k in 1..=readers.len() {
        for writer_reads_first in [false, true] {
            let mut script: Vec<_> =
                (0..k).map(|i| (i as u64 * 200, readers[i] as usize, Read(0))).collect();
            if writer_reads_first {
                script.push((8000, 0, Read(0)));
            }
            script.push((9000, 0, Write(0)));
            let run = run(&preset("alewife"), 16, &[0], &script);

            // Up to six copies are told in the order of coming, more from the smallest id. The
            // writer is at home and has way(0) to go.
            let mut told = readers[..k].to_vec();
            if k + usize::from(writer_reads_first) > 6 {
                told.sort_unstable();
            }
            let gone = told.iter().enumerate().map(|(i, &reader)| {
                (i as u64 + 1) * INVALIDATE + way(hops(0, reader)) + HOLDER + way(hops(reader, 0))
            });
            let expected = clean(0) + gone.max().unwrap();
            assert_eq!(run.took.last(), Some(&expected), "{k} readers");
            assert_eq!(run.line(0).invalidations, k as u64);
        }
    }
}

#[test]
fn four_writers_of_a_line_queue_for_it() {
    // Home 5; all write at 0, one hop away; requests arrive at 2 + 2 + 13 = 17, served by id.
    //   1: seen 24, no copy elsewhere: home again 24, done 24 + 13 + 2 = 39
    //   4: seen 31; at its owner 44, which has it since 39; given 46, home 59, done 74
    //   6: seen 38, the line is home at 59; at its owner 72, which has it at 74; given 76, home 89
    //   9: seen 45, the line is home at 89; as before, a round trip, fill and holder later
    let period = way(1) + way(1) + FILL + HOLDER;
    let script = [1, 4, 6, 9].map(|who| (0, who, Write(0)));
    let run = run(&preset("alewife"), 16, &[5], &script);
    assert_eq!(run.took, [39, 74, 74 + period, 74 + 2 * period]);
    // Behind the others: 0, 31 - 7 - 17, 59 - 7 - 17, 89 - 7 - 17.
    assert_eq!(run.line(0).waited_cycles, 7 + 35 + 65);
}

#[test]
fn a_home_serves_one_request_at_a_time() {
    // Four lines of one home, asked for at the same time from the same distance.
    let script = [(0, 1, Read(0)), (0, 4, Read(1)), (0, 6, Write(2)), (0, 9, Write(3))];
    let run = run(&preset("alewife"), 16, &[5; 4], &script);
    assert_eq!(run.took, [0, 1, 2, 3].map(|before| clean(1) + before * HOME));
    assert_eq!(run.memory.total.waited_cycles, HOME + 2 * HOME + 3 * HOME);
}

#[test]
fn a_line_on_its_way_holds_up_no_other_line_of_its_home() {
    // 15 owns line 0; while it is fetched from there, line 1 is served after one look of the home.
    let script = [(0, 15, Write(0)), (500, 1, Read(0)), (500, 4, Read(1))];
    let took = run(&preset("alewife"), 16, &[5; 2], &script).took;
    assert_eq!(took[1..], [clean(1) + way(4) + HOLDER + way(4), clean(1) + HOME]);
}

#[test]
fn invalidations_hold_up_the_other_lines_of_their_home() {
    // The home, 5, looks at the write until 1011 and then sends two invalidations, until 1021; a
    // request from 1, issued at 990, comes at 1007 and is seen at 1028.
    let script = [(0, 4, Read(0)), (200, 6, Read(0)), (1000, 5, Write(0)), (990, 1, Read(1))];
    let took = run(&preset("alewife"), 16, &[5; 2], &script).took;
    assert_eq!(took[2], clean(0) + 2 * INVALIDATE + way(1) + HOLDER + way(1));
    assert_eq!(took[3], 1028 + way(1) + FILL - 990);
}

#[test]
fn spinning_is_free_until_the_write_and_then_every_reader_misses() {
    let script = [(0, 1, Wait(0)), (100, 4, Wait(0)), (200, 6, Wait(0)), (1000, 5, Write(0))];
    let run = run(&preset("alewife"), 16, &[5], &script);
    // The write is seen by its own home at 1000 + 4 + 7 = 1011; the three learn of it 5 cycles and
    // 13 cycles of way after each other: at 1029, 1034, 1039; the last answer is at home at
    // 1039 + 2 + 13 = 1054, and the write is complete at 1056.
    assert_eq!(run.took[3], 56);
    // Their new requests are at home at 1046, 1051, 1056, and seen at 1053, 1060, 1067.
    //   1: the line is settled, 1054, and complete, 1056; given 1058, done 1058 + 13 + 2
    //   4 and 6: memory is good
    assert_eq!(run.took[..3], [1073, 1075 - 100, 1082 - 200]);
    let line = run.line(0);
    assert_eq!((line.hits, line.misses, line.invalidations), (0, 7, 3));
    assert_eq!(run.accesses, 7, "two looks each, one write");
}

#[test]
fn a_copy_is_read_until_the_invalidation_comes() {
    let hit = INSTRUCTIONS + HIT;
    let script = |four, six| {
        vec![
            (0, 4, Read(0)),
            (200, 6, Read(0)),
            (1000, 5, Write(0)),
            (four, 4, Read(0)),
            (six, 6, Read(0)),
        ]
    };
    // The home, 5, sees its own write at 1011; 4 is told at 1011 + 5 + 13, 6 at 1011 + 10 + 13.
    let took = |four, six| run(&preset("alewife"), 16, &[5], &script(four, six)).took;
    assert_eq!(took(1029 - hit, 1034 - hit)[3..], [hit, hit]);
    // A cycle later 4 asks: at home at 1026 + 4 + 13, seen 1050. The last answer is at home at 1034
    // + 2 + 13 = 1049, the write complete at 1051: given 1053, done 1053 + 13 + 2.
    assert_eq!(took(1026, 1034 - hit)[3..], [1068 - 1026, hit]);
}

#[test]
fn an_owner_writes_until_it_is_asked_for_the_line() {
    let hit = INSTRUCTIONS + HIT;
    let script = |at| [(0, 6, Write(0)), (1000, 4, Read(0)), (at, 6, Write(0))];
    let took = |at| run(&preset("alewife"), 16, &[5], &script(at)).took;
    // 4's request is seen at 1000 + 4 + 13 + 7 = 1024, at 6 at 1037; given 1039.
    assert_eq!(took(1039 - hit)[1..], [clean(1) + way(1) + HOLDER + way(1), hit]);
    // A cycle later 6 asks for the right to write: at home at 1036 + 4 + 13, seen 1060; 4 is told
    // at 1078, its answer is at home at 1093, done 1093 + 13 + 2.
    assert_eq!(took(1036)[2], 1108 - 1036);
}

#[test]
fn words_of_a_line_share_its_fate() {
    let script =
        |second| [(0, 1, Write(0)), (100, 4, second), (200, 1, Write(0)), (300, 4, second)];
    let together = run(&preset("alewife"), 16, &[5, 5], &script(WriteOther(0)));
    let changed = clean(1) + way(1) + HOLDER + way(1);
    assert_eq!(together.took, [clean(1), changed, changed, changed]);
    let apart = run(&preset("alewife"), 16, &[5, 5], &script(WriteOther(1)));
    let hit = INSTRUCTIONS + HIT;
    assert_eq!(apart.took, [clean(1), clean(1), hit, hit]);
}

#[test]
fn copies_beyond_the_pointers_cost_extra() {
    const OVERFLOW: u64 = 387;
    let mut spec = preset("alewife");
    let limit = |limit: usize, spec: &mut throng_sim::MachineSpec| {
        let CoherenceSpec::Directory { pointers, overflow_cycles, .. } = &mut spec.coherence else {
            panic!("a directory");
        };
        (*pointers, *overflow_cycles) = (Some(limit), OVERFLOW);
    };
    limit(2, &mut spec);
    let script = [
        (0, 1, Read(0)),
        (1000, 4, Read(0)),
        (2000, 6, Read(0)), // the third
        (2001, 9, Read(1)), // and the home is busy with it
        (3000, 9, Read(0)), // the fourth
        (4000, 9, Read(0)), // a hit
    ];
    let took = run(&spec, 16, &[5; 2], &script).took;
    // 6: at home at 2017, seen 2024, done with 2411; 9: at home at 2018, seen 2418.
    let held_up = 2411 + HOME - (2018 + HOME);
    let expected = [0, 0, OVERFLOW, held_up, OVERFLOW].map(|extra| clean(1) + extra);
    assert_eq!(took[..5], expected);
    assert_eq!(took[5], INSTRUCTIONS + HIT);

    // The reader of a changed line is the second to have a copy.
    limit(1, &mut spec);
    let took = run(&spec, 16, &[5], &[(0, 1, Write(0)), (1000, 4, Read(0))]).took;
    assert_eq!(took[1], clean(1) + way(1) + HOLDER + way(1) + OVERFLOW);
}

#[test]
fn processors_of_a_node_share_its_memory_and_its_place() {
    let mut spec = preset("alewife");
    spec.processor.per_node = 4;
    // Sixteen processors are four nodes, two by two: 0 to 3 are node 0, 12 to 15 node 3.
    let script = [(0, 3, Read(0)), (500, 4, Read(0)), (1000, 8, Read(0)), (1500, 15, Read(0))];
    let took = run(&spec, 16, &[0], &script).took;
    assert_eq!(took, [clean(0), clean(1), clean(1), clean(2)]);
}

#[test]
fn a_read_that_was_overtaken_by_a_write_is_not_kept() {
    // 15 asks first, but is far: at home (0) at 4 + 18 = 22, where 0's write has been at 21 - 17.
    let script = [(0, 15, Read(0)), (17, 0, Write(0)), (400, 15, Read(0))];
    let run = run(&preset("alewife"), 16, &[0], &script);
    // 0: at home at 21, seen 28, done 30. 15: at home at 22, seen 35, given 37, done 37 + 18 + 2.
    assert_eq!(run.took, [57, 13, INSTRUCTIONS + HIT]);
}
