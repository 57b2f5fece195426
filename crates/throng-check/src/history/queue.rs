//! Histories of queues: requests with their times and answers.

use std::fmt;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU64, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A request to a queue, whether it waits or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// To push the item of this number. No two items have the same number.
    Push(u64),
    /// To pop an item.
    Pop,
    /// To close the queue.
    Close,
}

/// The answer of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The item was pushed.
    Taken,
    /// There was no room, or none in time.
    Full,
    /// The item of this number was popped.
    Item(u64),
    /// There was no item, or none in time.
    Empty,
    /// The queue is closed, so nothing is pushed; or it is closed and empty, so nothing is popped.
    Closed,
    /// The queue is closed from now on.
    Shut {
        /// Whether this request has closed it.
        first: bool,
    },
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The number of the processor that asked. A processor has one request at a time.
    pub by: usize,
    /// The kind of the request.
    pub asked: Asked,
    /// The time when it began, or earlier.
    pub began: u64,
    /// The time when it ended, or later, and the answer; `None` while it is in progress.
    pub answered: Option<(u64, Answer)>,
}

impl Request {
    /// Returns a request that was answered.
    #[must_use]
    pub const fn over(by: usize, asked: Asked, began: u64, ended: u64, answer: Answer) -> Self {
        Request { by, asked, began, answered: Some((ended, answer)) }
    }

    /// Returns a request that never ended.
    #[must_use]
    pub const fn in_progress(by: usize, asked: Asked, began: u64) -> Self {
        Request { by, asked, began, answered: None }
    }

    /// Returns the answer, if there is one.
    #[must_use]
    pub fn answer(&self) -> Option<Answer> {
        self.answered.map(|(_, answer)| answer)
    }

    /// Returns the time when it ended, or `u64::MAX` while it is in progress.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.answered.map_or(u64::MAX, |(ended, _)| ended)
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request { by, asked, began, answered } = self;
        write!(f, "{by}: {began}..")?;
        match answered {
            Some((ended, answer)) => write!(f, "{ended} {asked:?} {answer:?}"),
            None => write!(f, " {asked:?}"),
        }
    }
}

/// Records requests, separately for each processor.
///
/// ```
/// use throng_check::history::{Answer, Asked, Journal, Request};
///
/// let journal = Journal::ticking(2);
/// journal.request(1, Asked::Push(7), || 0, || Answer::Taken);
/// assert_eq!(journal.requests(), [Request::over(1, Asked::Push(7), 0, 1, Answer::Taken)]);
/// ```
#[derive(Debug)]
pub struct Journal {
    ticks: Option<AtomicU64>,
    pages: Vec<Mutex<Vec<Request>>>,
}

impl Journal {
    /// Returns a journal for a world where one processor runs at a time. Its clock ticks at the
    /// start and at the end of every request, so no two events are at the same time. It is not part
    /// of the machine.
    #[must_use]
    pub fn ticking(processors: usize) -> Self {
        Journal { ticks: Some(AtomicU64::new(0)), pages: Self::pages(processors) }
    }

    /// Returns a journal for a world with a clock of its own.
    #[must_use]
    pub fn timed(processors: usize) -> Self {
        Journal { ticks: None, pages: Self::pages(processors) }
    }

    fn pages(processors: usize) -> Vec<Mutex<Vec<Request>>> {
        (0..processors).map(|_| Mutex::default()).collect()
    }

    /// Returns the number of processors.
    #[must_use]
    pub fn processors(&self) -> usize {
        self.pages.len()
    }

    /// Makes a request and records it. `clock` is the world's.
    pub fn request(
        &self,
        by: usize,
        asked: Asked,
        clock: impl Fn() -> u64,
        request: impl FnOnce() -> Answer,
    ) -> Answer {
        self.request_many(by, asked, clock, || vec![request()])[0]
    }

    /// Makes a request with at least one answer, and records it as one request for each answer, all
    /// with the same beginning and end.
    pub fn request_many(
        &self,
        by: usize,
        asked: Asked,
        clock: impl Fn() -> u64,
        request: impl FnOnce() -> Vec<Answer>,
    ) -> Vec<Answer> {
        let now = || {
            // On real threads a store of the request may take effect after the clock has been read, and a load before.
            fence(SeqCst);
            let now = self.ticks.as_ref().map_or_else(&clock, |ticks| ticks.fetch_add(1, SeqCst));
            fence(SeqCst);
            now
        };
        // Memory is reserved before the time is read, because an allocation may take long.
        self.page(by).reserve(1);
        let began = now();
        self.page(by).push(Request::in_progress(by, asked, began));
        let answers = request();
        let ended = now();
        let mut page = self.page(by);
        page.pop();
        page.extend(answers.iter().map(|&answer| Request::over(by, asked, began, ended, answer)));
        answers
    }

    /// Returns the requests so far: those of each processor in order, one processor after another.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        (0..self.pages.len()).flat_map(|by| self.page(by).clone()).collect()
    }

    fn page(&self, by: usize) -> MutexGuard<'_, Vec<Request>> {
        self.pages[by].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
