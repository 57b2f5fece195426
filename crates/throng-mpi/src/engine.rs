//! What one rank does with messages: its roles, its callers, and the others' signs of life.
//!
//! No thread and no clock is in here, and MPI is only one kind of [`Link`]: the tests run several
//! ranks in one thread.

use crate::error::Error;
use crate::link::Link;
use crate::packet::Packet;
use crate::watch::Watch;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Thread;
use std::time::Duration;
use throng::machine::SplitMix64;
use throng_messages::{Address, Event, Message, Plan, Post, Role, Timer};

/// What a seat holds while its number has not come. No counter gets this far.
const NOTHING_YET: u64 = u64::MAX;

/// Packets taken in one go, so that a caller whose answer has come need not work for others forever.
const AT_ONCE: usize = 64;

/// One rank's part of a structure.
#[derive(Debug)]
pub(crate) struct Engine<L> {
    link: L,
    rank: u32,
    ranks: u32,
    nonce: u64,
    plan: Plan,
    /// Where each role is played.
    rank_of: Vec<u32>,
    /// Which ranks play any.
    has_roles: Vec<bool>,
    /// Those played here; `None` elsewhere.
    roles: Vec<Option<Role>>,
    timers: BinaryHeap<Reverse<(u64, u32, u64)>>,
    post: Post,
    seats: Vec<Seat>,
    random: SplitMix64,
    watch: Watch,
    leave: Leave,
    /// What makes all calls fail from now on.
    failed: Option<Error>,
    /// When the last packet came.
    heard_ns: u64,
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

/// How far the end has come.
#[derive(Debug, Default)]
struct Leave {
    /// Whether this rank has left.
    left: bool,
    /// At rank 0: who has.
    have_left: Vec<bool>,
    count: u32,
    all_left: bool,
}

/// Why a caller waits: whom it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The ranks that have roles.
    Roles,
    /// At rank 0, all that have not left; elsewhere rank 0.
    Leave,
}

impl<L: Link> Engine<L> {
    pub(crate) fn new(
        link: L,
        (rank, ranks): (u32, u32),
        nonce: u64,
        plan: Plan,
        rank_of: Vec<u32>,
        patience: Duration,
    ) -> Self {
        let mut has_roles = vec![false; ranks as usize];
        rank_of.iter().for_each(|&rank| has_roles[rank as usize] = true);
        let roles = plan.clone().into_roles();
        let here = |(role, &at)| (at == rank).then_some(role);
        let roles = roles.into_iter().zip(&rank_of).map(here).collect();
        Engine {
            link,
            rank,
            ranks,
            nonce,
            plan,
            rank_of,
            has_roles,
            roles,
            timers: BinaryHeap::new(),
            post: Post::new(),
            seats: Vec::new(),
            random: SplitMix64::from_state(SplitMix64::mix(nonce ^ u64::from(rank))),
            watch: Watch::new(ranks, patience),
            leave: Leave { have_left: vec![false; ranks as usize], ..Leave::default() },
            failed: None,
            heard_ns: 0,
        }
    }

    /// When a packet came last.
    pub(crate) fn heard_ns(&self) -> u64 {
        self.heard_ns
    }

    /// Takes a seat, if there is one or there are fewer than `limit`, and asks for a number, unless
    /// the seat has a question on its way already. The number appears in what is returned.
    pub(crate) fn ask(
        &mut self,
        now_ns: u64,
        limit: u32,
        caller: impl FnOnce() -> Thread,
    ) -> Option<(u32, Answer)> {
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
        self.seats[seat].taken = true;
        self.seats[seat].caller = Some(caller());
        let answer = Answer(Arc::clone(&self.seats[seat].number));
        if !self.seats[seat].asked {
            self.seats[seat].asked = true;
            let client = seat as u32 * self.ranks + self.rank;
            let (to, message) = self.plan.ask(client, &mut self.random);
            self.post.send(to, message);
            self.deliver(now_ns);
        }
        Some((seat as u32, answer))
    }

    /// Gives the seat back, with its number or without.
    pub(crate) fn stand_up(&mut self, seat: u32) {
        let seat = &mut self.seats[seat as usize];
        seat.taken = false;
        seat.caller = None;
    }

    /// Takes the number out of a seat that has one, and gives the seat back.
    pub(crate) fn take(&mut self, seat: u32) -> Option<u64> {
        let its = &mut self.seats[seat as usize];
        let number = its.number.load(Ordering::Acquire);
        if number == NOTHING_YET {
            return None;
        }
        its.number.store(NOTHING_YET, Ordering::Relaxed);
        its.asked = false;
        self.stand_up(seat);
        Some(number)
    }

