//! What processors do with a queue.

use throng::machine::SplitMix64;

use super::Can;

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Push if there is room.
    TryPush,
    /// Push, and wait for room.
    Push,
    /// Push, and wait for room for so long, by the world's clock.
    PushFor(u64),
    /// Pop if there is an item.
    TryPop,
    /// Pop, and wait for an item.
    Pop,
    /// Pop, and wait for an item for so long.
    PopFor(u64),
    /// Pop, and wait for items, until told that it is closed.
    PopAll,
    /// Close.
    Close,
    /// Do something else for so long.
    Pause(u32),
}

/// A random program of so many steps that never waits for ever. Every processor has its own.
#[must_use]
pub fn program(can: Can, waits: bool, seed: u64, processor: usize, steps: usize) -> Vec<Step> {
    let mut random = SplitMix64::from_state(SplitMix64::mix(seed) ^ processor as u64);
    // Some push more, some pop more, and some do both alike.
    let pushes = 1 + random.below(5);
    let mut step = || {
        let (side, how) = (random.below(6), random.below(8));
        match (side < pushes, how) {
            (_, 7) if can.be_closed && random.below(8) == 0 => Step::Close,
            (true, 0 | 1) if waits => Step::PushFor(random.below(300)),
            (false, 0 | 1) if waits => Step::PopFor(random.below(300)),
            (true, _) => Step::TryPush,
            (false, _) => Step::TryPop,
        }
    };
    (0..steps).map(|_| step()).collect()
}
