//! A group: callers that are close to each other gather here, and one of them, the leader, fetches
//! numbers for all.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::machine::{Cpu, Growing, Line, Machine, Place, Word};

/// The number of answers on one line.
const ON_A_LINE: usize = 16;

/// The number of banks that a group starts with: one in use, and one to continue with.
const FIRST_BANKS: usize = 2;

/// The largest number of balances of a bank. More callers than this share balances.
const MOST_MEMBERS: usize = 64;

/// Stands in place of an answer that does not fit beside the lap. The answer is then in
/// `Bank::large`.
const IN_LARGE: u64 = u64::MAX >> 1;

/// Stands in place of a position: there was no batch before.
const NONE: u64 = u64::MAX;

/// The lowest bits of the word `open`: the count of numbers that callers of the batch have asked
/// for.
const ASKED: u64 = (1 << 32) - 1;

/// The largest count of numbers that one call may ask for. 2^22 threads, the most there can be, do
/// not fill [`ASKED`] with such calls. Larger groups do not overflow either: a call is in at most
/// one batch of each height.
pub(super) const MOST_AT_ONCE: u64 = 1 << 9;

/// The position at which a batch is answered, packed into the bits of the word `open` above
/// [`ASKED`]:
///
/// | bits | value |
/// |---|---|
/// | 32..48 | `slot`: which answer of the bank |
/// | 48..63 | `bank` |
/// | 63 | `lap`: changes whenever the bank is used again |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    bank: usize,
    slot: usize,
    lap: u64,
}

impl Position {
    /// The number of banks that a position can tell apart.
    const BANKS: usize = 1 << 15;
    /// The number of slots that a position can tell apart.
    const SLOTS: usize = 1 << 16;

    fn packed(self) -> u64 {
        self.lap << 63 | (self.bank as u64) << 48 | (self.slot as u64) << 32
    }

    #[inline]
    fn unpack(word: u64) -> Self {
        Position {
            bank: (word >> 48) as usize % Self::BANKS,
            slot: (word >> 32) as usize % Self::SLOTS,
            lap: word >> 63,
        }
    }
}

/// A call as its group sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// The count of numbers asked for, at least 1: up to [`MOST_AT_ONCE`] for a single caller,
    /// more for a batch.
    pub(super) asked: u64,
    /// The index of the caller's location or smaller group. Several callers may have the same.
    pub(super) member: usize,
}

/// The place where callers of some locations gather.
#[derive(Debug)]
pub(super) struct Group<M: Machine> {
    /// The open batch: its [`Position`], and the count of numbers asked for.
    open: Line<M::Word>,
    banks: Growing<Bank<M>>,
    slots: usize,
}

/// The answers to a number of consecutive batches.
#[derive(Debug)]
struct Bank<M: Machine> {
    /// The first number of each batch, or [`IN_LARGE`], times 2, plus the lap. Consecutive batches
    /// are on different lines, so that an answer does not disturb callers that wait for the next
    /// one.
    answers: Box<[Line<[M::Word; ON_A_LINE]>]>,
    /// The first number of each batch that has more than 63 bits. Allocated for the first of them.
    large: OnceLock<Box<[M::Word]>>,
    /// For each member, the numbers that it took from this bank less those that it fetched for
    /// others. The sum is 0 when no caller will read this bank any more.
    balances: Box<[Line<M::Word>]>,
    led: Line<Led<M>>,
}

/// The part of a bank that leaders write and read.
#[derive(Debug)]
struct Led<M: Machine> {
    lap: M::Word,
    /// The position of the batch before the bank's first one, or [`NONE`].
    before: M::Word,
}

impl<M: Machine> Group<M> {
    /// Returns a group of `members` callers that keeps `slots` answers in a bank. Its first member
    /// is at location `near`.
    pub(super) fn new(near: usize, members: usize, slots: usize) -> Self {
        debug_assert!((1..Position::SLOTS).contains(&slots));
        let members = members.min(MOST_MEMBERS);
        // Bank 0 is in use from the start, on lap 1. The others are still on lap 0.
        let start = Position { bank: 0, slot: 0, lap: 1 };
        Group {
            open: Line::word::<M>(start.packed(), Place::named("open batch").near(near)),
            banks: Growing::new(FIRST_BANKS, move |bank| {
                Bank::new(near, members, slots, u64::from(bank == start.bank))
            }),
            slots,
        }
    }

    /// Takes the numbers that `request` asks for, and returns the first. `fetch` gets numbers for a
    /// whole batch.
    #[inline]
    pub(super) fn take(
        &self,
        cpu: &M::Cpu,
        request: Request,
        fetch: impl FnOnce(u64) -> u64,
    ) -> u64 {
        let before = self.open.fetch_add(request.asked, AcqRel);
        let (at, ahead) = (Position::unpack(before), before & ASKED);
        let bank = self.banks.get(at.bank);
        if ahead == 0 {
            return self.lead(cpu, at, request, fetch);
        }
        let first = bank.answer(cpu, at);
        bank.balance(request.member).fetch_add(request.asked, Release);
        first.wrapping_add(ahead)
    }

