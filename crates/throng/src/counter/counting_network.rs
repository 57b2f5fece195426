//! The bitonic counting network (Aspnes, Herlihy and Shavit 1994; DT96 section 3.3.1 "CNet").
//!
//! Wires joined in pairs by balancers. A token enters on any wire; each balancer sends the tokens
//! it sees alternately to its two outputs; a counter at the end of wire i hands out i, i + w,
//! i + 2w, ... However the tokens entered, at rest the numbers of tokens that left on wires 0, 1, 2,
//! ... form a step, so no number is missing.
//!
//! ```text
//!   Bitonic[4]:   x0 ──┬───────┬─────┬── 0, 4, 8 ..      ┬ a balancer: one toggle,
//!                 x1 ──┴──┬────┼─────┴── 1, 5, 9 ..      ┴ two wires in, two wires out
//!                 x2 ──┬──┴────┼─────┬── 2, 6, 10 ..
//!                 x3 ──┴───────┴─────┴── 3, 7, 11 ..
//! ```
//!
//! `Bitonic[2k]` is two `Bitonic[k]` side by side, followed by `Merger[2k]`. `Merger[2k]` sends the
//! even wires of one half and the odd wires of the other to one `Merger[k]`, the rest to another,
//! and joins their i-th outputs by a last balancer.
//!
//! *Quiescently consistent*; *wait-free*, but *blocking* with [`LockedNumber`]s. Depth k(k+1)/2 for
//! width w = 2^k. *Memory*: a line for each of the w·k(k+1)/4 balancers and w outputs. *When to use
//! it*: to compare with, or where hundreds of cores ask at once: it has no hot spot, but a long way
//! through.
//!
//! Toggles and counters are [`Number`]s: an [`AtomicNumber`] is one `fetch_add`, a [`LockedNumber`]
//! is what DT96 measured, a test-and-test-and-set lock with exponential backoff and a number behind
//! it. Entry is on a random wire, as there.

use std::marker::PhantomData;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::{About, Consistency, Counting, Method, Progress, Shape, ShapeError};
use crate::lock::{Backoff, MOST_BACKOFF};
use crate::machine::{Cpu, Line, Machine, Native, Place, Word};

/// A number that processors add to: the toggles and the counters of a network.
pub trait Number<M: Machine>: Send + Sync + Sized + 'static {
    /// What the network of such numbers says of itself.
    const ABOUT: About;

    /// A number on a line of its own. Where it has a lock, those who find it taken idle for at
    /// most `backoff` units of [`Cpu::pause`] before they look again.
    fn new(value: u64, place: Place, backoff: u32) -> Self;

    /// Adds to the number and returns what it was, as one step.
    fn fetch_add(&self, cpu: &M::Cpu, value: u64) -> u64;
}

/// A word that the machine itself adds to.
#[derive(Debug)]
pub struct AtomicNumber<M: Machine = Native>(Line<M::Word>);

impl<M: Machine> Number<M> for AtomicNumber<M> {
    const ABOUT: About = About {
        name: "counting-network",
        summary: "a bitonic network of toggles, a counter at each output",
        paper: "Aspnes et al. 1994; DT96, CNet",
        consistency: Consistency::Quiescent,
        progress: Progress::WaitFree,
    };

    fn new(value: u64, place: Place, _backoff: u32) -> Self {
        AtomicNumber(Line::word::<M>(value, place))
    }

    #[inline]
    fn fetch_add(&self, _cpu: &M::Cpu, value: u64) -> u64 {
        self.0.fetch_add(value, AcqRel)
    }
}

/// A number under a test-and-test-and-set lock with exponential backoff, neighbours on one line.
///
/// The lock is DT96's to the letter: it is read before it is tried, and whoever finds it taken looks
/// again after a random time, up to twice as long each time. ([`BackoffLock`](crate::lock::BackoffLock)
/// tries first and sleeps until the lock is free: faster for few, but those who sleep wake all at
/// once.)
///
/// ## Memory ordering
/// The compare-exchange that finds the lock free acquires what the store that freed it released.
#[derive(Debug)]
pub struct LockedNumber<M: Machine = Native>(Line<Inner<M>>);

#[derive(Debug)]
struct Inner<M: Machine> {
    lock: M::Word,
    /// Changed under the lock.
    number: M::Word,
    most_backoff: u32,
}

