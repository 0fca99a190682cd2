//! Header blocks: one frame, or one with continuations (RFC 9113, 6.2 and 6.10).

use super::{Connection, Event, Role, Taken, depends_on, error, protocol};
use crate::hpack::FieldList;
use crate::http2::frame::{self, Header};
use crate::http2::{BLOCK_BYTES_MAX, CONTINUATIONS_MAX, Code, Error, Fault};

/// An incomplete header block.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) stream: u32,
    ends: bool,
    bytes: Vec<u8>,
    frames: u32,
    /// The block exceeds its size limit. Nothing more of it is stored; which fault it is depends on whether it ends.
    is_too_large: bool,
}

impl Block {
    fn begin(stream: u32, ends: bool, bytes: &[u8]) -> Self {
        Self { stream, ends, bytes: bytes.to_vec(), frames: 1, is_too_large: false }
    }

    fn add(&mut self, payload: &[u8]) -> Result<(), Error> {
        self.frames += 1;
        if self.frames > CONTINUATIONS_MAX {
            return Err(error(Fault::ContinuationFlood, Code::EnhanceYourCalm));
        }
        self.is_too_large |= self.bytes.len() + payload.len() > BLOCK_BYTES_MAX;
        if self.is_too_large {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(payload);
        }
        Ok(())
    }
}

impl Connection {
    pub(super) fn headers<'a>(
        &mut self,
        header: Header,
        payload: &[u8],
        fields: &'a mut FieldList,
        out: &mut Vec<u8>,
    ) -> Taken<'a> {
        if header.stream == 0 {
            return Err(protocol(Fault::FrameStream));
        }
        let mut block = payload;
        let mut padding = 0;
        if header.has(frame::PADDED) {
            let (first, rest) = block.split_first().ok_or(error(Fault::FrameSize, Code::FrameSize))?;
            (padding, block) = (usize::from(*first), rest);
        }
        let mut depends_on_itself = false;
        if header.has(frame::PRIORITY_FLAG) {
            let (priority, rest) = block.split_first_chunk::<5>().ok_or(error(Fault::FrameSize, Code::FrameSize))?;
            depends_on_itself = depends_on(priority, header.stream);
            block = rest;
        }
        block = block.get(..block.len().wrapping_sub(padding)).ok_or(protocol(Fault::Padding))?;
        if self.role == Role::Server && header.stream.is_multiple_of(2) {
            return Err(protocol(Fault::FrameStream));
        }
        let ends = header.has(frame::END_STREAM);
        if !header.has(frame::END_HEADERS) {
            self.block = Some(Box::new(Block::begin(header.stream, ends, block)));
            return Ok(Event::Nothing);
        }
        let event = self.message(header.stream, ends, block, fields, out)?;
        // Priorities are deprecated (RFC 9113, 5.3.2); a client ignores them.
        if depends_on_itself && self.role == Role::Server {
            return self.break_stream(header.stream, Fault::FrameStream, Code::Protocol, out);
        }
        Ok(event)
    }

    pub(super) fn continuation<'a>(
        &mut self,
        header: Header,
        payload: &[u8],
        fields: &'a mut FieldList,
        out: &mut Vec<u8>,
    ) -> Taken<'a> {
        let Some(mut block) = self.block.take() else { return Err(protocol(Fault::Continuation)) };
        block.add(payload)?;
        if !header.has(frame::END_HEADERS) {
            self.block = Some(block);
            return Ok(Event::Nothing);
        }
        if block.is_too_large {
            return Err(error(Fault::HeadersTooLarge, Code::EnhanceYourCalm));
        }
        self.message(block.stream, block.ends, &block.bytes, fields, out)
    }
}
