//! No circles: modules of a crate that are side by side do not know each other both ways.
//!
//! The test reads the paths in the sources: `use` lines and paths in code that begin with `crate` or `super`. An edge goes
//! from a module to another that is beside it. Tests within the sources, and paths between a module and those in it, do
//! not count.
//!
//! The same graphs are drawn in ARCHITECTURE.md, and compared with it here. With the environment variable `THRONG_WRITE`
//! set, the test writes the drawing anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of a crate, each with its path from the root, and those that each names.
#[derive(Debug, Default)]
struct Sources {
    modules: BTreeSet<Vec<String>>,
    /// Who names what: both are paths from the root. What is named may be an item of a module.
    named: Vec<(Vec<String>, Vec<String>)>,
}

/// Modules that are beside each other, and which of them each names.
type Graph = BTreeMap<String, BTreeSet<String>>;

impl Sources {
    /// Reads all files below `src`.
    fn read(src: &Path) -> Self {
        let mut sources = Sources::default();
        let mut texts = Vec::new();
        for file in files(src) {
            let module = module_of(file.strip_prefix(src).unwrap());
            let is_test = module.last().is_some_and(|name| name == "tests");
            if !is_test {
                let text = fs::read_to_string(&file).unwrap();
                texts.push((module.clone(), text));
            }
            sources.modules.insert(module);
        }
        for (module, text) in texts {
            for path in paths(&without_tests(&without_comments(&text))) {
                if let Some(target) = resolved(&module, &path) {
                    sources.named.push((module.clone(), target));
                }
            }
        }
        sources
    }

    /// Returns the graph of the modules within `parent`.
    fn graph(&self, parent: &[String]) -> Graph {
        let depth = parent.len();
        let child = |path: &[String]| -> Option<String> {
            let is_within = path.len() > depth && path.starts_with(parent);
            let is_module = is_within && self.modules.contains(&path[..=depth]);
            is_module.then(|| path[depth].clone())
        };
        let mut graph = Graph::new();
        for (from, to) in &self.named {
            if let (Some(from), Some(to)) = (child(from), child(to))
                && from != to
            {
                graph.entry(from).or_default().insert(to);
            }
        }
        graph
    }

    /// Returns every module that has modules in it.
    fn parents(&self) -> BTreeSet<Vec<String>> {
        self.modules.iter().filter_map(|path| path.split_last()).map(|(_, p)| p.to_vec()).collect()
    }
}

/// All files of Rust below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

/// The path of the module in a file: `a/b.rs` and `a/b/mod.rs` are `a::b`, `lib.rs` and `main.rs` the root.
fn module_of(file: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        file.with_extension("").iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    if names.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
        names.pop();
    }
    names
}

fn without_comments(text: &str) -> String {
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    text.lines().map(code).collect::<Vec<_>>().join("\n")
}

/// The text without modules of tests, which end with the first `}` at the margin.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut is_in_tests = false;
    let mut was_marked = false;
    for line in text.lines() {
        let begins = was_marked && line.contains("mod ") && line.ends_with('{');
        is_in_tests |= begins;
        if !is_in_tests {
            kept.push_str(line);
            kept.push('\n');
        } else if line == "}" {
            is_in_tests = false;
        }
        was_marked = line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test");
    }
    kept
}

/// All paths that begin with `crate`, `super` or `self`; of a group in braces, each.
fn paths(text: &str) -> Vec<Vec<String>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for start in ["crate", "super", "self"] {
        for (at, _) in text.match_indices(&format!("{start}::")) {
            let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
            if !(before.is_ascii_alphanumeric() || before == b'_' || before == b':') {
                expand(&text[at..], &mut Vec::new(), &mut found);
            }
        }
    }
    found
}

/// Adds the paths that the text begins with; returns what is left of the text behind them.
fn expand<'a>(text: &'a str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let depth = prefix.len();
    let mut rest = text.trim_start();
    loop {
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        prefix.push(rest[..end].to_owned());
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            None => {
                found.push(prefix.clone());
                break;
            }
            Some(behind) if behind.trim_start().starts_with('{') => {
                rest = &behind.trim_start()[1..];
                loop {
                    rest = rest.trim_start();
                    if let Some(behind) = rest.strip_prefix('}') {
                        rest = behind;
                        break;
                    }
                    let left = expand(rest, prefix, found).trim_start();
                    // " as other" may stand behind a name.
                    let left = left.find([',', '}']).map_or("", |next| &left[next..]);
                    rest = left.strip_prefix(',').unwrap_or(left);
                    if rest.is_empty() {
                        break;
                    }
                }
                break;
            }
            Some(behind) => rest = behind,
        }
    }
    prefix.truncate(depth);
    rest
}

/// Where a path leads, from the root.
fn resolved(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut target = module.to_vec();
    let mut names = path.iter().peekable();
    match names.next()?.as_str() {
        "crate" => target.clear(),
        "super" => {
            target.pop()?;
            while names.next_if(|name| *name == "super").is_some() {
                target.pop()?;
            }
        }
        _ => {}
    }
    target.extend(names.filter(|name| *name != "self").cloned());
    Some(target)
}

