//! `throng bench loop`: measures loops whose iterations take different times, shared out among
//! threads.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`] | what is measured, and how |
//! | [`work`] | what there is to do: how long each index takes, and that each was done once |
//! | [`ways`] | the ways to share it out: rayon, threads of a scope, the library |
//! | [`report`] | tables |

pub mod plan;
pub mod report;
pub mod ways;
pub mod work;

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use super::harness::{Benchmark, in_turn};
use super::setup::{Pinning, Setup};
use super::stats::{median, sorted};
use crate::error::{self, Error};
use plan::LoopPlan;
use report::Cell;
use ways::{REFERENCE, Way};
use work::Size;
use work::{Load, Shape, Work};

/// One run: the same loop, several times in a row.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The way to share the indices out.
    pub method: &'static str,
    /// The distribution of work over the indices.
    pub shape: Shape,
    /// Number of indices, and their time together on one thread.
    #[serde(flatten)]
    pub size: Size,
    /// Number of threads.
    pub threads: usize,
    /// Number of the repetition, from 0.
    pub repetition: usize,
    /// Number of measured loops.
    pub loops: usize,
    /// Median microseconds of a loop.
    pub us_a_loop: f64,
}

impl Benchmark for LoopPlan {
    type Sample = Sample;
    type Cell = Cell;

    // The library's threads cannot be pinned from outside, so no thread is pinned.
    fn setup(&self, pinning: &Pinning) -> Setup {
        Setup { pinned: false, ..Setup::look(pinning) }
    }

    fn name(&self) -> &'static str {
        "loop"
    }

    fn measure(&self, _: &Pinning) -> Result<Vec<Sample>, Error> {
        let speed = work::units_a_microsecond();
        let loads: Vec<(Shape, Size, Load)> = self
            .loads()
            .map(|(shape, size)| (shape, size, Load::new(shape, size, speed)))
            .collect();
        let on_threads = |load| self.threads.iter().map(move |&threads| (load, threads));
        let by_ways = |(load, threads)| Way::ALL.map(|way| (load, threads, way));
        let places: Vec<_> = loads.iter().flat_map(on_threads).flat_map(by_ways).collect();
        let name = |&(_, threads, way): &(_, usize, Way)| {
            format!("{}, {}", way.name(), error::count(threads))
        };
        in_turn(
            self.repetitions,
            &places,
            name,
            |&((shape, size, load), threads, way), repetition| {
                let loops = self.loops(*size);
                let us_a_loop = measure(way, threads, load, loops, self.gap)?;
                let (method, shape, size) = (way.name(), *shape, *size);
                Ok(Some(Sample { method, shape, size, threads, repetition, loops, us_a_loop }))
            },
        )
    }

    fn cells(&self, samples: &[Sample]) -> Vec<Cell> {
        report::cells(samples)
    }

    fn text(&self, setup: &Setup, cells: &[Cell]) -> String {
        report::text(self, setup, cells)
    }

    fn asked(&self, _: &[Cell]) -> Vec<(&'static str, Value)> {
        vec![
            ("reference", json!(REFERENCE.name())),
            ("threads", json!(self.threads)),
            ("shapes", json!(self.shapes)),
            ("sizes", json!(self.sizes)),
            ("gap_us", json!(self.gap.as_micros() as u64)),
            ("repetitions", json!(self.repetitions)),
        ]
    }
}

/// Loops before the measured ones, in which threads are started and chunk sizes learned.
const WARM_UP: usize = 3;

/// Makes one run. Returns the median time of a loop, in microseconds.
pub(crate) fn measure(
    way: Way,
    threads: usize,
    load: &Load,
    loops: usize,
    gap: Duration,
) -> Result<f64, Error> {
    let work = Work::new(load);
    let mut times = Vec::with_capacity(loops);
    way.with_threads(threads, |share_out| {
        for round in 0..WARM_UP + loops {
            pass(gap);
            let start = Instant::now();
            share_out(&work);
            if round >= WARM_UP {
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
    })?;
    let method = way.name();
    work.check((WARM_UP + loops) as u32).map_err(|wrong| wrong.of(method, threads))?;
    Ok(median(&sorted(times.into_iter())).unwrap_or(f64::NAN))
}

/// Does other work on one thread, as a program does between two loops.
pub(in crate::bench) fn pass(gap: Duration) {
    let start = Instant::now();
    while start.elapsed() < gap {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_does_every_index_once_on_any_number_of_threads() {
        for shape in Shape::ALL {
            let load = Load::new(shape, Size { indices: 77, microseconds: 20 }, 100.0);
            for threads in [1, 2, 5] {
                for way in Way::ALL {
                    let us = measure(way, threads, &load, 4, Duration::ZERO).unwrap();
                    assert!(us > 0.0, "{} on {threads}", way.name());
                }
            }
        }
    }
}
