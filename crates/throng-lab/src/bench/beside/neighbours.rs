//! Busy processes beside a measurement, and their speed.

use std::env;
use std::hint::black_box;
use std::io::{self, Read};
use std::process::{self, Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::progress::{EVERY, Progress, Publisher};
use crate::error::Error;

/// Largest number of neighbours.
pub(crate) const MOST: usize = 1024;
/// Time after which a neighbour that has not begun never will.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time for a process to end in good order before it is killed. (LLVM's OpenMP keeps a file in
/// memory as long as a process lives, and leaves it behind when the process is killed.)
const GRACE: Duration = Duration::from_millis(300);

/// A process that is ended when this value is dropped.
#[derive(Debug)]
pub(crate) struct Process(pub(crate) Child);

impl Process {
    /// Starts a process. It ends when its standard input ends, which happens however the lab ends.
    pub(crate) fn start(command: &mut Command, stdout: Stdio) -> Result<Self, Error> {
        let started = command.stdin(Stdio::piped()).stdout(stdout).spawn();
        started.map(Process).map_err(Error::Neighbour)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process ends with its standard input.
        drop(self.0.stdin.take());
        let start = Instant::now();
        while start.elapsed() < GRACE {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_micros(200));
        }
        // An error means that it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Processes that are busy as long as this lives.
#[derive(Debug)]
pub(crate) struct Neighbours(Vec<(Process, Progress)>);

/// The progress of all neighbours together at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    at: Instant,
    done: u64,
}

impl Neighbours {
    /// Starts `count` processes that compute for `life` at the longest.
    ///
    /// # Errors
    /// When a process cannot be started. The others are ended.
    pub(crate) fn computing(count: usize, life: Duration) -> Result<Self, Error> {
        let command = || {
            let mut command = this_program()?;
            command.args(["part", "neighbour", &(life.as_secs() + 1).to_string()]);
            Ok(command)
        };
        Neighbours::start((0..count).map(|_| command()))
    }

    /// Starts each of these commands, with its progress as its standard output.
    ///
    /// # Errors
    /// When a process cannot be started. The others are ended.
    pub(crate) fn start(
        commands: impl Iterator<Item = Result<Command, Error>>,
    ) -> Result<Self, Error> {
        let mut neighbours = Neighbours(Vec::new());
        for command in commands {
            let progress = Progress::new().map_err(Error::Neighbour)?;
            let stdout = progress.writer().map_err(Error::Neighbour)?;
            neighbours.0.push((Process::start(&mut command?, stdout.into())?, progress));
        }
        Ok(neighbours)
    }

    /// Waits until every neighbour is busy. Returns whether that happened within some seconds.
    pub(crate) fn await_start(&self) -> bool {
        let start = Instant::now();
        while !self.0.iter().all(|(_, progress)| progress.read() > 0) {
            if start.elapsed() > PATIENCE {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Reads their progress.
    pub(crate) fn read(&self) -> Reading {
        let done = self.0.iter().map(|(_, progress)| progress.read()).sum();
        Reading { at: Instant::now(), done }
    }

    /// Returns their work in a second while nothing else happens for `time`, or longer if they have
    /// done nothing by then. [`None`] if there is no neighbour, or if they do nothing for some
    /// seconds.
    pub(crate) fn speed_alone(&self, time: Duration) -> Option<f64> {
        if self.0.is_empty() {
            return None;
        }
        let before = self.read();
        thread::sleep(time);
        loop {
            let now = self.read();
            if now.done > before.done {
                return Some(now.speed_since(before));
            }
            if now.at.saturating_duration_since(before.at) > PATIENCE {
                return None;
            }
            thread::sleep(EVERY);
        }
    }
}

impl Reading {
    /// Returns the work in a second since an earlier reading.
    pub(crate) fn speed_since(self, earlier: Reading) -> f64 {
        let seconds = self.at.saturating_duration_since(earlier.at).as_secs_f64();
        self.done.saturating_sub(earlier.done) as f64 / seconds.max(1e-9)
    }
}

/// Returns the command that starts this program.
///
/// # Errors
/// When the path of this program is unknown.
pub(in crate::bench) fn this_program() -> Result<Command, Error> {
    env::current_exe().map(Command::new).map_err(Error::Neighbour)
}

/// Ends the process when its standard input ends, because then the lab that started it has ended.
///
/// # Errors
/// When the system refuses a thread.
pub(crate) fn end_with_stdin() -> io::Result<()> {
    let watch = || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        process::exit(0);
    };
    thread::Builder::new().spawn(watch).map(drop)
}

/// Steps between two readings of the clock: some 80 us.
const STEPS: u32 = 1 << 16;

/// Computes until standard input ends, for `life` at the longest, and publishes how many blocks of steps
/// were done.
///
/// # Errors
/// When standard output cannot be used, or the system refuses a thread to watch standard input.
pub(crate) fn compute(life: Duration) -> Result<(), Error> {
    end_with_stdin().map_err(Error::Neighbour)?;
    let mut publisher = Publisher::on_stdout(life).map_err(Error::Neighbour)?;
    let mut number = 1_u64;
    loop {
        for _ in 0..STEPS {
            number = black_box(number.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1));
        }
        if publisher.add(1, Instant::now()) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a process that writes 8 bytes to its standard output and stays.
    fn writer() -> Result<Command, Error> {
        let mut command = Command::new("sh");
        command.args(["-c", "printf 1234567; printf '\\001'; exec cat"]);
        Ok(command)
    }

    #[test]
    fn neighbours_are_seen_to_begin_and_end_with_the_value() {
        let neighbours = Neighbours::start((0..2).map(|_| writer())).unwrap();
        assert!(neighbours.await_start());
        let (process, progress) = &neighbours.0[0];
        assert_eq!(progress.read(), u64::from_ne_bytes(*b"1234567\x01"));
        let id = process.0.id();
        drop(neighbours);
        let is_there = std::path::Path::new(&format!("/proc/{id}")).exists();
        assert!(!is_there, "process {id} is still there");
    }

    #[test]
    fn no_neighbour_has_no_speed_and_is_there_at_once() {
        let none = Neighbours::start(std::iter::empty()).unwrap();
        assert!(none.await_start());
        assert_eq!(none.speed_alone(Duration::ZERO), None);
    }

    #[test]
    fn a_speed_is_a_difference_by_a_time() {
        let at = Instant::now();
        let before = Reading { at, done: 100 };
        let after = Reading { at: at + Duration::from_millis(500), done: 150 };
        assert!((after.speed_since(before) - 100.0).abs() < 1e-9);
    }
}
