//! A barrier whose members are threads that send each other messages.

use crate::barrier::{BarrierKind, Member};
use crate::message::{Address, Message};
use crate::post::Post;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use throng::ShapeError;

/// Returns a barrier for `members` members, each of which may be on a thread of its own.
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
///                 member.wait().expect("no member leaves");
///             }
///         });
///     }
/// });
/// # Ok::<(), throng::ShapeError>(())
/// ```
///
/// # Errors
/// Those of [`BarrierKind::members`].
pub fn barrier(kind: BarrierKind, members: u32) -> Result<Vec<BarrierMember>, ShapeError> {
    let all = kind.members(members)?;
    let (senders, inboxes): (Vec<_>, Vec<_>) = (0..members).map(|_| channel()).unzip();
    let channels: Arc<[Sender<Letter>]> = senders.into();
    let first_gone = Arc::new(AtomicU64::new(u64::MAX));
    let member = |((rank, member), inbox)| BarrierMember {
        rank,
        member,
        inbox,
        channels: Arc::clone(&channels),
        first_gone: Arc::clone(&first_gone),
        post: Post::new(),
        gone: None,
    };
    Ok((0..).zip(all).zip(inboxes).map(member).collect())
}

/// An item of a member's channel.
#[derive(Debug)]
enum Letter {
    Message(Message),
    /// A member was dropped, after this number of rounds.
    Gone(Gone, u64),
}

/// The error of a barrier of which a member was dropped, so that the others would wait for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The rank of that member.
    pub rank: u32,
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "member {} of the barrier is gone", self.rank)
    }
}

impl std::error::Error for Gone {}

/// A member of a barrier. If one is dropped, or its thread panics, the others get an error.
#[derive(Debug)]
pub struct BarrierMember {
    rank: u32,
    member: Member,
    inbox: Receiver<Letter>,
    channels: Arc<[Sender<Letter>]>,
    /// The smallest number of rounds that any dropped member has passed.
    first_gone: Arc<AtomicU64>,
    post: Post,
    /// The dropped member that passed the fewest rounds, and their number.
    gone: Option<(Gone, u64)>,
}

impl BarrierMember {
    /// Waits until all members have come.
    ///
    /// # Errors
    /// If a member was dropped and will not come. Every later call fails, too.
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
                Err(_) => unreachable!("a member can always send to itself"),
            }
        }
        Ok(())
    }

    /// Returns the member's number, from 0.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    fn send(&mut self) {
        while let Some((to, message)) = self.post.next_message() {
            if let Address::Client(rank) = to {
                // A dropped member needs no message.
                let _ = self.channels[rank as usize].send(Letter::Message(message));
            }
        }
    }
}

impl Drop for BarrierMember {
    /// Other members can finish the last round of a dropped member without it, and miss it in the
    /// next one. If another member is missed in that round or before, the others learn of that one,
    /// and need not learn of this one.
    fn drop(&mut self) {
        let passed = self.member.passed();
        if passed < self.first_gone.fetch_min(passed, Relaxed) {
            for other in self.channels.iter() {
                let _ = other.send(Letter::Gone(Gone { rank: self.rank }, passed));
            }
        }
    }
}
