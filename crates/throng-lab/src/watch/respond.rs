//! Computes the answer to a request: a function, without sockets.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use super::sampler::Sampler;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const DRAWING: &str = include_str!("tree.js");
/// The icon of every page.
pub const ICON: &str = include_str!("icon.svg");

/// Largest body of a request in bytes; no load is longer.
pub const BODY_BYTES_MAX: usize = 1024;

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// GET, POST, ..
    pub method: String,
    /// The requested path, such as `/state`.
    pub path: String,
    /// All values of the header `Host`; there should be one.
    pub hosts: Vec<String>,
    /// The header `Origin`: the page that sends the request.
    pub origin: Option<String>,
    /// The header `Content-Type`.
    pub content_type: Option<String>,
    /// The bytes after the headers.
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status, such as 200.
    pub status: u16,
    /// The type of the content.
    pub kind: &'static str,
    /// The content.
    pub content: Content,
    /// The allowed methods, where the request had another.
    pub allow: Option<&'static str>,
}

/// The content of an answer.
#[derive(Clone, Debug)]
pub enum Content {
    /// Made for this answer, or part of the program.
    Own(Cow<'static, str>),
    /// Shared by the answers to all viewers.
    Shared(Arc<str>),
}

impl Content {
    /// Returns the text as it is sent.
    pub fn text(&self) -> &str {
        match self {
            Content::Own(text) => text,
            Content::Shared(text) => text,
        }
    }
}

impl Answer {
    /// Returns an answer that is part of the program.
    pub fn fixed(kind: &'static str, text: &'static str) -> Self {
        Answer { status: 200, kind, content: Content::Own(Cow::Borrowed(text)), allow: None }
    }

    /// Returns an error answer with a sentence for its reader.
    pub fn refusal(status: u16, sentence: impl Into<String>) -> Self {
        let text = format!("{}\n", sentence.into());
        let content = Content::Own(Cow::Owned(text));
        Answer { status, kind: "text/plain; charset=utf-8", content, allow: None }
    }

    /// Returns an answer for programs.
    pub fn json(status: u16, content: Content) -> Self {
        Answer { status, kind: "application/json", content, allow: None }
    }
}

/// What answers requests.
pub trait Answers: Send + Sync + 'static {
    /// Answers a request.
    fn answer(&self, request: &Request) -> Answer;
}

/// Returns the `Host` of a request if it is this server. `loopback`: only this machine is served.
///
/// # Errors
/// The refusal, if it is another one.
pub fn checked_host(request: &Request, loopback: bool) -> Result<&str, Answer> {
    match request.hosts.as_slice() {
        [host] if is_ours(host, loopback) => Ok(host),
        [_] => {
            Err(Answer::refusal(421, "This server is known by its IP address, or as localhost."))
        }
        _ => Err(Answer::refusal(400, "A request must have one header Host.")),
    }
}

/// Returns whether a `Host` is this server. A name other than localhost may belong to any site,
/// which had it point here (DNS rebinding); an address cannot. The port may differ: a tunnel
/// has its own.
fn is_ours(host: &str, loopback: bool) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    bare.parse().is_ok_and(|address: IpAddr| !loopback || address.is_loopback())
}

/// The served page and its bounds.
pub struct Site {
    /// Makes the text that viewers are shown.
    pub sampler: Sampler,
    /// Whether only this machine is served.
    pub loopback: bool,
}

impl Answers for Site {
    fn answer(&self, request: &Request) -> Answer {
        let host = match checked_host(request, self.loopback) {
            Ok(host) => host,
            Err(refusal) => return refusal,
        };
        let path = request.path.split('?').next().unwrap_or_default();
        let allow = match path {
            "/" | "/page.css" | "/page.js" | "/tree.js" | "/icon.svg" | "/state" => "GET, HEAD",
            "/load" => "POST",
            _ => {
                return Answer::refusal(404, "There is nothing here; the page is at /.");
            }
        };
        if !allow.split(", ").any(|method| method == request.method) {
            let sentence = format!("{path} can only be asked for by {allow}.");
            return Answer { allow: Some(allow), ..Answer::refusal(405, sentence) };
        }
        match path {
            "/" => Answer::fixed("text/html; charset=utf-8", PAGE),
            "/page.css" => Answer::fixed("text/css; charset=utf-8", STYLE),
            "/page.js" => Answer::fixed("text/javascript; charset=utf-8", SCRIPT),
            "/tree.js" => Answer::fixed("text/javascript; charset=utf-8", DRAWING),
            "/icon.svg" => Answer::fixed("image/svg+xml", ICON),
            "/state" => Answer::json(200, Content::Shared(self.sampler.shown())),
            _ => self.set_load(request, host),
        }
    }
}

impl Site {
    fn set_load(&self, request: &Request, host: &str) -> Answer {
        let own = format!("http://{host}");
        if request.origin.as_ref().is_some_and(|origin| !origin.eq_ignore_ascii_case(&own)) {
            return Answer::refusal(403, "Only the page of this server may change the load.");
        }
        // Pages of other sites cannot send this type without permission.
        let kind = request.content_type.as_deref().unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            return Answer::refusal(
                415,
                "The load must be sent with Content-Type: application/json.",
            );
        }
        if request.body.len() > BODY_BYTES_MAX {
            return too_long();
        }
        let world = self.sampler.world();
        match world.about().check(world.load(), &request.body) {
            Ok(load) => {
                world.set_load(load);
                let json = serde_json::to_string(&load).expect("numbers can always be written");
                Answer::json(200, Content::Own(Cow::Owned(json)))
            }
            Err(sentence) => Answer::refusal(400, sentence),
        }
    }
}

