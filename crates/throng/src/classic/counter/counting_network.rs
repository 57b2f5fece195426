//! The bitonic counting network (Aspnes, Herlihy and Shavit 1994; DT96 section 3.3.1 "CNet").
//!
//! Wires are joined in pairs by balancers. A token enters on any wire. Each balancer sends the
//! tokens that it sees alternately to its two outputs. A counter at the end of wire i hands out i,
//! i + w, i + 2w, ... On whichever wires the tokens entered, when all have left, the numbers of
//! tokens that left on wires 0, 1, 2, ... form a step. So no number is missing.
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
//! *Quiescently consistent*; *wait-free*, but *blocking* with [`LockedNumber`]s. The depth is
//! k(k+1)/2 for width w = 2^k. *Memory*: a line for each of the w·k(k+1)/4 balancers and w outputs.
//! *When to use it*: for comparison, or where hundreds of cores ask at once: it has no hot spot,
//! but long paths.
//!
//! Toggles and counters are [`Number`]s. An [`AtomicNumber`] is one `fetch_add`. A [`LockedNumber`]
//! is what DT96 measured: a number under a test-and-test-and-set lock with exponential backoff. As
//! in DT96, tokens enter on a random wire.

use std::marker::PhantomData;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::{About, Consistency, Counting, Method, Progress, Shape, ShapeError};
use crate::lock::{Backoff, MOST_BACKOFF};
use crate::machine::{Cpu, Line, Machine, Native, Place, Word};

/// A number to which processors add: the toggles and the counters of a network.
pub trait Number<M: Machine>: Send + Sync + Sized + 'static {
    /// The description of a network of such numbers.
    const ABOUT: About;

    /// Returns a number on a line of its own. If it has a lock, a processor that finds it taken
    /// idles for at most `backoff` units of [`Cpu::pause`] between two looks.
    fn new(value: u64, place: Place, backoff: u32) -> Self;

    /// Adds `value` to the number in one step, and returns the number before.
    fn fetch_add(&self, cpu: &M::Cpu, value: u64) -> u64;
}

/// A number that is one word, changed by the machine's `fetch_add`.
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

/// A number under a test-and-test-and-set lock with exponential backoff, both on one line.
///
/// The lock is exactly DT96's: it is read before it is tried, and a processor that finds it taken
/// looks again after a random time, up to twice as long each time.
/// ([`BackoffLock`](crate::lock::BackoffLock) tries first and sleeps until the lock is
/// free. It is faster for few processors, but all sleeping processors wake at once.)
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
/// let counter = throng::structures::counter::CountingNetwork::new(8)?;
/// assert_eq!(counter.next() + counter.next(), 1);
/// # Ok::<(), throng::structures::counter::ShapeError>(())
/// ```
#[derive(Debug)]
pub struct CountingNetwork<M: Machine = Native, N = AtomicNumber<M>> {
    wiring: Wiring,
    /// The number of tokens that have passed each balancer.
    toggles: Box<[N]>,
    /// The next number of each output wire.
    outputs: Box<[N]>,
    machine: PhantomData<M>,
}

/// The width of the widest network: 78 balancers deep, 25 MB.
const MAX_WIDTH: usize = 1 << 12;

impl<M: Machine, N: Number<M>> CountingNetwork<M, N> {
    /// Returns a network on machine `M`.
    ///
    /// # Errors
    /// If `width` is not a power of two, or above 4096.
    pub fn on_machine(width: usize) -> Result<Self, ShapeError> {
        Self::with_backoff(width, MOST_BACKOFF)
    }

    /// Like [`on_machine`](Self::on_machine), but with a longest backoff of `backoff` units of
    /// [`Cpu::pause`] for locks, if it has any.
    ///
    /// # Errors
    /// If `width` is not a power of two, or above 4096.
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
    /// Returns a network of `width` wires.
    ///
    /// # Errors
    /// If `width` is not a power of two, or above 4096.
    pub fn new(width: usize) -> Result<Self, ShapeError> {
        Self::on_machine(width)
    }

    /// Returns the next number.
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

/// The end of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The wire leads to this balancer.
    Balancer(u32),
    /// The wire is this output of the network.
    Output(u32),
}

/// The wires of a network. Every wire leads to an output, or to a balancer of a lower number than
/// the one it comes from.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Wiring {
    /// The end of each input wire of the network.
    pub inputs: Box<[End]>,
    /// The ends of the two output wires of each balancer.
    pub balancers: Vec<[End; 2]>,
}

impl Wiring {
    /// Returns the wires of `Bitonic[width]`, for a power of two.
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

    /// Adds a bitonic network that leads to `outputs`, and returns its inputs. Networks are built
    /// backwards from their outputs, so that the end of every wire is known when the wire is made.
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

    /// Adds a merging network that leads to `outputs`, and returns its inputs.
    fn add_merger(&mut self, outputs: &[End]) -> Vec<End> {
        let last: Vec<End> =
            outputs.chunks_exact(2).map(|pair| self.add_balancer([pair[0], pair[1]])).collect();
        if last.len() == 1 {
            return vec![last[0]; 2];
        }
        // The i-th outputs of both smaller mergers meet in the i-th last balancer. One takes the
        // even wires of the upper half and the odd wires of the lower half; the other takes the
        // rest.
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

    /// Builds a network of the shape's width. By default it has a wire for every four processors:
    /// the paper found width 64 best for 256 processors.
    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let default = || (shape.processors / 4).next_power_of_two().clamp(2, MAX_WIDTH);
        Self::with_backoff(shape.width.unwrap_or_else(default), shape.backoff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs tokens through the wiring one after another. Returns the number of tokens that left on
    /// each wire.
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
        /// The counts on the outputs form a step, wherever the tokens enter.
        #[test]
        fn outputs_form_a_step(k in 0_u32..6, entries in prop::collection::vec(0_usize..64, 0..200)) {
            let left = push(&Wiring::bitonic(1 << k), &entries);
            let (most, least) = (left[0], left[left.len() - 1]);
            prop_assert!(most - least <= 1 && left.is_sorted_by(|a, b| a >= b), "{left:?}");
        }
    }
}