    /// Leads a batch: waits for the answer to the batch before, closes this batch, fetches its
    /// numbers and answers it.
    fn lead(
        &self,
        cpu: &M::Cpu,
        at: Position,
        request: Request,
        fetch: impl FnOnce(u64) -> u64,
    ) -> u64 {
        if let Some(before) = self.before(at) {
            self.banks.get(before.bank).answer(cpu, before);
        }
        let next = self.after(cpu, at);
        let batch = self.open.swap(next.packed(), AcqRel) & ASKED;
        let bank = self.banks.get(at.bank);
        // Subtracts what the other callers will take. The leader's own part is never counted.
        bank.balance(request.member).fetch_sub(batch - request.asked, Relaxed);
        let first = fetch(batch);
        bank.set_answer(at, first);
        first
    }

    /// Returns the position of the batch before the one at `at`.
    fn before(&self, at: Position) -> Option<Position> {
        if at.slot > 0 {
            return Some(Position { slot: at.slot - 1, ..at });
        }
        let before = self.banks.get(at.bank).led.before.load(Relaxed);
        (before != NONE).then(|| Position::unpack(before))
    }

    /// Returns the position of the batch after the one at `at`.
    fn after(&self, cpu: &M::Cpu, at: Position) -> Position {
        if at.slot + 1 < self.slots {
            return Position { slot: at.slot + 1, ..at };
        }
        let bank = self.free_bank(cpu, at.bank);
        Position { bank, slot: 0, lap: self.banks.get(bank).open_behind(at) }
    }

    /// Returns a settled bank other than `full`, or the number of a new bank if there is none.
    fn free_bank(&self, cpu: &M::Cpu, full: usize) -> usize {
        let mut round = 0;
        loop {
            let made = self.banks.iter().count();
            // The bank that was full longest ago is most likely settled.
            let mut others = (full + 1..made).chain(0..full);
            if let Some(free) = others.find(|&bank| self.banks.get(bank).is_settled()) {
                return free;
            }
            if made < Position::BANKS {
                return made;
            }
            cpu.retry(round);
            round += 1;
        }
    }
}

impl<M: Machine> Bank<M> {
    fn new(near: usize, members: usize, slots: usize, lap: u64) -> Self {
        let answers = |line| {
            let place = Place::named("answers").near(near + line % members);
            Line::new::<M>(place, |spot| std::array::from_fn(|_| M::Word::new(0, spot)))
        };
        let balance =
            |i: usize| Line::word::<M>(0, Place::named("balance").index(i).near(near + i));
        Bank {
            answers: (0..slots.div_ceil(ON_A_LINE).max(2)).map(answers).collect(),
            large: OnceLock::new(),
            balances: (0..members).map(balance).collect(),
            led: Line::new::<M>(Place::named("led").near(near), |spot| Led {
                lap: M::Word::new(lap, spot),
                before: M::Word::new(NONE, spot),
            }),
        }
    }

    #[inline]
    fn slot(&self, at: Position) -> &M::Word {
        let lines = self.answers.len();
        &self.answers[at.slot % lines][at.slot / lines]
    }

    #[inline]
    fn balance(&self, member: usize) -> &M::Word {
        &self.balances[member % self.balances.len()]
    }

    /// Waits for the answer to the batch at `at`, and returns its first number.
    #[inline]
    fn answer(&self, cpu: &M::Cpu, at: Position) -> u64 {
        match self.slot(at).wait_while(cpu, Acquire, |answer| answer & 1 != at.lap) >> 1 {
            IN_LARGE => self.large()[at.slot].load(Relaxed),
            first => first,
        }
    }

    /// Answers the batch at `at` with its first number.
    fn set_answer(&self, at: Position, first: u64) {
        if first >= IN_LARGE {
            self.large()[at.slot].store(first, Relaxed);
        }
        self.slot(at).store(first.min(IN_LARGE) << 1 | at.lap, Release);
    }

    #[cold]
    fn large(&self) -> &[M::Word] {
        let words = |spot: &M::Spot| (0..self.slots()).map(|_| M::Word::new(0, spot)).collect();
        self.large.get_or_init(|| words(&M::spot(Place::named("large answers"))))
    }

    fn slots(&self) -> usize {
        self.answers.len() * ON_A_LINE
    }

    /// Returns whether no caller will read the answers of this bank any more. Must not be asked of
    /// the bank in use.
    fn is_settled(&self) -> bool {
        let balances = self.balances.iter().map(|balance| balance.load(Acquire));
        balances.fold(0, u64::wrapping_add) == 0
    }

