//! The server's side: requests in, one after another.

use super::body::{Body, BodyEvent};
use super::{LIMITS, Limits, ProtocolError, RequestHead, head};

/// The meaning of the first bytes of the input.
#[derive(Debug, PartialEq, Eq)]
pub enum ServerEvent<'a> {
    /// All input was consumed, and nothing is complete.
    NeedMore,
    /// The head of a request.
    Head(RequestHead<'a>),
    /// Bytes of its body, framing removed.
    Body(&'a [u8]),
    /// The request is complete. The next call begins the next one.
    End,
}

#[derive(Clone, Copy, Debug)]
enum Waits {
    Head,
    Body(Body),
}

/// The state machine: call [`Server::handle`] with received bytes, again with the rest until it returns
/// [`ServerEvent::NeedMore`].
#[derive(Debug)]
pub struct Server {
    waits: Waits,
    tail: Vec<u8>,
    /// Whether the head in `tail` was handed out; it is removed by the next call.
    tail_is_spent: bool,
    limits: Limits,
}

impl Default for Server {
    fn default() -> Self {
        Self::new(LIMITS)
    }
}

impl Server {
    /// The state of a new connection, with its limits.
    pub fn new(limits: Limits) -> Self {
        Self { waits: Waits::Head, tail: Vec::new(), tail_is_spent: false, limits }
    }

    /// Whether no part of a next request has arrived.
    pub fn is_idle(&self) -> bool {
        matches!(self.waits, Waits::Head) && (self.tail.is_empty() || self.tail_is_spent)
    }

    /// Parses the start of `input`: how many bytes were consumed, and the event.
    ///
    /// # Errors
    /// The peer broke the protocol; respond with 400 and close.
    pub fn handle<'a>(&'a mut self, input: &'a [u8]) -> Result<(usize, ServerEvent<'a>), ProtocolError> {
        if std::mem::take(&mut self.tail_is_spent) {
            self.tail = Vec::new();
        }
        match &mut self.waits {
            Waits::Head => self.handle_head(input),
            Waits::Body(body) => {
                let (taken, event) = body.handle(input, &self.limits)?;
                Ok(match event {
                    BodyEvent::NeedMore => (taken, ServerEvent::NeedMore),
                    BodyEvent::Data(data) => (taken, ServerEvent::Body(data)),
                    BodyEvent::End => {
                        self.waits = Waits::Head;
                        (taken, ServerEvent::End)
                    }
                })
            }
        }
    }

    fn handle_head<'a>(&'a mut self, input: &'a [u8]) -> Result<(usize, ServerEvent<'a>), ProtocolError> {
        if input.is_empty() {
            return Ok((0, ServerEvent::NeedMore));
        }
        let kept = self.tail.len();
        if kept == 0 {
            return match head::request(input, &self.limits)? {
                Some((length, head)) => {
                    self.waits = Waits::Body(Body::new(head.body));
                    Ok((length, ServerEvent::Head(head)))
                }
                None => {
                    self.tail.extend_from_slice(input);
                    Ok((input.len(), ServerEvent::NeedMore))
                }
            };
        }
        let room = self.limits.head_bytes_max - kept;
        self.tail.extend_from_slice(&input[..input.len().min(room)]);
        match head::request(&self.tail, &self.limits)? {
            Some((length, head)) => {
                self.waits = Waits::Body(Body::new(head.body));
                self.tail_is_spent = true;
                Ok((length - kept, ServerEvent::Head(head)))
            }
            None => Ok((input.len(), ServerEvent::NeedMore)),
        }
    }
}
