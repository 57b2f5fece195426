//! A thread that waits like a task: it polls, and sleeps until its waker is called.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::task::{Poll, Wake, Waker};

use crate::machine::{Line, Machine, Place, WayOut, Word};

/// The waker was not called since the last swap.
const ASLEEP: u64 = 0;
/// The waker was called since the last swap.
const WOKEN: u64 = 1;

/// The waker of a blocked thread.
struct Bell<M: Machine> {
    state: Line<M::Word>,
}

impl<M: Machine> Wake for Bell<M>
where
    M::Word: 'static,
{
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.state.signal(WOKEN);
    }
}

/// Polls until the answer is ready, and returns it. Returns `None` if the way out opened first.
///
/// `poll` must make sure that the waker is called once the answer is ready.
///
/// The swap reads the `WOKEN` that ended the sleep, so the next poll sees what the waking thread did before. A second
/// wake-up between the two is overwritten, and that poll sees what was done before that one, too.
pub fn block_on<M: Machine, R>(
    cpu: &M::Cpu,
    way_out: &WayOut<'_, M>,
    mut poll: impl FnMut(&Waker) -> Poll<R>,
) -> Option<R>
where
    M::Word: 'static,
{
    let bell = Arc::new(Bell::<M> { state: Line::word::<M>(ASLEEP, Place::named("bell")) });
    let waker = Waker::from(Arc::clone(&bell));
    loop {
        if let Poll::Ready(answer) = poll(&waker) {
            return Some(answer);
        }
        bell.state.sleep_while(cpu, Acquire, way_out, |state| state == ASLEEP)?;
        bell.state.swap(ASLEEP, AcqRel);
    }
}
