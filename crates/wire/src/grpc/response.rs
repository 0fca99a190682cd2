//! The response to a call as a state machine: its head, its messages, and its final status.

use super::{MessagePiece, Messages, Status, is_content_type};
use crate::hpack::FieldList;

/// What is wrong with a response. The first fault is the one that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResponseFault {
    /// The flag of a message is neither 0 nor 1.
    #[error("a message begins with a flag that is neither 0 nor 1")]
    Flag,
    /// A message is compressed, but the head names no encoding.
    #[error("a message is compressed, and grpc-encoding does not say how")]
    Encoding,
    /// The head names an encoding that was not offered.
    #[error("grpc-encoding names a compression that was not offered")]
    NotOffered,
    /// A message cannot be decompressed.
    #[error("a compressed message is damaged, or its compression is not known here")]
    Unzip,
    /// A decompressed message is too large.
    #[error("a compressed message holds too much")]
    UnzippedTooLarge,
    /// A message does not decode as its type.
    #[error("a message is not of the type that the method answers with")]
    Type,
    /// The response ends within a message.
    #[error("the answer ends within a message")]
    Cut,
    /// A unary method returned no message, or several.
    #[error("a method without a stream answers with one message")]
    Count,
    /// It has no final status.
    #[error("the answer ends without grpc-status")]
    NoStatus,
    /// The status is not a number.
    #[error("grpc-status is not a number")]
    BadStatus,
    /// It is not a gRPC response.
    #[error("the content type is not one of gRPC")]
    ContentType,
}

/// Why a call has no usable status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusError {
    /// The outcome is given by the HTTP status.
    Http,
    /// The response breaks the protocol.
    ResponseFault(ResponseFault),
}

/// The encoding of messages that are flagged as compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Encoding {
    /// The response names none.
    #[default]
    None,
    Gzip,
    /// An encoding that was offered, but is not supported here.
    Foreign,
    NotOffered,
}

/// The status fields of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StatusFields {
    #[default]
    Nothing,
    Status(Status),
    /// A value that is not a number.
    Nonsense,
}

/// The state machine. Call [`Response::head`], [`Response::handle`] with the bytes of the body, [`Response::status`]
/// with the trailer fields, and then [`Response::ending`].
#[derive(Debug, Default)]
pub struct Response {
    reader: Messages,
    encoding: Encoding,
    is_grpc: bool,
    received: u64,
    status: StatusFields,
    fault: Option<ResponseFault>,
}

impl Response {
    /// Handles the head of the response. `offered`: the encodings named by the request.
    pub fn head(&mut self, fields: &FieldList, offered: &[u8]) {
        self.is_grpc = fields.find(b"content-type").is_some_and(is_content_type);
        let is_offered = |name: &[u8]| offered.split(|byte| *byte == b',').any(|one| one.trim_ascii() == name);
        self.encoding = match fields.find(b"grpc-encoding").filter(|name| *name != b"identity") {
            None => Encoding::None,
            Some(name) if !is_offered(name) => Encoding::NotOffered,
            Some(b"gzip") => Encoding::Gzip,
            Some(_) => Encoding::Foreign,
        };
    }

    /// Whether it is a gRPC response; any other has no messages.
    #[inline]
    pub fn is_grpc(&self) -> bool {
        self.is_grpc
    }

    /// Whether flagged messages are compressed with gzip.
    #[inline]
    pub fn is_gzipped(&self) -> bool {
        self.encoding == Encoding::Gzip
    }

    /// Number of complete messages.
    #[inline]
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Whether a fault was found: the rest is not parsed.
    #[inline]
    pub fn is_broken(&self) -> bool {
        self.fault.is_some()
    }

    /// Records a fault that is found only by inspecting messages.
    #[cold]
    pub fn blame(&mut self, fault: ResponseFault) {
        self.fault.get_or_insert(fault);
    }

    /// Parses the start of `input` until a fault is found: how many bytes were consumed, and the event. Call it again
    /// until it returns [`MessagePiece::NeedMore`]. `is_read`: message contents are inspected.
    ///
    /// # Errors
    /// The response breaks the protocol; the fault is stored.
    #[inline]
    pub fn handle<'a>(&mut self, input: &'a [u8], is_read: bool) -> Result<(usize, MessagePiece<'a>), ResponseFault> {
        let handled = self.reader.handle(input).map_err(|_| ResponseFault::Flag);
        let checked = handled.and_then(|(taken, piece)| match piece {
            MessagePiece::Begun { is_compressed: true, .. } => self.may_be_compressed(is_read).map(|()| (taken, piece)),
            MessagePiece::End => {
                self.received += 1;
                Ok((taken, piece))
            }
            _ => Ok((taken, piece)),
        });
        if let Err(fault) = checked {
            self.blame(fault);
        }
        checked
    }

    fn may_be_compressed(&self, is_read: bool) -> Result<(), ResponseFault> {
        match self.encoding {
            Encoding::None => Err(ResponseFault::Encoding),
            Encoding::NotOffered => Err(ResponseFault::NotOffered),
            // It cannot be decoded here.
            Encoding::Foreign if is_read => Err(ResponseFault::Unzip),
            Encoding::Foreign | Encoding::Gzip => Ok(()),
        }
    }

    /// Looks for a status in trailer fields, or in a head that is the whole response. Returns it if present.
    pub fn status(&mut self, fields: &FieldList) -> Option<Status> {
        let value = fields.find(b"grpc-status")?;
        let status = Status::read(value);
        self.status = status.map_or(StatusFields::Nonsense, StatusFields::Status);
        status
    }

    /// Ends the response and returns its status.
    ///
    /// # Errors
    /// There is no status, or it contradicts what came before.
    pub fn ending(&self, http_status: u16, responses_stream: bool) -> Result<Status, StatusError> {
        let reported = if let StatusFields::Status(status) = self.status { Some(status) } else { None };
        // A failure status is always trusted; an OK status only of a gRPC response.
        let Some(status) = reported.filter(|status| *status != Status::OK || self.is_grpc) else {
            return Err(match self.status {
                StatusFields::Nonsense => StatusError::ResponseFault(ResponseFault::BadStatus),
                _ if http_status != 200 => StatusError::Http,
                _ if !self.is_grpc => StatusError::ResponseFault(ResponseFault::ContentType),
                _ => StatusError::ResponseFault(self.fault.unwrap_or(ResponseFault::NoStatus)),
            });
        };
        match self.fault {
            Some(fault) => Err(StatusError::ResponseFault(fault)),
            None if self.is_grpc && !self.reader.is_between() => Err(StatusError::ResponseFault(ResponseFault::Cut)),
            None if status == Status::OK && !responses_stream && self.received != 1 => {
                Err(StatusError::ResponseFault(ResponseFault::Count))
            }
            None => Ok(status),
        }
    }
}
