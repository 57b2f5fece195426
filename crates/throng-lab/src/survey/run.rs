//! Makes all runs of a survey, in turns.

use std::time::{Duration, Instant};

use throng_papers::output;

use super::document::{Cell, Entrant, Need};
use super::needs::{Asked, Bench};
use super::plan::{Effort, SurveyPlan};
use crate::bench::latency::Latency;
use crate::bench::stats::Stats;
use crate::error::{self, Error};
use crate::stop::Stop;

/// The results of all runs.
pub(crate) struct Measured {
    pub(crate) needs: Vec<Need>,
    /// Whether all wanted repetitions were made.
    pub(crate) complete: bool,
}

/// Measures everything once, and then repeatedly while there is time. The entrants take turns
/// within each repetition, so that a disturbance from outside affects all of them alike, and none
/// in every repetition.
pub(crate) fn measure(
    plan: &SurveyPlan,
    bench: &mut Bench,
    stop: &Stop,
) -> Result<Measured, Error> {
    let round = plan.round();
    let effort = plan.effort(round.len());
    let progress = output::progress_bar(round.len() * effort.most_repetitions);
    let mut runs: Vec<Runs> = round.iter().map(|_| Runs::default()).collect();
    let start = Instant::now();
    let mut repetitions = 0;
    let mut complete = true;
    'all: while repetitions < effort.most_repetitions {
        for (&(need, entrant, threads), runs) in round.iter().zip(&mut runs) {
            if stop.is_wanted() {
                complete = false;
                break 'all;
            }
            let candidate = &plan.needs[need].entrants[entrant];
            progress.set_message(format!("{}, {}", candidate.name, error::count(threads)));
            runs.values.push(candidate.measure(bench, threads, effort.run)?);
            runs.latencies.extend(candidate.latency(bench, threads, effort.run)?);
            progress.inc(1);
        }
        repetitions += 1;
        let fit = fit(start.elapsed(), repetitions, &effort);
        progress.set_length((round.len() * fit) as u64);
        if repetitions >= fit {
            break;
        }
    }
    progress.finish_and_clear();
    let cells = round.into_iter().zip(runs);
    Ok(Measured { needs: needs(&plan.needs, &cells.collect::<Vec<_>>()), complete })
}

/// Returns how many repetitions fit into the time, if `repetitions` of them took `elapsed`.
fn fit(elapsed: Duration, repetitions: usize, effort: &Effort) -> usize {
    let each = elapsed.as_secs_f64() / repetitions.max(1) as f64;
    let fit = (effort.budget.as_secs_f64() / each.max(1e-9)) as usize;
    fit.clamp(effort.least_repetitions, effort.most_repetitions)
}

type Place = (usize, usize, usize);

/// The results of one entrant on one number of threads.
#[derive(Default)]
struct Runs {
    values: Vec<f64>,
    /// From separate runs.
    latencies: Vec<Latency>,
}

fn needs(asked: &[Asked], runs: &[(Place, Runs)]) -> Vec<Need> {
    let need = |(index, need): (usize, &Asked)| Need {
        name: need.name.to_owned(),
        title: need.title.to_owned(),
        workload: need.workload.to_owned(),
        unit: need.unit,
        usual: need.usual.to_owned(),
        entrants: entrants(need, |entrant| {
            let here = move |((n, e, _), _): &&(Place, Runs)| (*n, *e) == (index, entrant);
            runs.iter().filter(here).map(|((_, _, threads), runs)| (*threads, runs)).collect()
        }),
        advice: None,
    };
    asked.iter().enumerate().map(need).collect()
}

/// Returns the entrants with at least one result.
fn entrants<'a>(need: &Asked, runs_of: impl Fn(usize) -> Vec<(usize, &'a Runs)>) -> Vec<Entrant> {
    let entrants = need.entrants.iter().enumerate().map(|(index, candidate)| Entrant {
        name: candidate.name.to_owned(),
        code: candidate.code.clone(),
        whose: candidate.whose,
        bounded: candidate.bounded(),
        cells: runs_of(index).into_iter().filter_map(|(n, runs)| cell(n, runs)).collect(),
    });
    entrants.filter(|entrant| !entrant.cells.is_empty()).collect()
}

fn cell(threads: usize, runs: &Runs) -> Option<Cell> {
    let Stats { median, min, max } = Stats::of(runs.values.iter().copied())?;
    let latency = Latency::medians(&runs.latencies);
    Some(Cell { threads, median, min, max, runs: runs.values.clone(), latency })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::document::Pace;

    #[test]
    fn repetitions_are_as_many_as_fit_but_never_too_few() {
        let effort = Effort::of(Pace::Quick, 100);
        assert_eq!(fit(Duration::from_secs(8), 1, &effort), 3);
        assert_eq!(fit(Duration::from_secs(12), 3, &effort), 5);
        assert_eq!(fit(Duration::from_secs(1), 1, &effort), 5);
        assert_eq!(fit(Duration::from_secs(300), 1, &effort), 3);
    }
}
