//! The protocol state of one connection, as one machine over bytes: exchanges begin on it, and received bytes become
//! events ([`ConnectionEvent`]), the same for all protocols.
//!
//! It is one ordered stream of bytes. It owns no socket and no clock, and knows nothing of users or series; TLS is
//! below it. Call order: [`ProtocolConnection::start`] once, [`ProtocolConnection::begin`] for each exchange when
//! there is [`ProtocolConnection::room`], [`ProtocolConnection::handle`] with received bytes until it returns
//! [`ConnectionEvent::NeedMore`], [`ProtocolConnection::handle_end`] when the peer closes. Bytes to send are appended
//! to `out`. Its events do not depend on how the bytes were cut, except for the pieces of a body.
//!
//! - Ours are an enum ([`AnyConnection`]), so that a call is a match, and HTTP/1 and TCP need no box; others come
//!   through [`AnyConnection::Custom`].
//! - An exchange sends a template of the caller, a text rendered for it, or fields compressed before (`Payload`), and
//!   says what ends it (`ResponseKind`). A connection with many exchanges names each by its `Tag`; the others have
//!   one exchange.
//! - Whether a message is a response is not decided here, but by the caller that waits for it and knows when its
//!   request left.
//! - Protocol state lives in the connection's layers. HTTP/1 needs state only during a request, so it is stored in
//!   the attempt; an idle HTTP/1 connection stores none. An idle state is reduced to `IdleState` (a few bytes), which
//!   is all that a held connection stores.

mod any;
mod http1;
mod http2;
mod tcp;
mod websocket;

use std::sync::Arc;

pub use self::any::AnyConnection;
pub use self::http1::Http1;
pub use self::http2::Http2;
pub use self::tcp::Tcp;
pub use self::websocket::{Offer, WebSocket};
use crate::hpack::FieldList;
use crate::http1::{Ending, HeadMemory, ProtocolError, RequestKind, ResponseHead};
use crate::tcp::{Framing, TooLarge};
use crate::websocket::{Deflate, HandshakeFault};

/// The caller's identifier of an exchange; [`ALONE`] where there is never more than one.
pub type Tag = u64;

/// The tag of exchanges on a connection that carries one at a time.
pub const ALONE: Tag = 0;

/// The mask of WebSocket frames that are sent by one call.
pub type Mask = [u8; 4];

/// Working memory of connections for the time of a call; one serves all connections of a thread.
#[derive(Default)]
pub struct Scratch {
    /// The last HTTP/1 head.
    pub heads: HeadMemory,
    /// What a custom protocol lends with an event: bytes that arrived in pieces.
    pub custom: Vec<u8>,
    fields: FieldList,
    websocket: crate::websocket::Scratch,
}

impl Scratch {
    /// The header fields that were read last, also those of an invalid head.
    pub fn fields(&self) -> &FieldList {
        &self.fields
    }
}

/// The start of an exchange.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeStart<'a> {
    /// The content.
    pub what: Payload<'a>,
    /// The event that ends the exchange.
    pub response: ResponseKind<'a>,
}

/// The content of an exchange.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// Bytes that the caller has rendered, and sends unchanged.
    Template,
    /// A text rendered for this exchange; it is framed here.
    Rendered(&'a [u8]),
    /// Fields and content compressed once for all connections.
    Fields(&'a crate::http2::Request),
}

impl Payload<'_> {
    /// Writes what was rendered for this exchange.
    pub fn write(self, out: &mut Vec<u8>) {
        if let Self::Rendered(bytes) = self {
            out.extend_from_slice(bytes);
        }
    }
}

/// The event that ends an exchange.
#[derive(Clone, Copy, Debug)]
pub enum ResponseKind<'a> {
    /// None from the peer: the exchange ends when its bytes are sent.
    Nothing,
    /// The HTTP response to a request of this kind.
    Response(RequestKind),
    /// A message.
    Message,
    /// A pong.
    Pong,
    /// A response with this framing.
    Framed(&'a Arc<Framing>),
    /// The response of a custom protocol.
    Custom {
        /// The messages of the request: a pipeline has several.
        messages: u32,
    },
}

