//! Shared by the check binaries: expected failures without noise, and the length of runs.

#![allow(dead_code, reason = "each test binary uses some of it")]

use std::any::Any;
use std::cell::Cell;
use std::env;
use std::io::{BufRead, BufReader};
use std::num::NonZero;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::process::{self, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};

thread_local! {
    static EXPECTING_FAILURE: Cell<bool> = const { Cell::new(false) };
}

/// Runs the trials, without printing messages of expected panics.
pub(crate) fn run(trials: Vec<Trial>) {
    run_with(&Arguments::from_args(), trials);
}

fn run_with(arguments: &Arguments, trials: Vec<Trial>) {
    let loud = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !EXPECTING_FAILURE.get() {
            loud(info);
        }
    }));
    libtest_mimic::run(arguments, trials).exit();
}

/// The variable with the part of the trials that a process runs: `0/2`, `1/2`.
const PART: &str = "THRONG_PART";

/// Runs the trials in one process for each core.
///
/// Loom and shuttle map and unmap the stack of each thread of each run. Trials that run at the same
/// time in one process wait for each other there: on 2 cores all trials of loom took 217 s in one
/// process, and 137 s one after the other.
pub(crate) fn run_in_processes(trials: Vec<Trial>) {
    let mut arguments = Arguments::from_args();
    if let Ok(part) = env::var(PART) {
        let (index, count) = part.split_once('/').expect("THRONG_PART is such as 0/2");
        let number = |text: &str| text.parse::<usize>().expect("THRONG_PART has numbers");
        let (index, count) = (number(index), number(count));
        // Neighbours in the list often differ in one way, such as the width, all along the list. So the order in which
        // the parts take turns changes from turn to turn.
        let part_of = |trial: usize| (trial + trial / count) % count;
        let part = trials.into_iter().enumerate().filter(|(trial, _)| part_of(*trial) == index);
        let part = part.map(|(_, trial)| trial).collect();
        arguments.test_threads = Some(1);
        return run_with(&arguments, part);
    }
    let processes = thread::available_parallelism().map_or(1, NonZero::get);
    if arguments.list || arguments.test_threads.is_some() || processes == 1 {
        return run_with(&arguments, trials);
    }
    let program = env::current_exe().expect("this program has a file");
    let run_part = |part| {
        let mut child = Command::new(&program)
            .args(env::args_os().skip(1))
            .env(PART, format!("{part}/{processes}"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started again");
        let stdout = child.stdout.take().expect("it is a pipe");
        // By lines, so that those of different processes do not mix.
        for line in BufReader::new(stdout).lines() {
            println!("{}", line.expect("test runners print text"));
        }
        child.wait().expect("it was started").success()
    };
    let all_passed = thread::scope(|scope| {
        let parts: Vec<_> = (0..processes)
            .map(|part| {
                let run_part = &run_part;
                scope.spawn(move || run_part(part))
            })
            .collect();
        parts.into_iter().all(|part| part.join().is_ok_and(|passed| passed))
    });
    process::exit(if all_passed { 0 } else { 101 });
}

/// Returns a trial that must pass.
pub(crate) fn passes(name: String, check: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        check();
        Ok(())
    })
}

/// Returns a trial that must fail, with `words` in its message: the check must catch the fault.
pub(crate) fn is_caught(
    name: String,
    words: &'static str,
    check: impl FnOnce() + Send + 'static,
) -> Trial {
    is_caught_by_either(name, [words, words], check)
}

/// Returns a trial that must fail, with either of `words` in its message.
pub(crate) fn is_caught_by_either(
    name: String,
    words: [&'static str; 2],
    check: impl FnOnce() + Send + 'static,
) -> Trial {
    Trial::test(name, move || {
        let outcome = silently(|| panic::catch_unwind(AssertUnwindSafe(check)));
        let Err(panic) = outcome else {
            return Err(Failed::from("broken on purpose, and not noticed"));
        };
        let message = message_of(panic.as_ref());
        if words.iter().any(|words| message.contains(words)) {
            Ok(())
        } else {
            let words = words[0];
            Err(Failed::from(format!("failed, but not because of '{words}': {message}")))
        }
    })
}

/// Calls `run`, without printing panics of this thread.
pub(crate) fn silently<R>(run: impl FnOnce() -> R) -> R {
    EXPECTING_FAILURE.set(true);
    let result = run();
    EXPECTING_FAILURE.set(false);
    result
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("(no message)")
}

/// Returns how many times longer than usual to run: `THRONG_LONG=100` in the environment.
pub(crate) fn effort() -> usize {
    match env::var("THRONG_LONG") {
        Ok(times) => times.parse().expect("THRONG_LONG must be a number, such as 100"),
        Err(_) => 1,
    }
}

/// Returns the seeds to try: `count` of them from [`first_seed`] on, or the one in `THRONG_SEED`.
pub(crate) fn seeds(count: u64) -> Range<u64> {
    match env::var("THRONG_SEED") {
        Ok(seed) => {
            let seed: u64 = seed.parse().expect("THRONG_SEED must be a number, such as 17");
            seed..seed + 1
        }
        Err(_) => first_seed()..first_seed() + count,
    }
}

/// The first seed of all random choices: `THRONG_FIRST_SEED` in the environment, or 0.
pub(crate) fn first_seed() -> u64 {
    match env::var("THRONG_FIRST_SEED") {
        Ok(seed) => seed.parse().expect("THRONG_FIRST_SEED must be a number, such as 1000000"),
        Err(_) => 0,
    }
}

/// A run with one seed takes some milliseconds, and no longer than this with a sanitizer on a very busy machine.
const LONGEST_RUN: Duration = Duration::from_secs(600);

/// Runs `run` with each of `count` seeds. Prints how to repeat a run that fails. A run that does not end ends the process.
pub(crate) fn each_seed(trial: &str, count: u64, run: impl Fn(u64)) {
    let again = |seed| {
        format!(
            "again: THRONG_SEED={seed} cargo test -p throng-check --all-features --test stress -- --exact {trial}"
        )
    };
    let (sender, receiver) = mpsc::channel::<u64>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut running = 0;
            loop {
                match receiver.recv_timeout(LONGEST_RUN) {
                    Ok(seed) => running = seed,
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {
                        eprintln!("{trial} did not come to an end\n{}", again(running));
                        process::abort();
                    }
                }
            }
        });
        // Dropped at the end, also by a panic, so that the other thread ends.
        let sender = sender;
        for seed in seeds(count) {
            sender.send(seed).expect("the receiver is there");
            if let Err(panic) = panic::catch_unwind(AssertUnwindSafe(|| run(seed))) {
                if !EXPECTING_FAILURE.get() {
                    eprintln!("{}", again(seed));
                }
                panic::resume_unwind(panic);
            }
        }
    });
}
