//! How long a pause instruction takes here.

use std::hint::spin_loop;
use std::sync::OnceLock;
use std::time::Instant;

/// Picoseconds that a pause takes on this processor, measured when first asked for: that takes some ten
/// microseconds.
pub(in crate::machine) fn pause_ps() -> u32 {
    static PAUSE_PS: OnceLock<u32> = OnceLock::new();
    *PAUSE_PS.get_or_init(measure)
}

/// The shortest of some tries: whoever is interrupted takes longer.
fn measure() -> u32 {
    const TRIES: u32 = 8;
    const PAUSES: u32 = 64;
    /// As on a processor whose pause is a cycle or two, and as on one that has gone to sleep.
    const LEAST_PS: u128 = 250;
    const MOST_PS: u128 = 1_000_000;
    let try_once = |_| {
        let start = Instant::now();
        (0..PAUSES).for_each(|_| spin_loop());
        start.elapsed().as_nanos() * 1000 / u128::from(PAUSES)
    };
    let shortest = (0..TRIES).map(try_once).min().unwrap_or(MOST_PS);
    shortest.clamp(LEAST_PS, MOST_PS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Cpu, Machine, Native};

    #[test]
    fn pauses_take_as_long_as_they_should_or_longer() {
        let cpu = Native::cpu();
        let took = |nanoseconds| {
            let start = Instant::now();
            cpu.pause(Native::pauses_in(nanoseconds));
            start.elapsed().as_nanos() as u32
        };
        assert_eq!(Native::pauses_in(0), 0);
        // The shortest of many: others may have the core in between.
        let shortest = (0..100).map(|_| took(20_000)).min().unwrap();
        assert!((10_000..60_000).contains(&shortest), "{shortest} ns instead of 20 000");
    }
}
