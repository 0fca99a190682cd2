//! The server's side: requests in, responses out, in any order.

use super::connection::{Connection, Event, Role};
use super::{Code, Error, frame};
use crate::hpack::{FieldList, Indexing};

/// The state machine. Call [`Server::start`] once and [`Server::handle`] with received bytes until it returns
/// [`Event::NeedMore`]. Each [`Event::Request`] needs [`Server::response`], then [`Server::data`] or
/// [`Server::trailers`] until one of them was the last.
#[derive(Debug)]
pub struct Server {
    connection: Connection,
}

impl Default for Server {
    fn default() -> Self {
        Self { connection: Connection::new(Role::Server) }
    }
}

impl Server {
    /// Begins the connection.
    pub fn start(&mut self, out: &mut Vec<u8>) {
        self.connection.start(out);
    }

    /// Number of open streams.
    pub fn streams(&self) -> usize {
        self.connection.streams.len()
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

    /// Sends the head of a response, interim or final.
    pub fn response<'f>(
        &mut self,
        stream: u32,
        status: u16,
        fields: impl Iterator<Item = (&'f [u8], &'f [u8])>,
        is_last: bool,
        out: &mut Vec<u8>,
    ) {
        if self.connection.streams.find(stream).is_none() {
            return;
        }
        let (mut block, status) = (Vec::with_capacity(128), status.to_string());
        self.connection.encoder.begin(&mut block);
        self.connection.encoder.field(b":status", status.as_bytes(), Indexing::Kept, &mut block);
        for (name, value) in fields {
            let indexing = match name {
                // A secret enters no table (RFC 7541 7.1.3).
                b"set-cookie" => Indexing::Never,
                // Lengths and entity tags rarely repeat.
                b"content-length" | b"etag" => Indexing::NotKept,
                _ => Indexing::Kept,
            };
            self.connection.encoder.field(name, value, indexing, &mut block);
        }
        self.push_block(stream, &block, is_last, out);
    }

    /// Sends the trailer fields. They end the response.
    pub fn trailers<'f>(&mut self, stream: u32, fields: impl Iterator<Item = (&'f [u8], &'f [u8])>, out: &mut Vec<u8>) {
        if self.connection.streams.find(stream).is_none() {
            return;
        }
        let mut block = Vec::with_capacity(64);
        self.connection.encoder.begin(&mut block);
        for (name, value) in fields {
            self.connection.encoder.field(name, value, Indexing::Kept, &mut block);
        }
        self.push_block(stream, &block, true, out);
    }

    fn push_block(&mut self, stream: u32, block: &[u8], is_last: bool, out: &mut Vec<u8>) {
        frame::push_block(block, stream, is_last, self.connection.allowed.frame_bytes_max, out);
        if is_last {
            self.end(stream, out);
        }
    }

    /// Bytes that may be sent on a stream now.
    pub fn room(&mut self, stream: u32) -> usize {
        self.connection.room(stream)
    }

    /// Whether the stream is open: its response is not complete, and it was not reset.
    pub fn has(&mut self, stream: u32) -> bool {
        self.connection.streams.find(stream).is_some()
    }

    /// Sends content of a response, at most as much as [`Server::room`] returns.
    pub fn data(&mut self, stream: u32, bytes: &[u8], is_last: bool, out: &mut Vec<u8>) {
        debug_assert!(bytes.len() <= self.room(stream), "more than there is room for");
        self.connection.push_data(stream, bytes, is_last, out);
        if is_last {
            self.end(stream, out);
        }
    }

    /// Ends our side; a request that is still arriving is not needed any more (RFC 9113, 8.1).
    fn end(&mut self, stream: u32, out: &mut Vec<u8>) {
        self.connection.count_response();
        if self.connection.streams.find(stream).is_some_and(|stream| !stream.is_received) {
            frame::push_reset(stream, Code::NoError, out);
            self.connection.streams.cancel(stream);
        } else {
            self.connection.streams.remove(stream);
        }
    }

    /// Resets a stream.
    pub fn reset(&mut self, stream: u32, code: Code, out: &mut Vec<u8>) {
        if self.connection.streams.cancel(stream).is_some() {
            frame::push_reset(stream, code, out);
        }
    }

    /// Sends GOAWAY: takes no further requests; those that began are completed.
    pub fn leave(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.connection.is_leaving, true) {
            frame::push_goaway(self.connection.last_stream, Code::NoError, out);
        }
    }

    /// Whether we have sent GOAWAY.
    pub fn is_leaving(&self) -> bool {
        self.connection.is_leaving
    }
}
