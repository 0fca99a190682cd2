//! A server that records requests.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Came {
    /// The port that it came to.
    pub(crate) place: &'static str,
    pub(crate) start: String,
    /// In their order, names as written, values without the spaces around them.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Came {
    /// The first value of a field.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str())
    }
}

/// The files of a recorder.
const FILES: &[(&str, &[u8])] = &[
    ("lines.txt", b"one\r\ntwo & three\n"),
    ("with space.txt", b"x"),
    ("binary.bin", &[0, 1, 2, 0xff, 0xfe, b'\r', b'\n']),
    ("body.json", b"{\n  \"a\": 1\n}\n"),
    ("page.html", b"<p>"),
    ("picture.png", b"\x89PNG"),
    ("headers.txt", b"X-File: 1\r\nX-Other: 2\n"),
    ("comments.txt", b"# what it is\nX-File: 1\n"),
    (
        "old.txt",
        b"127.0.0.1\tFALSE\t/\tFALSE\t946684800\told\t1\n127.0.0.1\tFALSE\t/\tFALSE\t9999999999\tnew\t2\n",
    ),
    (
        "cookies.txt",
        b"# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tall\t1\n127.0.0.1\tFALSE\t/deep\tFALSE\t0\tdeep\t2\n127.0.0.1\tFALSE\t/\tTRUE\t0\tsecure\t3\nother.test\tFALSE\t/\tFALSE\t0\tother\t4\n",
    ),
    ("one.txt", b"one"),
    ("report.pdf", b"%PDF"),
    ("UPPER.JPG", b"jpg"),
    ("etag.txt", b"\"abc\"\n"),
    ("empty.txt", b""),
    ("many.txt", b"X-A: 1\n\n# no\nX-B:2\nX-Empty;\n"),
    (
        "dump.txt",
        b"HTTP/1.1 200 OK\r\nServer: x\r\nSet-Cookie: plain=1\r\nset-cookie: pathx=2; path=/x\r\nSet-Cookie: deep=3; Path=/deep\r\nSet-Cookie: other=4; domain=other.test\r\nSet-Cookie: ip=5; domain=127.0.0.1\r\nSet-Cookie: sec=6; Secure\r\nSet-Cookie: old=7; expires=Tue, 01 Jan 2019 00:00:00 GMT\r\nSet-Cookie: zero=8; Max-Age=0\r\nSet-Cookie: most=9; Max-Age=100\r\nSet-Cookie: sp = 11 ; path=/\r\nSet-Cookie: q=\"12\"; path=\"/\"\r\nSet-Cookie: dotlocal=13; domain=.localhost\r\nSet-Cookie: local=14; domain=localhost\r\nSet-Cookie: sub=15; domain=sub.test.example\r\nSet-Cookie: top=16; domain=example\r\nSet-Cookie: relative=18; path=x\r\nSet-Cookie: slash=19; path=/x/\r\nSet-Cookie: novalue\r\nSet-Cookie: =noname\r\nSet-Cookie: empty=; path=/\r\nSet-Cookie: __Secure-a=20\r\nSet-Cookie: __Host-b=21; path=/; secure\r\nSet-Cookie: plain=22\r\nSet-Cookie:tight=23\r\nSet-Cookie: future=25; expires=Fri, 31 Dec 2099 23:59:59 GMT\r\nSet-Cookie: odd=26; expires=whatever\r\nSet-Cookie: word=27; max-age=abc\r\nSet-Cookie: quoted=28; max-age=\"100\"\r\nSet-Cookie: both=29; max-age=5; expires=Tue, 01 Jan 2019 00:00:00 GMT\r\nSet-Cookie: k=a=b; c\r\n\r\n",
    ),
    (
        "netscape.txt",
        b"127.0.0.1\tFALSE\t/\tFALSE\t0\tsess\t1\n127.0.0.1\tFALSE\t/\tFALSE\t9999999999\tlasting\t2\n127.0.0.1\tFALSE\t/\tFALSE\t0\tnone\n.localhost\tTRUE\t/\tFALSE\t0\tdl\t3\nlocalhost\tFALSE\t/\tFALSE\t0\tl\t4\nsub.localhost\tFALSE\t/\tFALSE\t0\tsl\t5\n#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\thidden\t6\n127.0.0.1\tTRUE\t/\tFALSE\t0\ttail\t8\n127.0.0.1\tFALSE\t/a\tFALSE\t0\tpa\t9\n127.0.0.1\tFALSE\t/b/\tFALSE\t0\tpb\t10\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsess\t13\n 127.0.0.1\tFALSE\t/\tFALSE\t0\tlead\t14\n127.0.0.1\tFALSE\t/\tFALSE\txyz\tbad\t17\nTest.Example\tTRUE\t/\tFALSE\t0\tcase\t18\n127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb\tc\n",
    ),
];

/// A recorder of requests, by TCP and by a Unix socket.
pub(crate) struct Recorder {
    pub(crate) port: u16,
    pub(crate) folder: PathBuf,
    came: Arc<Mutex<Vec<Came>>>,
}

