//! Messages on WebSocket and TCP connections, prepared before the run.

use std::sync::{Arc, OnceLock};

use metrics::{Failure, PartKind};
use pacing::Random;
use plan::{CHECKED_BODY_BYTES_MAX, Message, MessageKind, Request, ResponseEnd, Step, Target};
use wire::connection::{Fault, Offer, ResponseKind};
use wire::tcp::{Delimiter, Framing};
use wire::websocket::{self, Deflate, Deflater, Kind, Opcode, WINDOW_BITS_MAX, WINDOW_BITS_MIN};

use crate::faults;

/// Masked copies of the same message, used in turn: rendering it anew for each send would cost more than sending it.
const MASKS: u32 = 16;
/// Messages larger than this are stored once.
const LARGE_BYTES: usize = 64 * 1024;
/// Seed of masks and keys. They protect proxies from what a page makes a browser send, and there is none here.
const SEED: u64 = 0x6f6e_7275_7368;
/// Shown bytes of a sent message.
pub(crate) const SAID_BYTES_MAX: usize = 64 * 1024;
/// The largest message that is accepted; of one that is checked less is kept.
const MESSAGE_BYTES_MAX: u64 = 1 << 30;

/// End of the response to a message.
#[derive(Clone, Debug)]
pub(crate) enum Expects {
    Nothing,
    /// A WebSocket message.
    Message,
    /// A pong.
    Pong,
    /// A frame on a plain connection.
    Framed(Arc<Framing>),
    /// A response of a custom protocol.
    Custom {
        messages: u32,
    },
}

impl Expects {
    /// The same for a protocol state.
    pub(crate) fn awaited(&self) -> ResponseKind<'_> {
        match self {
            Self::Nothing => ResponseKind::Nothing,
            Self::Message => ResponseKind::Message,
            Self::Pong => ResponseKind::Pong,
            Self::Framed(framing) => ResponseKind::Framed(framing),
            Self::Custom { messages } => ResponseKind::Custom { messages: *messages },
        }
    }

    /// Framing of responses on a plain connection, if there is any.
    pub(crate) fn framing(&self) -> Option<&Arc<Framing>> {
        if let Self::Framed(framing) = self { Some(framing) } else { None }
    }
}

/// Prepared messages of a WebSocket or TCP step.
#[derive(Debug)]
pub(crate) struct PreparedMessaging {
    /// The message as sent; empty for a step that only receives.
    pub(crate) frames: Vec<Arc<[u8]>>,
    /// The message compressed in the largest window.
    pub(crate) deflated: Vec<Arc<[u8]>>,
    /// Copies compressed in smaller windows, which few servers request: made when one does.
    narrow: [OnceLock<Vec<Arc<[u8]>>>; NARROW_WINDOWS],
    /// The message that those are made from.
    message: Option<Message>,
    /// The framing of what is sent.
    pub(crate) kind: MessageKind,
    pub(crate) expects: Expects,
    /// The offer of the WebSocket handshake of its connections.
    pub(crate) offer: Arc<Offer>,
    pub(crate) is_numbered: bool,
    /// Messages are checked as a whole.
    pub(crate) is_checked: bool,
    /// Messages that fail the checks are skipped.
    pub(crate) awaits: bool,
    /// The message, where it is shown.
    pub(crate) said: Option<ShownMessage>,
    /// The requests of a custom protocol.
    pub(crate) custom: Option<PreparedCustom>,
}

/// Prepared requests of a custom protocol.
pub(crate) struct PreparedCustom {
    pub(crate) request: Box<dyn protocol::Request>,
    /// The position of the protocol in the table of this process.
    protocol: u8,
    pub(crate) messages: u32,
    /// When it is sent again.
    pub(crate) resend: Option<protocol::Resend>,
}

impl std::fmt::Debug for PreparedCustom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedCustom").field("protocol", &self.protocol).finish_non_exhaustive()
    }
}

impl PreparedCustom {
    /// `None` for another step, or where the protocol is not known: that was checked before the run.
    fn new(step: &Step, target: &Target) -> Option<Self> {
        let own = step.messaging.as_ref()?.custom.as_deref()?;
        let protocol = protocol::by_name(&own.protocol)?;
        let request = protocol.prepare(target.custom.as_deref()?, &protocol::StepFields::new(own)).ok()?;
        let resend = request.resend();
        Some(Self { request, protocol: protocol::number_of(&own.protocol)?, messages: own.messages, resend })
    }

    /// A request with these texts.
    pub(crate) fn bytes(&self, texts: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.request.write(&protocol::Texts::new(texts), &mut bytes);
        bytes
    }

    /// The requests that are the same each time; none where they are made anew.
    fn constant(&self, step: &Step) -> Vec<Arc<[u8]>> {
        let Some(own) = step.messaging.as_ref().and_then(|messaging| messaging.custom.as_deref()) else {
            return Vec::new();
        };
        let is_made = step.dynamic_parts.as_ref().is_some_and(|parts| !parts.messages.is_empty());
        if is_made || own.only_connects {
            return Vec::new();
        }
        let texts: Vec<Vec<u8>> = own.texts.iter().map(|text| text.bytes.clone()).collect();
        vec![self.bytes(&texts).into()]
    }
}

