//! A custom protocol of lines, with a server, and one without.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{About, Endpoint, Mistake, Phrase, Protocol, Replies, Request, Service, StepFields};

/// The first line on a connection.
pub(crate) const GREETING: &str = "hi\n";

const NO_HELP: Phrase = Phrase { en: "lines of a test", zh: "测试用的行" };

/// Upper-cases each line. `all TEXT` sends TEXT to every connection, `count` is answered with the number of
/// connections, and `bye` closes.
struct Lines;

/// The same without a server.
struct Mute;

const fn about(name: &'static str) -> About {
    About { name, title: "Lines", help: NO_HELP, schemes: &[], keys: &[], main_key: "", failures: &[] }
}

static LINES: About = about("lines");
static MUTE: About = about("mute");

fn no_load() -> Mistake {
    Mistake { key: None, en: "it is only served".to_owned(), zh: "仅用于服务端".to_owned() }
}

impl Protocol for Lines {
    fn about(&self) -> &'static About {
        &LINES
    }

    fn prepare(&self, _: &Endpoint, _: &StepFields<'_>) -> Result<Box<dyn Request>, Mistake> {
        Err(no_load())
    }

    fn serve(&self) -> Option<Box<dyn Service>> {
        Some(Box::new(Served::default()))
    }
}

impl Protocol for Mute {
    fn about(&self) -> &'static About {
        &MUTE
    }

    fn prepare(&self, _: &Endpoint, _: &StepFields<'_>) -> Result<Box<dyn Request>, Mistake> {
        Err(no_load())
    }
}

/// Registers both.
pub(crate) fn register() {
    protocol::register(&[&Lines, &Mute]);
}

#[derive(Default)]
struct Served {
    open: BTreeSet<u64>,
    begun: BTreeMap<u64, Vec<u8>>,
}

/// Its assertions are not counted: how many pieces arrive depends on time.
impl Service for Served {
    fn open(&mut self, connection: u64, replies: &mut Replies) {
        ::core::assert!(self.open.insert(connection), "a connection is opened once");
        replies.send(connection, GREETING.as_bytes());
    }

    fn handle(&mut self, connection: u64, bytes: &[u8], replies: &mut Replies) {
        ::core::assert!(self.open.contains(&connection) && !bytes.is_empty(), "bytes of an open connection");
        let mut all = self.begun.remove(&connection).unwrap_or_default();
        all.extend_from_slice(bytes);
        let mut rest = &all[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line(connection, &rest[..=end], replies);
            rest = &rest[end + 1..];
        }
        self.begun.insert(connection, rest.to_vec());
    }

    fn close(&mut self, connection: u64) {
        ::core::assert!(self.open.remove(&connection), "a connection is closed once");
        self.begun.remove(&connection);
    }
}

impl Served {
    fn line(&self, connection: u64, line: &[u8], replies: &mut Replies) {
        if let Some(text) = line.strip_prefix(b"all ") {
            self.open.iter().for_each(|each| replies.send(*each, text));
        } else if line == b"count\n" {
            replies.send(connection, format!("{}\n", self.open.len()).as_bytes());
        } else if line == b"bye\n" {
            replies.close(connection);
        } else {
            replies.send(connection, &line.to_ascii_uppercase());
        }
    }
}
