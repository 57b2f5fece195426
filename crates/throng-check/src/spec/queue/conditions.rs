//! Conditions on a queue's record, whatever its length.
//!
//! For queues without bounds that are never closed, and records without requests in progress, these
//! conditions and conservation are all of linearizability (Henzinger, Sezgin and Vafeiadis,
//! "Aspect-oriented linearizability proofs", CONCUR 2013). Otherwise there may be other violations,
//! which the search finds.

use super::lives::{Life, lives};
use super::{Breach, Order, Promises};
use crate::history::{Answer, Asked, Request};

/// Returns the time before which the queue was certainly open, and the time after which it was
/// certainly closed. Both are `u64::MAX` if it was never closed.
fn closing(requests: &[Request]) -> Result<(u64, u64), Breach> {
    let closes = || requests.iter().filter(|request| request.asked == Asked::Close);
    let first = |request: &&Request| request.answer() == Some(Answer::Shut { first: true });
    if closes().filter(first).count() > 1 {
        return Err(Breach::ClosedTwice);
    }
    let unanswered = closes().filter(|request| request.answered.is_none()).map(|c| c.began).min();
    let from = closes().find(first).map(|close| close.began).or(unanswered).unwrap_or(u64::MAX);
    let by = closes().map(Request::ended).min().unwrap_or(u64::MAX);
    Ok((from, by))
}

/// Checks the answers about closing. No item is pushed after the close, "closed" is not answered
/// before it, exactly one request closed the queue, and no item comes out after a pop returned
/// "closed and empty". This holds for pools, too.
///
/// # Errors
/// [`Breach::ClosedTwice`], [`Breach::AfterClose`], [`Breach::NotClosed`] or
/// [`Breach::ClosedTooEarly`].
pub fn check_closing(requests: &[Request]) -> Result<(), Breach> {
    let (closed_from, closed_by) = closing(requests)?;
    // All items were pushed before it was closed.
    let taken = |life: &&Life| life.in_by < u64::MAX || life.out_by < u64::MAX;
    let lives = lives(requests);
    let last_out = lives.iter().filter(taken).max_by_key(|life| life.out_from);
    for &request in requests {
        match (request.asked, request.answer()) {
            (Asked::Push(item), Some(Answer::Taken)) if request.began > closed_by => {
                return Err(Breach::AfterClose { item });
            }
            (_, Some(Answer::Closed | Answer::Shut { first: false }))
                if request.ended() < closed_from =>
            {
                return Err(Breach::NotClosed { request });
            }
            (Asked::Pop, Some(Answer::Closed)) => match last_out {
                Some(life) if life.out_from > request.ended() => {
                    return Err(Breach::ClosedTooEarly { request, item: life.item });
                }
                _ => {}
            },
            _ => {}
        }
    }
    Ok(())
}

/// Checks the order of items and the answers "empty" and "full", by conditions that every record of
/// a correct queue fulfils.
///
/// # Errors
/// [`Breach::OutOfOrder`], [`Breach::NotEmpty`], [`Breach::Overfull`], [`Breach::NotFull`],
/// [`Breach::StillOpen`] or [`Breach::ClosedTwice`].
pub fn check_conditions(promises: &Promises, requests: &[Request]) -> Result<(), Breach> {
    let lives = lives(requests);
    let (_, closed_by) = closing(requests)?;
    if promises.order == Order::Fifo {
        check_order(&lives)?;
    }
    if promises.order != Order::Any {
        check_emptiness(&lives, requests, closed_by)?;
    }
    match promises.capacity {
        Some(capacity) => {
            check_room(&lives, capacity)?;
            check_fullness(&lives, requests, promises.fullness.least(capacity), closed_by)
        }
        None => match requests.iter().find(|r| r.answer() == Some(Answer::Full)) {
            Some(&request) => Err(Breach::NotFull { request, most: 0 }),
            None => Ok(()),
        },
    }
}

