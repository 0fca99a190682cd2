//! The common part of both sides of a connection: frames, windows, settings, and the limits.

mod blocks;
mod control;
mod messages;

use super::frame::{self, HEADER_BYTES, Header};
use super::streams::{Stream, Streams};
use super::{
    CONNECTION_WINDOW, Code, Error, FRAME_BYTES_MAX, Fault, IDLE_FRAMES_MAX, LIST_BYTES_MAX, SERVER_STREAMS_MAX,
    STREAM_WINDOW, STREAMS_UNTIL_REPORTED,
};
use crate::hpack::{Decoder, Encoder, FieldList, TABLE_BYTES_DEFAULT};
use blocks::Block;

/// The initial window (RFC 9113, 6.9.2).
const WINDOW_DEFAULT: i64 = 65_535;
const WINDOW_MAX: i64 = (1 << 31) - 1;

/// The meaning of the first bytes of the input.
#[derive(Debug)]
pub enum Event<'a> {
    /// All input was consumed, and nothing is complete.
    NeedMore,
    /// A frame that needs no action by the caller.
    Nothing,
    /// The peer's settings: more may be possible than before, or less.
    Settings,
    /// More may be sent than before.
    Window,
    /// An interim response (1xx) was skipped.
    Interim {
        /// The exchange.
        tag: u64,
        /// All fields.
        fields: &'a FieldList,
    },
    /// The head of a final response.
    Head {
        /// The exchange.
        tag: u64,
        /// Its status.
        status: u16,
        /// All fields.
        fields: &'a FieldList,
        /// Whether the message ends here.
        is_last: bool,
    },
    /// A request.
    Request {
        /// Its stream.
        stream: u32,
        /// All fields.
        fields: &'a FieldList,
        /// Whether the message ends here.
        is_last: bool,
    },
    /// A piece of a body.
    Body {
        /// Its stream.
        stream: u32,
        /// The exchange.
        tag: u64,
        /// Never empty, unless it is the last.
        bytes: &'a [u8],
        /// Whether the message ends here.
        is_last: bool,
    },
    /// The trailer fields; the message ends here.
    Trailers {
        /// Its stream.
        stream: u32,
        /// The exchange.
        tag: u64,
        /// All fields.
        fields: &'a FieldList,
    },
    /// The peer reset a stream.
    Reset {
        /// Its stream.
        stream: u32,
        /// The exchange.
        tag: u64,
        /// The error code (RFC 9113, 7).
        code: u32,
    },
    /// A stream broke the protocol and was reset; the connection goes on.
    Broken {
        /// Its stream.
        stream: u32,
        /// The exchange.
        tag: u64,
        /// The protocol error.
        fault: Fault,
    },
    /// The peer takes no further requests on this connection. Those above `last` were not processed.
    GoAway {
        /// The last stream that may have been processed.
        last: u32,
        /// The error code (RFC 9113, 7).
        code: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
}

/// The limits that the peer allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    pub(super) frame_bytes_max: usize,
    pub(super) window: i64,
    pub(super) streams: u32,
    pub(super) table_bytes: usize,
}

/// A data frame that is being received.
#[derive(Clone, Copy, Debug)]
struct Data {
    stream: u32,
    left: usize,
    padding: usize,
    ends: bool,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) role: Role,
    pub(super) streams: Streams,
    pub(super) encoder: Encoder,
    decoder: Decoder,
    pub(super) allowed: Allowed,
    pub(super) send_window: i64,
    receive_window: i64,
    /// Bytes received since the last window update.
    unacknowledged: i64,
    /// The last stream that the peer began; only used by a server.
    pub(super) last_stream: u32,
    /// The next stream that we begin; only used by a client.
    pub(super) next_stream: u32,
    /// An incomplete frame.
    tail: Vec<u8>,
    data: Option<Data>,
    block: Option<Box<Block>>,
    /// Received bytes of the preface; only used by a server.
    preface: usize,
    has_settings: bool,
    /// The last stream that the peer will process, once it sent GOAWAY.
    pub(super) goaway: Option<u32>,
    /// Whether we have sent GOAWAY.
    pub(super) is_leaving: bool,
    idle_frames: u32,
    rapid_resets: u32,
}

type Taken<'a> = Result<Event<'a>, Error>;

fn error(fault: Fault, code: Code) -> Error {
    Error { fault, code }
}

fn protocol(fault: Fault) -> Error {
    error(fault, Code::Protocol)
}

impl Connection {
    pub(super) fn new(role: Role) -> Self {
        Self {
            role,
            streams: Streams::default(),
            encoder: Encoder::default(),
            decoder: Decoder::new(TABLE_BYTES_DEFAULT),
            allowed: Allowed {
                frame_bytes_max: FRAME_BYTES_MAX,
                window: WINDOW_DEFAULT,
                streams: STREAMS_UNTIL_REPORTED,
                table_bytes: TABLE_BYTES_DEFAULT,
            },
            send_window: WINDOW_DEFAULT,
            receive_window: i64::from(CONNECTION_WINDOW),
            unacknowledged: 0,
            last_stream: 0,
            next_stream: 1,
            tail: Vec::new(),
            data: None,
            block: None,
            preface: if role == Role::Client { super::PREFACE.len() } else { 0 },
            has_settings: false,
            goaway: None,
            is_leaving: false,
            idle_frames: 0,
            rapid_resets: 0,
        }
    }

