//! Queues and pools: no item lost, none popped twice, first in first out, and correct answers.
//!
//! Items have numbers, all different, so that a record shows which pop returned the item of which
//! push.
//!
//! - `conservation`: no item lost, none popped twice, none invented; each producer's items in
//!   order.
//! - `conditions`: conditions on a queue's record whatever its length, in about linear time.
//! - `search`: whether some order of the requests explains all answers. Exact, for few processors.
//!
//! Times may be imprecise as long as every request is recorded to begin no later and to end no
//! earlier than it did; at equal times, beginnings come first.

mod conditions;
mod conservation;
mod lives;
mod search;
#[cfg(test)]
mod tests;

pub use conditions::{check_closing, check_conditions};
pub use conservation::{check_conservation, check_order_of_producers};
pub use search::{Search, check_fifo_exactly};

use std::collections::HashSet;
use std::error::Error;
use std::fmt;

use crate::history::{Answer, Request};

/// The promises of a queue or a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promises {
    /// The order in which items come out.
    pub order: Order,
    /// The largest number of items inside; `None` if there is no bound.
    pub capacity: Option<usize>,
    /// When it may answer that it is full.
    pub fullness: Fullness,
}

/// The order in which items come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// First in, first out, and linearizable: emptiness, too.
    Fifo,
    /// Any order; but it answers "empty", or "full", only if at some instant it was.
    Unordered,
    /// Any order, and "empty" and "full" may be answered at any time.
    Any,
}

/// When a queue may answer "full": at some instant of the request, there must be at least as many
/// of these together as its capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fullness {
    /// The items inside, and other pushes in progress whose items are not inside.
    ItemsAndPushes,
    /// The same, and pops in progress that have taken an item: they may not have freed its slot
    /// yet.
    ItemsAndCalls,
    /// The same, but one of them is enough. A call that was stopped in the middle may have taken a
    /// slot out of use, as long as there are items.
    NotIdle,
}

impl Fullness {
    /// Returns the number of items and calls with which a queue of that capacity may be full.
    #[must_use]
    pub const fn least(self, capacity: usize) -> usize {
        match self {
            Fullness::ItemsAndPushes | Fullness::ItemsAndCalls => capacity,
            Fullness::NotIdle => 1,
        }
    }
}

/// A promise of a queue that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breach {
    /// An item came out twice.
    Twice {
        /// The item.
        item: u64,
    },
    /// An item came out that was not pushed, or whose push was refused.
    Invented {
        /// The item.
        item: u64,
    },
    /// An item came out before its push began.
    BeforePush {
        /// The item.
        item: u64,
    },
    /// More items are missing at the end than pops are in progress.
    Lost {
        /// The smallest of them.
        item: u64,
        /// The number of missing items.
        missing: usize,
        /// The number of pops that never ended, each of which may hold an item.
        in_hands: usize,
    },
    /// A consumer got a producer's items in another order than they were pushed.
    Overtaken {
        /// The consumer.
        consumer: usize,
        /// The item that it got first.
        first: u64,
        /// The item that it got next.
        then: u64,
    },
    /// An item came out before one that was pushed earlier.
    OutOfOrder {
        /// The item pushed first.
        first: u64,
        /// The item that came out first.
        then: u64,
    },
    /// "Empty" was answered although there was an item inside all the time.
    NotEmpty {
        /// The request.
        request: Request,
    },
    /// "Full" was answered although there was room all the time.
    NotFull {
        /// The request.
        request: Request,
        /// The largest number of items and other calls.
        most: usize,
    },
    /// There were more items inside than fit in.
    Overfull {
        /// The number of items inside.
        inside: usize,
    },
    /// A push that began after the queue was closed succeeded.
    AfterClose {
        /// The item.
        item: u64,
    },
    /// "Closed" was answered before any request to close began.
    NotClosed {
        /// The request.
        request: Request,
    },
    /// A pop returned "closed and empty", and an item came out later.
    ClosedTooEarly {
        /// The request.
        request: Request,
        /// The item.
        item: u64,
    },
    /// "Empty" or "full" was answered to a request that began after the queue was closed.
    StillOpen {
        /// The request.
        request: Request,
    },
    /// Several requests returned that they had closed the queue.
    ClosedTwice,
    /// No order of the requests explains their answers.
    NoOrder {
        /// The first request, by the time of its end, whose answer cannot be explained.
        request: Request,
        /// All requests that began before it ended.
        before: Vec<Request>,
    },
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Breach::Twice { item } => write!(f, "item {item:#x} came out twice"),
            Breach::Invented { item } => write!(f, "item {item:#x} came out and was never in"),
            Breach::BeforePush { item } => {
                write!(f, "item {item:#x} came out before its push began")
            }
            Breach::Lost { item, missing, in_hands } => write!(
                f,
                "item {item:#x} was lost: {missing} are missing, and only {in_hands} pops in progress"
            ),
            Breach::Overtaken { consumer, first, then } => write!(
                f,
                "{consumer} got item {first:#x} and then {then:#x}, which was pushed earlier by the \
                 same producer"
            ),
            Breach::OutOfOrder { first, then } => {
                write!(f, "item {then:#x} came out before {first:#x}, which was pushed earlier")
            }
            Breach::NotEmpty { request } => {
                write!(f, "reported as empty, when an item was inside: {request}")
            }
            Breach::NotFull { request, most } => write!(
                f,
                "reported as full, when items and calls in progress were {most} at most: {request}"
            ),
            Breach::Overfull { inside } => write!(f, "{inside} items were inside at a time"),
            Breach::AfterClose { item } => {
                write!(f, "item {item:#x} was taken in by a closed queue")
            }
            Breach::NotClosed { request } => {
                write!(f, "reported as closed, before any call of close began: {request}")
            }
            Breach::ClosedTooEarly { request, item } => {
                write!(f, "reported as closed and empty, and item {item:#x} came: {request}")
            }
            Breach::StillOpen { request } => {
                write!(f, "not reported as closed: {request}")
            }
            Breach::ClosedTwice => f.write_str("two calls reported that they had closed it"),
            Breach::NoOrder { request, before } => {
                write!(f, "no order of the requests explains the answer of {request}, among")?;
                before.iter().try_for_each(|request| write!(f, "\n  {request}"))
            }
        }
    }
}

