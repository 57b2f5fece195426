//! The clock, and sleeping for a time.
//!
//! WebAssembly without the interface of a browser or a system has neither. There the time is the
//! number of reads of the clock, 1 us each, so that every wait with a deadline ends.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod here {
    pub(in crate::machine) use std::thread::sleep;
    pub(in crate::machine) use std::time::Instant;
}

#[cfg(any(test, all(target_family = "wasm", target_os = "unknown")))]
#[cfg_attr(not(all(target_family = "wasm", target_os = "unknown")), allow(dead_code))]
mod counted {
    use std::ops::Sub;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::Duration;

    /// The time that each read of the clock adds, in nanoseconds.
    const A_LOOK_NS: u64 = 1_000;

    static NOW_NS: AtomicU64 = AtomicU64::new(0);

    /// A point in time, like [`std::time::Instant`].
    #[derive(Clone, Copy, Debug)]
    pub(in crate::machine) struct Instant {
        since_start_ns: u64,
    }

    impl Instant {
        pub(in crate::machine) fn now() -> Self {
            let before_ns = NOW_NS.fetch_add(A_LOOK_NS, Relaxed);
            Instant { since_start_ns: before_ns + A_LOOK_NS }
        }

        pub(in crate::machine) fn elapsed(&self) -> Duration {
            let now = Instant::now();
            Duration::from_nanos(now.since_start_ns.saturating_sub(self.since_start_ns))
        }
    }

    impl Sub<Duration> for Instant {
        type Output = Instant;

        fn sub(self, time: Duration) -> Instant {
            Instant { since_start_ns: self.since_start_ns.saturating_sub(whole_ns(time)) }
        }
    }

    /// Advances the time and returns at once.
    pub(in crate::machine) fn sleep(time: Duration) {
        NOW_NS.fetch_add(whole_ns(time), Relaxed);
    }

    fn whole_ns(time: Duration) -> u64 {
        u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
use counted as here;

pub(super) use here::{Instant, sleep};

#[cfg(test)]
mod tests {
    use super::counted::{Instant, sleep};
    use std::time::Duration;

    #[test]
    fn counted_time_passes_by_looks_and_by_sleeps() {
        let start = Instant::now();
        let first = start.elapsed();
        assert!(start.elapsed() > first && first > Duration::ZERO);
        sleep(Duration::from_secs(1));
        assert!(start.elapsed() > Duration::from_secs(1));
    }
}
