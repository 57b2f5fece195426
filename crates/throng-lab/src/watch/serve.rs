//! Serves viewers: connections, and bounds on what each may ask.
//! (More than 500 lines, of which 180 are tests with rude clients.)
//!
//! Every connection has a thread, which sleeps nearly always, and their number is bounded. A client
//! that is slow to ask or to take its answer is disconnected; until then it delays no other.
//! (Existing servers read headers without a limit of length or time, or take any number of
//! connections.)

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv6Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::respond::{Answer, Answers, BODY_BYTES_MAX, Request, too_long};

/// Limits of the server.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most connections at a time.
    pub viewers: usize,
    /// Most connections of one address at a time.
    pub of_address: usize,
    /// Longest time from the first byte of a request to its last one, and for taking an answer.
    pub patience: Duration,
    /// Longest time without a request. The page asks more often.
    pub idle: Duration,
}

/// The usual limits: enough for a class room. One address that opens all the connections it can
/// leaves most of them to others.
pub const BOUNDS: Bounds = Bounds {
    viewers: 128,
    of_address: 32,
    patience: Duration::from_secs(5),
    idle: Duration::from_secs(2),
};

/// Most bytes of the request line and headers together.
const HEAD_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 64;

/// Most bytes read from a client before it is disconnected, so that it gets its answer first.
const LINGER_BYTES: u64 = 64 << 10;

const STACK_BYTES: usize = 128 << 10;

/// Headers of every answer: the page loads nothing from other sites, and no other site may frame
/// it.
const HEADERS: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; \
    style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'\r\n\
    X-Content-Type-Options: nosniff\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    Cache-Control: no-store\r\n";

/// Serves connections for ever.
pub fn serve(listener: &TcpListener, site: &Arc<impl Answers>, bounds: Bounds) {
    let seats = Arc::new(Seats::default());
    loop {
        let Ok((stream, from)) = listener.accept() else {
            // The system is out of some resource; retry later.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        let Some(seat) = seats.take(from.ip(), bounds) else {
            turn_away(stream);
            continue;
        };
        let site = Arc::clone(site);
        let thread = thread::Builder::new().name("viewer".to_owned()).stack_size(STACK_BYTES);
        // Without a thread the connection is dropped, and the viewer may try again.
        let _ = thread.spawn(move || {
            let _seat = seat;
            // An error has no reader: the connection is gone.
            let _ = Connection::new(stream, bounds).and_then(|mut one| one.serve(&*site));
        });
    }
}

/// Number of connections of each viewer.
#[derive(Default)]
struct Seats(Mutex<HashMap<IpAddr, usize>>);

impl Seats {
    /// Takes a place for a connection, or returns `None` if there is none.
    fn take(self: &Arc<Self>, from: IpAddr, bounds: Bounds) -> Option<Seat> {
        let of = viewer(from);
        let mut taken = self.lock();
        let of_all: usize = taken.values().sum();
        let of_this = taken.get(&of).copied().unwrap_or(0);
        if of_all >= bounds.viewers || of_this >= bounds.of_address {
            return None;
        }
        taken.insert(of, of_this + 1);
        Some(Seat { seats: Arc::clone(self), of })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the address that identifies a viewer: IPv6 networks give each user 2^64 addresses.
fn viewer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// A connection's place, released when it is dropped.
struct Seat {
    seats: Arc<Seats>,
    of: IpAddr,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.lock();
        if let Some(count) = taken.get_mut(&self.of) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.of);
            }
        }
    }
}

/// Answers that all places are taken, without waiting for anything.
fn turn_away(mut stream: TcpStream) {
    let answer = Answer::refusal(503, "All connections are in use; please try again later.");
    if stream.set_nonblocking(true).is_ok() {
        let _ = stream.write(&written(&answer, true, false));
        let _ = stream.read(&mut [0; 1024]);
    }
}

struct Connection {
    stream: TcpStream,
    bounds: Bounds,
    /// Bytes that were read and not used yet.
    ahead: Vec<u8>,
}

/// The outcome of reading a request.
enum Asked {
    /// A whole request; `keep` tells whether another may follow.
    Request { request: Request, keep: bool },
    /// A wrong request. Nothing after it can be trusted.
    Wrong(Answer),
    /// The client sent no further request.
    Gone,
}

