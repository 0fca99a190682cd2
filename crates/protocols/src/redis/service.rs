//! A small Redis, for tests and for `onrush serve`. Its memory is bounded.

use std::collections::HashMap;

use protocol::{Replies, Service};

use super::resp::{LINE_BYTES_MAX, RespLine, Scanner, number, parse_line, split_bulk, split_line};
use super::store::{DATABASES, Out, Store};

/// Maximum bytes of all commands that have not arrived whole.
const PENDING_BYTES_MAX: usize = 64 << 20;
/// Bytes of replies to what arrived at once, after which a client is disconnected instead of served further.
const REPLY_BYTES_MAX: usize = 16 << 20;
/// The password of every user.
const PASSWORD: &[u8] = b"secret";

const NAMES: [&str; 24] = [
    "auth", "client", "command", "config", "dbsize", "del", "echo", "exists", "flushall", "get", "hello", "hgetall",
    "hset", "incr", "incrby", "info", "lpush", "lrange", "mget", "mset", "ping", "quit", "select", "set",
];

#[derive(Default)]
struct Session {
    scanner: Scanner,
    /// A command that has not arrived whole.
    begun: Vec<u8>,
    database: usize,
    is_resp3: bool,
    is_closed: bool,
}

impl Session {
    /// The length of the next command's part in these bytes, and whether the command is whole. `None`: not a command.
    fn take(&mut self, bytes: &[u8], lent: &mut Vec<u8>) -> Option<(usize, bool)> {
        if self.begun.first().or(bytes.first()) == Some(&b'*') {
            let scan = self.scanner.scan(bytes, 1, lent).ok()?;
            return Some((scan.taken, scan.replies == 1));
        }
        // A person at a terminal writes commands as lines.
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(bytes.len(), |end| end + 1);
        (self.begun.len() + taken <= LINE_BYTES_MAX).then_some((taken, end.is_some()))
    }
}

/// The words of a command.
fn words_of(command: &[u8]) -> Option<Vec<&[u8]>> {
    if command.first() != Some(&b'*') {
        return Some(command.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect());
    }
    let (line, mut rest) = split_line(command)?;
    let RespLine::Elements(count) = parse_line(line).ok()? else { return Some(Vec::new()) };
    let word = |_| {
        let (line, after) = split_line(rest)?;
        let RespLine::Bulk(length) = parse_line(line).ok().filter(|_| line[0] == b'$')? else { return None };
        let (word, after) = split_bulk(after, length)?;
        rest = after;
        Some(word)
    };
    (0..count).map(word).collect()
}

/// The server.
#[derive(Default)]
pub(super) struct Server {
    sessions: HashMap<u64, Box<Session>>,
    store: Store,
    /// Bytes of commands that have not arrived whole.
    pending: usize,
    calls: [u64; NAMES.len()],
    lent: Vec<u8>,
}

impl Service for Server {
    fn handle(&mut self, connection: u64, bytes: &[u8], replies: &mut Replies) {
        let mut session = self.sessions.remove(&connection).unwrap_or_default();
        let mut requests = 0;
        let out = replies.buffer(connection);
        let (mut rest, before) = (bytes, out.len());
        while !rest.is_empty() && !session.is_closed {
            let taken = session.take(rest, &mut self.lent);
            let Some((taken, is_whole)) = taken.filter(|(taken, _)| self.pending + taken <= PENDING_BYTES_MAX) else {
                out.extend_from_slice(b"-ERR Protocol error\r\n");
                session.is_closed = true;
                break;
            };
            session.begun.extend_from_slice(&rest[..taken]);
            self.pending += taken;
            rest = &rest[taken..];
            if is_whole {
                let command = std::mem::take(&mut session.begun);
                self.pending -= command.len();
                match words_of(&command) {
                    Some(words) => {
                        requests += 1;
                        self.execute(&mut session, &words, out);
                    }
                    None => {
                        out.extend_from_slice(b"-ERR Protocol error\r\n");
                        session.is_closed = true;
                    }
                }
                session.is_closed |= out.len() - before > REPLY_BYTES_MAX;
            }
        }
        replies.requests += requests;
        if session.is_closed {
            self.pending -= std::mem::take(&mut session.begun).len();
            replies.close(connection);
        }
        self.sessions.insert(connection, session);
    }

