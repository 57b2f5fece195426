//! Each barrier on real threads: more of them than cores, anonymous ones, and members that panic,
//! give up or come late.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use throng::Barrier;
use throng::machine::{Cpu, Native, Patience, WayOut};
use throng::structures::barrier::{
    Anonymous, Broken, FanIn, Flags, Meeting, Member, Registered, Reinit, Shape, WaitResult,
    WakeUp, methods, team,
};
use throng_check::history::Visit;
use throng_check::spec::{Violation, check_anonymous, check_rounds, check_team};
use throng_check::workload::{Letters, alternating};

use crate::broken::barriers as broken;
use crate::harness::{self, is_caught, passes};

type AnyMeeting = Box<dyn Meeting>;

fn build(method: Registered<Native>, members: usize) -> AnyMeeting {
    // Trees of several levels even for few.
    let shape = Shape::for_members(members)
        .fan_in(FanIn::Fixed(2 + members % 3))
        .flags(Flags::Padded)
        .wake_up(if members.is_multiple_of(2) { WakeUp::Global } else { WakeUp::Tree })
        .reinit(if members.is_multiple_of(3) { Reinit::Clear } else { Reinit::Count });
    method.build(&shape).expect("a shape for threads")
}

fn kept(name: &str, verdict: Result<(), Violation>) {
    if let Err(violation) = verdict {
        panic!("{name} broke its promise: {violation}");
    }
}

/// Runs `body` on `threads` threads, with their numbers.
fn on_threads<R: Send>(threads: usize, body: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let body = &body;
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|rank| scope.spawn(move || body(rank))).collect();
        all.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    })
}

/// Times a visit.
fn timed(visit: impl FnOnce() -> Result<bool, Broken>) -> Visit {
    let entered = Native::cpu().clock();
    match visit() {
        Ok(leads) => Visit::over(entered, Native::cpu().clock(), leads),
        Err(Broken) => Visit::in_progress(entered),
    }
}

/// Makes a member's visits to `rounds` rounds, or until it gets an error.
fn visits(
    rank: usize,
    rounds: u64,
    letters: &Letters<Native>,
    mut meet: impl FnMut(u64) -> Result<bool, Broken>,
) -> Vec<Visit> {
    let mut visits = Vec::new();
    for round in 0..rounds {
        letters.write(rank, round);
        let visit = timed(|| meet(round));
        visits.push(visit);
        if visit.left.is_none() {
            break;
        }
        letters.read(rank, round);
    }
    visits
}

/// Checks that all members entered all rounds and left them.
fn check_all_over(name: &str, rounds: u64, visits: &[Vec<Visit>]) {
    let over = |visits: &Vec<Visit>| visits.iter().filter(|visit| visit.left.is_some()).count();
    let over = visits.iter().map(over).min().unwrap_or(0) as u64;
    assert!(over == rounds, "{name}: a member did not come back from round {over}");
}

/// Longer than any wait that ends.
const FOR_EVER: Duration = Duration::from_secs(20);

/// Runs all members, round after round as fast as they can. A member that waits for `longest` is
/// given up.
fn crowd(method: Registered<Native>, members: usize, rounds: u64, longest: Duration) {
    let (name, meeting) = (method.about.name, build(method, members));
    let letters = Letters::<Native>::of_words(members);
    let visits = on_threads(members, |rank| {
        let cpu = Native::cpu();
        let patience = if members > 2 { Patience::OVERSUBSCRIBED } else { Patience::DEDICATED };
        visits(rank, rounds, &letters, |round| {
            let way_out = WayOut::after(&cpu, longest).patience(patience);
            meeting.meet_on(&cpu, rank, round, &way_out).map(|()| rank == 0)
        })
    });
    kept(name, check_rounds(&visits).and(letters.verdict()));
    check_all_over(name, rounds, &visits);
}

