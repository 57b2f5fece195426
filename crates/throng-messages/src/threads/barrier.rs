//! A barrier whose members are threads that send each other messages.

use crate::barrier::{BarrierKind, Member};
use crate::message::{Address, Message};
use crate::post::Post;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use throng::ShapeError;

/// A barrier for `members` who may each be on a thread of its own.
///
/// ```
/// use std::thread;
/// use throng_messages::{BarrierKind, threads};
///
/// let members = threads::barrier(BarrierKind::Dissemination, 4)?;
/// thread::scope(|scope| {
///     for mut member in members {
///         scope.spawn(move || {
///             for _phase in 0..10 {
///                 // ... this phase's share of the work ...
///                 member.wait().expect("everybody stays");
///             }
///         });
///     }
/// });
/// # Ok::<(), throng::ShapeError>(())
/// ```
///
/// # Errors
/// As [`BarrierKind::members`].
pub fn barrier(kind: BarrierKind, members: u32) -> Result<Vec<BarrierMember>, ShapeError> {
    let all = kind.members(members)?;
    let (senders, inboxes): (Vec<_>, Vec<_>) = (0..members).map(|_| channel()).unzip();
    let everybody: Arc<[Sender<Letter>]> = senders.into();
    let first_gone = Arc::new(AtomicU64::new(u64::MAX));
    let member = |((rank, member), inbox)| BarrierMember {
        rank,
        member,
        inbox,
        everybody: Arc::clone(&everybody),
        first_gone: Arc::clone(&first_gone),
        post: Post::new(),
        gone: None,
    };
    Ok((0..).zip(all).zip(inboxes).map(member).collect())
}

/// What members get.
#[derive(Debug)]
enum Letter {
    Message(Message),
    /// A member was dropped, after so many rounds.
    Gone(Gone, u64),
}

/// A member was dropped, so that the others would wait for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Which one.
    pub rank: u32,
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "member {} of the barrier is gone", self.rank)
    }
}

impl std::error::Error for Gone {}

/// A member of a barrier. If one is dropped, or its thread panics, the others are told.
#[derive(Debug)]
pub struct BarrierMember {
    rank: u32,
    member: Member,
    inbox: Receiver<Letter>,
    everybody: Arc<[Sender<Letter>]>,
    /// The fewest rounds that anybody who is gone has passed.
    first_gone: Arc<AtomicU64>,
    post: Post,
    /// Of those who are gone, the one that passed fewest rounds, and how many.
    gone: Option<(Gone, u64)>,
}

impl BarrierMember {
    /// Waits until all members have come.
    ///
    /// # Errors
    /// When a member is gone and will not come, now and ever after.
    pub fn wait(&mut self) -> Result<(), Gone> {
        let round = self.member.passed();
        if !self.member.waits() {
            self.member.arrive(&mut self.post);
            self.send();
        }
        while self.member.passed() == round {
            if let Some((gone, _)) = self.gone.filter(|&(_, passed)| passed <= round) {
                return Err(gone);
            }
            match self.inbox.recv() {
                Ok(Letter::Message(message)) => {
                    self.member.on(message, &mut self.post);
                    self.send();
                }
                Ok(Letter::Gone(gone, passed)) => {
                    if self.gone.is_none_or(|(_, least)| passed < least) {
                        self.gone = Some((gone, passed));
                    }
                }
                Err(_) => unreachable!("everybody can send to itself"),
            }
        }
        Ok(())
    }

    /// The member's number, from 0.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    fn send(&mut self) {
        while let Some((to, message)) = self.post.next_message() {
            if let Address::Client(rank) = to {
                // Who is gone needs no message.
                let _ = self.everybody[rank as usize].send(Letter::Message(message));
            }
        }
    }
}

impl Drop for BarrierMember {
    /// After its last round a member owes nobody anything; in the next one it will be missed. If another is
    /// missed in that round or before, all are told of that one, and this one is no news.
    fn drop(&mut self) {
        let passed = self.member.passed();
        if passed < self.first_gone.fetch_min(passed, Relaxed) {
            for other in self.everybody.iter() {
                let _ = other.send(Letter::Gone(Gone { rank: self.rank }, passed));
            }
        }
    }
}
