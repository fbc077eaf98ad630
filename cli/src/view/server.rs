//! A small HTTP server for one page on this machine: GET of a fixed list of names, and a websocket.
//!
//! It listens on 127.0.0.1 only and reads no path of the file system that a request names: a [`Site`] answers names that
//! it knows, and everything else is 404. Requests from pages of other sites are refused by their `Host` (a foreign name that
//! was pointed at this machine) and `Origin`; heads above 8 kB, bodies, other methods and malformed lines by their form.

use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::{Role, WebSocketConfig};

use crate::failure::Failure;
use crate::output::say;

/// Bytes of a request line with its headers, at most: browsers send about 1 kB.
const MAX_HEAD: usize = 8192;
/// Bytes of a message that comes in over the websocket, at most: wishes are short.
const MAX_MESSAGE: usize = 4096;
/// Requests that are answered at once, at most: a browser asks for a handful.
const MAX_CONNECTIONS: usize = 32;
/// Time for a whole head to arrive, and for each piece of an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(5);

/// A websocket of the page.
pub(crate) type Socket = tungstenite::WebSocket<TcpStream>;

/// What is sent for a name.
pub(crate) struct Answer {
    /// Of the body, as browsers name it.
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn html(body: String) -> Self {
        let kind = "text/html; charset=utf-8";
        Self {
            kind,
            body: body.into_bytes(),
        }
    }

    pub(crate) fn script(body: &str) -> Self {
        let kind = "text/javascript; charset=utf-8";
        Self {
            kind,
            body: body.into(),
        }
    }

    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self {
            kind: "application/json",
            body: value.to_string().into_bytes(),
        }
    }

    pub(crate) fn bytes(body: Vec<u8>) -> Self {
        let kind = "application/octet-stream";
        Self { kind, body }
    }
}

/// What a page is made of.
pub(crate) trait Site: Send + Sync {
    /// The answer for a name such as `/data/frame/3`; none if there is no such thing, and why if it could not be read.
    fn answer(&self, name: &str) -> Result<Option<Answer>, Failure>;

    /// Talks over the websocket `/live`, if there is one.
    fn live(&self) -> Option<&(dyn Fn(Socket) + Sync)> {
        None
    }
}

/// A status code and what it is called.
type Status = (u16, &'static str);

/// Why a request is not answered.
struct Refused(Status, &'static str);

const MALFORMED: Status = (400, "Bad Request");

/// Listens on this machine only; port 0 is any that is free.
pub(crate) fn listen(port: u16) -> Result<TcpListener, Failure> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        Failure::input(format!(
            "--port {port}: cannot listen on 127.0.0.1: {error}; try another, or 0 for any that is free"
        ))
    })
}

/// Tells where the page is, opens it if asked, and answers for ever.
pub(crate) fn serve(
    listener: &TcpListener,
    site: &Arc<dyn Site>,
    opens: bool,
) -> Result<(), Failure> {
    let port = listener.local_addr()?.port();
    let address = format!("http://127.0.0.1:{port}/");
    say!("{address}");
    eprintln!("serving this machine only; end it with Ctrl-C");
    if opens {
        open(&address);
    }
    let (busy, refused) = (Seats::default(), Seats::default());
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        if let Some(seat) = busy.take() {
            let site = Arc::clone(site);
            thread::spawn(move || {
                let _seat = seat;
                let _ = handle(stream, port, &*site);
            });
        } else if let Some(seat) = refused.take() {
            // this takes time too; beyond so many, connections are closed without a word
            thread::spawn(move || {
                let _seat = seat;
                let why = "too many requests at once";
                let _ = refuse(&stream, &Refused((503, "Service Unavailable"), why));
            });
        }
    }
    Ok(())
}

/// Room for [`MAX_CONNECTIONS`].
#[derive(Clone, Default)]
struct Seats(Arc<AtomicUsize>);

/// A place that is taken until this is dropped, also by a panic.
struct Seat(Seats);

