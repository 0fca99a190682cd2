//! HTTP/2 as a connection: as many requests at a time as the peer allows, each on its stream. It also carries gRPC
//! calls.

use std::sync::Arc;

use super::{
    Abandoned, ConnectionEvent, ExchangeStart, Fault, Head, IdleState, Mask, Payload, Progress, ProtocolConnection,
    Scratch, Tag,
};
use crate::http1::Ending;
use crate::http2::{Client, Event};

/// The state of an HTTP/2 connection.
#[derive(Debug, Default)]
pub struct Http2 {
    client: Client,
}

impl ProtocolConnection for Http2 {
    fn start(&mut self, out: &mut Vec<u8>) {
        self.client.start(out);
    }

    #[inline(always)]
    fn room(&self) -> usize {
        self.client.room()
    }

    /// Only [`Payload::Fields`] is framed.
    #[inline(always)]
    fn begin(&mut self, tag: Tag, ask: ExchangeStart<'_>, _mask: Mask, out: &mut Vec<u8>) -> u32 {
        let Payload::Fields(request) = ask.what else { unreachable!("a request of HTTP/2 is fields") };
        self.client.send(request, tag, out)
    }

    #[inline(always)]
    fn send(&mut self, number: u32, message: Arc<Vec<u8>>, is_last: bool, out: &mut Vec<u8>) -> bool {
        self.client.send_more(number, message, is_last, out);
        true
    }

    #[inline(always)]
    fn handle<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        _mask: Mask,
        out: &mut Vec<u8>,
    ) -> Result<(usize, ConnectionEvent<'a>), Fault> {
        let (taken, event) = match self.client.handle(input, &mut scratch.fields, out) {
            Ok(handled) => handled,
            Err(error) => return Err(Fault::Http2(error.fault)),
        };
        let said = match event {
            Event::NeedMore => ConnectionEvent::NeedMore,
            Event::Settings | Event::Window => ConnectionEvent::Room,
            Event::Interim { tag, fields } => {
                let is_continue = fields.find(b":status") == Some(b"100");
                ConnectionEvent::Interim { tag, is_continue, fields: Some(fields) }
            }
            Event::Head { tag, status, fields, is_last } => {
                ConnectionEvent::Head { tag, head: Head::Fields { status, fields }, is_last }
            }
            Event::Body { tag, bytes, is_last, .. } => ConnectionEvent::Body { tag, bytes, is_last },
            Event::Trailers { tag, fields, .. } => ConnectionEvent::Trailers { tag, fields },
            Event::Reset { tag, code, .. } => ConnectionEvent::Reset { tag, code },
            Event::Broken { tag, fault, .. } => ConnectionEvent::Broken { tag, fault },
            Event::GoAway { last, .. } => ConnectionEvent::GoAway { last },
            // A client receives no requests.
            Event::Nothing | Event::Request { .. } => ConnectionEvent::Nothing,
        };
        Ok((taken, said))
    }

    /// No exchange has the connection to itself.
    fn handle_end(&mut self) -> Ending {
        Ending::Idle
    }

    #[inline(always)]
    fn holds_back(&self) -> bool {
        self.client.holds_back()
    }

    fn resume(&mut self, out: &mut Vec<u8>) {
        self.client.resume(out);
    }

    #[inline(always)]
    fn progress(&mut self, number: u32) -> Progress {
        match self.client.holds_back_of(number) {
            None => Progress::Gone,
            Some(true) => Progress::HeldBack,
            Some(false) => Progress::Framed,
        }
    }

    fn abandon(&mut self, number: u32, out: &mut Vec<u8>) -> Abandoned {
        self.client.cancel(number, out);
        Abandoned::Kept
    }

    fn take_unprocessed(&mut self, last: u32) -> Vec<Tag> {
        self.client.take_unprocessed(last)
    }

    #[inline(always)]
    fn is_idle(&self) -> bool {
        self.client.streams() == 0
    }

    #[inline(always)]
    fn is_used_up(&self) -> bool {
        self.client.is_used_up()
    }

    fn close(&mut self, _mask: Mask, out: &mut Vec<u8>) -> bool {
        self.client.leave(out);
        true
    }

    /// Both sides have header compression state.
    fn park(&self) -> Option<IdleState> {
        None
    }
}
