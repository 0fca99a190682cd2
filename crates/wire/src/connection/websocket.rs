//! WebSocket as a connection: a handshake, then one message at a time goes out, and its response comes in.

use std::sync::Arc;

use super::{ConnectionEvent, ExchangeStart, Fault, IdleState, Mask, Payload, ProtocolConnection, Scratch, Tag};
use crate::http1::Ending;
use crate::websocket::{
    Deflate, Kind, Opening, Role, Session, SessionEvent, Terms, key_of, push_message, read_response, render_request,
};

/// The code of a normal closure (RFC 6455, 7.4.1).
const NORMAL: u16 = 1_000;

/// The handshake options and message limits of a client; shared by many connections.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The host, with its port unless that is the default.
    pub host: String,
    /// Path and query.
    pub target: String,
    /// Subprotocols, in order of preference.
    pub protocols: Vec<String>,
    /// More fields, in their order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Whether compression is offered.
    pub offers_deflate: bool,
    /// The largest accepted message.
    pub message_bytes_max: u64,
    /// Bytes of a message that are captured; 0 when messages are not inspected.
    pub kept_bytes_max: usize,
}

impl Offer {
    fn session(&self, deflate: Option<Deflate>) -> Session {
        let (message_bytes_max, kept_bytes_max) = (self.message_bytes_max, self.kept_bytes_max);
        Session::new(Terms { role: Role::Client, deflate, message_bytes_max, kept_bytes_max })
    }
}

#[expect(clippy::large_enum_variant, reason = "a line lies in a box, and opens once")]
enum State {
    /// Bytes of the handshake response that have arrived.
    Opening {
        key: String,
        head: Vec<u8>,
    },
    Established(Session),
}

/// The state of a WebSocket connection.
pub struct WebSocket {
    offer: Arc<Offer>,
    state: State,
    deflate: Option<Deflate>,
}

impl WebSocket {
    /// A connection that begins with a handshake; `random` makes its key.
    pub fn new(offer: Arc<Offer>, random: [u8; 16]) -> Self {
        let state = State::Opening { key: key_of(random), head: Vec::new() };
        Self { offer, state, deflate: None }
    }

    /// A connection restored from its idle state, after the handshake.
    pub fn unparked(offer: Arc<Offer>, parked: IdleState) -> Self {
        let (state, deflate) = (State::Established(offer.session(parked.deflate)), parked.deflate);
        Self { offer, state, deflate }
    }

    /// The compression of messages, once negotiated.
    pub fn deflate(&self) -> Option<Deflate> {
        self.deflate
    }

    /// Handles the response to our handshake, which may come in pieces.
    fn agree(&mut self, input: &[u8]) -> Result<(usize, ConnectionEvent<'static>), Fault> {
        let State::Opening { key, head } = &mut self.state else { return Ok((0, ConnectionEvent::NeedMore)) };
        let had = head.len();
        let (offered, offers_deflate) = (&self.offer.protocols, self.offer.offers_deflate);
        let read = if had == 0 {
            read_response(input, key, offered, offers_deflate)
        } else {
            head.extend_from_slice(input);
            read_response(head, key, offered, offers_deflate)
        };
        let Some((length, response)) = read.map_err(Fault::Handshake)? else {
            if had == 0 {
                head.extend_from_slice(input);
            }
            return Ok((input.len(), ConnectionEvent::NeedMore));
        };
        self.deflate = response.deflate;
        self.state = State::Established(self.offer.session(response.deflate));
        Ok((length - had, ConnectionEvent::Ready))
    }
}

impl ProtocolConnection for WebSocket {
    fn start(&mut self, out: &mut Vec<u8>) {
        let State::Opening { key, .. } = &self.state else { return };
        let Offer { host, target, protocols, headers, offers_deflate, .. } = &*self.offer;
        let offers_deflate = *offers_deflate;
        render_request(&Opening { host, target, protocols, headers, offers_deflate }, key, out);
    }

    fn room(&self) -> usize {
        usize::from(matches!(self.state, State::Established(_)))
    }

    /// [`Payload::Rendered`] is sent as a text message.
    fn begin(&mut self, _tag: Tag, ask: ExchangeStart<'_>, mask: Mask, out: &mut Vec<u8>) -> u32 {
        if let Payload::Rendered(text) = ask.what {
            push_message(Kind::Text, false, Some(mask), text, out);
        }
        1
    }

    fn handle<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        mask: Mask,
        out: &mut Vec<u8>,
    ) -> Result<(usize, ConnectionEvent<'a>), Fault> {
        let State::Established(session) = &mut self.state else { return self.agree(input) };
        let received = session.handle(input, &mut scratch.websocket, Some(mask), out);
        let (taken, received) = received.map_err(Fault::WebSocket)?;
        let said = match received {
            SessionEvent::NeedMore => ConnectionEvent::NeedMore,
            SessionEvent::Nothing => ConnectionEvent::Nothing,
            SessionEvent::Message { bytes, is_cut, length, .. } => ConnectionEvent::Message { bytes, is_cut, length },
            SessionEvent::Pong(_) => ConnectionEvent::Pong,
            SessionEvent::Close { code, reason } => ConnectionEvent::Close { code, reason },
        };
        Ok((taken, said))
    }

    fn handle_end(&mut self) -> Ending {
        if self.is_idle() { Ending::BeforeAnswer } else { Ending::Early }
    }

    fn is_idle(&self) -> bool {
        matches!(&self.state, State::Established(session) if !session.is_within_message())
    }

    fn close(&mut self, mask: Mask, out: &mut Vec<u8>) -> bool {
        let State::Established(session) = &mut self.state else { return false };
        session.close(NORMAL, Some(mask), out);
        true
    }

    fn begun(&self) -> &[u8] {
        if let State::Established(session) = &self.state { session.begun() } else { &[] }
    }

    fn park(&self) -> Option<IdleState> {
        let State::Established(session) = &self.state else { return None };
        session.is_at_rest().then_some(IdleState { deflate: self.deflate })
    }
}
