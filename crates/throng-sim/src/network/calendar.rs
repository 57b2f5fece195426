//! The calendar of events, in the order of their times; events of the same time in the order in
//! which they were put in.
//!
//! Nearly all events are a few cycles ahead. So there is a list for each of the next [`SLOTS`]
//! cycles, and a heap for later events. A list is in order by itself: the heap's events of a time
//! are moved to the list as soon as there is one for that time, before any is put in directly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of lists. `words` has a bit for each word of `occupied`, so 64 words of 64 bits fit.
const SLOTS: usize = WORDS * WORDS;
const WORDS: usize = u64::BITS as usize;
/// The end of a list.
const NONE: u32 = u32::MAX;

/// Items, numbered from 0, each of which is in the calendar at most once.
#[derive(Debug)]
pub(super) struct Calendar {
    now: u64,
    /// The first and last item of the list for each time in `now..now + SLOTS`.
    slots: Vec<(u32, u32)>,
    /// The slots that have items: a bit each.
    occupied: [u64; WORDS],
    /// The words of `occupied` that are not 0: a bit each.
    words: u64,
    /// The item after each item in its list.
    next: Vec<u32>,
    /// For times from `now + SLOTS`: the time, the count of earlier entries, the item.
    later: BinaryHeap<Reverse<(u64, u64, u32)>>,
    put_later: u64,
}

impl Calendar {
    /// Returns an empty calendar at time 0.
    pub(super) fn new() -> Self {
        Calendar {
            now: 0,
            slots: vec![(NONE, NONE); SLOTS],
            occupied: [0; WORDS],
            words: 0,
            next: Vec::new(),
            later: BinaryHeap::new(),
            put_later: 0,
        }
    }

    /// Returns the time of the event that was taken last.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// Puts in an event, now or in the future.
    #[inline]
    pub(super) fn put(&mut self, item: u32, at: u64) {
        debug_assert!(at >= self.now);
        if self.next.len() <= item as usize {
            self.next.resize(item as usize + 1, NONE);
        }
        if at - self.now < SLOTS as u64 {
            self.append(item, at);
        } else {
            self.later.push(Reverse((at, self.put_later, item)));
            self.put_later += 1;
        }
    }

    /// Takes the next event. Its time is [`now`](Self::now) from then on.
    #[inline]
    pub(super) fn take(&mut self) -> Option<u32> {
        let slot = match self.next_slot() {
            Some(slot) => {
                let ahead = (slot + SLOTS - self.now as usize % SLOTS) % SLOTS;
                if ahead > 0 {
                    self.go_to(self.now + ahead as u64);
                }
                slot
            }
            None => {
                let &Reverse((at, ..)) = self.later.peek()?;
                self.go_to(at);
                at as usize % SLOTS
            }
        };
        let (first, last) = self.slots[slot];
        if first == last {
            self.slots[slot] = (NONE, NONE);
            self.occupied[slot / WORDS] &= !(1 << (slot % WORDS));
            if self.occupied[slot / WORDS] == 0 {
                self.words &= !(1 << (slot / WORDS));
            }
        } else {
            self.slots[slot].0 = self.next[first as usize];
        }
        Some(first)
    }

    /// Returns the slot of the earliest event that has a slot.
    #[inline]
    fn next_slot(&self) -> Option<usize> {
        let from = self.now as usize % SLOTS;
        let (word, bit) = (from / WORDS, from % WORDS);
        let here = self.occupied[word] & (u64::MAX << bit);
        if here != 0 {
            return Some(word * WORDS + here.trailing_zeros() as usize);
        }
        // The words after this one, around, and finally the bits before `from` in this one.
        let behind = self.words.rotate_right(word as u32 + 1);
        (behind != 0).then(|| {
            let word = (word + 1 + behind.trailing_zeros() as usize) % WORDS;
            word * WORDS + self.occupied[word].trailing_zeros() as usize
        })
    }

    fn go_to(&mut self, now: u64) {
        self.now = now;
        while let Some(&Reverse((at, _, item))) = self.later.peek() {
            if at - now >= SLOTS as u64 {
                break;
            }
            self.later.pop();
            self.append(item, at);
        }
    }

    #[inline]
    fn append(&mut self, item: u32, at: u64) {
        let slot = at as usize % SLOTS;
        let (first, last) = &mut self.slots[slot];
        if *first == NONE {
            *first = item;
            self.occupied[slot / WORDS] |= 1 << (slot % WORDS);
            self.words |= 1 << (slot / WORDS);
        } else {
            self.next[*last as usize] = item;
        }
        *last = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng::machine::SplitMix64;

    #[test]
    fn events_come_by_time_and_then_in_the_order_they_were_put_in() {
        for (seed, reach) in [(1, 3), (2, 100), (3, 5_000), (4, 200_000)] {
            let mut random = SplitMix64::from_state(seed);
            let mut calendar = Calendar::new();
            let mut model = BinaryHeap::new();
            let mut free: Vec<u32> = (0..500).rev().collect();
            for order in 0..20_000_u64 {
                if random.below(2) == 0 && !free.is_empty() {
                    let item = free.pop().unwrap();
                    // Many events at the same time, seen from different times before it.
                    let at = (calendar.now() + random.below(reach)).next_multiple_of(reach / 3);
                    calendar.put(item, at);
                    model.push(Reverse((at, order, item)));
                } else {
                    let expected = model.pop().map(|Reverse((at, _, item))| (at, item));
                    let taken = calendar.take().map(|item| (calendar.now(), item));
                    assert_eq!(taken, expected);
                    free.extend(taken.map(|(_, item)| item));
                }
            }
        }
    }
}
