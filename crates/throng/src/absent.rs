//! Features that the system may lack. A test takes them away and checks that everything works
//! without them.
//!
//! A test runs its own program once more, with the names of absent [`Feature`]s in the environment
//! variable `THRONG_WITHOUT`. Outside unit tests the variable is not read, and every feature is
//! taken to be present.

/// A feature of the system that is used if it is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) enum Feature {
    /// Fences that one thread makes all threads pass.
    Membarrier,
    /// The same, lost after the first structures were made.
    MembarrierLater,
    /// Sleeping until a word changes.
    Futex,
    /// The core time and the preemptions of a thread.
    Usage,
    /// The files in /sys and /proc, and the cores that a thread may use.
    Topology,
}

/// Returns whether a test has taken the feature away.
#[cfg(not(test))]
#[inline(always)]
pub(crate) const fn is_absent(_feature: Feature) -> bool {
    false
}

#[cfg(test)]
pub(crate) use tests::is_absent;

#[cfg(test)]
mod tests {
    use super::Feature;
    use std::env;
    use std::process::Command;
    use std::sync::OnceLock;

    const VARIABLE: &str = "THRONG_WITHOUT";

    pub(crate) fn is_absent(feature: Feature) -> bool {
        static ABSENT: OnceLock<String> = OnceLock::new();
        let absent = ABSENT.get_or_init(|| env::var(VARIABLE).unwrap_or_default());
        absent.split(',').any(|name| name == format!("{feature:?}"))
    }

    /// Runs the tests of the structures in which threads wait, in a program without these features.
    fn run_tests_without(features: &[Feature]) {
        let names: Vec<String> = features.iter().map(|feature| format!("{feature:?}")).collect();
        let own = env::current_exe().expect("the test program knows its path");
        let run = Command::new(own)
            .args(["--test-threads", "4", "pool::", "barrier::", "lock::", "machine::fences::"])
            .env(VARIABLE, names.join(","))
            .output();
        // Under an emulator a program of the emulated machine does not start, and prints nothing.
        let Some(run) = run.ok().filter(|run| !run.stdout.is_empty()) else { return };
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "without {features:?}:\n{text}");
        let ran = text.lines().filter(|line| line.ends_with("... ok")).count();
        assert!(ran > 50, "only {ran} tests ran:\n{text}");
    }

    #[test]
    fn everything_works_without_membarrier() {
        run_tests_without(&[Feature::Membarrier]);
    }

    #[test]
    fn everything_works_when_membarrier_is_lost_later() {
        run_tests_without(&[Feature::MembarrierLater]);
    }

    #[test]
    fn everything_works_without_futex() {
        run_tests_without(&[Feature::Futex]);
    }

    #[test]
    fn everything_works_without_knowing_threads_and_cores() {
        run_tests_without(&[Feature::Usage, Feature::Topology]);
    }

    #[test]
    fn everything_works_without_all_of_them() {
        use Feature::{Futex, Membarrier, Topology, Usage};
        run_tests_without(&[Membarrier, Futex, Usage, Topology]);
    }
}
