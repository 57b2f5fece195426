//! Makes all runs, in their order, until the time is up.

use std::time::{Duration, Instant};

use throng_papers::output;

use super::contenders::{Contender, Purpose};
use super::load::Load;
use super::neighbours::Neighbours;
use super::plan::BesidePlan;
use super::process::{self, Ended};
use super::setting::Setting;
use super::{Found, Sample};
use crate::error::{self, Error};

/// A run may take this many times as long as planned, and [`PATIENCE`] more. A contender that took
/// longer is not tried again at the same place.
const SLOWNESS: u32 = 4;
const PATIENCE: Duration = Duration::from_secs(3);

/// Makes all runs. A repetition begins only if there is time for all of it, except the first one,
/// which is interrupted when the time is up.
pub(super) fn measure_all(plan: &BesidePlan) -> Result<Vec<Sample>, Error> {
    let progress = output::progress_bar(plan.runs() * plan.repetitions);
    let deadline = Instant::now() + plan.budget;
    let mut course = Course { plan, deadline, samples: Vec::new(), progress };
    for repetition in 0..plan.repetitions {
        let start = Instant::now();
        let is_over = course.repeat(repetition)?;
        if is_over || Instant::now() + start.elapsed() > deadline {
            break;
        }
    }
    course.progress.finish_and_clear();
    Ok(course.samples)
}

/// All runs that were made so far.
struct Course<'a> {
    plan: &'a BesidePlan,
    deadline: Instant,
    samples: Vec<Sample>,
    progress: indicatif::ProgressBar,
}

/// A contender at a place.
#[derive(Clone, Copy)]
struct Run<'a> {
    contender: &'a Contender,
    load: Load,
    threads: usize,
    setting: Setting,
}

impl Course<'_> {
    /// Makes every run once. Returns whether the time is up.
    fn repeat(&mut self, repetition: usize) -> Result<bool, Error> {
        let plan = self.plan;
        for &setting in &plan.settings {
            let count = if let Setting::Busy(count) = setting { count } else { 0 };
            let life = self.deadline.saturating_duration_since(Instant::now()) + self.limit();
            let neighbours = Neighbours::computing(count, life)?;
            if !neighbours.await_start() {
                return Err(error::neighbours_do_not_begin());
            }
            for (load, threads) in plan.places() {
                if Instant::now() > self.deadline {
                    return Ok(true);
                }
                // Measured again at each place: the share of the machine may drift.
                let alone = neighbours.speed_alone(plan.times.measure);
                // Rotated, so that no contender always follows the same one.
                let mut contenders: Vec<&Contender> = plan.contenders.iter().collect();
                contenders.rotate_left(repetition % plan.contenders.len());
                for contender in contenders {
                    if Instant::now() > self.deadline {
                        return Ok(true);
                    }
                    let run = Run { contender, load, threads, setting };
                    if !self.was_too_slow(run) {
                        let found = match setting {
                            Setting::Busy(_) => self.measure(run, &neighbours, alone)?,
                            Setting::Copy => self.measure_beside_copy(run)?,
                        };
                        self.note(run, repetition, found);
                    }
                    self.progress.inc(1);
                }
            }
        }
        Ok(false)
    }

    fn note(&mut self, run: Run<'_>, repetition: usize, found: Option<Found>) {
        let Run { contender, load, threads, setting } = run;
        let method = contender.name;
        let beside = setting.in_words();
        self.progress.set_message(format!("{method}, {}, {beside}", error::count(threads)));
        let load = load.text();
        self.samples.push(Sample { load, threads, neighbours: setting, method, repetition, found });
    }

    fn was_too_slow(&self, run: Run<'_>) -> bool {
        let load = run.load.text();
        self.samples.iter().any(|sample| {
            sample.found.is_none()
                && sample.method == run.contender.name
                && sample.neighbours == run.setting
                && sample.threads == run.threads
                && sample.load == load
        })
    }

    /// Returns the longest time of a run.
    fn limit(&self) -> Duration {
        (self.plan.times.warm_up + self.plan.times.measure) * SLOWNESS + PATIENCE
    }

    /// Starts the copy, lets it run alone, and measures beside it.
    fn measure_beside_copy(&self, run: Run<'_>) -> Result<Option<Found>, Error> {
        let life = 2 * self.limit();
        let purpose = Purpose::Accompany(life.as_secs() + 1);
        let command = run.contender.command(run.load, run.threads, purpose);
        let copy = Neighbours::start(std::iter::once(command))?;
        if !copy.await_start() {
            return Ok(None);
        }
        std::thread::sleep(self.plan.times.warm_up);
        let alone = copy.speed_alone(self.plan.times.measure);
        self.measure(run, &copy, alone)
    }

    fn measure(
        &self,
        run: Run<'_>,
        neighbours: &Neighbours,
        alone: Option<f64>,
    ) -> Result<Option<Found>, Error> {
        let Run { contender, load, threads, setting } = run;
        let purpose = Purpose::Measure(self.plan.times);
        let mut command = contender.command(load, threads, purpose)?;
        let mut readings = Vec::new();
        let ended = process::run(&mut command, self.limit(), || readings.push(neighbours.read()))?;
        let measured = match ended {
            Ended::Well(measured) => measured,
            Ended::TooSlow => return Ok(None),
            Ended::Failed => {
                let (method, beside) = (contender.name, setting.in_words());
                return Err(Error::Part { method, threads, beside });
            }
        };
        let beside = match readings[..] {
            [before, after] => Some(after.speed_since(before)),
            _ => None,
        };
        Ok(Some(Found {
            measured,
            cores_used: measured.cpu_seconds / measured.seconds.max(1e-9),
            neighbours_keep: beside.zip(alone).map(|(beside, alone)| beside / alone),
        }))
    }
}