/// A circle in a graph, if there is one: its modules, the first one again at the end.
fn circle(graph: &Graph) -> Option<Vec<String>> {
    fn follow<'a>(
        graph: &'a Graph,
        at: &'a str,
        way: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<String>> {
        if let Some(start) = way.iter().position(|&name| name == at) {
            return Some(way[start..].iter().chain([&at]).map(|&name| name.to_owned()).collect());
        }
        if done.contains(at) {
            return None;
        }
        way.push(at);
        let found =
            graph.get(at).into_iter().flatten().find_map(|next| follow(graph, next, way, done));
        way.pop();
        done.insert(at);
        found
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|start| follow(graph, start, &mut Vec::new(), &mut done))
}

/// The modules of a graph in layers, the top first: a module names only modules of lower layers. The graph has no circle.
fn layers(graph: &Graph, modules: &BTreeSet<String>) -> Vec<Vec<String>> {
    fn height<'a>(graph: &'a Graph, of: &'a str, known: &mut BTreeMap<&'a str, usize>) -> usize {
        if let Some(&height) = known.get(of) {
            return height;
        }
        let below = graph.get(of).into_iter().flatten();
        let most = below.map(|next| 1 + height(graph, next, known)).max().unwrap_or(0);
        known.insert(of, most);
        most
    }
    let mut known = BTreeMap::new();
    let mut layers: Vec<Vec<String>> = Vec::new();
    for module in modules {
        let height = height(graph, module, &mut known);
        layers.resize(layers.len().max(height + 1), Vec::new());
        layers[height].push(module.clone());
    }
    layers.reverse();
    layers
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn no_modules_side_by_side_know_each_other_both_ways() {
    let mut circles = Vec::new();
    let mut graphs = 0;
    for entry in fs::read_dir(crates()).unwrap() {
        let krate = entry.unwrap();
        let src = krate.path().join("src");
        if !src.is_dir() {
            continue;
        }
        let name = krate.file_name().into_string().unwrap();
        let sources = Sources::read(&src);
        for parent in sources.parents() {
            graphs += 1;
            let module = parent.join("::");
            if let Some(circle) = circle(&sources.graph(&parent)) {
                circles.push(format!("{name}, {module}: {}", circle.join(" -> ")));
            }
        }
    }
    assert!(graphs > 20, "{graphs} graphs: the sources were not found");
    circles.sort();
    assert!(circles.is_empty(), "circles of modules:\n{}", circles.join("\n"));
}

#[test]
fn the_map_draws_the_modules_as_they_are() {
    const START: &str = "## The modules of a crate";
    let map = crates().join("../ARCHITECTURE.md");
    let text = fs::read_to_string(&map).unwrap();
    let section = text.find(START).expect("the map has a section for modules");
    let start = section + text[section..].find("```text\n").unwrap() + "```text\n".len();
    let end = start + text[start..].find("```").unwrap();

    let mut drawing = String::new();
    let mut folders: Vec<_> = fs::read_dir(crates()).unwrap().map(|e| e.unwrap().path()).collect();
    folders.sort();
    for folder in folders.iter().filter(|folder| folder.join("src").is_dir()) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let sources = Sources::read(&folder.join("src"));
        let modules: BTreeSet<String> =
            sources.modules.iter().filter_map(|path| path.first().cloned()).collect();
        drawing += &format!("{name}\n");
        for layer in layers(&sources.graph(&[]), &modules) {
            drawing += &format!("    {}\n", layer.join(", "));
        }
    }
    if std::env::var_os("THRONG_WRITE").is_some() {
        fs::write(&map, format!("{}{drawing}{}", &text[..start], &text[end..])).unwrap();
        return;
    }
    assert!(
        text[start..end] == drawing,
        "the modules are not as ARCHITECTURE.md draws them; \
         `THRONG_WRITE=1 cargo test -p throng-lab --test modules` draws them so:\n{drawing}"
    );
}

#[test]
fn a_circle_is_found() {
    let named = |text: &str| paths(&without_tests(&without_comments(text)));
    let text = "use crate::{a::{self, b as c}, d}; // crate::e\nfn f() { super::super::g::h() }\n\
                #[cfg(test)]\nmod tests {\n    use crate::i;\n}\n";
    let module = ["x".to_owned(), "y".to_owned()];
    let found: BTreeSet<String> = named(text)
        .iter()
        .filter_map(|path| resolved(&module, path))
        .map(|p| p.join("::"))
        .collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "a::b", "d", "g::h"]);
    let graph = |edges: &[(&str, &str)]| {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        graph
    };
    assert_eq!(circle(&graph(&[("a", "b"), ("b", "c"), ("a", "c")])), None);
    let found = circle(&graph(&[("a", "b"), ("b", "c"), ("c", "b")])).unwrap();
    assert_eq!(found, ["b", "c", "b"]);
    let modules = ["a", "b", "c", "d"].map(str::to_owned).into();
    let drawn = layers(&graph(&[("a", "b"), ("b", "c"), ("a", "c")]), &modules);
    assert_eq!(drawn, [vec!["a"], vec!["b"], vec!["c", "d"]]);
}
