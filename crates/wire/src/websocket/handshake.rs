//! How a connection of HTTP/1.1 becomes one of WebSocket (RFC 6455, 4).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1_smol::Sha1;

/// The largest head of either side.
pub const HEAD_BYTES_MAX: usize = 16 * 1024;
const FIELDS_MAX: usize = 64;
/// What is appended to a key (RFC 6455, 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Why the connection does not become one of WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeFault {
    /// It is no head of HTTP/1.1.
    #[error("the head is not one of HTTP/1.1")]
    Malformed,
    /// It does not end.
    #[error("the head is larger than 16 KiB")]
    TooLarge,
    /// The answer has another status than 101.
    #[error("the server answers with {0} instead of 101")]
    Status(u16),
    /// The peer does not switch to WebSocket.
    #[error("Upgrade or Connection do not say that the protocol changes to websocket")]
    Upgrade,
    /// The answer is not to our key, or the request has none.
    #[error("Sec-WebSocket-Key or Sec-WebSocket-Accept is missing or wrong")]
    Key,
    /// A version other than 13.
    #[error("Sec-WebSocket-Version is not 13")]
    Version,
    /// A subprotocol that was not offered.
    #[error("the server chose a subprotocol that was not offered")]
    Protocol,
    /// An extension that was not offered.
    #[error("the server chose an extension that was not offered")]
    Extension,
}

/// The key of 16 random bytes.
pub fn key_of(random: [u8; 16]) -> String {
    STANDARD.encode(random)
}

/// The answer to a key.
pub fn accept_of(key: &str) -> String {
    let mut sha1 = Sha1::new();
    sha1.update(key.as_bytes());
    sha1.update(GUID.as_bytes());
    STANDARD.encode(sha1.digest().bytes())
}

/// What a client asks for.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// With its port, unless that is the usual one.
    pub host: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// Subprotocols, the dearest first.
    pub protocols: &'a [String],
    /// More fields, in their order.
    pub headers: &'a [(String, Vec<u8>)],
}

/// The request of a client.
pub fn render_request(opening: &Opening<'_>, key: &str, out: &mut Vec<u8>) {
    let (host, target) = (opening.host, opening.target);
    let head = format!(
        "GET {target} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
    );
    out.extend_from_slice(head.as_bytes());
    if !opening.protocols.is_empty() {
        out.extend_from_slice(format!("Sec-WebSocket-Protocol: {}\r\n", opening.protocols.join(", ")).as_bytes());
    }
    for (name, value) in opening.headers {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

/// What a server agreed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The subprotocol that it chose.
    pub protocol: Option<String>,
}

/// Reads the answer to `key` from the front of `input`: its length and content, or `None` when more bytes are needed.
///
/// # Errors
/// The connection does not become one of WebSocket.
pub fn read_answer(input: &[u8], key: &str, offered: &[String]) -> Result<Option<(usize, Answer)>, HandshakeFault> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Response::new(&mut fields);
    let window = &input[..input.len().min(HEAD_BYTES_MAX)];
    let Some(length) = whole(head.parse(window), window)? else { return Ok(None) };
    let status = head.code.unwrap_or_default();
    if status != 101 {
        return Err(HandshakeFault::Status(status));
    }
    upgrades(head.headers)?;
    if one(head.headers, "sec-websocket-accept") != Some(accept_of(key).as_bytes()) {
        return Err(HandshakeFault::Key);
    }
    let protocol = one(head.headers, "sec-websocket-protocol").map(|name| String::from_utf8_lossy(name).into_owned());
    if protocol.as_ref().is_some_and(|name| !offered.contains(name)) {
        return Err(HandshakeFault::Protocol);
    }
    if all(head.headers, "sec-websocket-extensions").any(|value| !value.trim_ascii().is_empty()) {
        return Err(HandshakeFault::Extension);
    }
    Ok(Some((length, Answer { protocol })))
}

/// Reads the request of a client: its length, its key and its subprotocols, or `None` when more bytes are needed.
///
/// # Errors
/// It does not ask for WebSocket.
pub fn read_request(input: &[u8]) -> Result<Option<(usize, String, Vec<String>)>, HandshakeFault> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Request::new(&mut fields);
    let window = &input[..input.len().min(HEAD_BYTES_MAX)];
    let Some(length) = whole(head.parse(window), window)? else { return Ok(None) };
    if head.method != Some("GET") || head.version != Some(1) {
        return Err(HandshakeFault::Malformed);
    }
    upgrades(head.headers)?;
    if one(head.headers, "sec-websocket-version") != Some(b"13") {
        return Err(HandshakeFault::Version);
    }
    let key = one(head.headers, "sec-websocket-key").ok_or(HandshakeFault::Key)?;
    if !STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == 16) {
        return Err(HandshakeFault::Key);
    }
    let protocols = all(head.headers, "sec-websocket-protocol").flat_map(words);
    let protocols = protocols.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    Ok(Some((length, String::from_utf8_lossy(key).into_owned(), protocols)))
}

fn whole(
    parsed: Result<httparse::Status<usize>, httparse::Error>,
    window: &[u8],
) -> Result<Option<usize>, HandshakeFault> {
    match parsed {
        Ok(httparse::Status::Complete(length)) => Ok(Some(length)),
        Ok(httparse::Status::Partial) if window.len() < HEAD_BYTES_MAX => Ok(None),
        Ok(httparse::Status::Partial) => Err(HandshakeFault::TooLarge),
        Err(_) => Err(HandshakeFault::Malformed),
    }
}

type Fields<'h, 'b> = &'h [httparse::Header<'b>];

fn all<'h, 'b: 'h>(fields: Fields<'h, 'b>, name: &'h str) -> impl Iterator<Item = &'b [u8]> + 'h {
    fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
}

/// The value of a field that must not come twice.
fn one<'h, 'b: 'h>(fields: Fields<'h, 'b>, name: &'h str) -> Option<&'b [u8]> {
    let mut values = all(fields, name);
    let value = values.next()?;
    if values.next().is_some() { None } else { Some(value.trim_ascii()) }
}

fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|word| !word.is_empty())
}

fn upgrades(fields: Fields<'_, '_>) -> Result<(), HandshakeFault> {
    let says = |name: &str, word: &[u8]| all(fields, name).flat_map(words).any(|each| each.eq_ignore_ascii_case(word));
    if says("upgrade", b"websocket") && says("connection", b"upgrade") { Ok(()) } else { Err(HandshakeFault::Upgrade) }
}