impl Connection {
    fn new(stream: TcpStream, bounds: Bounds) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Connection { stream, bounds, ahead: Vec::new() })
    }

    fn serve(&mut self, site: &impl Answers) -> io::Result<()> {
        loop {
            match self.read_request()? {
                Asked::Gone => return Ok(()),
                Asked::Wrong(answer) => {
                    self.write(&written(&answer, true, false))?;
                    return self.linger();
                }
                Asked::Request { request, keep } => {
                    let answer = site.answer(&request);
                    self.write(&written(&answer, !keep, request.method == "HEAD"))?;
                    if !keep {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Reads a request, all of which must come in time.
    fn read_request(&mut self) -> io::Result<Asked> {
        if self.ahead.is_empty() && !self.read_more(Instant::now() + self.bounds.idle)? {
            return Ok(Asked::Gone);
        }
        let deadline = Instant::now() + self.bounds.patience;
        loop {
            match parse(&self.ahead) {
                Parsed::Part if self.ahead.len() >= HEAD_BYTES_MAX => {
                    let answer = Answer::refusal(431, "The headers are too long.");
                    return Ok(Asked::Wrong(answer));
                }
                Parsed::Part => {}
                Parsed::Wrong(answer) => return Ok(Asked::Wrong(answer)),
                Parsed::Head { request, keep, head_bytes, body_bytes } => {
                    let end = head_bytes + body_bytes;
                    while self.ahead.len() < end {
                        if !self.read_more(deadline)? {
                            return Ok(Asked::Gone);
                        }
                    }
                    let body = self.ahead[head_bytes..end].to_vec();
                    self.ahead.drain(..end);
                    return Ok(Asked::Request { request: Request { body, ..request }, keep });
                }
            }
            if !self.read_more(deadline)? {
                return Ok(Asked::Gone);
            }
        }
    }

    /// Reads more bytes; returns false at the end.
    fn read_more(&mut self, deadline: Instant) -> io::Result<bool> {
        let mut some = [0; 2048];
        self.stream.set_read_timeout(Some(left(deadline)?))?;
        let count = self.stream.read(&mut some)?;
        self.ahead.extend_from_slice(&some[..count]);
        Ok(count > 0)
    }

    /// Writes all bytes, in time.
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let deadline = Instant::now() + self.bounds.patience;
        while !bytes.is_empty() {
            self.stream.set_write_timeout(Some(left(deadline)?))?;
            let count = self.stream.write(bytes)?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// Lets a client that is still sending read the answer before the connection is closed.
    fn linger(&mut self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)?;
        let deadline = Instant::now() + self.bounds.patience.min(Duration::from_secs(1));
        let mut dropped = 0;
        while dropped < LINGER_BYTES {
            self.ahead.clear();
            if !self.read_more(deadline)? {
                break;
            }
            dropped += self.ahead.len() as u64;
        }
        Ok(())
    }
}

/// Returns the time left.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// The outcome of parsing a request's head.
enum Parsed {
    /// The head is not complete.
    Part,
    Wrong(Answer),
    Head {
        request: Request,
        keep: bool,
        head_bytes: usize,
        body_bytes: usize,
    },
}

/// Parses the head of a request.
fn parse(bytes: &[u8]) -> Parsed {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut headers);
    let head_bytes = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Parsed::Part,
        Err(error) => {
            return Parsed::Wrong(Answer::refusal(400, format!("This is no HTTP: {error}.")));
        }
    };
    let all = |name: &str| -> Vec<String> {
        let named = head.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        named.map(|header| String::from_utf8_lossy(header.value).trim().to_owned()).collect()
    };
    if !all("Transfer-Encoding").is_empty() {
        return Parsed::Wrong(Answer::refusal(411, "The length must be told by Content-Length."));
    }
    let body_bytes = match all("Content-Length").as_slice() {
        [] if head.method == Some("POST") => {
            return Parsed::Wrong(Answer::refusal(
                411,
                "The length must be told by Content-Length.",
            ));
        }
        [] => 0,
        [length] if length.bytes().all(|c| c.is_ascii_digit()) => match length.parse::<usize>() {
            Ok(length) if length <= BODY_BYTES_MAX => length,
            Ok(_) => return Parsed::Wrong(too_long()),
            Err(_) if !length.is_empty() => return Parsed::Wrong(too_long()),
            Err(_) => return Parsed::Wrong(Answer::refusal(400, "Content-Length is empty.")),
        },
        _ => return Parsed::Wrong(Answer::refusal(400, "Content-Length is not one number.")),
    };
    let connection = all("Connection").join(",").to_ascii_lowercase();
    let asks = |word: &str| connection.split(',').any(|part| part.trim() == word);
    let keep = if head.version == Some(1) { !asks("close") } else { asks("keep-alive") };
    let request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        path: head.path.unwrap_or_default().to_owned(),
        hosts: all("Host"),
        origin: all("Origin").into_iter().next(),
        content_type: all("Content-Type").into_iter().next(),
        body: Vec::new(),
    };
    Parsed::Head { request, keep, head_bytes, body_bytes }
}

/// Returns the bytes of an answer.
fn written(answer: &Answer, close: bool, only_head: bool) -> Vec<u8> {
    let content = answer.content.text();
    let mut text = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{HEADERS}",
        answer.status,
        reason(answer.status),
        answer.kind,
        content.len()
    );
    if let Some(allow) = answer.allow {
        text.push_str(&format!("Allow: {allow}\r\n"));
    }
    if close {
        text.push_str("Connection: close\r\n");
    }
    text.push_str("\r\n");
    if !only_head {
        text.push_str(content);
    }
    text.into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Answer",
    }
}

