//! From what a socket or a protocol says to the reason that is counted.

use driver::SocketError;
use metrics::{Failure, ProtocolFault};
use wire::http1::ProtocolError;

/// A connection that was not established.
pub(crate) fn while_connecting(error: SocketError) -> Failure {
    match error {
        SocketError::Refused => Failure::ConnectRefused,
        SocketError::TimedOut => Failure::ConnectTimeout,
        other => while_connected(other),
    }
}

/// A connection that was.
pub(crate) fn while_connected(error: SocketError) -> Failure {
    match error {
        SocketError::Unreachable => Failure::Unreachable,
        SocketError::Permission => Failure::Permission,
        SocketError::NoLocalPort | SocketError::AddressInUse => Failure::NoLocalPort,
        SocketError::NoDescriptor => Failure::NoDescriptor,
        SocketError::Reset | SocketError::Refused => Failure::Reset,
        SocketError::TimedOut => Failure::Timeout,
        SocketError::Os(errno) => Failure::Os(errno),
    }
}

pub(crate) fn protocol(error: ProtocolError) -> Failure {
    Failure::Protocol(match error {
        // An answer has no Host; the variant belongs to the server's side.
        ProtocolError::StartLine | ProtocolError::Host => ProtocolFault::StartLine,
        ProtocolError::Header => ProtocolFault::Header,
        ProtocolError::HeadTooLarge => ProtocolFault::HeadTooLarge,
        ProtocolError::TooManyHeaders => ProtocolFault::TooManyHeaders,
        ProtocolError::ContentLength => ProtocolFault::ContentLength,
        ProtocolError::AmbiguousLength => ProtocolFault::AmbiguousLength,
        ProtocolError::TransferEncoding => ProtocolFault::TransferEncoding,
        ProtocolError::ChunkSize => ProtocolFault::ChunkSize,
        ProtocolError::ChunkLineTooLong => ProtocolFault::ChunkLineTooLong,
        ProtocolError::ChunkEnd => ProtocolFault::ChunkEnd,
        ProtocolError::Trailer => ProtocolFault::Trailer,
        ProtocolError::UnexpectedUpgrade => ProtocolFault::UnexpectedUpgrade,
        ProtocolError::TooManyInterim => ProtocolFault::TooManyInterim,
        ProtocolError::Unsolicited => ProtocolFault::Unsolicited,
    })
}
