//! Building a counter: where it starts, how deep it may grow, and how it chooses its shape.

use std::sync::OnceLock;

use super::ladder;
use super::mode::{FIRST_WINDOW, FLAT_FROM, Mode, NEVER};
use super::policy::{Next, State};
use super::tuner::Tuner;
use super::{Counter, Way};
use crate::ShapeError;
use crate::counter::gathering::{Levels, SLOTS};
use crate::counter::method::{About, Consistency, Method, Progress, Shape};
use crate::machine::{Line, Machine, Place, Word};

/// How a [`Counter`] chooses its shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// By measurement: the default.
    #[default]
    Measured,
    /// Always these levels.
    Stay(Levels),
    /// A random shape after every number: slow, and a hard test of the groups.
    #[doc(hidden)]
    Restless,
}

/// Builds a [`Counter`].
///
/// ```
/// use throng::structures::counter::Counter;
/// let tickets = Counter::builder().start_at(1000).max_depth(1).build();
/// assert_eq!(tickets.next(), 1000);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder makes nothing until `build` is called"]
pub struct Builder {
    start: u64,
    depth: Option<u32>,
    policy: Policy,
    prepared: usize,
    /// For checks: the number of shapes to use, and the number of answers in a bank.
    pub(super) checked: Option<(usize, usize)>,
}

impl Builder {
    /// Sets the largest number of levels of groups, for the policy and for
    /// [`reshape`](Counter::reshape). With 0 the counter stays one word, and so wait-free. By
    /// default a counter uses up to 2.
    pub fn max_depth(mut self, levels: u32) -> Self {
        self.depth = Some(levels);
        self
    }

    /// Sets the first number. 0 by default.
    pub fn start_at(mut self, number: u64) -> Self {
        self.start = number;
        self
    }

    /// Sets how the counter chooses its shape.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Allocates the groups for this number of locations (cores) at once, so that no call allocates
    /// later: a few megabytes for hundreds of cores. 0 by default.
    pub fn prepared_for(mut self, locations: usize) -> Self {
        self.prepared = locations;
        self
    }

    /// Returns the counter, for real threads.
    #[must_use]
    pub fn build(&self) -> Counter {
        self.on_machine()
    }

    /// Returns the counter, on machine `M`.
    #[must_use]
    pub fn on_machine<M: Machine>(&self) -> Counter<M> {
        let depth = self.depth.unwrap_or(u32::MAX);
        let ladder = match self.policy {
            Policy::Restless => ladder::restless(depth),
            Policy::Measured | Policy::Stay(_) => ladder::ladder(depth),
        };
        let (rungs, slots) = self.checked.unwrap_or((ladder.len(), SLOTS));
        let ladder = &ladder[..rungs.min(ladder.len())];
        let counter = Counter {
            root: Line::word::<M>(self.start, Place::named("root")),
            way: Line::new::<M>(Place::named("mode"), |spot| Way {
                mode: M::Word::new(self.first_mode(ladder, depth).0, spot),
                changes: M::Word::new(0, spot),
                groups: OnceLock::new(),
            }),
            tuner: Tuner::new(State::new(self.start)),
            ladder,
            policy: self.policy,
            depth,
            slots,
        };
        if self.prepared > 0 {
            self.prepare(&counter);
        }
        counter
    }

    fn first_mode(&self, ladder: &[Levels], depth: u32) -> Mode {
        let (levels, window) = match self.policy {
            _ if self.start >= FLAT_FROM => return Mode::FLAT_FOR_EVER,
            Policy::Measured if ladder.len() > 1 => (Levels::FLAT, FIRST_WINDOW),
            Policy::Measured => return Mode::FLAT_FOR_EVER,
            Policy::Stay(levels) => (levels.at_most(depth), NEVER),
            Policy::Restless => (ladder[ladder.len() - 1], 0),
        };
        Mode::new(Next { levels, window })
    }

    fn prepare<M: Machine>(&self, counter: &Counter<M>) {
        let stays = match self.policy {
            Policy::Stay(levels) => Some(levels.at_most(counter.depth)),
            Policy::Measured | Policy::Restless => None,
        };
        for &levels in stays.as_slice().iter().chain(counter.ladder) {
            counter.groups().make(levels, self.prepared);
        }
    }
}

impl<M: Machine> Method<M> for Counter<M> {
    const ABOUT: About = About {
        name: "counter",
        summary: "the default: one fetch_add under low contention, groups under high",
        paper: "ours",
        consistency: Consistency::Linearizable,
        progress: Progress::Blocking,
    };

    /// Builds a counter, which needs no shape. With patience 0 it changes its levels at random,
    /// after every number.
    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        if shape.patience > 0 {
            return Ok(Builder::default().on_machine());
        }
        ShapeError::check_range("batches in a bank", shape.bank, 1..=4096)?;
        let widest = shape.width.unwrap_or(shape.processors).max(1);
        let restless = Builder {
            policy: Policy::Restless,
            prepared: shape.processors,
            checked: Some((2 * widest - 1, shape.bank.min(SLOTS))),
            ..Builder::default()
        };
        Ok(restless.on_machine())
    }
}