#[cfg(test)]
mod tests {
    use super::super::respond::Site;
    use super::super::sampler::Sampler;
    use super::super::sampler::tests::Still;
    use super::*;
    use std::net::SocketAddr;

    const FEW: Bounds = Bounds {
        viewers: 2,
        of_address: 2,
        patience: Duration::from_millis(300),
        idle: Duration::from_millis(300),
    };

    /// Starts a server that serves until the tests are over.
    fn server(bounds: Bounds) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let site = Arc::new(Site { sampler: Sampler::new(Still::new()), loopback: true });
        thread::spawn(move || serve(&listener, &site, bounds));
        address
    }

    fn connect(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Returns all that is answered to these bytes.
    fn told(address: SocketAddr, bytes: &str) -> String {
        let mut stream = connect(address);
        // A client that is refused at once may be disconnected before it has sent all.
        let _ = stream.write_all(bytes.as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn several_requests_go_over_one_connection() {
        let get = "GET /state HTTP/1.1\r\nHost: localhost\r\n";
        let post = "POST /load HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                    Content-Length: 13\r\n\r\n{\"threads\":3}";
        let head = "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let all = format!("{get}\r\n{post}{head}{get}Connection: close\r\n\r\n");
        let answer = told(server(BOUNDS), &all);
        assert_eq!(answer.matches("HTTP/1.1 200 OK\r\n").count(), 4, "{answer}");
        assert_eq!(answer.matches("\r\nX-Content-Type-Options: nosniff\r\n").count(), 4);
        assert_eq!(answer.matches("Content-Security-Policy: default-src 'none'").count(), 4);
        assert_eq!(answer.matches("\"work_ns\":50").count(), 3, "state, load, no page, state");
        assert!(!answer.contains("<!doctype"), "{answer}");
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let address = server(BOUNDS);
        let host = "HTTP/1.1\r\nHost: localhost\r\n";
        for (bytes, status) in [
            ("rubbish\r\n\r\n".to_owned(), 400),
            ("\0\u{1}\u{2}\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/9.9\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/1.0\r\n\r\n".to_owned(), 400),
            (format!("GET / {host}X: {}", "x".repeat(9000)), 431),
            (format!("GET / {host}{}\r\n", "a: b\r\n".repeat(100)), 400),
            (format!("POST /load {host}\r\n"), 411),
            (format!("POST /load {host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 411),
            (format!("POST /load {host}Content-Length: -1\r\n\r\n"), 400),
            (format!("POST /load {host}Content-Length: +1\r\n\r\n"), 400),
            (format!("POST /load {host}Content-Length: \r\n\r\n"), 400),
            (format!("POST /load {host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400),
            (format!("POST /load {host}Content-Length: 1025\r\n\r\n"), 413),
            (format!("POST /load {host}Content-Length: {}\r\n\r\n", "9".repeat(99)), 413),
        ] {
            let answer = told(address, &bytes);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{bytes}: {answer}");
            assert!(answer.contains("\r\nConnection: close\r\n") || status == 400, "{answer}");
        }
    }

    #[test]
    fn who_says_nothing_is_cut_off_and_the_place_is_free_again() {
        let address = server(FEW);
        let get = "GET /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let start = Instant::now();
        let mut silent = connect(address);
        let mut slow = connect(address);
        // Both keep their places when a third client gets none.
        while !told(address, get).starts_with("HTTP/1.1 503 ") {
            assert!(start.elapsed() < Duration::from_secs(10));
        }
        // One byte now and then does not extend the time.
        while slow.write_all(b"G").is_ok() && start.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(silent.read(&mut [0; 9]).unwrap_or(0), 0, "it is cut off");
        while !told(address, get).starts_with("HTTP/1.1 200 ") {
            assert!(start.elapsed() < Duration::from_secs(10), "the places are free again");
        }
    }

    #[test]
    fn each_address_has_a_limit_of_its_own() {
        let bounds = Bounds { viewers: 5, of_address: 2, ..FEW };
        let seats = Arc::new(Seats::default());
        let take = |address: &str| seats.take(address.parse().unwrap(), bounds);
        let first = [take("10.0.0.1"), take("::ffff:10.0.0.1"), take("10.0.0.1")];
        assert_eq!(first.each_ref().map(Option::is_some), [true, true, false]);
        let second = [take("2001:db8::1"), take("2001:db8::ffff:1"), take("2001:db8::2")];
        assert_eq!(second.each_ref().map(Option::is_some), [true, true, false]);
        let last = take("2001:db8:0:1::1");
        assert!(last.is_some() && take("10.0.0.2").is_none(), "five is the limit of all");
        drop(first);
        let freed = [take("10.0.0.1"), take("10.0.0.2"), take("10.0.0.3")];
        assert_eq!(freed.each_ref().map(Option::is_some), [true, true, false]);
        drop((second, last, freed));
        assert!(seats.lock().is_empty());
    }

    /// Linux answers at all addresses of the network 127.0.0.0/8, and lets a program connect from
    /// each.
    #[cfg(target_os = "linux")]
    #[test]
    fn idle_connections_of_an_address_leave_places_for_others() {
        let address = server(Bounds { idle: Duration::from_secs(60), ..BOUNDS });
        let idle: Vec<TcpStream> =
            (0..1500).map_while(|_| TcpStream::connect(address).ok()).collect();
        // Limited by the open files of one process, if that is less.
        assert!(idle.len() > BOUNDS.viewers, "{} connections", idle.len());
        let get = "GET /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        assert!(told(address, get).starts_with("HTTP/1.1 503 "), "its places are taken");
        let script = "import socket, sys\n\
            s = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 20, ('127.0.0.2', 0))\n\
            s.sendall(sys.argv[2].encode()); print(s.recv(12).decode())";
        let other = std::process::Command::new("python3")
            .args(["-c", script, &address.port().to_string(), get])
            .output();
        // Binding to another address needs a program, since the standard library cannot do it.
        let Ok(other) = other else { return };
        assert_eq!(String::from_utf8_lossy(&other.stdout).trim(), "HTTP/1.1 200");
    }

    #[test]
    fn a_connection_without_a_request_is_closed_soon() {
        let address = server(Bounds { idle: Duration::from_millis(50), ..BOUNDS });
        let mut silent = connect(address);
        let start = Instant::now();
        assert_eq!(silent.read(&mut [0; 9]).unwrap_or(0), 0, "it is cut off");
        assert!(start.elapsed() < Duration::from_secs(4), "sooner than a slow request");
        // After its first byte, a request has the time of a request.
        let mut slow = connect(address);
        slow.write_all(b"GET /state HTTP/1.1\r\n").unwrap();
        thread::sleep(Duration::from_millis(300));
        slow.write_all(b"Host: localhost\r\n\r\n").unwrap();
        let mut answer = [0; 12];
        slow.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
    }

    #[test]
    fn a_viewer_that_does_not_take_its_answers_delays_no_other() {
        let address = server(FEW);
        let get = "GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let mut greedy = connect(address);
        greedy.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
        let sender = thread::spawn(move || {
            // Until it is disconnected, because it does not read its answers.
            while greedy.write_all(get.repeat(100).as_bytes()).is_ok() {}
        });
        let close = "GET /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let start = Instant::now();
        for _ in 0..20 {
            // The place of the connection before may not be free yet.
            while !told(address, close).starts_with("HTTP/1.1 200 ") {
                assert!(start.elapsed() < Duration::from_secs(10), "others are held up");
            }
        }
        sender.join().unwrap();
    }
}
