//! What was asked of a queue when, and what it answered.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What somebody asks of a queue, whether or not it is ready to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// To take in the item of this number. No two have the same.
    Push(u64),
    /// To hand out an item.
    Pop,
    /// To take in nothing more.
    Close,
}

/// What the queue answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It has taken the item in.
    Taken,
    /// There was no room, or none in time.
    Full,
    /// The item of this number.
    Item(u64),
    /// There was no item, or none in time.
    Empty,
    /// It is closed, and takes nothing in; or has been emptied, too.
    Closed,
    /// It is closed from now on.
    Shut {
        /// Whether this request has closed it.
        first: bool,
    },
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who asked. One has one request at a time.
    pub by: usize,
    /// For what.
    pub asked: Asked,
    /// When it began, or earlier.
    pub began: u64,
    /// When it was over, or later, and the answer; `None` while it is in progress.
    pub answered: Option<(u64, Answer)>,
}

impl Request {
    /// A request that was answered.
    #[must_use]
    pub const fn over(by: usize, asked: Asked, began: u64, ended: u64, answer: Answer) -> Self {
        Request { by, asked, began, answered: Some((ended, answer)) }
    }

    /// A request that never came back.
    #[must_use]
    pub const fn in_progress(by: usize, asked: Asked, began: u64) -> Self {
        Request { by, asked, began, answered: None }
    }

    /// The answer, if there is one.
    #[must_use]
    pub fn answer(&self) -> Option<Answer> {
        self.answered.map(|(_, answer)| answer)
    }

    /// When it was over; never, while it is in progress.
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

/// Records requests, for each of those who ask its own.
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
    /// For a world where one processor runs at a time: its clock ticks at the start and at the end
    /// of every request, so no two events are at the same time. It is no part of the machine.
    #[must_use]
    pub fn ticking(processors: usize) -> Self {
        Journal { ticks: Some(AtomicU64::new(0)), pages: Self::pages(processors) }
    }

    /// For a world with a clock of its own.
    #[must_use]
    pub fn timed(processors: usize) -> Self {
        Journal { ticks: None, pages: Self::pages(processors) }
    }

    fn pages(processors: usize) -> Vec<Mutex<Vec<Request>>> {
        (0..processors).map(|_| Mutex::default()).collect()
    }

    /// For how many it is.
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
        let now = || self.ticks.as_ref().map_or_else(&clock, |ticks| ticks.fetch_add(1, SeqCst));
        // Room is made before the time is taken: it may take long to find memory.
        self.page(by).reserve(1);
        let began = now();
        self.page(by).push(Request::in_progress(by, asked, began));
        let answer = request();
        let ended = now();
        if let Some(request) = self.page(by).last_mut() {
            request.answered = Some((ended, answer));
        }
        answer
    }

    /// The requests so far: of each who asks in order, one after another.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        (0..self.pages.len()).flat_map(|by| self.page(by).clone()).collect()
    }

    fn page(&self, by: usize) -> MutexGuard<'_, Vec<Request>> {
        self.pages[by].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
