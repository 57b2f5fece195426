//! One word with the number of the valid snapshot: a queue that survives the halt of any processor.
//!
//! A snapshot is the list of the items inside, and never changes. A push or pop makes the next one
//! and stores its number by a compare-exchange, at which it takes effect. Nothing is ever reused,
//! so it is for short runs.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

use throng::machine::{Cell, Cpu, Growing, Line, Machine, Place, WayOut, Word};
use throng::structures::pool::{PopError, PushError};
use throng_check::workload::Store;

use super::{Parcel, SOUND, waiting_forms};

/// This queue has no fault.
const FAULT: u8 = SOUND;
const DEAF: u8 = u8::MAX;

#[derive(Clone, Default)]
struct Snapshot {
    /// The items inside, as numbers of their cells.
    items: Vec<usize>,
    closed: bool,
}

/// The result of a push.
enum Put {
    Inside,
    Full,
    Closed,
}

pub(crate) struct Snapshots<M: Machine> {
    valid: Line<M::Word>,
    /// Number of cells and snapshots handed out.
    given: Line<M::Word>,
    cells: Growing<Line<M::Cell<Option<Parcel>>>>,
    snapshots: Growing<OnceLock<Snapshot>>,
    capacity: usize,
}

impl<M: Machine> Snapshots<M> {
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        let cell = |index| {
            Line::new::<M>(Place::named("cell").index(index), |spot| M::Cell::new(None, spot))
        };
        let snapshots = Growing::new(2, |_| OnceLock::new());
        snapshots.get(0).get_or_init(Snapshot::default);
        Snapshots {
            valid: Line::word::<M>(0, Place::named("valid")),
            given: Line::word::<M>(1, Place::named("given")),
            cells: Growing::new(2, cell),
            snapshots,
            capacity: capacity.unwrap_or(usize::MAX),
        }
    }

    /// Changes the valid snapshot by `change`, which returns the result, and whether there is a
    /// change.
    fn change<R>(&self, cpu: &M::Cpu, mut change: impl FnMut(&mut Snapshot) -> Result<R, R>) -> R {
        for round in 0.. {
            let valid = self.valid.fetch_add(0, AcqRel);
            let snapshot = self.snapshots.get(valid as usize).get();
            let mut snapshot = snapshot.expect("made before it was valid").clone();
            let result = match change(&mut snapshot) {
                Ok(result) => result,
                Err(result) => return result,
            };
            let next = self.given.fetch_add(1, AcqRel);
            self.snapshots.get(next as usize).get_or_init(|| snapshot);
            if self.valid.compare_exchange(valid, next, AcqRel, Relaxed).is_ok() {
                return result;
            }
            cpu.retry(round);
        }
        unreachable!("no call tries this often")
    }
}

impl<M: Machine> Store<Parcel, M> for Snapshots<M> {
    fn try_push_on(&self, cpu: &M::Cpu, item: Parcel) -> Result<(), PushError<Parcel>> {
        let index = self.given.fetch_add(1, AcqRel) as usize;
        let cell = self.cells.get(index);
        // SAFETY: no other processor has the cell.
        unsafe { cell.with_mut(|content| *content = Some(item)) };
        let put = self.change(cpu, |snapshot| {
            if snapshot.closed {
                return Err(Put::Closed);
            }
            if snapshot.items.len() >= self.capacity {
                return Err(Put::Full);
            }
            snapshot.items.push(index);
            Ok(Put::Inside)
        });
        // SAFETY: where the item was not put inside, no other processor knows of it.
        let back = || unsafe { cell.with_mut(Option::take) }.expect("it is there");
        match put {
            Put::Inside => Ok(()),
            Put::Full => Err(PushError::Full(back())),
            Put::Closed => Err(PushError::Closed(back())),
        }
    }

    fn try_pop_on(&self, cpu: &M::Cpu) -> Result<Parcel, PopError> {
        let index = self.change(cpu, |snapshot| {
            if snapshot.items.is_empty() {
                let closed = snapshot.closed;
                return Err(Err(if closed { PopError::Closed } else { PopError::Empty }));
            }
            Ok(Ok(snapshot.items.remove(0)))
        })?;
        // SAFETY: only the last snapshot had it, and only this processor has replaced that.
        let item = unsafe { self.cells.get(index).with_mut(Option::take) };
        Ok(item.expect("put there before"))
    }

    fn close_on(&self, cpu: &M::Cpu) -> bool {
        self.change(cpu, |snapshot| {
            if snapshot.closed {
                return Err(false);
            }
            snapshot.closed = true;
            Ok(true)
        })
    }

    waiting_forms!();
}