impl<M: Machine> Number<M> for LockedNumber<M> {
    const ABOUT: About = About {
        name: "counting-network-locked",
        summary: "a bitonic network of toggles and counters, each under a lock with backoff",
        paper: "DT96, CNet",
        consistency: Consistency::Quiescent,
        progress: Progress::Blocking,
    };

    fn new(value: u64, place: Place, backoff: u32) -> Self {
        LockedNumber(Line::new::<M>(place, |spot| Inner {
            lock: M::Word::new(0, spot),
            number: M::Word::new(value, spot),
            most_backoff: backoff,
        }))
    }

    #[inline]
    fn fetch_add(&self, cpu: &M::Cpu, value: u64) -> u64 {
        let Inner { lock, number, most_backoff } = &*self.0;
        let mut backoff = Backoff::new(*most_backoff);
        let mut round = 0;
        while lock.load(Relaxed) != 0 || lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            backoff.idle(cpu);
            cpu.retry(round);
            round += 1;
        }
        let before = number.load(Relaxed);
        number.store(before.wrapping_add(value), Relaxed);
        lock.store(0, Release);
        before
    }
}

/// A counter behind a bitonic network of balancers.
///
/// ```
/// let counter = throng::counter::CountingNetwork::new(8)?;
/// assert_eq!(counter.next() + counter.next(), 1);
/// # Ok::<(), throng::counter::ShapeError>(())
/// ```
#[derive(Debug)]
pub struct CountingNetwork<M: Machine = Native, N = AtomicNumber<M>> {
    wiring: Wiring,
    /// How many tokens have passed each balancer.
    toggles: Box<[N]>,
    /// The next number of each output wire.
    outputs: Box<[N]>,
    machine: PhantomData<M>,
}

/// The widest network: 78 balancers deep, 25 MB.
const MAX_WIDTH: usize = 1 << 12;

impl<M: Machine, N: Number<M>> CountingNetwork<M, N> {
    /// A network on machine `M`.
    ///
    /// # Errors
    /// When `width` is not a power of two, or above 4096.
    pub fn on_machine(width: usize) -> Result<Self, ShapeError> {
        Self::with_backoff(width, MOST_BACKOFF)
    }

    /// The same, with locks, where it has any, for which processors idle at most so long at a
    /// time, in units of [`Cpu::pause`].
    ///
    /// # Errors
    /// When `width` is not a power of two, or above 4096.
    pub fn with_backoff(width: usize, backoff: u32) -> Result<Self, ShapeError> {
        if !width.is_power_of_two() || width > MAX_WIDTH {
            let allowed = format!("a power of two from 1 to {MAX_WIDTH}");
            return Err(ShapeError::new("width", width, allowed));
        }
        let wiring = Wiring::bitonic(width);
        let toggle = |i| N::new(0, Place::named("toggle").index(i), backoff);
        let output = |i| N::new(i as u64, Place::named("output").index(i), backoff);
        Ok(CountingNetwork {
            toggles: (0..wiring.balancers.len()).map(toggle).collect(),
            outputs: (0..width).map(output).collect(),
            wiring,
            machine: PhantomData,
        })
    }
}

impl CountingNetwork {
    /// A network of `width` wires.
    ///
    /// # Errors
    /// When `width` is not a power of two, or above 4096.
    pub fn new(width: usize) -> Result<Self, ShapeError> {
        Self::on_machine(width)
    }

    /// The next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine, N: Number<M>> Counting<M> for CountingNetwork<M, N> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        let mut at = self.wiring.inputs[cpu.random_below(self.wiring.inputs.len())];
        loop {
            match at {
                End::Balancer(b) => {
                    let side = self.toggles[b as usize].fetch_add(cpu, 1) & 1;
                    at = self.wiring.balancers[b as usize][side as usize];
                }
                End::Output(wire) => {
                    return self.outputs[wire as usize].fetch_add(cpu, self.outputs.len() as u64);
                }
            }
        }
    }
}

/// Where a wire ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At this balancer.
    Balancer(u32),
    /// It is this output of the network.
    Output(u32),
}

/// Which wire leads where. Every wire leads to an output, or to a balancer of a lower number than the
/// one it comes from.
#[derive(Debug, Default)]
pub struct Wiring {
    /// Where each input wire of the network ends.
    pub inputs: Box<[End]>,
    /// Where the two output wires of each balancer end.
    pub balancers: Vec<[End; 2]>,
}