/// The head of a response.
#[derive(Clone, Copy, Debug)]
pub enum Head<'a> {
    /// An HTTP/1 head.
    Http1(ResponseHead),
    /// An HTTP/2 head.
    Fields {
        /// Its status.
        status: u16,
        /// All fields.
        fields: &'a FieldList,
    },
}

/// The meaning of the first bytes of the input.
#[derive(Debug)]
pub enum ConnectionEvent<'a> {
    /// All input was consumed, and nothing is complete.
    NeedMore,
    /// Nothing to report, or something that was answered here.
    Nothing,
    /// The handshake is complete: exchanges may begin.
    Ready,
    /// More may be sent than before: exchanges, or held-back content.
    Room,
    /// An interim response (1xx) was skipped.
    Interim {
        /// The exchange.
        tag: Tag,
        /// The peer wants the body that was held back (100).
        is_continue: bool,
        /// All fields; HTTP/2 only.
        fields: Option<&'a FieldList>,
    },
    /// The head of a response.
    Head {
        /// The exchange.
        tag: Tag,
        /// The head itself.
        head: Head<'a>,
        /// The exchange is over.
        is_last: bool,
    },
    /// A piece of a response body.
    Body {
        /// The exchange.
        tag: Tag,
        /// Never empty, unless it is the last.
        bytes: &'a [u8],
        /// The exchange is over.
        is_last: bool,
    },
    /// The trailer fields; the exchange is over.
    Trailers {
        /// The exchange.
        tag: Tag,
        /// All fields.
        fields: &'a FieldList,
    },
    /// The exchange is over.
    End {
        /// The exchange.
        tag: Tag,
    },
    /// A message. The caller knows whether it is a response.
    Message {
        /// Its bytes, if captured.
        bytes: &'a [u8],
        /// It is larger than what is captured.
        is_cut: bool,
        /// Its length.
        length: u64,
    },
    /// A pong.
    Pong,
    /// The peer closes the connection. The reply is in `out`, unless this is the reply to our close.
    Close {
        /// The close code, if it gives one.
        code: Option<u16>,
        /// The reason as text.
        reason: &'a str,
    },
    /// The peer reset an exchange.
    Reset {
        /// The exchange.
        tag: Tag,
        /// Error code (RFC 9113, 7).
        code: u32,
    },
    /// An exchange broke the protocol and was reset; the others go on.
    Broken {
        /// The exchange.
        tag: Tag,
        /// The protocol error.
        fault: crate::http2::Fault,
    },
    /// The peer takes no further exchanges. Those above `last` were not processed:
    /// [`ProtocolConnection::take_unprocessed`].
    GoAway {
        /// The last that may have been processed.
        last: u32,
    },
    /// Bytes on a connection without framing.
    Unframed(&'a [u8]),
    /// The response is complete: of a protocol whose statuses are words.
    Response {
        /// The exchange.
        tag: Tag,
        /// The last of its bytes, perhaps none: others came as [`ConnectionEvent::Body`].
        bytes: &'a [u8],
        /// The status: a word, or a number as text.
        status: &'a str,
        /// Whether it is a success, unless the user lists others.
        is_success: bool,
    },
    /// A datagram that is the response to no request in flight.
    Stray(Stray),
    /// The response does not fit into a datagram: the exchange goes on over a stream.
    OverStream {
        /// The exchange.
        tag: Tag,
    },
}

/// What a datagram is that is the response to no request in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stray {
    /// The response to a request that has timed out.
    Late,
    /// One more response to a request that has its response.
    Duplicate,
    /// It matches no request, or is not valid.
    Unmatched,
}

/// How the peer broke the protocol. The connection is lost; if the protocol has an error message, it is in `out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A protocol error of HTTP/1.
    Http1(ProtocolError),
    /// A protocol error of HTTP/2.
    Http2(crate::http2::Fault),
    /// The WebSocket handshake failed.
    Handshake(HandshakeFault),
    /// A protocol error of WebSocket.
    WebSocket(crate::websocket::Fault),
    /// A length prefix on a plain connection is too large.
    AnswerLength(TooLarge),
    /// One of the failures that a custom protocol names, by its position among them.
    Custom(u8),
}

impl Fault {
    /// Whether the error is reported to the peer: the connection is then closed once that was sent.
    pub fn was_reported(self) -> bool {
        matches!(self, Self::Http2(_) | Self::WebSocket(_))
    }
}

