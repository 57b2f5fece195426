//! One rank's part of a counter: its roles, and its callers' seats.

use crate::part::Part;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use throng::machine::SplitMix64;
use throng_messages::{Address, Event, Message, Numbers, Plan, Post, Role};

/// Roles and seats.
#[derive(Debug)]
pub(crate) struct Counting {
    rank: u32,
    ranks: u32,
    plan: Plan,
    /// The rank of each role.
    rank_of: Vec<u32>,
    /// The roles of this rank; `None` for those of others.
    roles: Vec<Option<Role>>,
    /// Whether this rank has any role.
    serves: bool,
    seats: Vec<Seat>,
    /// Numbers that came for calls that had failed. They go to the next callers.
    left: Numbers,
    random: SplitMix64,
}

/// A caller's place. It asks as the client `seat * ranks + rank`.
///
/// | `missing` | `taken` | |
/// |---|---|---|
/// | 0 | no | free |
/// | > 0 | yes | a caller waits for an answer |
/// | 0 | yes | the answer is there: `complete` is true |
/// | > 0 | no | the call has failed; the answer goes to the next caller that takes the seat, or to `left` |
#[derive(Debug)]
struct Seat {
    /// The count of numbers of the question in flight that have not come yet.
    missing: u64,
    taken: bool,
    numbers: Numbers,
    /// For the caller, which reads it without the engine's lock.
    complete: Arc<AtomicBool>,
    caller: Option<Thread>,
}

impl Counting {
    pub(crate) fn new(rank: u32, ranks: u32, plan: Plan, rank_of: Vec<u32>, seed: u64) -> Self {
        let serves = rank_of.contains(&rank);
        let here = |(role, &at): (&Role, &u32)| (at == rank).then(|| role.clone());
        let roles = plan.roles().iter().zip(&rank_of).map(here).collect();
        let random = SplitMix64::from_state(SplitMix64::mix(seed ^ u64::from(rank)));
        let (seats, left) = (Vec::new(), Numbers::new(plan.step()));
        Counting { rank, ranks, plan, rank_of, roles, serves, seats, left, random }
    }

    /// Takes a seat and asks for `count` numbers, or returns `None` if there are `limit` seats, all
    /// taken. The answer may have fewer or more numbers if an earlier call has failed: the numbers
    /// that it had asked for come first.
    pub(crate) fn ask(
        &mut self,
        limit: u32,
        count: u64,
        caller: impl FnOnce() -> Thread,
        post: &mut Post,
    ) -> Option<Answer> {
        let seat = self.find_seat(limit)?;
        let its = &mut self.seats[seat];
        its.taken = true;
        if its.missing > 0 {
            its.caller = Some(caller());
        } else if !self.left.is_empty() {
            its.numbers = self.left.take(count);
            its.complete.store(true, Ordering::Relaxed);
        } else {
            its.missing = count;
            its.caller = Some(caller());
            let client = seat as u32 * self.ranks + self.rank;
            let (to, message) = self.plan.ask_many(client, count, &mut self.random);
            post.send(to, message);
        }
        Some(Answer { seat, complete: Arc::clone(&its.complete) })
    }

    /// Returns a seat that is not taken: one whose call has failed comes first, unless there are
    /// numbers already.
    fn find_seat(&mut self, limit: u32) -> Option<usize> {
        let not_taken = |failed| move |seat: &Seat| !seat.taken && (seat.missing > 0) == failed;
        let failed_first = self.left.is_empty();
        let find = |failed| self.seats.iter().position(not_taken(failed));
        let found = find(failed_first).or_else(|| find(!failed_first));
        if found.is_none() && self.seats.len() < limit as usize {
            self.seats.push(Seat::new(self.plan.step()));
            return Some(self.seats.len() - 1);
        }
        found
    }

    /// Removes and returns the first number of an answer that has come, and frees the seat.
    pub(crate) fn take_one(&mut self, answer: &Answer) -> Option<u64> {
        let number = answer.has_come().then(|| self.seats[answer.seat].numbers.pop_first())?;
        self.free(answer.seat);
        number
    }

