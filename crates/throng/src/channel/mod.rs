//! Channels: a [`Queue`](crate::Queue) with two ends, which is closed when all ends of one side are dropped. Threads
//! block, tasks await, and both may use the same channel.
//!
//! # What is not here
//! There is no `select!`. Names, errors and their texts are those of `crossbeam-channel`, so that a program without
//! `select!` can change by one line: `use throng::channel as crossbeam_channel;`.
//!
//! | missing | what to do instead |
//! |---|---|
//! | `select!`, `Select`, of receivers whose senders are yours | send an `enum` through one channel, which also keeps the order |
//! | `select!`, `Select`, of any receivers | await [`recv_async`](Receiver::recv_async) of each, in the `select!` of an async runtime: a future that loses can be dropped |
//! | `select!` of one operation with `default` | [`try_recv`](Receiver::try_recv), [`recv_timeout`](Receiver::recv_timeout), [`try_send`](Sender::try_send), [`send_timeout`](Sender::send_timeout) |
//! | `after`, `at`, `tick` | [`recv_deadline`](Receiver::recv_deadline) with the next point in time |
//!
//! More differences are listed [below](#what-differs-from-crossbeam-channel).
//!
//! # Use
//! ```
//! use std::thread;
//! use throng::channel;
//!
//! let (sender, receiver) = channel::bounded(100);
//! thread::scope(|scope| {
//!     for _ in 0..3 {
//!         let receiver = receiver.clone();
//!         scope.spawn(move || {
//!             for job in receiver {
//!                 // do it
//!                 # let _: u32 = job;
//!             }
//!         });
//!     }
//!     for job in 0..1000 {
//!         sender.send(job).unwrap();
//!     }
//!     drop(sender);           // the last one: receivers get what is inside, then their loops end
//! });
//! ```
//!
//! A task awaits, in any runtime or in none:
//!
//! ```
//! use throng::channel::{Receiver, SendError, Sender};
//!
//! async fn double(numbers: Receiver<u64>, doubled: Sender<u64>) -> Result<(), SendError<u64>> {
//!     while let Ok(number) = numbers.recv_async().await {
//!         doubled.send_async(2 * number).await?;
//!     }
//!     Ok(())
//! }
//! ```
//!
//! Futures can be dropped at any time, as `select!` and time-outs of a runtime do: no message is lost, and no wake-up.
//!
//! # What it promises
//! Each message is received once. Messages leave in the order in which they came. What
//! [`Queue`](crate::Queue#what-it-promises) says of threads that stop in the middle of a call holds here, too, except
//! where a call takes a lock: in every call if the capacity is 0, and in calls that wake a waiting task. A thread that
//! stops while it has the lock keeps other calls that take it waiting.
//!
//! Waiting threads are not served in the order in which they came. Waiting tasks are woken in that order, but a thread
//! or task that comes later may be faster and get the message.
//!
//! With capacity 0, a send returns when a receiver has taken the message, or when a receiver waits
//! for which no other message is meant. If that receiver stops waiting, the next one gets the
//! message.
//!
//! No call panics, except [`bounded`]. The `drop` of a message and the waker of a runtime may
//! panic.
//!
//! # What it costs
//! A send and a receive cost what a push and a pop cost in the queue, plus one load of a word that
//! says whether tasks wait. A task that waits takes a lock to enter a list, and again to leave it.
//! With capacity 0 every call takes a lock.
//!
//! # What differs from crossbeam-channel
//! - `select!` and what belongs to it [is missing](#what-is-not-here).
//! - [`never()`] is not `const`.
//! - A bound is at most 2^32. Its memory, rounded up to a power of two, is allocated from the
//!   start.
//! - The memory of an unbounded channel is freed with the channel, and not while messages are
//!   received.
//! - A thread that stops in the middle of a call does not keep others waiting. In return, a bounded channel may then
//!   be full with fewer messages than its capacity, until one of them has been received.
//! - If the `drop` of a message panics while the last receiver is dropped, the other messages are dropped all the same.
//! - [`Sender::len`] counts sends that are in progress.

mod block_on;
mod buffered;
mod error;
mod future;
mod iter;
mod link;
mod receiver;
mod rendezvous;
mod sender;
mod stream;
mod waiters;

pub use error::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
pub use future::{RecvFuture, SendFuture};
pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::Sender;
pub use stream::RecvStream;

use link::Link;

/// The parts that the crate `throng-check` checks on other machines.
#[doc(hidden)]
pub mod parts {
    pub use super::block_on::block_on;
    pub use super::buffered::Buffered;
    pub use super::waiters::{Entry, Waiters};
}

/// Returns the two ends of a channel for any number of messages.
///
/// ```
/// let (sender, receiver) = throng::channel::unbounded();
/// sender.send("hello").unwrap();
/// assert_eq!(receiver.recv(), Ok("hello"));
/// ```
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    ends(Link::unbounded())
}

/// Returns the two ends of a channel for at most `capacity` messages. With 0, each send waits for a
/// receive.
///
/// ```
/// use std::thread;
///
/// let (sender, receiver) = throng::channel::bounded(0);
/// thread::spawn(move || sender.send("hello").unwrap());
/// assert_eq!(receiver.recv(), Ok("hello"));
/// ```
///
/// # Panics
/// If `capacity` is above [`Queue::MAX_CAPACITY`](crate::Queue::MAX_CAPACITY).
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    ends(Link::bounded(capacity))
}

/// Returns a receiver that gets no message and is never disconnected. Its capacity is 0. All such
/// receivers are of the [same channel](Receiver::same_channel).
///
/// ```
/// use std::time::Duration;
/// use throng::channel::{RecvTimeoutError, never};
///
/// let timeout = Duration::from_millis(1);
/// assert_eq!(never::<u8>().recv_timeout(timeout), Err(RecvTimeoutError::Timeout));
/// ```
#[must_use]
pub fn never<T>() -> Receiver<T> {
    Receiver { link: Link::never() }
}

fn ends<T>(link: Link<T>) -> (Sender<T>, Receiver<T>) {
    let sender = Sender { link: link.share() };
    (sender, Receiver { link })
}
