//! The checks compared with each other, and with the definition.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::history::Asked;
use crate::history::Asked::{Close, Pop, Push};
use Answer::{Closed, Empty, Full, Item, Shut, Taken};

const STATES: usize = 100_000;

fn fifo(capacity: Option<usize>) -> Promises {
    Promises { order: Order::Fifo, capacity, fullness: Fullness::ItemsAndPushes }
}

fn is_explained(promises: &Promises, requests: &[Request]) -> bool {
    match check_fifo_exactly(promises, requests, STATES) {
        Ok(Search::Explained) => true,
        Ok(Search::GivenUp) => panic!("{STATES} states are enough"),
        Err(_) => false,
    }
}

/// Returns the answer of a queue without concurrency.
fn answer(
    promises: &Promises,
    items: &mut VecDeque<u64>,
    closed: &mut bool,
    asked: Asked,
) -> Answer {
    match asked {
        Push(_) if *closed => Closed,
        Push(_) if promises.capacity.is_some_and(|capacity| items.len() >= capacity) => Full,
        Push(item) => {
            items.push_back(item);
            Taken
        }
        Pop => match items.pop_front() {
            Some(item) => Item(item),
            None if *closed => Closed,
            None => Empty,
        },
        Close => Shut { first: !std::mem::replace(closed, true) },
    }
}

/// The definition, by brute force: each request takes effect at some instant between its start and
/// its end, and the answers are those of a queue without concurrency. But "full" may be answered
/// when the items inside, and the other pushes in progress at that instant whose items are not,
/// fill it.
fn by_definition(promises: &Promises, requests: &[Request]) -> bool {
    let begins = requests.iter().enumerate().map(|(index, r)| (r.began, false, index));
    let ends = requests.iter().enumerate().filter(|(_, r)| r.answered.is_some());
    let ends = ends.map(|(index, r)| (r.ended(), true, index));
    let mut events: Vec<(u64, bool, usize)> = begins.chain(ends).collect();
    events.sort_unstable();
    let run = Run { promises, requests, events };
    run.can_go_on(0, &mut vec![false; requests.len()], &VecDeque::new(), false)
}

struct Run<'a> {
    promises: &'a Promises,
    requests: &'a [Request],
    events: Vec<(u64, bool, usize)>,
}

impl Run<'_> {
    /// Returns whether all from event `next` on can be explained, given the requests that have
    /// taken effect and the items inside.
    fn can_go_on(
        &self,
        next: usize,
        done: &mut Vec<bool>,
        items: &VecDeque<u64>,
        closed: bool,
    ) -> bool {
        let Some(&(_, is_end, index)) = self.events.get(next) else { return true };
        if (!is_end || done[index]) && self.can_go_on(next + 1, done, items, closed) {
            return true;
        }
        let is_event = |end| move |&&(_, is_end, _): &&(u64, bool, usize)| is_end == end;
        let passed = &self.events[..next];
        let over: Vec<usize> = passed.iter().filter(is_event(true)).map(|e| e.2).collect();
        let begun = passed.iter().filter(is_event(false)).map(|e| e.2);
        let in_progress: Vec<usize> = begun.filter(|index| !over.contains(index)).collect();
        in_progress
            .iter()
            .filter(|&&index| !done[index])
            .copied()
            .collect::<Vec<_>>()
            .into_iter()
            .any(|index| {
                let request = self.requests[index];
                let (mut items, mut closed) = (items.clone(), closed);
                let is_right = if request.answer() == Some(Full) {
                    let pushes = in_progress.iter().filter(|&&other| {
                        let asked = self.requests[other].asked;
                        other != index && matches!(asked, Push(item) if !items.contains(&item))
                    });
                    let occupied = items.len() + pushes.count();
                    !closed && self.promises.capacity.is_some_and(|capacity| occupied >= capacity)
                } else {
                    let given = answer(self.promises, &mut items, &mut closed, request.asked);
                    request.answer().is_none_or(|answer| answer == given)
                };
                done[index] = true;
                let found = is_right && self.can_go_on(next, done, &items, closed);
                done[index] = false;
                found
            })
    }
}

