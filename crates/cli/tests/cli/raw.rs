//! A server that sends given bytes: HTTP/2 without TLS, or anything else.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wire::websocket::{self, Offered};

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
const ACK: u8 = 1;
const FRAME_BYTES_MAX: usize = 16_384;
const PREFACE_BYTES: usize = 24;

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, l2, l1, l0] = (payload.len() as u32).to_be_bytes();
    let mut bytes = vec![l2, l1, l0, kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Encoded fields, each literal and without a table.
pub(crate) fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in fields {
        bytes.push(0);
        push_text(name, &mut bytes);
        push_text(value, &mut bytes);
    }
    bytes
}

fn push_text(text: &str, bytes: &mut Vec<u8>) {
    if text.len() < 127 {
        bytes.push(text.len() as u8);
    } else {
        bytes.push(127);
        let mut rest = text.len() - 127;
        while rest >= 128 {
            bytes.push(rest as u8 | 128);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes.extend_from_slice(text.as_bytes());
}

/// A block in one frame.
pub(crate) fn fields(stream: u32, flags: u8, list: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | flags, stream, &block(list))
}

/// Content, in frames as large as they may be.
pub(crate) fn data(stream: u32, flags: u8, content: &[u8]) -> Vec<u8> {
    let mut parts = content.chunks(FRAME_BYTES_MAX).peekable();
    let mut bytes = if content.is_empty() { frame(DATA, flags, stream, &[]) } else { Vec::new() };
    while let Some(part) = parts.next() {
        bytes.extend_from_slice(&frame(DATA, if parts.peek().is_none() { flags } else { 0 }, stream, part));
    }
    bytes
}

/// A gRPC message with its prefix.
pub(crate) fn message(flag: u8, bytes: &[u8]) -> Vec<u8> {
    let mut message = vec![flag];
    message.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    message.extend_from_slice(bytes);
    message
}

/// A server on a free port. Each connection gets a thread, and its number; it ends with the process of the test. Its
/// reads have no limit: one with a limit fails when the process is stopped and goes on.
pub(crate) struct Raw {
    pub(crate) port: u16,
    /// Requests whose response was sent, as far as the peer took it.
    answered: Arc<AtomicUsize>,
}

impl Raw {
    pub(crate) fn start(serve: impl Fn(TcpStream, usize) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let serve = Arc::new(serve);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let serve = serve.clone();
                std::thread::spawn(move || {
                    let _ = stream.set_nodelay(true);
                    serve(stream, number);
                });
            }
        });
        Self { port, answered: Arc::default() }
    }

    /// Responds to each request of HTTP/2 with the frames that `response` makes for its stream.
    pub(crate) fn answering(response: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let answered = Arc::<AtomicUsize>::default();
        let counter = answered.clone();
        let server = Self::start(move |mut stream, _| {
            if stream.write_all(&frame(SETTINGS, 0, 0, &[])).is_err() {
                return;
            }
            requests(&mut stream, |stream, number| {
                let is_sent = stream.write_all(&response(number)).is_ok();
                counter.fetch_add(1, Ordering::SeqCst);
                is_sent
            });
        });
        Self { answered, ..server }
    }

    /// Requests of [`Raw::answering`] whose response was sent.
    pub(crate) fn answered(&self) -> usize {
        self.answered.load(Ordering::SeqCst)
    }

    /// Sends these bytes after the head of a request of HTTP/1, and closes.
    pub(crate) fn saying(bytes: Vec<u8>) -> Self {
        Self::start(move |mut stream, _| {
            let mut received = Vec::new();
            let mut piece = [0; 4_096];
            while !received.windows(4).any(|four| four == b"\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(0) | Err(_) => return,
                    Ok(count) => received.extend_from_slice(&piece[..count]),
                }
            }
            // A client that refuses it closes first.
            let _ = stream.write_all(&bytes);
        })
    }

    pub(crate) fn url(&self, scheme: &str, path: &str) -> String {
        format!("{scheme}://127.0.0.1:{}{path}", self.port)
    }
}

/// The kinds of the frames that a client sent, after its preface.
pub(crate) fn kinds(bytes: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let mut rest = bytes.get(PREFACE_BYTES..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (kind, _, _, length) = head_of(rest)?;
        rest = rest.get(9 + length..).unwrap_or_default();
        Some(kind)
    })
}

/// Reads frames, and calls `request` with the stream of each complete request, until it returns false or the peer is
/// gone.
fn requests(stream: &mut TcpStream, mut request: impl FnMut(&mut TcpStream, u32) -> bool) {
    let (mut buffer, mut piece) = (Vec::new(), vec![0; 65_536]);
    let mut has_preface = false;
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => buffer.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        if !has_preface {
            if buffer.len() < PREFACE_BYTES {
                continue;
            }
            buffer.drain(..PREFACE_BYTES);
            has_preface = true;
        }
        while let Some((kind, flags, number, length)) = head_of(&buffer) {
            if buffer.len() < 9 + length {
                break;
            }
            buffer.drain(..9 + length);
            let is_request = matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0;
            let goes_on = match kind {
                SETTINGS if flags & ACK == 0 => stream.write_all(&frame(SETTINGS, ACK, 0, &[])).is_ok(),
                _ if is_request => request(stream, number),
                _ => true,
            };
            if !goes_on {
                return;
            }
        }
    }
}

fn head_of(buffer: &[u8]) -> Option<(u8, u8, u32, usize)> {
    let [l2, l1, l0, kind, flags, s3, s2, s1, s0] = *buffer.first_chunk::<9>()?;
    let length = u32::from_be_bytes([0, l2, l1, l0]) as usize;
    Some((kind, flags, u32::from_be_bytes([s3 & 0x7f, s2, s1, s0]), length))
}

/// Reads a WebSocket handshake; `None` when the peer leaves or requests something else.
pub(crate) fn opening_of(stream: &mut TcpStream) -> Option<Offered> {
    let (mut head, mut bytes) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut bytes).ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&bytes[..count]);
        if let Some(requested) = websocket::read_request(&head).ok()? {
            return Some(requested);
        }
    }
}
