// More than 500 lines, because most of them document one public type, with an example for each method.

//! A FIFO queue for any number of producers and consumers.

pub(crate) mod generic;
mod iter;

use std::fmt;
use std::time::{Duration, Instant};

use crate::ShapeError;
pub use crate::error::{Closed, PopError, PopTimeoutError, PushError, PushTimeoutError};
use crate::machine::{Native, WayOut};
use generic::QueueShape;
pub use iter::{Drain, IntoIter, Iter};

/// A first-in, first-out queue for any number of producers and consumers, bounded or not.
///
/// ```
/// use std::thread;
/// use throng::Queue;
///
/// let jobs = Queue::bounded(100);
/// thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             while let Some(job) = jobs.pop() {
///                 // do it
///                 # let _: u32 = job;
///             }
///         });
///     }
///     for job in 0..1000 {
///         jobs.push(job).unwrap();
///     }
///     jobs.close();           // what is inside is still popped; then `pop` returns `None`
/// });
/// ```
///
/// # What it promises
/// The queue is linearizable: there is one order of all pushes and pops that agrees with the
/// results of all calls, and in which items leave as they came. What a thread did before a push is
/// visible to the thread that pops the item. Each item is dropped exactly once.
///
/// [`try_push`](Queue::try_push) and [`try_pop`](Queue::try_pop) never wait: they do not back off,
/// yield or sleep. They start again only after another thread has made progress, or to get past a
/// thread that has stopped. *Empty* and *full* are returned at once. A thread that stops in the
/// middle of a call, for a while or for ever, does not keep the calls of other threads from
/// returning:
/// - A consumer that stops holds one item, or will get the next one.
/// - A producer that stops before its item is in place is passed over. A consumer polls for the
///   item 256 times, or up to 32 768 times if that happens often, and then takes the next item.
///   When the producer continues, it pushes its item again.
/// - `try_pop` returns *empty* only if there was an instant during the call when every item pushed
///   had been taken or was held by a consumer.
/// - `try_push` returns *full* if the items inside and the calls in progress together are
///   [`capacity`](Queue::capacity) or more. There are never more items inside than that. A call
///   that stopped in the middle can take its slot out of use. Then *full* is returned with fewer
///   items inside, until the items after that slot have been popped. A queue without items that no
///   other call uses is never full.
///
/// In the child of a `fork`, calls of the parent's other threads count as [stopped for ever](crate#after-a-fork).
///
/// [`push`](Queue::push) and [`pop`](Queue::pop) wait for room or for an item. They look for 10 to
/// 200 microseconds with growing pauses, then yield for a while, then sleep. An item wakes one
/// sleeping consumer, and room wakes one sleeping producer. If that thread is stopped before it
/// continues, another one looks within a second. Waiting threads are not served in the order in
/// which they came.
///
/// A producer that panics leaves the queue open, and `pop` continues to wait for other producers. A
/// [`channel`](crate::channel) closes when its last sender is dropped, also by a panic.
///
/// If dropping an item panics while the queue is dropped, the other items are still dropped, and
/// the first panic is resumed afterwards.
///
/// # What it costs
/// A push and a pop are one atomic read-modify-write each, and a plain store to the slot. An empty
/// or full queue is recognised by loads alone, except once after threads have collided.
///
/// An item of 8 bytes takes 16. A bounded queue allocates its slots, the capacity rounded up to a
/// power of two, from the start. An unbounded queue has none until the first push; when it is full
/// it gets a ring twice as large. Its memory is freed when the queue is dropped.
///
/// Items need to be [`Send`] only if the queue is shared or sent:
///
/// ```compile_fail
/// use std::rc::Rc;
/// use throng::Queue;
///
/// fn share<T: Sync>(_: T) {}
/// share(Queue::<Rc<u8>>::unbounded());
/// ```
///
/// ```
/// use std::rc::Rc;
/// use throng::Queue;
///
/// let for_one_thread = Queue::unbounded();
/// for_one_thread.push(Rc::new(7)).unwrap();
/// assert_eq!(*for_one_thread.pop().unwrap(), 7);
/// ```
pub struct Queue<T>(generic::Queue<T>);

impl<T> Queue<T> {
    /// Returns a queue for as many items as there is memory for. Allocates nothing until the first push.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// static JOBS: Queue<u32> = Queue::unbounded();
    /// JOBS.push(7).unwrap();
    /// assert_eq!(JOBS.pop(), Some(7));
    /// ```
    #[must_use]
    pub const fn unbounded() -> Self {
        Queue(generic::Queue::unbounded())
    }

    /// The largest capacity: 2^32, or 2^27 on a 32-bit machine.
    pub const MAX_CAPACITY: usize = QueueShape::MOST_CAPACITY;