impl Error for Breach {}

/// The largest number of states at a time. With more the search is given up.
const STATES_MOST: usize = 1_000;
/// The largest number of processors. With more the search is not begun, because it would be given
/// up.
const ASKERS_MOST: usize = 8;
/// The largest number of requests. With more the search would take long.
const REQUESTS_MOST: usize = 20_000;

/// Checks all promises of a queue or a pool. The search runs only on records with few processors
/// and not too many requests. `settled`: all items inside were popped at the end, and the record
/// has these pops.
///
/// ```
/// use throng_check::history::{Answer::{Item, Taken}, Asked::{Pop, Push}, Request};
/// use throng_check::spec::queue::{Breach, Fullness, Order, Promises, check_queue};
///
/// let capacity = None;
/// let fullness = Fullness::ItemsAndPushes;
/// let queue = Promises { order: Order::Fifo, capacity, fullness };
/// let mut record = vec![
///     Request::over(0, Push(1), 0, 1, Taken),
///     Request::over(0, Push(2), 2, 3, Taken),
///     Request::over(1, Pop, 4, 5, Item(2)),
///     Request::over(2, Pop, 6, 7, Item(1)),
/// ];
/// let wrong = Breach::OutOfOrder { first: 1, then: 2 };
/// assert_eq!(check_queue(&queue, &record, true), Err(wrong));
/// assert_eq!(check_queue(&Promises { order: Order::Unordered, ..queue }, &record, true), Ok(()));
/// record.swap_remove(2);
/// let wrong = Breach::Lost { item: 2, missing: 1, in_hands: 0 };
/// assert_eq!(check_queue(&queue, &record, true), Err(wrong));
/// ```
///
/// # Errors
/// The first promise that was broken.
pub fn check_queue(promises: &Promises, requests: &[Request], settled: bool) -> Result<(), Breach> {
    check_conservation(requests, settled)?;
    check_closing(requests)?;
    if promises.order != Order::Any {
        check_conditions(promises, requests)?;
    }
    if promises.order == Order::Fifo {
        check_order_of_producers(requests)?;
        let askers: HashSet<usize> = requests.iter().map(|request| request.by).collect();
        if askers.len() <= ASKERS_MOST && requests.len() <= REQUESTS_MOST {
            check_fifo_exactly(promises, requests, STATES_MOST)?;
        }
    }
    Ok(())
}

/// Returns the number of pops in progress: each may hold an item.
fn pops_in_progress(requests: &[Request]) -> usize {
    requests.iter().filter(|request| is_pop_in_progress(request)).count()
}

fn is_pop_in_progress(request: &Request) -> bool {
    request.asked == crate::history::Asked::Pop && request.answered.is_none()
}

/// Returns the item that a pop got.
fn item_of(request: &Request) -> Option<u64> {
    match request.answer() {
        Some(Answer::Item(item)) => Some(item),
        _ => None,
    }
}
