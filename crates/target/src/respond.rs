//! Answers as bytes.

use std::borrow::Cow;
use std::sync::Arc;

use wire::http1::{ResponseStart, write_response_head};

/// The body of `/`: 27 bytes.
pub(crate) const ROOT_BODY: &[u8; 27] = b"Hello from the onrush demo\n";
/// The pieces in which long bodies go out.
pub(crate) const BLOCK_BYTES: usize = 64 * 1024;
/// One piece of `/drip`.
pub(crate) const DRIP_BYTES: u64 = 64;
/// The largest body that `/echo` gives back.
pub(crate) const ECHO_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The pieces of `/chunked`.
const CHUNK_BYTES: u64 = 8 * 1024;

/// What the head of an answer says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) content_type: &'static str,
    pub(crate) location: Option<&'static str>,
    /// A field more: its name and its value.
    pub(crate) more: Option<(&'static str, Cow<'static, str>)>,
}

impl Kind {
    pub(crate) fn of(content_type: &'static str) -> Self {
        Self { content_type, location: None, more: None }
    }

    /// The same with a field more, which takes the place of any other.
    pub(crate) fn with(self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        Self { more: Some((name, value.into())), ..self }
    }
}

/// What an answer needs to know of its request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Head only.
    pub(crate) is_head: bool,
    /// The connection ends after it.
    pub(crate) close: bool,
    /// The peer speaks HTTP/1.0 and must hear that the connection stays.
    pub(crate) is_old: bool,
}

impl Manner {
    fn start(self, status: u16, body_bytes: Option<u64>, kind: &Kind) -> ResponseStart {
        let Kind { content_type, location, .. } = *kind;
        let keep_alive = self.is_old && !self.close;
        ResponseStart { status, body_bytes, content_type, location, close: self.close, keep_alive }
    }
}

/// Appends a whole answer whose body is at hand.
pub(crate) fn whole(manner: Manner, status: u16, kind: &Kind, body: &[u8], out: &mut Vec<u8>) {
    let more = kind.more.as_ref().map(|(name, value)| (*name, &**value));
    write_response_head(&manner.start(status, Some(body.len() as u64), kind), more, out);
    if !manner.is_head && status != 204 && status != 304 {
        out.extend_from_slice(body);
    }
}

/// Appends the head of a long answer.
pub(crate) fn head_of_long(manner: Manner, body_bytes: Option<u64>, out: &mut Vec<u8>) {
    write_response_head(&manner.start(200, body_bytes, &Kind::of("application/octet-stream")), None, out);
}

/// The bytes of which long bodies are made.
pub(crate) fn block() -> Arc<[u8]> {
    (0..BLOCK_BYTES).map(|index| if index % 64 == 63 { b'\n' } else { b'a' + (index % 26) as u8 }).collect()
}

/// Appends the next chunk, or the last one when nothing remains; gives what remains then, `None` at the end.
pub(crate) fn chunk(remaining: u64, block: &[u8], out: &mut Vec<u8>) -> Option<u64> {
    let count = remaining.min(CHUNK_BYTES);
    out.extend_from_slice(format!("{count:x}\r\n").as_bytes());
    out.extend_from_slice(&block[..count as usize]);
    out.extend_from_slice(b"\r\n");
    (count > 0).then_some(remaining - count)
}
