//! How to wait for messages without occupying a core.
//!
//! MPI's own waiting spins, so no thread here waits inside MPI. A thread looks whether there is a
//! message, and rests between two looks: at first not at all, then by yielding, and when no message
//! has come for some time by a nap that is a part of that time. So a message is delayed by a part
//! of the time it took to come, and an idle rank wakes up a thousand times a second for some
//! microseconds.

use std::time::Duration;

/// What to do between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Look again at once.
    Look,
    /// Yield the core.
    Yield,
    /// Sleep for this time, or until woken.
    Nap(Duration),
}

/// The time for which a thread looks again at once: a message within the same host takes about a
/// microsecond.
const LOOK_NS: u64 = 2_000;
/// The time for which a waiting caller yields before it naps: an answer from another host takes
/// some tens of microseconds.
const CALLER_YIELDS_NS: u64 = 1_000_000;
/// The same for the service thread, for which possibly no caller waits.
const SERVICE_YIELDS_NS: u64 = 100_000;
/// The time between two checks of the service thread while callers of the same rank look for
/// messages. It leaves the work to them, and checks only whether they still look.
const STAND_IN_NS: u64 = 100_000;
/// The divisor of the time without messages that gives the length of a nap. A number of a tree
/// comes through several ranks. Each of them may be napping when its message comes, and naps the
/// longer the more rarely it is asked. With 4 instead, a lone caller and the naps of other ranks
/// kept each other slow.
const PART: u64 = 16;
/// The shortest nap. Shorter ones are not worth the cost of sleeping.
const SHORTEST: Duration = Duration::from_micros(20);

/// Returns how a caller rests that has waited for `waited_ns`.
pub(crate) fn of_caller(waited_ns: u64, longest: Duration) -> Rest {
    match waited_ns {
        0..LOOK_NS => Rest::Look,
        LOOK_NS..CALLER_YIELDS_NS => Rest::Yield,
        _ => nap(waited_ns / PART, longest),
    }
}

/// Returns how the service thread rests when the last message came `idle_ns` ago.
pub(crate) fn of_service(idle_ns: u64, callers_look: bool, longest: Duration) -> Rest {
    match idle_ns {
        _ if callers_look => nap((idle_ns / PART).max(STAND_IN_NS), longest),
        0..LOOK_NS => Rest::Look,
        LOOK_NS..SERVICE_YIELDS_NS => Rest::Yield,
        _ => nap(idle_ns / PART, longest),
    }
}

fn nap(ns: u64, longest: Duration) -> Rest {
    Rest::Nap(Duration::from_nanos(ns).max(SHORTEST).min(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_millis(1);

    #[test]
    fn naps_grow_with_the_wait_and_end_at_the_longest() {
        let mut before = Duration::ZERO;
        for waited_us in (1_000..20_000).step_by(100) {
            let Rest::Nap(nap) = of_caller(waited_us * 1_000, LONGEST) else {
                panic!("a caller that has waited for {waited_us} us does not nap");
            };
            assert!(nap >= before && nap <= LONGEST);
            before = nap;
        }
        assert_eq!(before, LONGEST);
    }

    #[test]
    fn an_idle_service_sleeps() {
        assert_eq!(of_service(u64::MAX, false, LONGEST), Rest::Nap(LONGEST));
        assert_eq!(of_service(u64::MAX, true, LONGEST), Rest::Nap(LONGEST));
    }

    #[test]
    fn a_service_in_use_does_not_sleep_unless_callers_look_themselves() {
        assert_eq!(of_service(0, false, LONGEST), Rest::Look);
        assert_eq!(of_service(50_000, false, LONGEST), Rest::Yield);
        assert!(matches!(of_service(0, true, LONGEST), Rest::Nap(_)));
    }
}
