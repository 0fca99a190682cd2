//! Frames (RFC 9113, 4.1 and 6).

use super::Code;

pub(super) const HEADER_BYTES: usize = 9;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const END_STREAM: u8 = 1;
pub(super) const ACK: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
pub(super) const PADDED: u8 = 8;
pub(super) const PRIORITY_FLAG: u8 = 32;

pub(super) const SETTING_HEADER_TABLE_SIZE: u16 = 1;
pub(super) const SETTING_ENABLE_PUSH: u16 = 2;
pub(super) const SETTING_MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const SETTING_INITIAL_WINDOW_SIZE: u16 = 4;
pub(super) const SETTING_MAX_FRAME_SIZE: u16 = 5;
pub(super) const SETTING_MAX_HEADER_LIST_SIZE: u16 = 6;

/// The header of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl Header {
    #[inline]
    pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Self {
        let [l2, l1, l0, kind, flags, s3, s2, s1, s0] = *bytes;
        Self {
            length: u32::from_be_bytes([0, l2, l1, l0]) as usize,
            kind,
            flags,
            stream: u32::from_be_bytes([s3 & 0x7f, s2, s1, s0]),
        }
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

#[inline]
pub(super) fn push_header(length: usize, kind: u8, flags: u8, stream: u32, out: &mut Vec<u8>) {
    let [_, l2, l1, l0] = (length as u32).to_be_bytes();
    let [s3, s2, s1, s0] = stream.to_be_bytes();
    out.extend_from_slice(&[l2, l1, l0, kind, flags, s3, s2, s1, s0]);
}

pub(super) fn push_settings(settings: &[(u16, u32)], out: &mut Vec<u8>) {
    push_header(settings.len() * 6, SETTINGS, 0, 0, out);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

pub(super) fn push_window_update(stream: u32, more: u32, out: &mut Vec<u8>) {
    push_header(4, WINDOW_UPDATE, 0, stream, out);
    out.extend_from_slice(&more.to_be_bytes());
}

pub(super) fn push_reset(stream: u32, code: Code, out: &mut Vec<u8>) {
    push_header(4, RST_STREAM, 0, stream, out);
    out.extend_from_slice(&(code as u32).to_be_bytes());
}

pub(super) fn push_goaway(last: u32, code: Code, out: &mut Vec<u8>) {
    push_header(8, GOAWAY, 0, 0, out);
    out.extend_from_slice(&last.to_be_bytes());
    out.extend_from_slice(&(code as u32).to_be_bytes());
}

/// Appends a header block, in as many frames as the peer's frame limit requires.
pub(super) fn push_block(block: &[u8], stream: u32, ends_stream: bool, frame_bytes_max: usize, out: &mut Vec<u8>) {
    let end_stream = if ends_stream { END_STREAM } else { 0 };
    if block.len() <= frame_bytes_max {
        push_header(block.len(), HEADERS, END_HEADERS | end_stream, stream, out);
        return out.extend_from_slice(block);
    }
    let mut parts = block.chunks(frame_bytes_max).peekable();
    let mut kind = HEADERS;
    while let Some(part) = parts.next() {
        let end = if parts.peek().is_none() { END_HEADERS } else { 0 };
        push_header(part.len(), kind, end | if kind == HEADERS { end_stream } else { 0 }, stream, out);
        out.extend_from_slice(part);
        kind = CONTINUATION;
    }
}