impl Seats {
    fn take(&self) -> Option<Seat> {
        let seat = Seat(self.clone());
        let before = self.0.fetch_add(1, Ordering::SeqCst);
        (before < MAX_CONNECTIONS).then_some(seat)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Asks the system for a browser; where there is none, the address on the screen has to do.
fn open(address: &str) {
    let (program, arguments): (_, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("explorer", &[])
    } else {
        ("xdg-open", &[])
    };
    let mut command = std::process::Command::new(program);
    let null = std::process::Stdio::null;
    command
        .args(arguments)
        .arg(address)
        .stdin(null())
        .stdout(null())
        .stderr(null());
    if command.spawn().is_err() {
        eprintln!("no browser was found; open {address} in one");
    }
}

fn handle(mut stream: TcpStream, port: u16, site: &dyn Site) -> io::Result<()> {
    let request = match read_head(&mut stream) {
        Ok(head) => Request::parse(&head, port),
        Err(refused) => Err(refused),
    };
    let request = match request {
        Ok(request) => request,
        Err(refused) => return refuse(&stream, &refused),
    };
    if let Some(key) = &request.websocket {
        return match site.live().filter(|_| request.name == "/live") {
            Some(live) => {
                upgrade(&mut stream, key)?;
                stream.set_read_timeout(None)?;
                stream.set_write_timeout(Some(PATIENCE))?; // a page that takes nothing holds what others wait for
                stream.set_nodelay(true)?;
                let config = WebSocketConfig::default()
                    .max_message_size(Some(MAX_MESSAGE))
                    .max_frame_size(Some(MAX_MESSAGE));
                live(Socket::from_raw_socket(stream, Role::Server, Some(config)));
                Ok(())
            }
            None => refuse(
                &stream,
                &Refused((404, "Not Found"), "nothing is live here"),
            ),
        };
    }
    match site.answer(&request.name) {
        Ok(Some(answer)) => {
            let body = (!request.is_head).then_some(&answer.body[..]);
            let kind = answer.kind;
            send(
                &stream,
                (200, "OK"),
                port,
                kind,
                answer.body.len(),
                body.unwrap_or_default(),
            )
        }
        Ok(None) => refuse(
            &stream,
            &Refused((404, "Not Found"), "there is no such name here"),
        ),
        Err(failure) => {
            let text = failure.to_string();
            let status = (500, "Internal Server Error");
            send(
                &stream,
                status,
                port,
                "text/plain; charset=utf-8",
                text.len(),
                text.as_bytes(),
            )
        }
    }
}

/// All bytes up to the empty line; those after it are not wanted.
fn read_head(stream: &mut TcpStream) -> Result<Vec<u8>, Refused> {
    let until = Instant::now() + PATIENCE;
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let is_set = !left.is_zero() && stream.set_read_timeout(Some(left)).is_ok();
        let count = match is_set.then(|| stream.read(&mut piece)) {
            Some(Ok(count)) => count,
            _ => {
                return Err(Refused(
                    (408, "Request Timeout"),
                    "the request did not arrive",
                ));
            }
        };
        if count == 0 {
            return Err(Refused(MALFORMED, "the request ends before its empty line"));
        }
        head.extend(&piece[..count]);
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            if end > MAX_HEAD {
                return Err(too_long());
            }
            head.truncate(end);
            return Ok(head);
        }
        if head.len() > MAX_HEAD {
            return Err(too_long());
        }
    }
}

fn too_long() -> Refused {
    Refused(
        (431, "Request Header Fields Too Large"),
        "the request is longer than 8 kB",
    )
}

/// A request that may be answered.
#[derive(Debug)]
struct Request {
    name: String,
    is_head: bool,
    /// The key of a request for a websocket.
    websocket: Option<String>,
}

impl Request {
    fn parse(head: &[u8], port: u16) -> Result<Self, Refused> {
        let bad = |why| Refused(MALFORMED, why);
        let text = std::str::from_utf8(head).map_err(|_| bad("the request is not text"))?;
        if text
            .chars()
            .any(|c| c.is_control() && !matches!(c, '\r' | '\n' | '\t'))
        {
            return Err(bad("control characters in the request"));
        }
        let mut lines = text.split("\r\n");
        let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let &[method, name, version] = &first[..] else {
            return Err(bad("the first line is not METHOD NAME HTTP/1.1"));
        };
        if !["HTTP/1.1", "HTTP/1.0"].contains(&version) || !name.starts_with('/') {
            return Err(bad("the first line is not METHOD NAME HTTP/1.1"));
        }
        if !["GET", "HEAD"].contains(&method) {
            return Err(Refused(
                (405, "Method Not Allowed"),
                "only GET is answered here",
            ));
        }
        let mut headers = Vec::new();
        for line in lines {
            let (key, value) = line
                .split_once(':')
                .ok_or(bad("a header without a colon"))?;
            let is_token = |c: char| c.is_ascii_alphanumeric() || "-_!#$%&'*+.^`|~".contains(c);
            if key.is_empty() || !key.chars().all(is_token) || value.contains(['\r', '\n']) {
                return Err(bad("a header's name is malformed"));
            }
            headers.push((key.to_ascii_lowercase(), value.trim()));
        }
        let all = |key: &str| -> Vec<&str> {
            let of_key = headers.iter().filter(|(k, _)| k == key);
            of_key.map(|(_, value)| *value).collect()
        };
        let names = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}"));
        match &all("host")[..] {
            [host]
                if names.iter().any(|name| name == host)
                    || port == 80 && ["127.0.0.1", "localhost"].contains(host) => {}
            [_] => {
                return Err(Refused(
                    (403, "Forbidden"),
                    "this page is for 127.0.0.1 only: the Host is another",
                ));
            }
            _ => return Err(bad("there must be one Host")),
        }
        let is_ours = |origin: &&str| {
            names
                .iter()
                .any(|name| *origin == format!("http://{name}").as_str())
        };
        let origins = all("origin");
        if !origins.iter().all(is_ours) {
            return Err(Refused(
                (403, "Forbidden"),
                "a page of another site may not ask here",
            ));
        }
        let has_body = all("content-length").iter().any(|length| *length != "0")
            || !all("transfer-encoding").is_empty();
        if has_body {
            return Err(Refused(
                (413, "Content Too Large"),
                "requests have no body here",
            ));
        }
        let is_upgrade = all("upgrade")
            .iter()
            .any(|to| to.eq_ignore_ascii_case("websocket"));
        let websocket = match (
            is_upgrade,
            &all("sec-websocket-key")[..],
            &all("sec-websocket-version")[..],
        ) {
            (false, ..) => None,
            (true, [key], ["13"]) if key.len() == 24 && !origins.is_empty() => {
                Some((*key).to_string())
            }
            _ => {
                return Err(bad(
                    "a websocket needs a key, version 13, and the Origin of this page",
                ));
            }
        };
        Ok(Self {
            name: name.into(),
            is_head: method == "HEAD",
            websocket,
        })
    }
}

