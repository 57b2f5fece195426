//! How to wait for messages without burning a core.
//!
//! MPI's own waiting spins, so nobody here ever waits inside MPI: one looks whether there is a
//! message, and rests between two looks. At first not at all, then by giving way to other threads,
//! and when nothing has come for some time by a nap that is a part of that time. So whatever comes
//! is delayed by a part of the time it took to come, and a rank where nothing happens wakes up a
//! thousand times a second for some microseconds.

use std::time::Duration;

/// What to do between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Look again at once.
    Look,
    /// Let other threads run.
    Yield,
    /// Sleep for so long, or until woken.
    Nap(Duration),
}

/// Looks at once for this long: a message within the same host takes about a microsecond.
const LOOK_NS: u64 = 2_000;
/// A waiting caller gives way for this long before it naps: an answer from another host takes some
/// tens of microseconds.
const CALLER_YIELDS_NS: u64 = 1_000_000;
/// The same for the service thread, which nobody may be waiting for.
const SERVICE_YIELDS_NS: u64 = 100_000;
/// While a caller of the same rank looks for messages, the service thread leaves it to them, and
/// looks only whether they are still there.
const STAND_IN_NS: u64 = 100_000;
/// A nap is this part of the time without messages. A number of a tree comes by way of several ranks,
/// each of which may be napping when its message comes, and naps the longer the more rarely it is
/// asked: with a quarter instead, a lone caller and the naps of others kept each other slow.
const PART: u64 = 16;
/// Shorter naps are not worth the way to sleep and back.
const SHORTEST: Duration = Duration::from_micros(20);

/// How a caller rests that has waited for `waited_ns`.
pub(crate) fn of_caller(waited_ns: u64, longest: Duration) -> Rest {
    match waited_ns {
        0..LOOK_NS => Rest::Look,
        LOOK_NS..CALLER_YIELDS_NS => Rest::Yield,
        _ => nap(waited_ns / PART, longest),
    }
}

/// How the service thread rests when the last message came `idle_ns` ago.
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
