//! The connections of all protocols as one type.

use std::sync::Arc;

use super::{
    Abandoned, ConnectionEvent, ExchangeStart, Fault, Http1, Http2, IdleState, Mask, Progress, ProtocolConnection,
    Scratch, Tag, Tcp, WebSocket,
};
use crate::http1::Ending;

/// The supported protocols. The state of an ordinary HTTP/1 or TCP connection is not boxed.
pub enum AnyConnection {
    /// One request at a time, and its response.
    Http1(Http1),
    /// Many exchanges at a time.
    Http2(Box<Http2>),
    /// One message at a time, and its response.
    WebSocket(Box<WebSocket>),
    /// The same on a plain stream of bytes.
    Tcp(Tcp),
    /// Another implementation of [`ProtocolConnection`].
    Custom(Box<dyn ProtocolConnection + Send>),
}

/// Calls the same method of each variant.
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
    fn send(&mut self, number: u32, message: Arc<Vec<u8>>, is_last: bool, out: &mut Vec<u8>) -> bool {
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

    fn resend(&mut self, number: u32, out: &mut Vec<u8>) -> bool {
        each!(self, line => line.resend(number, out))
    }

    fn overdue(&self, number: u32) -> Option<Fault> {
        each!(self, line => line.overdue(number))
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
