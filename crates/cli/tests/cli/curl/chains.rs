//! Redirects: real curl and onrush follow the same chain, from host to host, and send the same requests.

use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rcgen::{CertificateParams, KeyPair};
use wire::hpack::FieldList;
use wire::http2::{Event, Server};
use wire::tls::{ServerConfig, ServerSettings, Session};

use super::{WORKERS, bash, comparable, ours};
use crate::recorder::{Came, Recorder, read_request};

const CHAINS: &str = include_str!("chains.txt");
/// The minimum number of chains.
const CHAINS_MIN: usize = 60;

/// The server's response per path: a status and a location.
pub(super) type Redirects = HashMap<String, (u16, Vec<u8>)>;

/// A command, and the redirects of its chain.
struct Chain {
    command: String,
    /// Path, status, location.
    hops: Vec<(String, u16, String)>,
}

/// The chains of the file: a command, and below it its redirects, each indented.
fn chains() -> Vec<Chain> {
    let mut all: Vec<Chain> = Vec::new();
    for line in CHAINS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with(' ') {
            let mut words = line.trim_start().splitn(3, ' ');
            let (path, status) = (words.next().expect("a path"), words.next().expect("a status"));
            let hop = (path.to_owned(), status.parse().expect("a status"), words.next().unwrap_or_default().to_owned());
            all.last_mut().expect("a command stands above").hops.push(hop);
        } else {
            all.push(Chain { command: line.to_owned(), hops: Vec::new() });
        }
    }
    all
}

/// Three servers that record requests in one list: two plain ones, and one with TLS that also has HTTP/2.
struct Hosts {
    recorder: Recorder,
    ports: [u16; 3],
    came: Arc<Mutex<Vec<Came>>>,
    ways: Arc<Mutex<Redirects>>,
}

/// The TLS of servers on this machine, with HTTP/2 if the client wants it.
pub(super) fn tls_server() -> ServerConfig {
    let key = KeyPair::generate().expect("a key");
    let names = ["127.0.0.1", "localhost", "name.test", "other.test"].map(str::to_owned);
    let certificate = CertificateParams::new(names.to_vec()).expect("names").self_signed(&key).expect("a certificate");
    ServerConfig::new(&ServerSettings {
        certificates: certificate.pem().into_bytes(),
        key: key.serialize_pem().into_bytes(),
        alpn: vec!["h2".to_owned(), "http/1.1".to_owned()],
        clients: None,
    })
    .expect("a server")
}

const PLACES: [&str; 3] = ["PLAIN", "OTHER", "TLS"];

impl Hosts {
    fn start(worker: usize) -> Self {
        let tls = tls_server();
        let (came, ways) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Redirects::new())));
        let ports = PLACES.map(|place| {
            let listener = TcpListener::bind("0.0.0.0:0").expect("a port");
            let port = listener.local_addr().expect("an address").port();
            let (came, ways, tls) = (came.clone(), ways.clone(), (place == "TLS").then(|| tls.clone()));
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let host = Host { place, came: came.clone(), ways: ways.clone() };
                    let session = tls.as_ref().map(|tls| tls.session().expect("a session"));
                    std::thread::spawn(move || match session {
                        None => host.serve(BufReader::new(stream.try_clone().expect("a second handle")), stream),
                        Some(session) => host.serve_tls(Secured::new(stream, session)),
                    });
                }
            });
            port
        });
        Self { recorder: Recorder::start(&format!("chains{worker}")), ports, came, ways }
    }

    /// The placeholders for hosts and ports.
    fn fill(&self, text: &str) -> String {
        let [plain, other, tls] = self.ports;
        let resolve: Vec<String> = [("name.test", "127.0.0.1"), ("other.test", "127.0.0.2")]
            .iter()
            .flat_map(|(name, address)| self.ports.map(|port| format!("--resolve {name}:{port}:{address}")))
            .collect();
        text.replace("RESOLVE", &resolve.join(" "))
            .replace("PORT1", &plain.to_string())
            .replace("PORT2", &other.to_string())
            .replace("PORT3", &tls.to_string())
            .replace("PLAIN", &format!("http://127.0.0.1:{plain}"))
            .replace("OTHER", &format!("http://127.0.0.1:{other}"))
            .replace("SECURE", &format!("https://127.0.0.1:{tls}"))
            .replace("DIR", &self.recorder.folder.to_string_lossy())
    }

    fn take(&self) -> Vec<Came> {
        let came = std::mem::take(&mut *self.came.lock().expect("nobody panics with it"));
        came.into_iter().map(comparable).collect()
    }
}

pub(super) struct Host {
    pub(super) place: &'static str,
    pub(super) came: Arc<Mutex<Vec<Came>>>,
    pub(super) ways: Arc<Mutex<Redirects>>,
}

impl Host {
    /// Records a request, and returns the redirect of its path.
    fn response(&self, mut came: Came) -> Option<(u16, Vec<u8>)> {
        came.place = self.place;
        let path = came.start.split(' ').nth(1).unwrap_or_default().to_owned();
        self.came.lock().expect("nobody panics with it").push(came);
        self.ways.lock().expect("nobody panics with it").get(&path).cloned()
    }

    pub(super) fn serve(&self, mut reader: BufReader<impl Read>, mut writer: impl Write) {
        while let Some(came) = read_request(&mut reader, &mut writer) {
            let is_last = came.start.ends_with("HTTP/1.0");
            let response = match self.response(came) {
                Some((status, location)) => {
                    let head = format!("HTTP/1.1 {status} Moved\r\nLocation: ");
                    [head.as_bytes(), &location, b"\r\nContent-Length: 0\r\n\r\n"].concat()
                }
                None => b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
            };
            if writer.write_all(&response).is_err() || is_last {
                return;
            }
        }
    }

