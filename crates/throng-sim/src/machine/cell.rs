//! Cells of simulated memory.
#![allow(unsafe_code)]

use std::fmt;

use throng::machine::{Cell, Native, NativeCell};

use super::{Sim, SimSpot};
use crate::turn::{self, Address};

/// A cell of simulated memory: using its content costs one access to its line.
pub struct SimCell<T> {
    content: NativeCell<T>,
    address: Address,
}

impl<T: Send> Cell<T, Sim> for SimCell<T> {
    fn new(value: T, spot: &SimSpot) -> Self {
        SimCell { content: Cell::<T, Native>::new(value, &()), address: spot.0.new_word() }
    }

    unsafe fn with_mut<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        turn::access_cell(&self.address);
        // SAFETY: the caller promises that no other access overlaps with this one.
        unsafe { self.content.with_mut(f) }
    }

    fn into_inner(self) -> T {
        self.content.into_inner()
    }
}

impl<T> fmt::Debug for SimCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimCell").field("address", &self.address).finish_non_exhaustive()
    }
}
