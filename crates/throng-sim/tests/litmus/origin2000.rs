//! A directory on a hypercube: two processors a node, two nodes a router, so that processors 0 to 3
//! are at router 0, 4 to 7 at router 1, 8 to 11 at router 2, 12 to 15 at router 3.

use crate::bench::{Do::*, preset, run};

// The numbers of origin2000.toml.
const INSTRUCTIONS: u64 = 1;
const HIT: u64 = INSTRUCTIONS + 2;
const MISS: u64 = 20;
const FILL: u64 = 51;
const HOME: u64 = 6;
const HOLDER: u64 = 20;
const INVALIDATE: u64 = 3;
const FETCH_OP: u64 = 4;
/// To the other node of the router.
const WAY: u64 = 29;
const HOP: u64 = 13;

const LOCAL: u64 = INSTRUCTIONS + MISS + HOME + FILL;
const NEIGHBOUR: u64 = LOCAL + 2 * WAY;

#[test]
fn the_published_misses() {
    let spec = preset("origin2000");
    assert_eq!(spec.nanoseconds(LOCAL - INSTRUCTIONS), 308.0);
    assert_eq!(spec.nanoseconds(NEIGHBOUR - INSTRUCTIONS), 540.0);
    assert_eq!(spec.nanoseconds(2 * HOP), 104.0);
    // Own node, the other one of the node, same router, routers 1, 2 and 3.
    let homes = [0, 1, 2, 4, 8, 12];
    let script: Vec<_> = (0..6).map(|line| (line as u64 * 500, 0, Read(line))).collect();
    let took = run(&spec, 16, &homes, &script).took;
    let far = |hops: u64| NEIGHBOUR + 2 * hops * HOP;
    assert_eq!(took, [LOCAL, LOCAL, NEIGHBOUR, far(1), far(1), far(2)]);
}

#[test]
fn the_first_reader_may_write() {
    let script = [(0, 0, Read(0)), (500, 0, Write(0)), (1000, 0, Swap(0))];
    assert_eq!(run(&preset("origin2000"), 16, &[0], &script).took, [LOCAL, HIT, HIT]);
}

#[test]
fn a_changed_line_goes_straight_to_who_wants_it() {
    // Home at router 1, changed at router 2: two hops from there. The reader is at router 0: one
    // hop from both.
    let script = [(0, 8, Write(0)), (1000, 0, Read(0)), (2000, 14, Read(0)), (3000, 0, Read(0))];
    let took = run(&preset("origin2000"), 16, &[4], &script).took;
    let one_hop = WAY + HOP;
    let to_owner = WAY + 2 * HOP;
    let third = INSTRUCTIONS + MISS + one_hop + HOME + to_owner + HOLDER + one_hop + FILL;
    // 14, one hop from home, finds memory good again.
    assert_eq!(took[1..], [third, NEIGHBOUR + 2 * HOP, HIT]);
}

#[test]
fn upgrade_and_invalidations() {
    // Home and writer at node 0; the writer has a copy; readers at router 0 (node 1), 1, 3.
    let script = [
        (0, 0, Read(0)),
        (1000, 2, Read(0)),
        (2000, 4, Read(0)),
        (3000, 12, Read(0)),
        (4000, 0, Write(0)),
        (5000, 0, Write(0)),
    ];
    let run = run(&preset("origin2000"), 16, &[0], &script);
    // 2 finds 0 to be the owner, at home: given after 20 cycles, to 2 with the data.
    assert_eq!(run.took[1], NEIGHBOUR + HOLDER);
    let round_trip = |hops: u64| 2 * (WAY + hops * HOP) + HOLDER;
    let gone = [
        INVALIDATE + round_trip(0),
        2 * INVALIDATE + round_trip(1),
        3 * INVALIDATE + round_trip(2),
    ];
    assert_eq!(run.took[4..], [LOCAL + gone.into_iter().max().unwrap(), HIT]);
    assert_eq!(run.line(0).invalidations, 3);
}

#[test]
fn three_writers_of_a_line_queue_for_it() {
    // Home node 0. 0: arrives 21, seen 27, done 78. 2 and 3, of node 1, arrive at 50.
    //   2: seen 56, 0 has it at 78; given 98, done 98 + 29 + 51 = 178; home knows at 98
    //   3: seen 62, home free at 98, at its owner 127, which has it at 178; given 198, in the same
    //      node: done 198 + 51
    let script = [(0, 0, Swap(0)), (0, 2, Swap(0)), (0, 3, Swap(0))];
    assert_eq!(run(&preset("origin2000"), 16, &[0], &script).took, [78, 178, 249]);
}

