//! `percale view` and `percale play` as a server: what it answers, and what it refuses.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{PERCALE, finished};

/// A server that is ended with the test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(PERCALE)
            .args(arguments)
            .arg("--no-open")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let port = line.trim().trim_end_matches('/').rsplit(':').next();
        let port = port.unwrap().parse().unwrap_or_else(|_| panic!("{line}"));
        Self { child, port }
    }

    /// Sends these bytes and gives the status and the body of the answer.
    fn ask(&self, request: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let _ = stream.write_all(request); // a server may refuse before all is sent
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let head = head.unwrap_or_else(|| panic!("no answer: {answer:?}"));
        let status = String::from_utf8_lossy(&answer[9..12]).parse().unwrap();
        (status, answer[head + 4..].to_vec())
    }

    fn get(&self, name: &str) -> (u16, Vec<u8>) {
        let port = self.port;
        self.ask(format!("GET {name} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").as_bytes())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two frames of a small drop.
fn record(folder: &Path) -> String {
    let out = folder.join("drop").to_str().unwrap().to_string();
    let small = ["run", "drop", "--small", "--frames", "2"];
    let done = finished(&[&small[..], &["-o", &out]].concat());
    assert!(done.status.success(), "{done:?}");
    out
}

#[test]
fn a_folder_is_served_by_a_fixed_list_of_names_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let out = record(folder.path());
    fs::write(folder.path().join("secret"), "secret").unwrap();
    fs::write(Path::new(&out).join("secret"), "secret").unwrap();
    let server = Server::start(&["view", &out]);

    let (status, page) = server.get("/");
    assert_eq!(status, 200);
    assert!(String::from_utf8(page).unwrap().contains("viewer.js"));
    assert_eq!(server.get("/viewer.js").0, 200);
    let (status, scene) = server.get("/data/scene");
    assert_eq!(status, 200);
    let scene: Value = serde_json::from_slice(&scene).unwrap();
    assert_eq!(scene["frames"], 3);
    assert_eq!(scene["reports"].as_array().unwrap().len(), 2);
    let vertices = scene["bodies"][2]["vertices"][1].as_u64().unwrap() as usize;
    let (status, frame) = server.get("/data/frame/2");
    assert_eq!((status, frame.len()), (200, 12 * vertices));
    // the first vertex, as it lies in the folder
    let stored = fs::read(Path::new(&out).join("objects/cloth.x64")).unwrap();
    let at = 16 + 2 * 24 * 289;
    let x = f64::from_le_bytes(stored[at..at + 8].try_into().unwrap());
    assert_eq!(f32::from_le_bytes(frame[..4].try_into().unwrap()), x as f32);

    for name in [
        "/../secret",
        "/secret",
        "/scene.toml",
        "/data/../secret",
        "/data/frame/../../secret",
        "/..%2fsecret",
        "/%2e%2e/secret",
        "/data/frame/..%2f..%2fsecret",
        "//etc/passwd",
        "/data/frame/3",
        "/data/frame/-1",
        "/data/frame/+1",
        "/data/frame/99999999999999999999",
        "/data/frame/",
        "/objects/cloth.x64",
        "/live",
    ] {
        let (status, body) = server.get(name);
        assert_eq!(status, 404, "{name}");
        assert!(!body.windows(6).any(|six| six == b"secret"), "{name}");
    }
}

#[test]
fn foreign_malformed_and_oversized_requests_are_refused_and_the_next_is_answered() {
    let server = Server::start(&["view", "tangles/closed"]);
    let port = server.port;
    let host = format!("Host: 127.0.0.1:{port}");
    let long = "x".repeat(20_000);
    for (request, status) in [
        (
            format!("GET / HTTP/1.1\r\nHost: evil.example:{port}\r\n\r\n"),
            403,
        ),
        (
            format!("GET /data/scene HTTP/1.1\r\nHost: 127.0.0.1.evil.example:{port}\r\n\r\n"),
            403,
        ),
        (
            format!("GET / HTTP/1.1\r\n{host}\r\nOrigin: http://evil.example\r\n\r\n"),
            403,
        ),
        ("GET / HTTP/1.1\r\n\r\n".into(), 400),
        (format!("GET /{long} HTTP/1.1\r\n{host}\r\n\r\n"), 431),
        (
            format!("GET / HTTP/1.1\r\n{host}\r\nX: {long}\r\n\r\n"),
            431,
        ),
        (long.clone(), 431),
        (
            format!("POST / HTTP/1.1\r\n{host}\r\nContent-Length: 5\r\n\r\nhello"),
            405,
        ),
        (
            format!("GET / HTTP/1.1\r\n{host}\r\nContent-Length: 9999999999\r\n\r\n"),
            413,
        ),
        (format!("GET / HTTP/1.1\r\n{host}"), 400),
        ("\0\u{1}\u{2}\r\n\r\n".into(), 400),
        ("\r\n\r\n".into(), 400),
        ("GET\r\n\r\n".into(), 400),
        (
            format!("GET / HTTP/1.1\r\n{host}\r\nbad header\r\n\r\n"),
            400,
        ),
    ] {
        let shown: String = request.chars().take(60).collect();
        assert_eq!(server.ask(request.as_bytes()).0, status, "{shown:?}");
    }
    assert_eq!(server.ask(b"GET /\xff\xfe HTTP/1.1\r\n\r\n").0, 400);
    assert_eq!(server.get("/").0, 200);
}

