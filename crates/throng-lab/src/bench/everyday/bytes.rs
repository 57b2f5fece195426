//! Measures how many bytes a queue keeps allocated.

use super::cases::Fill;
use super::tally::Tally;
use super::team::{Figures, Order};
use crate::bench::queues::items::{Item, Words};
use crate::bench::queues::run::Failure;
use crate::bench::queues::seats::{Exchange, Seat};
use crate::heap;

/// Items of a small queue.
const SMALL: usize = 16;
/// Items of a large queue.
const LARGE: usize = 1 << 20;

/// An item of 16 bytes.
pub(super) type Pair = Words<2>;

/// Counts the bytes of one case.
pub(super) fn run<S: Exchange<Pair>, L: Exchange<u64>>(
    order: &Order<'_>,
    fill: Fill,
) -> Result<Figures, Failure> {
    match fill {
        Fill::Empty => count::<Pair, S>(order, SMALL, 0),
        Fill::Small => count::<Pair, S>(order, SMALL, SMALL),
        Fill::Large => count::<u64, L>(order, LARGE, LARGE),
    }
}

/// Builds a queue with room for `room` items, pushes `items`, and counts its bytes.
fn count<T: Item, X: Exchange<T>>(
    order: &Order<'_>,
    room: usize,
    items: usize,
) -> Result<Figures, Failure> {
    let room = order.bounded.then_some(room);
    // One-time allocations of a thread or the library are not part of a queue.
    fill(&X::build(room), 1, &mut Tally::default());
    let mut tally = Tally::default();
    let (queue, allocated) = heap::kept_by(|| {
        let queue = X::build(room);
        fill(&queue, items, &mut tally);
        queue
    });
    let mut seat = queue.seat(true);
    while let Some(item) = seat.poll() {
        tally.note(&item);
    }
    let checked = tally.verdict(order.in_order).map_err(Failure::Wrong)?;
    Ok(Figures { value: (size_of::<X>() + allocated) as f64, checked, ..Figures::default() })
}

fn fill<T: Item, X: Exchange<T>>(queue: &X, items: usize, tally: &mut Tally) {
    let mut seat = queue.seat(true);
    (0..items).for_each(|_| seat.put(tally.next()));
}
