//! A custom protocol of the target, on sockets.

#[macro_use]
extern crate claims;

#[macro_use]
mod each_driver;
mod lines;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use claims::wait_for;
use driver::Kind;
use lines::GREETING;
use target::{Behavior, Certificate, ProtocolError, ServeError, ServeOptions, Server};
use wire::tls::{ClientConfig, ClientSettings, Session, Trust};

fn options(kind: Kind, name: &str) -> ServeOptions {
    lines::register();
    let listen: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    ServeOptions { protocol: Some(name.to_owned()), ..ServeOptions::plain(listen, 1, kind) }
}

fn server(kind: Kind) -> Server {
    Server::start(&options(kind, "lines")).expect("a server")
}

/// A connection that was greeted.
fn client(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    assert_eq!(read(&mut stream, GREETING.len()), GREETING);
    stream
}

fn read(stream: &mut impl Read, count: usize) -> String {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).expect("the reply");
    String::from_utf8(bytes).expect("text")
}

/// Sends a request, and reads as many bytes as are expected.
fn is_replied(stream: &mut (impl Read + Write), request: &str, reply: &str) {
    stream.write_all(request.as_bytes()).expect("it goes out");
    assert_eq!(read(stream, reply.len()), reply, "{request}");
}

/// A counter of the server's own statistics.
fn counted(server: &Server, what: &str) -> u64 {
    let json = server.stats_json();
    let Some((_, rest)) = json.split_once(&format!("\"{what}\":")) else { return 0 };
    rest.split([',', '}']).next().and_then(|number| number.parse().ok()).expect("a number")
}

fn replies_go_to_any_connection(kind: Kind) {
    let server = server(kind);
    let (mut one, mut other) = (client(&server), client(&server));
    is_replied(&mut one, "a", "");
    is_replied(&mut other, "other\n", "OTHER\n");
    is_replied(&mut one, "b\nGET / HTTP/1.1\nc\n", "AB\nGET / HTTP/1.1\nC\n");
    is_replied(&mut one, "all to both\nx\n", "to both\nX\n");
    is_replied(&mut other, "y\n", "to both\nY\n");
    let received = "ab\nGET / HTTP/1.1\nc\nall to both\nx\nother\ny\n".len() as u64;
    let sent = "hi\nAB\nGET / HTTP/1.1\nC\nto both\nX\nhi\nOTHER\nto both\nY\n".len() as u64;
    assert_eq!((counted(&server, "received_bytes"), counted(&server, "sent_bytes")), (received, sent));
    assert_eq!(counted(&server, "accepted"), 2);
}

/// The service knows of each end: of one that leaves, of one that it closes, and of a reset.
fn what_is_gone_gets_nothing(kind: Kind) {
    let server = server(kind);
    let mut stays = client(&server);
    is_replied(&mut stays, "count\n", "1\n");
    drop(client(&server));
    let mut closed = client(&server);
    is_replied(&mut closed, "last\nbye\n", "LAST\n");
    assert_eq!(closed.read(&mut [0]).expect("an end"), 0);
    // Its greeting is unread when it leaves.
    drop(TcpStream::connect(server.address()).expect("a connection"));
    wait_for("the end of the others", || {
        stays.write_all(b"count\n").expect("it goes out");
        read(&mut stays, 2) == "1\n"
    });
    is_replied(&mut stays, "all x\n", "x\n");
}

/// A reply that is larger than what the kernel takes at once, with the end behind it.
fn who_is_closed_gets_everything(kind: Kind) {
    const BYTES: usize = 8_000_000;
    let server = server(kind);
    for says_bye in [false, true] {
        let mut stream = client(&server);
        let mut request = vec![b'x'; BYTES];
        request.extend_from_slice(if says_bye { b"\nlast\nbye\n" } else { b"\nlast\n" });
        stream.write_all(&request).expect("it goes out");
        if !says_bye {
            stream.shutdown(Shutdown::Write).expect("a half-close");
        }
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).expect("everything");
        assert_eq!(reply.len(), BYTES + "\nLAST\n".len());
        assert!(reply.ends_with(b"XX\nLAST\n"));
    }
    wait_for("both are forgotten", || counted(&server, "open") == 0);
}

/// Its own replies make it wait, and nobody else.
fn who_does_not_read_has_to_wait(kind: Kind) {
    /// Checks without further sends.
    const LOOKS: usize = 20;
    let server = server(kind);
    let (mut stream, mut other) = (client(&server), client(&server));
    stream.set_nonblocking(true).expect("a flag");
    let line = format!("{}\n", "x".repeat(100_000));
    let (mut written, mut blocked) = (0, 0);
    claims::as_one(|| {
        while blocked < LOOKS {
            match stream.write(&line.as_bytes()[written % line.len()..]) {
                Ok(count) => (written, blocked) = (written + count, 0),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    is_replied(&mut other, "a\n", "A\n");
                    blocked += usize::from(counted(&server, "reads_paused") > 0);
                }
                Err(error) => panic!("{error}"),
            }
            assert!(written < 100 << 20, "the server takes everything");
        }
    });
    // It reads at last: what it was sent is complete, and the server reads the rest.
    stream.set_nonblocking(false).expect("a flag");
    let lines = written / line.len();
    let reply = read(&mut stream, lines * line.len());
    assert!(reply.bytes().all(|byte| matches!(byte, b'X' | b'\n')));
    assert_eq!(reply.matches('\n').count(), lines);
}