    fn close(&mut self, connection: u64) {
        let session = self.sessions.remove(&connection);
        self.pending -= session.map_or(0, |session| session.begun.len());
    }
}

impl Server {
    fn execute(&mut self, session: &mut Session, words: &[&[u8]], out: &mut Vec<u8>) {
        let Some((name, args)) = words.split_first() else { return };
        let mut out = Out { bytes: out, is_resp3: session.is_resp3 };
        let shown = || String::from_utf8_lossy(&name[..name.len().min(128)]).replace(char::is_control, " ");
        let is_name = |known: &&str| known.as_bytes().eq_ignore_ascii_case(name);
        let Some(number) = NAMES.iter().position(is_name) else {
            return out.error(&format!("ERR unknown command '{}'", shown()));
        };
        let upper = NAMES[number].to_ascii_uppercase();
        let done = match self.on_session(session, &upper, args, &mut out) {
            None => self.store.execute(session.database, &upper, args, &mut out),
            done => done,
        };
        match done {
            Some(()) => self.calls[number] += 1,
            None => out.error(&format!("ERR wrong number of arguments for '{}' command", NAMES[number])),
        }
    }

    /// Executes a command that needs no data.
    fn on_session(&self, session: &mut Session, name: &str, args: &[&[u8]], out: &mut Out<'_>) -> Option<()> {
        match (name, args) {
            ("PING", []) => out.simple("PONG"),
            ("PING" | "ECHO", [text]) => out.bulk(text),
            ("COMMAND", _) => out.array(0),
            ("CONFIG", [verb, _, ..]) if verb.eq_ignore_ascii_case(b"GET") => out.map(0),
            ("CLIENT", [verb, _, ..]) if verb.eq_ignore_ascii_case(b"SETNAME") => out.simple("OK"),
            ("INFO", [section]) if section.eq_ignore_ascii_case(b"commandstats") => out.bulk(self.stats().as_bytes()),
            ("INFO", _) => out.bulk(b""),
            ("AUTH", [.., password]) if args.len() <= 2 => log_in(password, out),
            ("SELECT", [number]) => match std::str::from_utf8(number).ok().and_then(|text| text.parse().ok()) {
                Some(number) if number < DATABASES => {
                    session.database = number;
                    out.simple("OK");
                }
                _ => out.error("ERR DB index is out of range"),
            },
            ("HELLO", _) => hello(session, args, out),
            ("QUIT", _) => {
                session.is_closed = true;
                out.simple("OK");
            }
            _ => return None,
        }
        Some(())
    }

    fn stats(&self) -> String {
        let called = NAMES.iter().zip(self.calls).filter(|(_, calls)| *calls > 0);
        let line = |(name, calls): (&&str, u64)| format!("cmdstat_{name}:calls={calls},usec=0,usec_per_call=0.00\r\n");
        "# Commandstats\r\n".to_owned() + &called.map(line).collect::<String>()
    }
}

fn log_in(password: &[u8], out: &mut Out<'_>) {
    if password == PASSWORD {
        out.simple("OK");
    } else {
        out.error("WRONGPASS invalid username-password pair or user is disabled.");
    }
}

fn hello(session: &mut Session, args: &[&[u8]], out: &mut Out<'_>) {
    let version = args.first().map_or(Some(if session.is_resp3 { 3 } else { 2 }), |version| number(version));
    let Some(version @ 2..=3) = version else { return out.error("NOPROTO unsupported protocol version") };
    let mut options = args.get(1..).unwrap_or_default();
    while !options.is_empty() {
        options = match options {
            [word, _, password, rest @ ..] if word.eq_ignore_ascii_case(b"AUTH") => {
                if *password != PASSWORD {
                    return log_in(password, out);
                }
                rest
            }
            [word, _, rest @ ..] if word.eq_ignore_ascii_case(b"SETNAME") => rest,
            _ => return out.error("ERR syntax error in HELLO option"),
        };
    }
    session.is_resp3 = version == 3;
    out.is_resp3 = session.is_resp3;
    out.map(3);
    for (key, value) in [("server", "redis"), ("version", "7.0.0")] {
        out.bulk(key.as_bytes());
        out.bulk(value.as_bytes());
    }
    out.bulk(b"proto");
    out.integer(version);
}