    /// Handles what has arrived and what is due, and tells whether there was anything.
    pub(crate) fn look(&mut self, now_ns: u64) -> bool {
        let mut any = false;
        for _ in 0..AT_ONCE {
            match self.link.receive() {
                Ok(Some((from, words))) => {
                    any = true;
                    self.heard_ns = now_ns;
                    self.watch.heard(from, now_ns);
                    if let Some(packet) = Packet::decode(&words, self.nonce) {
                        self.on(from, packet, now_ns);
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    self.fail(error);
                    break;
                }
            }
        }
        while let Some(&Reverse((at_ns, role, timer))) = self.timers.peek() {
            if at_ns > now_ns {
                break;
            }
            self.timers.pop();
            any = true;
            self.play(role, Event::Timer(Timer(timer)), now_ns);
            self.deliver(now_ns);
        }
        any
    }

    /// When the next timer rings.
    pub(crate) fn rings_ns(&self) -> Option<u64> {
        self.timers.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// Why somebody who waits since `since_ns` should not wait longer. To be asked after a look that
    /// found nothing; asks needed ranks for signs of life.
    pub(crate) fn why_not_wait(&mut self, need: Need, since_ns: u64, now_ns: u64) -> Option<Error> {
        if self.failed.is_some() {
            return self.failed.clone();
        }
        if self.watch.is_due(now_ns) {
            // What is looked at while `watch` changes.
            let (leave, has_roles, me) = (&self.leave, &self.has_roles, self.rank);
            let ask =
                self.watch.whom_to_ask(now_ns, |rank| is_needed(need, rank, me, has_roles, leave));
            for rank in ask {
                self.send(rank, Packet::Ping);
            }
        }
        let needed = |rank| is_needed(need, rank, self.rank, &self.has_roles, &self.leave);
        let (rank, silent_for) = self.watch.silent(now_ns, since_ns, needed)?;
        Some(Error::NoAnswer { rank, silent_for })
    }

    /// This rank asks nothing any more. It must go on to look until everybody has left.
    pub(crate) fn leave(&mut self) {
        if !std::mem::replace(&mut self.leave.left, true) {
            if self.rank == 0 {
                self.has_left(0);
            } else {
                self.send(0, Packet::Leaving);
            }
        }
    }

    /// Whether everybody has left and everything is sent, so that this rank may stop.
    pub(crate) fn is_over(&mut self) -> bool {
        self.leave.all_left && self.link.is_flushed().unwrap_or(true)
    }

    /// This rank cannot go on: tells `rank`s that wait for it, and leaves MPI's things as they are.
    pub(crate) fn desert(&mut self) {
        self.tell_all(Packet::Gone(self.rank));
        self.abandon();
    }

    /// Nobody knows whether the others will ever finish: nothing is given back to MPI.
    pub(crate) fn abandon(&mut self) {
        self.link.abandon();
    }

    /// At rank 0, for a rank that does not answer: the others need not wait for it.
    pub(crate) fn give_up(&mut self, rank: u32) {
        if self.rank == 0 {
            self.tell_all(Packet::Gone(rank));
        }
        self.abandon();
    }

    fn on(&mut self, from: u32, packet: Packet, now_ns: u64) {
        match packet {
            Packet::To(address, message) => {
                self.post.send(address, message);
                self.deliver(now_ns);
            }
            Packet::Ping => self.send(from, Packet::Pong),
            Packet::Pong => {}
            Packet::Leaving => self.has_left(from),
            Packet::AllLeft => self.leave.all_left = true,
            Packet::Gone(rank) => self.fail(Error::Gone { rank }),
        }
    }

    /// Carries everything in the post where it belongs.
    fn deliver(&mut self, now_ns: u64) {
        while let Some((to, message)) = self.post.next_message() {
            let at = match to {
                Address::Role(number) => self.rank_of[number as usize],
                Address::Client(number) => number % self.ranks,
            };
            match to {
                _ if at != self.rank => self.send(at, Packet::To(to, message)),
                Address::Role(number) => self.play(number, Event::Message(message), now_ns),
                Address::Client(number) => self.answer(number / self.ranks, message),
            }
        }
    }

    fn play(&mut self, number: u32, event: Event, now_ns: u64) {
        if let Some(role) = &mut self.roles[number as usize] {
            role.on(event, now_ns, &mut self.post);
            while let Some((at_ns, Timer(timer))) = self.post.next_timer() {
                self.timers.push(Reverse((at_ns, number, timer)));
            }
        }
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

    fn has_left(&mut self, rank: u32) {
        if !std::mem::replace(&mut self.leave.have_left[rank as usize], true) {
            self.leave.count += 1;
            if self.leave.count == self.ranks {
                self.leave.all_left = true;
                self.tell_all(Packet::AllLeft);
            }
        }
    }

    fn tell_all(&mut self, packet: Packet) {
        for rank in 0..self.ranks {
            if rank != self.rank {
                self.send(rank, packet);
            }
        }
    }

    fn send(&mut self, rank: u32, packet: Packet) {
        if let Err(error) = self.link.send(rank, packet.encode(self.nonce)) {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: Error) {
        self.failed.get_or_insert(error);
        self.seats.iter().filter_map(|seat| seat.caller.as_ref()).for_each(Thread::unpark);
    }
}

fn is_needed(need: Need, rank: u32, me: u32, has_roles: &[bool], leave: &Leave) -> bool {
    rank != me
        && match need {
            Need::Roles => has_roles[rank as usize],
            Need::Leave if me == 0 => !leave.have_left[rank as usize],
            Need::Leave => rank == 0,
        }
}

impl Seat {
    fn new() -> Self {
        Seat {
            number: Arc::new(AtomicU64::new(NOTHING_YET)),
            asked: false,
            taken: false,
            caller: None,
        }
    }
}

/// Where a caller's number appears.
#[derive(Debug)]
pub(crate) struct Answer(Arc<AtomicU64>);

impl Answer {
    /// Whether it is there.
    pub(crate) fn has_come(&self) -> bool {
        self.0.load(Ordering::Acquire) != NOTHING_YET
    }
}

#[cfg(test)]
mod tests;