/// The head of a masked WebSocket frame, at most.
const FRAME_HEAD_BYTES: usize = 14;

/// The compressor of dynamic messages; it is kept from one to the next.
#[derive(Default)]
pub(crate) struct Spare(Option<(u8, Deflater)>);

impl Spare {
    fn compress(&mut self, deflate: Deflate, bytes: &[u8]) -> Vec<u8> {
        if self.0.as_ref().is_none_or(|(bits, _)| *bits != deflate.window_bits) {
            self.0 = Some((deflate.window_bits, Deflater::with_window(deflate.window_bits)));
        }
        self.0.as_mut().map(|(_, deflater)| deflater.compress(bytes)).unwrap_or_default()
    }
}

/// Number of windows smaller than the usual one.
const NARROW_WINDOWS: usize = (WINDOW_BITS_MAX - WINDOW_BITS_MIN) as usize;

/// A message as sent, under each mask; compressed in a window, as a power of two, or as it is.
fn frames(message: &Message, window_bits: Option<u8>) -> Vec<Arc<[u8]>> {
    let kind = match message.kind {
        MessageKind::Plain => return vec![message.bytes.as_slice().into()],
        MessageKind::Ping => None,
        MessageKind::Text => Some(Kind::Text),
        MessageKind::Binary => Some(Kind::Binary),
    };
    let compressed = window_bits.map(|bits| Deflater::with_window(bits).compress(&message.bytes));
    let payload = compressed.as_ref().unwrap_or(&message.bytes);
    let mut masks = Random::new(SEED);
    let frame = |_| {
        let mask = Some((masks.next_u64() as u32).to_le_bytes());
        let mut frame = Vec::new();
        match kind {
            Some(kind) => websocket::push_message(kind, compressed.is_some(), mask, payload, &mut frame),
            None => websocket::push_frame(Opcode::Ping, true, mask, &message.bytes, &mut frame),
        }
        frame.into()
    };
    let masks = if payload.len() > LARGE_BYTES { 1 } else { MASKS };
    (0..masks).map(frame).collect()
}

/// A message in the form in which it is shown.
#[derive(Debug)]
pub(crate) struct ShownMessage {
    pub(crate) kind: PartKind,
    pub(crate) bytes: Vec<u8>,
}

impl ShownMessage {
    fn new(message: &Message) -> Self {
        match message.kind {
            MessageKind::Ping => Self { kind: PartKind::Control, bytes: b"ping".to_vec() },
            _ => Self {
                kind: PartKind::Message,
                bytes: message.bytes[..message.bytes.len().min(SAID_BYTES_MAX)].to_vec(),
            },
        }
    }
}

/// Whether messages are checked as a whole.
pub(crate) fn has_message_checks(step: &Step) -> bool {
    let is_numbered =
        || step.messaging.iter().flat_map(|messaging| &messaging.message).any(|message| message.is_numbered);
    let takes_body =
        || step.dynamic_parts.iter().flat_map(|dynamic_parts| &dynamic_parts.takes).any(plan::Extraction::wants_body);
    step.messaging.is_some() && (is_numbered() || takes_body() || step.checks.want_body())
}

impl PreparedMessaging {
    /// `None` for an HTTP step. `is_recorded`: messages may be shown.
    pub(crate) fn new(step: &Step, target: &Target, is_recorded: bool) -> Option<Self> {
        let messaging = step.messaging.as_ref()?;
        let custom = PreparedCustom::new(step, target);
        let constant = custom.as_ref().map(|custom| custom.constant(step));
        let mut headers = step.request.headers.clone();
        let host = headers.iter().position(|(name, _)| name.eq_ignore_ascii_case("host"));
        let host = host.map(|at| String::from_utf8_lossy(&headers.remove(at).1).into_owned()).unwrap_or_default();
        let is_ping = messaging.message.as_ref().is_some_and(|message| message.kind == MessageKind::Ping);
        let compressible = messaging.message.as_ref().filter(|_| messaging.offers_deflate && !is_ping).cloned();
        let is_numbered = messaging.message.as_ref().is_some_and(|message| message.is_numbered);
        let is_checked = has_message_checks(step);
        let framed = |framing| Expects::Framed(Arc::new(framing));
        Some(Self {
            frames: constant
                .or_else(|| messaging.message.as_ref().map(|message| frames(message, None)))
                .unwrap_or_default(),
            deflated: compressible.as_ref().map(|message| frames(message, Some(WINDOW_BITS_MAX))).unwrap_or_default(),
            narrow: Default::default(),
            message: compressible,
            kind: messaging.message.as_ref().map_or(MessageKind::Plain, |message| message.kind),
            expects: match &messaging.response {
                ResponseEnd::None => Expects::Nothing,
                ResponseEnd::Message if is_ping => Expects::Pong,
                ResponseEnd::Message => match &custom {
                    Some(custom) => Expects::Custom { messages: custom.messages },
                    None => Expects::Message,
                },
                ResponseEnd::Bytes(count) => framed(Framing::Bytes(*count)),
                ResponseEnd::Until(bytes) => {
                    Delimiter::new(bytes).map_or(Expects::Nothing, |end| framed(Framing::Until(end)))
                }
                ResponseEnd::LengthPrefix { width, is_little_endian } => {
                    framed(Framing::LengthPrefix { width: *width, is_little_endian: *is_little_endian })
                }
            },
            offer: Arc::new(Offer {
                host,
                target: step.request.path.clone(),
                protocols: messaging.subprotocols.clone(),
                headers,
                offers_deflate: messaging.offers_deflate,
                message_bytes_max: MESSAGE_BYTES_MAX,
                kept_bytes_max: if is_checked || is_recorded { CHECKED_BODY_BYTES_MAX } else { 0 },
            }),
            is_numbered,
            is_checked,
            awaits: messaging.awaits,
            said: messaging
                .message
                .as_ref()
                .filter(|message| is_recorded && !message.is_numbered)
                .map(ShownMessage::new),
            custom,
        })
    }

