//! Measures the cost of waiting: the processor time that threads use while they wait for a late
//! one.

use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::rows::Party;
use super::run::pin;
use crate::bench::setup::Pinning;
use crate::bench::together::{self, ThreadsFailure};
use crate::bench::window::{Phase, Window};

/// The cost of one wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Idled {
    /// Mean processor time of a waiting thread.
    pub cpu_ms: f64,
    /// Time from the arrival of the late thread to the return of the last other.
    pub release_us: f64,
}

/// Rounds before the measured one, after which all threads are running.
const ROUNDS_BEFORE: u32 = 3;

/// Measures a wait: all threads but the last wait; the last one comes `late`.
pub(in crate::bench) fn idle(
    parties: &mut [Box<dyn Party>],
    late: Duration,
    pinning: &Pinning,
) -> Result<Idled, ThreadsFailure> {
    let threads = parties.len();
    let window = &Window::new();
    let tasks = parties.iter_mut().enumerate().map(|(rank, party)| {
        move || {
            pin(pinning, rank, threads);
            window.await_start();
            if window.phase() == Phase::Done {
                return None;
            }
            for _ in 0..ROUNDS_BEFORE {
                party.wait();
            }
            let is_late = rank + 1 == threads;
            if is_late {
                thread::sleep(late);
            }
            let (came, burnt_before) = (Instant::now(), cpu_time());
            party.wait();
            let burnt = cpu_time().saturating_sub(burnt_before);
            Some(Wait { came, left: Instant::now(), burnt })
        }
    });
    let mut waits: Vec<Wait> = together::run(window, tasks, || {})?.into_iter().flatten().collect();
    let (Some(last), false) = (waits.pop(), waits.is_empty()) else {
        return Ok(Idled { cpu_ms: 0.0, release_us: 0.0 });
    };
    let burnt: Duration = waits.iter().map(|wait| wait.burnt).sum();
    let release = waits.iter().map(|wait| wait.left.saturating_duration_since(last.came)).max();
    Ok(Idled {
        cpu_ms: burnt.as_secs_f64() * 1e3 / waits.len() as f64,
        release_us: release.unwrap_or_default().as_secs_f64() * 1e6,
    })
}

/// One thread's wait.
struct Wait {
    came: Instant,
    left: Instant,
    burnt: Duration,
}

/// Returns the processor time of the calling thread.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::barriers::rows::{self, Parties};

    #[test]
    fn who_sleeps_burns_nothing() {
        let mut parties = rows::all().remove(0).build(2).unwrap();
        let idled = idle(&mut parties, Duration::from_millis(50), &Pinning::find()).unwrap();
        assert!(idled.cpu_ms < 25.0, "{idled:?}");
        assert!(idled.release_us > 0.0, "{idled:?}");
    }

    /// A barrier whose wait burns 20 ms of processor time.
    struct Busy;

    impl Party for Busy {
        fn wait(&mut self) {
            let start = cpu_time();
            while cpu_time() - start < Duration::from_millis(20) {}
        }
    }

    #[test]
    fn who_does_not_sleep_is_seen() {
        let mut parties: Parties = vec![Box::new(Busy), Box::new(Busy)];
        let idled = idle(&mut parties, Duration::ZERO, &Pinning::find()).unwrap();
        assert!(idled.cpu_ms >= 19.0, "{idled:?}");
    }

    #[test]
    fn no_thread_waits_alone() {
        let mut parties = rows::all().remove(0).build(1).unwrap();
        let idled = idle(&mut parties, Duration::ZERO, &Pinning::find()).unwrap();
        assert_eq!(idled.cpu_ms, 0.0);
    }
}