    /// Returns a queue for at most `capacity` items.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// let queue = Queue::bounded(2);
    /// queue.push_iter(['a', 'b']).unwrap();
    /// assert!(queue.is_full() && queue.try_push('c').is_err());
    /// ```
    ///
    /// # Panics
    /// If `capacity` is 0 or above [`MAX_CAPACITY`](Queue::MAX_CAPACITY); [`try_bounded`](Queue::try_bounded) returns an
    /// error instead.
    #[must_use]
    pub fn bounded(capacity: usize) -> Self {
        Self::try_bounded(capacity).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns a queue for at most `capacity` items.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// let error = Queue::<u32>::try_bounded(0).unwrap_err();
    /// assert_eq!(error.to_string(), "capacity 0: must be from 1 to 4294967296");
    /// ```
    ///
    /// # Errors
    /// If `capacity` is 0 or above [`MAX_CAPACITY`](Queue::MAX_CAPACITY).
    pub fn try_bounded(capacity: usize) -> Result<Self, ShapeError> {
        generic::Queue::on_machine(QueueShape::bounded(capacity)).map(Queue)
    }

    /// Returns a queue for at most `capacity` items whose [`force_push`](Queue::force_push)
    /// replaces the oldest item when the queue is full.
    ///
    /// It has at least one slot more than its capacity, rounded up to a power of two. That is twice
    /// the memory if the capacity is a power of two.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// let latest = Queue::overwriting(3);
    /// (0..10).for_each(|item| _ = latest.force_push(item));
    /// assert!(latest.drain().eq(7..10));
    /// ```
    ///
    /// # Panics
    /// If `capacity` is 0 or above [`MAX_CAPACITY`](Queue::MAX_CAPACITY).
    #[must_use]
    pub fn overwriting(capacity: usize) -> Self {
        let shape = QueueShape { spare_slot: true, ..QueueShape::bounded(capacity) };
        Queue(generic::Queue::on_machine(shape).unwrap_or_else(|error| panic!("{error}")))
    }

    /// Returns a queue for [`drop_in`](crate::drop_in): overwriting, and *full* only if it is.
    pub(crate) fn waiting_for_pops(capacity: usize) -> Self {
        let shape = QueueShape::bounded(capacity).spare_slot(true).waits_for_pops(true);
        Queue(generic::Queue::on_machine(shape).unwrap_or_else(|error| panic!("{error}")))
    }

    /// Pushes an item. If the queue is full, takes out the oldest item and returns it.
    ///
    /// A call takes out at most one item, and only after its own item is inside. It may wait for other calls in
    /// progress, but not for room. On an unbounded queue this is a push.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// let latest = Queue::overwriting(2);
    /// assert_eq!(latest.force_push('a'), Ok(None));
    /// assert_eq!(latest.force_push('b'), Ok(None));
    /// assert_eq!(latest.force_push('c'), Ok(Some('a')));
    /// assert_eq!(latest.pop(), Some('b'));
    /// ```
    ///
    /// # Errors
    /// The item, if the queue is closed.
    ///
    /// # Panics
    /// If the queue is bounded and was not made by [`overwriting`](Queue::overwriting).
    pub fn force_push(&self, item: T) -> Result<Option<T>, Closed<T>> {
        self.0.force_push_on(&Native::cpu(), item)
    }

    /// Pushes an item. Waits for room.
    ///
    /// ```
    /// use throng::Queue;
    /// use throng::queue::Closed;
    ///
    /// let queue = Queue::unbounded();
    /// assert_eq!(queue.push('a'), Ok(()));
    /// queue.close();
    /// assert_eq!(queue.push('b'), Err(Closed('b')));
    /// ```
    ///
    /// # Errors
    /// The item, if the queue is closed.
    #[inline(always)]
    pub fn push(&self, item: T) -> Result<(), Closed<T>> {
        self.0.push(item)
    }

    /// Pops the oldest item. Waits for one. Returns `None` if the queue is closed and empty.
    ///
    /// ```
    /// use std::thread;
    /// use throng::Queue;
    ///
    /// let queue = Queue::unbounded();
    /// thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         queue.push('a').unwrap();
    ///         queue.close();
    ///     });
    ///     assert_eq!(queue.pop(), Some('a'));     // waits for the producer
    ///     assert_eq!(queue.pop(), None);
    /// });
    /// ```
    #[inline(always)]
    pub fn pop(&self) -> Option<T> {
        self.0.pop()
    }

    /// Pushes an item if there is room. Never waits.
    ///
    /// ```
    /// use throng::Queue;
    /// use throng::queue::PushError;
    ///
    /// let queue = Queue::bounded(1);
    /// assert_eq!(queue.try_push('a'), Ok(()));
    /// assert_eq!(queue.try_push('b'), Err(PushError::Full('b')));
    /// queue.close();
    /// assert_eq!(queue.try_push('c'), Err(PushError::Closed('c')));
    /// ```
    ///
    /// # Errors
    /// The item, if the queue is full or closed.
    #[inline(always)]
    pub fn try_push(&self, item: T) -> Result<(), PushError<T>> {
        self.0.try_push(item)
    }

    /// Pops the oldest item if there is one. Never waits.
    ///
    /// ```
    /// use throng::Queue;
    /// use throng::queue::PopError;
    ///
    /// let queue = Queue::unbounded();
    /// queue.push(7).unwrap();
    /// assert_eq!(queue.try_pop(), Ok(7));
    /// assert_eq!(queue.try_pop(), Err(PopError::Empty));
    /// queue.close();
    /// assert_eq!(queue.try_pop(), Err(PopError::Closed));
    /// ```
    ///
    /// # Errors
    /// [`PopError::Empty`] if the queue is empty; [`PopError::Closed`] if it is also closed.
    #[inline(always)]
    pub fn try_pop(&self) -> Result<T, PopError> {
        self.0.try_pop()
    }

    /// Pushes an item. Waits for room, but not longer than `timeout`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use throng::Queue;
    /// use throng::queue::PushTimeoutError;
    ///
    /// let queue = Queue::bounded(1);
    /// queue.push('a').unwrap();
    /// let late = queue.push_timeout('b', Duration::from_millis(1));
    /// assert_eq!(late, Err(PushTimeoutError::Timeout('b')));
    /// ```
    ///
    /// # Errors
    /// The item, if there was no room in time or the queue is closed.
    pub fn push_timeout(&self, item: T, timeout: Duration) -> Result<(), PushTimeoutError<T>> {
        let cpu = Native::cpu();
        Ok(self.0.push_on(&cpu, item, &WayOut::after(&cpu, timeout))?)
    }

    /// Pushes an item. Waits for room, but not longer than until `deadline`. If there is room, the item is pushed even
    /// after the deadline.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use throng::Queue;
    /// use throng::queue::PushTimeoutError;
    ///
    /// let (queue, deadline) = (Queue::bounded(2), Instant::now() + Duration::from_millis(1));
    /// assert_eq!(queue.push_deadline('a', deadline), Ok(()));
    /// assert_eq!(queue.push_deadline('b', deadline), Ok(()));
    /// assert_eq!(queue.push_deadline('c', deadline), Err(PushTimeoutError::Timeout('c')));
    /// ```
    ///
    /// # Errors
    /// The item, if there was no room in time or the queue is closed.
    pub fn push_deadline(&self, item: T, deadline: Instant) -> Result<(), PushTimeoutError<T>> {
        self.push_timeout(item, deadline.saturating_duration_since(Instant::now()))
    }

    /// Pops the oldest item. Waits for one, but not longer than `timeout`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use throng::Queue;
    /// use throng::queue::PopTimeoutError;
    ///
    /// let queue = Queue::<u32>::unbounded();
    /// let none = queue.pop_timeout(Duration::from_millis(1));
    /// assert_eq!(none, Err(PopTimeoutError::Timeout));
    /// ```
    ///
    /// # Errors
    /// If no item came in time, or the queue is closed and empty.
    pub fn pop_timeout(&self, timeout: Duration) -> Result<T, PopTimeoutError> {
        let cpu = Native::cpu();
        Ok(self.0.pop_on(&cpu, &WayOut::after(&cpu, timeout))?)
    }

    /// Pops the oldest item. Waits for one, but not longer than until `deadline`. An item that is
    /// inside is popped even after the deadline.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use throng::Queue;
    /// use throng::queue::PopTimeoutError;
    ///
    /// let (queue, deadline) = (Queue::unbounded(), Instant::now() + Duration::from_millis(1));
    /// queue.push('a').unwrap();
    /// assert_eq!(queue.pop_deadline(deadline), Ok('a'));
    /// assert_eq!(queue.pop_deadline(deadline), Err(PopTimeoutError::Timeout));
    /// ```
    ///
    /// # Errors
    /// If no item came in time, or the queue is closed and empty.
    pub fn pop_deadline(&self, deadline: Instant) -> Result<T, PopTimeoutError> {
        self.pop_timeout(deadline.saturating_duration_since(Instant::now()))
    }

    /// Pushes items one by one. Waits for room for each.
    ///
    /// ```
    /// use throng::Queue;
    /// use throng::queue::Closed;
    ///
    /// let queue = Queue::unbounded();
    /// queue.push_iter(1..=3).unwrap();
    /// queue.close();
    /// let mut late = 4..=6;
    /// assert_eq!(queue.push_iter(&mut late), Err(Closed(4)));
    /// assert!(late.eq(5..=6) && queue.iter().eq(1..=3));
    /// ```
    ///
    /// # Errors
    /// If the queue is closed: the item that was not pushed. The items after it stay in the iterator.
    pub fn push_iter(&self, items: impl IntoIterator<Item = T>) -> Result<(), Closed<T>> {
        items.into_iter().try_for_each(|item| self.push(item))
    }

    /// Pops up to `most` items in order and appends them to `items`. Waits for the first one only.
    /// Returns the number of items popped: 0 if the queue is closed and empty, or if `most` is 0.
    ///
    /// One atomic read-modify-write pops all items that are in place in one ring, up to `most`.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// let queue: Queue<u32> = (0..100).collect();
    /// let mut batch = Vec::new();
    /// assert_eq!(queue.pop_many(&mut batch, 64), 64);
    /// assert_eq!(queue.pop_many(&mut batch, 64), 36);
    /// assert!(batch.into_iter().eq(0..100));
    /// ```
    pub fn pop_many(&self, items: &mut Vec<T>, most: usize) -> usize {
        self.0.pop_many_on(&Native::cpu(), items, most, &WayOut::none()).unwrap_or(0)
    }

    /// Pops up to `most` items in order and appends them to `items`. Never waits. Returns the
    /// number of items popped, at least 1.
    ///
    /// ```
    /// use throng::Queue;
    /// use throng::queue::PopError;
    ///
    /// let queue: Queue<u32> = (0..100).collect();
    /// let mut batch = Vec::new();
    /// assert_eq!(queue.try_pop_many(&mut batch, 64), Ok(64));
    /// assert_eq!(queue.try_pop_many(&mut batch, 64), Ok(36));
    /// assert_eq!(queue.try_pop_many(&mut batch, 64), Err(PopError::Empty));
    /// ```
    ///
    /// # Errors
    /// [`PopError::Empty`] if the queue is empty or `most` is 0; [`PopError::Closed`] if it is also
    /// closed.
    pub fn try_pop_many(&self, items: &mut Vec<T>, most: usize) -> Result<usize, PopError> {
        self.0.try_pop_many_on(&Native::cpu(), items, most)
    }

    /// Pushes an item if there is room, for a caller that has the only reference. Never waits.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// let mut queue = Queue::bounded(1);
    /// assert!(queue.push_mut('a').is_ok() && queue.push_mut('b').is_err());
    /// assert_eq!((queue.pop_mut(), queue.pop_mut()), (Some('a'), None));
    /// ```
    ///
    /// # Errors
    /// The item, if the queue is full or closed.
    pub fn push_mut(&mut self, item: T) -> Result<(), PushError<T>> {
        self.try_push(item)
    }

    /// Pops the oldest item, or returns `None` if the queue is empty, for a caller that has the only reference. Never
    /// waits. See [`push_mut`](Queue::push_mut).
    pub fn pop_mut(&mut self) -> Option<T> {
        self.try_pop().ok()
    }

    /// Closes the queue: pushes fail from now on, also those that wait for room, and the items
    /// inside can still be popped. Returns whether this call closed it.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// let queue = Queue::unbounded();
    /// queue.push('a').unwrap();
    /// assert_eq!((queue.close(), queue.close(), queue.is_closed()), (true, false, true));
    /// assert!(queue.push('b').is_err());
    /// assert_eq!((queue.pop(), queue.pop()), (Some('a'), None));
    /// ```
    pub fn close(&self) -> bool {
        self.0.close()
    }

    /// Returns an iterator that pops until the queue is closed and empty. Each step waits for an
    /// item.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// let queue = Queue::unbounded();
    /// queue.push('a').unwrap();
    /// queue.push('b').unwrap();
    /// queue.close();
    /// assert_eq!(queue.iter().collect::<String>(), "ab");
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { queue: self }
    }

    /// Returns an iterator that pops until the queue is empty. Never waits.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// let queue: Queue<u32> = (0..5).collect();
    /// assert!(queue.drain().eq(0..5));
    /// assert!(queue.is_empty());
    /// ```
    pub fn drain(&self) -> Drain<'_, T> {
        Drain { queue: self }
    }

    /// Returns whether the queue is closed.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Returns the number of items inside. Other threads may change it before the call returns.
    ///
    /// Pushes in progress are included, and so are slots that a stopped call has taken [out of
    /// use](Queue#what-it-promises). So the number can be too large, but not too small.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// let queue = Queue::bounded(3);
    /// queue.push_iter(['a', 'b']).unwrap();
    /// assert_eq!((queue.len(), queue.is_empty(), queue.is_full()), (2, false, false));
    /// assert_eq!(queue.capacity(), Some(3));
    /// ```
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is no item inside.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether there is no room.
    pub fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Returns the largest number of items that fit in, or `None` if there is no bound.
    pub const fn capacity(&self) -> Option<usize> {
        self.0.capacity()
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue::unbounded()
    }
}
