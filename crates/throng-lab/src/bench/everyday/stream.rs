//! One producer and one consumer.

use super::team::{Figures, Order};
use crate::bench::queues::items::Item;
use crate::bench::queues::mixes::Mix;
use crate::bench::queues::run::{self as queues, Failure};
use crate::bench::queues::seats::Exchange;

/// Measures million items a second; the run is that of `throng bench queues`.
pub(super) fn run<T: Item, X: Exchange<T>>(order: &Order<'_>) -> Result<Figures, Failure> {
    let measured = queues::run::<T, X>(&queues::Order {
        method: order.method,
        mix: Mix::OneProducer,
        threads: order.case.threads,
        times: order.times,
        room: order.room(),
        in_order: order.in_order,
        work_ns: 0,
        pinning: order.pinning,
    })?;
    let value = measured.items as f64 / measured.seconds.max(1e-9) / 1e6;
    Ok(Figures { value, checked: measured.checked, ..Figures::default() })
}
