//! A plain TCP stream as a connection: one message, and its response, which ends as its framing defines.

use std::sync::Arc;

use super::{
    ALONE, ConnectionEvent, ExchangeStart, Fault, IdleState, Mask, ProtocolConnection, ResponseKind, Scratch, Tag,
};
use crate::http1::Ending;
use crate::tcp::{Framing, Reader};

/// The state of a plain TCP connection. The caller sends its messages, which are templates.
#[derive(Debug, Default)]
pub struct Tcp {
    /// Where responses end, and how unsolicited bytes are split: as the last message defined it.
    framing: Option<Arc<Framing>>,
    reader: Reader,
}

impl Tcp {
    /// A connection whose responses end by this framing, if there is one.
    pub fn new(framing: Option<Arc<Framing>>) -> Self {
        Self { framing, ..Self::default() }
    }
}

impl ProtocolConnection for Tcp {
    fn room(&self) -> usize {
        1
    }

    fn begin(&mut self, _tag: Tag, ask: ExchangeStart<'_>, _mask: Mask, _out: &mut Vec<u8>) -> u32 {
        match ask.response {
            ResponseKind::Framed(framing) if self.framing.as_ref().is_some_and(|known| Arc::ptr_eq(known, framing)) => {
            }
            ResponseKind::Framed(framing) => self.framing = Some(framing.clone()),
            _ => self.framing = None,
        }
        1
    }

    fn handle<'a>(
        &mut self,
        input: &'a mut [u8],
        _scratch: &'a mut Scratch,
        _mask: Mask,
        _out: &mut Vec<u8>,
    ) -> Result<(usize, ConnectionEvent<'a>), Fault> {
        if input.is_empty() {
            return Ok((0, ConnectionEvent::NeedMore));
        }
        let Some(framing) = &self.framing else { return Ok((input.len(), ConnectionEvent::Unframed(input))) };
        let (taken, is_last) = self.reader.handle(framing, input).map_err(Fault::AnswerLength)?;
        Ok((taken, ConnectionEvent::Body { tag: ALONE, bytes: &input[..taken], is_last }))
    }

    fn handle_end(&mut self) -> Ending {
        if self.reader.is_within() { Ending::Early } else { Ending::BeforeAnswer }
    }

    fn is_idle(&self) -> bool {
        !self.reader.is_within()
    }

    fn park(&self) -> Option<IdleState> {
        self.is_idle().then(IdleState::default)
    }
}
