//! Waiting for room and for items: looks with growing pauses, then sleep.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

use super::Queue;
use super::words::{CONSUMERS_SLEEP, Head, PRODUCERS_SLEEP, Tail, Ticket};
use crate::machine::{Cpu, Machine, Watch, WayOut, Word};

/// The looks of a waiting thread before it sleeps. All of them take several times as long as falling
/// asleep and being woken: a thread that is only a little faster than the other side should not sleep.
#[derive(Clone, Copy, Debug)]
struct Looks {
    count: u32,
    /// The pauses between two looks are 1, 2, 4, .. up to 2 to the power of this.
    most_pauses_log2: u32,
}

/// An item should not wait for its consumer.
const FOR_ITEM: Looks = Looks { count: 24, most_pauses_log2: 6 };
/// Room can wait: while there is none, consumers have items. Each look takes their line away from them.
const FOR_ROOM: Looks = Looks { count: 24, most_pauses_log2: 8 };
/// A producer that has not waited long goes on when there is room for this number of items, or for an eighth
/// of the capacity: with less, producers and consumers would meet at every item.
const ENOUGH_ROOM: i64 = 64;

/// After a pause for this number of items the pause is long enough; after twice as many, too long.
const ENOUGH_ITEMS: i64 = 64;
/// The longest such pause: 3 microseconds where a pause instruction takes 140 cycles.
const MOST_ITEM_PAUSES: u64 = 64;

impl<T, M: Machine> Queue<T, M> {
    /// Pauses so that producers get ahead. A consumer that is as fast as the producers would otherwise meet
    /// them at every item, and each would wait for the other's cache line. The length of the pause is learned: it
    /// doubles while it is worth more than one item, and shrinks where items come one by one.
    pub(super) fn pause_for_items(&self, cpu: &M::Cpu) {
        let pauses = self.hints.item_pauses.load(Relaxed);
        cpu.pause(pauses as u32);
        let learned = match self.end().ahead_of(self.head().next()) {
            ..=1 => pauses - 1,
            2..ENOUGH_ITEMS => 2 * pauses,
            items if items < 2 * ENOUGH_ITEMS => pauses,
            _ => pauses / 2,
        };
        let learned = learned.clamp(1, MOST_ITEM_PAUSES);
        if learned != pauses {
            self.hints.item_pauses.store(learned, Relaxed);
        }
    }

    /// Waits until there may be room for ticket `next`, the queue is closed, or the way out opens; `false`
    /// in the last case.
    pub(super) fn wait_for_room(
        &self,
        cpu: &M::Cpu,
        next: Ticket,
        way_out: &WayOut<'_, M>,
    ) -> bool {
        let way_out = &way_out.watching(Watch::Cores(&self.busy));
        let enough = (self.capacity().unwrap_or(0) as i64 / 8).clamp(1, ENOUGH_ROOM);
        let has_less = |head: u64, room| {
            let head = Head(head);
            !head.is_closed() && self.room_from(next, head) < room && !self.is_left(head, next)
        };
        self.look_while(cpu, FOR_ROOM, way_out, || has_less(self.head.load(Acquire), enough));
        self.sleep_while(&self.head, PRODUCERS_SLEEP, cpu, way_out, |head| has_less(head, 1))
    }

    /// Waits until there may be an item, the queue is closed, or the way out opens; `false` in the last case.
    ///
    /// The looks are at the slot of the next item, so that they do not take the tail's line from the producers.
    pub(super) fn wait_for_item(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> bool {
        let way_out = &way_out.watching(Watch::Cores(&self.busy));
        let is_empty = |tail| {
            let tail = Tail(tail);
            !tail.is_closed() && tail.next().ahead_of(self.head().next()) <= 0
        };
        self.look_while(cpu, FOR_ITEM, way_out, || {
            let next = self.head().next();
            let ring = self.front();
            if ring.holds(next) { !ring.seat(next).is_full() } else { is_empty(self.tail().0) }
        });
        self.sleep_while(&self.tail, CONSUMERS_SLEEP, cpu, way_out, is_empty)
    }

    /// Looks while `is_blocked`, with growing pauses, so that many waiting threads do not keep a line from those
    /// that work. Not while other threads want the cores.
    fn look_while(
        &self,
        cpu: &M::Cpu,
        looks: Looks,
        way_out: &WayOut<'_, M>,
        is_blocked: impl Fn() -> bool,
    ) {
        for look in 0..looks.count.min(self.shape.polls) {
            if !is_blocked() || way_out.is_open(cpu) || way_out.sleeps_at_once() {
                return;
            }
            cpu.pause(1 << look.min(looks.most_pauses_log2));
        }
    }

    /// Sleeps until `is_blocked` is false of the word or the way out opens; `false` in the latter case, also if
    /// both hold. May return early.
    ///
    /// The thread sets the flag before it sleeps. A thread that changes the word sees the flag, or has changed the
    /// word before: then the look after the flag sees that.
    fn sleep_while(
        &self,
        word: &M::Word,
        flag: u64,
        cpu: &M::Cpu,
        way_out: &WayOut<'_, M>,
        is_blocked: impl Fn(u64) -> bool,
    ) -> bool {
        if !is_blocked(word.load(Acquire)) {
            return !way_out.is_open(cpu);
        }
        let flagged = word.fetch_or(flag, SeqCst);
        // What blocks may be in another word, too.
        M::fence(SeqCst);
        if !is_blocked(flagged) {
            return !way_out.is_open(cpu);
        }
        let is_asleep = |value| value & flag != 0 && is_blocked(value);
        word.sleep_while(cpu, Acquire, way_out, is_asleep).is_some()
    }

    /// Wakes the consumers that sleep.
    #[cold]
    pub(super) fn wake_consumers(&self) {
        wake::<M>(&self.tail, CONSUMERS_SLEEP);
    }

    /// Wakes the producers that sleep.
    #[cold]
    pub(super) fn wake_producers(&self) {
        wake::<M>(&self.head, PRODUCERS_SLEEP);
    }
}

#[inline(never)]
fn wake<M: Machine>(word: &M::Word, flag: u64) {
    word.fetch_and(!flag, SeqCst);
    word.wake();
}
