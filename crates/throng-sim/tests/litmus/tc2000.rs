//! Memories behind a butterfly, no copies. 42 processors need two stages of 8 by 8.

use throng_sim::POLL_CYCLES;

use crate::bench::{Do::*, preset, run};

// The numbers of tc2000.toml.
const INSTRUCTIONS: u64 = 2;
const MEMORY: u64 = 10;
const RMW: u64 = 12;
const WAY: u64 = 6 + 2 * 4;

const LOCAL: u64 = INSTRUCTIONS + MEMORY;
const REMOTE: u64 = INSTRUCTIONS + WAY + MEMORY + WAY;

#[test]
fn the_nominal_times() {
    let spec = preset("tc2000");
    assert_eq!(spec.nanoseconds(LOCAL - INSTRUCTIONS), 500.0);
    assert_eq!(spec.nanoseconds(REMOTE - INSTRUCTIONS), 1900.0);
    let script = [(0, 7, Read(0)), (100, 7, Read(1)), (200, 7, Write(1)), (300, 7, Read(2))];
    assert_eq!(run(&spec, 42, &[7, 8, 41], &script).took, [LOCAL, REMOTE, REMOTE, REMOTE]);
}

#[test]
fn nothing_is_kept() {
    let script = [
        (0, 1, Read(0)),
        (100, 1, Read(0)),
        (200, 2, Write(0)),
        (300, 1, Add(0)),
        (400, 1, Swap(0)),
        (500, 1, FailToExchange(0)),
        (600, 0, Add(0)),
    ];
    let run = run(&preset("tc2000"), 42, &[0], &script);
    let rmw = REMOTE - MEMORY + RMW;
    assert_eq!(run.took, [REMOTE, REMOTE, REMOTE, rmw, rmw, rmw, LOCAL - MEMORY + RMW]);
    assert_eq!((run.line(0).hits, run.line(0).misses, run.line(0).invalidations), (0, 7, 0));
    assert_eq!(run.memory.messages, 12);
}

#[test]
fn a_memory_serves_one_access_at_a_time_of_one_line_or_of_several() {
    for homes in [[0; 8], [0, 0, 0, 0, 40, 40, 40, 40]] {
        let script: Vec<_> = (0..8).map(|i| (0, i + 1, Write(i))).collect();
        let expected: Vec<_> = (0..8)
            .map(|i| REMOTE + MEMORY * if homes[i] == 0 { i as u64 } else { i as u64 - 4 })
            .collect();
        assert_eq!(run(&preset("tc2000"), 42, &homes, &script).took, expected);
    }
    let script: Vec<_> = (1..9).map(|who| (0, who, Add(0))).collect();
    let expected: Vec<_> = (0..8).map(|i| REMOTE - MEMORY + RMW * (i + 1)).collect();
    assert_eq!(run(&preset("tc2000"), 42, &[0], &script).took, expected);
}

#[test]
fn who_waits_looks_again_and_again() {
    // A look, a pause, a look ...: one every 44 cycles. The write is complete at 1000 + 40; looks
    // are complete at 40, 84, .. 1052, which is the 24th; each look that overlaps with the write
    // goes by its own time, as memory is free in between.
    let script = [(0, 1, Wait(0)), (1000, 2, Write(0))];
    let run = run(&preset("tc2000"), 42, &[0], &script);
    let period = REMOTE + POLL_CYCLES;
    assert_eq!(period, 44);
    let looks = 24;
    assert_eq!(run.took, [REMOTE + (looks - 1) * period, REMOTE]);
    assert_eq!(run.accesses, looks + 1);
    assert_eq!(run.line(0).misses, looks + 1);
}

#[test]
fn words_of_a_line_queue_with_those_of_other_lines_of_its_memory() {
    // There are no copies to lose: it is the memory that counts.
    for second in [WriteOther(0), WriteOther(1)] {
        let took = run(&preset("tc2000"), 42, &[0, 0], &[(0, 1, Write(0)), (0, 4, second)]).took;
        assert_eq!(took, [REMOTE, REMOTE + MEMORY]);
    }
    let elsewhere = [(0, 1, Write(0)), (0, 4, WriteOther(1))];
    assert_eq!(run(&preset("tc2000"), 42, &[0, 2], &elsewhere).took, [REMOTE, REMOTE]);
}
