//! The engine of one rank: it handles packets for the rank's part of the structure, and the others'
//! signs of life.
//!
//! It contains no thread and no clock, and MPI is only one kind of [`Link`]: the tests run several
//! ranks in one thread.
//!
//! # How a rank that has died is detected
//!
//! A caller may depend on all ranks, but on most of them through others: a member of a barrier
//! waits for messages of a few members only, and those for a few others. So a caller that waits for
//! long asks these few for signs of life ([`Part::depends_on`]). A rank that is asked learns that
//! its own messages are waited for, and asks the ranks that it depends on, as if it waited itself.
//! A rank that finds another one silent for the whole patience reports it to all ranks. Calls that
//! need it, and have waited for the whole patience as well, then fail.
//!
//! So a rank exchanges messages with all ranks only when one is missed, and when it leaves.
//!
//! # Why no packet is on its way when the communicator is freed
//!
//! MPI numbers the messages of a communicator, and may give the next communicator the identity of one that was freed. A
//! packet that arrives later than that would take the place of one of the next structure, which is then lost. So ranks
//! leave in two steps. A rank that learns that all have left ([`Packet::AllLeft`]) sends nothing more, and tells
//! rank 0 how many packets it has sent, and again after each packet that it still receives ([`Packet::Quiet`]). When
//! the two sums are equal, all packets have been received, and rank 0 ends it ([`Packet::Over`]). If that does
//! not happen within the patience, because a rank died in between, the communicator is never freed.

use crate::error::Error;
use crate::link::Link;
use crate::packet::Packet;
use crate::part::Part;
use crate::watch::Watch;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;
use throng_messages::{Address, Event, Post, Timer};

/// The largest number of packets handled in one go, so that a caller whose answer has come does not
/// work for others for ever.
const AT_ONCE: usize = 64;

/// The longest time for which packets may wait while callers get their answers from this rank
/// itself: about the time that a packet takes to come.
const DUE_NS: u64 = 1_000;

/// One rank of a structure.
#[derive(Debug)]
pub(crate) struct Engine<L, P> {
    link: L,
    rank: u32,
    ranks: u32,
    nonce: u64,
    part: P,
    timers: BinaryHeap<Reverse<(u64, Address, u64)>>,
    post: Post,
    /// The ranks that the part depends on directly.
    watch: Watch,
    /// Until then this rank watches them for other ranks.
    watch_until_ns: u64,
    /// A rank that is missed, as another rank has reported.
    missed: Option<Missed>,
    leave: Leave,
    /// The error of all calls from now on.
    failed: Option<Error>,
    /// The time when the last packet came.
    heard_ns: u64,
    /// The time when a thread last looked for packets.
    looked_ns: u64,
    /// The packets sent to, and received from, other ranks, but for [`Packet::Quiet`] and [`Packet::Over`].
    traffic: Traffic,
}

/// A rank that is silent, as another has reported.
#[derive(Clone, Copy, Debug)]
struct Missed {
    rank: u32,
    silent_ns: u64,
    reported_ns: u64,
}

/// Numbers of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traffic {
    sent: u64,
    received: u64,
}

/// The progress of leaving.
#[derive(Debug)]
struct Leave {
    /// Whether this rank has left.
    left: bool,
    /// At rank 0: the ranks that have left, and their number.
    have_left: Vec<bool>,
    count: u32,
    /// The time when this rank learned that all have left; at rank 0, when it last looked before that.
    all_left_ns: Option<u64>,
    /// The last report of this rank to rank 0. At rank 0, in `quiet`: the last report of each other rank.
    reported: Option<Traffic>,
    quiet: Vec<Option<Traffic>>,
    /// Whether no packet is on its way any more.
    over: bool,
    /// At rank 0, all ranks that have not left; elsewhere rank 0. Empty before this rank has left.
    watch: Watch,
}

/// What a caller waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// An answer of the structure.
    Part,
    /// The news that all ranks have left.
    Leave,
}