/// Checks that an item that was in before the push of another began does not come out after it.
fn check_order(lives: &[Life]) -> Result<(), Breach> {
    let mut by_start: Vec<&Life> = lives.iter().collect();
    by_start.sort_unstable_by_key(|life| life.in_from);
    let mut by_end: Vec<&Life> = lives.iter().filter(|life| life.in_by < u64::MAX).collect();
    by_end.sort_unstable_by_key(|life| life.in_by);
    let mut earlier = by_end.into_iter().peekable();
    // Of the items that were in by then, the one whose pop began last.
    let mut last_out: Option<&Life> = None;
    for then in by_start {
        while let Some(first) = earlier.next_if(|first| first.in_by < then.in_from) {
            if last_out.is_none_or(|last| first.out_from > last.out_from) {
                last_out = Some(first);
            }
        }
        if let Some(first) = last_out.filter(|first| then.out_by < first.out_from) {
            return Err(Breach::OutOfOrder { first: first.item, then: then.item });
        }
    }
    Ok(())
}

/// Checks that for each "empty" there was an instant of the request, while the queue was open, at
/// which no item was certainly inside.
fn check_emptiness(lives: &[Life], requests: &[Request], closed_by: u64) -> Result<(), Breach> {
    let sure = lives.iter().map(|life| (life.in_by, life.out_from));
    let mut sure: Vec<(u64, u64)> = sure.filter(|&(from, to)| from < to).collect();
    sure.sort_unstable();
    // Times during which some item was inside all the time, without their ends.
    let mut stretches: Vec<(u64, u64)> = Vec::new();
    for (from, to) in sure {
        match stretches.last_mut() {
            Some(last) if from < last.1 => last.1 = last.1.max(to),
            _ => stretches.push((from, to)),
        }
    }
    for &request in requests.iter().filter(|r| r.answer() == Some(Answer::Empty)) {
        if request.began > closed_by {
            return Err(Breach::StillOpen { request });
        }
        let ended = request.ended().min(closed_by);
        let before = stretches.partition_point(|&(from, _)| from < request.began);
        if before.checked_sub(1).is_some_and(|at| ended < stretches[at].1) {
            return Err(Breach::NotEmpty { request });
        }
    }
    Ok(())
}

/// Checks that there are never certainly more items inside than fit in.
fn check_room(lives: &[Life], capacity: usize) -> Result<(), Breach> {
    let sure = lives.iter().filter(|life| life.in_by < life.out_from);
    let mut events: Vec<(u64, i64)> =
        sure.flat_map(|life| [(life.in_by, 1), (life.out_from, -1)]).collect();
    // At equal times, items go out first.
    events.sort_unstable();
    let mut inside = 0;
    for (_, change) in events {
        inside += change;
        if inside > capacity as i64 {
            return Err(Breach::Overfull { inside: inside as usize });
        }
    }
    Ok(())
}

/// Checks each "full": there must have been an instant of the request, while the queue was open, at
/// which the items that may have been inside and the other pushes in progress were `least` or more.
fn check_fullness(
    lives: &[Life],
    requests: &[Request],
    least: usize,
    closed_by: u64,
) -> Result<(), Breach> {
    let is_full = |request: &&Request| request.answer() == Some(Answer::Full);
    if !requests.iter().any(|request| is_full(&request)) {
        return Ok(());
    }
    // Beginnings, which come first at equal times, and ends.
    const COME: i64 = 0;
    const GO: i64 = 1;
    let refused = requests.iter().filter(|request| {
        let is_push = matches!(request.asked, Asked::Push(_));
        is_push && matches!(request.answer(), Some(Answer::Full | Answer::Closed))
    });
    let refused = refused.map(|request| (request.began, request.ended()));
    let inside = lives.iter().map(|life| (life.in_from, life.in_by.max(life.out_by)));
    let mut events: Vec<(u64, i64)> =
        refused.chain(inside).flat_map(|(from, to)| [(from, COME), (to, GO)]).collect();
    events.sort_unstable();
    let mut count = 0_i64;
    let counts: Vec<i64> = events
        .iter()
        .map(|&(_, what)| {
            count += if what == COME { 1 } else { -1 };
            count
        })
        .collect();
    for &request in requests.iter().filter(is_full) {
        if request.began > closed_by {
            return Err(Breach::StillOpen { request });
        }
        // From the last beginning before the request began to before the first end after it ended.
        let (began, ended) = ((request.began, GO), (request.ended().min(closed_by), GO));
        let from = events.partition_point(|event| *event < began).saturating_sub(1);
        let to = events.partition_point(|event| *event < ended).max(from + 1);
        // Without the request itself.
        let most = counts[from..to].iter().max().map_or(0, |most| (most - 1) as usize);
        if most < least {
            return Err(Breach::NotFull { request, most });
        }
    }
    Ok(())
}
