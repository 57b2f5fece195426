//! Channels: a [`Queue`](crate::Queue) with two ends, which is closed when all ends of one side are dropped. Threads block,
//! tasks await, and both may use the same channel.
//!
//! # What is not here
//! Names, errors and their texts are those of `crossbeam-channel`, so that a program without `select!` can change by
//! one line: `use throng::channel as crossbeam_channel;`. Missing:
//!
//! | missing | what to do instead |
//! |---|---|
//! | `select!` and `Select` over receivers of one program | let all senders send an `enum` into one channel; it also keeps their order |
//! | the same with channels of different owners | await [`recv_async`](Receiver::recv_async) of each in the `select!` of an async runtime; the futures that lose can be dropped |
//! | `select!` with a `default` or a time-out | [`try_recv`](Receiver::try_recv), [`recv_timeout`](Receiver::recv_timeout) |
//! | `after`, `at`, `tick` | [`recv_deadline`](Receiver::recv_deadline) with the next point in time |
//!
//! What else differs: see [below](#what-differs-from-crossbeam-channel).
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
//! Messages are received once, in the order of a queue; [`Queue`](crate::Queue#what-it-promises) tells about threads that
//! stop in the middle of a call. Waiting threads are not served in the order in which they came. Tasks are woken in that
//! order, but a message may go to a thread or task that comes later.
//!
//! With capacity 0 a send returns when a receiver has taken the message. It also returns if a receiver waits that has
//! not taken another message. If that receiver gives up before it runs, the message is kept for the next one.
//!
//! # What it costs
//! A send and a receive are those of the queue, and one load that tells whether tasks wait. A task that waits takes a
//! lock for some 100 ns, twice. With capacity 0 every call takes a lock.
//!
//! # What differs from crossbeam-channel
//! - What is missing: see [above](#what-is-not-here).
//! - [`never()`] is not `const`, and two of them are not the [same channel](Receiver::same_channel).
//! - A bound is 2^32 at most. It takes memory for the next power of two from the start.
//! - The memory of an unbounded channel grows with the most messages that were inside at a time, and is given back with the channel.
//! - If dropping a message panics while the last receiver is dropped, the other messages are dropped all the same.
//! - A producer that stops in the middle of a send is passed over, and a consumer does not wait for it.

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

/// For the checks of the crate `throng-check`, on machines of any kind.
#[doc(hidden)]
pub mod parts {
    pub use super::block_on::block_on;
    pub use super::buffered::Buffered;
    pub use super::waiters::{Entry, Waiters};
}

/// Makes a channel for any number of messages.
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

/// Makes a channel for at most `capacity` messages. With 0, a send and a receive meet.
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
/// If `capacity` is above [`QueueShape::MOST_CAPACITY`](crate::pool::QueueShape::MOST_CAPACITY).
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    ends(Link::bounded(capacity))
}

/// Makes a receiver that gets no message and is never disconnected. Its capacity is 0.
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
    // The channel counts one sender, which nothing drops.
    Receiver { link: Link::bounded(0) }
}

fn ends<T>(link: Link<T>) -> (Sender<T>, Receiver<T>) {
    let sender = Sender { link: link.share() };
    (sender, Receiver { link })
}
