//! Proxies: real curl and onrush go through the same ones, and send the same there and behind them.

use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use wire::tls::ServerConfig;

use super::chains::{Host, Redirects, Secured, tls_server};
use super::{WORKERS, bash, comparable, ours};
use crate::recorder::{Came, Recorder, read_request};

const COMMANDS: &str = include_str!("proxies.txt");
/// The minimum number of commands.
const COMMANDS_MIN: usize = 66;

/// The kinds of servers, each with the name of its place in commands.
#[derive(Clone, Copy)]
enum Kind {
    Plain,
    Secure,
    Headed,
    Http,
    Tls,
    Socks,
}

const KINDS: [(Kind, &str, &str); 7] = [
    (Kind::Plain, "{plain}", "http://127.0.0.1:"),
    (Kind::Plain, "{named}", "http://localhost:"),
    (Kind::Secure, "{secure}", "https://127.0.0.1:"),
    (Kind::Headed, "{headed}", "http://127.0.0.1:"),
    (Kind::Http, "{http}", "127.0.0.1:"),
    (Kind::Tls, "{tls}", "127.0.0.1:"),
    (Kind::Socks, "{socks}", "127.0.0.1:"),
];

type Received = Arc<Mutex<Vec<Came>>>;

/// Servers of all kinds, which record in one list what they receive. Proxies lead nowhere: what follows in a tunnel is
/// answered by themselves.
struct Servers {
    recorder: Recorder,
    ports: [u16; KINDS.len()],
    received: Received,
}

impl Servers {
    fn start(worker: usize) -> Self {
        let (received, tls) = (Received::default(), tls_server());
        let ports = KINDS.map(|(kind, ..)| {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let port = listener.local_addr().expect("an address").port();
            let server = Server { kind, received: received.clone(), tls: tls.clone() };
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let server = server.clone();
                    // The client may be gone at any time.
                    std::thread::spawn(move || drop(server.serve(stream)));
                }
            });
            port
        });
        Self { recorder: Recorder::start(&format!("proxied{worker}")), ports, received }
    }

    /// A command with the places of this value.
    fn fill(&self, command: &str) -> String {
        let places = KINDS.iter().zip(self.ports);
        let filled = places
            .fold(command.to_owned(), |text, ((_, name, start), port)| text.replace(name, &format!("{start}{port}")));
        filled.replace("{port}", &self.ports[0].to_string())
    }

    /// What was received since the last call. The ports of `{named}` and `{plain}` differ.
    fn take(&self) -> Vec<Came> {
        let received = std::mem::take(&mut *self.received.lock().expect("no thread panics with it"));
        received.into_iter().map(comparable).collect()
    }
}

#[derive(Clone)]
struct Server {
    kind: Kind,
    received: Received,
    tls: ServerConfig,
}

impl Server {
    fn push(&self, came: Came) {
        self.received.lock().expect("no thread panics with it").push(came);
    }

    /// Records what is no request of HTTP.
    fn push_line(&self, place: &'static str, start: String) {
        self.push(Came { place, start, fields: Vec::new(), body: Vec::new() });
    }

    fn host(&self, place: &'static str) -> Host {
        Host { place, came: self.received.clone(), ways: Arc::new(Mutex::new(Redirects::new())) }
    }

