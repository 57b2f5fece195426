//! The leaves of a pool: one for each processor that ever came, found by its id, and in a list.

use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use super::leaf::Leaf;
use crate::machine::{Cpu, Growing, Machine, Native, NativeWord, Place, Word};

/// Processors with smaller ids find their leaf without a second table.
const FIRST: usize = 32;

/// Entries of the second table that are made at once.
const SECOND: usize = 256;

/// The leaf of a processor, once it has come: half as large as a `OnceLock`.
struct Entry<T, M: Machine>(AtomicPtr<Leaf<T, M>>);

impl<T, M: Machine> Entry<T, M> {
    const fn new() -> Self {
        Entry(AtomicPtr::new(ptr::null_mut()))
    }

    #[inline]
    fn get(&self) -> Option<&Leaf<T, M>> {
        // SAFETY: null, or a leaf that lives as long as the entry.
        unsafe { self.0.load(Acquire).as_ref() }
    }

    fn get_or_init(&self, leaf: Leaf<T, M>) -> &Leaf<T, M> {
        let made = Box::into_raw(Box::new(leaf));
        if let Err(other) = self.0.compare_exchange(ptr::null_mut(), made, AcqRel, Acquire) {
            // SAFETY: made above, and not published.
            drop(unsafe { Box::from_raw(made) });
            // SAFETY: a leaf that lives as long as the entry.
            return unsafe { &*other };
        }
        // SAFETY: as above.
        unsafe { &*made }
    }
}

impl<T, M: Machine> Drop for Entry<T, M> {
    fn drop(&mut self) {
        let leaf = *self.0.get_mut();
        if !leaf.is_null() {
            // SAFETY: made by `get_or_init`, and no other thread uses the pool.
            drop(unsafe { Box::from_raw(leaf) });
        }
    }
}

type Entries<T, M> = Growing<Entry<T, M>, fn(usize) -> Entry<T, M>>;

/// All leaves. Memory is allocated for processors that come, and for no others.
pub(super) struct Leaves<T, M: Machine> {
    first: [Entry<T, M>; FIRST],
    more: OnceLock<Box<Entries<T, M>>>,
    /// The id of the leaf that was registered last, plus 1; 0 if there is none. Each leaf names the next.
    newest: M::Word,
}

impl<T> Leaves<T, Native> {
    /// The same as [`new`](Leaves::new), for constants.
    pub(super) const fn none_yet() -> Self {
        Leaves {
            first: [const { Entry::new() }; FIRST],
            more: OnceLock::new(),
            newest: NativeWord::constant(0),
        }
    }
}

impl<T, M: Machine> Leaves<T, M> {
    pub(super) fn new() -> Self {
        Leaves {
            first: [const { Entry::new() }; FIRST],
            more: OnceLock::new(),
            newest: M::Word::new(0, &M::spot(Place::named("pool leaves"))),
        }
    }

    fn entry(&self, id: usize) -> &Entry<T, M> {
        match self.first.get(id) {
            Some(entry) => entry,
            None => self.more().get(id),
        }
    }

    fn more(&self) -> &Entries<T, M> {
        self.more.get_or_init(|| Box::new(Growing::with(SECOND, |_| Entry::new())))
    }

    /// The leaf of a processor, if it can be found without a call.
    #[inline]
    pub(super) fn quickly_of(&self, cpu: &M::Cpu) -> Option<&Leaf<T, M>> {
        self.first.get(cpu.id())?.get()
    }

    /// The leaf of a processor; registers it if this is its first call.
    pub(super) fn of(&self, cpu: &M::Cpu) -> &Leaf<T, M> {
        let id = cpu.id();
        match self.entry(id).get() {
            Some(leaf) => leaf,
            None => self.register(id),
        }
    }

    #[cold]
    fn register(&self, id: usize) -> &Leaf<T, M> {
        let leaf = self.entry(id).get_or_init(Leaf::new(id));
        let mut newest = self.newest.load(Relaxed);
        loop {
            leaf.next().store(newest, Relaxed);
            match self.newest.compare_exchange(newest, id as u64 + 1, AcqRel, Relaxed) {
                Ok(_) => return leaf,
                Err(other) => newest = other,
            }
        }
    }

    /// The leaf that `link` names: the id of a leaf plus 1, or 0.
    fn linked(&self, link: u64) -> Option<&Leaf<T, M>> {
        self.entry((link as usize).checked_sub(1)?).get()
    }

    /// All leaves that are registered now.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Leaf<T, M>> {
        let newest = self.linked(self.newest.load(Acquire));
        std::iter::successors(newest, |leaf| self.after(leaf))
    }

    /// All leaves, from `first` on and around. `first` is the id of a registered leaf.
    pub(super) fn iter_from(&self, first: usize) -> impl Iterator<Item = &Leaf<T, M>> {
        let from_first =
            std::iter::successors(self.linked(first as u64 + 1), |leaf| self.after(leaf));
        from_first.chain(self.iter().take_while(move |leaf| leaf.id() != first))
    }

    /// The leaf after this one in the list.
    fn after(&self, leaf: &Leaf<T, M>) -> Option<&Leaf<T, M>> {
        self.linked(leaf.next().load(Relaxed))
    }

    /// The id of the leaf after leaf `id`, around.
    pub(super) fn id_after(&self, id: usize) -> usize {
        self.iter_from(id).nth(1).map_or(id, Leaf::id)
    }
}
