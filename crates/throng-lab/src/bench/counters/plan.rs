//! What is measured, and how.

use std::time::Duration;

use throng::machine::Native;
use throng::structures::counter::{Registered, Shape};

use crate::bench::pace::Pace as Taking;

/// The deepest tree of the library.
pub(crate) const MAX_DEPTH: usize = 16;

/// What `throng bench counters` will do.
#[derive(Debug)]
pub struct CountersPlan {
    /// What is measured; the first one is the reference.
    pub methods: Vec<Registered<Native>>,
    /// Numbers of threads: ascending, each once.
    pub threads: Vec<usize>,
    /// The width asked for.
    pub width: Option<usize>,
    /// How threads take their values.
    pub pace: Taking,
    /// How often each method is measured on each number of threads.
    pub repetitions: usize,
    /// How long one run is measured.
    pub run_time: Duration,
}

impl CountersPlan {
    /// Returns the shape of the counters for `threads` threads.
    pub fn shape(&self, threads: usize) -> Shape {
        shape(threads, self.width)
    }

    /// How long the threads run before the measurement begins.
    pub fn warm_up_time(&self) -> Duration {
        self.run_time / 4
    }
}

/// Returns the shape of a counter for `threads` threads, of the typed width.
pub(crate) fn shape(threads: usize, width: Option<usize>) -> Shape {
    Shape::for_processors(threads).width(width)
}
