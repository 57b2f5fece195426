//! Two sockets of 12 chiplets of 8 cores: the nearest copy answers. Processors 0 to 7 are chiplet
//! 0, 8 to 15 chiplet 1, ..; 0 to 95 are socket 0, 96 to 191 socket 1.

use crate::bench::{Do::*, preset, run};

// The numbers of server.toml.
const HIT: u64 = 4;
const RMW_HIT: u64 = 18;
const MISS: u64 = 3;
const CHIPLET_WAY: u64 = 30;
const SOCKET_WAY: u64 = 156;
const FAR_WAY: u64 = 291;
const PORT: u64 = 4;
const HOLDER: u64 = 6;
const MEMORY: u64 = 360;

const CHIPLET: u64 = MISS + 2 * CHIPLET_WAY + HOLDER;
const SOCKET: u64 = MISS + 2 * SOCKET_WAY + HOLDER;
const FAR: u64 = MISS + 2 * FAR_WAY + HOLDER;

#[test]
fn the_published_misses() {
    let spec = preset("server");
    assert_eq!([CHIPLET, SOCKET, FAR].map(|cycles| spec.nanoseconds(cycles)), [23.0, 107.0, 197.0]);
    let script = [
        (0, 0, Write(0)),
        (1000, 7, Write(0)),
        (2000, 8, Write(0)),
        (3000, 95, Write(0)),
        (4000, 96, Write(0)),
        (5000, 191, Read(0)),
        (6000, 0, Read(0)),
        (7000, 1, Read(0)),
        (8000, 9, Read(0)),
    ];
    let took = run(&spec, 192, &[0], &script).took;
    assert_eq!(took[1..], [CHIPLET, SOCKET, SOCKET, FAR, SOCKET, FAR, CHIPLET, SOCKET]);
}

#[test]
fn hits_and_locked_hits() {
    let script = [
        (0, 0, Read(0)), // memory, and alone
        (1000, 0, Write(0)),
        (2000, 0, Read(0)),
        (3000, 0, Swap(0)),
        (4000, 0, Add(0)),
        (5000, 0, FailToExchange(0)),
    ];
    let run = run(&preset("server"), 192, &[0], &script);
    assert_eq!(run.took, [MISS + MEMORY, HIT, HIT, RMW_HIT, RMW_HIT, RMW_HIT]);
    assert_eq!((run.line(0).hits, run.line(0).misses), (5, 1));
}

#[test]
fn memory_answers_where_nobody_has_a_copy() {
    let script = [(0, 0, Read(0)), (1000, 0, Write(1)), (2000, 0, Read(2)), (3000, 0, Swap(3))];
    let took = run(&preset("server"), 192, &[0, 1, 95, 96], &script).took;
    let ways = [0, CHIPLET_WAY, SOCKET_WAY, FAR_WAY];
    assert_eq!(took, ways.map(|way| MISS + 2 * way + MEMORY));
}

#[test]
fn a_write_goes_as_far_as_the_farthest_copy_however_many_there_are() {
    for (readers, expected) in [
        (&[1][..], CHIPLET),
        (&[1, 2, 3, 4, 5, 6, 7], CHIPLET),
        (&[1, 2, 3, 50, 60, 70, 80, 90], SOCKET),
        (&[1, 191], FAR),
    ] {
        let mut script = vec![(0, 0, Read(0))];
        let times = (1..).map(|i| i * 1000);
        script.extend(times.zip(readers).map(|(at, &who)| (at, who, Read(0))));
        script.extend([(20_000, 0, Write(0)), (30_000, 0, Write(0))]);
        let run = run(&preset("server"), 192, &[0], &script);
        assert_eq!(run.took[readers.len() + 1..], [expected, HIT], "{readers:?}");
        assert_eq!(run.line(0).invalidations, readers.len() as u64);
    }
}

#[test]
fn the_first_of_many_writers_takes_a_round_trip_and_the_others_one_way_each() {
    let mut script = vec![(0, 0, Write(0))];
    script.extend((1..8).map(|who| (1000, who, Add(0))));
    let took = run(&preset("server"), 192, &[0], &script).took;
    let expected: Vec<_> = (1..8).map(|n| CHIPLET + (n - 1) * (HOLDER + CHIPLET_WAY)).collect();
    assert_eq!(took[1..], expected);
}