fn upgrade(stream: &mut TcpStream, key: &str) -> io::Result<()> {
    let accept = derive_accept_key(key.as_bytes());
    write!(
        stream,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    )
}

fn refuse(stream: &TcpStream, Refused(status, why): &Refused) -> io::Result<()> {
    let text = format!("{why}\n");
    send(
        stream,
        *status,
        0,
        "text/plain; charset=utf-8",
        text.len(),
        text.as_bytes(),
    )?;
    // what is still on its way would reset the connection before the answer is read
    let mut stream = stream;
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut rest = [0; 4096];
    for _ in 0..64 {
        if !matches!(stream.read(&mut rest), Ok(count) if count > 0) {
            break;
        }
    }
    Ok(())
}

fn send(
    mut stream: &TcpStream,
    (code, reason): Status,
    port: u16,
    kind: &str,
    length: usize,
    body: &[u8],
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {code} {reason}\r\nContent-Type: {kind}\r\n");
    let _ = write!(
        head,
        "Content-Length: {length}\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
    );
    let _ = write!(
        head,
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data: blob:; \
         connect-src 'self' ws://127.0.0.1:{port} ws://localhost:{port}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n\r\n"
    );
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(head: &str) -> u16 {
        match Request::parse(head.as_bytes(), 8000) {
            Ok(_) => 200,
            Err(Refused((code, _), _)) => code,
        }
    }

    #[test]
    fn requests_are_answered_by_their_form_host_and_origin() {
        let good = "GET / HTTP/1.1\r\nHost: 127.0.0.1:8000";
        for (head, code) in [
            (good.to_string(), 200),
            (good.replace("127.0.0.1", "localhost"), 200),
            (good.replace("GET", "HEAD"), 200),
            (good.replace("127.0.0.1", "evil.example"), 403),
            (good.replace(":8000", ""), 403),
            (good.replace(":8000", ":8001"), 403),
            (good.replace("Host", "Hast"), 400),
            (format!("{good}\r\nHost: 127.0.0.1:8000"), 400),
            (format!("{good}\r\nOrigin: http://127.0.0.1:8000"), 200),
            (format!("{good}\r\nOrigin: http://evil.example"), 403),
            (format!("{good}\r\nOrigin: null"), 403),
            (format!("{good}\r\nContent-Length: 5"), 413),
            (format!("{good}\r\nTransfer-Encoding: chunked"), 413),
            (format!("{good}\r\nno colon"), 400),
            (format!("{good}\r\nbad name: x"), 400),
            (good.replace("GET", "POST"), 405),
            (good.replace(" HTTP/1.1", ""), 400),
            (good.replace("HTTP/1.1", "HTTP/3"), 400),
            (good.replace("GET /", "GET http://evil.example/"), 400),
            (good.replace("GET /", "GET /a b"), 400),
            (good.replace('\r', ""), 400),
            (good.replace("GET", "G\0T"), 400),
            (String::new(), 400),
        ] {
            assert_eq!(status(&head), code, "{head:?}");
        }
        assert!(Request::parse(b"GET /\xff HTTP/1.1", 8000).is_err());
    }

    #[test]
    fn a_seat_is_given_back_also_by_a_panic() {
        let seats = Seats::default();
        let taken: Vec<Seat> = (0..MAX_CONNECTIONS).map_while(|_| seats.take()).collect();
        assert_eq!(taken.len(), MAX_CONNECTIONS);
        assert!(seats.take().is_none() && seats.take().is_none(), "full");
        drop(taken);
        let seat = seats.take().unwrap();
        let ended = thread::spawn(move || {
            let _seat = seat;
            panic!("a handler that fails");
        });
        assert!(ended.join().is_err());
        let taken: Vec<Seat> = (0..MAX_CONNECTIONS).map_while(|_| seats.take()).collect();
        assert_eq!(taken.len(), MAX_CONNECTIONS, "all are free again");
    }

    #[test]
    fn a_websocket_is_only_for_the_page_itself() {
        let head = "GET /live HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nUpgrade: websocket\r\n\
                    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
        assert_eq!(status(head), 400, "no Origin");
        assert_eq!(
            status(&format!("{head}\r\nOrigin: http://evil.example")),
            403
        );
        let ours = format!("{head}\r\nOrigin: http://localhost:8000");
        assert_eq!(status(&ours), 200);
        assert_eq!(status(&ours.replace("Version: 13", "Version: 8")), 400);
    }
}
