//! loom: every schedule of a small run.

use std::cell::Cell as StdCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU64, fence};
use loom::thread;
use throng::machine::{Cell, Cpu, Machine, Place, WayOut, Word};

use super::checker::machine_of_checker;

/// The number of unsuccessful looks of a [sleep](Word::sleep_while) after which the rest of the
/// schedule is run but not varied.
///
/// Two processors that wait can hand the turn to each other for ever while a third is stopped, and
/// loom would follow them. An unsuccessful look changes nothing. So whatever can happen after many
/// looks can happen after few, with no more preemptions, and all of that is tried.
const LOOKS: u32 = 2;

/// The world of loom.
///
/// A bounded spin does not hand the processor over, because that would hide races from loom. With a
/// hand-over, for example, a time-out by a store instead of a compare-exchange would not be found.
/// Only waits without a bound yield.
#[derive(Clone, Copy, Debug)]
pub struct Loom;

impl Loom {
    /// Runs `body` on each of `processors` processors in every schedule with at most `preemptions`
    /// preemptions, on a fresh structure each time, and `verify` after each.
    ///
    /// # Panics
    /// If an assertion fails in some schedule, or loom finds a race or a deadlock.
    pub fn explore<S: Send + Sync + 'static>(
        processors: usize,
        preemptions: usize,
        setup: impl Fn() -> S + Send + Sync + 'static,
        body: impl Fn(&S, &LoomCpu) + Send + Sync + 'static,
        verify: impl Fn(&S) + Send + Sync + 'static,
    ) {
        Loom::explore_to_the_end(processors, preemptions, setup, body, move |shared, _| {
            verify(&shared);
        });
    }

    /// Runs `explore` like on a machine without light fences: there they do nothing.
    pub fn without_light_fences(explore: impl FnOnce()) {
        LightFence::Absent.during(explore);
    }

    /// Runs `explore` on a machine whose light fences order nothing but heavy fences, as those of real threads do.
    /// Heavy fences are not modelled.
    ///
    /// # Panics
    /// If a processor makes a heavy fence.
    pub fn with_one_sided_fences(explore: impl FnOnce()) {
        LightFence::OneSided.during(explore);
    }

    /// Like [`explore`](Loom::explore), but `end` gets the structure itself after each schedule,
    /// and a processor to use it on. No other processor runs then.
    ///
    /// # Panics
    /// Like [`explore`](Loom::explore).
    pub fn explore_to_the_end<S: Send + Sync + 'static>(
        processors: usize,
        preemptions: usize,
        setup: impl Fn() -> S + Send + Sync + 'static,
        body: impl Fn(&S, &LoomCpu) + Send + Sync + 'static,
        end: impl Fn(S, &LoomCpu) + Send + Sync + 'static,
    ) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(preemptions);
        // No limits, not even from the environment: a run cut short would pass as a success.
        builder.max_duration = None;
        builder.max_permutations = None;
        builder.max_branches = 20_000;
        let body = Arc::new(body);
        builder.check(move || {
            let shared = loom::sync::Arc::new(setup());
            let others: Vec<_> = (1..processors)
                .map(|id| {
                    let (shared, body) = (shared.clone(), Arc::clone(&body));
                    thread::spawn(move || body(&shared, &LoomCpu::new(id)))
                })
                .collect();
            body(&shared, &LoomCpu::new(0));
            for other in others {
                other.join().expect("a failed processor ends the run");
            }
            let shared = loom::sync::Arc::try_unwrap(shared);
            end(shared.unwrap_or_else(|_| panic!("all others have ended")), &LoomCpu::new(0));
        });
    }
}

/// What a light fence does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LightFence {
    /// As much as any fence.
    Full,
    /// Nothing: the machine has none.
    Absent,
    /// Nothing, except against heavy fences, which no processor may make.
    OneSided,
}

impl LightFence {
    /// Runs `explore` with light fences of this kind.
    fn during(self, explore: impl FnOnce()) {
        struct Restored;
        impl Drop for Restored {
            fn drop(&mut self) {
                LIGHT_FENCE.set(LightFence::Full);
            }
        }
        LIGHT_FENCE.set(self);
        let _restored = Restored;
        explore();
    }
}

thread_local! {
    /// All processors of a run are on one thread.
    static LIGHT_FENCE: StdCell<LightFence> = const { StdCell::new(LightFence::Full) };
}

machine_of_checker!(
    Loom,
    LoomWord,
    LoomCell,
    LoomCpu,
    fn has_light_fence() -> bool {
        LIGHT_FENCE.get() != LightFence::Absent
    },
    fn light_fence() {
        if LIGHT_FENCE.get() == LightFence::Full {
            Self::fence(Ordering::SeqCst);
        }
    },
    fn heavy_fence() {
        assert!(LIGHT_FENCE.get() != LightFence::OneSided, "heavy fences are not modelled");
        Self::fence(Ordering::SeqCst);
    }
);

/// A loom cell, which reports accesses that are not ordered.
pub struct LoomCell<T>(UnsafeCell<T>);

// SAFETY: as for `NativeCell`: `with_mut` is the only access, its contract excludes overlapping
// accesses, and loom checks that it is kept.
unsafe impl<T: Send> Sync for LoomCell<T> {}

impl<T: Send> Cell<T, Loom> for LoomCell<T> {
    fn new(value: T, _spot: &()) -> Self {
        LoomCell(UnsafeCell::new(value))
    }

    unsafe fn with_mut<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the caller promises that no other access overlaps.
        self.0.with_mut(|content| f(unsafe { &mut *content }))
    }

    fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T> fmt::Debug for LoomCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoomCell").finish_non_exhaustive()
    }
}

/// A processor of loom's world.
#[derive(Debug)]
pub struct LoomCpu {
    id: usize,
    random: StdCell<u64>,
    clock: StdCell<u64>,
}

impl LoomCpu {
    fn new(id: usize) -> Self {
        LoomCpu { id, random: StdCell::new(1), clock: StdCell::new(0) }
    }

    /// Ends the `look`-th unsuccessful look of a wait.
    fn look_again(&self, look: u32) {
        if look >= LOOKS {
            loom::skip_branch();
        }
        thread::yield_now();
    }
}

impl Cpu for LoomCpu {
    fn id(&self) -> usize {
        self.id
    }

    /// Returns the same numbers in every schedule, because loom replays schedules, not choices.
    /// They are also the same on every processor, so that processors that choose a place to meet
    /// choose the same.
    fn random(&self) -> u64 {
        let state = self.random.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.random.set(state);
        state.rotate_left(32)
    }

    fn pause(&self, _times: u32) {}

    fn retry(&self, _round: u32) {
        thread::yield_now();
    }

    /// Counts its own readings: there is no time in this world.
    fn clock(&self) -> u64 {
        self.clock.set(self.clock.get() + 1);
        self.clock.get()
    }
}
