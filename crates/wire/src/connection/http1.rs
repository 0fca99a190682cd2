//! HTTP/1 as a connection: one request, its response, the next one.

use super::{
    ALONE, ConnectionEvent, ExchangeStart, Fault, Head, IdleState, Mask, ProtocolConnection, ResponseKind, Scratch, Tag,
};
use crate::http1::{Client, Ending, HeadMemory, RequestKind, Response};

/// The state of an HTTP/1 connection. The caller sends its requests, which are templates.
#[derive(Debug, Default)]
pub struct Http1 {
    client: Client,
}

impl Http1 {
    /// Whether the end of the connection would complete the response.
    pub fn ends_with_connection(&self) -> bool {
        self.client.ends_with_connection()
    }

    /// The same as [`ProtocolConnection::handle`], for input that is not modified.
    ///
    /// # Errors
    /// The peer broke the protocol.
    #[inline(always)]
    pub fn read<'a>(
        &mut self,
        input: &'a [u8],
        memory: &mut HeadMemory,
    ) -> Result<(usize, ConnectionEvent<'a>), Fault> {
        let tag = ALONE;
        let (taken, response) = self.client.handle(input, memory).map_err(Fault::Http1)?;
        let said = match response {
            Response::NeedMore => ConnectionEvent::NeedMore,
            Response::Interim(status) => ConnectionEvent::Interim { tag, is_continue: status == 100, fields: None },
            Response::Head(head) => ConnectionEvent::Head { tag, head: Head::Http1(head), is_last: false },
            Response::Body(bytes) => ConnectionEvent::Body { tag, bytes, is_last: false },
            Response::End => ConnectionEvent::End { tag },
        };
        Ok((taken, said))
    }
}

impl ProtocolConnection for Http1 {
    fn room(&self) -> usize {
        usize::from(self.client.is_idle())
    }

    #[inline]
    fn begin(&mut self, _tag: Tag, ask: ExchangeStart<'_>, _mask: Mask, _out: &mut Vec<u8>) -> u32 {
        self.client.start(if let ResponseKind::Response(kind) = ask.response { kind } else { RequestKind::Other });
        1
    }

    #[inline]
    fn handle<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        _mask: Mask,
        _out: &mut Vec<u8>,
    ) -> Result<(usize, ConnectionEvent<'a>), Fault> {
        self.read(input, &mut scratch.heads)
    }

    fn handle_end(&mut self) -> Ending {
        self.client.handle_eof()
    }

    fn is_idle(&self) -> bool {
        self.client.is_idle()
    }

    fn park(&self) -> Option<IdleState> {
        self.client.is_idle().then(IdleState::default)
    }
}
