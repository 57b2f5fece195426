//! The host of threads and channels.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use throng_messages::threads;
use throng_messages::{BarrierKind, CombiningShape, Delay, DiffractingShape, Plan, Waiting};

const KINDS: [BarrierKind; 2] = [BarrierKind::Dissemination, BarrierKind::Tree { fan_in: 2 }];

fn plans(clients: usize) -> Vec<Plan> {
    let tree = |delay| Plan::diffracting_tree(&DiffractingShape::new(8, delay)).unwrap();
    let combining = |waiting| Plan::combining_tree(&CombiningShape { clients, waiting }).unwrap();
    vec![
        Plan::central(),
        tree(Delay::adaptive(20_000, 200_000)),
        tree(Delay::fixed(50_000)),
        tree(Delay::fixed(0)),
        Plan::counting_network(4).unwrap(),
        combining(Waiting::Fixed(30_000)),
        combining(Waiting::ForEver),
    ]
}

#[test]
fn clients_on_threads_get_each_number_once() {
    for services in [1, 2, 5] {
        for plan in plans(6) {
            let name = plan.name();
            let clients = threads::counter(plan, 6, services).unwrap();
            let mut numbers: Vec<u64> = thread::scope(|scope| {
                let ask = |mut client: threads::Client| {
                    scope.spawn(move || Vec::from_iter((0..100).map(|_| client.next())))
                };
                let threads: Vec<_> = clients.into_iter().map(ask).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            numbers.sort_unstable();
            assert_eq!(numbers, Vec::from_iter(0..600), "{name} on {services} threads");
        }
    }
}

#[test]
fn service_threads_end_with_the_last_client() {
    // Would not return if they did not.
    for plan in plans(3) {
        let clients = threads::counter(plan, 3, 2).unwrap();
        thread::spawn(|| drop(clients)).join().unwrap();
    }
}

#[test]
fn clients_that_leave_early_or_panic_do_not_hold_up_the_others() {
    let mut plans = plans(6);
    // The last is the combining tree that waits for ever.
    plans.pop();
    plans.into_iter().for_each(clients_leave_early);
}

/// The first asks 10 times and is dropped, the second asks 20 times and panics; the others ask 100 times.
fn clients_leave_early(plan: Plan) {
    let clients = threads::counter(plan, 6, 2).unwrap();
    let ask = |(number, mut client): (usize, threads::Client)| {
        thread::spawn(move || {
            let asks = [10, 20, 100, 100, 100, 100][number];
            let numbers = Vec::from_iter((0..asks).map(|_| client.next()));
            // Unwinds like a panic, but prints nothing.
            if number == 1 {
                std::panic::resume_unwind(Box::new(numbers));
            }
            numbers
        })
    };
    let threads: Vec<_> = clients.into_iter().enumerate().map(ask).collect();
    let end = |thread: thread::JoinHandle<Vec<u64>>| {
        thread.join().unwrap_or_else(|panicked| *panicked.downcast().unwrap())
    };
    let mut numbers: Vec<u64> = threads.into_iter().flat_map(end).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, Vec::from_iter(0..430));
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let error = |clients, services| {
        let shape = CombiningShape { clients: 4, waiting: Waiting::ForEver };
        let plan = Plan::combining_tree(&shape).unwrap();
        threads::counter(plan, clients, services).unwrap_err().to_string()
    };
    assert_eq!(error(5, 1), "clients 5: must be from 1 to 4");
    assert_eq!(error(0, 1), "clients 0: must be from 1 to 4");
    assert_eq!(error(4, 0), "service threads 0: must be from 1 to 1024");
    let many = threads::counter(Plan::central(), u32::MAX, 1).unwrap_err().to_string();
    assert_eq!(many, "clients 4294967295: must be from 1 to 131072");
    assert!(threads::barrier(BarrierKind::Dissemination, 0).is_err());
}

#[test]
fn no_thread_leaves_the_barrier_before_all_have_come() {
    for kind in KINDS {
        let members = threads::barrier(kind, 5).unwrap();
        let arrived = AtomicU64::new(0);
        thread::scope(|scope| {
            for mut member in members {
                let arrived = &arrived;
                scope.spawn(move || {
                    for round in 1..=200 {
                        arrived.fetch_add(1, SeqCst);
                        member.wait().unwrap();
                        assert!(arrived.load(SeqCst) >= 5 * round);
                    }
                });
            }
        });
    }
}

#[test]
fn a_wait_for_a_member_that_is_gone_ends_with_an_error() {
    for kind in KINDS {
        let mut members = threads::barrier(kind, 4).unwrap();
        let leaver = members.remove(2);
        thread::scope(|scope| {
            let stays = members.into_iter().map(|mut member| {
                // The thread that leaves comes twice.
                scope.spawn(move || [(); 4].map(|()| member.wait()))
            });
            let stays: Vec<_> = stays.collect();
            scope.spawn(move || {
                let mut leaver = leaver;
                leaver.wait().unwrap();
                leaver.wait().unwrap();
            });
            for member in stays {
                let gone = Err(threads::Gone { rank: 2 });
                assert_eq!(member.join().unwrap(), [Ok(()), Ok(()), gone, gone]);
            }
        });
    }
}