impl<L: Link, P: Part> Engine<L, P> {
    pub(crate) fn new(
        link: L,
        (rank, ranks): (u32, u32),
        nonce: u64,
        part: P,
        patience: Duration,
    ) -> Self {
        let directly = part.depends_on().into_iter().filter(|&other| other != rank);
        Engine {
            link,
            rank,
            ranks,
            nonce,
            timers: BinaryHeap::new(),
            post: Post::new(),
            watch: Watch::new(directly, patience),
            watch_until_ns: 0,
            missed: None,
            leave: Leave::new(rank, ranks, patience),
            part,
            failed: None,
            heard_ns: 0,
            looked_ns: 0,
            traffic: Traffic::default(),
        }
    }

    /// Returns the time when the last packet came.
    pub(crate) fn heard_ns(&self) -> u64 {
        self.heard_ns
    }

    /// Returns the rank's part of the structure.
    pub(crate) fn part(&mut self) -> &mut P {
        &mut self.part
    }

    /// Returns whether others may need more than a sign of life of this rank at any time.
    pub(crate) fn serves(&self) -> bool {
        self.part.serves()
    }

    /// Calls `act` with the part, and carries the messages that it sends.
    pub(crate) fn act<T>(&mut self, now_ns: u64, act: impl FnOnce(&mut P, &mut Post) -> T) -> T {
        let result = act(&mut self.part, &mut self.post);
        self.deliver(now_ns);
        result
    }