    fn secured(&self, stream: TcpStream) -> Secured {
        Secured::new(stream, self.tls.session().expect("a session"))
    }

    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        match self.kind {
            Kind::Plain => self.host("PLAIN").serve(BufReader::new(stream.try_clone()?), stream),
            Kind::Secure => self.host("SECURE").serve_tls(self.secured(stream)),
            Kind::Headed => {
                self.serve_header(&mut stream)?;
                return self.serve_tunnel(stream);
            }
            Kind::Http if self.serve_proxy("HTTP", stream.try_clone()?, &mut stream) => {
                return self.serve_tunnel(stream);
            }
            Kind::Tls => {
                let mut secured = self.secured(stream);
                if self.serve_proxy("TLS", secured.clone(), &mut secured) {
                    self.host("TUNNEL").serve(BufReader::new(secured.clone()), secured);
                }
            }
            Kind::Http => {}
            Kind::Socks => {
                self.serve_socks(&mut stream)?;
                return self.serve_tunnel(stream);
            }
        }
        Ok(())
    }

    /// What follows behind a proxy: TLS, or plain HTTP.
    fn serve_tunnel(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut first = [0; 1];
        if stream.peek(&mut first)? == 1 && first[0] == 0x16 {
            self.host("SECURE TUNNEL").serve_tls(self.secured(stream));
        } else {
            self.host("TUNNEL").serve(BufReader::new(stream.try_clone()?), stream);
        }
        Ok(())
    }

    /// Requests to a proxy of HTTP, until one opens a tunnel.
    fn serve_proxy(&self, place: &'static str, reader: impl Read, writer: &mut impl Write) -> bool {
        // A client sends nothing more before a tunnel is open: no byte is left in here.
        let mut reader = BufReader::new(reader);
        while let Some(mut came) = read_request(&mut reader, writer) {
            let opens = came.start.starts_with("CONNECT ");
            came.place = place;
            self.push(to_proxy(came, opens));
            let length = if opens { "" } else { "Content-Length: 0\r\n" };
            if writer.write_all(format!("HTTP/1.1 200 OK\r\n{length}\r\n").as_bytes()).is_err() || opens {
                return opens;
            }
        }
        false
    }

    /// A proxy of SOCKS5, which wants a login if the client offers one.
    fn serve_socks(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let [version, count] = read::<2>(stream)?;
        let methods = read_text(stream, count)?;
        let login = if methods.contains('\u{2}') {
            stream.write_all(b"\x05\x02")?;
            let [_, user] = read::<2>(stream)?;
            let user = read_text(stream, user)?;
            let [password] = read::<1>(stream)?;
            let password = read_text(stream, password)?;
            stream.write_all(b"\x01\0")?;
            format!("{user}/{password}")
        } else {
            stream.write_all(b"\x05\0")?;
            "no login".to_owned()
        };
        let [again, command, _, kind] = read::<4>(stream)?;
        let host = if kind == 3 {
            let [length] = read::<1>(stream)?;
            format!("the name {}", read_text(stream, length)?)
        } else {
            format!("{kind}: {}", Ipv4Addr::from(read::<4>(stream)?))
        };
        let port = u16::from_be_bytes(read::<2>(stream)?);
        self.push_line("SOCKS", format!("{version} {again} {command} {login} {host} {port}"));
        stream.write_all(b"\x05\0\0\x01\0\0\0\0\0\0")
    }

    /// The first version of the header. The port of the client is another for each connection.
    fn serve_header(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.extend(read::<1>(stream)?);
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        let mut words: Vec<&str> = line.split(' ').collect();
        if let Some(port) = words.get_mut(4) {
            *port = if port.parse::<u16>().is_ok() { "PORT" } else { "no port" };
        }
        // Both mean the addresses of the connection itself.
        let is_own = words.get(2..4) == Some(&["127.0.0.1", "127.0.0.1"]);
        let line = if is_own { UNKNOWN.to_owned() } else { words.join(" ") };
        self.push_line("HEADER", line);
        Ok(())
    }
}

/// The header of a connection that speaks for itself.
const UNKNOWN: &str = "PROXY UNKNOWN\r\n";

/// The compared parts of a request to a proxy: neither the field that keeps the connection, which is of no standard, nor
/// the agent that wants a tunnel. The login is compared by itself, wherever it stands.
fn to_proxy(mut came: Came, opens: bool) -> Came {
    came.fields.retain(|(name, _)| match name.to_ascii_lowercase().as_str() {
        "host" | "proxy-authorization" => true,
        "proxy-connection" => false,
        _ => !opens,
    });
    came.fields.sort_by_key(|(name, _)| name.eq_ignore_ascii_case("proxy-authorization"));
    came
}

fn read<const N: usize>(stream: &mut TcpStream) -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_text(stream: &mut TcpStream, length: u8) -> std::io::Result<String> {
    let mut bytes = vec![0; usize::from(length)];
    stream.read_exact(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs our own binary on a command. Variables before it count when that is wanted.
fn ours_of(filled: &str, by_words: bool, servers: &Servers) -> String {
    let folder = &servers.recorder.folder;
    if filled.starts_with("curl") {
        return ours(filled, by_words, folder);
    }
    bash(&filled.replacen(" curl", " \"$ONRUSH\" -c 1 -n 1 --quiet --proxy-from-env curl", 1), folder)
}

#[test]
fn proxies_are_those_of_curl() {
    let commands: Vec<&str> = COMMANDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let (next, differences) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = |worker: usize| {
        let servers = Servers::start(worker);
        while let Some((number, command)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|number| Some((number, commands.get(number)?)))
        {
            let filled = servers.fill(command);
            bash(&filled, &servers.recorder.folder);
            let of_curl = servers.take();
            let shown = ours_of(&filled, number % 2 == 0, &servers);
            let came = servers.take();
            if of_curl.is_empty() || of_curl != came {
                let text = format!("{command}\n  curl: {of_curl:#?}\n  ours: {came:#?}\n  {shown}");
                differences.lock().expect("no thread panics with it").push(text);
            }
        }
    };
    std::thread::scope(|scope| (0..WORKERS).for_each(|worker| drop(scope.spawn(move || work(worker)))));
    let differences = differences.into_inner().expect("no thread panics with it");
    assert!(differences.is_empty(), "{} of {} differ:\n{}", differences.len(), commands.len(), differences.join("\n"));
    assert!(commands.len() >= COMMANDS_MIN, "{} commands", commands.len());
}

/// A flag that curl has since 8.2: the address in the header.
#[test]
fn a_client_of_the_header_is_named() {
    let servers = Servers::start(WORKERS);
    let shown = ours(&servers.fill("curl -s --haproxy-clientip 10.9.8.7 {headed}/a"), true, &servers.recorder.folder);
    let came = servers.take();
    let header = came.first().map(|came| came.start.clone()).unwrap_or_default();
    assert!(header.starts_with("PROXY TCP4 10.9.8.7 ") && came.len() == 2, "{came:#?} {shown}");
}
