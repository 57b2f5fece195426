//! Coroutines: a processor's stack, and switching to it and back.
//!
//! The engine resumes one coroutine at a time. A coroutine can suspend itself at any point of its
//! code, any number of calls deep. So that [`suspend`] needs no argument, the way back to the
//! engine is kept in a thread-local. Stacks are kept for the next simulation on this thread.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::thread;

use corosensei::stack::DefaultStack;
use corosensei::{CoroutineResult, Yielder};

thread_local! {
    /// The way back to the engine from the coroutine that is running, or null if none is.
    static WAY_BACK: Cell<*const Yielder<(), ()>> = const { Cell::new(ptr::null()) };
}

/// Sets [`WAY_BACK`] when dropped, on return and on unwinding.
struct SetWayBack(*const Yielder<(), ()>);

impl Drop for SetWayBack {
    fn drop(&mut self) {
        WAY_BACK.set(self.0);
    }
}

/// A body that runs on a stack of its own.
pub(crate) struct Coroutine<R>(corosensei::Coroutine<(), (), R>);

impl<R: 'static> Coroutine<R> {
    /// Prepares to run `body`, which begins with the first [`resume`](Coroutine::resume).
    ///
    /// # Errors
    /// When the operating system gives no memory for the stack.
    pub(crate) fn new(stack_bytes: usize, body: impl FnOnce() -> R + 'static) -> io::Result<Self> {
        let stack = take_stack(stack_bytes)?;
        let coroutine = corosensei::Coroutine::with_stack(stack, |way_back, ()| {
            WAY_BACK.set(way_back);
            body()
        });
        Ok(Coroutine(coroutine))
    }

    /// Runs the body until it suspends itself, or to its end. Returns its result at the end, `None`
    /// before.
    ///
    /// # Panics
    /// With the panic of the body.
    #[inline]
    pub(crate) fn resume(&mut self) -> Option<R> {
        let _none_runs_afterwards = SetWayBack(ptr::null());
        match self.0.resume(()) {
            CoroutineResult::Yield(()) => None,
            CoroutineResult::Return(result) => Some(result),
        }
    }

    /// Ends the coroutine where it is, running the destructors of everything on its stack, and
    /// keeps the stack for another coroutine.
    ///
    /// # Errors
    /// With the panic of the body, if it caught the unwinding and then panicked.
    pub(crate) fn end(mut self, stack_bytes: usize) -> thread::Result<()> {
        let _none_runs_afterwards = SetWayBack(ptr::null());
        let ended = catch_unwind(AssertUnwindSafe(|| self.0.force_unwind()));
        keep_stack(stack_bytes, self.0.into_stack());
        ended
    }
}

/// Switches to the engine. Returns when the coroutine is resumed.
///
/// Unwinds instead if the coroutine is being [ended](Coroutine::end).
///
/// # Panics
/// If no coroutine is running.
#[inline]
pub(crate) fn suspend() {
    let way_back = WAY_BACK.get();
    assert!(!way_back.is_null(), "only a coroutine can be suspended");
    let _mine_again_afterwards = SetWayBack(way_back);
    // SAFETY: while `WAY_BACK` is not null, it points to the yielder of the running coroutine. It
    // is set when a body begins and again whenever one is resumed, before anything else happens
    // there. It is made null whenever control is back with the engine. The yielder is on that
    // coroutine's stack, which exists as long as code runs on it, and so for this call.
    let way_back = unsafe { &*way_back };
    way_back.suspend(());
}

/// Stacks that no coroutine is using.
struct SpareStacks {
    /// The size of each stack.
    stack_bytes: usize,
    stacks: Vec<DefaultStack>,
}

/// The largest number of spare stacks. Each holds on to the few pages that were ever touched.
const SPARE_STACKS_MAX: usize = 1024;

thread_local! {
    static SPARE: RefCell<SpareStacks> = const {
        RefCell::new(SpareStacks { stack_bytes: 0, stacks: Vec::new() })
    };
}

fn take_stack(stack_bytes: usize) -> io::Result<DefaultStack> {
    let spare = SPARE.with_borrow_mut(|spare| {
        if spare.stack_bytes == stack_bytes { spare.stacks.pop() } else { None }
    });
    spare.map_or_else(|| DefaultStack::new(stack_bytes), Ok)
}

fn keep_stack(stack_bytes: usize, stack: DefaultStack) {
    SPARE.with_borrow_mut(|spare| {
        if spare.stack_bytes != stack_bytes {
            spare.stacks.clear();
            spare.stack_bytes = stack_bytes;
        }
        if spare.stacks.len() < SPARE_STACKS_MAX {
            spare.stacks.push(stack);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    const STACK_BYTES: usize = 128 << 10;

    #[test]
    fn two_coroutines_take_turns() {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let mut crew: Vec<_> = (0..2)
            .map(|id| {
                let seen = Rc::clone(&seen);
                let body = move || {
                    for step in 0..3 {
                        seen.borrow_mut().push((step, id));
                        suspend();
                    }
                    id
                };
                Coroutine::new(STACK_BYTES, body).unwrap()
            })
            .collect();
        for _ in 0..3 {
            assert!(crew.iter_mut().all(|c| c.resume().is_none()));
        }
        assert_eq!(crew[0].resume(), Some(0));
        assert_eq!(crew[1].resume(), Some(1));
        assert_eq!(*seen.borrow(), [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
    }

    #[test]
    fn ending_runs_destructors_even_if_the_body_catches_the_unwinding() {
        let alive = Rc::new(());
        let inside = Rc::clone(&alive);
        let body = move || {
            let _kept = inside;
            loop {
                let _ = catch_unwind(suspend);
                suspend();
            }
        };
        let mut coroutine = Coroutine::<()>::new(STACK_BYTES, body).unwrap();
        assert!(coroutine.resume().is_none());
        assert_eq!(Rc::strong_count(&alive), 2);
        coroutine.end(STACK_BYTES).unwrap();
        assert_eq!(Rc::strong_count(&alive), 1);
        assert!(WAY_BACK.get().is_null());
    }

    #[test]
    fn stacks_are_used_again() {
        let spare = || SPARE.with_borrow(|spare| spare.stacks.len());
        let before = spare();
        for _ in 0..3 {
            let mut coroutine = Coroutine::new(STACK_BYTES, || 1).unwrap();
            assert_eq!(coroutine.resume(), Some(1));
            coroutine.end(STACK_BYTES).unwrap();
        }
        assert_eq!(spare(), before.max(1));
    }
}
