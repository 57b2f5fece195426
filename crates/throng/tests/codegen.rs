//! `Native` costs nothing: what is written against the machine contract compiles to the same
//! instructions as hand-written atomics.

// How functions look in assembly differs between systems.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

fn rustc(arguments: &[&str]) {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let fixed = ["--edition=2024", "-Copt-level=3", "-Ccodegen-units=1", "-Cdebuginfo=0"];
    let output = Command::new(rustc).args(fixed).args(arguments).output().expect("rustc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The assembly of `codegen/pairs.rs`, optimised.
fn assembly() -> &'static str {
    static ASSEMBLY: OnceLock<String> = OnceLock::new();
    ASSEMBLY.get_or_init(compile_pairs)
}

fn compile_pairs() -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("codegen");
    fs::create_dir_all(&out).expect("the target directory can be written");
    let path = |path: &Path| path.to_str().expect("a path in UTF-8").to_owned();

    let library = path(&out.join("libthrong.rlib"));
    let root = path(&source.join("src/lib.rs"));
    rustc(&[
        "--crate-name=throng",
        "--crate-type=rlib",
        "--cfg=feature=\"std\"",
        &root,
        "-o",
        &library,
        "--cap-lints=allow",
    ]);
    let assembly = path(&out.join("pairs.s"));
    let pairs = path(&source.join("tests/codegen/pairs.rs"));
    let throng = format!("--extern=throng={library}");
    rustc(&["--crate-name=pairs", "--emit=asm", &throng, &pairs, "-o", &assembly]);
    fs::read_to_string(assembly).expect("rustc has written it")
}

/// The instructions of a function, or of the one that the compiler merged it with.
fn instructions(assembly: &str, function: &str) -> Vec<String> {
    let (merged, label) = (format!("{function} = "), format!("{function}:"));
    if let Some(other) = assembly.lines().find_map(|line| line.strip_prefix(&merged)) {
        return instructions(assembly, other);
    }
    let body = assembly.lines().skip_while(|&line| line != label).skip(1);
    let found: Vec<String> = body
        .take_while(|line| !line.starts_with(".Lfunc_end"))
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['.', '#']))
        .map(without_label_numbers)
        .collect();
    assert!(!found.is_empty(), "{function} is not in the assembly");
    found
}

/// Labels carry the number of their function: `.LBB1_4`.
fn without_label_numbers(line: &str) -> String {
    match line.split_once(".LBB") {
        Some((before, label)) => {
            format!("{before}.LBB{}", label.trim_start_matches(char::is_numeric))
        }
        None => line.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// The instructions from the entry to the first return: the way of a call that takes no jump.
#[cfg(target_arch = "x86_64")]
fn straight_way(instructions: &[String]) -> &[String] {
    let end = instructions.iter().position(|line| line.starts_with("ret"));
    &instructions[..=end.expect("a function returns")]
}

/// The default counter on one word: the `fetch_add`, a look at the mode, and a test of the number.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_default_counter_adds_a_load_and_two_branches() {
    let assembly = assembly();
    let all = instructions(assembly, "throng_default");
    let ours = straight_way(&all);
    println!("{} instructions: {}", ours.len(), ours.join("; "));
    let plain = instructions(assembly, "plain_fetch_add");
    let count = |what: &str| ours.iter().filter(|line| line.contains(what)).count();
    assert_eq!(count("lock"), 1, "one locked instruction: {ours:?}");
    assert_eq!(ours.iter().filter(|line| line.starts_with('j')).count(), 2, "{ours:?}");
    assert_eq!((count("call"), count("push"), count("pop")), (0, 0, 0), "{ours:?}");
    assert!(ours.len() <= plain.len() + 6, "{} and {}: {ours:?}", ours.len(), plain.len());
}

#[test]
fn native_compiles_to_hand_written_atomics() {
    let assembly = assembly();
    for pair in ["fetch_add", "toggle", "prism_slot"] {
        let ours = instructions(assembly, &format!("throng_{pair}"));
        let plain = instructions(assembly, &format!("plain_{pair}"));
        assert_eq!(ours, plain, "{pair}");
        println!("{pair}: {}", ours.join("; "));
    }
    let ours = instructions(assembly, "throng_different");
    assert_ne!(ours, instructions(assembly, "plain_different"), "the comparison can tell");
}
