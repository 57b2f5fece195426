//! Linearizability of queues, by search.
//!
//! The search follows Wing and Gong ("Testing and verifying concurrent objects", 1993), with two
//! later ideas. First, a request need not take effect earlier than just before some answer, its own
//! or another's, is given. So the search goes from answer to answer. Before each it tries all ways
//! to let requests in progress take effect, until the answered one has (Lowe, "Testing for
//! linearizability", 2017). Second, ways that lead to the same state are treated as one
//! (memoisation). So the time it takes grows with the number of requests at the same time, not with
//! the length of the record.
//!
//! Many pushes in progress would leave the order of the items open, but later pops determine it. So
//! an item is not put behind one that certainly comes out later, and of items that never come out
//! only the number is kept.

use std::collections::{HashMap, HashSet};

use super::lives::{Life, lives};
use super::{Breach, Fullness, Promises};
use crate::history::{Answer, Asked, Request};

/// The result of a search that found no violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Some order of the requests explains all answers.
    Explained,
    /// There were too many states to look at.
    GivenUp,
}

/// A possible state of the queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
struct State {
    /// The items. Those that never come out, which are behind all others, are [`STAYING`].
    items: Vec<u64>,
    closed: bool,
    /// The requests in progress that have taken effect: a bit for each place.
    done: u64,
}

/// An item that never comes out.
const STAYING: u64 = u64::MAX;

/// The largest number of items inside. With more, a search takes too long.
const ITEMS_MOST: usize = 500;

/// The number of places for requests in progress.
const PLACES: usize = u64::BITS as usize;

/// The requests in progress.
struct InProgress<'a> {
    promises: &'a Promises,
    lives: HashMap<u64, Life>,
    places: [Option<&'a Request>; PLACES],
}

impl<'a> InProgress<'a> {
    /// Returns whether no pop ever gets the item, not even one that never ended.
    fn stays(&self, item: u64) -> bool {
        self.lives.get(&item).is_some_and(|life| life.out_from == u64::MAX)
    }

    /// Returns whether an item can be put behind these: none of them comes out after it.
    fn can_follow(&self, items: &[u64], item: u64) -> bool {
        let Some(life) = self.lives.get(&item) else { return false };
        let comes_first = |other: &u64| match self.lives.get(other) {
            Some(other) => other.out_from <= life.out_by,
            None => self.stays(item),
        };
        items.iter().all(comes_first)
    }

    /// Returns whether the item of the push at `place` is inside.
    fn is_inside(&self, state: &State, place: usize, item: u64) -> bool {
        if self.stays(item) { state.done >> place & 1 == 1 } else { state.items.contains(&item) }
    }

    /// Returns the requests that have not taken effect, with their places.
    fn waiting(&self, done: u64) -> impl Iterator<Item = (usize, &'a Request)> {
        let is_done = move |place: usize| done >> place & 1 == 1;
        let all = self.places.iter().copied().enumerate();
        all.filter_map(move |(place, request)| Some((place, request?)))
            .filter(move |r| !is_done(r.0))
    }

    /// Returns the number of calls in progress, except the one at `asking`, that may occupy room
    /// besides the items.
    fn occupying(&self, state: &State, asking: usize) -> usize {
        let occupies = |(place, request): (usize, Option<&Request>)| match request {
            Some(Request { asked: Asked::Push(item), .. }) => {
                place != asking && !self.is_inside(state, place, *item)
            }
            Some(Request { asked: Asked::Pop, answered, .. }) => {
                let got = answered.is_none_or(|(_, answer)| matches!(answer, Answer::Item(_)));
                let counts = self.promises.fullness != Fullness::ItemsAndPushes;
                counts && got && state.done >> place & 1 == 1
            }
            _ => false,
        };
        self.places.iter().copied().enumerate().filter(|&request| occupies(request)).count()
    }

    /// Returns the state after the request at `place` has taken effect, or `None` if it could not
    /// have its answer. A request that never ended may have had any answer.
    fn after(&self, state: &State, place: usize, request: &Request) -> Option<State> {
        let (capacity, answer) = (self.promises.capacity, request.answer());
        let has_room = |room: usize| capacity.is_none_or(|capacity| room < capacity);
        let mut state = state.clone();
        let right = match (request.asked, answer) {
            (Asked::Push(item), Some(Answer::Taken) | None) => {
                let right = !state.closed
                    && has_room(state.items.len())
                    && self.can_follow(&state.items, item);
                state.items.push(if self.stays(item) { STAYING } else { item });
                right
            }
            (Asked::Push(_), Some(Answer::Full)) => {
                let occupied = state.items.len() + self.occupying(&state, place);
                let least = |capacity| self.promises.fullness.least(capacity);
                !state.closed && capacity.is_some_and(|capacity| occupied >= least(capacity))
            }
            (Asked::Push(_), Some(Answer::Closed)) => state.closed,
            (Asked::Pop, Some(Answer::Item(item))) => {
                let right = state.items.first() == Some(&item);
                if right {
                    state.items.remove(0);
                }
                right
            }
            (Asked::Pop, None) => {
                let right = !state.items.is_empty();
                if right {
                    state.items.remove(0);
                }
                right
            }
            (Asked::Pop, Some(Answer::Empty)) => state.items.is_empty() && !state.closed,
            (Asked::Pop, Some(Answer::Closed)) => state.items.is_empty() && state.closed,
            (Asked::Close, Some(Answer::Shut { first })) => {
                let right = first != state.closed;
                state.closed = true;
                right
            }
            (Asked::Close, None) => {
                let right = !state.closed;
                state.closed = true;
                right
            }
            _ => false,
        };
        state.done |= 1 << place;
        right.then_some(state)
    }