#[test]
fn an_owner_makes_three_additions_before_it_gives_the_line_away() {
    // 0 has the line from 363 on, in which it counts the write, and adds at 1000, 1018, 1036 ...;
    // 1 asks at 1003, and is there at 1033: the addition that is in progress, until 1036, is the
    // third since 0 has the line.
    let mut script = vec![(0, 0, Write(0)), (1000, 1, Add(0))];
    script.extend((0..4).map(|n| (1000 + n * RMW_HIT, 0, Add(0))));
    let given = 1036;
    let comes = given + HOLDER + CHIPLET_WAY;
    let took = run(&preset("server"), 192, &[0], &script[..4]).took;
    assert_eq!(took[1..], [comes - 1000, RMW_HIT, RMW_HIT]);
    // The third addition of 0 asks at 1039, is at 1 before the line, and gets it from there, since
    // 1 makes no second addition.
    let took = run(&preset("server"), 192, &[0], &script[..5]).took;
    assert_eq!(took[1..], [comes - 1000, RMW_HIT, RMW_HIT, comes + HOLDER + CHIPLET_WAY - 1036]);
}

#[test]
fn two_processors_that_add_make_three_additions_in_turn() {
    // 0 gets the line from memory, and 1 from 0 after three additions; and so on.
    let mut script: Vec<_> = Vec::new();
    let mut time = MISS + MEMORY;
    let mut expected = Vec::new();
    let (mut free_at, mut began) = ([0, 0], [0, 0]);
    for turn in 0..6 {
        let who = turn % 2;
        for addition in 0..3 {
            time += if addition > 0 { RMW_HIT } else { 0 };
            began[who] = free_at[who];
            script.push((began[who], who, Add(0)));
            expected.push(time - began[who]);
            free_at[who] = time;
        }
        time += HOLDER + CHIPLET_WAY;
    }
    let took = run(&preset("server"), 192, &[0], &script).took;
    assert_eq!(took, expected);
}

#[test]
fn an_owner_that_does_something_else_gives_the_line_away_at_once() {
    // 0 adds to line 0 at 1000 and then reads line 1; 1's request is there at 1033.
    for other in [Read(1), Add(1)] {
        let script = [
            (0, 0, Add(0)),
            (500, 0, Add(1)),
            (1000, 1, Add(0)),
            (1020, 0, Add(0)),
            (1038, 0, other),
            (1080, 0, Read(1)),
        ];
        let took = run(&preset("server"), 192, &[0, 0], &script).took;
        assert_eq!(took[2..4], [1038 + HOLDER + CHIPLET_WAY - 1000, RMW_HIT]);
    }
}

#[test]
fn a_copy_is_read_until_the_write_comes_to_it_and_the_owner_writes_until_it_is_asked() {
    let script = |near, far| {
        vec![
            (0, 0, Read(0)),
            (1000, 1, Read(0)),
            (1000, 96, Read(0)),
            (2000, 0, Write(0)),
            (near, 1, Read(0)),
            (far, 96, Read(0)),
        ]
    };
    let took = |near, far| run(&preset("server"), 192, &[0], &script(near, far)).took;
    // The write leaves at 2003: it is at 1 at 2033, at 96 at 2294, and complete at 2591.
    assert_eq!(took(2033 - HIT, 2294 - HIT)[3..], [FAR, HIT, HIT]);
    // A cycle later 1's request waits for the line; that of 96 is at 0 at 2291 + 3 + 291.
    let missed = took(2034 - HIT, 2295 - HIT);
    assert_eq!(missed[4], 2591 + HOLDER + CHIPLET_WAY - 2030);
    assert_eq!(missed[5], 2591 + HOLDER + FAR_WAY - 2291);
    // A reader's request is at the owner at 1033: until then the owner writes, after that it asks.
    let script = |at| [(0, 0, Write(0)), (1000, 1, Read(0)), (at, 0, Write(0))];
    assert_eq!(run(&preset("server"), 192, &[0], &script(1033 - HIT)).took[2], HIT);
    let late = run(&preset("server"), 192, &[0], &script(1040)).took[2];
    assert_eq!(late, CHIPLET);
}

#[test]
fn lines_of_one_home_queue_at_its_memory() {
    let script = [(0, 1, Read(0)), (0, 2, Write(1)), (0, 3, Read(2))];
    let took = run(&preset("server"), 192, &[0, 0, 0], &script).took;
    let first = MISS + 2 * CHIPLET_WAY + MEMORY;
    assert_eq!(took, [first, first + MEMORY, first + 2 * MEMORY]);
}

