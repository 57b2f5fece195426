//! Links the unwinder statically.
//!
//! Rust's standard library needs `libgcc_s.so.1`. Most programs in C do not load it otherwise. Its
//! start asks the processor for its features, which takes about 60 us on a virtual machine. So the
//! linker gets, under that name, a script that takes the compiler's static libraries instead. If
//! there are none, nothing changes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_gnu = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux")
        && env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu")
        && env::var("HOST") == env::var("TARGET");
    if let (true, Some(out), Some(unwinder)) =
        (is_gnu, env::var_os("OUT_DIR"), static_library("libgcc_eh.a"))
    {
        let script = format!("INPUT({} -lgcc -lc)\n", unwinder.display());
        if fs::write(Path::new(&out).join("libgcc_s.so"), script).is_ok() {
            println!("cargo::rustc-cdylib-link-arg=-L{}", Path::new(&out).display());
        }
    }
}

/// Asks the compiler that links for the path of this library.
fn static_library(name: &str) -> Option<PathBuf> {
    let asked = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim());
    path.is_absolute().then_some(path)
}