/// Runs the same for members of the default's team.
fn team_of_default(members: usize, rounds: u64) {
    let letters = Letters::<Native>::of_words(members);
    let team = Barrier::team(members).into_iter();
    let meet = |mut member: throng::barrier::Member| {
        visits(member.rank(), rounds, &letters, |_| {
            member.wait_checked().map(|result| result.is_leader())
        })
    };
    let meet = &meet;
    let visits: Vec<Vec<Visit>> = thread::scope(|scope| {
        let all: Vec<_> = team.map(|member| scope.spawn(move || meet(member))).collect();
        all.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    kept("team", check_team(&visits).and(letters.verdict()));
    check_all_over("team", rounds, &visits);
}

/// Runs threads that come once and never again, on `lanes` lanes, until `visits` have come.
fn strangers(
    name: &str,
    members: usize,
    lanes: usize,
    visits: u64,
    wait: impl Fn() -> bool + Sync,
) {
    let tickets = AtomicU64::new(0);
    let visit = || timed(|| Ok(wait()));
    let visited = on_threads(lanes, |_| -> Vec<Visit> {
        let is_left = || tickets.fetch_add(1, Relaxed) < visits;
        let stranger =
            || thread::scope(|scope| scope.spawn(visit).join().expect("no thread panics"));
        std::iter::from_fn(|| is_left().then(stranger)).collect()
    });
    let visited = visited.concat();
    assert_eq!(visited.len() as u64, visits, "{name}");
    kept(name, check_anonymous(members, &visited));
}

/// Runs threads that come again and again, more of them than meet.
fn regulars(
    name: &str,
    members: usize,
    threads: usize,
    visits: u64,
    wait: impl Fn() -> bool + Sync,
) {
    let tickets = AtomicU64::new(0);
    let visited = on_threads(threads, |_| -> Vec<Visit> {
        let is_left = || tickets.fetch_add(1, Relaxed) < visits;
        std::iter::from_fn(|| is_left().then(|| timed(|| Ok(wait())))).collect()
    });
    let visited = visited.concat();
    assert_eq!(visited.len() as u64, visits, "{name}");
    kept(name, check_anonymous(members, &visited));
}

/// Returns the result of each other member of a team of four, and the time until it, when the last
/// member has entered five rounds and then does `leave`.
fn error_after(method: Registered<Native>, leave: impl Fn(&mut Member<AnyMeeting>) + Sync) {
    const ROUNDS: u64 = 5;
    let name = method.about.name;
    let left = std::sync::Mutex::new(None);
    let mut members = team(build(method, 4));
    let mut last = members.pop().expect("four");
    thread::scope(|scope| {
        for mut member in members {
            let left = &left;
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    member.wait();
                }
                assert_eq!(member.wait_checked(), Err(Broken), "{name}");
                assert!(member.is_broken() && member.rounds() == ROUNDS, "{name}");
                let left: Instant = left.lock().expect("a time").expect("it left before");
                let told = left.elapsed();
                assert!(told < Duration::from_secs(1), "{name}: told after {told:?}");
            });
        }
        for _ in 0..ROUNDS {
            last.wait();
        }
        thread::sleep(Duration::from_millis(30));
        *left.lock().expect("a time") = Some(Instant::now());
        leave(&mut last);
        drop(last);
    });
}

/// A member panics, and its team gets an error.
fn panics(method: Registered<Native>) {
    error_after(method, |_| {});
    let name = method.about.name;
    let mut members = team(build(method, 3));
    let mut last = members.pop().expect("three");
    thread::scope(|scope| {
        for mut member in members {
            scope.spawn(move || {
                member.wait();
                assert_eq!(member.wait_checked(), Err(Broken), "{name}");
            });
        }
        harness::silently(|| {
            let panicked = catch_unwind(AssertUnwindSafe(move || {
                last.wait();
                panic!("with its member");
            }));
            assert!(panicked.is_err());
        });
    });
}

/// All but one arrive, with a time-out.
fn gives_up(method: Registered<Native>) {
    const PATIENCE: Duration = Duration::from_millis(50);
    let name = method.about.name;
    let barrier = Anonymous::new(build(method, 3));
    let waited = on_threads(2, |_| {
        let start = Instant::now();
        assert_eq!(barrier.wait_timeout(PATIENCE), Err(Broken), "{name}");
        start.elapsed()
    });
    let longest = waited.iter().max().expect("two");
    assert!(waited.iter().any(|&waited| waited >= PATIENCE), "{name}: {waited:?}");
    assert!(*longest < Duration::from_secs(1), "{name}: {waited:?}");
    assert!(barrier.is_broken() && barrier.wait_checked() == Err(Broken), "{name}");

    let mut members = team(build(method, 2));
    let late = members[1].wait_timeout(PATIENCE);
    assert_eq!((late, members[0].wait_checked()), (Err(Broken), Err(Broken)), "{name}");
}

/// A caller gives up in a later round than the first. Later callers get an error, also where the
/// seats are taken by callers that got one before and never free them.
fn all_get_the_error(method: Registered<Native>) {
    let name = method.about.name;
    let barrier = Anonymous::new(build(method, 2));
    on_threads(2, |_| barrier.wait());
    assert_eq!(barrier.wait_timeout(Duration::from_millis(5)), Err(Broken), "{name}");
    for after in 0..4 {
        let start = Instant::now();
        assert_eq!(barrier.wait_timeout(Duration::from_secs(5)), Err(Broken), "{name}");
        let told = start.elapsed();
        assert!(
            told < Duration::from_secs(1),
            "{name}: told after {told:?}, {after} after it broke"
        );
    }
}

