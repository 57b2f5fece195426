//! One rank's part of a counter: the roles it plays, and its callers' seats.

use crate::engine::Part;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Thread;
use throng::machine::SplitMix64;
use throng_messages::{Address, Event, Message, Plan, Post, Role};

/// What a seat holds while its number has not come. No counter gets this far.
const NOTHING_YET: u64 = u64::MAX;

/// Roles and seats.
#[derive(Debug)]
pub(crate) struct Counting {
    rank: u32,
    ranks: u32,
    plan: Plan,
    /// Where each role is played.
    rank_of: Vec<u32>,
    /// Which ranks play any.
    has_roles: Vec<bool>,
    /// Those played here; `None` elsewhere.
    roles: Vec<Option<Role>>,
    seats: Vec<Seat>,
    random: SplitMix64,
}

/// A caller's place: it asks as the client `seat * ranks + rank`.
#[derive(Debug)]
struct Seat {
    number: Arc<AtomicU64>,
    /// Whether a question is on its way: a caller that gave up leaves the answer to the next.
    asked: bool,
    taken: bool,
    caller: Option<Thread>,
}

impl Counting {
    pub(crate) fn new(rank: u32, ranks: u32, plan: Plan, rank_of: Vec<u32>, seed: u64) -> Self {
        let mut has_roles = vec![false; ranks as usize];
        rank_of.iter().for_each(|&rank| has_roles[rank as usize] = true);
        let here = |(role, &at): (&Role, &u32)| (at == rank).then(|| role.clone());
        let roles = plan.roles().iter().zip(&rank_of).map(here).collect();
        let random = SplitMix64::from_state(SplitMix64::mix(seed ^ u64::from(rank)));
        Counting { rank, ranks, plan, rank_of, has_roles, roles, seats: Vec::new(), random }
    }

    /// Takes a seat, if there is a free one or there are fewer than `limit`, and asks for a number,
    /// unless the seat has a question on its way already.
    pub(crate) fn ask(
        &mut self,
        limit: u32,
        caller: impl FnOnce() -> Thread,
        post: &mut Post,
    ) -> Option<Answer> {
        // A seat whose question somebody gave up on comes first: its number must not be lost.
        let free = |asked| move |seat: &Seat| !seat.taken && seat.asked == asked;
        let seat = match self.seats.iter().position(free(true)) {
            Some(seat) => seat,
            None => match self.seats.iter().position(free(false)) {
                Some(seat) => seat,
                None if self.seats.len() < limit as usize => {
                    self.seats.push(Seat::new());
                    self.seats.len() - 1
                }
                None => return None,
            },
        };
        let its = &mut self.seats[seat];
        its.taken = true;
        its.caller = Some(caller());
        let number = Arc::clone(&its.number);
        if !std::mem::replace(&mut its.asked, true) {
            let client = seat as u32 * self.ranks + self.rank;
            let (to, message) = self.plan.ask(client, &mut self.random);
            post.send(to, message);
        }
        Some(Answer { seat, number })
    }

    /// Takes the number that has come, and gives the seat back.
    pub(crate) fn take(&mut self, answer: &Answer) -> Option<u64> {
        if !answer.has_come() {
            return None;
        }
        let number = answer.number.swap(NOTHING_YET, Ordering::Relaxed);
        self.seats[answer.seat].asked = false;
        self.give_up(answer);
        Some(number)
    }

    /// Gives the seat back. Its number goes to whoever takes the seat next.
    pub(crate) fn give_up(&mut self, answer: &Answer) {
        let seat = &mut self.seats[answer.seat];
        seat.taken = false;
        seat.caller = None;
    }

    fn answer(&mut self, seat: u32, message: Message) {
        let seat = self.seats.get_mut(seat as usize).filter(|seat| seat.asked);
        if let (Some(seat), Message::Numbers { first, .. }) = (seat, message) {
            seat.number.store(first, Ordering::Release);
            if let Some(caller) = &seat.caller {
                caller.unpark();
            }
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

    fn needs(&self, rank: u32) -> bool {
        self.has_roles[rank as usize]
    }

    fn serves(&self) -> bool {
        self.needs(self.rank)
    }

    fn wake(&self) {
        self.seats.iter().filter_map(|seat| seat.caller.as_ref()).for_each(Thread::unpark);
    }
}

impl Seat {
    fn new() -> Self {
        let number = Arc::new(AtomicU64::new(NOTHING_YET));
        Seat { number, asked: false, taken: false, caller: None }
    }
}

/// Where a caller's number appears.
#[derive(Debug)]
pub(crate) struct Answer {
    seat: usize,
    number: Arc<AtomicU64>,
}

impl Answer {
    /// Whether it is there.
    pub(crate) fn has_come(&self) -> bool {
        self.number.load(Ordering::Acquire) != NOTHING_YET
    }
}