/// Returns requests that a correct queue answers, in the order in which they take effect. The plan
/// has a processor, a kind, and the times before and after for each.
fn record(promises: &Promises, plan: &[(usize, u32, u64, u64)]) -> Vec<Request> {
    let (mut items, mut closed) = (VecDeque::new(), false);
    let mut requests: Vec<Request> = Vec::new();
    for (index, &(by, what, before, after)) in plan.iter().enumerate() {
        let at = 10 * index as u64 + 50;
        let asked = match what {
            0..10 => Push(index as u64),
            10..20 => Pop,
            _ => Close,
        };
        let previous = requests.iter_mut().rev().find(|request| request.by == by);
        let earliest = previous.map_or(0, |previous| {
            let (ended, _) = previous.answered.as_mut().expect("all are answered");
            *ended = (*ended).min(at - 2);
            *ended + 1
        });
        let answer = answer(promises, &mut items, &mut closed, asked);
        let began = (at - before).max(earliest);
        requests.push(Request::over(by, asked, began, at + after, answer));
    }
    requests.sort_by_key(|request| request.by);
    requests
}

/// Changes the answer of one of the requests, or exchanges the answers of two, or makes one never
/// end.
fn spoil(requests: &mut [Request], how: u32, one: usize, other: usize) {
    let pops: Vec<usize> = (0..requests.len()).filter(|&i| requests[i].asked == Pop).collect();
    let one_of = |of: &[usize], index: usize| of.get(index % of.len().max(1)).copied();
    match (how, one_of(&pops, one), one_of(&pops, other)) {
        (0, Some(one), Some(other)) => {
            let (a, b) = (requests[one].answer(), requests[other].answer());
            set(&mut requests[one], b);
            set(&mut requests[other], a);
        }
        (1, Some(one), _) => set(&mut requests[one], Some(Empty)),
        (2, Some(one), _) => set(&mut requests[one], Some(Closed)),
        (3, Some(one), _) => requests[one].answered = None,
        (4, ..) => {
            let all: Vec<usize> = (0..requests.len()).collect();
            if let Some(one) = one_of(&all, one) {
                requests[one].answered = None;
            }
        }
        (5 | 6, ..) => {
            let pushes = (0..requests.len()).filter(|&i| matches!(requests[i].asked, Push(_)));
            let pushes: Vec<usize> = pushes.collect();
            for index in [one, other].into_iter().take(how as usize - 4) {
                if let Some(index) = one_of(&pushes, index) {
                    set(&mut requests[index], Some(Full));
                }
            }
        }
        _ => {}
    }
}

fn set(request: &mut Request, answer: Option<Answer>) {
    if let (Some(answered), Some(answer)) = (&mut request.answered, answer) {
        answered.1 = answer;
    }
}

