//! The server's side: requests in, one after another.

use super::body::{Body, BodyEvent};
use super::{LIMITS, Limits, ProtocolError, RequestHead, head};

/// What the front of the input meant.
#[derive(Debug, PartialEq, Eq)]
pub enum ServerEvent<'a> {
    /// Nothing is complete yet; all input was taken.
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

/// The machine: call [`Server::handle`] with what arrives, again with the rest until it says
/// [`ServerEvent::NeedMore`].
#[derive(Debug)]
pub struct Server {
    waits: Waits,
    tail: Vec<u8>,
    /// The head that `tail` holds was given out; it goes with the next call.
    tail_is_spent: bool,
    limits: Limits,
}

impl Default for Server {
    fn default() -> Self {
        Self::new(LIMITS)
    }
}

impl Server {
    /// A machine on a new connection, with its bounds.
    pub fn new(limits: Limits) -> Self {
        Self { waits: Waits::Head, tail: Vec::new(), tail_is_spent: false, limits }
    }

    /// Between requests: nothing of a next one has come.
    pub fn is_idle(&self) -> bool {
        matches!(self.waits, Waits::Head) && (self.tail.is_empty() || self.tail_is_spent)
    }

    /// Understands the front of `input`: how many bytes, and what they meant.
    ///
    /// # Errors
    /// The peer broke the protocol; answer 400 and close.
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
