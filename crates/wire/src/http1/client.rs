//! The client's side: one request out, one response in, as often as the connection allows.

use super::body::{Body, BodyEvent};
use super::{LIMITS, ProtocolError, RequestKind, ResponseHead, head};

/// The meaning of the first bytes of the input.
#[derive(Debug, PartialEq, Eq)]
pub enum Response<'a> {
    /// All input was consumed, and nothing is complete.
    NeedMore,
    /// An interim response (1xx) was skipped.
    Interim(u16),
    /// The head of the final response.
    Head(ResponseHead),
    /// Bytes of the body, framing removed.
    Body(&'a [u8]),
    /// The response is complete. Input beyond it belongs to no response.
    End,
}

/// The meaning of the connection's end for the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// No response was pending.
    Idle,
    /// No byte of the response had arrived.
    BeforeAnswer,
    /// The response is truncated.
    Early,
    /// The body was to end with the connection: the response is complete.
    Complete,
}

#[derive(Clone, Copy, Debug)]
enum Waits {
    Request,
    Head,
    Body(Body),
}

/// Heads up to this size are cached; longer ones are parsed each time.
const REMEMBERED_BYTES_MAX: usize = 2 * 1024;

/// Cache of the last parsed head. Under load most heads have the same bytes as the one before: comparing them costs a
/// tenth of parsing them. One cache serves all connections of a thread.
#[derive(Debug, Default)]
pub struct HeadMemory {
    bytes: Vec<u8>,
    known: Option<(RequestKind, ResponseHead)>,
}

impl HeadMemory {
    /// The last parsed head, as received.
    pub fn last(&self) -> &[u8] {
        &self.bytes
    }

    #[inline]
    fn recall(&self, input: &[u8], kind: RequestKind) -> Option<(usize, ResponseHead)> {
        let (known_kind, head) = self.known?;
        (known_kind == kind && input.starts_with(&self.bytes)).then_some((self.bytes.len(), head))
    }

    fn remember(&mut self, bytes: &[u8], kind: RequestKind, head: ResponseHead) {
        if bytes.len() <= REMEMBERED_BYTES_MAX {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
            self.known = Some((kind, head));
        }
    }
}

/// The state machine. See the module for the call order.
#[derive(Debug)]
pub struct Client {
    waits: Waits,
    kind: RequestKind,
    interim_count: u32,
    /// An incomplete head. Empty whenever the head came in one piece.
    tail: Vec<u8>,
}

impl Default for Client {
    fn default() -> Self {
        Self { waits: Waits::Request, kind: RequestKind::Other, interim_count: 0, tail: Vec::new() }
    }
}

impl Client {
    /// Starts waiting for the response to a sent request. Earlier state is discarded.
    pub fn start(&mut self, kind: RequestKind) {
        self.waits = Waits::Head;
        self.kind = kind;
        self.interim_count = 0;
        self.tail.clear();
    }

    /// Parses the start of `input`: how many bytes were consumed, and the event. Call again with the rest until it
    /// returns [`Response::NeedMore`] or [`Response::End`]. The content of `memory` affects only the time that this
    /// takes.
    ///
    /// # Errors
    /// The peer broke the protocol; the connection must be closed.
    #[inline]
    pub fn handle<'a>(
        &mut self,
        input: &'a [u8],
        memory: &mut HeadMemory,
    ) -> Result<(usize, Response<'a>), ProtocolError> {
        match &mut self.waits {
            Waits::Request if input.is_empty() => Ok((0, Response::NeedMore)),
            Waits::Request => Err(ProtocolError::Unsolicited),
            Waits::Head => self.handle_head(input, memory),
            Waits::Body(body) => {
                let (taken, event) = body.handle(input, &LIMITS)?;
                Ok(match event {
                    BodyEvent::NeedMore => (taken, Response::NeedMore),
                    BodyEvent::Data(data) => (taken, Response::Body(data)),
                    BodyEvent::End => {
                        self.waits = Waits::Request;
                        (taken, Response::End)
                    }
                })
            }
        }
    }

    /// Whether no response is pending.
    pub fn is_idle(&self) -> bool {
        matches!(self.waits, Waits::Request)
    }

    /// Whether the end of the connection would complete the response.
    pub fn ends_with_connection(&self) -> bool {
        matches!(self.waits, Waits::Body(Body::Close | Body::Nothing))
    }

    /// Handles the peer's close: its meaning for the response.
    pub fn handle_eof(&mut self) -> Ending {
        match std::mem::replace(&mut self.waits, Waits::Request) {
            Waits::Request => Ending::Idle,
            Waits::Head if self.tail.is_empty() && self.interim_count == 0 => Ending::BeforeAnswer,
            Waits::Body(Body::Close | Body::Nothing) => Ending::Complete,
            Waits::Head | Waits::Body(_) => Ending::Early,
        }
    }

    fn handle_head<'a>(
        &mut self,
        input: &'a [u8],
        memory: &mut HeadMemory,
    ) -> Result<(usize, Response<'a>), ProtocolError> {
        if input.is_empty() {
            return Ok((0, Response::NeedMore));
        }
        let kept = self.tail.len();
        let recalled = if kept == 0 { memory.recall(input, self.kind) } else { None };
        let parsed = if recalled.is_some() {
            recalled
        } else if kept == 0 {
            let parsed = head::response(input, self.kind, &LIMITS)?;
            if let Some((length, head)) = parsed {
                memory.remember(&input[..length], self.kind, head);
            }
            parsed
        } else {
            let room = LIMITS.head_bytes_max - kept;
            self.tail.extend_from_slice(&input[..input.len().min(room)]);
            head::response(&self.tail, self.kind, &LIMITS)?
        };
        let Some((length, head)) = parsed else {
            if kept == 0 {
                self.tail.extend_from_slice(input);
            }
            return Ok((input.len(), Response::NeedMore));
        };
        self.tail.clear();
        let taken = length - kept;
        if head.status == 101 {
            return Err(ProtocolError::UnexpectedUpgrade);
        }
        if head.status < 200 {
            self.interim_count += 1;
            if self.interim_count > LIMITS.interim_count_max {
                return Err(ProtocolError::TooManyInterim);
            }
            return Ok((taken, Response::Interim(head.status)));
        }
        self.waits = Waits::Body(Body::for_response(head.body));
        Ok((taken, Response::Head(head)))
    }
}
