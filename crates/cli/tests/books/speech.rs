//! The server's side of four protocols, as state machines over bytes: just enough to know where a request ends and to
//! respond to it.

use base64::Engine as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
    WebSocket,
    Tcp,
}

/// The text of every TCP message.
pub(crate) const MESSAGE: &str = "hello";

const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// RFC 6455 1.3.
const WEBSOCKET_KEY_END: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

pub(crate) enum Received {
    /// A complete request; `stream` is that of HTTP/2, else 0.
    Request { stream: u32, payload: Vec<u8> },
    /// Bytes to send at once that are no response to a request.
    Reply(Vec<u8>),
    /// The same, and the handshake is done.
    Handshake(Vec<u8>),
    /// The same, and nothing follows.
    Farewell(Vec<u8>),
}

/// The received bytes of a connection, and its protocol state.
pub(crate) struct Speech {
    protocol: Protocol,
    input: Vec<u8>,
    is_established: bool,
}

impl Speech {
    pub(crate) fn new(protocol: Protocol) -> Self {
        Self { protocol, input: Vec::new(), is_established: false }
    }

    /// Whether there are bytes of an incomplete request.
    pub(crate) fn is_midway(&self) -> bool {
        !self.input.is_empty()
    }

    pub(crate) fn handle(&mut self, bytes: &[u8]) -> Vec<Received> {
        self.input.extend_from_slice(bytes);
        let mut received = Vec::new();
        while let Some((taken, what)) = self.next() {
            self.input.drain(..taken);
            received.extend(what);
        }
        received
    }

    fn next(&mut self) -> Option<(usize, Option<Received>)> {
        match self.protocol {
            Protocol::Http1 => {
                let end = head_end(&self.input)?;
                Some((end, Some(Received::Request { stream: 0, payload: Vec::new() })))
            }
            Protocol::Tcp => {
                let message = self.input.get(..MESSAGE.len())?.to_vec();
                Some((MESSAGE.len(), Some(Received::Request { stream: 0, payload: message })))
            }
            Protocol::WebSocket if !self.is_established => {
                let end = head_end(&self.input)?;
                self.is_established = true;
                let head = String::from_utf8_lossy(&self.input[..end]).into_owned();
                Some((end, Some(Received::Handshake(upgrade(&head)))))
            }
            Protocol::WebSocket => frame_of_websocket(&self.input),
            Protocol::Http2 if !self.is_established => {
                self.input.get(..HTTP2_PREFACE.len())?;
                self.is_established = true;
                // An empty SETTINGS; the defaults will do.
                Some((HTTP2_PREFACE.len(), Some(Received::Reply(frame_of_http2(4, 0, 0, &[])))))
            }
            Protocol::Http2 => read_http2(&self.input),
        }
    }
}

fn head_end(input: &[u8]) -> Option<usize> {
    input.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

fn upgrade(head: &str) -> Vec<u8> {
    let key = head.lines().filter_map(|line| line.split_once(':'));
    let mut key = key.filter(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-key")).map(|(_, value)| value.trim());
    let key = format!("{}{WEBSOCKET_KEY_END}", key.next_back().unwrap_or_default());
    let digest = sha1_smol::Sha1::from(key).digest().bytes();
    let accept = base64::engine::general_purpose::STANDARD.encode(digest);
    let lines = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept";
    format!("{lines}: {accept}\r\n\r\n").into_bytes()
}

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// One masked frame of a client, at most 65,535 bytes.
fn frame_of_websocket(input: &[u8]) -> Option<(usize, Option<Received>)> {
    let (&first, &second) = (input.first()?, input.get(1)?);
    let (length, at) = match second & 0x7f {
        126 => (usize::from(u16::from_be_bytes([*input.get(2)?, *input.get(3)?])), 4),
        127 => panic!("no test sends so long a message"),
        short => (usize::from(short), 2),
    };
    let mask = input.get(at..at + 4)?;
    let masked = input.get(at + 4..at + 4 + length)?;
    let payload: Vec<u8> = masked.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    let received = match first & 0x0f {
        TEXT | BINARY => Some(Received::Request { stream: u32::from(first & 0x0f), payload }),
        PING => Some(Received::Reply(unmasked(PONG, &payload))),
        CLOSE => Some(Received::Farewell(unmasked(CLOSE, &payload))),
        _ => None,
    };
    Some((at + 4 + length, received))
}

fn unmasked(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("a short message");
    [&[0x80 | kind, length], payload].concat()
}

const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING_OF_HTTP2: u8 = 6;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// RFC 9113 4.1. The fields do not matter here, so they stay encoded.
fn read_http2(input: &[u8]) -> Option<(usize, Option<Received>)> {
    let head: [u8; 9] = input.get(..9)?.try_into().expect("nine bytes");
    let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
    let payload = input.get(9..9 + length)?;
    let (kind, flags) = (head[3], head[4]);
    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & 0x7fff_ffff;
    let received = match kind {
        HEADERS => {
            assert!(flags & END_STREAM != 0 && flags & END_HEADERS != 0, "a small request without a body");
            Some(Received::Request { stream, payload: Vec::new() })
        }
        SETTINGS if flags & ACK == 0 => Some(Received::Reply(frame_of_http2(SETTINGS, ACK, 0, &[]))),
        PING_OF_HTTP2 if flags & ACK == 0 => Some(Received::Reply(frame_of_http2(PING_OF_HTTP2, ACK, 0, payload))),
        _ => None,
    };
    Some((9 + length, received))
}

fn frame_of_http2(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A complete response: a 200 or an echo when `is_good`, else a 500 or other bytes of the same length.
pub(crate) fn response(protocol: Protocol, stream: u32, payload: &[u8], is_good: bool) -> Vec<u8> {
    // RFC 7541 appendix A: `:status: 200` and `:status: 500` are entries 8 and 14 of the static table.
    let (status, field) = if is_good { ("200 OK", 0x88) } else { ("500 Wrong", 0x8e) };
    let echo: Vec<u8> = if is_good { payload.to_vec() } else { vec![b'?'; payload.len()] };
    match protocol {
        Protocol::Http1 => format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok").into_bytes(),
        Protocol::Http2 => frame_of_http2(HEADERS, END_HEADERS | END_STREAM, stream, &[field]),
        Protocol::WebSocket => unmasked(stream as u8, &echo),
        Protocol::Tcp => echo,
    }
}
