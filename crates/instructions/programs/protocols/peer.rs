//! The peers of other protocols than HTTP/1, as one type: the engine is compiled once for all of them.

use driver::Socket;
use plan::Flags;

use super::canned::{CannedRun, ConnectionEvent, USERS, flags};
use super::grpc;
use super::streams::Streams;
use super::websocket::Greeting;

/// A peer of one protocol.
pub(crate) enum AnyPeer {
    Streams(Streams),
    Greeting(Greeting),
}

impl AnyPeer {
    /// Handles bytes sent on a connection; true when it has something to send.
    pub(super) fn receive(&mut self, socket: Socket, said: ConnectionEvent<'_>) -> bool {
        match self {
            Self::Streams(peer) => peer.receive(socket, said),
            Self::Greeting(peer) => peer.receive(socket, said),
        }
    }

    /// Replaces `spoken` with its next bytes on a connection; returns the number of responses in them.
    pub(super) fn say(&mut self, socket: Socket, spoken: &mut Vec<u8>) -> u64 {
        match self {
            Self::Streams(peer) => peer.say(socket, spoken),
            Self::Greeting(peer) => peer.say(socket, spoken),
        }
    }
}

/// A load on streams of one connection.
pub(crate) fn http2() -> CannedRun {
    let flags = Flags { http2: true, streams: Some(USERS.to_string()), ..flags("http") };
    CannedRun::warm(&flags, || AnyPeer::Streams(Streams::plain()))
}

/// Calls with one message each way, on streams of one connection.
pub(crate) fn grpc() -> CannedRun {
    let flags =
        Flags { streams: Some(USERS.to_string()), data: Some(r#"{"name":"world"}"#.to_owned()), ..flags("grpc") };
    let flags = Flags { url: Some("grpc://10.0.0.1/hello.Greeter/SayHello".to_owned()), ..flags };
    CannedRun::warm(&flags, || AnyPeer::Streams(grpc::greeter()))
}

/// WebSocket messages, each with a response.
pub(crate) fn websocket() -> CannedRun {
    let flags = Flags { connections: Some(USERS.to_string()), data: Some("hello".to_owned()), ..flags("ws") };
    CannedRun::warm(&flags, || AnyPeer::Greeting(Greeting::default()))
}
