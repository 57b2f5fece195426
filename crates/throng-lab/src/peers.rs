//! What people use today: the rows that the structures of `throng` are compared with.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use throng::counter::{
    About, Consistency, Counting, Method, Progress, Registered, Shape, ShapeError,
};
use throng::machine::{Native, NativeCpu};

/// The counter everybody writes first: an [`AtomicU64`] and `fetch_add`.
///
/// On a line of its own, so that it is measured at its best and not at the mercy of whatever the
/// allocator puts beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct FetchAdd(AtomicU64);

impl Counting<Native> for FetchAdd {
    #[inline]
    fn next_on(&self, _cpu: &NativeCpu) -> u64 {
        self.0.fetch_add(1, Relaxed)
    }
}

impl Method<Native> for FetchAdd {
    const ABOUT: About = About {
        name: "fetch_add",
        summary: "the bare atomic of the standard library",
        paper: "std::sync::atomic::AtomicU64",
        consistency: Consistency::Linearizable,
        progress: Progress::WaitFree,
    };

    fn build(_shape: &Shape) -> Result<Self, ShapeError> {
        Ok(Self::default())
    }
}

/// The counter that every other one is compared with.
#[must_use]
pub fn reference() -> Registered<Native> {
    Registered::of::<FetchAdd>()
}
