//! A diffracting tree and a barrier of messages, between threads.
//!
//! Eight clients ask for numbers in three phases, with a barrier after each phase. When all have
//! passed it, no request is in flight, and the numbers given out so far are exactly 0..m-1.

use std::error::Error;
use std::thread;
use throng_messages::{BarrierKind, Delay, DiffractingShape, Plan, threads};

fn main() -> Result<(), Box<dyn Error>> {
    const CLIENTS: u32 = 8;
    const PHASES: u32 = 3;
    const EACH: u32 = 500;

    // Four leaves. A prism holds a token for 20 microseconds at first, and for a millisecond at most.
    let shape = DiffractingShape::new(4, Delay::adaptive(20_000, 1_000_000));
    let clients = threads::counter(Plan::diffracting_tree(&shape)?, CLIENTS, 3)?;
    let members = threads::barrier(BarrierKind::Dissemination, CLIENTS)?;

    let mut numbers: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = clients
            .into_iter()
            .zip(members)
            .map(|(mut client, mut member)| {
                scope.spawn(move || {
                    let mut numbers = Vec::new();
                    for phase in 1..=PHASES {
                        numbers.extend((0..EACH).map(|_| client.next()));
                        member.wait().expect("all members stay until the end");
                        let so_far = u64::from(phase * EACH * CLIENTS);
                        assert!(numbers.iter().all(|&number| number < so_far));
                    }
                    numbers
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
    });

    numbers.sort_unstable();
    assert_eq!(numbers, Vec::from_iter(0..u64::from(PHASES * EACH * CLIENTS)));
    println!("{CLIENTS} clients got 0..={}, each number once", numbers.len() - 1);
    Ok(())
}