impl Wiring {
    /// `Bitonic[width]`, for a power of two.
    #[must_use]
    pub fn bitonic(width: usize) -> Self {
        let mut wiring = Wiring::default();
        let outputs: Vec<End> = (0..width as u32).map(End::Output).collect();
        wiring.inputs = wiring.add_bitonic(&outputs).into();
        wiring
    }

    fn add_balancer(&mut self, outputs: [End; 2]) -> End {
        self.balancers.push(outputs);
        End::Balancer(self.balancers.len() as u32 - 1)
    }

    /// Adds a bitonic network that leads to `outputs`; returns its inputs. Networks are built from
    /// their outputs backwards, so that every wire knows its end when it is made.
    fn add_bitonic(&mut self, outputs: &[End]) -> Vec<End> {
        if outputs.len() == 1 {
            return outputs.to_vec();
        }
        let merger = self.add_merger(outputs);
        let (upper, lower) = merger.split_at(outputs.len() / 2);
        let mut inputs = self.add_bitonic(upper);
        inputs.extend(self.add_bitonic(lower));
        inputs
    }

    /// Adds a merging network that leads to `outputs`; returns its inputs.
    fn add_merger(&mut self, outputs: &[End]) -> Vec<End> {
        let last: Vec<End> =
            outputs.chunks_exact(2).map(|pair| self.add_balancer([pair[0], pair[1]])).collect();
        if last.len() == 1 {
            return vec![last[0]; 2];
        }
        // The i-th outputs of both smaller mergers meet in the i-th last balancer. One takes the
        // even wires of the upper half and the odd wires of the lower half; the other the rest.
        let even_first = self.add_merger(&last);
        let odd_first = self.add_merger(&last);
        let half = last.len();
        let (mut even, mut odd) = (even_first.into_iter(), odd_first.into_iter());
        (0..2 * half)
            .map(|wire| {
                let goes_even = (wire % 2 == 0) == (wire < half);
                if goes_even { even.next() } else { odd.next() }
            })
            .map(|end| end.expect("each smaller merger takes half the wires"))
            .collect()
    }
}

impl<M: Machine, N: Number<M>> Method<M> for CountingNetwork<M, N> {
    const ABOUT: About = N::ABOUT;

    /// The paper found width 64 best for 256 processors.
    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let default = || (shape.processors / 4).next_power_of_two().clamp(2, MAX_WIDTH);
        Self::with_backoff(shape.width.unwrap_or_else(default), shape.backoff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs tokens through the wiring one after another; returns how many left on each wire.
    fn push(wiring: &Wiring, entries: &[usize]) -> Vec<usize> {
        let mut toggles = vec![0; wiring.balancers.len()];
        let mut left = vec![0; wiring.inputs.len()];
        for &entry in entries {
            let mut at = wiring.inputs[entry % wiring.inputs.len()];
            while let End::Balancer(b) = at {
                let b = b as usize;
                at = wiring.balancers[b][toggles[b]];
                toggles[b] = 1 - toggles[b];
            }
            if let End::Output(wire) = at {
                left[wire as usize] += 1;
            }
        }
        left
    }

    #[test]
    fn the_size_is_that_of_the_paper() {
        for k in 0..8 {
            let width = 1 << k;
            let wiring = Wiring::bitonic(width);
            assert_eq!(wiring.inputs.len(), width);
            assert_eq!(wiring.balancers.len(), width * k * (k + 1) / 4);
        }
    }

    #[test]
    fn a_width_that_is_no_power_of_two_is_refused() {
        for width in [0, 3, 6, 8192] {
            let error = CountingNetwork::new(width).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("width {width}: must be a power of two")),
                "{error}"
            );
        }
    }

    proptest! {
        /// Wherever the tokens enter, the counts on the outputs form a step.
        #[test]
        fn outputs_form_a_step(k in 0_u32..6, entries in prop::collection::vec(0_usize..64, 0..200)) {
            let left = push(&Wiring::bitonic(1 << k), &entries);
            let (most, least) = (left[0], left[left.len() - 1]);
            prop_assert!(most - least <= 1 && left.is_sorted_by(|a, b| a >= b), "{left:?}");
        }
    }
}
