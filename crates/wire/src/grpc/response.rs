//! The answer to a call as a machine: its head, its messages, and the status that it ends with.

use super::{MessagePiece, Messages, Status, is_content_type};
use crate::hpack::FieldList;

/// What is wrong with an answer. The first fault is the one that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResponseFault {
    /// A message begins with a flag that is neither 0 nor 1.
    #[error("a message begins with a flag that is neither 0 nor 1")]
    Flag,
    /// A message is compressed, and the head does not say how.
    #[error("a message is compressed, and grpc-encoding does not say how")]
    Encoding,
    /// Messages may be compressed in a way that was not offered.
    #[error("grpc-encoding names a compression that was not offered")]
    NotOffered,
    /// A message cannot be taken apart.
    #[error("a compressed message is damaged, or its compression is not known here")]
    Unzip,
    /// A message is too large when it is taken apart.
    #[error("a compressed message holds too much")]
    UnzippedTooLarge,
    /// A message is not of its type.
    #[error("a message is not of the type that the method answers with")]
    Type,
    /// The answer ends within a message.
    #[error("the answer ends within a message")]
    Cut,
    /// A method without a stream has none, or several.
    #[error("a method without a stream answers with one message")]
    Count,
    /// There is no status at its end.
    #[error("the answer ends without grpc-status")]
    NoStatus,
    /// The status is no number.
    #[error("grpc-status is not a number")]
    BadStatus,
    /// It is something else than an answer of gRPC.
    #[error("the content type is not one of gRPC")]
    ContentType,
}

/// Why a call has no status of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusError {
    /// HTTP says how it ended.
    Http,
    /// The answer breaks the rules.
    ResponseFault(ResponseFault),
}

/// How the messages of an answer are compressed that say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Encoding {
    /// The answer names none.
    #[default]
    None,
    Gzip,
    /// It was offered, and is not known here.
    Foreign,
    NotOffered,
}

/// What an answer says of its status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StatusFields {
    #[default]
    Nothing,
    Status(Status),
    /// Something that is no number.
    Nonsense,
}

/// The machine. Call [`Response::head`], [`Response::handle`] with what the body brings, [`Response::status`] with the fields at the end, and
/// then [`Response::ending`].
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
    /// The head of the answer. `offered`: the compressions that the request names.
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

    /// It is one of gRPC; anything else has no messages.
    #[inline]
    pub fn is_grpc(&self) -> bool {
        self.is_grpc
    }

    /// Messages that are compressed are so by gzip.
    #[inline]
    pub fn is_gzipped(&self) -> bool {
        self.encoding == Encoding::Gzip
    }

    /// Messages that came whole.
    #[inline]
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Something was wrong: nothing more of it is understood.
    #[inline]
    pub fn is_broken(&self) -> bool {
        self.fault.is_some()
    }

    /// Something is wrong that only those see who look into messages.
    #[cold]
    pub fn blame(&mut self, fault: ResponseFault) {
        self.fault.get_or_insert(fault);
    }

    /// Understands the front of `input`, as long as nothing was wrong: how many bytes, and what they meant. Call it again until it says
    /// [`MessagePiece::NeedMore`]. `is_read`: somebody wants to see what messages hold.
    ///
    /// # Errors
    /// The answer breaks the rules, which is remembered.
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
            // Nobody here can read it.
            Encoding::Foreign if is_read => Err(ResponseFault::Unzip),
            Encoding::Foreign | Encoding::Gzip => Ok(()),
        }
    }

    /// Fields that may have the status: those at the end, or a head without anything behind it. Gives the status, if they do.
    pub fn status(&mut self, fields: &FieldList) -> Option<Status> {
        let value = fields.find(b"grpc-status")?;
        let status = Status::read(value);
        self.status = status.map_or(StatusFields::Nonsense, StatusFields::Status);
        status
    }

    /// The answer came to its end: the status that it says.
    ///
    /// # Errors
    /// It has none, or what came before does not go with it.
    pub fn ending(&self, http_status: u16, responses_stream: bool) -> Result<Status, StatusError> {
        let reported = if let StatusFields::Status(status) = self.status { Some(status) } else { None };
        // Who says how it ended is believed, but not that something else is a good answer.
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
