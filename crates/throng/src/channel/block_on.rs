//! A thread that waits as a task does: it polls, and sleeps until it is woken.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::task::{Poll, Wake, Waker};

use crate::machine::{Line, Machine, Place, WayOut, Word};

const ASLEEP: u64 = 0;
const WOKEN: u64 = 1;

/// What wakes the thread.
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

/// Polls until the answer is ready, and returns it; `None` if the way out opened first.
///
/// `poll` must see to it that the waker is called before the answer is ready.
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
