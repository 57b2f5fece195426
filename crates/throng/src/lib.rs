//! Crate docs to come.
pub mod counter;
pub mod machine;