#[test]
fn a_live_socket_is_refused_to_other_sites_and_to_folders() {
    let play = Server::start(&["play", "drop", "--small"]);
    let view = Server::start(&["view", "tangles/closed"]);
    let upgrade = |server: &Server, origin: &str| {
        let port = server.port;
        let request = format!(
            "GET /live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{origin}Upgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        server.ask(request.as_bytes()).0
    };
    let own = |server: &Server| format!("Origin: http://127.0.0.1:{}\r\n", server.port);
    assert_eq!(upgrade(&play, ""), 400);
    assert_eq!(upgrade(&play, "Origin: http://evil.example\r\n"), 403);
    assert_eq!(upgrade(&play, &own(&play)), 101);
    assert_eq!(upgrade(&view, &own(&view)), 404);
}

#[test]
fn clients_that_say_nothing_do_not_keep_the_next_one_waiting() {
    let server = Server::start(&["view", "tangles/closed"]);
    let connect = || TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    // 32 are listened to, up to five seconds; each of the others is refused, which takes a fifth of a second
    let silent: Vec<TcpStream> = (0..56).map(|_| connect()).collect();
    let began = Instant::now();
    let (status, _) = server.get("/data/scene");
    let waited = began.elapsed();
    assert_eq!(status, 503);
    assert!(waited < Duration::from_secs(3), "{waited:?}");
    drop(silent);
    let until = Instant::now() + Duration::from_secs(20);
    while server.get("/data/scene").0 != 200 {
        assert!(Instant::now() < until, "seats are given back");
    }
}

fn json(server: &Server, name: &str) -> Value {
    let (status, body) = server.get(name);
    assert_eq!(status, 200, "{name}");
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn a_page_learns_whose_run_it_is_whether_it_goes_on_and_who_writes_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = record(folder.path());
    let server = Server::start(&["view", &out]);
    let first = json(&server, "/data/news/0");
    assert_eq!(
        (&first["complete"], &first["written"]),
        (&true.into(), &false.into())
    );
    let run = |more: &[&str]| {
        let done = finished(&[&["run", "drop", "--small", "-o", &out][..], more].concat());
        assert!(done.status.success(), "{done:?}");
    };

    run(&["--resume", "--frames", "4"]);
    let resumed = json(&server, "/data/news/2");
    assert_eq!(resumed["run"], first["run"], "the same run");
    assert_eq!(
        (&resumed["frames"], &resumed["complete"]),
        (&5.into(), &true.into())
    );
    assert_eq!(resumed["reports"][0]["frame"], 3);

    run(&[
        "--force",
        "--frames",
        "1",
        "--set",
        "cloth.0.shape.cells=[4, 4]",
    ]);
    let replaced = json(&server, "/data/news/4");
    assert_ne!(replaced["run"], first["run"], "another run");
    assert_eq!(replaced["frames"], 2);
    let scene = json(&server, "/data/scene");
    assert_eq!(scene["run"], replaced["run"]);
    assert_eq!(
        scene["bodies"][0]["vertices"],
        serde_json::json!([0, 25]),
        "its own mesh"
    );
    assert_eq!(scene["reports"].as_array().unwrap().len(), 1);

    // a run that goes on, and is killed
    let mut going = Command::new(PERCALE)
        .args(["run", "drop", "-o", &out, "--force"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    let wait_for = |what: &str, is_so: &dyn Fn(&Value) -> bool| loop {
        let news = json(&server, "/data/news/0");
        if is_so(&news) {
            break;
        }
        assert!(Instant::now() < until, "{what}: {news}");
        thread::sleep(Duration::from_millis(20));
    };
    wait_for("a run that goes on", &|news| {
        news["run"] != replaced["run"] && news["written"] == true && news["complete"] == false
    });
    going.kill().unwrap();
    going.wait().unwrap();
    wait_for("a run that nobody writes", &|news| {
        news["written"] == false && news["complete"] == false
    });
}

#[test]
fn the_page_has_the_thickness_of_the_scene_at_rest() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("sheet.toml");
    // edges of a sheet of 2 m x 1 m in two squares: seven of 1 m and two diagonals
    let text = "frames = 1\n[[cloth]]\nname = \"sheet\"\nshape = { kind = \"sheet\", size = [2.0, 1.0], cells = [2, 1] }\n";
    fs::write(&scene, text).unwrap();
    let out = folder.path().join("out").to_str().unwrap().to_string();
    let done = finished(&["run", scene.to_str().unwrap(), "-o", &out]);
    assert!(done.status.success(), "{done:?}");
    let expected = 0.01 * (7.0 + 2.0 * f64::sqrt(2.0)) / 9.0;
    for arguments in [&["view", &out][..], &["play", scene.to_str().unwrap()]] {
        let server = Server::start(arguments);
        let thickness = json(&server, "/data/scene")["thickness"].as_f64().unwrap();
        assert!(
            (thickness - expected).abs() < 1e-12,
            "{thickness}, not {expected}"
        );
    }
}

#[test]
fn pages_replace_nothing_but_pages() {
    let folder = tempfile::tempdir().unwrap();
    let out = record(folder.path());
    let letter = folder.path().join("letter.html");
    let towel = folder.path().join("towel.toml");
    for file in [&letter, &towel] {
        fs::write(file, "dear").unwrap();
        let name = file.to_str().unwrap();
        let report = format!("--report={name}");
        for arguments in [
            &["view", &out, "--html", name][..],
            &["run", "drop", "--small", "-o", &out, "--force", &report],
        ] {
            let done = finished(arguments);
            let error = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{arguments:?}");
            assert!(error.contains(name), "{error}");
            assert_eq!(fs::read_to_string(file).unwrap(), "dear");
        }
    }
    let page = folder.path().join("page.html");
    for _ in 0..2 {
        let done = finished(&["view", &out, "--html", page.to_str().unwrap()]);
        assert!(done.status.success(), "a page replaces a page: {done:?}");
    }
}

#[test]
fn what_cannot_be_shown_is_named_with_a_remedy_and_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let out = record(folder.path());
    let [a, b] = ["a.obj", "b.obj"].map(|name| folder.path().join(name));
    fs::write(&a, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    fs::write(&b, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n").unwrap();
    let [a, b] = [&a, &b].map(|path| path.to_str().unwrap());
    let empty = folder.path().to_str().unwrap();
    for (arguments, words) in [
        (
            &["view", "nowhere", "--no-open"][..],
            "result folder of `percale run`",
        ),
        (&["view", empty, "--no-open"], "result folder"),
        (&["view", a, b, "--no-open"], "b.obj"),
        (&["view", a, &out, "--no-open"], "looked at alone"),
        (
            &["view", &out, "--html", "no/such/folder/x.html"],
            "cannot write",
        ),
        (&["play", "no-such-scene", "--no-open"], "no-such-scene"),
        (
            &["play", "drop", "--set", "friction=-1", "--no-open"],
            "friction",
        ),
        (&["play", "drop", "--small", "--port", "99999"], "--port"),
    ] {
        let done = finished(arguments);
        let error = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
}

#[test]
fn one_file_holds_everything_and_asks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let out = record(folder.path());
    let file = folder.path().join("drop.html");
    let done = finished(&["view", &out, "--html", file.to_str().unwrap()]);
    assert!(done.status.success(), "{done:?}");
    let text = fs::read_to_string(&file).unwrap();
    let told = String::from_utf8(done.stdout).unwrap();
    let megabytes = format!("3 frames, {:.1} MB", text.len() as f64 / 1e6);
    assert!(told.contains(&megabytes), "{told}");
    for word in ["src=\"", "@import", "<iframe"] {
        assert!(!text.contains(word), "{word}");
    }
    assert!(text.contains("data-feed=\"inside\""));
    assert!(
        text.contains("@license") || text.contains("SPDX-License-Identifier"),
        "the notice of three.js"
    );
}
