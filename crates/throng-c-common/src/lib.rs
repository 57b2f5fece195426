//! The common part of `libthrong` and `libthrong_preload`.
//!
//! It is a package of its own because neither library can depend on the other: each would export the other's
//! functions as well.
//!
//! | part | what it does |
//! |---|---|
//! | [`meeting`] | a barrier that a thread may destroy as soon as it has returned from it |
//! | [`occupancy`] | returns when all threads have left a barrier |
//! | [`memory`] | checks whether there is memory, before it is needed |

pub mod meeting;
pub mod memory;
pub mod occupancy;

#[cfg(test)]
mod counting;
