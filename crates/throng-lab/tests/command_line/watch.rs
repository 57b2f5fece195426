//! `throng watch`, started as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::*;

/// Nothing here takes longer, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The running binary; killed if a test fails.
struct Watch {
    child: Child,
    host: String,
}

impl Watch {
    fn start(arguments: &[&str]) -> Self {
        let arguments = [&["watch", "--port", "0"], arguments].concat();
        let mut command = throng(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let host = line.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/\n"));
        let host = host.unwrap_or_else(|| panic!("no address: {line}")).to_owned();
        Watch { child, host }
    }

    /// Returns the whole answer to a request.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\
             Content-Length: {length}\r\n\r\n{body}",
            self.host
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(&self, path: &str) -> String {
        let answer = self.ask("GET", path, "", "");
        assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    fn state(&self) -> Value {
        serde_json::from_str(&self.get("/state")).unwrap()
    }

    fn post(&self, body: &str) -> String {
        let own = format!("Origin: http://{}\r\nContent-Type: application/json\r\n", self.host);
        self.ask("POST", "/load", &own, body)
    }

    /// Waits until the state is as it should be.
    fn until(&self, what: &str, done: impl Fn(&Value) -> bool) {
        let start = Instant::now();
        while !done(&self.state()) {
            assert!(start.elapsed() < PATIENCE, "{what}: never");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends it as Ctrl-C does. Returns its exit code and its standard error.
    fn end(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end");
            thread::sleep(Duration::from_millis(10));
        };
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status.code(), said)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_viewer_sees_the_counter_changes_the_load_and_disturbs_no_other() {
    let watch = Watch::start(&[]);
    assert!(watch.host.starts_with("127.0.0.1:"));
    assert!(watch.get("/").starts_with("<!doctype html>"));
    assert_eq!(watch.state()["about"]["callers"], "threads");
    watch.until("numbers", |state| state["seen"]["per_second"].as_f64() > Some(0.0));

    // Fewer than an address may have.
    let silent: Vec<TcpStream> =
        (0..20).map(|_| TcpStream::connect(&watch.host).unwrap()).collect();
    for (body, status) in [
        (r#"{"threads": 1, "work_ns": 500}"#, 200),
        ("rubbish", 400),
        (r#"{"threads": 1000000}"#, 400),
        (&" ".repeat(2000), 413),
    ] {
        let answer = watch.post(body);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    let foreign = "Origin: http://example.com\r\nContent-Type: application/json\r\n";
    assert!(watch.ask("POST", "/load", foreign, "{\"threads\": 2}").contains(" 403 "));
    assert!(watch.ask("GET", "/nothing", "", "").contains(" 404 "));
    assert!(watch.ask("DELETE", "/load", "", "").contains(" 405 "));
    watch.until("one thread", |state| {
        let rates = state["seen"]["rates"].as_array().unwrap();
        let busy = rates.iter().filter(|rate| rate.as_u64() > Some(0)).count();
        busy == 1 && state["load"]["callers"] == 1 && state["load"]["work_ns"] == 500
    });
    drop(silent);
    assert_eq!(watch.end(), (Some(0), String::new()));
}

#[test]
fn a_simulated_machine_is_watched_the_same_way() {
    let watch = Watch::start(&["--machine", "server", "--processors", "16"]);
    watch.until("numbers", |state| state["seen"]["per_second"].as_f64() > Some(0.0));
    let state = watch.state();
    assert_eq!(state["about"]["name"], "server");
    assert_eq!(state["about"]["callers_max"], 16);
    assert!(watch.post(r#"{"processors": 16}"#).contains(" 200 "));
    watch.until("all of them", |state| {
        state["seen"]["rates"].as_array().unwrap().iter().all(|rate| rate.as_u64() > Some(0))
    });
    assert_eq!(watch.end(), (Some(0), String::new()));
}

#[test]
fn who_lets_others_watch_is_told_so() {
    let watch = Watch::start(&["--bind", "0.0.0.0", "--machine", "ideal", "--processors", "1"]);
    let (code, said) = watch.end();
    assert_eq!(code, Some(0));
    assert!(said.starts_with("note: --bind: any host that can reach this machine"), "{said}");
}

#[test]
fn a_port_in_use_is_told_with_a_way_out() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let said = refusal(throng(&["watch", "--port", &port]));
    assert_eq!(said, {
        format!("error: --port: 127.0.0.1:{port} is in use; `--port 0` takes any port that is free")
    });
}

#[test]
fn what_cannot_be_watched_is_refused_in_one_line() {
    for (arguments, start) in [
        (&["--port", "70000"][..], "--port 70000: must be a whole number from 0 to 65535"),
        (&["--port", "-1"], "--port -1: must be a whole number from 0 to 65535"),
        (&["--bind", "nonsense"], "--bind nonsense: must be an IP address"),
        (&["--bind", "192.0.2.1"], "--bind, --port: cannot listen on 192.0.2.1:7171: "),
        (
            &["--machine", "server", "--processors", "0"],
            "--processors 0: must be a whole number from 1 to 1024",
        ),
        (
            &["--processors", "8"],
            "--processors 8: must be left out, or come with a simulated machine",
        ),
        (&["--machine", "serever"], "machine serever: no such machine; did you mean server?"),
    ] {
        let said = refusal(throng(&[&["watch"], arguments].concat()));
        assert!(said.starts_with(&format!("error: {start}")), "{said}");
    }
}