#[test]
fn the_ports_of_chiplets_and_sockets_take_one_message_after_another() {
    // Lines of chiplet 2 and of socket 1, all asked for at the same time.
    let owners = [16, 17, 18, 19, 96, 97, 98, 99, 1];
    let readers = [0, 1, 2, 8, 3, 9, 24, 25, 4];
    let owned = (0..9).map(|i| (0, owners[i], Write(i)));
    let mut script: Vec<_> = owned.collect();
    script.extend((0..9).map(|i| (5000, readers[i], Read(i))));
    let took = run(&preset("server"), 192, &owners, &script).took;
    let expected = [
        SOCKET,            // 0: chiplet 0 sends its first
        SOCKET + PORT,     // 1: its second
        SOCKET + 2 * PORT, // 2: its third
        SOCKET,            // 8: chiplet 1 sends its first
        FAR + 3 * PORT,    // 3: chiplet 0 sends its fourth, which is the first of the socket
        FAR + PORT,        // 9: the second of chiplet 1, and the second of the socket
        FAR + 2 * PORT,    // 24: the first of chiplet 3, the third of the socket
        FAR + 3 * PORT,    // 25: the second of chiplet 3, the fourth of the socket
        CHIPLET,           // 4 does not leave its chiplet
    ];
    assert_eq!(took[9..], expected);
}

#[test]
fn of_the_readers_of_a_chiplet_and_of_a_socket_only_the_first_goes_far() {
    let script = [
        (0, 0, Write(0)),
        (1000, 96, Read(0)),
        (1000, 97, Read(0)),
        (1000, 112, Read(0)),
        (1000, 104, Read(0)),
        (1000, 105, Read(0)),
        (1000, 8, Read(0)),
    ];
    let took = run(&preset("server"), 192, &[0], &script).took;
    // The copy comes to socket 1 at 1591, for 96; it goes on to 97, and to the other two chiplets;
    // 105 gets its copy from 104. Socket 0 has had it all the time.
    let to_chiplet = FAR + HOLDER + CHIPLET_WAY;
    let to_socket = FAR + HOLDER + SOCKET_WAY;
    let expected =
        [FAR, to_chiplet, to_socket, to_socket, to_socket + HOLDER + CHIPLET_WAY, SOCKET];
    assert_eq!(took[1..], expected);
}

#[test]
fn nobody_has_a_copy_before_it_can_have_come() {
    // For any number of readers in any order: no processor of socket 1 has a copy before 591 cycles
    // have passed, and none of a chiplet other than the first before 591 + 6 + 156.
    let readers: Vec<usize> = (0..96).map(|i| 96 + i * 37 % 96).collect();
    let mut script = vec![(0, 0, Write(0))];
    script.extend(readers.iter().enumerate().map(|(i, &who)| (1000 + i as u64, who, Read(0))));
    let took = run(&preset("server"), 192, &[0], &script).took;
    let first_chiplet = readers[0] / 8;
    for (i, &who) in readers.iter().enumerate() {
        let came = i as u64 + took[i + 1];
        let earliest = if who / 8 == first_chiplet { FAR } else { FAR + HOLDER + SOCKET_WAY };
        let latest = FAR + 2 * HOLDER + SOCKET_WAY + CHIPLET_WAY;
        assert!((earliest..=latest).contains(&came), "{who}: {came}");
    }
}

#[test]
fn spinning_is_free_until_the_write_and_then_every_reader_misses() {
    let script = [(1000, 1, Wait(0)), (2000, 2, Wait(0)), (5000, 0, Write(0))];
    let run = run(&preset("server"), 192, &[0], &script);
    // The write leaves at 5003, is told at 5033 and complete at 5069. Both ask at 5036; their
    // requests are there at 5066 and wait for the line.
    let answered = 5069 + HOLDER + CHIPLET_WAY;
    assert_eq!(run.took, [answered - 1000, answered - 2000, CHIPLET]);
    assert_eq!(run.accesses, 5);
    assert_eq!((run.line(0).hits, run.line(0).misses, run.line(0).invalidations), (0, 5, 2));
}

#[test]
fn a_processor_that_begins_to_wait_with_a_copy_that_is_leaving_learns_of_its_end() {
    // The write leaves at 2003, is told to 1 at 2033, and complete at 2591, since 96 has a copy. 1
    // looks at 2020, sleeps, and asks at 2033: its request waits at 0 from 2066 on.
    let script = [
        (0, 0, Read(0)),
        (1000, 1, Read(0)),
        (1000, 96, Read(0)),
        (2000, 0, Write(0)),
        (2020, 1, Wait(0)),
    ];
    let run = run(&preset("server"), 192, &[0], &script);
    assert_eq!(run.took[3..], [FAR, 2591 + HOLDER + CHIPLET_WAY - 2020]);
    assert_eq!(run.accesses, 6, "two looks");
}

#[test]
fn words_of_a_line_share_its_fate() {
    let script =
        |second| [(0, 1, Write(0)), (1000, 8, second), (2000, 1, Write(0)), (3000, 8, second)];
    let together = run(&preset("server"), 192, &[1, 8], &script(WriteOther(0)));
    assert_eq!(together.took[1..], [SOCKET; 3]);
    let apart = run(&preset("server"), 192, &[1, 8], &script(WriteOther(1)));
    assert_eq!(apart.took[2..], [HIT; 2]);
}