/// Returns the answer to a body that is too long.
pub fn too_long() -> Answer {
    Answer::refusal(413, format!("A load is no longer than {BODY_BYTES_MAX} bytes."))
}

#[cfg(test)]
mod tests {
    use super::super::sampler::tests::Still;
    use super::*;

    fn site(loopback: bool) -> Site {
        Site { sampler: Sampler::new(Still::new()), loopback }
    }

    fn request(method: &str, path: &str, body: &str) -> Request {
        Request {
            method: method.to_owned(),
            path: path.to_owned(),
            hosts: vec!["127.0.0.1:7171".to_owned()],
            origin: Some("http://127.0.0.1:7171".to_owned()),
            content_type: Some("application/json".to_owned()),
            body: body.as_bytes().to_vec(),
        }
    }

    fn status(request: &Request) -> u16 {
        site(true).answer(request).status
    }

    #[test]
    fn the_page_and_its_parts_are_there() {
        for (path, kind, part) in [
            ("/", "text/html", "<!doctype html>"),
            ("/?from=here", "text/html", "<!doctype html>"),
            ("/page.css", "text/css", "prefers-color-scheme"),
            ("/page.js", "text/javascript", "fetch("),
            ("/tree.js", "text/javascript", "function layout("),
            ("/icon.svg", "image/svg+xml", "<svg"),
            ("/state", "application/json", "\"load\":{\"callers\":2"),
        ] {
            let answer = site(true).answer(&request("GET", path, ""));
            assert!(answer.status == 200 && answer.kind.starts_with(kind), "{path}: {answer:?}");
            assert!(answer.content.text().contains(part), "{path}");
            assert_eq!(status(&request("HEAD", path, "")), 200);
        }
    }

    #[test]
    fn a_load_is_taken_and_repeated() {
        let site = site(true);
        let answer = site.answer(&request("POST", "/load", r#"{"threads": 7}"#));
        assert_eq!(answer.status, 200);
        assert!(answer.content.text().contains("\"callers\":7"), "{answer:?}");
        assert_eq!(site.sampler.world().load().callers, 7);
    }

    #[test]
    fn a_wrong_load_is_refused_and_changes_nothing() {
        let site = site(true);
        for body in ["", "rubbish", "{\"threads\": 70}", "{\"threads\": 1, \"x\": 2}"] {
            let answer = site.answer(&request("POST", "/load", body));
            assert_eq!(answer.status, 400, "{body}");
            assert!(answer.content.text().ends_with(".\n"), "{answer:?}");
        }
        let long = format!("{{\"threads\": 1{}}}", " ".repeat(BODY_BYTES_MAX));
        assert_eq!(site.answer(&request("POST", "/load", &long)).status, 413);
        assert_eq!(site.sampler.world().load().callers, 2);
    }

    #[test]
    fn unknown_paths_and_wrong_methods_are_refused() {
        for path in ["/x", "", "//", "/state/", "/../etc/passwd", "http://127.0.0.1/state", "*"] {
            assert_eq!(status(&request("GET", path, "")), 404, "{path}");
        }
        for (method, path) in [
            ("POST", "/"),
            ("POST", "/state"),
            ("GET", "/load"),
            ("PUT", "/load"),
            ("OPTIONS", "/load"),
            ("DELETE", "/state"),
            ("get", "/"),
        ] {
            let answer = site(true).answer(&request(method, path, "{}"));
            assert_eq!(answer.status, 405, "{method} {path}");
            assert_eq!(answer.allow.is_some_and(|allow| allow == "POST"), path == "/load");
        }
    }

    #[test]
    fn pages_of_others_cannot_change_the_load() {
        let load = request("POST", "/load", r#"{"threads": 1}"#);
        let from = |origin: &str| Request { origin: Some(origin.to_owned()), ..load.clone() };
        for origin in [
            "http://example.com",
            "null",
            "",
            "http://127.0.0.1:80",
            "https://127.0.0.1:7171",
            "http://127.0.0.1:7171.example.com",
        ] {
            assert_eq!(status(&from(origin)), 403, "{origin}");
        }
        // A client other than a browser sends no origin.
        assert_eq!(status(&Request { origin: None, ..load.clone() }), 200);
        for kind in [None, Some("text/plain"), Some("application/jsonx"), Some("")] {
            let content_type = kind.map(str::to_owned);
            assert_eq!(status(&Request { content_type, ..load.clone() }), 415, "{kind:?}");
        }
        let content_type = Some("Application/JSON; charset=utf-8".to_owned());
        assert_eq!(status(&Request { content_type, ..load }), 200);
    }

    #[test]
    fn who_comes_by_another_name_is_turned_away() {
        let by = |hosts: &[&str], loopback| {
            let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
            let origin = hosts.first().map(|host| format!("http://{host}"));
            let request = request("POST", "/load", r#"{"threads": 1}"#);
            site(loopback).answer(&Request { hosts, origin, ..request }).status
        };
        for host in ["127.0.0.1", "127.0.0.1:8080", "localhost:7171", "LOCALHOST", "[::1]:7171"] {
            assert_eq!(by(&[host], true), 200, "{host}");
        }
        for host in ["example.com", "example.com:7171", "", "127.0.0.1.example.com", "::", "a:b:c"]
        {
            assert_eq!(by(&[host], true), 421, "{host}");
            assert_eq!(by(&[host], false), 421, "{host}");
        }
        assert_eq!((by(&["10.0.0.7:7171"], true), by(&["10.0.0.7:7171"], false)), (421, 200));
        assert_eq!((by(&[], true), by(&["127.0.0.1", "127.0.0.1"], true)), (400, 400));
    }
}