    /// The failure that a fault of its peer is counted as.
    pub(crate) fn failure(&self, fault: Fault) -> Failure {
        let named = match (fault, &self.custom) {
            (Fault::Custom(number), Some(custom)) => Failure::custom(custom.protocol, number),
            _ => None,
        };
        named.unwrap_or_else(|| faults::line(fault))
    }

    /// Keeps messages on its connection as a whole, for other steps that check them.
    pub(crate) fn keep_messages(&mut self) {
        self.offer = Arc::new(Offer { kept_bytes_max: CHECKED_BODY_BYTES_MAX, ..(*self.offer).clone() });
    }

    /// The offer of a WebSocket handshake by a request that was made for it.
    pub(crate) fn offer_of(&self, request: &Request) -> Arc<Offer> {
        let mut headers = request.headers.clone();
        let host = headers.iter().position(|(name, _)| name.eq_ignore_ascii_case("host"));
        let host = host.map(|at| String::from_utf8_lossy(&headers.remove(at).1).into_owned());
        let host = host.unwrap_or_else(|| self.offer.host.clone());
        Arc::new(Offer { host, headers, target: request.path.clone(), ..(*self.offer).clone() })
    }

    /// A dynamic message as sent.
    pub(crate) fn framed(
        &self,
        bytes: &[u8],
        deflate: Option<Deflate>,
        mask: [u8; 4],
        deflater: &mut Spare,
    ) -> Vec<u8> {
        let kind = match self.kind {
            MessageKind::Plain => return bytes.to_vec(),
            MessageKind::Text => Kind::Text,
            MessageKind::Binary => Kind::Binary,
            MessageKind::Ping => {
                let mut frame = Vec::new();
                websocket::push_frame(Opcode::Ping, true, Some(mask), bytes, &mut frame);
                return frame;
            }
        };
        let compressed = deflate.filter(|_| self.message.is_some()).map(|deflate| deflater.compress(deflate, bytes));
        let mut frame = Vec::with_capacity(bytes.len() + FRAME_HEAD_BYTES);
        let payload = compressed.as_deref().unwrap_or(bytes);
        websocket::push_message(kind, compressed.is_some(), Some(mask), payload, &mut frame);
        frame
    }

    /// Bytes for the key of a connection: it is no secret, and differs for each.
    pub(crate) fn key(number: u64) -> [u8; 16] {
        let mut random = Random::for_stream(SEED, number);
        let words = [random.next_u64().to_le_bytes(), random.next_u64().to_le_bytes()];
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&words[0]);
        bytes[8..].copy_from_slice(&words[1]);
        bytes
    }

    /// The message for the `turn`-th send, and its number among [`PreparedMessaging::all_frames`] if it is one of them.
    pub(crate) fn frame(&self, deflate: Option<Deflate>, turn: usize) -> Option<(&Arc<[u8]>, Option<usize>)> {
        let pick = |frames: &[Arc<[u8]>]| (!frames.is_empty()).then(|| turn % frames.len());
        let (frames, first) = match (deflate, &self.message) {
            (Some(deflate), Some(message)) if deflate.window_bits < WINDOW_BITS_MAX => {
                let place = &self.narrow[usize::from(deflate.window_bits.saturating_sub(WINDOW_BITS_MIN))];
                (place.get_or_init(|| frames(message, Some(deflate.window_bits))), None)
            }
            (Some(_), Some(_)) => (&self.deflated, Some(self.frames.len())),
            _ => (&self.frames, Some(0)),
        };
        pick(frames).map(|at| (&frames[at], first.map(|first| first + at)))
    }

    /// All frames, in the order of the numbers that [`PreparedMessaging::frame`] returns.
    pub(crate) fn all_frames(&self) -> impl Iterator<Item = &Arc<[u8]>> + '_ {
        self.frames.iter().chain(&self.deflated)
    }
}
