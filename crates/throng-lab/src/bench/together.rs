//! Threads that begin together.

use std::io;
use std::thread::{self, Builder, ScopedJoinHandle};

use super::window::Window;
use crate::error::Error;

/// The reason why a crew has no result.
#[derive(Debug)]
pub(super) enum ThreadsFailure {
    /// Not enough threads.
    Spawn(io::Error),
    /// One of them panicked.
    Panicked,
}

impl ThreadsFailure {
    /// Returns the error for a method that was measured on `threads` threads.
    pub(super) fn explain(self, method: &'static str, threads: usize) -> Error {
        match self {
            ThreadsFailure::Spawn(source) => Error::Spawn { threads, source },
            ThreadsFailure::Panicked => Error::Panicked { method, threads },
        }
    }
}

/// Runs each task on a thread of its own, and `conduct` on this one while they run. Every task must
/// call [`Window::await_start`] before anything that needs the other threads. If the system refuses
/// a thread, it then finds the window done.
pub(super) fn run<T: Send, F: FnOnce() -> T + Send>(
    window: &Window,
    tasks: impl Iterator<Item = F>,
    conduct: impl FnOnce(),
) -> Result<Vec<T>, ThreadsFailure> {
    thread::scope(|scope| {
        let mut crew = Vec::new();
        for task in tasks {
            match Builder::new().spawn_scoped(scope, task) {
                Ok(thread) => crew.push(thread),
                Err(error) => {
                    window.cancel();
                    wake(&crew);
                    return Err(ThreadsFailure::Spawn(error));
                }
            }
        }
        window.start();
        wake(&crew);
        conduct();
        let results = crew.into_iter().map(ScopedJoinHandle::join);
        results.collect::<Result<_, _>>().map_err(|_| ThreadsFailure::Panicked)
    })
}

fn wake<T>(crew: &[ScopedJoinHandle<'_, T>]) {
    for thread in crew {
        thread.thread().unpark();
    }
}
