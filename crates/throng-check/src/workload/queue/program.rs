//! The programs that processors run on a queue.

use throng::machine::SplitMix64;

use super::Can;

/// One step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Push if there is room.
    TryPush,
    /// Push, and wait for room.
    Push,
    /// Push, and wait for room for this time, by the world's clock.
    PushFor(u64),
    /// Pop if there is an item.
    TryPop,
    /// Pop up to this number of items at once if there is one.
    TryPopMany(usize),
    /// Pop, and wait for an item.
    Pop,
    /// Pop, and wait for an item for this time.
    PopFor(u64),
    /// Pop, and wait for items, until the store is closed and empty.
    PopAll,
    /// Close.
    Close,
    /// Do something else for this time.
    Pause(u32),
}

/// Returns a random program of `steps` steps that never waits for ever. Every processor has its
/// own.
#[must_use]
pub fn program(can: Can, waits: bool, seed: u64, processor: usize, steps: usize) -> Vec<Step> {
    let mut random = SplitMix64::from_state(SplitMix64::mix(seed) ^ processor as u64);
    // Some push more, some pop more, and some do both equally.
    let pushes = 1 + random.below(5);
    let mut step = || {
        let (side, how) = (random.below(6), random.below(8));
        match (side < pushes, how) {
            (_, 7) if can.be_closed && random.below(8) == 0 => Step::Close,
            (true, 0 | 1) if waits => Step::PushFor(random.below(300)),
            (false, 0 | 1) if waits => Step::PopFor(random.below(300)),
            (false, 2) if can.pop_many => Step::TryPopMany(3),
            (true, _) => Step::TryPush,
            (false, _) => Step::TryPop,
        }
    };
    (0..steps).map(|_| step()).collect()
}