/// Returns the processor time of the calling thread, where the system tells.
fn running_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// The last member arrives 100 ms after the others, three times: they sleep meanwhile, and are
/// woken.
fn sleeps(name: &str, members: usize, wait: impl Fn() -> WaitResult + Sync) {
    const LATE: Duration = Duration::from_millis(100);
    const ROUNDS: u32 = 3;
    on_threads(members, |rank| {
        if rank == members - 1 {
            for _ in 0..ROUNDS {
                thread::sleep(LATE);
                wait();
            }
            return;
        }
        let (ran, start) = (running_time(), Instant::now());
        for _ in 0..ROUNDS {
            wait();
        }
        let waited = start.elapsed();
        assert!(waited >= LATE * ROUNDS * 9 / 10, "{name}: no member came that early: {waited:?}");
        assert!(waited < LATE * ROUNDS + Duration::from_secs(2), "{name}: not woken: {waited:?}");
        if let (Some(before), Some(after)) = (ran, running_time()) {
            let burnt = after.saturating_sub(before);
            assert!(burnt < LATE * ROUNDS / 10, "{name}: ran for {burnt:?} of {waited:?}");
        }
    });
}

pub(crate) fn trials() -> Vec<Trial> {
    let effort = harness::effort() as u64;
    let mut trials = Vec::new();
    for method in methods::<Native>().into_iter().chain([alternating()]) {
        let name = method.about.name;
        let crowds = [(1, 50_000), (2, 20_000), (3, 3_000), (5, 2_000), (8, 1_000), (33, 100)];
        for (members, rounds) in crowds {
            let run = move || crowd(method, members, rounds * effort, FOR_EVER);
            trials.push(passes(format!("barriers::{name}::crowd_of_{members}"), run));
        }
        trials.push(passes(format!("barriers::{name}::strangers"), move || {
            let barrier = Anonymous::new(build(method, 3));
            strangers(name, 3, 5, 600 * effort, || barrier.wait().is_leader());
        }));
        trials.push(passes(format!("barriers::{name}::regulars"), move || {
            let barrier = Anonymous::new(build(method, 4));
            regulars(name, 4, 7, 4_000 * effort, || barrier.wait().is_leader());
        }));
        trials.push(passes(format!("barriers::{name}::panics"), move || panics(method)));
        trials.push(passes(format!("barriers::{name}::aborts"), move || {
            error_after(method, |member| member.abort());
        }));
        trials.push(passes(format!("barriers::{name}::gives_up"), move || gives_up(method)));
        trials.push(passes(format!("barriers::{name}::all_get_the_error"), move || {
            all_get_the_error(method)
        }));
        trials.push(passes(format!("barriers::{name}::sleeps"), move || {
            let barrier = Anonymous::new(build(method, 4));
            sleeps(name, 4, || barrier.wait());
        }));
    }
    trials.extend(default_trials(effort));
    trials.extend(broken_trials());
    trials
}

/// Returns the trials of the barrier that most programs use.
fn default_trials(effort: u64) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (members, rounds) in [(1, 50_000), (2, 20_000), (5, 2_000), (33, 100)] {
        let run = move || team_of_default(members, rounds * effort);
        trials.push(passes(format!("barriers::default::team_of_{members}"), run));
        trials.push(passes(format!("barriers::default::regulars_{members}"), move || {
            let barrier = Barrier::new(members);
            let visits = rounds / 2 * members as u64 * effort;
            regulars("default", members, members + 2, visits, || barrier.wait().is_leader());
        }));
    }
    trials.push(passes("barriers::default::strangers".into(), move || {
        let barrier = Barrier::new(3);
        strangers("default", 3, 8, 600 * effort, || barrier.wait().is_leader());
    }));
    trials.push(passes("barriers::default::sleeps".into(), || {
        let barrier = Barrier::new(5);
        sleeps("default", 5, || barrier.wait());
    }));
    trials
}

fn broken_trials() -> Vec<Trial> {
    let stops_short = Registered::of::<broken::StopsShort<Native>>();
    let one_counter = Registered::of::<broken::OneCounter<Native>>();
    vec![
        is_caught("barriers::broken::stops-short".into(), "broke its promise", move || {
            crowd(stops_short, 5, 20_000, FOR_EVER);
        }),
        // On real threads the fault shows within milliseconds.
        is_caught("barriers::broken::one-counter".into(), "did not come back", move || {
            crowd(one_counter, 3, 1_000_000, Duration::from_secs(1));
        }),
    ]
}