    /// Begins the connection: the frames common to both sides.
    pub(super) fn start(&mut self, out: &mut Vec<u8>) {
        let own = match self.role {
            Role::Client => (frame::SETTING_ENABLE_PUSH, 0),
            Role::Server => (frame::SETTING_MAX_CONCURRENT_STREAMS, SERVER_STREAMS_MAX),
        };
        let list = (frame::SETTING_MAX_HEADER_LIST_SIZE, LIST_BYTES_MAX as u32);
        frame::push_settings(&[own, (frame::SETTING_INITIAL_WINDOW_SIZE, STREAM_WINDOW), list], out);
        frame::push_window_update(0, CONNECTION_WINDOW - WINDOW_DEFAULT as u32, out);
    }

    pub(super) fn stream(&self, tag: u64) -> Stream {
        Stream {
            tag,
            send_window: self.allowed.window,
            receive_window: i64::from(STREAM_WINDOW),
            has_head: false,
            interim_count: 0,
            is_bodiless: false,
            length_left: None,
            is_sent: false,
            is_received: false,
            unsent: Default::default(),
            ends_with_unsent: false,
        }
    }

    /// Whether no part of a frame is stored.
    pub(super) fn is_between_frames(&self) -> bool {
        self.tail.is_empty() && self.data.is_none() && self.block.is_none()
    }

