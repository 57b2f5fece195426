//! A channel without a buffer: a send and a receive meet.
//!
//! A sender *offers* its item and waits until a receiver takes it. A receiver that finds no item *wishes* for one and
//! waits. Threads and tasks wait in the same way: a thread is a task that [`block_on`] runs.
//!
//! # The state
//!
//! | list | what is in it |
//! |---|---|
//! | `offers` | items of senders that wait |
//! | `wishes` | receivers that wait; each is woken once |
//! | `given` | items whose senders have returned because a receiver waited |
//!
//! A sender *gives* its item and returns if no sender waits and more receivers wait than items are given. Otherwise it
//! offers the item. A receiver takes the oldest item given, or else the oldest offer.
//!
//! An item is given to the channel, not to one receiver. So no item is lost with a future that is dropped after its
//! task was woken: the item stays where it is, for the next receiver.
//!
//! # No wake-up is lost
//! All of the state is under one lock, so only the order of the critical sections matters. After each of them:
//! 1. If a receiver waits that was not woken, there are no offers, and at least as many receivers were woken as items
//!    are given.
//! 2. If a sender waits, each receiver that waits was woken.
//!
//! An item given wakes a receiver if one is not awake. A woken receiver that takes an item lowers both numbers; one that
//! finds none leaves none to the others. One that gives up wakes another if items are given. An offer is made only
//! if items are given for all receivers that wait, which are therefore awake.
//!
//! No code of an executor runs under the lock: wakers are cloned before, and dropped or woken after.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use super::block_on::block_on;
use super::waiters::Entry;
use crate::error::{Closed, PopError, PushError};
use crate::machine::{BusyCores, Native, Watch, WayOut};

/// A channel without a buffer.
pub(super) struct Rendezvous<T> {
    state: Mutex<State<T>>,
    /// Measures whether other threads want the cores of the threads that wait here.
    busy: BusyCores,
}

struct State<T> {
    is_closed: bool,
    /// The number of senders and receivers that have waited.
    waited: u64,
    given: VecDeque<T>,
    /// In ascending order of their numbers.
    offers: VecDeque<Offer<T>>,
    /// In ascending order of their numbers.
    wishes: VecDeque<Wish>,
}

struct Offer<T> {
    number: u64,
    item: T,
    /// `None` if it was woken because the channel was closed.
    waker: Option<Waker>,
}

struct Wish {
    number: u64,
    /// `None` if it was woken.
    waker: Option<Waker>,
}

impl<T> State<T> {
    /// Gives `item` to the channel and returns the waker of the receiver to be woken.
    fn give(&mut self, item: T) -> Result<Option<Waker>, PushError<T>> {
        if self.is_closed {
            return Err(PushError::Closed(item));
        }
        if !self.offers.is_empty() || self.given.len() >= self.wishes.len() {
            return Err(PushError::Full(item));
        }
        self.given.push_back(item);
        Ok(self.wake_receiver())
    }

    fn wake_receiver(&mut self) -> Option<Waker> {
        self.wishes.iter_mut().find_map(|wish| wish.waker.take())
    }

    fn offer(&mut self, item: T, waker: Waker) -> Entry {
        let number = self.next_number();
        self.offers.push_back(Offer { number, item, waker: Some(waker) });
        Entry(Some(number))
    }

    fn offer_of(&self, entry: &Entry) -> Option<usize> {
        let number = entry.0?;
        self.offers.binary_search_by_key(&number, |offer| offer.number).ok()
    }

    /// Takes an offer back. Returns `None` if a receiver has taken it.
    fn withdraw(&mut self, entry: &mut Entry) -> Option<Offer<T>> {
        let position = self.offer_of(entry);
        *entry = Entry::EMPTY;
        self.offers.remove(position?)
    }

