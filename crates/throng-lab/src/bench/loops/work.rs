//! The work of a loop: the time of each index, and a mark for each time that it is done.

use std::fmt;
use std::hint::black_box;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use serde::Serialize;
use throng::machine::SplitMix64;

use crate::error::{self, Error};

/// The distribution of work over the indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Few indices, anywhere, take up to a hundred times as long as most (a Pareto distribution,
    /// seeded).
    Skewed,
    /// Later indices take longer, as the rows of a triangle.
    Growing,
    /// Indices in the middle take longer, as rows of a picture of the Mandelbrot set.
    Mandelbrot,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 3] = [Shape::Skewed, Shape::Growing, Shape::Mandelbrot];

    /// Returns the name, as typed and printed.
    pub const fn name(self) -> &'static str {
        match self {
            Shape::Skewed => "skewed",
            Shape::Growing => "growing",
            Shape::Mandelbrot => "mandelbrot",
        }
    }

    /// Returns the work of each index, relative to the others.
    fn weights(self, indices: usize) -> Vec<f64> {
        let mut random = SplitMix64::from_state(1);
        let weight = |index| match self {
            Shape::Skewed => {
                let part = (random.below(1 << 32) + 1) as f64 / (1_u64 << 32) as f64;
                part.powf(-1.0 / 1.2).min(100.0)
            }
            Shape::Growing => (index + 1) as f64,
            Shape::Mandelbrot => escape_steps_of_row(index as f64 / indices as f64),
        };
        (0..indices).map(weight).collect()
    }
}

/// Returns the steps that the points of a row take to escape, all together; `height` is from 0 to
/// 1.
fn escape_steps_of_row(height: f64) -> f64 {
    const COLUMNS: u32 = 64;
    const STEPS: u32 = 256;
    let y = height * 2.4 - 1.2;
    let escape = |column| {
        let x = f64::from(column) / f64::from(COLUMNS) * 3.0 - 2.2;
        let (mut a, mut b) = (0.0_f64, 0.0_f64);
        for step in 0..STEPS {
            let (a2, b2) = (a * a, b * b);
            if a2 + b2 > 4.0 {
                return step + 1;
            }
            (a, b) = (a2 - b2 + x, 2.0 * a * b + y);
        }
        STEPS
    };
    f64::from((0..COLUMNS).map(escape).sum::<u32>())
}

/// The amount of work of each index.
#[derive(Debug)]
pub struct Load {
    units: Vec<u32>,
}

impl Load {
    /// Returns a load of `size.indices` indices that take `size.microseconds` together, for a
    /// thread that does `units_a_microsecond` units.
    pub fn new(shape: Shape, size: Size, units_a_microsecond: f64) -> Self {
        let weights = shape.weights(size.indices);
        let all: f64 = weights.iter().sum();
        let scale = size.microseconds as f64 * units_a_microsecond / all;
        // The rounding error of an index is added to the next one.
        let mut exact = 0.0;
        let mut given = 0.0;
        let round = |weight: f64| {
            exact += weight * scale;
            let units = (exact - given).round().max(0.0);
            given += units;
            units as u32
        };
        Load { units: weights.into_iter().map(round).collect() }
    }
}

/// A loop over a load, whose indices are marked when they are done.
#[derive(Debug)]
pub struct Work<'a> {
    load: &'a Load,
    times: Vec<AtomicU32>,
}

impl<'a> Work<'a> {
    /// Returns a loop with no index done.
    pub fn new(load: &'a Load) -> Self {
        Work { load, times: load.units.iter().map(|_| AtomicU32::new(0)).collect() }
    }

    /// Returns the number of indices.
    pub fn indices(&self) -> usize {
        self.times.len()
    }

    /// Does one index. Never inlined: inlined, its instructions would be arranged differently in
    /// each loop. For short indices that is a difference of 10 %.
    #[inline(never)]
    pub fn do_index(&self, index: usize) {
        black_box(busy(self.load.units[index]));
        self.times[index].fetch_add(1, Relaxed);
    }

    /// Checks that each index was done `expected` times.
    ///
    /// # Errors
    /// The first index that was not.
    pub fn check(&self, expected: u32) -> Result<(), NotOnce> {
        let times = self.times.iter().map(|times| times.load(Relaxed));
        match times.enumerate().find(|&(_, times)| times != expected) {
            None => Ok(()),
            Some((index, times)) => Err(NotOnce { index, times, loops: expected }),
        }
    }
}

/// An index that was not done once in each loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOnce {
    /// The index.
    pub index: usize,
    /// How often it was done.
    pub times: u32,
    /// Number of loops.
    pub loops: u32,
}

impl NotOnce {
    /// Returns the error for a method that shared the loop out among `threads` threads.
    pub(in crate::bench) fn of(self, method: &str, threads: usize) -> Error {
        let on = error::count(threads);
        Error::check(method, format_args!("shared out a loop wrongly on {on}: {self}"))
    }
}

impl fmt::Display for NotOnce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotOnce { index, times, loops } = self;
        write!(f, "index {index} was done {times} times in {loops} loops")
    }
}

/// Does `units` steps, each of which needs the result of the one before.
#[inline]
fn busy(units: u32) -> u64 {
    (0..units).fold(u64::from(units), |x, _| black_box(x.wrapping_mul(0xD1B5_4A32_D192_ED03) >> 1))
}

/// Measures the units that this thread does in a microsecond when it is not disturbed.
pub fn units_a_microsecond() -> f64 {
    const UNITS: u32 = 100_000;
    let time = |_| {
        let start = Instant::now();
        black_box(busy(black_box(UNITS)));
        start.elapsed().as_secs_f64() * 1e6
    };
    let fastest = (0..20).map(time).fold(f64::INFINITY, f64::min);
    f64::from(UNITS) / fastest.max(1e-3)
}

/// How large a loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// How many indices.
    pub indices: usize,
    /// How long they take on one thread, all together.
    pub microseconds: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_takes_as_long_as_it_should_and_is_uneven() {
        for shape in Shape::ALL {
            for indices in [1, 10, 1000] {
                let load = Load::new(shape, Size { indices, microseconds: 500 }, 200.0);
                let all: u64 = load.units.iter().copied().map(u64::from).sum();
                assert!(all.abs_diff(100_000) <= 1, "{shape:?}: {all}");
                let (least, most) = (load.units.iter().min(), load.units.iter().max());
                assert!(indices < 1000 || most.unwrap() > &(10 * least.unwrap()), "{shape:?}");
            }
        }
    }

    #[test]
    fn an_index_that_is_forgotten_or_done_twice_is_found() {
        let load = Load::new(Shape::Growing, Size { indices: 3, microseconds: 1 }, 1.0);
        let work = Work::new(&load);
        (0..3).for_each(|index| work.do_index(index));
        assert_eq!(work.check(1), Ok(()));
        work.do_index(1);
        let wrong = work.check(1).unwrap_err();
        assert_eq!(wrong.to_string(), "index 1 was done 2 times in 1 loops");
        assert_eq!(work.check(2).unwrap_err().index, 0);
    }
}
