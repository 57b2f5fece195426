//! The laboratory of [`throng`]: it lists the structures of the library and measures them, on the
//! machine it runs on and on simulated ones, checking every result while it does.
//!
//! | module | what it does |
//! |---|---|
//! | [`commands`] | a file each command: its arguments, its plan, its run |
//! | [`mod@bench`] | one kind of structure, measured on real threads |
//! | [`survey`] | this machine, need by need; [`page`], [`table`] and [`mod@compare`] show and compare it |
//! | [`mod@calibrate`], [`mod@validate`] | how far cores are apart, and whether a machine made from that behaves the same |
//! | [`mod@watch`], [`mod@simulate`] | the default counter live; one run on a simulated machine, for a person |
//!
//! ```
//! use clap::Parser;
//! use throng_lab::commands::{Arguments, run};
//!
//! run(Arguments::try_parse_from(["throng", "list"]).unwrap()).unwrap();
//! ```

pub mod bench;
pub mod calibrate;
pub mod commands;
pub mod compare;
pub mod error;
pub mod heap;
pub mod page;
pub mod peers;
pub mod simulate;
mod stop;
pub mod survey;
pub mod table;
mod threads;
pub mod validate;
pub mod watch;
