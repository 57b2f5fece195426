//! `throng bench heat`: measures how much a barrier matters in a computation that has one in every
//! step.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`] | what is measured, and how |
//! | [`plate`] | the computation, on one thread, in bands and with rayon |
//! | [`report`] | tables |

pub mod plan;
pub mod plate;
pub mod report;

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use throng_papers::output;

use super::barriers::rows::{self, REFERENCE, Row};
use super::barriers::run::pin;
use super::harness::Benchmark;
use super::setup::{Pinning, Setup};
use super::together::{self};
use super::window::{Phase, Window};
use crate::error::{self, Error};
use plan::HeatPlan;
use plate::{Band, Board, Plate, Steps};
use report::Cell;

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The barrier, or another way to synchronise the threads.
    pub method: &'static str,
    /// Number of threads.
    pub threads: usize,
    /// Cells of the plate on a side.
    pub size: usize,
    /// Number of the repetition, from 0.
    pub repetition: usize,
    /// Number of measured steps.
    pub steps: usize,
    /// Microseconds of a step.
    pub us_a_step: f64,
}

/// The row without a barrier: one parallel loop a step.
pub const RAYON: &str = "rayon";
/// The row with a single thread.
pub const SERIAL: &str = "one thread";
/// The measured barriers, the reference first.
pub const BARRIERS: [&str; 3] = [REFERENCE, "barrier", "team"];

impl Benchmark for HeatPlan {
    type Sample = Sample;
    type Cell = Cell;

    fn name(&self) -> &'static str {
        "heat"
    }

    fn measure(&self, pinning: &Pinning) -> Result<Vec<Sample>, Error> {
        let mut rows = rows::all();
        rows.retain(|row| BARRIERS.contains(&row.name));
        let runs_a_size = 1 + self.threads.len() * (rows.len() + 1);
        let progress = output::progress_bar(self.sizes.len() * self.repetitions * runs_a_size);
        let mut samples = Vec::new();
        for &size in &self.sizes {
            let (plate, steps) = (Plate::new(size), self.steps(size));
            for repetition in 0..self.repetitions {
                let (expected, time) = plate.after(steps);
                let mut note = |method, threads, time: Duration| {
                    let us_a_step = time.as_secs_f64() * 1e6 / steps.measured as f64;
                    let steps = steps.measured;
                    samples.push(Sample { method, threads, size, repetition, steps, us_a_step });
                    progress.set_message(format!("{method}, {}", error::count(threads)));
                    progress.inc(1);
                };
                note(SERIAL, 1, time);
                for &threads in &self.threads {
                    let same = |method, result: &Plate| {
                        if *result == expected {
                            return Ok(());
                        }
                        let heat = format!("heat on {size} x {size} cells with {method}");
                        let on = error::count(threads);
                        Err(Error::check(
                            &heat,
                            format_args!("on {on}: not the result of one thread"),
                        ))
                    };
                    for row in &rows {
                        let (result, time) = in_bands(&plate, steps, row, threads, pinning)?;
                        same(row.name, &result)?;
                        note(row.name, threads, time);
                    }
                    let (result, time) = with_rayon(&plate, steps, threads, pinning)?;
                    same(RAYON, &result)?;
                    note(RAYON, threads, time);
                }
            }
        }
        progress.finish_and_clear();
        Ok(samples)
    }

    fn cells(&self, samples: &[Sample]) -> Vec<Cell> {
        report::cells(samples)
    }

    fn text(&self, setup: &Setup, cells: &[Cell]) -> String {
        report::text(self, setup, cells)
    }

    fn asked(&self, _: &[Cell]) -> Vec<(&'static str, Value)> {
        vec![
            ("reference", json!(REFERENCE)),
            ("threads", json!(self.threads)),
            ("sizes", json!(self.sizes)),
            ("repetitions", json!(self.repetitions)),
        ]
    }
}

/// Makes one run in bands, with a new barrier.
fn in_bands(
    plate: &Plate,
    steps: Steps,
    row: &Row,
    threads: usize,
    pinning: &Pinning,
) -> Result<(Plate, Duration), Error> {
    let method = row.name;
    let mut parties = row.build(threads).map_err(|source| Error::shape(method, source))?;
    let (window, board) = (&Window::new(), &Board::new(threads, plate.size()));
    let tasks = parties.iter_mut().enumerate().map(|(rank, party)| {
        move || {
            pin(pinning, rank, threads);
            // Built by its own thread, so that its memory is near.
            let mut band = Band::new(plate, rank, threads);
            window.await_start();
            let time = match window.phase() {
                Phase::Done => Duration::ZERO,
                _ => band.run(steps, board, &mut **party),
            };
            (band, time)
        }
    });
    let results =
        together::run(window, tasks, || {}).map_err(|failure| failure.explain(method, threads))?;
    let (bands, times): (Vec<Band>, Vec<Duration>) = results.into_iter().unzip();
    Ok((Band::join(plate, &bands), times[0]))
}

/// Makes one run on new threads of rayon.
fn with_rayon(
    plate: &Plate,
    steps: Steps,
    threads: usize,
    pinning: &Pinning,
) -> Result<(Plate, Duration), Error> {
    std::thread::scope(|scope| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .spawn_handler(|thread| {
                std::thread::Builder::new().spawn_scoped(scope, move || {
                    pin(pinning, thread.index(), threads);
                    thread.run();
                })?;
                Ok(())
            })
            .build()
            .map_err(|error| Error::Spawn { threads, source: io::Error::other(error) })?;
        Ok(plate.after_with_rayon(steps, &pool))
    })
}