    /// Takes an item, and the waker of its sender if that sender waits.
    fn take(&mut self) -> Result<(T, Option<Waker>), PopError> {
        if let Some(item) = self.given.pop_front() {
            return Ok((item, None));
        }
        match self.offers.pop_front() {
            Some(offer) => Ok((offer.item, offer.waker)),
            None if self.is_closed => Err(PopError::Closed),
            None => Err(PopError::Empty),
        }
    }

    /// Enters a wish, or the new waker of a wish. Returns the waker that it replaces.
    fn wish(&mut self, entry: &mut Entry, waker: Waker) -> Option<Waker> {
        if let Some(position) = self.wish_of(entry) {
            return self.wishes[position].waker.replace(waker);
        }
        let number = self.next_number();
        self.wishes.push_back(Wish { number, waker: Some(waker) });
        *entry = Entry(Some(number));
        None
    }

    fn wish_of(&self, entry: &Entry) -> Option<usize> {
        let number = entry.0?;
        self.wishes.binary_search_by_key(&number, |wish| wish.number).ok()
    }

    fn end_wish(&mut self, entry: &mut Entry) -> Option<Wish> {
        let position = self.wish_of(entry);
        *entry = Entry::EMPTY;
        self.wishes.remove(position?)
    }

    fn next_number(&mut self) -> u64 {
        self.waited += 1;
        self.waited
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl<T> Rendezvous<T> {
    pub(super) const fn new() -> Self {
        let state = State {
            is_closed: false,
            waited: 0,
            given: VecDeque::new(),
            offers: VecDeque::new(),
            wishes: VecDeque::new(),
        };
        Rendezvous { state: Mutex::new(state), busy: BusyCores::new() }
    }

    /// Locks the state. No code that could leave it half changed runs under the lock.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends `item` if a receiver waits. Never waits.
    pub(super) fn try_send(&self, item: T) -> Result<(), PushError<T>> {
        let receiver = self.state().give(item)?;
        wake(receiver);
        Ok(())
    }

    /// Sends the item if a receiver waits. Otherwise offers it. While the poll is pending, the item
    /// is in the offer.
    pub(super) fn poll_send(
        &self,
        item: &mut Option<T>,
        entry: &mut Entry,
        waker: &Waker,
    ) -> Poll<Result<(), Closed<T>>> {
        let waker = waker.clone();
        let mut state = self.state();
        if entry.is_set() {
            return Self::poll_offer(state, entry, waker);
        }
        let Some(new) = item.take() else { return Poll::Pending };
        match state.give(new) {
            Ok(receiver) => {
                drop(state);
                wake(receiver);
                Poll::Ready(Ok(()))
            }
            Err(PushError::Closed(back)) => Poll::Ready(Err(Closed(back))),
            Err(PushError::Full(back)) => {
                *entry = state.offer(back, waker);
                Poll::Pending
            }
        }
    }

    /// Checks whether the offered item has been taken.
    fn poll_offer(
        mut state: MutexGuard<'_, State<T>>,
        entry: &mut Entry,
        waker: Waker,
    ) -> Poll<Result<(), Closed<T>>> {
        let Some(position) = state.offer_of(entry) else {
            *entry = Entry::EMPTY;
            return Poll::Ready(Ok(()));
        };
        if !state.is_closed {
            let replaced = state.offers[position].waker.replace(waker);
            drop(state);
            drop(replaced);
            return Poll::Pending;
        }
        match state.withdraw(entry) {
            Some(offer) => Poll::Ready(Err(Closed(offer.item))),
            None => Poll::Ready(Ok(())),
        }
    }

    /// Ends the wait of a sender. Returns its item, or `None` if a receiver has taken it.
    pub(super) fn give_up_send(&self, entry: &mut Entry) -> Option<T> {
        let offer = self.state().withdraw(entry);
        offer.map(|offer| offer.item)
    }

    /// Receives an item if a sender waits. Never waits.
    pub(super) fn try_recv(&self) -> Result<T, PopError> {
        let (item, sender) = self.state().take()?;
        wake(sender);
        Ok(item)
    }

    /// Receives an item if a sender waits. Otherwise enters a wish.
    pub(super) fn poll_recv(&self, entry: &mut Entry, waker: &Waker) -> Poll<Result<T, PopError>> {
        let waker = waker.clone();
        let mut state = self.state();
        let taken = state.take();
        if let Err(PopError::Empty) = taken {
            let replaced = state.wish(entry, waker);
            drop(state);
            drop(replaced);
            return Poll::Pending;
        }
        let wish = state.end_wish(entry);
        drop(state);
        drop(wish);
        Poll::Ready(taken.map(|(item, sender)| {
            wake(sender);
            item
        }))
    }

    /// Ends the wait of a receiver.
    pub(super) fn give_up_recv(&self, entry: &mut Entry) {
        let mut state = self.state();
        let wish = state.end_wish(entry);
        let other = if state.given.is_empty() { None } else { state.wake_receiver() };
        drop(state);
        drop(wish);
        wake(other);
    }

    /// Takes an item and ends the wait of a receiver.
    fn take_or_give_up(&self, entry: &mut Entry) -> Result<T, PopError> {
        let mut state = self.state();
        let taken = state.take();
        let wish = state.end_wish(entry);
        drop(state);
        drop(wish);
        let (item, sender) = taken?;
        wake(sender);
        Ok(item)
    }

    /// Closes the channel and wakes all waiting senders and receivers.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let State { offers, wishes, .. } = &mut *state;
        let senders = offers.iter_mut().filter_map(|offer| offer.waker.take());
        let receivers = wishes.iter_mut().filter_map(|wish| wish.waker.take());
        let all: Vec<Waker> = senders.chain(receivers).collect();
        drop(state);
        all.into_iter().for_each(Waker::wake);
    }

    /// Closes the channel and drops the items that were given.
    pub(super) fn discard(&self) {
        self.close();
        let given = mem::take(&mut self.state().given);
        drop(given);
    }

    /// Sends `item`. Waits for a receiver, but not longer than `timeout`.
    pub(super) fn send(&self, item: T, timeout: Option<Duration>) -> Result<(), PushError<T>> {
        let (mut item, mut entry) = (Some(item), Entry::EMPTY);
        let poll = |waker: &Waker| self.poll_send(&mut item, &mut entry, waker);
        match block_on(&Native::cpu(), &self.way_out(timeout), poll) {
            Some(sent) => sent.map_err(|Closed(item)| PushError::Closed(item)),
            None => self.give_up_send(&mut entry).map_or(Ok(()), |item| Err(PushError::Full(item))),
        }
    }

    /// Receives an item. Waits for a sender, but not longer than `timeout`.
    pub(super) fn recv(&self, timeout: Option<Duration>) -> Result<T, PopError> {
        let mut entry = Entry::EMPTY;
        let poll = |waker: &Waker| self.poll_recv(&mut entry, waker);
        let received = block_on(&Native::cpu(), &self.way_out(timeout), poll);
        received.unwrap_or_else(|| self.take_or_give_up(&mut entry))
    }

    fn way_out(&self, timeout: Option<Duration>) -> WayOut<'_, Native> {
        let way_out = match timeout {
            Some(timeout) => WayOut::after(&Native::cpu(), timeout),
            None => WayOut::none(),
        };
        WayOut { watch: Watch::Cores(&self.busy), ..way_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sender has been told that its item was received.
    #[test]
    fn a_receiver_whose_time_is_over_takes_an_item_that_was_given_meanwhile() {
        let (channel, mut entry) = (Rendezvous::new(), Entry::EMPTY);
        assert!(channel.poll_recv(&mut entry, Waker::noop()).is_pending());
        assert_eq!(channel.try_send(7), Ok(()));
        assert_eq!(channel.take_or_give_up(&mut entry), Ok(7));
        assert!(!entry.is_set());
        assert_eq!(channel.take_or_give_up(&mut entry), Err(PopError::Empty));
        assert_eq!(channel.try_send(8), Err(PushError::Full(8)), "no receiver waits");
    }
}
