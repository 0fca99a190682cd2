//! Captured responses: what is kept of one, and its decoding. They are checked in `response_checks.rs`.

use std::borrow::Cow;

use plan::{CHECKED_BODY_BYTES_MAX, MessageTypes};
use wire::coding::{Undecoded, decode, decode_as_far, within_chunks};
use wire::http1;

use crate::scenario_runtime::exchanges::transcript::Record;

/// Most shown bytes of a body.
pub(in crate::scenario_runtime) const SHOWN_BODY_BYTES_MAX: usize = 64 * 1024;

/// The most that a response has in any case of the capture memory of its connection.
pub(in crate::scenario_runtime) const SHARE_MAX: usize = 1024 * 1024;
/// The smallest buffer of a body.
pub(in crate::scenario_runtime) const KEPT_BYTES_MIN: usize = 256;

/// A captured response.
#[derive(Default)]
pub(crate) struct CapturedResponse {
    /// Lines of HTTP/1, or their equivalent.
    pub(crate) head: Vec<u8>,
    pub(crate) status: u16,
    pub(crate) bytes: Vec<u8>,
    /// It had more than may be kept: only its beginning is there.
    pub(crate) is_too_large: bool,
    /// Other responses on the connection left no room for it.
    pub(crate) is_crowded: bool,
    /// Reason of the failure.
    pub(crate) reason: String,
    /// Further data beside head and body, where it is shown.
    pub(crate) record: Record,
    /// Ends of the messages of a call, for readers of their JSON.
    pub(in crate::scenario_runtime) ends: Vec<usize>,
    /// Length without the trailers that follow it; 0 when there are none.
    pub(crate) head_bytes: usize,
}

impl CapturedResponse {
    pub(in crate::scenario_runtime) fn keep(&mut self, body: &[u8], room: usize) {
        if self.is_too_large {
            return;
        }
        let length = self.bytes.len();
        let count = body.len().min(room - length.min(room));
        if length + count > self.bytes.capacity() {
            // Large buffers move seldom: what they leave behind stays with the process for a while.
            let growth = if length >= SHARE_MAX { 4 } else { 2 };
            let capacity = (self.bytes.capacity() * growth).max(length + count).max(KEPT_BYTES_MIN).min(room);
            self.bytes.reserve_exact(capacity.max(length + count) - length);
        }
        self.bytes.extend_from_slice(&body[..count]);
        if count < body.len() {
            self.cut();
        }
    }

    /// Same as `keep`, where other responses on the connection leave this much room.
    #[inline]
    pub(in crate::scenario_runtime) fn keep_within(&mut self, body: &[u8], most: usize, room: Option<usize>) {
        self.keep(body, room.map_or(most, |room| room.min(most)));
        self.is_crowded |= self.is_too_large && room.is_some_and(|room| room < most);
    }

    /// A message of a call is complete.
    pub(in crate::scenario_runtime) fn end_message(&mut self) {
        self.ends.push(self.bytes.len());
    }

    /// The messages of a call as JSON: for a stream of responses a list. `None`: one of them does not have the type of
    /// the method.
    pub(in crate::scenario_runtime) fn messages(&self, types: &MessageTypes, is_stream: bool) -> Option<Vec<u8>> {
        let (mut json, mut from) = (Vec::new(), 0);
        for end in &self.ends {
            json.push(if json.is_empty() { b'[' } else { b',' });
            json.extend_from_slice(types.json(false, self.bytes.get(from..*end)?)?.as_bytes());
            from = *end;
        }
        match is_stream {
            true if json.is_empty() => Some(b"[]".to_vec()),
            true => {
                json.push(b']');
                Some(json)
            }
            false => Some(json.split_off(json.len().min(1))),
        }
    }

    /// There is more than may be kept. A partial body is only shown, never checked.
    #[cold]
    pub(in crate::scenario_runtime) fn cut(&mut self) {
        self.is_too_large = true;
        if self.bytes.len() > SHOWN_BODY_BYTES_MAX {
            self.bytes.truncate(SHOWN_BODY_BYTES_MAX);
            self.bytes.shrink_to_fit();
        }
    }

    /// Memory that it uses.
    pub(in crate::scenario_runtime) fn held(&self) -> usize {
        self.bytes.len() + self.head.len()
    }

    /// The values of all fields of a name, as one list.
    pub(in crate::scenario_runtime) fn list(&self, name: &[u8]) -> Vec<u8> {
        let fields = http1::fields(&self.head).filter(|(known, _)| known.eq_ignore_ascii_case(name));
        fields.map(|(_, value)| value).collect::<Vec<_>>().join(&b',')
    }

    /// The codings of the message, and those of its content; the last is to be removed first.
    pub(in crate::scenario_runtime) fn codings(&self) -> Codings {
        let of_message = self.list(b"transfer-encoding");
        Codings { of_message: within_chunks(&of_message).to_vec(), of_content: self.list(b"content-encoding") }
    }

    /// The body without its codings.
    pub(in crate::scenario_runtime) fn decoded(&self, most: usize) -> Result<Cow<'_, [u8]>, Undecoded> {
        let codings = self.codings();
        if codings.are_none() || self.bytes.is_empty() {
            return Ok(Cow::Borrowed(&self.bytes));
        }
        decode(&codings.all(), &self.bytes, most).map(Cow::Owned)
    }

    /// The value of a field of the head.
    pub(in crate::scenario_runtime) fn field(&self, wanted: &[u8]) -> Option<&[u8]> {
        let field = http1::fields(&self.head).find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        field.map(|(_, value)| value)
    }

    /// The body for display: as far as it can be decoded.
    pub(in crate::scenario_runtime) fn shown(&self) -> Cow<'_, [u8]> {
        let codings = self.codings();
        if codings.are_none() {
            return Cow::Borrowed(&self.bytes);
        }
        match decode_as_far(&codings.all(), &self.bytes, CHECKED_BODY_BYTES_MAX) {
            // Nothing of it could be decoded.
            (text, Some(_)) if text.is_empty() => Cow::Borrowed(&self.bytes),
            (text, _) => Cow::Owned(text),
        }
    }
}

/// Codings applied to a body before it was sent.
pub(in crate::scenario_runtime) struct Codings {
    pub(in crate::scenario_runtime) of_message: Vec<u8>,
    pub(in crate::scenario_runtime) of_content: Vec<u8>,
}

impl Codings {
    /// All codings, in the order in which they were applied.
    pub(in crate::scenario_runtime) fn all(&self) -> Vec<u8> {
        [&self.of_content[..], &self.of_message].join(&b',')
    }

    /// No coding is applied.
    pub(in crate::scenario_runtime) fn are_none(&self) -> bool {
        self.of_content.trim_ascii().is_empty() && self.of_message.trim_ascii().is_empty()
    }

    /// The fields and their values.
    pub(in crate::scenario_runtime) fn reported(&self) -> String {
        let fields = [("Content-Encoding", &self.of_content), ("Transfer-Encoding", &self.of_message)];
        let reported = fields.iter().filter(|(_, value)| !value.is_empty());
        reported
            .map(|(name, value)| format!("{name} {}", String::from_utf8_lossy(value)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}
