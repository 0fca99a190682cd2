//! gRPC over HTTP/2 (protocol: github.com/grpc/grpc, `doc/PROTOCOL-HTTP2.md`): messages in the bytes of a body,
//! statuses, deadlines, compression, and the messages of server reflection.

mod deadline;
mod gzip;
mod message;
pub mod reflection;
mod response;
mod status;
mod unzip;

pub use deadline::parse_timeout;
pub use gzip::{Unzipped, gunzip, gzip};
pub use message::{MessagePiece, Messages, PREFIX_BYTES, push_message};
pub use response::{Response, ResponseFault, StatusError};
pub use status::{STATUS_COUNT, Status, percent_decode, percent_encode};
pub use unzip::{Damaged, UNZIP_GROWTH_MAX, Unzip};

/// Prefix of a response's content type.
pub const CONTENT_TYPE: &[u8] = b"application/grpc";

/// Whether a content type is one of gRPC: the plain one, or one with a suffix like `+proto`.
pub fn is_content_type(value: &[u8]) -> bool {
    value.get(..CONTENT_TYPE.len()).is_some_and(|start| {
        start.eq_ignore_ascii_case(CONTENT_TYPE) && matches!(value.get(CONTENT_TYPE.len()), None | Some(b'+' | b';'))
    })
}

#[cfg(test)]
mod tests;