    /// Removes and returns the first `most` numbers of an answer that has come, and frees the seat.
    pub(crate) fn take(&mut self, answer: &Answer, most: u64) -> Option<Numbers> {
        let numbers = answer.has_come().then(|| self.seats[answer.seat].numbers.take(most))?;
        self.free(answer.seat);
        Some(numbers)
    }

    /// Frees a seat whose answer has come. Numbers that are left go to the next callers.
    fn free(&mut self, seat: usize) {
        let its = &mut self.seats[seat];
        self.left.append(&its.numbers.take(u64::MAX));
        its.complete.store(false, Ordering::Relaxed);
        its.give_up();
    }

    /// Frees the seat of a call that gives up. Its numbers go to the next callers.
    pub(crate) fn give_up(&mut self, answer: &Answer) {
        if answer.has_come() {
            self.free(answer.seat);
        } else {
            self.seats[answer.seat].give_up();
        }
    }

    /// Takes back numbers for the next callers.
    pub(crate) fn put_back(&mut self, numbers: &Numbers) {
        self.left.append(numbers);
    }

    /// Adds numbers to a seat. A message that no seat waits for, which only a broken rank sends, is
    /// ignored.
    fn answer(&mut self, seat: u32, message: Message) {
        let Message::Numbers { first, count } = message else { return };
        let seat = seat as usize;
        let asked = |its: &&mut Seat| its.missing >= count && its.missing > 0;
        let Some(its) = self.seats.get_mut(seat).filter(asked) else { return };
        its.numbers.push(first, count);
        its.missing -= count;
        if its.missing > 0 {
            return;
        }
        its.complete.store(true, Ordering::Release);
        match &its.caller {
            Some(caller) => caller.unpark(),
            None => self.free(seat),
        }
    }
}

impl Part for Counting {
    fn home(&self, of: Address) -> u32 {
        match of {
            Address::Role(number) => self.rank_of[number as usize],
            Address::Client(number) => number % self.ranks,
        }
    }

    fn on(&mut self, to: Address, event: Event, now_ns: u64, post: &mut Post) {
        match (to, event) {
            (Address::Role(number), event) => {
                if let Some(role) = &mut self.roles[number as usize] {
                    role.on(event, now_ns, post);
                }
            }
            (Address::Client(number), Event::Message(message)) => {
                self.answer(number / self.ranks, message);
            }
            (Address::Client(_), Event::Timer(_)) => {}
        }
    }

    /// Returns the ranks to which requests of this one go, and those to which its roles send them
    /// on. The last rank of the path, which gives out numbers, depends on none.
    fn depends_on(&self) -> Vec<u32> {
        let seats = self.plan.clients().map_or(1, |clients| clients / self.ranks);
        let asked = (0..seats).flat_map(|seat| self.plan.asked_by(seat * self.ranks + self.rank));
        let here = |role: &u32| self.rank_of[*role as usize] == self.rank;
        let roles_here = (0..self.plan.len() as u32).filter(here);
        let followers = roles_here.flat_map(|role| self.plan.followers(role));
        let mut ranks: Vec<u32> =
            asked.chain(followers).map(|role| self.rank_of[role as usize]).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    fn serves(&self) -> bool {
        self.serves
    }

    fn wake(&self) {
        self.seats.iter().filter_map(|seat| seat.caller.as_ref()).for_each(Thread::unpark);
    }
}

impl Seat {
    fn new(step: u64) -> Self {
        let complete = Arc::new(AtomicBool::new(false));
        Seat { missing: 0, taken: false, numbers: Numbers::new(step), complete, caller: None }
    }

    fn give_up(&mut self) {
        self.taken = false;
        self.caller = None;
    }
}

/// The place where a caller's numbers appear.
#[derive(Debug)]
pub(crate) struct Answer {
    seat: usize,
    complete: Arc<AtomicBool>,
}

impl Answer {
    /// Returns whether all numbers have come.
    pub(crate) fn has_come(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }
}
