//! What the check binaries share: expected failures without noise, and how long to run.

#![allow(dead_code, reason = "each test binary uses some of it")]

use std::any::Any;
use std::cell::Cell;
use std::env;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};

use libtest_mimic::{Arguments, Failed, Trial};

thread_local! {
    static EXPECTING_FAILURE: Cell<bool> = const { Cell::new(false) };
}

/// Runs the trials; messages of expected panics are not printed.
pub(crate) fn run(trials: Vec<Trial>) {
    let loud = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !EXPECTING_FAILURE.get() {
            loud(info);
        }
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// A trial that must pass.
pub(crate) fn passes(name: String, check: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        check();
        Ok(())
    })
}

/// A trial that must fail, with `words` in its message: the check has to catch what is broken.
pub(crate) fn is_caught(
    name: String,
    words: &'static str,
    check: impl FnOnce() + Send + 'static,
) -> Trial {
    is_caught_by_either(name, [words, words], check)
}

/// A trial that must fail, with words of either kind in its message.
pub(crate) fn is_caught_by_either(
    name: String,
    words: [&'static str; 2],
    check: impl FnOnce() + Send + 'static,
) -> Trial {
    Trial::test(name, move || {
        let outcome = silently(|| panic::catch_unwind(AssertUnwindSafe(check)));
        let Err(panic) = outcome else {
            return Err(Failed::from("broken on purpose, and nobody noticed"));
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

/// Does `run`, without a word about panics of this thread.
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

/// How many times longer than usual to run: `THRONG_LONG=100` in the environment.
pub(crate) fn effort() -> usize {
    match env::var("THRONG_LONG") {
        Ok(times) => times.parse().expect("THRONG_LONG must be a number, such as 100"),
        Err(_) => 1,
    }
}

/// The seeds to try: so many, or the one in `THRONG_SEED`.
pub(crate) fn seeds(count: u64) -> Range<u64> {
    match env::var("THRONG_SEED") {
        Ok(seed) => {
            let seed: u64 = seed.parse().expect("THRONG_SEED must be a number, such as 17");
            seed..seed + 1
        }
        Err(_) => 0..count,
    }
}
