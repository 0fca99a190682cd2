//! The client's side: many requests at a time.

use std::sync::Arc;

use super::connection::{Connection, Event, Role};
use super::{Code, Error, PREFACE, Request, frame};
use crate::hpack::FieldList;

/// The highest stream number (31 bits); after it a connection is used up.
const STREAM_NUMBER_MAX: u32 = (1 << 31) - 1;
/// Maximum bytes that are framed ahead; the rest follows when those were sent.
const AHEAD_BYTES_MAX: usize = 256 * 1024;

/// The content of the peer's header table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remembered {
    Nothing,
    /// The fields of one request, in their order.
    Request(u32),
}

/// The state machine. Call [`Client::start`] once, [`Client::send`] for each request, [`Client::handle`] with received
/// bytes until it returns [`Event::NeedMore`].
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    remembered: Remembered,
    /// Streams whose content is held back by windows or by the limit of framed bytes.
    held_back: Vec<u32>,
}

impl Default for Client {
    fn default() -> Self {
        Self { connection: Connection::new(Role::Client), remembered: Remembered::Nothing, held_back: Vec::new() }
    }
}

impl Client {
    /// Begins the connection.
    pub fn start(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(PREFACE);
        self.connection.start(out);
    }

    /// Number of open streams.
    pub fn streams(&self) -> usize {
        self.connection.streams.len()
    }

    /// Number of further requests that can be sent now.
    pub fn room(&self) -> usize {
        if self.is_used_up() {
            return 0;
        }
        (self.connection.allowed.streams as usize).saturating_sub(self.connection.streams.len())
    }

    /// Whether a further request can be sent now.
    pub fn can_send(&self) -> bool {
        self.room() > 0
    }

    /// Whether no further request can ever be sent on this connection.
    pub fn is_used_up(&self) -> bool {
        self.connection.goaway.is_some() || self.connection.next_stream > STREAM_NUMBER_MAX
    }

    /// Sends a request, identified by `tag` from then on. Returns its stream; only when [`Client::can_send`].
    pub fn send(&mut self, request: &Request, tag: u64, out: &mut Vec<u8>) -> u32 {
        let number = self.connection.next_stream;
        self.connection.next_stream += 2;
        self.connection.progress();
        let mut stream = self.connection.stream(tag);
        stream.is_bodiless = request.is_head;
        let ends = request.body.is_empty() && !request.is_open;
        stream.is_sent = ends;
        let has_body = !request.body.is_empty();
        if has_body {
            stream.unsent.push_back((request.body.clone(), 0));
            stream.ends_with_unsent = !request.is_open;
        }
        self.connection.streams.insert(number, stream);
        let most = self.connection.allowed.frame_bytes_max;
        // A table whose size changed starts empty; one that is too small is not used.
        let mut size_change = Vec::new();
        self.connection.encoder.begin(&mut size_change);
        if !size_change.is_empty() {
            self.remembered = Remembered::Nothing;
        }
        let fits = request.table_bytes <= self.connection.allowed.table_bytes.min(crate::hpack::TABLE_BYTES_DEFAULT);
        let block = match self.remembered {
            Remembered::Request(known) if known == request.number => &request.again,
            Remembered::Nothing if fits && size_change.is_empty() => {
                self.remembered = Remembered::Request(request.number);
                &request.first
            }
            _ => &request.plain,
        };
        if size_change.is_empty() {
            frame::push_block(block, number, ends, most, out);
        } else {
            size_change.extend_from_slice(block);
            frame::push_block(&size_change, number, ends, most, out);
        }
        if has_body && !self.push(number, out) {
            self.held_back.push(number);
        }
        number
    }

    /// Sends more on a stream that was kept open.
    pub fn send_more(&mut self, number: u32, bytes: Arc<Vec<u8>>, ends: bool, out: &mut Vec<u8>) {
        let Some(stream) = self.connection.streams.find(number) else { return };
        let was_waiting = !stream.unsent.is_empty();
        stream.ends_with_unsent |= ends;
        if bytes.is_empty() && !was_waiting {
            stream.is_sent |= ends;
            if ends {
                self.connection.push_data(number, &[], true, out);
            }
            return;
        }
        stream.unsent.push_back((bytes, 0));
        if !was_waiting && !self.push(number, out) {
            self.held_back.push(number);
        }
    }

    /// Sends held-back content as far as allowed. Call it after [`Event::Window`], and when framed bytes were sent.
    pub fn resume(&mut self, out: &mut Vec<u8>) {
        let mut held_back = std::mem::take(&mut self.held_back);
        held_back.retain(|number| !self.push(*number, out));
        self.held_back = held_back;
    }

    /// Whether content of the stream waits for a window, or for framed bytes to be sent; `None` if the stream is
    /// closed.
    pub fn holds_back_of(&mut self, number: u32) -> Option<bool> {
        self.connection.streams.find(number).map(|stream| !stream.unsent.is_empty())
    }

    /// Whether content of any stream waits for a window, or for framed bytes to be sent.
    pub fn holds_back(&self) -> bool {
        !self.held_back.is_empty()
    }

    /// True when no content of the stream is held back any more.
    fn push(&mut self, number: u32, out: &mut Vec<u8>) -> bool {
        loop {
            let Some(stream) = self.connection.streams.find(number) else { return true };
            let Some((bytes, from)) = stream.unsent.front().cloned() else { return true };
            if out.len() >= AHEAD_BYTES_MAX {
                return false;
            }
            let room = AHEAD_BYTES_MAX - out.len();
            let part = &bytes[from..bytes.len().min(from + room)];
            let is_end = stream.ends_with_unsent && stream.unsent.len() == 1 && from + part.len() == bytes.len();
            let fits = self.connection.room(number) >= part.len();
            let sent = self.connection.push_data(number, part, is_end && fits, out);
            let Some(stream) = self.connection.streams.find(number) else { return true };
            if from + sent == bytes.len() {
                stream.unsent.pop_front();
                stream.is_sent |= is_end;
            } else if let Some((_, from)) = stream.unsent.front_mut() {
                *from += sent;
                if sent == 0 || sent < part.len() {
                    return false;
                }
            }
        }
    }

    /// Cancels a stream. Later frames of it are ignored.
    pub fn cancel(&mut self, number: u32, out: &mut Vec<u8>) {
        if self.connection.streams.cancel(number).is_some() {
            frame::push_reset(number, Code::Cancel, out);
        }
    }

    /// Removes the streams above `last`, which the peer has not processed, and returns their tags in order.
    pub fn take_unprocessed(&mut self, last: u32) -> Vec<u64> {
        let numbers = self.connection.streams.above(last);
        numbers.into_iter().filter_map(|number| Some(self.connection.streams.cancel(number)?.tag)).collect()
    }

    /// Sends GOAWAY: the connection is closed with nothing in flight.
    pub fn leave(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.connection.is_leaving, true) {
            frame::push_goaway(0, Code::NoError, out);
        }
    }

    /// Whether no part of a frame is stored.
    pub fn is_between_frames(&self) -> bool {
        self.connection.is_between_frames()
    }

    /// Parses the start of `input`: how many bytes were consumed, and the event. Call again with the rest until it
    /// returns [`Event::NeedMore`] with nothing left.
    ///
    /// # Errors
    /// The peer broke the protocol; `out` contains the error for it, and the connection must be closed.
    pub fn handle<'a>(
        &mut self,
        input: &'a [u8],
        fields: &'a mut FieldList,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Event<'a>), Error> {
        self.connection.handle(input, fields, out)
    }
}
