//! The header and the code agree: the same functions with the same arguments, and the same codes.
//!
//! Both are read as text. A Rust signature is translated by the table of types below and compared with the
//! prototype in the header.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A type of Rust, and the same in C.
const TYPES: [(&str, &str); 16] = [
    ("*mut *mut Handle<Counter>", "throng_counter **"),
    ("*mut Handle<Counter>", "throng_counter *"),
    ("*mut *mut Handle<Meeting>", "throng_barrier **"),
    ("*mut Handle<Meeting>", "throng_barrier *"),
    ("*mut *mut Handle<TeamMember>", "throng_member **"),
    ("*mut Handle<TeamMember>", "throng_member *"),
    ("*mut *mut Handle<Queue<Item>>", "throng_queue **"),
    ("*mut Handle<Queue<Item>>", "throng_queue *"),
    ("*mut *mut Handle<Pool<Item>>", "throng_pool **"),
    ("*mut Handle<Pool<Item>>", "throng_pool *"),
    ("*mut *mut c_void", "void **"),
    ("*mut c_void", "void *"),
    ("*const c_char", "const char *"),
    ("Option<IndexFunction>", "throng_index_function "),
    ("*mut usize", "size_t *"),
    ("*mut u64", "uint64_t *"),
];

/// The same for types that are plain.
const PLAIN_TYPES: [(&str, &str); 6] = [
    ("c_int", "int "),
    ("usize", "size_t "),
    ("u64", "uint64_t "),
    ("u32", "uint32_t "),
    ("*mut u32", "uint32_t *"),
    ("*mut c_int", "int *"),
];

fn here(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn in_c(rust: &str) -> &'static str {
    let known = TYPES.iter().chain(&PLAIN_TYPES).find(|(name, _)| *name == rust);
    known.unwrap_or_else(|| panic!("`{rust}` has no equal in the table of this test")).1
}

/// White space does not count.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Prototypes, by the names of the functions, made from the code.
fn prototypes_of_code() -> BTreeMap<String, String> {
    let sources = ["lib", "status", "counter", "barrier", "team", "queue", "pool", "index"];
    let mut prototypes = BTreeMap::new();
    for source in sources.map(|name| here(&format!("src/{name}.rs"))) {
        for part in source.split("extern \"C\" fn throng_").skip(1) {
            let signature = on_one_line(part.split(" {\n").next().unwrap());
            let (name, rest) = signature.split_once('(').unwrap();
            let (arguments, result) = rest.rsplit_once(") -> ").unwrap();
            let arguments: Vec<_> = arguments
                .split(',')
                .filter_map(|argument| argument.trim().split_once(": "))
                .map(|(name, kind)| format!("{}{name}", in_c(kind)))
                .collect();
            let arguments =
                if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
            let prototype = format!("{}throng_{name}({arguments});", in_c(result));
            prototypes.insert(name.to_owned(), prototype);
        }
    }
    prototypes
}

fn without_comments(header: &str) -> String {
    let mut code = String::new();
    let mut rest = header;
    while let Some((before, comment)) = rest.split_once("/*") {
        code += before;
        rest = comment.split_once("*/").expect("comments end").1;
    }
    code + rest
}

fn prototypes_of_header() -> BTreeMap<String, String> {
    let header = without_comments(&here("include/throng.h"));
    let mut prototypes = BTreeMap::new();
    for statement in header.split_inclusive(';') {
        let last_lines = statement.rsplit("\n\n").next().unwrap();
        let prototype = on_one_line(last_lines);
        if let (Some((before, _)), false) =
            (prototype.split_once('('), prototype.starts_with("typedef"))
        {
            let name = before.rsplit("throng_").next().unwrap().to_owned();
            prototypes.insert(name, prototype);
        }
    }
    prototypes
}

#[test]
fn functions_agree() {
    let (code, header) = (prototypes_of_code(), prototypes_of_header());
    assert_eq!(code, header);
    assert!(code.len() > 35, "{} functions", code.len());
}

#[test]
fn codes_agree() {
    let header = without_comments(&here("include/throng.h"));
    let list = header.split_once("enum {").unwrap().1.split_once('}').unwrap().0;
    let in_header: BTreeMap<String, i32> = list
        .split(',')
        .map(|code| code.split_once(" = ").expect("each code has its value"))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().parse().unwrap()))
        .collect();

    let status = here("src/status.rs");
    let value_of = |variant: &str| -> i32 {
        let line = status.lines().find(|line| line.trim().starts_with(&format!("{variant} = ")));
        line.unwrap().trim_end_matches(',').rsplit(' ').next().unwrap().parse().unwrap()
    };
    let in_code: BTreeMap<String, i32> = status
        .lines()
        .filter_map(|line| line.trim().strip_prefix("(\"")?.strip_suffix("),"))
        .map(|entry| entry.split_once("\", Status::").unwrap())
        .map(|(name, variant)| (name.to_owned(), value_of(variant)))
        .collect();
    assert_eq!(in_header, in_code);
}
