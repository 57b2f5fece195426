//! Loops whose indices are shared out, in a process of their own.

use std::time::Duration;

use super::laps::{Audience, Laps, Measured};
use crate::bench::loops::pass;
use crate::bench::loops::ways::Way;
use crate::bench::loops::work::Size;
use crate::bench::loops::work::{self, Shape, Work};
use crate::error::Error;

/// Returns the way of this name.
pub(super) fn find(name: &str) -> Option<Way> {
    Way::ALL.into_iter().find(|way| way.name() == name)
}

/// Runs the same loop again and again.
///
/// # Errors
/// When an index was not done exactly once in each loop, or the system refuses a thread.
pub(super) fn run(
    way: Way,
    threads: usize,
    shape: Shape,
    size: Size,
    gap: Duration,
    audience: Audience,
) -> Result<Option<Measured>, Error> {
    let load = work::Load::new(shape, size, work::units_a_microsecond());
    let work = Work::new(&load);
    let mut laps = Laps::new(audience);
    let mut loops = 0;
    way.with_threads(threads, |share_out| {
        loop {
            pass(gap);
            laps.restart();
            share_out(&work);
            loops += 1;
            if laps.lap() {
                break;
            }
        }
    })?;
    let method = way.name();
    work.check(loops).map_err(|wrong| wrong.of(method, threads))?;
    Ok(laps.measured())
}
