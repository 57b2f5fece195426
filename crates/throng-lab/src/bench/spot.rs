//! Single short runs, for whoever wants a few numbers and no table.

use std::time::Duration;

use throng::counter::{Shape, methods};
use throng::machine::Native;

use super::crew::CrewFailure;
use super::pace::Pace;
use super::run::{self, Memory};
use super::setup::Pinning;
use super::window::Times;
use super::{barriers, queues};
use crate::error::Error;
use crate::peers;

fn times(time: Duration) -> Times {
    Times { warm_up: time / 4, measure: time }
}

/// Million values a second that the counter of this name hands out to so many threads, which take them in
/// a row; none if there is no such counter.
///
/// # Errors
/// When it miscounts or panics, or threads cannot be had.
pub fn numbers(
    name: &str,
    threads: usize,
    time: Duration,
    memory: &mut Memory,
    pinning: &Pinning,
) -> Result<Option<f64>, Error> {
    let mut all = std::iter::once(peers::reference()).chain(methods::<Native>());
    let Some(method) = all.find(|method| method.about.name == name) else { return Ok(None) };
    let method_name = method.about.name;
    let counter = method
        .build(&Shape::for_processors(threads))
        .map_err(|source| Error::Shape { method: method_name, source })?;
    let plan = run::Plan { threads, times: times(time), pace: Pace::InARow };
    let measured = run::run(&*counter, plan, memory, pinning)
        .map_err(|failure| super::explain(failure, method_name, threads))?;
    let values: u64 = measured.per_thread.iter().sum();
    Ok(Some(values as f64 / measured.seconds.max(1e-9) / 1e6))
}

/// Nanoseconds a round of the barrier of this name on so many threads; none if there is no such barrier.
///
/// # Errors
/// When it does not hold or panics, or threads cannot be had.
pub fn meeting(
    name: &str,
    threads: usize,
    time: Duration,
    pinning: &Pinning,
) -> Result<Option<f64>, Error> {
    let Some(row) = barriers::rows::all().into_iter().find(|row| row.name == name) else {
        return Ok(None);
    };
    let method = row.name;
    let mut parties = row.build(threads).map_err(|source| Error::Shape { method, source })?;
    let plan = barriers::run::Plan { times: times(time), rounds: None };
    let measured =
        barriers::run::run(&mut parties, plan, pinning).map_err(|failure| match failure {
            barriers::run::Failure::Crew(crew) => explain(crew, method, threads),
            barriers::run::Failure::Early(early) => Error::LetThrough { method, threads, early },
        })?;
    Ok(Some(measured.seconds * 1e9 / measured.rounds.max(1) as f64))
}

/// Million items a second that go through the queue of this name, where each of so many threads pushes
/// one and pops one in turn; none if there is no such queue.
///
/// # Errors
/// When it loses an item or panics, or threads cannot be had.
pub fn exchange(
    name: &str,
    threads: usize,
    time: Duration,
    pinning: &Pinning,
) -> Result<Option<f64>, Error> {
    let Some(row) = queues::rows::all().into_iter().find(|row| row.name == name) else {
        return Ok(None);
    };
    let (method, mix) = (row.name, queues::mixes::Mix::Pairs);
    let measured =
        row.measure(mix, threads, times(time), pinning).map_err(|failure| match failure {
            queues::run::Failure::Crew(crew) => explain(crew, method, threads),
            queues::run::Failure::Wrong(wrong) => {
                Error::Mixed { method, mix: mix.name(), threads, wrong }
            }
        })?;
    Ok(Some(measured.items as f64 / measured.seconds.max(1e-9) / 1e6))
}

fn explain(failure: CrewFailure, method: &'static str, threads: usize) -> Error {
    match failure {
        CrewFailure::Spawn(source) => Error::Spawn { threads, source },
        CrewFailure::Panicked => Error::Panicked { method, threads },
    }
}
