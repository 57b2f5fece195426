//! The sleeping threads of one side, and waking no more of them than there are items or room for.
//!
//! A push makes one item available, so it wakes one consumer. Waking all of them would take the
//! cores that other threads need: with 16 producers and 16 consumers on 16 cores, 15 consumers woke
//! up in vain for each item.
//!
//! Two words are used. The *ticket word* is the word from which the other side draws (the tail for
//! consumers, the head for producers); it has a flag for sleepers. The word of this module counts
//! threads:
//!
//! | bits | meaning |
//! |---|---|
//! | 63..32 | registered threads that no wake-up has been sent to |
//! | 31 | closed: no thread sleeps any more |
//! | 30..0 | wake-ups that no thread has taken yet |
//!
//! A change that ends a sleep is in the lower half, which is all that a futex compares.
//!
//! | a thread that goes to sleep | a thread of the other side |
//! |---|---|
//! | 1. registers itself | a. draws from the ticket word, and sees the flag |
//! | 2. sets the flag; the same instruction reads the ticket word | b. puts its item into the slot, or takes it out |
//! | 3. if there is nothing for it, sleeps until there is a wake-up | c. turns one registration into a wake-up |
//! | 4. takes a wake-up; if there is none, its registration | d. if no registration is left: clears the flag, then turns all registrations into wake-ups |
//! | 5. tries again, also if its time is over | |
//!
//! # Why no item stays while a thread sleeps
//! Let S be a thread that has registered, and sleeps without a wake-up. All items that were inside
//! at its step 2 have been drawn. The draw of each later item came after step 2 of S. So it saw the
//! flag, or the flag had been cleared after that step. In the second case, step d of the thread
//! that cleared it saw the registration of S, and sent a wake-up. So each later item has sent a
//! wake-up of its own, after it was in its slot, and each wake-up leads to one attempt to pop (step
//! 5). An attempt fails only if the queue is empty. Take the items that came after the queue was
//! empty for the last time. There are as many of them as of their wake-ups, whose attempts all
//! succeeded. So none of them is inside.
//!
//! The same holds for producers, with a draw from the head for an item. A left ticket at the head
//! is room, too, but no draw. A thread that moves the head to it, or that leaves it there, sees the
//! flag and draws it.
//!
//! Wake-ups are not addressed to a thread. A thread that did not sleep, or whose time is over, may
//! take a wake-up that was meant for another thread, and then makes the attempt in its place. For
//! an item that is enough. When the queue is closed all threads must wake up: that is a bit of its
//! own, which no thread takes.
//!
//! A thread that is stopped before its attempt has used up a wake-up. So real threads also try
//! again when they have slept for a second.

use std::sync::atomic::Ordering::{Acquire, SeqCst};

use crate::machine::{Cpu, Machine, NativeWord, Place, WayOut, Word};

/// One wake-up.
const WAKE_UP: u64 = 1;
/// One registered thread.
const REGISTERED: u64 = 1 << 32;
/// The bit of a closed queue.
const CLOSED: u64 = 1 << 31;
/// The bits of the number of wake-ups.
const WAKE_UPS: u64 = CLOSED - 1;

#[derive(Debug)]
pub(super) struct Sleepers<M: Machine>(M::Word);

impl Sleepers<crate::machine::Native> {
    pub(super) const fn none() -> Self {
        Sleepers(NativeWord::constant(0))
    }
}

impl<M: Machine> Sleepers<M> {
    pub(super) fn new(side: &'static str) -> Self {
        Sleepers(M::Word::new(0, &M::spot(Place::named(side))))
    }

    /// Step 1: registers the thread.
    pub(super) fn register(&self) {
        self.0.fetch_add(REGISTERED, SeqCst);
    }

    /// Step 3: sleeps until there is a wake-up, the queue is closed, or it is time to look again.
    /// Returns false if the way out opened first.
    pub(super) fn sleep(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> bool {
        let no_wake_up = |now| now & (WAKE_UPS | CLOSED) == 0;
        let Some(longest) = M::LONGEST_SLEEP else {
            return self.0.sleep_while(cpu, Acquire, way_out, no_wake_up).is_some();
        };
        let look_again = cpu.clock().saturating_add(longest);
        let until = way_out.deadline.map_or(look_again, |deadline| deadline.min(look_again));
        let this_sleep = way_out.watching(way_out.watch).deadline(until);
        self.0.sleep_while(cpu, Acquire, &this_sleep, no_wake_up).is_some() || !way_out.is_open(cpu)
    }

    /// Step 4: takes a wake-up, or the registration if there is none.
    pub(super) fn leave(&self) {
        let mut now = self.0.load(Acquire);
        loop {
            let one = if now & WAKE_UPS == 0 { REGISTERED } else { WAKE_UP };
            match self.0.compare_exchange(now, now - one, SeqCst, Acquire) {
                Ok(_) => return,
                Err(other) => now = other,
            }
        }
    }

    /// Step c: sends a wake-up to each registered thread, but at most to `most`. Returns whether
    /// any remain registered.
    pub(super) fn wake(&self, most: u64) -> bool {
        let mut now = self.0.load(Acquire);
        loop {
            let registered = now / REGISTERED;
            let woken = registered.min(most);
            if woken == 0 {
                return registered > 0;
            }
            let next = now - woken * REGISTERED + woken * WAKE_UP;
            match self.0.compare_exchange(now, next, SeqCst, Acquire) {
                Ok(_) if woken == 1 => self.0.wake_one(),
                Ok(_) => self.0.wake(),
                Err(other) => {
                    now = other;
                    continue;
                }
            }
            return woken < registered;
        }
    }

    /// Ends all sleeps, also those that begin later.
    pub(super) fn close(&self) {
        self.0.fetch_or(CLOSED, SeqCst);
        self.0.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    #[test]
    fn wake_ups_go_to_registered_threads_and_to_no_more() {
        let sleepers = Sleepers::<Native>::none();
        assert!(!sleepers.wake(u64::MAX), "no thread has registered");
        (0..4).for_each(|_| sleepers.register());
        assert!(sleepers.wake(1));
        sleepers.leave();
        assert_eq!(sleepers.0.load(Acquire), 3 * REGISTERED, "the wake-up was taken first");
        assert!(sleepers.wake(2));
        assert!(!sleepers.wake(2), "one thread was left");
        assert_eq!(sleepers.0.load(Acquire), 3 * WAKE_UP);
        (0..3).for_each(|_| sleepers.leave());
        sleepers.register();
        sleepers.leave();
        assert_eq!(sleepers.0.load(Acquire), 0);
    }

    #[test]
    fn a_sleep_without_a_wake_up_ends_at_its_time() {
        let (sleepers, cpu) = (Sleepers::<Native>::none(), Native::cpu());
        sleepers.register();
        assert!(!sleepers.sleep(&cpu, &WayOut::within(&cpu, 1000)));
        sleepers.wake(1);
        assert!(sleepers.sleep(&cpu, &WayOut::none()));
        sleepers.leave();
        sleepers.close();
        for _ in 0..2 {
            sleepers.register();
            assert!(sleepers.sleep(&cpu, &WayOut::none()), "closed for ever");
            sleepers.leave();
        }
        assert_eq!(sleepers.0.load(Acquire), CLOSED);
    }
}
