use super::*;
use std::hint::spin_loop;
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::Instant;

/// Waits until `happened` returns true, which it must unless something is broken.
fn wait_until(happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "it does not happen");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the number of workers, and the number of idle ones.
fn workers_and_idle() -> (usize, usize) {
    let workers = lock(&Workers::of_program().team().list);
    (workers.len(), workers.iter().filter(|worker| !worker.is_engaged.load(Relaxed)).count())
}

fn together(helpers: usize, work: &(dyn Fn() + Sync)) {
    Workers::of_program().together(helpers, &|| true, work);
}

/// One test, since there is one set of workers: no other test may engage them.
#[test]
fn workers_come_are_kept_and_leave() {
    let come = AtomicUsize::new(0);
    let meet = || {
        come.fetch_add(1, SeqCst);
        wait_until(|| come.load(SeqCst).is_multiple_of(6));
    };
    Workers::of_program().together(5, &|| false, &|| {});
    assert_eq!(workers_and_idle(), (0, 0), "no thread is started when nothing is left to do");
    for round in 1..=20 {
        together(5, &meet);
        assert_eq!(come.load(SeqCst), 6 * round, "each of six does it once");
        assert_eq!(workers_and_idle(), (5, 5), "the same five in every round");
    }

    // A caller that unwinds waits for the workers that have begun.
    let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let caller = thread::current().id();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        together(3, &|| {
            if thread::current().id() == caller {
                wait_until(|| begun.load(SeqCst) > 0);
                panic!("the caller gives up");
            }
            begun.fetch_add(1, SeqCst);
            thread::sleep(Duration::from_millis(30));
            ended.fetch_add(1, SeqCst);
        });
    }));
    assert!(outcome.is_err());
    assert_eq!(begun.load(SeqCst), ended.load(SeqCst));
    assert!(!IS_AT_WORK.get());

    // A worker survives a job that panics, and the caller does not wait for ever.
    together(2, &|| {
        if thread::current().id() != caller {
            panic!("no caller sees this");
        }
    });
    assert_eq!(workers_and_idle(), (5, 5));

    // A loop within a loop has no more threads than cores.
    let cores = Topology::here().processors();
    together(0, &|| together(5 + cores, &|| {}));
    assert!(workers_and_idle().0 <= 5_usize.max(cores));

    wait_until(|| workers_and_idle().0 == 0);
    come.store(0, SeqCst);
    together(5, &meet);
    assert_eq!(come.load(SeqCst), 6, "others come in their place");
}

/// Both sides sleep in turn, until the time to their next look is long.
#[test]
fn calls_and_ends_wake() {
    let asleep = Duration::from_millis(150);
    let settings =
        Settings { most: 1, thread_name: "test".to_owned(), stack_size: None, on_start: None };
    let workers = Arc::new(Workers::new(Some(settings)));
    let caller = thread::current().id();
    let run = || {
        let late = Mutex::new(Duration::ZERO);
        let begun = Instant::now();
        let has_come = AtomicBool::new(false);
        workers.together(1, &|| true, &|| {
            if thread::current().id() == caller {
                wait_until(|| has_come.load(SeqCst));
            } else {
                *lock(&late) = begun.elapsed();
                has_come.store(true, SeqCst);
                // The caller sleeps meanwhile.
                thread::sleep(asleep);
            }
        });
        let late = *lock(&late);
        (late, begun.elapsed().saturating_sub(asleep + late))
    };
    run();
    let mut runs = Vec::new();
    for _ in 0..3 {
        // The worker sleeps meanwhile.
        thread::sleep(asleep);
        runs.push(run());
    }
    let (call, end) = runs
        .iter()
        .fold((asleep, asleep), |(call, end), &(one, other)| (call.min(one), end.min(other)));
    assert!(call < asleep / 10 && end < asleep / 10, "calls and ends are late: {runs:?}");
    let begun = Instant::now();
    thread::sleep(2 * asleep);
    workers.end();
    assert!(begun.elapsed() < 3 * asleep, "the end is late: {:?}", begun.elapsed());
}

/// Otherwise the next loop starts another thread. The waiting threads sleep, so the signal is a system call. Some of
/// them run before that call returns.
#[test]
fn a_worker_is_idle_before_it_says_that_its_job_is_done() {
    const WAITING: usize = 8;
    let worker = Arc::new(Worker::engaged(1));
    for ticket in 1..=300 {
        worker.is_engaged.store(true, SeqCst);
        thread::scope(|scope| {
            for _ in 0..WAITING {
                scope.spawn(|| {
                    let (cpu, way_out) = (Native::cpu(), WayOut::none().patience(Patience::NONE));
                    worker.done.sleep_while(&cpu, Acquire, &way_out, |seen| seen < ticket);
                    assert!(!worker.is_engaged.load(SeqCst), "job {ticket}");
                });
            }
            let work = &|_| thread::sleep(Duration::from_micros(200));
            worker.do_job(Job { work, seat: 1, ticket, patience: Patience::NONE });
        });
    }
}

/// Otherwise the next loop starts another thread.
#[test]
fn a_worker_is_idle_when_its_loop_is_over() {
    let settings =
        Settings { most: 9, thread_name: "test".to_owned(), stack_size: None, on_start: None };
    let workers = Arc::new(Workers::new(Some(settings)));
    let caller = thread::current().id();
    for round in 0..50_000 {
        workers.together(1, &|| true, &|| {
            if thread::current().id() == caller {
                // The other one comes, or this one takes its job back.
                (0..round % 1000).for_each(|_| spin_loop());
            }
        });
        assert_eq!(lock(&workers.team().list).len(), 1, "round {round}");
    }
    workers.end();
}

#[test]
fn a_worker_with_a_job_stays() {
    let team = Team::new();
    let worker = Arc::new(Worker::engaged(1));
    lock(&team.list).push(Arc::clone(&worker));
    assert!(!worker.leaves(&team) && lock(&team.list).len() == 1, "it is engaged");
    worker.is_engaged.store(false, SeqCst);
    assert!(worker.leaves(&team) && lock(&team.list).is_empty(), "it is idle");
}

#[test]
fn a_thread_is_not_started_for_a_job_that_was_taken_back() {
    let workers = Arc::new(Workers::new(None));
    let worker = Arc::new(Worker::engaged(1));
    worker.ring(&workers);
    assert!(!worker.is_started.load(Relaxed));
}

#[test]
fn the_number_of_threads_has_a_limit() {
    let most = capped(usize::MAX);
    assert!(most == MOST || most == MOST_FOR_A_CORE * Topology::here().processors());
    assert_eq!([0, 1, MOST, most, most + 1].map(capped), [0, 1, MOST, most, most]);
    // All callers together have no more: their threads meet in no loop.
    let workers = Workers::new(None);
    let team = workers.team();
    let engaged = [200, 200, usize::MAX].map(|helpers| workers.engage(team, helpers).len());
    assert_eq!(engaged.iter().sum::<usize>(), most);
    assert_eq!(lock(&team.list).len(), most);
}

#[test]
fn a_job_is_taken_back_by_its_ticket() {
    let job = Job { work: &|_| {}, seat: 1, ticket: 7, patience: Patience::default() };
    let mut slot = Slot { job: Some(job), tickets: 7 };
    assert!(!slot.take_back(6), "that of another call");
    assert!(slot.take_back(7) && !slot.take_back(7));
}
