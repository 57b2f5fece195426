//! Ends a run: all threads finish, or the program gives up on them.

use std::process;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use throng_papers::output;

use super::check::failed;
use crate::error::Error;

/// Number of threads that are still running when the time is up.
pub(in crate::bench) struct Ending {
    left: AtomicUsize,
    panicked: AtomicBool,
    conductor: Thread,
}

/// Time for all threads to finish after the end of the run.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same where a thread has panicked: others may wait for items that it will never push.
const PATIENCE_WITH_THE_DEAD: Duration = Duration::from_secs(2);

impl Ending {
    pub(in crate::bench) fn new(threads: usize) -> Self {
        Ending {
            left: AtomicUsize::new(threads),
            panicked: AtomicBool::new(false),
            conductor: thread::current(),
        }
    }

    /// Waits for all threads to finish, on the thread that made this; gives up after a while.
    pub(in crate::bench) fn watch(&self) -> Result<(), Hung> {
        self.watch_for(PATIENCE, PATIENCE_WITH_THE_DEAD)
    }

    fn watch_for(&self, patience: Duration, with_the_dead: Duration) -> Result<(), Hung> {
        let start = Instant::now();
        loop {
            let left = self.left.load(Acquire);
            if left == 0 {
                return Ok(());
            }
            let panicked = self.panicked.load(Acquire);
            if start.elapsed() > if panicked { with_the_dead } else { patience } {
                return Err(Hung { left, panicked });
            }
            thread::park_timeout(Duration::from_millis(100));
        }
    }
}

/// Counts a thread as finished when dropped, whether it returns or panics.
pub(in crate::bench) struct Leaving<'a>(pub(in crate::bench) &'a Ending);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.panicked.store(true, Release);
        }
        if self.0.left.fetch_sub(1, AcqRel) == 1 {
            self.0.conductor.unpark();
        }
    }
}

/// Threads that never finish: they wait for items that have been lost.
#[derive(Debug)]
pub(in crate::bench) struct Hung {
    left: usize,
    panicked: bool,
}

impl Hung {
    /// Ends the program, since a waiting thread cannot be ended.
    pub(in crate::bench) fn give_up(
        &self,
        method: &'static str,
        load: String,
        threads: usize,
    ) -> ! {
        let error = self.explain(method, load, threads);
        output::say(&format!("error: {error}\n"));
        process::exit(error.exit_code().into());
    }

    fn explain(&self, method: &'static str, load: String, threads: usize) -> Error {
        if self.panicked {
            Error::Panicked { method, threads }
        } else {
            let what = format_args!(
                "{} of them still wait, long after the end; an item was lost",
                self.left
            );
            failed(method, &load, threads, what)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(hung: &Hung) -> String {
        hung.explain("test", "the mix even".to_owned(), 4).to_string()
    }

    #[test]
    fn who_never_comes_home_is_not_waited_for_for_ever() {
        let (short, long) = (Duration::from_millis(1), Duration::from_secs(3600));
        let ending = Ending::new(2);
        drop(Leaving(&ending));
        let hung = ending.watch_for(short, long).unwrap_err();
        assert_eq!(
            message(&hung),
            "test failed in the mix even on 4 threads: 1 of them still wait, long after the end; an \
             item was lost"
        );
        drop(Leaving(&ending));
        assert!(ending.watch_for(long, long).is_ok());
    }

    #[test]
    fn where_one_has_panicked_the_others_are_not_waited_for_long() {
        let ending = Ending::new(2);
        let dying = || {
            let _leaving = Leaving(&ending);
            panic!("as it should");
        };
        thread::scope(|scope| scope.spawn(dying).join().unwrap_err());
        let hung = ending.watch_for(Duration::from_secs(3600), Duration::ZERO).unwrap_err();
        assert_eq!(message(&hung), "test panicked on 4 threads");
    }
}
