//! Crate docs to come.
pub mod counter;
pub mod lock;
pub mod machine;
