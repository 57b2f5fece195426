//! Items that are counted when they are made and when they are dropped.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::panicking;

/// The parcels that were made, and the number of drops of each.
///
/// ```
/// use throng_check::workload::Ledger;
///
/// let ledger = Ledger::for_makers(2);
/// let parcel = ledger.parcel(1);
/// assert_eq!(parcel.number(), 1 << 32);
/// assert_eq!(ledger.check(0).unwrap_err().to_string(), "1 items were never dropped: 0x100000000");
/// assert_eq!(ledger.check(1), Ok(()));
/// drop(parcel);
/// assert_eq!(ledger.check(0), Ok(()));
/// ```
#[derive(Debug)]
pub struct Ledger {
    /// For each maker's parcels, the number of times that they were dropped.
    drops: Vec<Mutex<Vec<u32>>>,
}

/// An item was dropped twice, or never.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miscounted {
    /// Dropped more than once.
    Twice {
        /// The item.
        item: u64,
    },
    /// Never dropped; more of them than may be missing.
    Never {
        /// The first of them.
        item: u64,
        /// The number of them.
        count: usize,
    },
}

impl fmt::Display for Miscounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Miscounted::Twice { item } => write!(f, "item {item:#x} was dropped twice"),
            Miscounted::Never { item, count } => {
                write!(f, "{count} items were never dropped: {item:#x}")
            }
        }
    }
}

impl std::error::Error for Miscounted {}

impl Ledger {
    /// Returns a ledger for `makers` makers of parcels.
    #[must_use]
    pub fn for_makers(makers: usize) -> Arc<Self> {
        Arc::new(Ledger { drops: (0..makers).map(|_| Mutex::default()).collect() })
    }

    /// Returns the next parcel of `maker`.
    #[must_use]
    pub fn parcel(self: &Arc<Self>, maker: usize) -> Parcel {
        let mut drops = self.of(maker);
        drops.push(0);
        let number = (maker as u64) << 32 | (drops.len() as u64 - 1);
        Parcel { number, explodes: false, ledger: Arc::clone(self) }
    }

    /// Checks that every parcel was dropped once. Up to `missing` of them may not have been,
    /// because processors that were killed held them.
    ///
    /// # Errors
    /// The item that was miscounted.
    pub fn check(&self, missing: usize) -> Result<(), Miscounted> {
        let mut never = Vec::new();
        for maker in 0..self.drops.len() {
            for (index, &drops) in self.of(maker).iter().enumerate() {
                let item = (maker as u64) << 32 | index as u64;
                match drops {
                    0 => never.push(item),
                    1 => {}
                    _ => return Err(Miscounted::Twice { item }),
                }
            }
        }
        match never.first() {
            Some(&item) if never.len() > missing => {
                Err(Miscounted::Never { item, count: never.len() })
            }
            _ => Ok(()),
        }
    }

    fn of(&self, maker: usize) -> MutexGuard<'_, Vec<u32>> {
        self.drops[maker].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An item with a number of its own, whose drop is counted.
pub struct Parcel {
    number: u64,
    explodes: bool,
    ledger: Arc<Ledger>,
}

impl Parcel {
    /// Returns its number: the maker's, and its index among the maker's parcels.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the same parcel, but its drop panics after it is counted.
    #[must_use]
    pub fn exploding(mut self) -> Self {
        self.explodes = true;
        self
    }

    /// Returns the same parcel once more, like a queue that hands an item out twice.
    #[must_use]
    pub fn forged(&self) -> Self {
        Parcel { number: self.number, explodes: false, ledger: Arc::clone(&self.ledger) }
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        let (maker, index) = ((self.number >> 32) as usize, self.number as u32 as usize);
        self.ledger.of(maker)[index] += 1;
        if self.explodes && !panicking() {
            panic!("parcel {:#x} explodes on purpose", self.number);
        }
    }
}

impl fmt::Debug for Parcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Parcel({:#x})", self.number)
    }
}
