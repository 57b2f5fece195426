//! One run, in the process that is measured.

use std::panic;
use std::process;
use std::time::Duration;

use throng_papers::arguments::not_allowed;
use throng_papers::output;

use super::laps::{Audience, Measured, say};
use super::load::Load;
use super::neighbours::end_with_stdin;
use super::progress::Publisher;
use super::{exchange, loops, rounds};
use crate::bench::window::Times;
use crate::error::Error;

/// One run, as it was asked for.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The load, as text.
    pub load: &'a str,
    /// The method.
    pub method: &'a str,
    /// On how many threads.
    pub threads: usize,
    /// How long it is measured.
    pub times: Times,
    /// Run for this many seconds instead, and write how far that has come to standard output, which is a file.
    pub endless: Option<u64>,
}

/// Measures one method under one load.
///
/// # Errors
/// When a structure fails its check, threads cannot be had, or a name is unknown.
pub fn run(asked: &Asked<'_>) -> Result<(), Error> {
    end_with_stdin().map_err(Error::Neighbour)?;
    // Threads that wait for one that has panicked would wait for ever.
    panic::set_hook(Box::new(|panic| {
        output::say(&format!("error: {panic}\n"));
        process::exit(1);
    }));
    let load = Load::of(asked.load).ok_or_else(|| unknown("LOAD", asked.load))?;
    let audience = match asked.endless {
        Some(seconds) => Audience::Progress(
            Publisher::on_stdout(Duration::from_secs(seconds)).map_err(Error::Neighbour)?,
        ),
        None => Audience::Lab(asked.times),
    };
    let measured = measure(load, asked.method, asked.threads, audience)?;
    if let Some(measured) = measured {
        let numbers = serde_json::to_string(&measured).expect("numbers can always be written");
        say(&numbers);
    }
    Ok(())
}

fn measure(
    load: Load,
    method: &str,
    threads: usize,
    audience: Audience,
) -> Result<Option<Measured>, Error> {
    let no_method = || unknown("METHOD", method);
    match load {
        Load::Rounds { work_ns } => {
            let row = rounds::rows().into_iter().find(|row| row.name == method);
            rounds::run(&row.ok_or_else(no_method)?, threads, work_ns, audience)
        }
        Load::PingPong => exchange::find(method).ok_or_else(no_method)?.ping_pong(audience),
        Load::Stream { work_ns } => {
            exchange::find(method).ok_or_else(no_method)?.stream(threads, work_ns, audience)
        }
        Load::Loop { shape, size, gap } => {
            let way = loops::find(method).ok_or_else(no_method)?;
            loops::run(way, threads, shape, size, gap, audience)
        }
    }
}

/// Returns the error for an unknown name. Only `throng bench` passes such names.
pub(in crate::bench) fn unknown(option: &'static str, value: &str) -> Error {
    let allowed = "what `throng bench` passes to its processes".to_owned();
    not_allowed(option, value, allowed).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn for_ms(ms: u64) -> Audience {
        let time = Duration::from_millis(ms);
        Audience::Lab(Times { warm_up: time, measure: time })
    }

    #[test]
    fn every_load_is_measured_with_every_method() {
        let loads = [
            ("rounds:0", &["std", "pthread", "barrier", "team", "hurdles"][..]),
            ("rounds:1000", &["barrier"]),
            ("ping-pong", &["queue", "queue-unbounded", "pool", "crossbeam-bounded"]),
            ("stream:1000", &["queue", "queue-unbounded", "pool", "crossbeam-unbounded"]),
            ("loop:growing:50:20:10", &["rayon", "for_each_index"]),
        ];
        for (text, methods) in loads {
            let load = Load::of(text).unwrap();
            for method in methods {
                let threads = load.threads(&[3])[0];
                // On a busy machine no item may get through in a short time.
                let measured = [5, 50, 500, 5000].into_iter().find_map(|ms| {
                    let measured = measure(load, method, threads, for_ms(ms)).unwrap();
                    measured.filter(|measured| measured.seconds >= ms as f64 / 1e3)
                });
                let measured = measured.unwrap_or_else(|| panic!("{text}, {method}"));
                assert!(measured.operations > 0, "{text}, {method}: {measured:?}");
                assert!(measured.ns > 0.0, "{text}, {method}: {measured:?}");
                assert!(measured.latency.max_ns > 0.0, "{text}, {method}: {measured:?}");
            }
        }
    }

    #[test]
    fn rounds_with_work_take_longer() {
        let load = Load::Rounds { work_ns: 200_000 };
        let measured = measure(load, "barrier", 2, for_ms(3)).unwrap().unwrap();
        // Less than the 200 us in case the calibration was disturbed.
        assert!(measured.ns > 50_000.0, "{measured:?}");
    }

    #[test]
    fn an_unknown_method_is_an_error() {
        for text in ["rounds:0", "ping-pong", "stream:0", "loop:growing:1:1:0"] {
            let error = measure(Load::of(text).unwrap(), "nothing", 2, for_ms(3)).unwrap_err();
            assert!(error.to_string().starts_with("METHOD nothing: "), "{error}");
        }
    }
}