/// What others send to a connection is bounded, too.
fn who_does_not_read_others_is_closed(kind: Kind) {
    let server = server(kind);
    let (mut slow, mut sender) = (client(&server), client(&server));
    let line = format!("{}\n", "x".repeat(500_000));
    let mut sent = 0;
    claims::as_one(|| {
        while counted(&server, "slow_readers_closed") == 0 {
            is_replied(&mut sender, &format!("all {line}"), &line);
            sent += line.len();
            assert!(sent < 100 << 20, "the server stores everything");
        }
    });
    is_replied(&mut sender, "count\n", "1\n");
    let mut rest = Vec::new();
    // It may be a reset.
    let _ = slow.read_to_end(&mut rest);
    assert!(rest.len() < sent, "{} of {sent}", rest.len());
    assert_eq!(counted(&server, "slow_readers_closed"), 1);
}

/// A TLS client.
struct Secured {
    stream: TcpStream,
    session: Session,
    plain: Vec<u8>,
}

impl Secured {
    fn connect(server: &Server) -> Self {
        let settings = ClientSettings {
            trust: Trust::Anybody,
            certificate: None,
            name: "localhost".to_owned(),
            alpn: vec!["unknown".to_owned()],
            groups: Vec::new(),
            only_tls13: false,
            resumes: false,
        };
        let session = ClientConfig::new(&settings).expect("settings").session().expect("a session");
        let stream = TcpStream::connect(server.address()).expect("a connection");
        let mut secured = Self { stream, session, plain: Vec::new() };
        let mut out = Vec::new();
        secured.session.start(&mut out).expect("a flight");
        secured.stream.write_all(&out).expect("it goes out");
        secured
    }
}

impl Read for Secured {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut chunk = [0; 16 * 1024];
        while self.plain.is_empty() && !self.session.is_closed_by_peer() {
            let count = self.stream.read(&mut chunk)?;
            // Not counted: how many pieces arrive depends on time.
            ::core::assert!(count > 0, "the end is announced");
            let mut out = Vec::new();
            self.session.feed(&mut chunk[..count], &mut self.plain, &mut out).expect("good records");
            self.stream.write_all(&out)?;
        }
        let count = self.plain.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.plain[..count]);
        self.plain.drain(..count);
        Ok(count)
    }
}

impl Write for Secured {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        let mut out = Vec::new();
        self.session.seal(buffer, &mut out).expect("a session");
        self.stream.write_all(&out).map(|()| buffer.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The server speaks first, once the handshake is over; a reply to another connection has the keys of that one.
fn lines_are_encrypted(kind: Kind) {
    let options = options(kind, "lines");
    let certificate = Certificate::self_signed(options.listen.ip()).expect("a certificate");
    let tls = Some(certificate.config_without_alpn().expect("settings"));
    let server = Server::start(&ServeOptions { tls, ..options }).expect("a server");
    let (mut one, mut other) = (Secured::connect(&server), Secured::connect(&server));
    is_replied(&mut one, "", GREETING);
    is_replied(&mut other, "", GREETING);
    is_replied(&mut one, "a\nall b\n", "A\nb\n");
    is_replied(&mut other, "", "b\n");
    let long = "x".repeat(3_000_000);
    one.write_all(format!("{long}\nbye\n").as_bytes()).expect("it goes out");
    let mut reply = Vec::new();
    one.read_to_end(&mut reply).expect("everything");
    assert_eq!(reply.len(), long.len() + 1);
    wait_for("one is left", || {
        other.write_all(b"count\n").expect("it goes out");
        read(&mut other, 2) == "1\n"
    });
}

/// Headers of the PROXY protocol and tunnels come before it.
fn it_begins_behind_a_front(kind: Kind) {
    let behavior = Behavior { is_proxy: true, ..Behavior::default() };
    let server = Server::start(&ServeOptions { behavior, ..options(kind, "lines") }).expect("a server");
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    is_replied(&mut stream, "PROXY UNKNOWN\r\nab\n", "hi\nAB\n");
    assert_eq!(counted(&server, "proxy_headers"), 1);
}

fn what_cannot_be_served_is_refused(kind: Kind) {
    let refused = |name| match Server::start(&options(kind, name)) {
        Err(ServeError::Protocol(error)) => error,
        other => panic!("{:?}", other.map(|server| server.address())),
    };
    let known = vec!["lines"];
    let unknown = |name: &str, near| ProtocolError::Unknown { name: name.to_owned(), near, known: known.clone() };
    assert_eq!(refused("line"), unknown("line", Some("lines")));
    assert_eq!(refused("gopher"), unknown("gopher", None));
    assert_eq!(refused("mute"), ProtocolError::NoServer { name: "mute".to_owned(), known: known.clone() });
    assert_eq!(refused("line").to_string(), "there is no protocol 'line': did you mean 'lines'? Known are lines");
}

on_each_driver! {
    replies_go_to_any_connection
    what_is_gone_gets_nothing
    who_is_closed_gets_everything
    who_does_not_read_has_to_wait
    who_does_not_read_others_is_closed
    lines_are_encrypted
    it_begins_behind_a_front
    what_cannot_be_served_is_refused
}
