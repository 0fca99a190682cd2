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

mod http1;
mod http2;
mod tcp;
mod websocket;

use std::sync::Arc;

pub use self::http1::Http1;
pub use self::http2::Http2;
pub use self::tcp::Tcp;
pub use self::websocket::{Offer, WebSocket};
use crate::hpack::FieldList;
use crate::http1::{Ending, HeadMemory, ProtocolError, RequestKind, ResponseHead};
use crate::tcp::{Framing, TooLarge};
use crate::websocket::{Deflate, HandshakeFault};

/// What the caller calls an exchange; [`ALONE`] where there is never more than one.
pub type Tag = u64;

/// What exchanges are called on a line that carries one at a time, and needs no names.
pub const ALONE: Tag = 0;

/// Covers the frames of WebSocket that leave with a call.
pub type Mask = [u8; 4];

/// What lines need for the time of a call; one serves all lines of a thread.
#[derive(Default)]
pub struct Scratch {
    /// The last head of HTTP/1.
    pub heads: HeadMemory,
    fields: FieldList,
    websocket: crate::websocket::Scratch,
}

impl Scratch {
    /// The fields that were read last, also of a head that was wrong.
    pub fn fields(&self) -> &FieldList {
        &self.fields
    }
}

/// What begins an exchange.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeStart<'a> {
    /// What is sent.
    pub what: Payload<'a>,
    /// What ends the exchange.
    pub response: ResponseKind<'a>,
}

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// Bytes that the caller has ready, and sends as they are.
    Template,
    /// A text that was made for this exchange, and is framed here.
    Rendered(&'a [u8]),
    /// Fields and content that were compressed once for all connections.
    Fields(&'a crate::http2::Request),
}

/// What ends an exchange.
#[derive(Clone, Copy, Debug)]
pub enum ResponseKind<'a> {
    /// Nothing that the peer sends: it is over when its bytes have left.
    Nothing,
    /// The answer of HTTP to such a request.
    Response(RequestKind),
    /// A message.
    Message,
    /// A sign of life.
    Pong,
    /// An answer that ends here.
    Framed(&'a Arc<Framing>),
}

/// The head of an answer.
#[derive(Clone, Copy, Debug)]
pub enum Head<'a> {
    /// Of HTTP/1.
    Http1(ResponseHead),
    /// Of HTTP/2.
    Fields {
        /// Its status.
        status: u16,
        /// All fields.
        fields: &'a FieldList,
    },
}

/// What the front of the input meant.
#[derive(Debug)]
pub enum ConnectionEvent<'a> {
    /// All input was taken, and nothing is complete.
    NeedMore,
    /// Something that is no news, or that was answered here.
    Nothing,
    /// Both sides have agreed on how they speak: exchanges may begin.
    Ready,
    /// More may leave than before: exchanges, or what was held back.
    Room,
    /// An interim answer (1xx) was passed over.
    Interim {
        /// Whose.
        tag: Tag,
        /// The peer wants the body that was held back (100).
        is_continue: bool,
        /// All fields, of HTTP/2.
        fields: Option<&'a FieldList>,
    },
    /// The head of an answer.
    Head {
        /// Whose.
        tag: Tag,
        /// What it says.
        head: Head<'a>,
        /// The exchange is over.
        is_last: bool,
    },
    /// A piece of an answer.
    Body {
        /// Whose.
        tag: Tag,
        /// Never empty, unless it is the last.
        bytes: &'a [u8],
        /// The exchange is over.
        is_last: bool,
    },
    /// The fields after a body; the exchange is over.
    Trailers {
        /// Whose.
        tag: Tag,
        /// All of them.
        fields: &'a FieldList,
    },
    /// The exchange is over.
    End {
        /// Whose.
        tag: Tag,
    },
    /// A message. Whether it is an answer is known to who awaits one.
    Message {
        /// Its bytes, when they are kept.
        bytes: &'a [u8],
        /// It is larger than what is kept.
        is_cut: bool,
        /// How many they are.
        length: u64,
    },
    /// A sign of life.
    Pong,
    /// The peer ends the conversation. The answer to it stands in `out`, unless it is the answer to ours.
    Close {
        /// Why, when it says.
        code: Option<u16>,
        /// In words.
        reason: &'a str,
    },
    /// The peer gave an exchange up.
    Reset {
        /// Whose.
        tag: Tag,
        /// Why (RFC 9113, 7).
        code: u32,
    },
    /// An exchange broke the protocol and was given up; the others go on.
    Broken {
        /// Whose.
        tag: Tag,
        /// What was wrong.
        fault: crate::http2::Fault,
    },
    /// The peer takes no further exchanges. Those above `last` were not looked at: [`ProtocolConnection::take_unprocessed`].
    GoAway {
        /// The last that may have been looked at.
        last: u32,
    },
    /// Bytes of which nothing says where they end.
    Unframed(&'a [u8]),
}

