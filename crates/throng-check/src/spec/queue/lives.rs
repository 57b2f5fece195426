//! The times at which an item was inside, as far as a record shows them.

use std::collections::HashMap;

use super::{is_pop_in_progress, item_of};
use crate::history::{Answer, Asked, Request};

/// The life of an item that was pushed, or may have been.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    pub(super) item: u64,
    /// The time when its push began.
    pub(super) in_from: u64,
    /// The time when its push ended; `u64::MAX` if it is in progress.
    pub(super) in_by: u64,
    /// The time when its pop began. If none is known, any pop in progress may be its own; otherwise
    /// `u64::MAX`.
    pub(super) out_from: u64,
    /// The time when its pop ended; otherwise `u64::MAX`.
    pub(super) out_by: u64,
}

/// Returns the lives of all items whose pushes were not refused.
pub(super) fn lives(requests: &[Request]) -> Vec<Life> {
    let pops: HashMap<u64, &Request> =
        requests.iter().filter_map(|pop| item_of(pop).map(|item| (item, pop))).collect();
    let in_progress = requests.iter().filter(|request| is_pop_in_progress(request));
    let first_in_progress = in_progress.map(|pop| pop.began).min().unwrap_or(u64::MAX);
    let life = |push: &Request| {
        let Asked::Push(item) = push.asked else { return None };
        if !matches!(push.answer(), Some(Answer::Taken) | None) {
            return None;
        }
        let pop = pops.get(&item);
        Some(Life {
            item,
            in_from: push.began,
            in_by: push.ended(),
            out_from: pop.map_or(first_in_progress, |pop| pop.began),
            out_by: pop.map_or(u64::MAX, |pop| pop.ended()),
        })
    };
    requests.iter().filter_map(life).collect()
}
