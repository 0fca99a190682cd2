//! Mapping of errors of sockets and protocols to the failures that are counted.

use driver::SocketError;
use metrics::{Failure, ProtocolFault};
use wire::grpc::{self, Status};
use wire::http1::ProtocolError;
use wire::tunnel::TunnelFault;
use wire::websocket::HandshakeFault;
use wire::{connection, http2, tls, websocket};

/// Counts faults under their own names, and those that are listed behind under others.
macro_rules! counted {
    ($fault:expr, $from:ident => $to:ident: $($same:ident)+; $($other:pat => $counted:ident,)*) => {
        match $fault {
            $($from::$same => $to::$same,)+
            $($other => $to::$counted,)*
        }
    };
}

/// Failure of a connection that was not established.
pub(crate) fn while_connecting(error: SocketError) -> Failure {
    match error {
        SocketError::Refused => Failure::ConnectRefused,
        SocketError::TimedOut => Failure::ConnectTimeout,
        other => while_connected(other),
    }
}

/// Failure of an established connection.
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
    Failure::Protocol(counted! { error, ProtocolError => ProtocolFault:
        StartLine Tls Header HeadTooLarge TooManyHeaders ContentLength AmbiguousLength TransferEncoding ChunkSize
        ChunkLineTooLong ChunkEnd Trailer UnexpectedUpgrade TooManyInterim Unsolicited;
        // A response has no Host; the variant belongs to the server's side.
        ProtocolError::Host => StartLine,
    })
}

/// Failure of a proxy to open a tunnel.
pub(crate) fn tunnel(fault: TunnelFault) -> Failure {
    match fault {
        TunnelFault::Login => Failure::ProxyLogin,
        TunnelFault::Refused(_) => Failure::ProxyRefused,
        TunnelFault::Closed => Failure::ProxyClosed,
        TunnelFault::Invalid | TunnelFault::Name | TunnelFault::Credentials => Failure::ProxyAnswer,
    }
}

/// Failure for a protocol error on a connection.
pub(crate) fn line(fault: connection::Fault) -> Failure {
    match fault {
        connection::Fault::Http1(error) => protocol(error),
        connection::Fault::Http2(fault) => http2(fault),
        connection::Fault::Handshake(fault) => handshake(fault),
        connection::Fault::WebSocket(fault) => websocket(fault),
        connection::Fault::AnswerLength(_) => Failure::Protocol(ProtocolFault::AnswerLength),
        // `PreparedMessaging::failure` knows whose it is. One that its protocol does not name is a fault of that.
        connection::Fault::Custom(_) => Failure::Protocol(ProtocolFault::StartLine),
    }
}

/// Failure for a gRPC response that breaks the rules.
pub(crate) fn grpc(fault: grpc::ResponseFault) -> Failure {
    use grpc::ResponseFault as F;
    Failure::Protocol(match fault {
        F::Flag => ProtocolFault::MessageFlag,
        F::Encoding => ProtocolFault::MessageEncoding,
        F::NotOffered => ProtocolFault::EncodingNotOffered,
        F::Unzip => ProtocolFault::MessageUnzip,
        F::UnzippedTooLarge => ProtocolFault::UnzippedTooLarge,
        F::Type => ProtocolFault::MessageType,
        F::Cut => ProtocolFault::MessageCut,
        F::Count => ProtocolFault::MessageCount,
        F::NoStatus => ProtocolFault::NoGrpcStatus,
        F::BadStatus => ProtocolFault::BadGrpcStatus,
        F::ContentType => ProtocolFault::ContentType,
    })
}

pub(crate) fn websocket(fault: websocket::Fault) -> Failure {
    use websocket::Fault as F;
    Failure::Protocol(match fault {
        F::ReservedBits | F::Opcode | F::Masking | F::Length | F::ControlFrame | F::Fragments | F::CloseCode => {
            ProtocolFault::WebSocketFrame
        }
        F::Utf8 => ProtocolFault::WebSocketText,
        F::Deflate => ProtocolFault::WebSocketDeflate,
        F::TooLarge => ProtocolFault::MessageTooLarge,
        F::Flood => ProtocolFault::WebSocketFlood,
    })
}

pub(crate) fn handshake(fault: HandshakeFault) -> Failure {
    match fault {
        HandshakeFault::Status(_) => Failure::Status,
        HandshakeFault::Tls => Failure::Protocol(ProtocolFault::Tls),
        _ => Failure::Protocol(ProtocolFault::Handshake),
    }
}

pub(crate) fn http2(fault: http2::Fault) -> Failure {
    use http2::Fault as F;
    Failure::Protocol(counted! { fault, F => ProtocolFault:
        Preface FrameSize FrameStream Padding Continuation ContinuationFlood Compression HeadersTooLarge Headers
        ContentLength TooManyInterim Settings Window Push PingFlood SettingsFlood ResetFlood EmptyFlood;
    })
}

/// The status of a gRPC call that ended with this failure, as a gRPC client would report it: by `doc/statuscodes.md`
/// and its neighbours of github.com/grpc/grpc. `None` where the call has a status of its own.
pub fn call_status(failure: Failure) -> Option<Status> {
    match failure {
        Failure::CallHttp(_) => Some(Status::from_http_status(failure.http_status().unwrap_or(0))),
        Failure::StreamReset(code) => Some(Status::from_reset_code(u32::from(code))),
        _ => failure.grpc_status().map(|status| Status::from_number(u32::from(status))),
    }
}

pub(crate) fn tls(fault: tls::TlsFault) -> Failure {
    Failure::Tls(tls_fault(fault))
}

pub(crate) fn tls_fault(fault: tls::TlsFault) -> metrics::TlsFault {
    use metrics::TlsFault as Counted;
    use tls::TlsFault as F;
    counted! { fault, F => Counted:
        UnknownIssuer Expired NotYetValid WrongName Certificate UnsupportedKey UnknownName ClientCertificate
        NothingInCommon NoProtocol WeakKey ChainTooLong TooLarge Renegotiation NotTls Alert ClosedEarly Other;
    }
}

#[cfg(test)]
mod tests {
    /// The names are parsed and written in different crates.
    #[test]
    fn statuses_of_grpc_have_the_same_names_everywhere() {
        for (number, name) in metrics::GRPC_STATUSES.iter().take(17).enumerate() {
            let set = plan::StatusSet::parse_grpc(name).expect("a known name");
            assert!(set.contains(number as u16), "{name}");
            assert_eq!(wire::grpc::Status::from_number(number as u32).index(), number);
        }
        assert_eq!(metrics::GRPC_STATUSES.len(), wire::grpc::STATUS_COUNT);
    }
}
