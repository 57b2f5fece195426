//! Threads that begin together.

use std::io;
use std::thread::{self, Builder, ScopedJoinHandle};

use super::window::Window;

/// Why a crew has no result.
#[derive(Debug)]
pub(super) enum CrewFailure {
    /// Not enough threads.
    Spawn(io::Error),
    /// One of them panicked.
    Panicked,
}

/// Runs each task on a thread of its own, and `conduct` on this one while they run. Every task must
/// call [`Window::await_start`] before all that needs the others: where one thread cannot be had, it
/// then finds the window done.
pub(super) fn run<T: Send, F: FnOnce() -> T + Send>(
    window: &Window,
    tasks: impl Iterator<Item = F>,
    conduct: impl FnOnce(),
) -> Result<Vec<T>, CrewFailure> {
    thread::scope(|scope| {
        let mut crew = Vec::new();
        for task in tasks {
            match Builder::new().spawn_scoped(scope, task) {
                Ok(thread) => crew.push(thread),
                Err(error) => {
                    window.cancel();
                    wake(&crew);
                    return Err(CrewFailure::Spawn(error));
                }
            }
        }
        window.start();
        wake(&crew);
        conduct();
        let results = crew.into_iter().map(ScopedJoinHandle::join);
        results.collect::<Result<_, _>>().map_err(|_| CrewFailure::Panicked)
    })
}

fn wake<T>(crew: &[ScopedJoinHandle<'_, T>]) {
    for thread in crew {
        thread.thread().unpark();
    }
}
