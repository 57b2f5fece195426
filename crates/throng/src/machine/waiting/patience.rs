//! How long a waiting thread stays awake.

use std::time::Duration;

use crate::setters::setters;
use crate::topology::Topology;

/// The times for which a waiting thread spins and yields before it sleeps.
///
/// ```
/// use std::time::Duration;
/// use throng::machine::Patience;
///
/// let hurried = Patience::default().spin(Duration::from_millis(1));
/// assert!(hurried.spin > Patience::OVERSUBSCRIBED.spin);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patience {
    /// The time for which it spins.
    pub spin: Duration,
    /// The time for which it then yields its core between two looks.
    pub yielding: Duration,
    /// The longest time awake. A thread that slept through an event that was near stays awake
    /// longer the next time, up to this. It yields meanwhile, or spins if `yielding` is zero.
    /// Without that, threads that meet repeatedly could not stop sleeping: a thread that is woken
    /// comes late, and the others have fallen asleep by then.
    pub most_awake: Duration,
}

impl Patience {
    /// For threads that have a core each. It spins for the time of several transfers of a cache
    /// line, or of a system call or two. It does not yield, because a thread that yields to a
    /// neighbour gets its core back after milliseconds.
    pub const DEDICATED: Patience = Patience {
        spin: Duration::from_micros(20),
        yielding: Duration::ZERO,
        most_awake: Duration::from_micros(200),
    };

    /// For more threads than cores: a waiting thread may keep the awaited one from running.
    pub const OVERSUBSCRIBED: Patience = Patience {
        spin: Duration::ZERO,
        yielding: Duration::from_micros(50),
        most_awake: Duration::from_micros(500),
    };

    /// For any number of threads: like [`DEDICATED`](Patience::DEDICATED) at first, then like
    /// [`OVERSUBSCRIBED`](Patience::OVERSUBSCRIBED).
    pub const UNKNOWN: Patience = Patience {
        spin: Duration::from_micros(20),
        yielding: Duration::from_micros(80),
        most_awake: Duration::from_millis(2),
    };

    /// Sleeps at once, for threads whose cores other threads want.
    pub const NONE: Patience =
        Patience { spin: Duration::ZERO, yielding: Duration::ZERO, most_awake: Duration::ZERO };

    /// For a wait for a thread in the middle of a few instructions. It spins for the time of
    /// several transfers of a cache line, much less than a time slice. Then it yields for the time
    /// of some slices.
    pub(super) const IN_PASSING: Patience = Patience {
        spin: Duration::from_micros(2),
        yielding: Duration::from_millis(50),
        most_awake: Duration::from_millis(50),
    };

    /// Returns the time to stay awake in the next wait. This wait stayed awake for `awake`, slept,
    /// and took `waited` altogether.
    pub(super) fn learned(&self, awake: Duration, waited: Duration) -> Duration {
        let next = if waited <= self.most_awake { awake.saturating_mul(2) } else { awake / 2 };
        self.bounded(next)
    }

    /// Returns the allowed time awake that is nearest to `awake`.
    pub(super) fn bounded(&self, awake: Duration) -> Duration {
        awake.min(self.most_awake).max(self.spin.saturating_add(self.yielding))
    }

    /// Returns the patience for `threads` threads that wait for each other on this machine.
    #[must_use]
    pub fn for_threads(threads: usize) -> Self {
        if threads > Topology::here().processors() {
            Patience::OVERSUBSCRIBED
        } else {
            Patience::DEDICATED
        }
    }

    setters!(const fn spin: Duration, yielding: Duration, most_awake: Duration);
}

impl Default for Patience {
    fn default() -> Self {
        Patience::UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_micros;

    #[test]
    fn threads_that_slept_too_soon_stay_awake_longer() {
        let patience = Patience::UNKNOWN;
        let mut awake = patience.bounded(Duration::ZERO);
        assert_eq!(awake, US(100));
        for next in [200, 400, 800, 1600, 2000, 2000] {
            awake = patience.learned(awake, US(300));
            assert_eq!(awake, US(next));
        }
        for next in [1000, 500, 250, 125, 100, 100] {
            awake = patience.learned(awake, US(100_000));
            assert_eq!(awake, US(next));
        }
        let steady = Patience { most_awake: Duration::ZERO, ..patience };
        assert_eq!(steady.learned(US(100), US(10)), US(100), "this one learns nothing");
        let for_ever = Patience { yielding: Duration::MAX, ..patience };
        assert_eq!(for_ever.bounded(US(1)), Duration::MAX, "this one never sleeps");
    }
}
