//! `throng bench loop`: a loop whose iterations take different times, shared out among threads.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`] | the arguments, resolved and checked |
//! | [`work`] | what there is to do: how long each index takes, and that each was done once |
//! | [`ways`] | who shares it out: rayon, threads of a scope, the library |
//! | [`report`] | tables, and every single number |

pub mod plan;
pub mod report;
pub mod ways;
pub mod work;

use std::time::{Duration, Instant};

use serde::Serialize;

use super::setup::{Pinning, Setup};
use super::stats::{median, sorted};
use crate::error::{self, Error};
use crate::output;
use plan::{LoopPlan, Size};
use ways::Way;
use work::{Load, Shape, Work};

/// One run: the same loop, several times in a row.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// Who shares the indices out.
    pub method: &'static str,
    /// How long the indices take.
    pub shape: Shape,
    /// How many there are, and how long they take together on one thread.
    #[serde(flatten)]
    pub size: Size,
    /// On how many threads.
    pub threads: usize,
    /// In which repetition, from 0.
    pub repetition: usize,
    /// How many loops were measured.
    pub loops: usize,
    /// The time of one, the median.
    pub us_a_loop: f64,
}

/// Measures loops and says what came out.
///
/// # Errors
/// When an index was not done exactly once, threads cannot be had, or a result cannot be written.
pub fn loops(mut plan: LoopPlan) -> Result<(), Error> {
    // The library's threads belong to nobody, so nobody can pin them: here all threads run where they
    // like.
    let setup = Setup { pinned: false, ..Setup::look(&Pinning::find()) };
    let samples = measure_all(&plan)?;
    let cells = report::cells(&samples);
    let text = report::text(&plan, &setup, &cells);
    let json = plan.json.take();
    super::publish(&text, json, &report::Document::new(&plan, &setup, &samples, &cells))
}

/// Runs everything, all ways in turn within each repetition.
fn measure_all(plan: &LoopPlan) -> Result<Vec<Sample>, Error> {
    let progress = output::progress_bar(plan.runs());
    let speed = work::units_a_microsecond();
    let mut samples = Vec::with_capacity(plan.runs());
    for repetition in 0..plan.repetitions {
        for (shape, size) in plan.loads() {
            let load = Load::new(shape, size, speed);
            for &threads in &plan.threads {
                for way in Way::ALL {
                    let method = way.name();
                    progress.set_message(format!("{method}, {}", error::count(threads)));
                    let loops = plan.loops(size);
                    let us_a_loop = measure(way, threads, &load, loops, plan.gap)?;
                    samples.push(Sample {
                        method,
                        shape,
                        size,
                        threads,
                        repetition,
                        loops,
                        us_a_loop,
                    });
                    progress.inc(1);
                }
            }
        }
    }
    progress.finish_and_clear();
    Ok(samples)
}

/// Loops that are not measured, in which threads are started and chunks learned.
const WARM_UP: usize = 3;

/// One run: the median time of a loop, in microseconds.
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
    work.check((WARM_UP + loops) as u32).map_err(|wrong| Error::NotOnce {
        method,
        threads,
        wrong,
    })?;
    Ok(median(&sorted(times.into_iter())).unwrap_or(f64::NAN))
}

/// What a program does between two loops: something of its own, on one thread.
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
