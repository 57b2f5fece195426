//! The figures of the papers behind [`throng`], made again on simulated machines.
//!
//! | module | what it does |
//! |---|---|
//! | [`workloads`] | one run on a simulated machine, measured and checked |
//! | [`model`] | the steady-state model of diffracting trees (SS98) |
//! | [`figures`] | one file a figure: its workload, its chart, the paper's claims, judged |
//! | [`mod@chart`] | charts as SVG |
//! | [`arguments`] | values of options, checked |
//! | [`mod@csv`], [`table`], [`numbers`], [`names`] | numbers and names as text |
//! | [`output`], [`files`] | standard output, and files that are replaced in one step |
//! | [`machines`] | machines by name, or from a TOML file |
//! | [`error`] | what can go wrong |
//!
//! ```
//! use throng_papers::figures::{find, lab::Lab};
//!
//! let smoke = true;
//! let made = find("SS98-9")?.make(&Lab::new(smoke, 1, 2))?;
//! assert!(!made.findings.panels.is_empty());
//! # Ok::<(), throng_papers::error::Error>(())
//! ```

pub mod arguments;
pub mod chart;
pub mod csv;
pub mod error;
pub mod figures;
pub mod files;
pub mod machines;
pub mod model;
pub mod names;
pub mod numbers;
pub mod output;
pub mod table;
pub mod workloads;
