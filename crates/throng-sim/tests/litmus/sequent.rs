//! Caches on one bus: distances play no part.

use crate::bench::{Do::*, preset, run};

// The numbers of sequent.toml.
const INSTRUCTIONS: u64 = 4;
const HIT: u64 = INSTRUCTIONS + 2;
const ARBITRATION: u64 = 2;
const FETCH: u64 = 5;
const UPGRADE: u64 = 2;
const FILL: u64 = 10;
/// Until the bus is asked for and granted.
const ASK: u64 = INSTRUCTIONS + 1 + ARBITRATION;
const MISS: u64 = ASK + FETCH + FILL;

#[test]
fn a_miss_costs_the_same_wherever_the_line_is() {
    let script = [
        (0, 0, Read(0)),     // memory has it
        (100, 0, Write(0)),  // and the first reader may write
        (200, 1, Read(0)),   // 0 has it, changed
        (300, 2, Write(0)),  // 0 and 1 have it
        (400, 19, Write(0)), // 2 has it, changed
        (500, 19, Swap(0)),
        (600, 0, Write(1)),
    ];
    let run = run(&preset("sequent"), 20, &[0, 19], &script);
    assert_eq!(run.took, [MISS, HIT, MISS, MISS, MISS, HIT, MISS]);
    assert_eq!(run.memory.messages, 5, "times the bus was taken");
}

#[test]
fn an_upgrade_takes_the_bus_for_an_address_only() {
    let script = [(0, 0, Read(0)), (100, 1, Read(0)), (200, 0, Write(0)), (300, 0, Write(0))];
    let run = run(&preset("sequent"), 20, &[0], &script);
    assert_eq!(run.took, [MISS, MISS, ASK + UPGRADE, HIT]);
}

#[test]
fn all_copies_go_at_once() {
    for k in [1, 2, 6, 7, 18] {
        let mut script: Vec<_> = (0..k).map(|i| (i as u64 * 100, i, Read(0))).collect();
        script.push((9000, 19, Write(0)));
        let run = run(&preset("sequent"), 20, &[0], &script);
        assert_eq!(run.took.last(), Some(&MISS), "{k} readers");
        assert_eq!(run.line(0).invalidations, k as u64);
    }
}

#[test]
fn the_bus_takes_one_transaction_at_a_time() {
    // Of different lines: each has the bus for a fetch, and memory works on several.
    let script: Vec<_> = (0..10).map(|who| (0, who, Write(who))).collect();
    let run = run(&preset("sequent"), 20, &[0; 10], &script);
    let expected: Vec<_> = (0..10).map(|before| MISS + before * FETCH).collect();
    assert_eq!(run.took, expected);
    assert_eq!(run.memory.total.waited_cycles, (0..10).map(|before| before * FETCH).sum());
}

#[test]
fn writers_of_one_line_wait_until_the_one_before_has_it() {
    // Each has the bus after 5 cycles, but the line comes only when its owner's access, which
    // takes 10 cycles from then on, is complete. Other lines find the bus free.
    let mut script: Vec<_> = (0..10).map(|who| (0, who, Write(0))).collect();
    script.push((100, 15, Write(1)));
    let took = run(&preset("sequent"), 20, &[0, 0], &script).took;
    let expected: Vec<_> = (0..10).map(|before| MISS + before * FILL).collect();
    assert_eq!(took[..10], expected);
    assert_eq!(took[10], MISS);
}

#[test]
fn spinning_is_free_until_the_write_and_then_every_reader_misses() {
    let mut script: Vec<_> = (0..5).map(|who| (who as u64 * 100, who, Wait(0))).collect();
    script.push((1000, 5, Write(0)));
    let run = run(&preset("sequent"), 20, &[0], &script);
    assert_eq!(run.took[5], MISS);
    // All hear the write at 1000 + 7 + 5 = 1012 and ask for the bus, which is granted 7 cycles
    // later to the first, 5 more to each of the others.
    for reader in 0..5 {
        let expected = 1012 + MISS + reader * FETCH - reader * 100;
        assert_eq!(run.took[reader as usize], expected);
    }
    assert_eq!(run.accesses, 11, "two looks each, one write");
    assert_eq!((run.line(0).hits, run.line(0).misses), (0, 11));
}

#[test]
fn a_copy_is_read_until_the_write_is_heard_and_an_owner_writes_until_a_read_is() {
    // The bus is asked for at 1005 and granted at 1007; all have heard at 1012.
    let heard = 1000 + ASK + FETCH;
    let script = |at| [(0, 0, Read(0)), (100, 1, Read(0)), (1000, 2, Write(0)), (at, 0, Read(0))];
    let took = |at| run(&preset("sequent"), 20, &[0], &script(at)).took[3];
    assert_eq!(took(heard - HIT), HIT);
    // A cycle later 0 has the bus from 1014 to 1019; the write is complete at 1022.
    assert_eq!(took(heard - HIT + 1), 1022 + FILL - 1007);
    let script = |at| [(0, 3, Write(0)), (1000, 4, Read(0)), (at, 3, Write(0))];
    let took = |at| run(&preset("sequent"), 20, &[0], &script(at)).took[2];
    assert_eq!(took(heard - HIT), HIT);
    assert_eq!(took(heard - HIT + 1), ASK + UPGRADE);
}

#[test]
fn words_of_a_line_share_its_fate() {
    let script =
        |second| [(0, 1, Write(0)), (100, 4, second), (200, 1, Write(0)), (300, 4, second)];
    let together = run(&preset("sequent"), 20, &[0, 0], &script(WriteOther(0)));
    assert_eq!(together.took, [MISS; 4]);
    let apart = run(&preset("sequent"), 20, &[0, 0], &script(WriteOther(1)));
    assert_eq!(apart.took, [MISS, MISS, HIT, HIT]);
}
