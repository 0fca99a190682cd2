//! Received data of a query: responses, and the end of the call.

use super::RESPONSE_BYTES;
use prost::Message;
use wire::grpc::reflection::Response;
use wire::grpc::{MessagePiece, Messages, Status, Unzipped, gunzip, percent_decode};
use wire::hpack::FieldList;
use wire::http2::Event;

/// Received data of a query.
#[derive(Default)]
pub(super) struct Received {
    pub(super) is_over: bool,
    /// Stream of the query.
    pub(super) stream: u32,
    /// Bytes that the responses may still have.
    pub(super) left_bytes: u64,
    pub(super) http_status: Option<u16>,
    pub(super) is_zipped: bool,
    pub(super) reader: Messages,
    pub(super) message_is_zipped: bool,
    pub(super) bytes: Vec<u8>,
    pub(super) responses: Vec<Response>,
    pub(super) status: Option<Status>,
    pub(super) message: String,
    pub(super) fault: Option<String>,
    pub(super) is_too_large: bool,
}

impl Received {
    pub(super) fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Head { status, fields, is_last, .. } => {
                self.http_status = Some(*status);
                self.is_zipped = fields.find(b"grpc-encoding") == Some(b"gzip");
                if *is_last {
                    self.end(fields);
                }
            }
            Event::Body { bytes, is_last, .. } => {
                self.take_bytes(bytes);
                self.is_over |= is_last;
            }
            Event::Trailers { fields, .. } => self.end(fields),
            Event::Reset { code, .. } => self.fault = Some(format!("it gave up the stream, code {code}")),
            Event::Broken { fault, .. } => self.fault = Some(fault.to_string()),
            Event::GoAway { code, last } if *last < self.stream => {
                self.fault = Some(format!("it takes no more requests, code {code}"));
            }
            _ => {}
        }
    }

    pub(super) fn end(&mut self, fields: &FieldList) {
        self.is_over = true;
        self.status = fields.find(b"grpc-status").and_then(Status::read);
        self.message = fields.find(b"grpc-message").map(percent_decode).unwrap_or_default();
    }

    pub(super) fn take_bytes(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while self.fault.is_none() {
            match self.reader.handle(rest) {
                Ok((_, MessagePiece::NeedMore)) => return,
                Ok((taken, piece)) => {
                    rest = &rest[taken..];
                    self.piece(piece);
                }
                Err(error) => self.fault = Some(error.to_string()),
            }
        }
    }

    pub(super) fn piece(&mut self, piece: MessagePiece<'_>) {
        match piece {
            MessagePiece::NeedMore => {}
            MessagePiece::Begun { is_compressed, .. } => self.message_is_zipped = is_compressed,
            MessagePiece::Bytes(bytes) => {
                self.is_too_large |= (self.bytes.len() + bytes.len()) as u64 > self.left_bytes;
                if !self.is_too_large {
                    self.bytes.extend_from_slice(bytes);
                }
            }
            MessagePiece::End => {
                let bytes = std::mem::take(&mut self.bytes);
                let message = match self.message_is_zipped {
                    false => Ok(bytes),
                    true if !self.is_zipped => Err("a message is compressed in an unknown way"),
                    true => match gunzip(&bytes, self.left_bytes as usize) {
                        Unzipped::Whole(message) => Ok(message),
                        Unzipped::TooLarge(_) => Err("a compressed message is too large"),
                        Unzipped::Malformed => Err("a compressed message is damaged"),
                    },
                };
                let taken = message.as_ref().map_or(0, Vec::len) as u64 + RESPONSE_BYTES;
                self.is_too_large |= taken > self.left_bytes;
                self.left_bytes = self.left_bytes.saturating_sub(taken);
                match message.map(|message| Response::decode(&*message)) {
                    Ok(Ok(response)) => self.responses.push(response),
                    Ok(Err(error)) => self.fault = Some(error.to_string()),
                    Err(reason) => self.fault = Some(reason.to_owned()),
                }
            }
        }
    }
}
