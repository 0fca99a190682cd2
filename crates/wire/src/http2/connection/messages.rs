//! Heads, bodies and trailers, of requests and of responses, on the streams of a connection.

use super::{Connection, Data, Event, Role, Taken, error, protocol};
use crate::hpack::{FieldList, HpackError};
use crate::http2::frame::{self, Header};
use crate::http2::{
    CONNECTION_WINDOW, Code, Fault, INTERIM_COUNT_MAX, LIST_BYTES_MAX, SERVER_STREAMS_MAX, STREAM_WINDOW, message,
};

impl Connection {
    pub(super) fn begin_data<'a>(
        &mut self,
        header: Header,
        prefix: usize,
        padding: usize,
        out: &mut Vec<u8>,
    ) -> Taken<'a> {
        if header.stream == 0 {
            return Err(protocol(Fault::FrameStream));
        }
        let content = header.length.checked_sub(prefix + padding).ok_or(protocol(Fault::Padding))?;
        if header.has(frame::PADDED) && header.length == 0 {
            return Err(error(Fault::FrameSize, Code::FrameSize));
        }
        let (length, ends) = (header.length as i64, header.has(frame::END_STREAM));
        self.receive_window -= length;
        if self.receive_window < 0 {
            return Err(error(Fault::Window, Code::FlowControl));
        }
        self.unacknowledged += length;
        if self.unacknowledged >= i64::from(CONNECTION_WINDOW / 2) {
            frame::push_window_update(0, self.unacknowledged as u32, out);
            self.receive_window += self.unacknowledged;
            self.unacknowledged = 0;
        }
        let data = Data { stream: header.stream, left: content, padding, ends };
        let role = self.role;
        let Some(stream) = self.streams.find(header.stream) else {
            self.on_missing_stream(header.stream)?;
            self.data = (content + padding > 0).then_some(data);
            return Ok(Event::Nothing);
        };
        stream.receive_window -= length;
        let fault = if stream.receive_window < 0 {
            Some((Fault::Window, Code::FlowControl))
        } else if stream.is_received {
            Some((Fault::FrameStream, Code::StreamClosed))
        } else if role == Role::Client && !stream.has_head {
            Some((Fault::Headers, Code::Protocol))
        } else if stream.length_left.is_some_and(|left| left < content as u64 || (ends && left > content as u64))
            || (stream.is_bodiless && content > 0)
        {
            Some((Fault::ContentLength, Code::Protocol))
        } else {
            None
        };
        if let Some((fault, code)) = fault {
            self.data = (content + padding > 0).then_some(data);
            return self.break_stream(header.stream, fault, code, out);
        }
        if let Some(left) = &mut stream.length_left {
            *left -= content as u64;
        }
        if content == 0 && !ends {
            self.data = (padding > 0).then_some(data);
            return self.idle(Fault::EmptyFlood).map(|()| Event::Nothing);
        }
        if stream.receive_window < i64::from(STREAM_WINDOW / 2) && !ends {
            let more = i64::from(STREAM_WINDOW) - stream.receive_window;
            frame::push_window_update(header.stream, more as u32, out);
            stream.receive_window += more;
        }
        self.idle_frames = 0;
        if content == 0 {
            let tag = stream.tag;
            self.data = (padding > 0).then_some(Data { ends: false, ..data });
            self.end_received(header.stream, out);
            return Ok(Event::Body { stream: header.stream, tag, bytes: &[], is_last: true });
        }
        self.data = Some(data);
        Ok(Event::Nothing)
    }

    pub(super) fn read_data<'a>(&mut self, mut data: Data, input: &'a [u8], out: &mut Vec<u8>) -> (usize, Event<'a>) {
        if input.is_empty() {
            return (0, Event::NeedMore);
        }
        if data.left == 0 {
            let count = data.padding.min(input.len());
            data.padding -= count;
            self.data = (data.padding > 0).then_some(data);
            return (count, Event::Nothing);
        }
        let count = data.left.min(input.len());
        data.left -= count;
        self.data = (data.left + data.padding > 0).then_some(data);
        let Some(stream) = self.streams.find(data.stream) else { return (count, Event::Nothing) };
        if stream.is_received {
            return (count, Event::Nothing);
        }
        let (tag, is_last) = (stream.tag, data.ends && data.left == 0);
        if is_last {
            self.end_received(data.stream, out);
        }
        (count, Event::Body { stream: data.stream, tag, bytes: &input[..count], is_last })
    }

    /// Handles the end of the peer's side of a stream.
    pub(super) fn end_received(&mut self, number: u32, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.find(number) else { return };
        stream.is_received = true;
        match self.role {
            // A response that completes before its request is fully sent ends both.
            Role::Client if !stream.is_sent => {
                frame::push_reset(number, Code::Cancel, out);
                self.streams.cancel(number);
            }
            Role::Client => {
                self.streams.remove(number);
            }
            Role::Server => {}
        }
    }

    /// Handles a complete header block.
    pub(in crate::http2) fn message<'a>(
        &mut self,
        number: u32,
        ends: bool,
        block: &[u8],
        fields: &'a mut FieldList,
        out: &mut Vec<u8>,
    ) -> Taken<'a> {
        // Also for a closed stream: the header table of the connection depends on it.
        self.decoder.decode(block, fields, LIST_BYTES_MAX).map_err(|why| match why {
            HpackError::Malformed => error(Fault::Compression, Code::Compression),
            HpackError::ListTooLarge => error(Fault::HeadersTooLarge, Code::EnhanceYourCalm),
        })?;
        match self.role {
            Role::Client => self.response(number, ends, fields, out),
            Role::Server => self.request(number, ends, fields, out),
        }
    }

    pub(super) fn response<'a>(
        &mut self,
        number: u32,
        ends: bool,
        fields: &'a FieldList,
        out: &mut Vec<u8>,
    ) -> Taken<'a> {
        let Some(stream) = self.streams.find(number) else {
            self.on_missing_stream(number)?;
            return Ok(Event::Nothing);
        };
        let tag = stream.tag;
        if stream.has_head {
            return self.trailers(number, ends, fields, out);
        }
        let head = match message::response(fields) {
            // 101 exists in HTTP/1.1 only, and an interim response cannot end the stream.
            Ok(head) if head.status == 101 || (head.status < 200 && ends) => {
                return self.break_stream(number, Fault::Headers, Code::Protocol, out);
            }
            Ok(head) => head,
            Err(fault) => return self.break_stream(number, fault, Code::Protocol, out),
        };
        if head.status < 200 {
            stream.interim_count += 1;
            if stream.interim_count > INTERIM_COUNT_MAX {
                return self.break_stream(number, Fault::TooManyInterim, Code::EnhanceYourCalm, out);
            }
            return Ok(Event::Interim { tag, fields });
        }
        stream.has_head = true;
        stream.is_bodiless |= head.status == 204 || head.status == 304;
        if !stream.is_bodiless {
            stream.length_left = head.content_length;
        }
        if ends && stream.length_left.is_some_and(|left| left > 0) {
            return self.break_stream(number, Fault::ContentLength, Code::Protocol, out);
        }
        self.idle_frames = 0;
        if ends {
            self.end_received(number, out);
        }
        Ok(Event::Head { tag, status: head.status, fields, is_last: ends })
    }

    pub(super) fn trailers<'a>(
        &mut self,
        number: u32,
        ends: bool,
        fields: &'a FieldList,
        out: &mut Vec<u8>,
    ) -> Taken<'a> {
        let Some(stream) = self.streams.find(number) else { return Ok(Event::Nothing) };
        let tag = stream.tag;
        if stream.is_received {
            return self.break_stream(number, Fault::FrameStream, Code::StreamClosed, out);
        }
        if !ends || message::trailers(fields).is_err() {
            return self.break_stream(number, Fault::Headers, Code::Protocol, out);
        }
        if stream.length_left.is_some_and(|left| left > 0) {
            return self.break_stream(number, Fault::ContentLength, Code::Protocol, out);
        }
        self.idle_frames = 0;
        self.end_received(number, out);
        Ok(Event::Trailers { stream: number, tag, fields })
    }

    pub(super) fn request<'a>(
        &mut self,
        number: u32,
        ends: bool,
        fields: &'a FieldList,
        out: &mut Vec<u8>,
    ) -> Taken<'a> {
        if self.streams.find(number).is_some() {
            return self.trailers(number, ends, fields, out);
        }
        if number <= self.last_stream {
            self.on_missing_stream(number)?;
            return Ok(Event::Nothing);
        }
        self.last_stream = number;
        if self.is_leaving || self.streams.len() >= SERVER_STREAMS_MAX as usize {
            frame::push_reset(number, Code::RefusedStream, out);
            self.streams.insert(number, self.stream(0));
            self.streams.cancel(number);
            return Ok(Event::Nothing);
        }
        let mut stream = self.stream(u64::from(number));
        stream.has_head = true;
        let announced = message::request(fields);
        stream.length_left = announced.unwrap_or(None);
        let left = stream.length_left.unwrap_or(0);
        stream.is_received = ends;
        self.streams.insert(number, stream);
        match announced {
            Err(fault) => self.break_stream(number, fault, Code::Protocol, out),
            Ok(_) if ends && left > 0 => self.break_stream(number, Fault::ContentLength, Code::Protocol, out),
            Ok(_) => {
                self.idle_frames = 0;
                Ok(Event::Request { stream: number, fields, is_last: ends })
            }
        }
    }
}