/// How the peer broke the protocol. The connection is lost; where the protocol has words for it, they stand in `out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Of HTTP/1.
    Http1(ProtocolError),
    /// Of HTTP/2.
    Http2(crate::http2::Fault),
    /// The connection does not become one of WebSocket.
    Handshake(HandshakeFault),
    /// Of WebSocket.
    WebSocket(crate::websocket::Fault),
    /// An answer on a plain connection cannot be so long.
    AnswerLength(TooLarge),
}

impl Fault {
    /// The peer is told what was wrong: the connection is left when it has heard so.
    pub fn was_reported(self) -> bool {
        matches!(self, Self::Http2(_) | Self::WebSocket(_))
    }
}

/// What became of content that an exchange sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The exchange is over.
    Gone,
    /// Windows, or what is framed already, hold some of it back.
    HeldBack,
    /// All of it was framed.
    Framed,
}

/// What becomes of a line when an exchange on it is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abandoned {
    /// Others go on, and further ones may begin.
    Kept,
    /// What still came could not be told from what comes next.
    MustClose,
}

/// A line with nothing on it, in few bytes: there may be a million of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleState {
    /// How messages of WebSocket may be compressed.
    pub deflate: Option<Deflate>,
}

/// What is spoken on a connection. See the module for the call order. What a line has by default is what one has that carries one
/// exchange at a time, each of one message.
pub trait ProtocolConnection {
    /// What comes first on a connection. Afterwards exchanges may begin if there is room, and else with [`ConnectionEvent::Ready`].
    fn start(&mut self, _out: &mut Vec<u8>) {}

    /// Exchanges that may begin now. A line that carries one at a time trusts its caller to wait for the end of the last one.
    fn room(&self) -> usize;

