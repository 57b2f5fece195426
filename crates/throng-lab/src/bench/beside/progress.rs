//! The progress of a process: a number in a file without a name, which the process writes and the
//! lab reads.
//!
//! The file is the standard output of the process. A write takes about half a microsecond, so a
//! process writes at most once in [`EVERY`]. The file is in memory where the system has a folder
//! for that.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Shortest time between two writes of a process.
pub(super) const EVERY: Duration = Duration::from_millis(1);

/// The lab's end, which reads the number.
#[derive(Debug)]
pub(super) struct Progress(File);

/// A folder in memory.
const IN_MEMORY: &str = "/dev/shm";

impl Progress {
    /// Makes a file and removes its name, so that it vanishes with the last process that has it
    /// open.
    pub(super) fn new() -> io::Result<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let in_memory = Path::new(IN_MEMORY);
        let folder = if in_memory.is_dir() { in_memory.to_owned() } else { env::temp_dir() };
        let name = format!("throng-{}-{}", process::id(), MADE.fetch_add(1, Relaxed));
        let path = folder.join(name);
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        fs::remove_file(&path)?;
        Ok(Progress(file))
    }

    /// Returns the other end, for the standard output of a process.
    pub(super) fn writer(&self) -> io::Result<File> {
        self.0.try_clone()
    }

    /// Returns the number, or 0 if none was written.
    pub(super) fn read(&self) -> u64 {
        let mut bytes = [0; size_of::<u64>()];
        match self.0.read_exact_at(&mut bytes, 0) {
            Ok(()) => u64::from_ne_bytes(bytes),
            Err(_) => 0,
        }
    }
}

/// The process's end: counts, and writes the number now and then.
#[derive(Debug)]
pub(super) struct Publisher {
    file: File,
    done: u64,
    written: Instant,
    end: Instant,
}

impl Publisher {
    /// Publishes on standard output, for `time` at the longest.
    pub(super) fn on_stdout(time: Duration) -> io::Result<Self> {
        Ok(Publisher::on(File::from(io::stdout().as_fd().try_clone_to_owned()?), time))
    }

    fn on(file: File, time: Duration) -> Self {
        let now = Instant::now();
        Publisher { file, done: 0, written: now, end: now + time }
    }

    /// Adds `count` at the time `now`. Returns whether the process must end.
    pub(super) fn add(&mut self, count: u64, now: Instant) -> bool {
        self.done += count;
        if now.saturating_duration_since(self.written) < EVERY {
            return false;
        }
        self.written = now;
        let written = self.file.write_all_at(&self.done.to_ne_bytes(), 0);
        written.is_err() || now >= self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let progress = Progress::new().unwrap();
        assert_eq!(progress.read(), 0);
        let mut publisher = Publisher::on(progress.writer().unwrap(), Duration::from_secs(3600));
        let start = Instant::now();
        assert!(!publisher.add(3, start + EVERY));
        assert_eq!(progress.read(), 3);
        assert!(!publisher.add(4, start + EVERY));
        assert_eq!(progress.read(), 3, "it was too soon");
        assert!(!publisher.add(0, start + 3 * EVERY));
        assert_eq!(progress.read(), 7);
        assert!(publisher.add(1, start + Duration::from_secs(3601)), "the time is up");
    }
}
