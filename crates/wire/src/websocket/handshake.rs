//! The WebSocket handshake over HTTP/1.1 (RFC 6455, 4).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1_smol::Sha1;

use super::deflate::{Deflate, WINDOW_BITS_MAX, WINDOW_BITS_MIN};

/// The largest head of either side.
pub const HEAD_BYTES_MAX: usize = 16 * 1024;
const FIELDS_MAX: usize = 64;
/// The GUID that is appended to a key (RFC 6455, 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The offers of a client, in order of preference: the server resets its context after each message; it may keep its
/// context; the form that browsers send; the plain form for servers that know no other. A server may choose our window
/// in all but the last (RFC 7692, 5.1 and 7.1).
const DEFLATE_OFFERS: [&str; 4] = [
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover; client_max_window_bits",
    "permessage-deflate; client_no_context_takeover; client_max_window_bits",
    "permessage-deflate; client_max_window_bits",
    "permessage-deflate",
];
/// The terms of our server: each message is compressed by itself (RFC 7692, 7.1.1).
const DEFLATE_TERMS: &str = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

/// Why a WebSocket handshake failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeFault {
    /// The peer speaks TLS.
    #[error("the peer speaks TLS")]
    Tls,
    /// It is not an HTTP/1.1 head.
    #[error("the head is not one of HTTP/1.1")]
    Malformed,
    /// The head exceeds the size limit.
    #[error("the head is larger than 16 KiB")]
    TooLarge,
    /// The response has another status than 101.
    #[error("the server answers with {0} instead of 101")]
    Status(u16),
    /// The peer does not switch to WebSocket.
    #[error("Upgrade or Connection do not say that the protocol changes to websocket")]
    Upgrade,
    /// The response does not match our key, or the request has none.
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

/// The `Sec-WebSocket-Key` of 16 random bytes.
pub fn key_of(random: [u8; 16]) -> String {
    STANDARD.encode(random)
}

/// The `Sec-WebSocket-Accept` of a key.
pub fn accept_of(key: &str) -> String {
    let mut sha1 = Sha1::new();
    sha1.update(key.as_bytes());
    sha1.update(GUID.as_bytes());
    STANDARD.encode(sha1.digest().bytes())
}

/// The handshake options of a client.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The host, with its port unless that is the default.
    pub host: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// Subprotocols, in order of preference.
    pub protocols: &'a [String],
    /// More fields, in their order.
    pub headers: &'a [(String, Vec<u8>)],
    /// Whether compression is offered; our messages are compressed each by itself.
    pub offers_deflate: bool,
}

/// Renders the handshake request of a client.
pub fn render_request(opening: &Opening<'_>, key: &str, out: &mut Vec<u8>) {
    let (host, target) = (opening.host, opening.target);
    let head = format!(
        "GET {target} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
    );
    out.extend_from_slice(head.as_bytes());
    if !opening.protocols.is_empty() {
        out.extend_from_slice(format!("Sec-WebSocket-Protocol: {}\r\n", opening.protocols.join(", ")).as_bytes());
    }
    if opening.offers_deflate {
        out.extend_from_slice(format!("Sec-WebSocket-Extensions: {}\r\n", DEFLATE_OFFERS.join(", ")).as_bytes());
    }
    for (name, value) in opening.headers {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

/// The terms that a server accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The chosen subprotocol.
    pub protocol: Option<String>,
    /// The compression of messages, if any.
    pub deflate: Option<Deflate>,
}

/// Parses the response to `key` at the start of `input`: its length and content, or `None` when more bytes are needed.
///
/// # Errors
/// The handshake failed.
pub fn read_response(
    input: &[u8],
    key: &str,
    offered: &[String],
    offers_deflate: bool,
) -> Result<Option<(usize, Accepted)>, HandshakeFault> {
    // The first byte of a TLS record: an alert, or a handshake (RFC 8446 5.1).
    if matches!(input.first(), Some(0x15 | 0x16)) {
        return Err(HandshakeFault::Tls);
    }
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
    let mut extensions = all(head.headers, "sec-websocket-extensions").flat_map(words);
    let deflate = match (extensions.next(), extensions.next()) {
        (None, _) => None,
        (Some(only), None) if offers_deflate => Some(agreed_to(only).ok_or(HandshakeFault::Extension)?),
        _ => return Err(HandshakeFault::Extension),
    };
    Ok(Some((length, Accepted { protocol, deflate })))
}

/// A window as a power of two, in the range of RFC 7692.
fn bits_of(value: &[u8]) -> Option<u8> {
    let value = value.trim_ascii();
    let value = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
    let bits: u8 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (WINDOW_BITS_MIN..=WINDOW_BITS_MAX).contains(&bits).then_some(bits)
}

/// The name and the value of an extension parameter.
fn parameter(part: &[u8]) -> (Vec<u8>, Option<&[u8]>) {
    match part.iter().position(|byte| *byte == b'=') {
        Some(at) => (part[..at].trim_ascii().to_ascii_lowercase(), Some(part[at + 1..].trim_ascii())),
        None => (part.to_ascii_lowercase(), None),
    }
}

/// The compression that a server accepted from our offers (RFC 7692, 7.1). Our messages are compressed each by itself,
/// whether the server requires that or not.
fn agreed_to(extension: &[u8]) -> Option<Deflate> {
    let mut parts = extension.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    if !parts.next()?.eq_ignore_ascii_case(b"permessage-deflate") {
        return None;
    }
    let (mut deflate, mut seen) = (Deflate { window_bits: WINDOW_BITS_MAX, keeps_context: true }, Vec::new());
    for part in parts {
        let (name, value) = parameter(part);
        if seen.contains(&name) {
            return None;
        }
        match (name.as_slice(), value) {
            (b"server_no_context_takeover", None) => deflate.keeps_context = false,
            (b"client_no_context_takeover", None) => {}
            // Any server window is fine: ours is large enough (7.1.2.1).
            (b"server_max_window_bits", Some(value)) => drop(bits_of(value)?),
            (b"client_max_window_bits", Some(value)) => deflate.window_bits = bits_of(value)?,
            _ => return None,
        }
        seen.push(name);
    }
    Some(deflate)
}

/// The handshake request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Length of the request in bytes.
    pub length: usize,
    /// Path and query.
    pub target: String,
    /// The key that the response must match.
    pub key: String,
    /// Subprotocols, in order of preference.
    pub protocols: Vec<String>,
    /// The window that we may use for compression, as a power of two, from the first acceptable offer; `None` without
    /// compression.
    pub deflate: Option<u8>,
}

