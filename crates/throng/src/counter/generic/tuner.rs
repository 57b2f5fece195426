//! Runs the policy on behalf of a caller, one caller at a time.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::policy::{STATE_WORDS, State};
use crate::machine::{Line, Machine, Native, NativeWord, Place, Word};

/// No caller is looking.
const FREE: u64 = u64::MAX;

/// The number of windows after which a look that has not ended is given up.
const STALE_WINDOWS: u64 = 64;

/// The state of the policy, which one caller at a time changes.
///
/// It is kept in plain words. If a look that was given up continues after all, it can only confuse
/// the policy for a while.
#[derive(Debug)]
pub(super) struct Tuner<M: Machine> {
    /// The number at which the present look began, or [`FREE`].
    looking: Line<M::Word>,
    state: Line<[M::Word; STATE_WORDS]>,
}

impl Tuner<Native> {
    /// Like [`new`](Tuner::new) for a counter that begins at 0, for constants.
    pub(super) const fn from_zero() -> Self {
        let values = State::new(0).to_words();
        let mut words = [const { NativeWord::constant(0) }; STATE_WORDS];
        let mut index = 0;
        while index < STATE_WORDS {
            words[index] = NativeWord::constant(values[index]);
            index += 1;
        }
        Tuner { looking: Line::of(NativeWord::constant(FREE)), state: Line::of(words) }
    }
}

impl<M: Machine> Tuner<M> {
    pub(super) fn new(state: State) -> Self {
        let words = state.to_words();
        Tuner {
            looking: Line::word::<M>(FREE, Place::named("tuner")),
            state: Line::new::<M>(Place::named("tuner's state"), |spot| {
                words.map(|word| M::Word::new(word, spot))
            }),
        }
    }

    /// Lets `f` change the state if it is `due`, and returns what `f` returned. Returns `None` if
    /// it is not due, or if another caller is looking. The caller drew `number` at the end of a
    /// window of `window` numbers.
    pub(super) fn look<R>(
        &self,
        number: u64,
        window: u64,
        due: impl FnOnce(&State) -> bool,
        f: impl FnOnce(&mut State) -> R,
    ) -> Option<R> {
        let since = self.looking.load(Relaxed);
        let stale = number.saturating_sub(since) > window.saturating_mul(STALE_WINDOWS);
        if since != FREE && !stale {
            return None;
        }
        self.looking.compare_exchange(since, number, Acquire, Relaxed).ok()?;
        let mut state = self.state();
        let result = due(&state).then(|| f(&mut state));
        if result.is_some() {
            for (word, value) in self.state.iter().zip(state.to_words()) {
                word.store(value, Relaxed);
            }
        }
        // Fails if another caller has taken over meanwhile.
        let _ = self.looking.compare_exchange(number, FREE, Release, Relaxed);
        result
    }

    /// Returns a copy of the state, which may be changing.
    pub(super) fn state(&self) -> State {
        State::from_words(std::array::from_fn(|i| self.state[i].load(Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    fn tuner() -> Tuner<Native> {
        Tuner::new(State::new(0))
    }

    #[test]
    fn one_looks_at_a_time_and_then_the_next() {
        let tuner = tuner();
        let inner = tuner.look(
            100,
            10,
            |_| true,
            |state| {
                state.moves = 7;
                tuner.look(110, 10, |_| true, |_| ())
            },
        );
        assert_eq!(inner, Some(None), "another caller is looking");
        assert_eq!(tuner.look(120, 10, |_| true, |state| state.moves), Some(7));
    }

    #[test]
    fn what_is_not_due_leaves_everything_as_it_was() {
        let tuner = tuner();
        assert_eq!(tuner.look(100, 10, |_| false, |state| state.moves = 9), None);
        assert_eq!(tuner.look(101, 10, |_| true, |state| state.moves), Some(0));
    }

    #[test]
    fn a_look_that_never_ends_is_given_up() {
        let tuner = tuner();
        tuner.look(
            100,
            10,
            |_| true,
            |_| {
                let soon = 100 + 10 * STALE_WINDOWS;
                assert_eq!(tuner.look(soon, 10, |_| true, |_| ()), None);
                assert_eq!(tuner.look(soon + 1, 10, |_| true, |state| state.moves = 3), Some(()));
                // While a third look is running, the first one ends.
                tuner.looking.store(soon + 20, Relaxed);
            },
        );
        assert_eq!(tuner.looking.load(Relaxed), 100 + 10 * STALE_WINDOWS + 20, "it is not freed");
    }
}
