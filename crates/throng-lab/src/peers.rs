//! The reference counter that the structures of `throng` are compared with.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use throng::machine::{Native, NativeCpu};
use throng::structures::counter::{
    About, Consistency, Counting, Method, Progress, Registered, Shape, ShapeError,
};

/// The simplest counter: an [`AtomicU64`] and `fetch_add`.
///
/// On a line of its own, so that it does not share a line with whatever the allocator puts beside
/// it.
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
    const ABOUT: About = About::new(
        "fetch_add",
        "the bare atomic of the standard library",
        "std::sync::atomic::AtomicU64",
        Consistency::Linearizable,
        Progress::WaitFree,
    );

    fn build(_shape: &Shape) -> Result<Self, ShapeError> {
        Ok(Self::default())
    }
}

/// Returns the counter that every other one is compared with.
pub fn reference() -> Registered<Native> {
    Registered::of::<FetchAdd>()
}