    /// Begins an exchange, which is called `tag` from then on, where it needs a name; only where there is room. Gives its number on
    /// this line.
    fn begin(&mut self, tag: Tag, ask: ExchangeStart<'_>, mask: Mask, out: &mut Vec<u8>) -> u32;

    /// Sends more of an exchange. False where it was all sent when it began.
    fn send(&mut self, _number: u32, _message: Arc<[u8]>, _is_last: bool, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// Understands the front of `input`: how many bytes, and what they meant. Call it again with the rest until it says
    /// [`ConnectionEvent::NeedMore`] with nothing left.
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

    /// The peer has ended the stream of bytes: what that means for an answer that is awaited.
    fn handle_end(&mut self) -> Ending;

    /// Windows, or what is framed already, hold something back.
    fn holds_back(&self) -> bool {
        false
    }

    /// What had left was taken, or there is more room: what was held back follows as far as it may.
    fn resume(&mut self, _out: &mut Vec<u8>) {}

    /// What became of what an exchange sent.
    fn progress(&mut self, _number: u32) -> Progress {
        Progress::Framed
    }

    /// Gives an exchange up. What still comes of it means nothing.
    fn abandon(&mut self, _number: u32, _out: &mut Vec<u8>) -> Abandoned {
        Abandoned::MustClose
    }

    /// Takes out the exchanges above `last`, which the peer has not looked at, and gives what they are called, in their order.
    fn take_unprocessed(&mut self, _last: u32) -> Vec<Tag> {
        Vec::new()
    }

    /// No exchange is under way that the line knows of, and nothing of an answer has come.
    fn is_idle(&self) -> bool;

    /// No further exchange will ever begin here.
    fn is_used_up(&self) -> bool {
        false
    }

    /// Ends the conversation in an orderly way. False where the protocol has no words for that.
    fn close(&mut self, _mask: Mask, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// What has come of a message that is not whole, as far as it is kept.
    fn begun(&self) -> &[u8] {
        &[]
    }

    /// What is to be known of the line later, when nothing has begun to come and that is so little.
    fn park(&self) -> Option<IdleState>;
}

/// The lines that are spoken here. Nothing is boxed that an ordinary connection of HTTP/1 or TCP has.
pub enum AnyConnection {
    /// One request at a time, and its answer.
    Http1(Http1),
    /// Many exchanges at a time.
    Http2(Box<Http2>),
    /// One message at a time, and its answer.
    WebSocket(Box<WebSocket>),
    /// The same on a plain stream of bytes.
    Tcp(Tcp),
    /// What somebody else speaks.
    Custom(Box<dyn ProtocolConnection + Send>),
}

/// The same call of whichever line it is.
macro_rules! each {
    ($any:expr, $line:ident => $call:expr) => {
        match $any {
            AnyConnection::Http1($line) => $call,
            AnyConnection::Http2($line) => $call,
            AnyConnection::WebSocket($line) => $call,
            AnyConnection::Tcp($line) => $call,
            AnyConnection::Custom($line) => $call,
        }
    };
}

impl ProtocolConnection for AnyConnection {
    fn start(&mut self, out: &mut Vec<u8>) {
        each!(self, line => line.start(out));
    }

    #[inline(always)]
    fn room(&self) -> usize {
        each!(self, line => line.room())
    }

    #[inline(always)]
    fn begin(&mut self, tag: Tag, ask: ExchangeStart<'_>, mask: Mask, out: &mut Vec<u8>) -> u32 {
        each!(self, line => line.begin(tag, ask, mask, out))
    }

    #[inline(always)]
    fn send(&mut self, number: u32, message: Arc<[u8]>, is_last: bool, out: &mut Vec<u8>) -> bool {
        each!(self, line => line.send(number, message, is_last, out))
    }

    #[inline(always)]
    fn handle<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        mask: Mask,
        out: &mut Vec<u8>,
    ) -> Result<(usize, ConnectionEvent<'a>), Fault> {
        each!(self, line => line.handle(input, scratch, mask, out))
    }

    fn handle_end(&mut self) -> Ending {
        each!(self, line => line.handle_end())
    }

    #[inline(always)]
    fn holds_back(&self) -> bool {
        each!(self, line => line.holds_back())
    }

    fn resume(&mut self, out: &mut Vec<u8>) {
        each!(self, line => line.resume(out));
    }

    #[inline(always)]
    fn progress(&mut self, number: u32) -> Progress {
        each!(self, line => line.progress(number))
    }

    fn abandon(&mut self, number: u32, out: &mut Vec<u8>) -> Abandoned {
        each!(self, line => line.abandon(number, out))
    }

    fn take_unprocessed(&mut self, last: u32) -> Vec<Tag> {
        each!(self, line => line.take_unprocessed(last))
    }

    #[inline(always)]
    fn is_idle(&self) -> bool {
        each!(self, line => line.is_idle())
    }

    #[inline(always)]
    fn is_used_up(&self) -> bool {
        each!(self, line => line.is_used_up())
    }

    fn close(&mut self, mask: Mask, out: &mut Vec<u8>) -> bool {
        each!(self, line => line.close(mask, out))
    }

    fn begun(&self) -> &[u8] {
        each!(self, line => line.begun())
    }

    fn park(&self) -> Option<IdleState> {
        each!(self, line => line.park())
    }
}

#[cfg(test)]
mod tests;
