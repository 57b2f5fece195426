//! Waiting for room and for items: looks with growing pauses, then sleep.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

use super::Queue;
use super::sleepers::Sleepers;
use super::words::{CONSUMERS_SLEEP, Head, PRODUCERS_SLEEP, Tail, Ticket};
use crate::machine::{Cpu, Machine, Watch, WayOut, Word};

/// The looks of a waiting thread before it sleeps. Together they take several times as long as
/// falling asleep and being woken, because a thread that is only a little faster than the other
/// side should not sleep.
#[derive(Clone, Copy, Debug)]
struct Looks {
    count: u32,
    /// The number of looks after which the pauses between them double, from 1 on.
    steps: u32,
    /// The base-2 logarithm of the longest pause, in units of [`Cpu::pause`].
    most_pauses_log2: u32,
}

/// The looks for an item. An item should not wait for its consumer, so it is found after at most a
/// third of the time that the consumer has already waited. (With pauses that double at each look, a
/// round trip between two threads took a quarter longer.)
const FOR_ITEM: Looks = Looks { count: 34, steps: 3, most_pauses_log2: 6 };
/// The looks for room. Room can wait: while there is none, consumers have items. Each look takes
/// their line away from them.
const FOR_ROOM: Looks = Looks { count: 24, steps: 1, most_pauses_log2: 8 };
/// The room, in items, at which a waiting producer continues, or an eighth of the capacity if that
/// is less. With less room, producers and consumers would meet at every item. A producer that has
/// waited long continues with any room.
const ENOUGH_ROOM: i64 = 64;

/// The number of items after which a pause is long enough. After twice as many it is too long.
const ENOUGH_ITEMS: i64 = 64;
/// The longest such pause, in units of [`Cpu::pause`]: 3 microseconds where a pause instruction
/// takes 140 cycles.
const MOST_ITEM_PAUSES: u64 = 64;

impl<T, M: Machine> Queue<T, M> {
    /// Pauses so that producers get ahead. A consumer that is as fast as the producers would
    /// otherwise meet them at every item, and each would wait for the other's cache line. The
    /// length of the pause is learned: it doubles while more than one item comes during it, and
    /// shrinks when items come one by one.
    pub(super) fn pause_for_items(&self, cpu: &M::Cpu) {
        let pauses = self.hints.item_pauses.load(Relaxed);
        cpu.pause(pauses as u32);
        // The producers' word is read only if items came.
        let items = if self.seems_empty() { 0 } else { self.end().ahead_of(self.head().next()) };
        let learned = match items {
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

    /// Waits until there may be room for ticket `next`, the queue is closed, or the way out opens.
    /// Returns false in the last case.
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
        let word = (&*self.head, PRODUCERS_SLEEP);
        self.sleep_while(word, &self.producers, cpu, way_out, |head| has_less(head, 1))
    }

    /// Waits until there may be an item, the queue is closed, or the way out opens. Returns false
    /// in the last case.
    ///
    /// It looks at the slot of the next item, so that it does not take the tail's line from the
    /// producers.
    pub(super) fn wait_for_item(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> bool {
        let way_out = &way_out.watching(Watch::Cores(&self.busy));
        let is_empty = |tail| {
            let tail = Tail(tail);
            !tail.is_closed() && tail.next().ahead_of(self.head().next()) <= 0
        };
        if self.look_while(cpu, FOR_ITEM, way_out, || self.seems_empty()) {
            return !way_out.is_open(cpu);
        }
        self.sleep_while((&*self.tail, CONSUMERS_SLEEP), &self.consumers, cpu, way_out, is_empty)
    }

    /// Returns whether the slot of the next item is not full and the queue not closed. Does not
    /// read the tail, which would take its line from the producers.
    pub(super) fn seems_empty(&self) -> bool {
        let (head, ring) = (self.head(), self.front());
        if ring.holds(head.next()) {
            !ring.seat(head.next()).is_full() && !head.is_closed()
        } else {
            self.tail().next().ahead_of(head.next()) <= 0 && !self.is_closed()
        }
    }

    /// Looks with growing pauses while `is_blocked`, so that many waiting threads do not keep a
    /// line from working threads. Stops at once while other threads want the cores. Returns whether
    /// `is_blocked` returned false.
    fn look_while(
        &self,
        cpu: &M::Cpu,
        looks: Looks,
        way_out: &WayOut<'_, M>,
        is_blocked: impl Fn() -> bool,
    ) -> bool {
        for look in 0..looks.count.min(self.shape.polls) {
            if !is_blocked() {
                return true;
            }
            if way_out.is_open(cpu) || way_out.sleeps_at_once() {
                return false;
            }
            cpu.pause(1 << (look / looks.steps).min(looks.most_pauses_log2));
        }
        false
    }

    /// Sleeps until woken or until the way out opens, if `is_blocked` holds for the ticket word.
    /// Returns false if the way out opened. May return early. See [`sleepers`](super::sleepers).
    fn sleep_while(
        &self,
        (word, flag): (&M::Word, u64),
        sleepers: &Sleepers<M>,
        cpu: &M::Cpu,
        way_out: &WayOut<'_, M>,
        is_blocked: impl Fn(u64) -> bool,
    ) -> bool {
        if !is_blocked(word.load(Acquire)) {
            return !way_out.is_open(cpu);
        }
        sleepers.register();
        let flagged = word.fetch_or(flag, SeqCst);
        // The condition may also depend on another word.
        M::fence(SeqCst);
        let is_in_time =
            if is_blocked(flagged) { sleepers.sleep(cpu, way_out) } else { !way_out.is_open(cpu) };
        sleepers.leave();
        is_in_time
    }

    /// Wakes consumers that sleep: at most `most`, the number of new items.
    #[cold]
    pub(super) fn wake_consumers(&self, most: u64) {
        wake::<M>(&self.tail, CONSUMERS_SLEEP, &self.consumers, most);
    }

    /// Wakes as many sleeping producers as there is new room for. A left ticket at the head is
    /// room, too. The head is moved over it here, since no other call may come to do so.
    #[cold]
    pub(super) fn wake_producers(&self, mut room: u64) {
        // The head was moved, or a ticket left, before. A thread that does the other of the two
        // later sees the flag.
        M::fence(SeqCst);
        loop {
            let head = self.head();
            if !self.is_left(head, self.end()) {
                break;
            }
            room += u64::from(self.draw_pop_from(head));
        }
        wake::<M>(&self.head, PRODUCERS_SLEEP, &self.producers, room);
    }
}

#[inline(never)]
fn wake<M: Machine>(word: &M::Word, flag: u64, sleepers: &Sleepers<M>, most: u64) {
    if sleepers.wake(most) {
        return;
    }
    word.fetch_and(!flag, SeqCst);
    // A thread that registered after the first look may have set the flag before it was cleared.
    sleepers.wake(u64::MAX);
}
