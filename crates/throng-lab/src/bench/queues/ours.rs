//! The queues of the library.

use throng::structures::counter::Counter;
use throng::structures::pool::{JobQueue, PushError, Rsu};
use throng::{Pool, Queue, channel};

use super::items::Item;
use super::peers::{self, CUT};
use super::seats::{Attempts, Exchange, Retry, Seat};

/// [`Queue`] with its own waiting: `push` and `pop`.
impl<T: Item> Exchange<T> for Queue<T> {
    type Seat<'a> = &'a Self;

    fn build(room: Option<usize>) -> Self {
        room.map_or_else(Queue::unbounded, Queue::bounded)
    }

    fn seat(&self, _pops: bool) -> &Self {
        self
    }
}

impl<T: Item> Seat<T> for &Queue<T> {
    #[inline(always)]
    fn put(&mut self, item: T) {
        assert!(self.push(item).is_ok(), "{OPEN}");
    }

    #[inline(always)]
    fn offer(&mut self, item: T) -> Result<(), T> {
        self.try_push(item).map_err(PushError::into_inner)
    }

    #[inline(always)]
    fn take(&mut self) -> T {
        self.pop().expect(OPEN)
    }

    #[inline(always)]
    fn poll(&mut self) -> Option<T> {
        self.try_pop().ok()
    }
}

const OPEN: &str = "the queue is never closed";

/// [`Queue`] without its waiting, in the same retry loop as others: `try_push` and `try_pop`.
#[derive(Debug)]
pub struct Tried<T: Send>(Queue<T>);

impl<T: Item> Exchange<T> for Tried<T> {
    type Seat<'a> = Retry<&'a Self>;

    fn build(room: Option<usize>) -> Self {
        Tried(Exchange::build(room))
    }

    fn seat(&self, _pops: bool) -> Retry<&Self> {
        Retry(self)
    }
}

impl<T: Item> Attempts<T> for &Tried<T> {
    #[inline(always)]
    fn try_put(&mut self, item: T) -> Result<(), T> {
        self.0.try_push(item).map_err(PushError::into_inner)
    }

    #[inline(always)]
    fn try_take(&mut self) -> Option<T> {
        self.0.try_pop().ok()
    }
}

peers::two_ended!(
    /// [`channel`]: the queue with two ends.
    Channel,
    channel,
    |end: &channel::Sender<T>, item| end.try_send(item).map_err(|back| back.into_inner()),
    |end: &channel::Receiver<T>| end.try_recv().ok()
);

/// [`Pool`]: unordered, without a bound.
impl<T: Item> Exchange<T> for Pool<T> {
    type Seat<'a> = &'a Self;

    fn build(_room: Option<usize>) -> Self {
        Pool::new()
    }

    fn seat(&self, _pops: bool) -> &Self {
        self
    }
}

impl<T: Item> Seat<T> for &Pool<T> {
    #[inline(always)]
    fn put(&mut self, item: T) {
        assert!(self.push(item).is_ok(), "{OPEN}");
    }

    #[inline(always)]
    fn offer(&mut self, item: T) -> Result<(), T> {
        self.push(item).map_err(|closed| closed.0)
    }

    #[inline(always)]
    fn take(&mut self) -> T {
        self.pop().expect(OPEN)
    }

    #[inline(always)]
    fn poll(&mut self) -> Option<T> {
        self.try_pop().ok()
    }
}

/// [`Rsu`]: a pile for each thread, unordered, without a bound.
impl<T: Item> Exchange<T> for Rsu<T> {
    type Seat<'a> = &'a Self;

    fn build(_room: Option<usize>) -> Self {
        Rsu::new()
    }

    fn seat(&self, _pops: bool) -> &Self {
        self
    }
}

impl<T: Item> Seat<T> for &Rsu<T> {
    #[inline(always)]
    fn put(&mut self, item: T) {
        Rsu::put(self, item);
    }

    #[inline(always)]
    fn offer(&mut self, item: T) -> Result<(), T> {
        Rsu::put(self, item);
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self) -> T {
        Rsu::take(self)
    }

    #[inline(always)]
    fn poll(&mut self) -> Option<T> {
        self.try_take()
    }
}

/// [`JobQueue`]: an array and two counters, each a [`Counter`].
#[derive(Debug)]
pub struct Jobs<T: Send>(JobQueue<T>);

impl<T: Item> Exchange<T> for Jobs<T> {
    type Seat<'a> = &'a Self;

    fn build(room: Option<usize>) -> Self {
        let elements = room.expect("built with a bound");
        Jobs(
            JobQueue::new(elements, Counter::new(), Counter::new()).expect("not too many elements"),
        )
    }

    fn seat(&self, _pops: bool) -> &Self {
        self
    }
}

impl<T: Item> Seat<T> for &Jobs<T> {
    #[inline(always)]
    fn put(&mut self, item: T) {
        self.0.enqueue(item);
    }

    /// Waits for room: this queue cannot refuse an item.
    fn offer(&mut self, item: T) -> Result<(), T> {
        self.0.enqueue(item);
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self) -> T {
        self.0.dequeue()
    }

    /// Waits for a job: a thread that has drawn a number must take the job of that number.
    fn poll(&mut self) -> Option<T> {
        None
    }
}
