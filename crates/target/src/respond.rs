//! Rendering of responses.

use std::borrow::Cow;
use std::sync::Arc;

use wire::http1::{ResponseStart, write_response_head};

/// The body of `/`: 27 bytes.
pub(crate) const ROOT_BODY: &[u8; 27] = b"Hello from the onrush demo\n";
/// Size of the pieces of long bodies.
pub(crate) const BLOCK_BYTES: usize = 64 * 1024;
/// Size of one piece of `/drip`.
pub(crate) const DRIP_BYTES: u64 = 64;
/// The largest body that `/echo` returns.
pub(crate) const ECHO_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Size of the chunks of `/chunked`.
const CHUNK_BYTES: u64 = 8 * 1024;

/// Header fields of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) content_type: &'static str,
    pub(crate) location: Option<&'static str>,
    /// An additional field: its name and its value.
    pub(crate) more: Option<(&'static str, Cow<'static, str>)>,
}

impl Kind {
    pub(crate) fn new(content_type: &'static str) -> Self {
        Self { content_type, location: None, more: None }
    }

    /// The same with an additional field, which replaces a previous one.
    pub(crate) fn with(self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        Self { more: Some((name, value.into())), ..self }
    }
}

/// The properties of a request that affect its response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Whether it is a HEAD request.
    pub(crate) is_head: bool,
    /// Whether the connection ends after the response.
    pub(crate) close: bool,
    /// Whether the peer speaks HTTP/1.0 and needs `Connection: keep-alive`.
    pub(crate) is_old: bool,
}

impl Manner {
    fn start(self, status: u16, body_bytes: Option<u64>, kind: &Kind) -> ResponseStart {
        let Kind { content_type, location, .. } = *kind;
        let keep_alive = self.is_old && !self.close;
        ResponseStart { status, body_bytes, content_type, location, close: self.close, keep_alive }
    }
}

/// Appends a whole response with its body.
pub(crate) fn whole(manner: Manner, status: u16, kind: &Kind, body: &[u8], out: &mut Vec<u8>) {
    let more = kind.more.as_ref().map(|(name, value)| (*name, &**value));
    write_response_head(&manner.start(status, Some(body.len() as u64), kind), more, out);
    if !manner.is_head && status != 204 && status != 304 {
        out.extend_from_slice(body);
    }
}

/// Appends the head of a long response.
pub(crate) fn head_of_long(manner: Manner, body_bytes: Option<u64>, out: &mut Vec<u8>) {
    write_response_head(&manner.start(200, body_bytes, &Kind::new("application/octet-stream")), None, out);
}

/// The content of long bodies.
pub(crate) fn block() -> Arc<[u8]> {
    (0..BLOCK_BYTES).map(|index| if index % 64 == 63 { b'\n' } else { b'a' + (index % 26) as u8 }).collect()
}

/// Appends the next chunk, or the last one when nothing remains; returns the remaining bytes, `None` at the end.
pub(crate) fn chunk(remaining: u64, block: &[u8], out: &mut Vec<u8>) -> Option<u64> {
    let count = remaining.min(CHUNK_BYTES);
    out.extend_from_slice(format!("{count:x}\r\n").as_bytes());
    out.extend_from_slice(&block[..count as usize]);
    out.extend_from_slice(b"\r\n");
    (count > 0).then_some(remaining - count)
}
