//! The parts of a transcript of an exchange.

use metrics::{Part, PartKind};
use wire::connection::ConnectionEvent;
use wire::grpc::{self, MessagePiece, Messages, Unzipped};
use wire::hpack::FieldList;

/// Most parts of an exchange that is always shown, and most of their bytes without the body.
pub(in crate::scenario_runtime) const SHOWN_PARTS_MAX: usize = 1_000;
pub(in crate::scenario_runtime) const SHOWN_BYTES_MAX: usize = 256 * 1024;

/// Exchanges whose transcript is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::scenario_runtime) enum Records {
    #[default]
    Nothing,
    /// Those that fail.
    Failures,
    All,
}

/// The parts of an exchange, in their order, except head and body of the response.
#[derive(Default)]
pub(crate) struct Record {
    /// Parts before the head of the response.
    pub(in crate::scenario_runtime) before: Vec<Part>,
    /// Parts after it, except the body.
    pub(in crate::scenario_runtime) after: Vec<Part>,
    /// Framing of the body since its last piece: after the last chunk, the trailers.
    pub(in crate::scenario_runtime) framing: Vec<u8>,
    pub(in crate::scenario_runtime) bytes: usize,
    pub(in crate::scenario_runtime) left_out: u64,
    /// Secrets of its user when its response came.
    pub(in crate::scenario_runtime) secrets: Vec<String>,
    /// Values that were extracted from the response.
    pub(in crate::scenario_runtime) taken: Vec<Part>,
    /// Bytes of the body that are in messages already.
    pub(in crate::scenario_runtime) reported: usize,
}

impl Record {
    /// The parts around a head and a body, and the count of bytes left out.
    pub(in crate::scenario_runtime) fn split(&self) -> (&[Part], &[Part], u64) {
        (&self.before, &self.after, self.left_out)
    }

    pub(in crate::scenario_runtime) fn push(&mut self, is_behind: bool, part: Part, most: (usize, usize)) {
        let (parts_max, bytes_max) = most;
        let has_room = self.before.len() + self.after.len() < parts_max;
        let room = if has_room { bytes_max - self.bytes.min(bytes_max) } else { 0 };
        let taken = part.bytes.len().min(room);
        self.left_out += (part.bytes.len() - taken) as u64;
        if taken == 0 && !part.bytes.is_empty() {
            return;
        }
        self.bytes += taken;
        let list = if is_behind { &mut self.after } else { &mut self.before };
        if let Some(last) = list.last_mut().filter(|last| part.kind == PartKind::Body && last.kind == part.kind) {
            last.bytes.extend_from_slice(&part.bytes[..taken]);
            return;
        }
        list.push(Part { bytes: part.bytes[..taken].to_vec(), ..part });
    }
}

/// The trailers in the framing at the end of a chunked body.
pub(in crate::scenario_runtime) fn trailers_in(framing: &[u8]) -> Vec<u8> {
    let lines = framing.split_inclusive(|byte| *byte == b'\n');
    // The end of the last chunk's data, and the size of the empty one.
    let trailers = lines.skip_while(|line| line.trim_ascii().is_empty()).skip(1);
    trailers.take_while(|line| !line.trim_ascii().is_empty()).flatten().copied().collect()
}

/// Fields as lines, without those of HTTP/2 itself.
pub(in crate::scenario_runtime) fn lines_of(fields: &FieldList) -> Vec<u8> {
    let mut lines = Vec::new();
    for (name, value) in fields.iter().filter(|(name, _)| name.first() != Some(&b':')) {
        lines.extend_from_slice(&[name, b": ", value, b"\r\n"].concat());
    }
    lines
}

/// Messages without their frames; compressed ones are decompressed.
pub(in crate::scenario_runtime) fn messages_in(framed: &[u8]) -> Vec<Vec<u8>> {
    let (mut reader, mut rest) = (Messages::default(), framed);
    let (mut messages, mut message, mut is_zipped) = (Vec::new(), Vec::new(), false);
    while let Ok((taken, piece)) = reader.handle(rest) {
        rest = &rest[taken..];
        match piece {
            MessagePiece::NeedMore => break,
            MessagePiece::Begun { is_compressed, .. } => is_zipped = is_compressed,
            MessagePiece::Bytes(bytes) => message.extend_from_slice(bytes),
            MessagePiece::End => {
                let whole = std::mem::take(&mut message);
                messages.push(match grpc::gunzip(&whole, SHOWN_BYTES_MAX) {
                    Unzipped::Whole(plain) if is_zipped => plain,
                    _ => whole,
                });
            }
        }
    }
    messages
}

/// A received event for display.
#[cold]
pub(in crate::scenario_runtime) fn note_of(said: &ConnectionEvent<'_>) -> Option<(PartKind, Vec<u8>)> {
    match said {
        ConnectionEvent::Pong => Some((PartKind::Control, b"pong".to_vec())),
        ConnectionEvent::Close { code: None, .. } => Some((PartKind::Control, b"close".to_vec())),
        ConnectionEvent::Close { code: Some(code), reason } => {
            Some((PartKind::Control, format!("close {code} {reason}").trim_end().as_bytes().to_vec()))
        }
        ConnectionEvent::Message { bytes, .. } => Some((PartKind::Message, bytes.to_vec())),
        _ => None,
    }
}
