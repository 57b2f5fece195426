//! `throng watch --counter` and `--barrier`: the page, the drawing of a step, and the errors.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::run::*;

/// The pictures in the docs: what each shows, and of which run and step. To draw one again, give these to `throng watch`
/// with `--svg docs/pictures/NAME.svg`.
const PICTURES: [(&str, &str, &str, &str); 8] = [
    ("diffracting", "--counter", "7", "309"),
    ("reactive", "--counter", "1", "139"),
    ("self-tuning", "--counter", "1", "1873"),
    ("counting-network", "--counter", "1", "59"),
    ("combining-tree", "--counter", "1", "72"),
    ("funnel", "--counter", "1", "24"),
    ("static-fway", "--barrier", "1", "65"),
    ("dissemination", "--barrier", "1", "49"),
];

#[test]
fn the_pictures_of_the_docs_are_what_is_drawn() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let lab = fs::read_to_string(docs.join("lab.md")).unwrap();
    for (name, option, seed, step) in PICTURES {
        let drawn = fresh_file(&format!("picture-{name}.svg"));
        let file = drawn.to_str().unwrap();
        printed(throng(&["watch", option, name, "--seed", seed, "--step", step, "--svg", file]));
        let drawn = fs::read_to_string(&drawn).unwrap();
        let kept = fs::read_to_string(docs.join(format!("pictures/{name}.svg"))).unwrap();
        let again = format!(
            "throng watch {option} {name} --seed {seed} --step {step} --svg docs/pictures/{name}.svg"
        );
        assert!(
            drawn == kept,
            "docs/pictures/{name}.svg is not what is drawn; if it should be: {again}"
        );
        assert!(drawn.len() < 60_000, "{name}: {} bytes", drawn.len());
        assert!(lab.contains(&format!("(pictures/{name}.svg)")), "docs/lab.md has no {name}");
    }
}

/// The running binary; killed at the end.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_structure_is_served_at_the_address_that_is_printed() {
    for (kind, name) in [("counter", "funnel"), ("barrier", "dissemination")] {
        let option = format!("--{kind}");
        let arguments = [
            "watch",
            "--port",
            "0",
            &option,
            name,
            "--seed",
            "9",
            "--processors",
            "5",
            "--step",
            "20",
        ];
        let mut server = Server(throng(&arguments).stdout(Stdio::piped()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (host, query) = line.trim().strip_prefix("http://").unwrap().split_once("/?").unwrap();
        assert!(query.starts_with(&format!("{kind}={name}&seed=9&processors=5&calls=")), "{line}");
        assert!(query.ends_with("&machine=ideal&step=20"), "{line}");
        for (path, part) in [
            (format!("/?{query}"), "<!doctype html>"),
            (format!("/run?{query}"), "\"step\":20"),
            (format!("/frame?{query}"), "\"svg\":\"<svg "),
            ("/frame".to_owned(), "\"step\":20"),
        ] {
            let mut stream = TcpStream::connect(host).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
                .unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(
                answer.starts_with("HTTP/1.1 200 ") && answer.contains(part),
                "{path}: {answer}"
            );
        }
    }
}

#[test]
fn what_cannot_be_shown_is_refused_in_one_line() {
    for (arguments, start) in [
        (
            &["--counter", "difracting"][..],
            "--counter difracting: no such counter; did you mean diffracting",
        ),
        (&["--barrier", "funnel"], "--barrier funnel: no such barrier"),
        (
            &["--counter", "funnel", "--processors", "0"],
            "--processors 0: must be a whole number from 1 to 32",
        ),
        (
            &["--counter", "funnel", "--processors", "1000000"],
            "--processors 1000000: must be a whole number from 1 to 32",
        ),
        (&["--counter", "funnel", "--seed", "-1"], "--seed -1: must be a whole number from 0 to"),
        (&["--counter", "funnel", "--step", "x"], "--step x: must be a whole number from 0 to"),
        (
            &["--barrier", "tally", "--calls", "0"],
            "--calls 0: must be a whole number from 1 to 100",
        ),
        (
            &["--counter", "funnel", "--machine", "native"],
            "--machine native: must be a simulated machine: recording each step of real threads",
        ),
        (
            &["--counter", "funnel", "--machine", "serever"],
            "machine serever: no such machine; did you mean server?",
        ),
        (
            &["--counter", "funnel", "--svg", "/no/such/folder/a.svg"],
            "--svg /no/such/folder/a.svg: cannot be written: ",
        ),
        (&["--seed", "3"], "--seed 3: must be left out, or come with a structure, such as"),
        (&["--svg", "a.svg"], "--svg a.svg: must be left out, or come with a structure"),
    ] {
        let said = refusal(throng(&[&["watch"], arguments].concat()));
        assert!(said.starts_with(&format!("error: {start}")), "{said}");
    }
}
