//! An HTTP/2 peer: it reads the headers of frames, and responds on each stream with prepared bytes.

use driver::Socket;
use wire::hpack::{Encoder, Indexing};
use wire::http2::{PREFACE, Server};

use super::canned::ConnectionEvent;

/// The header of a frame (RFC 9113, 4.1).
const HEADER_BYTES: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

fn end_of(is_last: bool) -> u8 {
    if is_last { END_STREAM } else { 0 }
}

/// A name and its value.
type Field = (&'static str, &'static str);

/// A response, and the positions of its stream number.
#[derive(Default)]
pub(super) struct Response {
    bytes: Vec<u8>,
    streams_at: Vec<usize>,
}

impl Response {
    pub(super) fn headers(mut self, fields: &[Field], indexing: Indexing, is_last: bool, to: &mut Encoder) -> Self {
        let mut block = Vec::new();
        to.begin(&mut block);
        fields.iter().for_each(|(name, value)| to.field(name.as_bytes(), value.as_bytes(), indexing, &mut block));
        self.push(HEADERS, END_HEADERS | end_of(is_last), &block);
        self
    }

    pub(super) fn data(mut self, body: &[u8], is_last: bool) -> Self {
        self.push(DATA, end_of(is_last), body);
        self
    }

    fn push(&mut self, kind: u8, flags: u8, payload: &[u8]) {
        self.bytes.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
        self.bytes.extend_from_slice(&[kind, flags]);
        self.streams_at.push(self.bytes.len());
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.extend_from_slice(payload);
    }

    fn write(&self, stream: [u8; 4], out: &mut Vec<u8>) {
        let begins = out.len();
        out.extend_from_slice(&self.bytes);
        self.streams_at.iter().for_each(|at| out[begins + at..begins + at + 4].copy_from_slice(&stream));
    }
}

/// The state of a connection.
#[derive(Default)]
struct Connection {
    has_begun: bool,
    has_answered: bool,
    /// Bytes of a payload that are still to come.
    left: usize,
    out: Vec<u8>,
    responses: u64,
}

/// An HTTP/2 server with prepared responses.
pub(crate) struct Streams {
    /// The first response of a connection may fill the header table; the others use it.
    first: Response,
    others: Response,
    connections: Vec<Connection>,
}

impl Streams {
    pub(super) fn new(make: impl Fn(&mut Encoder) -> Response) -> Self {
        let mut encoder = Encoder::default();
        Self { first: make(&mut encoder), others: make(&mut encoder), connections: Vec::new() }
    }

    /// A response of nginx.
    pub(crate) fn plain() -> Self {
        let fields = [
            (":status", "200"),
            ("server", "nginx/1.22.1"),
            ("date", "Sat, 21 Nov 2026 12:00:00 GMT"),
            ("content-type", "text/plain"),
            ("content-length", "27"),
            ("last-modified", "Fri, 20 Nov 2026 12:00:00 GMT"),
            ("etag", "\"673dc1a0-1b\""),
            ("accept-ranges", "bytes"),
        ];
        Self::new(|encoder| {
            let head = Response::default().headers(&fields, Indexing::NotKept, false, encoder);
            head.data(b"abcdefghijklmnopqrstuvwxyz\n", true)
        })
    }
}

impl Streams {
    pub(super) fn receive(&mut self, socket: Socket, said: ConnectionEvent<'_>) -> bool {
        let ConnectionEvent::Bytes(mut bytes) = said else { return false };
        let index = socket.index as usize;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, Connection::default);
        }
        let connection = &mut self.connections[index];
        let was_silent = connection.out.is_empty();
        if !std::mem::replace(&mut connection.has_begun, true) {
            bytes = bytes.strip_prefix(PREFACE).expect("a client says this first");
            Server::default().start(&mut connection.out);
        }
        loop {
            let skipped = connection.left.min(bytes.len());
            connection.left -= skipped;
            bytes = &bytes[skipped..];
            // The header of a frame arrives in one piece.
            let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else { break };
            bytes = rest;
            let [a, b, c, kind, flags, stream @ ..] = *header;
            connection.left = u32::from_be_bytes([0, a, b, c]) as usize;
            match kind {
                DATA | HEADERS if flags & END_STREAM != 0 => {
                    let is_first = !std::mem::replace(&mut connection.has_answered, true);
                    let response = if is_first { &self.first } else { &self.others };
                    response.write(stream, &mut connection.out);
                    connection.responses += 1;
                }
                SETTINGS if flags & ACK == 0 => {
                    connection.out.extend_from_slice(&[0, 0, 0, SETTINGS, ACK, 0, 0, 0, 0]);
                }
                _ => {}
            }
        }
        was_silent && !connection.out.is_empty()
    }

    pub(super) fn say(&mut self, socket: Socket, spoken: &mut Vec<u8>) -> u64 {
        let connection = &mut self.connections[socket.index as usize];
        std::mem::swap(&mut connection.out, spoken);
        connection.out.clear();
        std::mem::take(&mut connection.responses)
    }
}