    /// Returns whether any request in progress returned "full", and the request at `answered` may
    /// be a reason for it as long as it is in progress.
    fn is_reason(&self, answered: usize) -> bool {
        let asked = self.places[answered].map(|request| request.asked);
        let is_full = |request: &&Request| request.answer() == Some(Answer::Full);
        asked != Some(Asked::Close) && self.places.iter().flatten().any(is_full)
    }

    /// Returns all states in which the request at `answered` has taken effect, from any of
    /// `states`, or `None` if there are more than `most`.
    ///
    /// Requests that take effect after that can as well do so before a later answer. The exception
    /// is "full", whose reason may be gone by then.
    fn answer(
        &self,
        states: HashSet<State>,
        answered: usize,
        most: usize,
    ) -> Option<HashSet<State>> {
        let mut found = HashSet::new();
        let mut seen = HashSet::new();
        let mut open: Vec<State> = states.into_iter().collect();
        let goes_on = self.is_reason(answered);
        while let Some(state) = open.pop() {
            if state.done >> answered & 1 == 1 {
                found.insert(State { done: state.done & !(1 << answered), ..state.clone() });
                if !goes_on {
                    continue;
                }
            }
            for (place, request) in self.waiting(state.done) {
                let Some(next) = self.after(&state, place, request) else { continue };
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
            if seen.len() > 20 * most || state.items.len() > ITEMS_MOST {
                return None;
            }
        }
        (found.len() <= most).then_some(found)
    }
}

/// Checks whether the requests can be put in an order in which a queue without concurrency would
/// give the same answers; for "full" the rule of [`Fullness`] applies. A request that never ended
/// may or may not have taken effect.
///
/// The search is given up if there are more than `states_most` states at a time.
///
/// ```
/// use throng_check::history::{Answer::{Empty, Item, Taken}, Asked::{Pop, Push}, Request};
/// use throng_check::spec::queue::{Fullness, Order, Promises, Search, check_fifo_exactly};
///
/// let fullness = Fullness::ItemsAndPushes;
/// let queue = Promises { order: Order::Fifo, capacity: None, fullness };
/// let push = Request::over(0, Push(1), 1, 4, Taken);
/// let pop = |by, began, ended, answer| Request::over(by, Pop, began, ended, answer);
/// let late = [push, pop(1, 0, 2, Empty), pop(1, 3, 5, Item(1))];
/// assert_eq!(check_fifo_exactly(&queue, &late, 100), Ok(Search::Explained));
/// let never = [push, pop(1, 0, 2, Item(1)), pop(2, 3, 5, Empty), pop(1, 6, 7, Item(1))];
/// assert!(check_fifo_exactly(&queue, &never, 100).is_err());
/// ```
///
/// # Errors
/// [`Breach::NoOrder`].
pub fn check_fifo_exactly(
    promises: &Promises,
    requests: &[Request],
    states_most: usize,
) -> Result<Search, Breach> {
    // An event is a time, whether it is an end, and the index of its request; starts sort first.
    let begins = requests.iter().enumerate().map(|(index, r)| (r.began, false, index));
    let ends = requests.iter().enumerate().filter(|(_, request)| request.answered.is_some());
    let ends = ends.map(|(index, request)| (request.ended(), true, index));
    let mut events: Vec<(u64, bool, usize)> = begins.chain(ends).collect();
    events.sort_unstable();

    let lives = lives(requests).into_iter().map(|life| (life.item, life)).collect();
    let mut in_progress = InProgress { promises, lives, places: [None; PLACES] };
    let mut place_of = vec![0; requests.len()];
    let mut states = HashSet::from([State::default()]);
    for (now, is_end, index) in events {
        if !is_end {
            let free = in_progress.places.iter().position(Option::is_none);
            let Some(place) = free else { return Ok(Search::GivenUp) };
            in_progress.places[place] = Some(&requests[index]);
            place_of[index] = place;
            continue;
        }
        let place = place_of[index];
        let Some(next) = in_progress.answer(states, place, states_most) else {
            return Ok(Search::GivenUp);
        };
        if next.is_empty() {
            let mut before: Vec<Request> =
                requests.iter().filter(|request| request.began <= now).copied().collect();
            before.sort_unstable_by_key(|request| request.began);
            return Err(Breach::NoOrder { request: requests[index], before });
        }
        states = next;
        in_progress.places[place] = None;
    }
    Ok(Search::Explained)
}