    /// Parses the start of `input`: how many bytes were consumed, and the event.
    pub(super) fn handle<'a>(
        &mut self,
        input: &'a [u8],
        fields: &'a mut FieldList,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Event<'a>), Error> {
        let handled = self.understand(input, fields, out);
        if let Err(error) = &handled {
            frame::push_goaway(self.last_stream, error.code, out);
        }
        handled
    }

    fn understand<'a>(
        &mut self,
        input: &'a [u8],
        fields: &'a mut FieldList,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Event<'a>), Error> {
        if self.preface < super::PREFACE.len() {
            let event = if input.is_empty() { Event::NeedMore } else { Event::Nothing };
            return self.read_preface(input).map(|taken| (taken, event));
        }
        if let Some(data) = self.data {
            return Ok(self.read_data(data, input, out));
        }
        if self.tail.is_empty()
            && let Some((head, rest)) = input.split_first_chunk::<HEADER_BYTES>()
        {
            // The input contains the whole frame, or at least its head.
            let header = self.admit(Header::read(head))?;
            if header.kind == frame::DATA {
                match rest.first() {
                    Some(padding) if header.has(frame::PADDED) && header.length > 0 => {
                        let event = self.begin_data(header, 1, usize::from(*padding), out)?;
                        return Ok((HEADER_BYTES + 1, event));
                    }
                    None if header.has(frame::PADDED) && header.length > 0 => {}
                    _ => return self.begin_data(header, 0, 0, out).map(|event| (HEADER_BYTES, event)),
                }
            } else if let Some(payload) = rest.get(..header.length) {
                let event = self.frame(header, payload, fields, out)?;
                return Ok((HEADER_BYTES + header.length, event));
            }
        }
        self.gather(input, fields, out)
    }

    fn read_preface(&mut self, input: &[u8]) -> Result<usize, Error> {
        let expected = &super::PREFACE[self.preface..];
        let count = expected.len().min(input.len());
        if input[..count] != expected[..count] {
            return Err(protocol(Fault::Preface));
        }
        self.preface += count;
        Ok(count)
    }

    /// Assembles a frame that arrives in pieces.
    fn gather<'a>(
        &mut self,
        input: &'a [u8],
        fields: &'a mut FieldList,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Event<'a>), Error> {
        let before = self.tail.len();
        self.take_up_to(HEADER_BYTES, input);
        let Some(head) = self.tail.first_chunk::<HEADER_BYTES>() else { return Ok((input.len(), Event::NeedMore)) };
        let header = self.admit(Header::read(head))?;
        // Of a data frame, the padding length suffices.
        let is_data = header.kind == frame::DATA;
        let needed = match (is_data, header.has(frame::PADDED)) {
            (true, true) if header.length > 0 => HEADER_BYTES + 1,
            (true, _) => HEADER_BYTES,
            (false, _) => HEADER_BYTES + header.length,
        };
        self.take_up_to(needed, &input[self.tail.len() - before..]);
        let taken = self.tail.len() - before;
        if self.tail.len() < needed {
            return Ok((taken, Event::NeedMore));
        }
        let tail = std::mem::take(&mut self.tail);
        let payload = &tail[HEADER_BYTES..];
        let event = if is_data {
            let padding = payload.first().map_or(0, |padding| usize::from(*padding));
            self.begin_data(header, payload.len(), padding, out)?
        } else {
            self.frame(header, payload, fields, out)?
        };
        Ok((taken, event))
    }

    fn take_up_to(&mut self, length: usize, input: &[u8]) {
        let count = length.saturating_sub(self.tail.len()).min(input.len());
        self.tail.extend_from_slice(&input[..count]);
    }

    /// Checks that are possible before the payload has arrived.
    fn admit(&self, header: Header) -> Result<Header, Error> {
        if !self.has_settings && (header.kind != frame::SETTINGS || header.has(frame::ACK)) {
            return Err(protocol(Fault::Preface));
        }
        if header.length > FRAME_BYTES_MAX {
            return Err(error(Fault::FrameSize, Code::FrameSize));
        }
        let is_continued = self.block.as_ref().is_some_and(|block| block.stream == header.stream);
        if (header.kind == frame::CONTINUATION) != is_continued || (self.block.is_some() && !is_continued) {
            return Err(protocol(Fault::Continuation));
        }
        Ok(header)
    }

    fn frame<'a>(&mut self, header: Header, payload: &[u8], fields: &'a mut FieldList, out: &mut Vec<u8>) -> Taken<'a> {
        match header.kind {
            frame::HEADERS => self.headers(header, payload, fields, out),
            frame::CONTINUATION => self.continuation(header, payload, fields, out),
            frame::WINDOW_UPDATE => self.window_update(header, payload, out),
            frame::SETTINGS => self.settings(header, payload, out),
            frame::PING => self.ping(header, payload, out),
            frame::RST_STREAM => self.reset_by_peer(header, payload),
            frame::GOAWAY => self.goaway(header, payload),
            frame::PRIORITY => self.priority(header, payload, out),
            frame::PUSH_PROMISE => Err(protocol(Fault::Push)),
            _ => self.idle(Fault::EmptyFlood).map(|()| Event::Nothing),
        }
    }

    /// Counts a frame without progress.
    fn idle(&mut self, fault: Fault) -> Result<(), Error> {
        self.idle_frames += 1;
        if self.idle_frames > IDLE_FRAMES_MAX { Err(error(fault, Code::EnhanceYourCalm)) } else { Ok(()) }
    }

    /// Resets the count of frames without progress.
    pub(super) fn progress(&mut self) {
        self.idle_frames = 0;
    }

    /// Whether a stream never began.
    fn is_idle_stream(&self, stream: u32) -> bool {
        let is_clients = stream % 2 == 1;
        match self.role {
            Role::Client => !is_clients || stream >= self.next_stream,
            Role::Server => !is_clients || stream > self.last_stream,
        }
    }

    /// Handles a frame on an unknown stream: ignored if we cancelled the stream, otherwise an error.
    fn on_missing_stream(&mut self, stream: u32) -> Result<(), Error> {
        if self.is_idle_stream(stream) {
            return Err(protocol(Fault::FrameStream));
        }
        if self.streams.was_cancelled(stream) || self.is_leaving {
            return self.idle(Fault::EmptyFlood);
        }
        Err(error(Fault::FrameStream, Code::StreamClosed))
    }

    /// Resets a stream because the peer broke the protocol on it.
    pub(super) fn break_stream<'a>(&mut self, number: u32, fault: Fault, code: Code, out: &mut Vec<u8>) -> Taken<'a> {
        frame::push_reset(number, code, out);
        match self.streams.cancel(number) {
            Some(stream) => Ok(Event::Broken { stream: number, tag: stream.tag, fault }),
            None => Ok(Event::Nothing),
        }
    }

    /// Bytes that may be sent on a stream now.
    pub(super) fn room(&mut self, number: u32) -> usize {
        let of_connection = self.send_window;
        let for_stream = self.streams.find(number).map_or(0, |stream| stream.send_window);
        of_connection.min(for_stream).max(0) as usize
    }

    /// Sends content in frames, as far as there is room. Returns how much.
    pub(super) fn push_data(&mut self, number: u32, bytes: &[u8], ends: bool, out: &mut Vec<u8>) -> usize {
        let count = self.room(number).min(bytes.len());
        let bytes = &bytes[..count];
        self.send_window -= count as i64;
        if let Some(stream) = self.streams.find(number) {
            stream.send_window -= count as i64;
        }
        self.idle_frames = 0;
        let mut parts = bytes.chunks(self.allowed.frame_bytes_max).peekable();
        if parts.peek().is_none() && ends {
            frame::push_header(0, frame::DATA, frame::END_STREAM, number, out);
        }
        while let Some(part) = parts.next() {
            let end = if ends && parts.peek().is_none() { frame::END_STREAM } else { 0 };
            frame::push_header(part.len(), frame::DATA, end, number, out);
            out.extend_from_slice(part);
        }
        count
    }
}

fn depends_on(priority: &[u8; 5], stream: u32) -> bool {
    u32::from_be_bytes([priority[0] & 0x7f, priority[1], priority[2], priority[3]]) == stream
}