impl Recorder {
    pub(crate) fn start(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("onrush-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, content) in FILES {
            std::fs::write(folder.join(name), content).expect("a file");
        }
        for (name, content) in long_files() {
            std::fs::write(folder.join(name), content).expect("a file");
        }
        let came = Arc::new(Mutex::new(Vec::new()));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let socket = folder.join("socket");
        let _ = std::fs::remove_file(&socket);
        let local = UnixListener::bind(&socket).expect("a socket");
        let kept = came.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                std::thread::spawn(move || {
                    let reader = BufReader::new(stream.try_clone().expect("a second handle"));
                    serve(reader, stream, port, &kept);
                });
            }
        });
        let kept = came.clone();
        std::thread::spawn(move || {
            for stream in local.incoming().flatten() {
                let kept = kept.clone();
                std::thread::spawn(move || {
                    let reader = BufReader::new(stream.try_clone().expect("a second handle"));
                    serve(reader, stream, port, &kept);
                });
            }
        });
        Self { port, folder, came }
    }

    /// The number of requests that were not taken yet.
    pub(crate) fn count(&self) -> u64 {
        self.came.lock().expect("nobody panics with it").len() as u64
    }

    pub(crate) fn take(&self) -> Vec<Came> {
        std::mem::take(&mut self.came.lock().expect("nobody panics with it"))
    }

    pub(crate) fn fill(&self, command: &str) -> String {
        let address = format!("127.0.0.1:{}", self.port);
        command
            .replace("CREDENTIALS", &format!("http://us%20er:pass@{address}"))
            .replace("--url ", "--\u{1} ")
            .replace("URL", &format!("http://{address}"))
            .replace('\u{1}', "url")
            .replace("PORT", &self.port.to_string())
            .replace("DIR", &self.folder.to_string_lossy())
    }
}

/// Files for curl of which some parts are long or many.
fn long_files() -> Vec<(&'static str, String)> {
    let line = |name: &str, value: &str| format!("127.0.0.1\tFALSE\t/\tFALSE\t0\t{name}\t{value}\n");
    let big = ["a", "b", "c", "d"].map(|name| line(name, &"x".repeat(4_000))).concat();
    let long = line("l", &"x".repeat(6_000)) + &line("fits", &"x".repeat(4_900)) + &line("s", "v");
    let set = |name: &str, bytes: usize| format!("Set-Cookie: {name}={}\n", "y".repeat(bytes));
    vec![
        ("resume.txt", "0123456789".to_owned()),
        ("crowd.txt", (1..=200).map(|number| line(&format!("c{number:03}"), "v")).collect()),
        ("big.txt", big),
        ("long.txt", long),
        ("control.txt", line("a", "v\u{1}w") + &line("b", "ok") + &line("c\u{2}", "ok") + &line("d", "v\u{7f}w")),
        (
            "heads.txt",
            set("d", 4_000) + &set("e", 4_096) + "Set-Cookie: a=v\u{1}w\nSet-Cookie: b=o\tk\nSet-Cookie: g=1\n",
        ),
    ]
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn serve(mut reader: impl BufRead, mut writer: impl Write, port: u16, kept: &Mutex<Vec<Came>>) {
    while let Some(came) = read_request(&mut reader, &mut writer) {
        let path = came.start.split(' ').nth(1).unwrap_or_default().to_owned();
        let is_head = came.start.starts_with("HEAD");
        let is_last = came.value("connection").is_some_and(|value| value.contains("close"));
        kept.lock().expect("nobody panics with it").push(came);
        let parts: Vec<&str> = path.split('/').collect();
        let response = match parts.as_slice() {
            ["", "redirect", status, how] => {
                let to = match *how {
                    "again" => "/redirect/302/to".to_owned(),
                    "relative" => "../x/./there".to_owned(),
                    "query" => "?a=b%20c#d".to_owned(),
                    "loop" => "/redirect/302/loop".to_owned(),
                    _ => format!("http://127.0.0.1:{port}/there?x=1"),
                };
                format!("HTTP/1.1 {status} Moved\r\nLocation: {to}\r\nContent-Length: 5\r\n\r\nmoved")
            }
            ["", "away", scheme, port] => {
                format!(
                    "HTTP/1.1 302 Moved\r\nLocation: {scheme}://localhost:{port}/\r\nContent-Length: 5\r\n\r\nmoved"
                )
            }
            ["", "gzip"] => {
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nSet-Cookie: secretsecret=1\r\nX-Id: 17\r\nContent-Length: ";
                let body = packed(b"{\"code\": 200, \"data\": {\"id\": 17}}");
                let head = format!("{head}{}\r\n\r\n", body.len());
                if writer.write_all(&[head.as_bytes(), &body].concat()).is_err() {
                    return;
                }
                continue;
            }
            _ => "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".to_owned(),
        };
        let end = if is_head { response.len() - 5 } else { response.len() };
        if writer.write_all(&response.as_bytes()[..end]).is_err() || is_last {
            return;
        }
    }
}

/// The bytes in gzip.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new("gzip")
        .arg("-c")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("gzip starts");
    child.stdin.take().expect("a pipe").write_all(bytes).expect("it reads");
    child.wait_with_output().expect("it ends").stdout
}

pub(crate) fn read_request(reader: &mut impl BufRead, writer: &mut impl Write) -> Option<Came> {
    let line = |reader: &mut dyn BufRead| {
        let mut bytes = Vec::new();
        reader.read_until(b'\n', &mut bytes).ok().filter(|count| *count > 0)?;
        Some(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned())
    };
    let start = line(reader)?;
    let mut fields = Vec::new();
    loop {
        let field = line(reader)?;
        if field.is_empty() {
            break;
        }
        let (name, value) = field.split_once(':')?;
        fields.push((name.trim_start().to_owned(), value.trim().to_owned()));
    }
    let mut came = Came { place: "plain", start, fields, body: Vec::new() };
    if came.value("expect").is_some() {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
    }
    if came.value("transfer-encoding").is_some() {
        loop {
            let size = usize::from_str_radix(line(reader)?.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            came.body.extend_from_slice(&chunk[..size]);
            if size == 0 {
                break;
            }
        }
    } else if let Some(length) = came.value("content-length") {
        came.body = vec![0; length.parse().ok()?];
        reader.read_exact(&mut came.body).ok()?;
    }
    Some(came)
}
