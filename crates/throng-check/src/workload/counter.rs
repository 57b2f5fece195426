//! A counter with a recorder.

use throng::machine::Machine;
use throng::structures::counter::{About, Counting, Registered, Shape};

use crate::history::{Call, Recorder};
use crate::spec::{Violation, check_counter};

/// A counter with a recorder.
///
/// ```
/// use throng::structures::counter::{Shape, methods};
/// use throng::machine::Native;
/// use throng_check::workload::Observed;
///
/// let observed = Observed::new(&methods::<Native>()[0], &Shape::for_processors(2));
/// observed.count(&Native::cpu(), 3);
/// assert_eq!(observed.verdict(), Ok(()));
/// ```
pub struct Observed<M: Machine> {
    about: About,
    counter: Box<dyn Counting<M>>,
    recorder: Recorder,
}

impl<M: Machine> Observed<M> {
    /// Returns a new counter of `method`.
    ///
    /// # Panics
    /// If the method refuses the shape.
    #[must_use]
    pub fn new(method: &Registered<M>, shape: &Shape) -> Self {
        let counter = method.build(shape);
        Observed {
            about: method.about,
            counter: counter.unwrap_or_else(|error| panic!("{}: {error}", method.about.name)),
            recorder: Recorder::default(),
        }
    }

    /// Makes `calls` calls on processor `cpu`.
    pub fn count(&self, cpu: &M::Cpu, calls: usize) {
        for _ in 0..calls {
            self.recorder.call(|| self.counter.next_on(cpu));
        }
    }

    /// Returns the calls so far.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.recorder.calls()
    }

    /// Returns whether the counter kept its promises.
    ///
    /// # Errors
    /// The promise it broke.
    pub fn verdict(&self) -> Result<(), Violation> {
        check_counter(&self.about, &self.calls())
    }

    /// Panics if the counter broke a promise, naming both.
    ///
    /// # Panics
    /// See above.
    pub fn assert_kept(&self) {
        if let Err(violation) = self.verdict() {
            panic!("{} broke its promise: {violation}", self.about.name);
        }
    }
}

impl<M: Machine> std::fmt::Debug for Observed<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observed")
            .field("method", &self.about.name)
            .field("recorder", &self.recorder)
            .finish_non_exhaustive()
    }
}
