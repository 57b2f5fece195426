//! `throng bench heat`: what a barrier is worth in a computation with one in every step.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`] | the arguments, resolved and checked |
//! | [`plate`] | the computation, on one thread, in bands and with rayon |
//! | [`report`] | tables, and every single number |

pub mod plan;
pub mod plate;
pub mod report;

use std::io;
use std::time::Duration;

use serde::Serialize;

use super::barriers::rows::{self, REFERENCE, Row};
use super::barriers::run::pin;
use super::crew::{self, CrewFailure};
use super::setup::{Pinning, Setup};
use super::window::{Phase, Window};
use crate::error::{self, Error};
use crate::output;
use plan::HeatPlan;
use plate::{Band, Board, Plate, Steps};

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// How the threads wait for each other.
    pub method: &'static str,
    /// On how many threads.
    pub threads: usize,
    /// Cells of the plate on a side.
    pub size: usize,
    /// In which repetition, from 0.
    pub repetition: usize,
    /// How many steps were measured.
    pub steps: usize,
    /// The time of one.
    pub us_a_step: f64,
}

/// The row that is no barrier: one parallel loop a step.
pub const RAYON: &str = "rayon";
/// The row that is no crowd.
pub const SERIAL: &str = "one thread";
/// The barriers that are measured, the reference first.
pub const BARRIERS: [&str; 3] = [REFERENCE, "barrier", "team"];

/// Measures heat and says what came out.
///
/// # Errors
/// When a result differs from that of one thread, threads cannot be had, or a result cannot be
/// written.
pub fn heat(mut plan: HeatPlan) -> Result<(), Error> {
    let pinning = Pinning::find();
    let setup = Setup::look(&pinning);
    let samples = measure_all(&plan, &pinning)?;
    let cells = report::cells(&samples);
    let text = report::text(&plan, &setup, &cells);
    let json = plan.json.take();
    super::publish(&text, json, &report::Document::new(&plan, &setup, &samples, &cells))
}

/// Runs everything, all rows in turn within each repetition.
fn measure_all(plan: &HeatPlan, pinning: &Pinning) -> Result<Vec<Sample>, Error> {
    let mut rows = rows::all();
    rows.retain(|row| BARRIERS.contains(&row.name));
    let runs_a_size = 1 + plan.threads.len() * (rows.len() + 1);
    let progress = output::progress_bar(plan.sizes.len() * plan.repetitions * runs_a_size);
    let mut samples = Vec::new();
    for &size in &plan.sizes {
        let (plate, steps) = (Plate::new(size), plan.steps(size));
        for repetition in 0..plan.repetitions {
            let (expected, time) = plate.after(steps);
            let mut note = |method, threads, time: Duration| {
                let us_a_step = time.as_secs_f64() * 1e6 / steps.measured as f64;
                let steps = steps.measured;
                samples.push(Sample { method, threads, size, repetition, steps, us_a_step });
                progress.set_message(format!("{method}, {}", error::count(threads)));
                progress.inc(1);
            };
            note(SERIAL, 1, time);
            for &threads in &plan.threads {
                let same = |method, result: &Plate| {
                    let differs = Error::Differs { method, threads, size };
                    if *result == expected { Ok(()) } else { Err(differs) }
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

/// One run in bands, with a new barrier.
fn in_bands(
    plate: &Plate,
    steps: Steps,
    row: &Row,
    threads: usize,
    pinning: &Pinning,
) -> Result<(Plate, Duration), Error> {
    let method = row.name;
    let mut parties = row.build(threads).map_err(|source| Error::Shape { method, source })?;
    let (window, board) = (&Window::new(), &Board::new(threads, plate.size()));
    let tasks = parties.iter_mut().enumerate().map(|(rank, party)| {
        move || {
            pin(pinning, rank, threads);
            // Made by its own thread, so that it lies in memory that is near.
            let mut band = Band::new(plate, rank, threads);
            window.await_start();
            let time = match window.phase() {
                Phase::Done => Duration::ZERO,
                _ => band.run(steps, board, &mut **party),
            };
            (band, time)
        }
    });
    let results = crew::run(window, tasks, || {}).map_err(|failure| match failure {
        CrewFailure::Spawn(source) => Error::Spawn { threads, source },
        CrewFailure::Panicked => Error::Panicked { method, threads },
    })?;
    let (bands, times): (Vec<Band>, Vec<Duration>) = results.into_iter().unzip();
    Ok((Band::join(plate, &bands), times[0]))
}

/// One run on new threads of rayon.
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
