//! The leaves of a pool: one for each processor that has called it, in a table by id and in a list.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use super::leaf::Leaf;
use crate::machine::{Cpu, Growing, Machine, Native, NativeWord, Place, Word};
use crate::published::Published;

/// The number of leaves in the first table. Processors with larger ids need a lookup in a second
/// table.
const FIRST: usize = 32;

/// The number of entries of the second table that are allocated at once.
const SECOND: usize = 256;

/// The leaf of a processor, made at its first call.
type Entry<T, M> = Published<Leaf<T, M>>;

type Entries<T, M> = Growing<Entry<T, M>, fn(usize) -> Entry<T, M>>;

/// All leaves. Memory is allocated only for processors that have called the pool.
pub(super) struct Leaves<T, M: Machine> {
    first: [Entry<T, M>; FIRST],
    more: Published<Entries<T, M>>,
    /// The id of the leaf that was registered last, plus 1. 0 if there is none. Each leaf names the
    /// next.
    newest: M::Word,
}

impl<T> Leaves<T, Native> {
    /// Like [`new`](Leaves::new), for constants.
    pub(super) const fn none_yet() -> Self {
        Leaves {
            first: [const { Entry::new() }; FIRST],
            more: Published::new(),
            newest: NativeWord::constant(0),
        }
    }
}

impl<T, M: Machine> Leaves<T, M> {
    pub(super) fn new() -> Self {
        Leaves {
            first: [const { Entry::new() }; FIRST],
            more: Published::new(),
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
        self.more.get_or_make(|| Growing::with(SECOND, |_| Entry::new()))
    }

    /// Returns the leaf of a processor if it is in the first table, else `None`.
    #[inline]
    pub(super) fn quickly_of(&self, cpu: &M::Cpu) -> Option<&Leaf<T, M>> {
        self.first.get(cpu.id())?.get()
    }

    /// Returns the leaf of a processor. Registers the leaf at the first call.
    pub(super) fn of(&self, cpu: &M::Cpu) -> &Leaf<T, M> {
        let id = cpu.id();
        match self.entry(id).get() {
            Some(leaf) => leaf,
            None => self.register(id),
        }
    }

    #[cold]
    fn register(&self, id: usize) -> &Leaf<T, M> {
        let leaf = self.entry(id).get_or_make(|| Leaf::new(id));
        let mut newest = self.newest.load(Relaxed);
        loop {
            leaf.next().store(newest, Relaxed);
            match self.newest.compare_exchange(newest, id as u64 + 1, AcqRel, Relaxed) {
                Ok(_) => return leaf,
                Err(other) => newest = other,
            }
        }
    }

    /// Returns the leaf that `link` names: the id of a leaf plus 1, or 0 for none.
    fn linked(&self, link: u64) -> Option<&Leaf<T, M>> {
        self.entry((link as usize).checked_sub(1)?).get()
    }

    /// Returns all leaves that are registered now.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Leaf<T, M>> {
        let newest = self.linked(self.newest.load(Acquire));
        std::iter::successors(newest, |leaf| self.after(leaf))
    }

    /// Returns all leaves, from `first` on and around. `first` is the id of a registered leaf.
    pub(super) fn iter_from(&self, first: usize) -> impl Iterator<Item = &Leaf<T, M>> {
        let from_first =
            std::iter::successors(self.linked(first as u64 + 1), |leaf| self.after(leaf));
        from_first.chain(self.iter().take_while(move |leaf| leaf.id() != first))
    }

    /// Returns the leaf after this one in the list.
    fn after(&self, leaf: &Leaf<T, M>) -> Option<&Leaf<T, M>> {
        self.linked(leaf.next().load(Relaxed))
    }

    /// Returns the id of the leaf after leaf `id`, around.
    pub(super) fn id_after(&self, id: usize) -> usize {
        self.iter_from(id).nth(1).map_or(id, Leaf::id)
    }
}