/// Renders the handshake response of a server, with the subprotocol and the window that it accepts.
pub fn render_response(key: &str, protocol: Option<&str>, deflate: Option<u8>, out: &mut Vec<u8>) {
    let accept = accept_of(key);
    out.extend_from_slice(
        format!("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n")
            .as_bytes(),
    );
    if let Some(protocol) = protocol {
        out.extend_from_slice(format!("Sec-WebSocket-Protocol: {protocol}\r\n").as_bytes());
    }
    if let Some(bits) = deflate {
        let window = if bits < WINDOW_BITS_MAX { format!("; server_max_window_bits={bits}") } else { String::new() };
        out.extend_from_slice(format!("Sec-WebSocket-Extensions: {DEFLATE_TERMS}{window}\r\n").as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

/// The window of an acceptable offer.
fn window_of(offer: &[u8]) -> Option<u8> {
    let mut parts = offer.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    if !parts.next()?.eq_ignore_ascii_case(b"permessage-deflate") {
        return None;
    }
    let (mut window, mut seen) = (WINDOW_BITS_MAX, Vec::new());
    for part in parts {
        let (name, value) = parameter(part);
        if seen.contains(&name) {
            return None;
        }
        match (name.as_slice(), value) {
            (b"server_no_context_takeover" | b"client_no_context_takeover" | b"client_max_window_bits", None) => {}
            (b"client_max_window_bits", Some(value)) => drop(bits_of(value)?),
            (b"server_max_window_bits", Some(value)) => window = bits_of(value)?,
            _ => return None,
        }
        seen.push(name);
    }
    Some(window)
}

/// Parses a client's handshake request, or returns `None` when more bytes are needed.
///
/// # Errors
/// It is not a WebSocket handshake.
pub fn read_request(input: &[u8]) -> Result<Option<Offered>, HandshakeFault> {
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
    let deflate = all(head.headers, "sec-websocket-extensions").flat_map(words).find_map(window_of);
    let (key, target) = (String::from_utf8_lossy(key).into_owned(), head.path.unwrap_or("/").to_owned());
    Ok(Some(Offered { length, target, key, protocols, deflate }))
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

type HandshakeFields<'h, 'b> = &'h [httparse::Header<'b>];

fn all<'h, 'b: 'h>(fields: HandshakeFields<'h, 'b>, name: &'h str) -> impl Iterator<Item = &'b [u8]> + 'h {
    fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
}

/// The value of a field that must not appear twice.
fn one<'h, 'b: 'h>(fields: HandshakeFields<'h, 'b>, name: &'h str) -> Option<&'b [u8]> {
    let mut values = all(fields, name);
    let value = values.next()?;
    if values.next().is_some() { None } else { Some(value.trim_ascii()) }
}

fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|word| !word.is_empty())
}

fn upgrades(fields: HandshakeFields<'_, '_>) -> Result<(), HandshakeFault> {
    let says = |name: &str, word: &[u8]| all(fields, name).flat_map(words).any(|each| each.eq_ignore_ascii_case(word));
    if says("upgrade", b"websocket") && says("connection", b"upgrade") { Ok(()) } else { Err(HandshakeFault::Upgrade) }
}
