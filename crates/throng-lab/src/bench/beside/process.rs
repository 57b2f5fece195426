//! A measured process, as the lab sees it: reads its lines as they come, and ends it in time.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use super::laps::{MEASURED, MEASURING};
use super::neighbours::Process;
use crate::error::Error;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::bench) enum Ended<T> {
    /// With results.
    Well(T),
    /// It took longer than the limit and was killed, or did nothing while it was measured.
    TooSlow,
    /// It failed, and printed the reason to standard error.
    Failed,
}

/// Runs a process for at most `limit`. Calls `at_line` when the measured time begins and when it
/// ends.
///
/// # Errors
/// When the process cannot be started.
pub(in crate::bench) fn run<T: DeserializeOwned>(
    command: &mut Command,
    limit: Duration,
    mut at_line: impl FnMut(),
) -> Result<Ended<T>, Error> {
    let deadline = Instant::now() + limit;
    let mut process = Process::start(command, Stdio::piped())?;
    let lines = lines_of(&mut process);
    let mut measured = None;
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) if line == MEASURING || line == MEASURED => at_line(),
            Ok(line) => measured = serde_json::from_str(&line).ok(),
            Err(RecvTimeoutError::Timeout) => return Ok(Ended::TooSlow),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = process.0.wait().map_err(Error::Neighbour)?;
    Ok(match measured {
        _ if !status.success() => Ended::Failed,
        None => Ended::TooSlow,
        Some(measured) => Ended::Well(measured),
    })
}

/// Reads the lines of a process, on a thread that ends with the process.
fn lines_of(process: &mut Process) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(stdout) = process.0.stdout.take() {
        thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.take_while(|line| sender.send(line.clone()).is_ok()).for_each(drop);
        });
    }
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::beside::Measured;
    use crate::bench::latency::Latency;

    fn shell(script: &str, limit: Duration) -> (Ended<Measured>, usize) {
        let mut lines = 0;
        let mut command = Command::new("sh");
        let ended = run(command.args(["-c", script]), limit, || lines += 1).unwrap();
        (ended, lines)
    }

    #[test]
    fn a_process_ends_well_badly_or_not_in_time() {
        let long = Duration::from_secs(60);
        let latency = Latency { p50_ns: 1.0, p99_ns: 2.0, p999_ns: 3.0, max_ns: 4.0 };
        let measured =
            Measured { operations: 5, ns: 1.5, latency, seconds: 0.5, cpu_seconds: 0.25 };
        let json = serde_json::to_string(&measured).unwrap();
        let script = format!("echo measuring; echo measured; echo '{json}'");
        assert_eq!(shell(&script, long), (Ended::Well(measured), 2));
        assert_eq!(shell("echo measuring; exit 1", long), (Ended::Failed, 1));
        assert_eq!(shell("echo measuring; echo measured", long), (Ended::TooSlow, 2));
        let start = Instant::now();
        assert_eq!(shell("exec sleep 600", Duration::from_millis(100)).0, Ended::TooSlow);
        assert!(start.elapsed() < long, "the process was not killed");
    }
}