    pub(super) fn serve_tls(&self, mut secured: Secured) {
        let mut first = [0; 1];
        let Ok(1) = secured.read(&mut first) else { return };
        secured.plain.insert(0, first[0]);
        if secured.session().alpn() == Some(b"h2") {
            let _ = self.serve_http2(&mut secured);
        } else {
            let writer = secured.clone();
            self.serve(BufReader::new(secured), writer);
        }
    }

    fn serve_http2(&self, secured: &mut Secured) -> std::io::Result<()> {
        let (mut server, mut out, mut input) = (Server::default(), Vec::new(), Vec::new());
        let (mut fields, mut open) = (FieldList::default(), HashMap::<u32, Came>::new());
        server.start(&mut out);
        loop {
            secured.write_all(&out)?;
            out.clear();
            let mut bytes = [0; 4096];
            let count = secured.read(&mut bytes)?;
            if count == 0 {
                return Ok(());
            }
            input.extend_from_slice(&bytes[..count]);
            loop {
                let mut ended = None;
                let handled = server.handle(&input, &mut fields, &mut out);
                let Ok((taken, event)) = handled else { return secured.write_all(&out) };
                let is_all = matches!(event, Event::NeedMore);
                match event {
                    Event::Request { stream, fields, is_last } => {
                        open.insert(stream, request_of(fields));
                        ended = is_last.then_some(stream);
                    }
                    Event::Body { stream, bytes, is_last, .. } => {
                        if let Some(came) = open.get_mut(&stream) {
                            came.body.extend_from_slice(bytes);
                        }
                        ended = is_last.then_some(stream);
                    }
                    _ => {}
                }
                input.drain(..taken);
                if let Some((stream, came)) = ended.and_then(|stream| Some((stream, open.remove(&stream)?))) {
                    let (status, location) = self.response(came).map_or((200, None), |(status, to)| (status, Some(to)));
                    let location = location.iter().map(|to| (&b"location"[..], to.as_slice()));
                    server.response(stream, status, location, true, &mut out);
                }
                if is_all {
                    break;
                }
            }
        }
    }
}

fn request_of(fields: &FieldList) -> Came {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let of = |name: &[u8]| fields.find(name).map(text).unwrap_or_default();
    let start = format!("{} {} HTTP/2 {}", of(b":method"), of(b":path"), of(b":scheme"));
    let host = ("host".to_owned(), of(b":authority"));
    let others =
        fields.iter().filter(|(name, _)| !name.starts_with(b":")).map(|(name, value)| (text(name), text(value)));
    Came { place: "", start, fields: std::iter::once(host).chain(others).collect(), body: Vec::new() }
}

/// A TLS stream.
#[derive(Clone)]
pub(super) struct Secured {
    stream: Arc<TcpStream>,
    session: Arc<Mutex<Session>>,
    plain: Vec<u8>,
}

impl Secured {
    pub(super) fn new(stream: TcpStream, session: Session) -> Self {
        Self { stream: Arc::new(stream), session: Arc::new(Mutex::new(session)), plain: Vec::new() }
    }

    fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().expect("nobody panics with it")
    }
}

impl Read for Secured {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.plain.is_empty() {
            let (mut bytes, mut out) = ([0; 4096], Vec::new());
            let count = (&*self.stream).read(&mut bytes)?;
            let mut plain = Vec::new();
            let fed = self.session().feed(&mut bytes[..count], &mut plain, &mut out);
            self.plain = plain;
            (&*self.stream).write_all(&out)?;
            if count == 0 || fed.is_err() {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.plain.len());
        buffer[..count].copy_from_slice(&self.plain[..count]);
        self.plain.drain(..count);
        Ok(count)
    }
}

impl Write for Secured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut out = Vec::new();
        self.session().seal(bytes, &mut out).map_err(std::io::Error::other)?;
        (&*self.stream).write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// `\xHH` is a byte.
fn bytes_of(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut parts = text.split("\\x");
    out.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        out.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
        out.extend_from_slice(&part.as_bytes()[2..]);
    }
    out
}

#[test]
fn redirects_go_the_way_of_curl() {
    let (chains, next) = (chains(), AtomicUsize::new(0));
    let differences = Mutex::new(Vec::new());
    let work = |worker: usize| {
        let hosts = Hosts::start(worker);
        while let Some((number, chain)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|number| Some((number, chains.get(number)?)))
        {
            let hops = chain.hops.iter();
            let ways = hops.map(|(path, status, to)| (path.clone(), (*status, bytes_of(&hosts.fill(to))))).collect();
            *hosts.ways.lock().expect("nobody panics with it") = ways;
            let filled = hosts.fill(&chain.command);
            bash(&filled, &hosts.recorder.folder);
            let of_curl = hosts.take();
            let said = ours(&filled, number % 2 == 0, &hosts.recorder.folder);
            let came = hosts.take();
            if of_curl.is_empty() || of_curl != came {
                let (command, hops) = (&chain.command, &chain.hops);
                let text = format!("{command} {hops:?}\n  curl: {of_curl:#?}\n  ours: {came:#?}\n  {said}");
                differences.lock().expect("nobody panics with it").push(text);
            }
        }
    };
    std::thread::scope(|scope| (0..WORKERS).for_each(|worker| drop(scope.spawn(move || work(worker)))));
    let differences = differences.into_inner().expect("nobody panics with it");
    assert!(differences.is_empty(), "{} of {} differ:\n{}", differences.len(), chains.len(), differences.join("\n"));
    assert!(chains.len() >= CHAINS_MIN, "{} chains", chains.len());
}
