//! The C interface: `include/throng.h`, compiled into `libthrong.so` and `libthrong.a`.
//!
//! Each function of the header is one `extern "C"` function here, with the same name. `docs/c.md` shows how
//! to build, install and link; the header is the reference.
//!
//! | part | what it does |
//! |---|---|
//! | [`status`] | error codes, their texts, and [`status::guard`]: no panic crosses the border |
//! | [`handle`] | the opaque handles, each with a word that says whether it is alive and of which kind |
//! | [`call`] | the common part of all functions: check the handle, do their part, write the result |
//! | [`throng_c_common`] | shared with the library to be preloaded: barriers that can be destroyed at once |
//! | [`counter`], [`barrier`], [`team`], [`queue`], [`pool`], [`index`] | one file for each group of functions |
//!
//! # Safety
//! All functions with pointer arguments have one contract, which the header states: a handle is null or points
//! to readable memory; a pointer for a result is null or points to writable memory of its type; and no
//! handle is destroyed while another call uses it, except as the header allows for barriers.

// The contract is the same for all of them; it is above.
#![allow(clippy::missing_safety_doc)]

pub mod barrier;
pub mod call;
pub mod counter;
pub mod handle;
pub mod index;
pub mod pool;
pub mod queue;
pub mod status;
pub mod team;

use std::ffi::{CStr, c_char};

/// Returns the version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn throng_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no zero byte"),
        };
    VERSION.as_ptr()
}