/// The state of the content that an exchange sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The exchange is over.
    Gone,
    /// Flow control windows, or the limit of framed bytes, hold some of it back.
    HeldBack,
    /// All of it was framed.
    Framed,
}

/// The state of a connection after an exchange on it was abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abandoned {
    /// Other exchanges go on, and further ones may begin.
    Kept,
    /// Late bytes of the abandoned exchange could not be distinguished from the next one.
    MustClose,
}

/// The state of a connection without exchanges, in few bytes: there may be a million of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleState {
    /// The agreed WebSocket compression.
    pub deflate: Option<Deflate>,
}

/// The number of bytes that were consumed, and what they mean.
pub type Handled<'a> = Result<(usize, ConnectionEvent<'a>), Fault>;

/// The protocol state of a connection. See the module for the call order. The default methods fit a protocol that
/// carries one exchange at a time, each of one message.
pub trait ProtocolConnection {
    /// Begins the connection. Afterwards exchanges may begin if there is room, otherwise with
    /// [`ConnectionEvent::Ready`].
    fn start(&mut self, _out: &mut Vec<u8>) {}

    /// Number of exchanges that may begin now. A protocol with one exchange at a time relies on its caller to wait for
    /// the end of the last one.
    fn room(&self) -> usize {
        1
    }

    /// Begins an exchange, identified by `tag` where the protocol needs one; only where there is room. Returns its
    /// number on this connection.
    fn begin(&mut self, _tag: Tag, ask: ExchangeStart<'_>, _mask: Mask, out: &mut Vec<u8>) -> u32 {
        ask.what.write(out);
        1
    }

    /// Sends more of an exchange. False where it was all sent when it began.
    fn send(&mut self, _number: u32, _message: Arc<Vec<u8>>, _is_last: bool, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// Parses the start of `input`: how many bytes were consumed, and the event. Call it again with the rest until it
    /// returns [`ConnectionEvent::NeedMore`] with nothing left.
    ///
    /// # Errors
    /// The peer broke the protocol.
    fn handle<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        mask: Mask,
        out: &mut Vec<u8>,
    ) -> Result<(usize, ConnectionEvent<'a>), Fault>;

    /// Handles the end of the incoming stream: its meaning for a pending response.
    fn handle_end(&mut self) -> Ending {
        if self.is_idle() { Ending::BeforeAnswer } else { Ending::Early }
    }

    /// Whether flow control windows, or the limit of framed bytes, hold something back.
    fn holds_back(&self) -> bool {
        false
    }

    /// Sends held-back content as far as allowed, after queued bytes were sent or windows opened.
    fn resume(&mut self, _out: &mut Vec<u8>) {}

    /// The state of the content that an exchange sends.
    fn progress(&mut self, _number: u32) -> Progress {
        Progress::Framed
    }

    /// Abandons an exchange. Later bytes of it are ignored.
    fn abandon(&mut self, _number: u32, _out: &mut Vec<u8>) -> Abandoned {
        Abandoned::MustClose
    }

    /// Writes the request of an exchange once more, as a protocol over datagrams does when no response comes. False
    /// where it can't.
    fn resend(&mut self, _number: u32, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// What is known of an exchange that has timed out: the reason, if it is not just that no response came.
    fn overdue(&self, _number: u32) -> Option<Fault> {
        None
    }

    /// Removes the exchanges above `last`, which the peer has not processed, and returns their tags in order.
    fn take_unprocessed(&mut self, _last: u32) -> Vec<Tag> {
        Vec::new()
    }

    /// Whether no exchange that the connection knows of is in flight, and no part of a response has arrived.
    fn is_idle(&self) -> bool;

    /// Whether no further exchange can ever begin on this connection.
    fn is_used_up(&self) -> bool {
        false
    }

    /// Closes gracefully. False where the protocol has no close message.
    fn close(&mut self, _mask: Mask, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// The received part of an incomplete message, as far as it is captured.
    fn begun(&self) -> &[u8] {
        &[]
    }

    /// The state to restore the connection later, if nothing is partially received and the state is that small.
    fn park(&self) -> Option<IdleState> {
        None
    }
}

#[cfg(test)]
mod tests;