    /// Begins to use this settled bank after the batch at `last`. Returns the lap.
    fn open_behind(&self, last: Position) -> u64 {
        let Led { lap, before } = &*self.led;
        let next = lap.load(Relaxed) ^ 1;
        lap.store(next, Relaxed);
        before.store(last.packed(), Relaxed);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;
    use std::cell::Cell;
    use std::thread;

    const ONE: Request = Request { asked: 1, member: 0 };

    fn group(slots: usize) -> Group<Native> {
        Group::new(0, 4, slots)
    }

    /// A caller that has asked for `asked` numbers and not read the answer yet.
    fn ask(group: &Group<Native>, asked: u64) -> (Position, u64) {
        let before = group.open.fetch_add(asked, AcqRel);
        (Position::unpack(before), before & ASKED)
    }

    #[test]
    fn positions_are_packed_and_unpacked() {
        for bank in [0, 1, Position::BANKS - 1] {
            for slot in [0, 1, Position::SLOTS - 1] {
                for lap in [0, 1] {
                    let position = Position { bank, slot, lap };
                    assert_eq!(Position::unpack(position.packed()), position);
                    assert_eq!(position.packed() & ASKED, 0);
                }
            }
        }
    }

    #[test]
    fn one_fetch_serves_a_batch() {
        let (group, cpu, fetches) = (group(4), Native::cpu(), Cell::new(0));
        let lead = |asked| {
            group.lead(&cpu, ask(&group, asked).0, Request { asked, member: 1 }, |batch| {
                // The batch has been closed: two more requests do not join it.
                fetches.set(fetches.get() + 1);
                assert_eq!(batch, asked);
                100 * fetches.get()
            })
        };
        assert_eq!((lead(3), lead(1)), (100, 200));
        // Two callers gather behind a leader that has not closed the batch yet.
        let (at, ahead) = ask(&group, 1);
        assert_eq!(ahead, 0);
        assert_eq!(ask(&group, 5), (at, 1));
        assert_eq!(ask(&group, 1), (at, 6));
        let first = group.lead(&cpu, at, ONE, |batch| {
            assert_eq!(batch, 7);
            40
        });
        assert_eq!(first, 40);
        assert_eq!(group.banks.get(at.bank).answer(&cpu, at) + 6, 46);
    }

    #[test]
    fn numbers_of_64_bits_are_answered_too() {
        let (group, cpu) = (group(2), Native::cpu());
        for first in [IN_LARGE - 1, IN_LARGE, IN_LARGE + 1, u64::MAX - 1, 3] {
            let (at, _) = ask(&group, 1);
            let (same, ahead) = ask(&group, 5);
            assert_eq!(group.lead(&cpu, at, ONE, |_| first), first);
            let bank = group.banks.get(same.bank);
            assert_eq!((bank.answer(&cpu, same), ahead), (first, 1));
            bank.balance(0).fetch_add(5, Release);
        }
    }

    /// A caller that asked and then stopped, while thousands of batches went by.
    #[test]
    fn a_slow_caller_finds_its_answer_and_memory_stays_bounded() {
        let (group, cpu) = (group(2), Native::cpu());
        let (at, _) = ask(&group, 1);
        let (same, ahead) = ask(&group, 1);
        assert_eq!(group.lead(&cpu, at, ONE, |_| 70), 70);
        for i in 0..10_000 {
            assert_eq!(group.take(&cpu, ONE, |_| 1000 + i), 1000 + i);
        }
        assert_eq!(group.banks.get(same.bank).answer(&cpu, same) + ahead, 71);
        assert!(group.banks.iter().count() <= 4, "one bank is held, and two take turns");
    }

    #[test]
    fn stopped_callers_hold_a_bank_each_and_no_more() {
        let (group, cpu) = (group(1), Native::cpu());
        let mut stopped = Vec::new();
        for round in 0..100 {
            let (at, _) = ask(&group, 1);
            let (_, ahead) = ask(&group, 1);
            group.lead(&cpu, at, ONE, |_| 2 * round);
            if round < 10 {
                stopped.push((at, 2 * round + ahead));
            } else {
                group.banks.get(at.bank).balance(0).fetch_add(1, Release);
            }
        }
        let banks = group.banks.iter().count();
        assert!(banks <= (stopped.len() + 2).next_power_of_two(), "{banks} banks");
        for (at, number) in stopped {
            assert_eq!(group.banks.get(at.bank).answer(&cpu, at) + 1, number);
        }
    }

    #[test]
    fn members_may_share_a_balance() {
        let group = group(2);
        let root = Line::word::<Native>(0, Place::named("root"));
        thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    for _ in 0..2000 {
                        group.take(&Native::cpu(), ONE, |batch| root.fetch_add(batch, AcqRel));
                    }
                });
            }
        });
        assert_eq!(root.load(Relaxed), 16_000);
        assert!(group.banks.iter().all(Bank::is_settled));
    }
}
