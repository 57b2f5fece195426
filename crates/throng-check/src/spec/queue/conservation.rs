//! Conservation: no item lost, none popped twice, none invented; each producer's items in order.

use std::collections::HashMap;

use super::{Breach, item_of, pops_in_progress};
use crate::history::{Answer, Asked, Request};

/// Checks that every item came out at most once, after it was pushed, and not if its push was
/// refused. If the record is `settled`, because all items inside were popped at the end, it also
/// checks that no more items are missing than pops are in progress. A pop that never ended may hold
/// one item, and only one.
///
/// # Errors
/// [`Breach::Twice`], [`Breach::Invented`], [`Breach::BeforePush`] or [`Breach::Lost`].
pub fn check_conservation(requests: &[Request], settled: bool) -> Result<(), Breach> {
    let pushes: HashMap<u64, &Request> = requests
        .iter()
        .filter_map(|request| match request.asked {
            Asked::Push(item) => Some((item, request)),
            Asked::Pop | Asked::Close => None,
        })
        .collect();
    let mut came_out = HashMap::with_capacity(pushes.len());
    for pop in requests {
        let Some(item) = item_of(pop) else { continue };
        if came_out.insert(item, ()).is_some() {
            return Err(Breach::Twice { item });
        }
        match pushes.get(&item) {
            None => return Err(Breach::Invented { item }),
            Some(push) if !matches!(push.answer(), Some(Answer::Taken) | None) => {
                return Err(Breach::Invented { item });
            }
            Some(push) if pop.ended() < push.began => return Err(Breach::BeforePush { item }),
            Some(_) => {}
        }
    }
    let is_missing = |&(item, push): &(&u64, &&Request)| {
        push.answer() == Some(Answer::Taken) && !came_out.contains_key(item)
    };
    let missing = || pushes.iter().filter(is_missing).map(|(&item, _)| item);
    let in_hands = pops_in_progress(requests);
    match missing().min() {
        Some(item) if settled && missing().count() > in_hands => {
            Err(Breach::Lost { item, missing: missing().count(), in_hands })
        }
        _ => Ok(()),
    }
}

/// Checks that each consumer got each producer's items in the order in which they were pushed. The
/// requests of each processor are given in the order in which they were made.
///
/// # Errors
/// [`Breach::Overtaken`].
pub fn check_order_of_producers(requests: &[Request]) -> Result<(), Breach> {
    let mut pushes = HashMap::new();
    let mut pushed_by = HashMap::<usize, u64>::new();
    for request in requests {
        if let Asked::Push(item) = request.asked {
            let count = pushed_by.entry(request.by).or_default();
            pushes.insert(item, (request.by, *count));
            *count += 1;
        }
    }
    // For each consumer and producer, the last item and its number among the producer's.
    let mut last = HashMap::<(usize, usize), (u64, u64)>::new();
    for request in requests {
        let Some(then) = item_of(request) else { continue };
        let Some(&(producer, number)) = pushes.get(&then) else { continue };
        let consumer = request.by;
        match last.insert((consumer, producer), (number, then)) {
            Some((before, first)) if before > number => {
                return Err(Breach::Overtaken { consumer, first, then });
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Answer::{Full, Item, Taken};
    use Asked::{Pop, Push};

    fn pushed(item: u64, began: u64) -> Request {
        Request::over(0, Push(item), began, began + 1, Taken)
    }

    fn popped(item: u64, began: u64) -> Request {
        Request::over(1, Pop, began, began + 1, Item(item))
    }

    #[test]
    fn what_is_lost_found_twice_or_invented_is_noticed() {
        let twice = [pushed(1, 0), popped(1, 2), popped(1, 4)];
        assert_eq!(check_conservation(&twice, true), Err(Breach::Twice { item: 1 }));
        let invented = [pushed(1, 0), popped(2, 2)];
        assert_eq!(check_conservation(&invented, true), Err(Breach::Invented { item: 2 }));
        let refused = [Request::over(0, Push(1), 0, 1, Full), popped(1, 2)];
        assert_eq!(check_conservation(&refused, true), Err(Breach::Invented { item: 1 }));
        let early = [popped(1, 0), pushed(1, 2)];
        assert_eq!(check_conservation(&early, true), Err(Breach::BeforePush { item: 1 }));
        let lost = [pushed(1, 0), pushed(2, 2), popped(2, 4)];
        let expected = Breach::Lost { item: 1, missing: 1, in_hands: 0 };
        assert_eq!(check_conservation(&lost, true), Err(expected));
        assert_eq!(check_conservation(&lost, false), Ok(()), "it may still be inside");
    }

    #[test]
    fn a_call_that_never_returned_may_have_one_item_and_no_more() {
        let stopped = Request::in_progress(2, Pop, 0);
        let one = [pushed(1, 0), stopped];
        assert_eq!(check_conservation(&one, true), Ok(()));
        let two = [pushed(1, 0), pushed(2, 2), stopped];
        let expected = Breach::Lost { item: 1, missing: 2, in_hands: 1 };
        assert_eq!(check_conservation(&two, true), Err(expected));
        let its_own = [Request::in_progress(0, Push(1), 0)];
        assert_eq!(check_conservation(&its_own, true), Ok(()));
    }

    #[test]
    fn items_of_a_producer_in_the_wrong_order_are_noticed() {
        // The pops are far apart, but the pushes overlap as far as their times are known.
        let pushes = [pushed(1, 0), pushed(2, 1)];
        let right = [pushes[0], pushes[1], popped(1, 4), popped(2, 6)];
        assert_eq!(check_order_of_producers(&right), Ok(()));
        let wrong = [pushes[0], pushes[1], popped(2, 4), popped(1, 6)];
        let expected = Breach::Overtaken { consumer: 1, first: 2, then: 1 };
        assert_eq!(check_order_of_producers(&wrong), Err(expected));
    }
}
