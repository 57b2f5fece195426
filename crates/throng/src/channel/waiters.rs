//! The tasks that wait at one side of a channel, oldest first.
//!
//! A task is in the list from [`register`](Waiters::register) until it is woken or removes itself. An [`Entry`] is the
//! task's key. Since only a wake-up removes the entry of another task, a task that does not find its entry was woken.
//!
//! | entry | in the list | the task |
//! |---|---|---|
//! | empty | | does not wait |
//! | number | yes | waits |
//! | number | no | was woken, and has not looked at the channel since |
//!
//! A lock guards the list. Tasks take it when they begin and end to wait, and callers take it to
//! wake a task. The number of tasks in the list is also in a word of its own. A caller without a
//! task to wake reads only that word. No code of an executor runs under the lock: wakers are cloned
//! before, and dropped or woken after.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Waker;

use crate::lock::{BackoffLock, Guarded};
use crate::machine::{Line, Machine, Native, Place, Word};

/// The longest backoff between two attempts to take the lock, in units of
/// [`Cpu::pause`](crate::machine::Cpu::pause). The lock is held for some 100 ns.
const MOST_BACKOFF: u32 = 64;

/// Tasks that wait.
pub struct Waiters<M: Machine = Native> {
    /// The number of tasks in the list. Written under the lock.
    count: Line<M::Word>,
    list: Guarded<List, BackoffLock<M>, M>,
}

#[derive(Default)]
struct List {
    /// The number of tasks registered so far.
    registered: u64,
    /// In ascending order of their numbers.
    tasks: VecDeque<Task>,
}

struct Task {
    number: u64,
    waker: Waker,
}

/// The key of a task in a list of [`Waiters`].
#[derive(Debug, Default)]
pub struct Entry(pub(super) Option<u64>);

impl Entry {
    /// The entry of a task that does not wait.
    pub const EMPTY: Entry = Entry(None);

    /// Returns whether the task waits or was woken.
    pub const fn is_set(&self) -> bool {
        self.0.is_some()
    }
}

impl List {
    fn position(&self, number: u64) -> Option<usize> {
        self.tasks.binary_search_by_key(&number, |task| task.number).ok()
    }
}

impl<M: Machine> Waiters<M> {
    /// Returns an empty list.
    #[must_use]
    pub fn new() -> Self {
        let lock = BackoffLock::at(Place::named("lock of waiting tasks"), MOST_BACKOFF);
        Waiters {
            count: Line::word::<M>(0, Place::named("number of waiting tasks")),
            list: Guarded::under(lock, List::default()),
        }
    }

    /// Enters a task into the list, if it is not in it. Its next wake-up goes to `waker`.
    pub fn register(&self, cpu: &M::Cpu, entry: &mut Entry, waker: &Waker) {
        let waker = waker.clone();
        let replaced = self.list.with(cpu, |list| {
            if let Some(position) = entry.0.and_then(|number| list.position(number)) {
                return Some(mem::replace(&mut list.tasks[position].waker, waker));
            }
            let number = list.registered;
            list.registered += 1;
            list.tasks.push_back(Task { number, waker });
            self.count_tasks(list);
            entry.0 = Some(number);
            None
        });
        drop(replaced);
    }

    /// Removes a task from the list and empties its entry. Returns whether the task had been woken.
    pub fn remove(&self, cpu: &M::Cpu, entry: &mut Entry) -> bool {
        let Some(number) = entry.0.take() else { return false };
        let removed = self.list.with(cpu, |list| {
            let removed = list.position(number).and_then(|position| list.tasks.remove(position));
            self.count_tasks(list);
            removed
        });
        removed.is_none()
    }

    /// Ends the wait of a task that has got what it waited for. Wakes the next task if there is
    /// more.
    pub fn end_wait(&self, cpu: &M::Cpu, entry: &mut Entry, is_more: impl FnOnce() -> bool) {
        if entry.is_set() {
            self.remove(cpu, entry);
            if self.is_any() && is_more() {
                self.wake_one(cpu);
            }
        }
    }

    /// Ends the wait of a task that gives up. If it had been woken, wakes the next task.
    pub fn give_up(&self, cpu: &M::Cpu, entry: &mut Entry) {
        if self.remove(cpu, entry) {
            self.look(cpu);
        }
    }

    /// Wakes a task if there is one. Must be called after the change that the tasks wait for.
    #[inline(always)]
    pub fn look(&self, cpu: &M::Cpu) {
        if self.is_any() {
            self.wake_one(cpu);
        }
    }

    /// Returns whether any task waits that has not been woken.
    #[inline(always)]
    pub fn is_any(&self) -> bool {
        self.count.load(Relaxed) != 0
    }

    /// Wakes the task that has waited longest.
    #[cold]
    #[inline(never)]
    pub fn wake_one(&self, cpu: &M::Cpu) {
        let woken = self.list.with(cpu, |list| {
            let woken = list.tasks.pop_front();
            self.count_tasks(list);
            woken
        });
        if let Some(task) = woken {
            task.waker.wake();
        }
    }

    /// Wakes all tasks.
    pub fn wake_all(&self, cpu: &M::Cpu) {
        let woken = self.list.with(cpu, |list| {
            let woken = mem::take(&mut list.tasks);
            self.count_tasks(list);
            woken
        });
        woken.into_iter().for_each(|task| task.waker.wake());
    }

    /// Stores the number of tasks. Relaxed: the words of the queue order it (see
    /// [`Buffered`](super::buffered::Buffered)).
    fn count_tasks(&self, list: &List) {
        self.count.store(list.tasks.len() as u64, Relaxed);
    }
}

impl<M: Machine> Default for Waiters<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Machine> fmt::Debug for Waiters<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiters").field("count", &self.count).finish_non_exhaustive()
    }
}