    /// Handles packets that have arrived and timers that are due. Returns whether there were any.
    pub(crate) fn look(&mut self, now_ns: u64) -> bool {
        self.looked_ns = now_ns;
        let mut any = false;
        for _ in 0..AT_ONCE {
            match self.link.receive() {
                Ok(Some((from, words))) => {
                    any = true;
                    self.heard_ns = now_ns;
                    self.hear(from);
                    if let Some(packet) = Packet::decode(&words, self.nonce) {
                        self.traffic.received += u64::from(packet.counts());
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
        while let Some(&Reverse((at_ns, whose, timer))) = self.timers.peek() {
            if at_ns > now_ns {
                break;
            }
            self.timers.pop();
            any = true;
            self.happen(whose, Event::Timer(Timer(timer)), now_ns);
            self.deliver(now_ns);
        }
        if now_ns < self.watch_until_ns && self.watch.is_due(now_ns) {
            self.ask_for_signs(Need::Part, now_ns);
            if let Some((rank, silent_for)) = self.watch.silent(now_ns, 0) {
                self.tell_all(Packet::Missed(rank, silent_for.as_nanos() as u64));
            }
        }
        self.settle();
        any
    }

    /// Records a sign of life of `rank`.
    fn hear(&mut self, rank: u32) {
        self.watch.heard(rank);
        if self.leave.left {
            self.leave.watch.heard(rank);
        }
        self.missed = self.missed.filter(|missed| missed.rank != rank);
    }

    /// Looks for packets if no thread has for a while. It is for a caller whose answer was here.
    /// Such a caller may call again and again and keep all others from looking.
    pub(crate) fn look_if_due(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.looked_ns) >= DUE_NS {
            self.look(now_ns);
        }
    }

    /// Returns the time of the next timer.
    pub(crate) fn rings_ns(&self) -> Option<u64> {
        self.timers.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// Returns the reason why a caller that has waited since `since_ns` should not wait longer, if
    /// there is one. Must be called after a look that found nothing; asks needed ranks for signs of
    /// life.
    pub(crate) fn why_not_wait(&mut self, need: Need, since_ns: u64, now_ns: u64) -> Option<Error> {
        if need == Need::Leave
            && let Some(all_left_ns) = self.leave.all_left_ns
        {
            let patience_ns = self.watch.quarter_ns().saturating_mul(4);
            if now_ns.saturating_sub(all_left_ns.max(since_ns)) >= patience_ns {
                // The structure is at its end, but a packet may still be on its way.
                self.abandon();
                self.leave.over = true;
            }
            return None;
        }
        if self.failed.is_some() {
            return self.failed.clone();
        }
        if need == Need::Part
            && let Some(error) = self.part.hopeless()
        {
            return Some(error);
        }
        let waited_ns = now_ns.saturating_sub(since_ns);
        let watch = self.watch_for(need);
        if waited_ns >= watch.quarter_ns() && watch.is_due(now_ns) {
            self.ask_for_signs(need, now_ns);
        }
        let silent = self.watch_for(need).silent(now_ns, since_ns);
        let (rank, silent_for) =
            silent.or_else(|| self.reported_missing(need, waited_ns, now_ns))?;
        Some(Error::NoAnswer { rank, silent_for })
    }

    fn watch_for(&mut self, need: Need) -> &mut Watch {
        match need {
            Need::Part => &mut self.watch,
            Need::Leave => &mut self.leave.watch,
        }
    }

    fn ask_for_signs(&mut self, need: Need, now_ns: u64) {
        for rank in self.watch_for(need).ranks_to_ask(now_ns) {
            self.send(rank, Packet::Ping);
        }
    }

    /// Returns a rank that another one misses, and the time for which it has been silent. It counts
    /// for a caller that has waited for the whole patience.
    fn reported_missing(&self, need: Need, waited_ns: u64, now_ns: u64) -> Option<(u32, Duration)> {
        let Missed { rank, silent_ns, reported_ns } = self.missed?;
        let ago_ns = now_ns.saturating_sub(reported_ns);
        // The rank that misses it reports it again after a quarter of the patience.
        let quarter_ns = self.watch.quarter_ns();
        let counts = need == Need::Part
            && ago_ns <= quarter_ns.saturating_mul(2)
            && waited_ns >= quarter_ns.saturating_mul(4);
        counts.then(|| (rank, Duration::from_nanos(silent_ns.saturating_add(ago_ns))))
    }

    /// Records that this rank asks nothing any more. It must continue to look until all ranks have
    /// left.
    pub(crate) fn leave(&mut self) {
        if !std::mem::replace(&mut self.leave.left, true) {
            let rounds = self.part.rounds().unwrap_or(0);
            if self.rank == 0 {
                self.has_left(0, rounds);
            } else {
                self.send(0, Packet::Leaving(rounds));
            }
        }
    }

    /// Returns whether all ranks have left, everything is sent and everything has arrived, so that this rank may stop.
    pub(crate) fn is_over(&mut self) -> bool {
        self.leave.over && self.link.is_flushed().unwrap_or(true)
    }

    /// Tells rank 0 what this rank has sent and received, if all ranks have left. Rank 0 compares the sums.
    fn settle(&mut self) {
        if self.leave.all_left_ns.is_none() || self.leave.over {
            return;
        }
        if self.rank != 0 {
            if self.leave.reported.replace(self.traffic) != Some(self.traffic) {
                self.send(0, Packet::Quiet(self.traffic.sent, self.traffic.received));
            }
            return;
        }
        let mut all = self.traffic;
        for quiet in &self.leave.quiet[1..] {
            let Some(of_rank) = quiet else { return };
            all.sent += of_rank.sent;
            all.received += of_rank.received;
        }
        if all.sent == all.received {
            self.tell_all(Packet::Over);
            self.leave.over = true;
        }
    }

    /// Reports to the ranks that may wait for this one that it cannot continue. Does not free MPI's
    /// objects.
    pub(crate) fn desert(&mut self) {
        self.tell_all(Packet::Gone(self.rank));
        self.abandon();
    }

    /// Gives up without freeing MPI's objects, because the others may never finish.
    pub(crate) fn abandon(&mut self) {
        self.link.abandon();
    }

    /// Gives up on `rank`, which does not answer while this rank leaves. All ranks wait for rank 0;
    /// if this is rank 0, it sends them [`Packet::Gone`], so that they stop waiting.
    pub(crate) fn give_up(&mut self, rank: u32) {
        if self.rank == 0 {
            self.tell_all(Packet::Gone(rank));
        }
        self.abandon();
    }

    fn on(&mut self, from: u32, packet: Packet, now_ns: u64) {
        match packet {
            Packet::To(address, message) => {
                self.happen(address, Event::Message(message), now_ns);
                self.deliver(now_ns);
            }
            Packet::Ping => {
                self.send(from, Packet::Pong);
                let half_ns = self.watch.quarter_ns().saturating_mul(2);
                self.watch_until_ns = now_ns.saturating_add(half_ns);
            }
            Packet::Pong => {}
            Packet::Missed(rank, silent_ns) => {
                if rank != self.rank {
                    self.missed = Some(Missed { rank, silent_ns, reported_ns: now_ns });
                }
            }
            Packet::Leaving(rounds) => self.has_left(from, rounds),
            Packet::Last(rank, rounds) => self.ends_after(rank, rounds),
            Packet::AllLeft => self.leave.all_left_ns = Some(now_ns),
            Packet::Quiet(sent, received) => {
                if let Some(quiet) = self.leave.quiet.get_mut(from as usize) {
                    *quiet = Some(Traffic { sent, received });
                }
            }
            Packet::Over => self.leave.over = true,
            Packet::Gone(rank) => self.fail(Error::Gone { rank }),
        }
    }

    /// Carries all messages of the post to their receivers.
    fn deliver(&mut self, now_ns: u64) {
        while let Some((to, message)) = self.post.next_message() {
            let home = self.part.home(to);
            if home == self.rank {
                self.happen(to, Event::Message(message), now_ns);
            } else {
                self.send(home, Packet::To(to, message));
            }
        }
    }

    fn happen(&mut self, to: Address, event: Event, now_ns: u64) {
        self.part.on(to, event, now_ns, &mut self.post);
        while let Some((at_ns, Timer(timer))) = self.post.next_timer() {
            self.timers.push(Reverse((at_ns, to, timer)));
        }
    }

    fn has_left(&mut self, rank: u32, rounds: u64) {
        // Only rank 0 gets this packet.
        let Some(has_left) = self.leave.have_left.get_mut(rank as usize) else { return };
        if std::mem::replace(has_left, true) {
            return;
        }
        self.leave.watch.forget(rank);
        self.leave.count += 1;
        if self.leave.count == 1 && self.part.rounds().is_some() {
            // It may be one round behind others that leave, but it does not leave before them: no
            // rank has passed a round that it has not passed.
            self.ends_after(rank, rounds);
            self.tell_all(Packet::Last(rank, rounds));
        }
        if self.leave.count == self.ranks {
            self.tell_all(Packet::AllLeft);
            self.leave.all_left_ns = Some(self.looked_ns);
            self.settle();
        }
    }

    fn ends_after(&mut self, rank: u32, rounds: u64) {
        self.part.ends_after(rank, rounds);
        self.part.wake();
    }

    fn tell_all(&mut self, packet: Packet) {
        for rank in 0..self.ranks {
            if rank != self.rank {
                self.send(rank, packet);
            }
        }
    }

    fn send(&mut self, rank: u32, packet: Packet) {
        if packet.counts() {
            if self.leave.all_left_ns.is_some() {
                // Nothing waits for it.
                return;
            }
            self.traffic.sent += 1;
        }
        if let Err(error) = self.link.send(rank, packet.encode(self.nonce)) {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: Error) {
        self.failed.get_or_insert(error);
        self.part.wake();
    }
}

impl Leave {
    fn new(rank: u32, ranks: u32, patience: Duration) -> Self {
        let of_rank_0 = if rank == 0 { ranks } else { 0 };
        let watch =
            if rank == 0 { Watch::new(1..ranks, patience) } else { Watch::new([0], patience) };
        let have_left = vec![false; of_rank_0 as usize];
        let quiet = vec![None; of_rank_0 as usize];
        Leave {
            left: false,
            have_left,
            count: 0,
            all_left_ns: None,
            reported: None,
            quiet,
            over: false,
            watch,
        }
    }
}

#[cfg(test)]
mod cost;
#[cfg(test)]
mod tests;