#[test]
fn fetch_ops_are_done_at_memory_and_leave_no_copy() {
    let script = [
        (0, 0, Add(0)),
        (500, 0, Add(0)),   // still no hit
        (1000, 2, Add(0)),  // nor anything to fetch
        (1500, 2, Read(0)), // alone, and so exclusive
        (2000, 2, Write(0)),
        (2500, 0, Add(0)), // takes it away
        (3000, 2, Read(0)),
        (3500, 2, Add(0)), // its own copy goes, too
        (4000, 2, Read(0)),
    ];
    let run = run(&preset("origin2000"), 16, &[0], &script);
    let taken = LOCAL + WAY + HOLDER + WAY + FETCH_OP;
    let expected = [
        LOCAL + FETCH_OP,
        LOCAL + FETCH_OP,
        NEIGHBOUR + FETCH_OP,
        NEIGHBOUR,
        HIT,
        taken,
        NEIGHBOUR,
        NEIGHBOUR + FETCH_OP,
        NEIGHBOUR,
    ];
    assert_eq!(run.took, expected);
    assert_eq!(run.line(0).invalidations, 1, "the own copy is no invalidation");
}

#[test]
fn fetch_ops_pass_a_home_every_40_ns() {
    // On one word or on several of one home.
    for lines in [1, 8] {
        let script: Vec<_> = (0..8).map(|i| (0, 8 + i, Add(i % lines))).collect();
        let expected: Vec<_> =
            (0..8).map(|i| NEIGHBOUR + 2 * HOP + FETCH_OP + i * (HOME + FETCH_OP)).collect();
        let run = run(&preset("origin2000"), 16, &[0; 8], &script);
        // Processors 8 to 11 are one hop from home, 12 to 15 two, and arrive 13 cycles later.
        let mut sorted = run.took.clone();
        sorted[4..].iter_mut().for_each(|cycles| *cycles -= HOP);
        assert_eq!(sorted, expected, "{lines} lines");
    }
    assert_eq!(preset("origin2000").nanoseconds(HOME + FETCH_OP), 40.0);
}

#[test]
fn lines_of_one_home_queue_at_it() {
    let script = [(0, 2, Read(0)), (0, 3, Read(1)), (0, 6, Read(2))];
    // 6, at router 1, comes 13 cycles later, when the home is free again.
    let took = run(&preset("origin2000"), 16, &[0; 3], &script).took;
    assert_eq!(took, [NEIGHBOUR, NEIGHBOUR + HOME, NEIGHBOUR + 2 * HOP]);
}

#[test]
fn spinning_is_free_until_the_write_and_then_every_reader_misses() {
    let script = [(0, 2, Wait(0)), (1000, 4, Wait(0)), (2000, 0, Write(0))];
    let run = run(&preset("origin2000"), 16, &[0], &script);
    // Home 0 sees the write at 2027. 2 is told at 2027 + 3 + 29 = 2059, 4 at 2027 + 6 + 42 = 2075,
    // says so after 20, at home at 2137: the write is complete at 2137 + 51 = 2188.
    assert_eq!(run.took[2], 188);
    //   2: asks at 2059, at home at 2059 + 21 + 29 = 2109, seen 2115, line free at 2137, but its
    //      owner has it at 2188; given 2208, done 2208 + 29 + 51 = 2288
    //   4: asks at 2075, at home at 2075 + 21 + 42 = 2138, seen 2144, memory good at 2208, done
    //      2208 + 42 + 51 = 2301
    assert_eq!(run.took[..2], [2288, 2301 - 1000]);
    assert_eq!(run.accesses, 5);
    assert_eq!((run.line(0).hits, run.line(0).misses, run.line(0).invalidations), (0, 5, 2));
}

#[test]
fn words_of_a_line_share_its_fate() {
    let script =
        |second| [(0, 0, Write(0)), (1000, 2, second), (2000, 0, Write(0)), (3000, 2, second)];
    let together = run(&preset("origin2000"), 16, &[0, 2], &script(WriteOther(0)));
    // 2 fetches it from 0, at home; 0 fetches it from 2, which is at the neighbour.
    assert_eq!(together.took[1], NEIGHBOUR + HOLDER);
    assert_eq!(together.took[2], LOCAL + 2 * WAY + HOLDER);
    assert_eq!(together.took[3], NEIGHBOUR + HOLDER);
    let apart = run(&preset("origin2000"), 16, &[0, 2], &script(WriteOther(1)));
    assert_eq!(apart.took, [LOCAL, LOCAL, HIT, HIT]);
}