fn plans(most: usize, kinds: u32) -> impl Strategy<Value = Vec<(usize, u32, u64, u64)>> {
    prop::collection::vec((0_usize..4, 0..kinds, 0_u64..40, 0_u64..40), 1..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// No check rejects a correct queue.
    #[test]
    fn a_right_queue_passes(
        plan in plans(40, 22),
        capacity in prop::option::of(1_usize..4),
        never in prop::option::of(0_usize..4),
    ) {
        let promises = fifo(capacity);
        let mut requests = record(&promises, &plan);
        // The last request of one processor never ends.
        if let Some(last) = requests.iter_mut().rev().find(|request| Some(request.by) == never) {
            last.answered = None;
        }
        prop_assert_eq!(check_queue(&promises, &requests, false), Ok(()));
        prop_assert!(is_explained(&promises, &requests));
    }

    /// The search gives the result of the definition.
    #[test]
    fn the_search_agrees_with_the_definition(
        plan in plans(7, 23),
        capacity in prop::option::of(1_usize..3),
        spoilt in (0_u32..8, 0_usize..9, 0_usize..9),
    ) {
        let promises = fifo(capacity);
        let mut requests = record(&promises, &plan);
        spoil(&mut requests, spoilt.0, spoilt.1, spoilt.2);
        prop_assert_eq!(
            is_explained(&promises, &requests),
            by_definition(&promises, &requests),
            "{:?}", requests
        );
    }

    /// What the conditions reject is wrong. Without bounds, closing, and requests in progress they
    /// find all violations.
    #[test]
    fn the_conditions_agree_with_the_search(
        plan in plans(14, 22),
        capacity in prop::option::of(1_usize..4),
        spoilt in (0_u32..8, 0_usize..20, 0_usize..20),
    ) {
        let promises = fifo(capacity);
        let mut requests = record(&promises, &plan);
        spoil(&mut requests, spoilt.0, spoilt.1, spoilt.2);
        let conditions = check_conservation(&requests, false)
            .and_then(|()| check_closing(&requests))
            .and_then(|()| check_order_of_producers(&requests))
            .and_then(|()| check_conditions(&promises, &requests));
        let explained = is_explained(&promises, &requests);
        if let Err(breach) = &conditions {
            prop_assert!(!explained, "{}\n{:?}", breach, requests);
        }
        let simple = capacity.is_none()
            && requests.iter().all(|r| r.asked != Close && r.answered.is_some());
        if simple && conditions.is_ok() {
            prop_assert!(explained, "{:?}", requests);
        }
    }
}

fn over(by: usize, asked: Asked, began: u64, ended: u64, answer: Answer) -> Request {
    Request::over(by, asked, began, ended, answer)
}

#[test]
fn pushes_in_progress_excuse_a_queue_that_says_it_is_full() {
    let promises = fifo(Some(2));
    let inside = over(0, Push(1), 0, 1, Taken);
    let full = over(0, Push(2), 4, 5, Full);
    let wrong = Breach::NotFull { request: full, most: 1 };
    assert_eq!(check_queue(&promises, &[inside, full], false), Err(wrong));
    for answer in [Taken, Full] {
        let other = over(1, Push(3), 3, 6, answer);
        let verdict = check_queue(&promises, &[inside, full, other], false);
        // Each is the other's excuse.
        assert_eq!(verdict, Ok(()), "{answer:?}");
    }
    let early = over(1, Push(3), 2, 3, Full);
    assert!(check_queue(&promises, &[inside, full, early], false).is_err());
    let stopped = Request::in_progress(1, Push(3), 2);
    assert_eq!(check_queue(&promises, &[inside, full, stopped], false), Ok(()));
}

#[test]
fn an_item_that_is_being_taken_out_excuses_only_where_calls_count() {
    // The pop has taken effect: another was told that the queue is empty.
    let requests = [
        over(0, Push(1), 0, 1, Taken),
        over(1, Pop, 2, 9, Item(1)),
        over(0, Pop, 3, 4, Empty),
        over(0, Push(2), 5, 6, Full),
    ];
    let strict = fifo(Some(1));
    assert!(matches!(check_queue(&strict, &requests, false), Err(Breach::NoOrder { .. })));
    let lenient = Promises { fullness: Fullness::ItemsAndCalls, ..strict };
    assert_eq!(check_queue(&lenient, &requests, false), Ok(()));
}

#[test]
fn more_items_than_fit_in_are_noticed() {
    let requests = [over(0, Push(1), 0, 1, Taken), over(0, Push(2), 2, 3, Taken)];
    assert_eq!(check_queue(&fifo(Some(1)), &requests, false), Err(Breach::Overfull { inside: 2 }));
    let being_taken = [requests[0], requests[1], over(1, Pop, 1, 9, Item(1))];
    assert_eq!(check_queue(&fifo(Some(1)), &being_taken, false), Ok(()));
}

#[test]
fn empty_is_wrong_while_items_take_turns_inside() {
    // Each is there until the next is: at no instant was the queue empty.
    let requests = [
        over(0, Push(1), 0, 1, Taken),
        over(0, Push(2), 3, 4, Taken),
        over(1, Pop, 5, 6, Item(1)),
        over(2, Pop, 2, 7, Empty),
        over(1, Pop, 8, 9, Item(2)),
    ];
    let wrong = Breach::NotEmpty { request: requests[3] };
    assert_eq!(check_queue(&fifo(None), &requests, true), Err(wrong));
    let mut right = requests;
    right[1].began = 5;
    right[1].answered = Some((7, Taken));
    assert_eq!(check_queue(&fifo(None), &right, true), Ok(()));
}

#[test]
fn what_closing_promises_is_checked() {
    let shut = over(0, Close, 2, 3, Shut { first: true });
    let check = |requests: &[Request]| check_queue(&fifo(Some(1)), requests, false);
    assert_eq!(check(&[shut, over(1, Push(1), 4, 5, Taken)]), Err(Breach::AfterClose { item: 1 }));
    assert_eq!(check(&[shut, over(1, Push(1), 3, 5, Taken)]), Ok(()));
    assert_eq!(check(&[shut, shut]), Err(Breach::ClosedTwice));
    for asked in [Push(1), Pop] {
        let request = over(1, asked, 0, 1, Closed);
        assert_eq!(check(&[shut, request]), Err(Breach::NotClosed { request }));
    }
    let request = over(1, Pop, 4, 5, Empty);
    assert_eq!(check(&[shut, request]), Err(Breach::StillOpen { request }));
    // The push has not ended, but its item came out, so it was inside.
    let request = over(1, Pop, 4, 5, Closed);
    let push = Request::in_progress(2, Push(1), 1);
    let late = over(1, Pop, 6, 7, Item(1));
    assert_eq!(check(&[shut, request, push]), Ok(()));
    let wrong = Breach::ClosedTooEarly { request, item: 1 };
    assert_eq!(check(&[shut, request, push, late]), Err(wrong));
}
