//! Control frames of the connection or a stream: windows, settings, pings, priorities, resets, GOAWAY.

use super::{Connection, Event, Role, Taken, WINDOW_MAX, depends_on, error, protocol};
use crate::http2::frame::{self, Header};
use crate::http2::{Code, Error, FRAME_BYTES_MAX, Fault, RAPID_RESETS_MAX};

impl Connection {
    pub(super) fn window_update<'a>(&mut self, header: Header, payload: &[u8], out: &mut Vec<u8>) -> Taken<'a> {
        let more = payload.try_into().map_err(|_| error(Fault::FrameSize, Code::FrameSize))?;
        let more = i64::from(u32::from_be_bytes(more) & 0x7fff_ffff);
        self.idle(Fault::EmptyFlood)?;
        if header.stream == 0 {
            self.send_window += more;
            if more == 0 {
                return Err(protocol(Fault::Window));
            }
            if self.send_window > WINDOW_MAX {
                return Err(error(Fault::Window, Code::FlowControl));
            }
            return Ok(Event::Window);
        }
        let Some(stream) = self.streams.find(header.stream) else {
            if self.is_idle_stream(header.stream) {
                return Err(protocol(Fault::FrameStream));
            }
            return Ok(Event::Nothing);
        };
        stream.send_window += more;
        if more == 0 {
            return self.break_stream(header.stream, Fault::Window, Code::Protocol, out);
        }
        if stream.send_window > WINDOW_MAX {
            return self.break_stream(header.stream, Fault::Window, Code::FlowControl, out);
        }
        Ok(Event::Window)
    }

    pub(super) fn settings<'a>(&mut self, header: Header, payload: &[u8], out: &mut Vec<u8>) -> Taken<'a> {
        if header.stream != 0 {
            return Err(protocol(Fault::FrameStream));
        }
        let is_ack = header.has(frame::ACK);
        if !payload.len().is_multiple_of(6) || (is_ack && !payload.is_empty()) {
            return Err(error(Fault::FrameSize, Code::FrameSize));
        }
        self.idle(Fault::SettingsFlood)?;
        if is_ack {
            return Ok(Event::Nothing);
        }
        if !self.has_settings {
            // Until now the number was a guess; a peer that sets no limit has none.
            (self.has_settings, self.allowed.streams) = (true, u32::MAX);
        }
        for setting in payload.chunks_exact(6) {
            let name = u16::from_be_bytes([setting[0], setting[1]]);
            let value = u32::from_be_bytes([setting[2], setting[3], setting[4], setting[5]]);
            self.setting(name, value)?;
        }
        frame::push_header(0, frame::SETTINGS, frame::ACK, 0, out);
        Ok(Event::Settings)
    }

    pub(super) fn setting(&mut self, name: u16, value: u32) -> Result<(), Error> {
        match name {
            frame::SETTING_HEADER_TABLE_SIZE => {
                self.allowed.table_bytes = value as usize;
                self.encoder.resize(value as usize);
            }
            frame::SETTING_ENABLE_PUSH if value > 1 || (value == 1 && self.role == Role::Client) => {
                return Err(protocol(Fault::Settings));
            }
            frame::SETTING_MAX_CONCURRENT_STREAMS => self.allowed.streams = value,
            frame::SETTING_INITIAL_WINDOW_SIZE => {
                if i64::from(value) > WINDOW_MAX {
                    return Err(error(Fault::Settings, Code::FlowControl));
                }
                let more = i64::from(value) - self.allowed.window;
                self.allowed.window = i64::from(value);
                for (_, stream) in self.streams.iter_mut() {
                    stream.send_window += more;
                    if stream.send_window > WINDOW_MAX {
                        return Err(error(Fault::Window, Code::FlowControl));
                    }
                }
            }
            frame::SETTING_MAX_FRAME_SIZE => {
                if !(16_384..=16_777_215).contains(&value) {
                    return Err(protocol(Fault::Settings));
                }
                // Frames larger than our own limit would only delay other streams.
                self.allowed.frame_bytes_max = (value as usize).min(FRAME_BYTES_MAX);
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn ping<'a>(&mut self, header: Header, payload: &[u8], out: &mut Vec<u8>) -> Taken<'a> {
        if header.stream != 0 {
            return Err(protocol(Fault::FrameStream));
        }
        if payload.len() != 8 {
            return Err(error(Fault::FrameSize, Code::FrameSize));
        }
        self.idle(Fault::PingFlood)?;
        if !header.has(frame::ACK) {
            frame::push_header(8, frame::PING, frame::ACK, 0, out);
            out.extend_from_slice(payload);
        }
        Ok(Event::Nothing)
    }

    pub(super) fn priority<'a>(&mut self, header: Header, payload: &[u8], out: &mut Vec<u8>) -> Taken<'a> {
        if header.stream == 0 {
            return Err(protocol(Fault::FrameStream));
        }
        self.idle(Fault::EmptyFlood)?;
        let Ok(priority) = <&[u8; 5]>::try_from(payload) else {
            if self.is_idle_stream(header.stream) {
                return Err(error(Fault::FrameSize, Code::FrameSize));
            }
            return self.break_stream(header.stream, Fault::FrameSize, Code::FrameSize, out);
        };
        if depends_on(priority, header.stream) {
            if self.is_idle_stream(header.stream) {
                return Err(protocol(Fault::FrameStream));
            }
            return self.break_stream(header.stream, Fault::FrameStream, Code::Protocol, out);
        }
        Ok(Event::Nothing)
    }

    pub(super) fn reset_by_peer<'a>(&mut self, header: Header, payload: &[u8]) -> Taken<'a> {
        let code = payload.try_into().map_err(|_| error(Fault::FrameSize, Code::FrameSize))?;
        let code = u32::from_be_bytes(code);
        if header.stream == 0 || self.is_idle_stream(header.stream) {
            return Err(protocol(Fault::FrameStream));
        }
        self.idle(Fault::ResetFlood)?;
        let Some(stream) = self.streams.remove(header.stream) else { return Ok(Event::Nothing) };
        if self.role == Role::Server {
            self.rapid_resets += 1;
            if self.rapid_resets > RAPID_RESETS_MAX {
                return Err(error(Fault::ResetFlood, Code::EnhanceYourCalm));
            }
        }
        Ok(Event::Reset { stream: header.stream, tag: stream.tag, code })
    }

    /// Counts a request whose response is complete.
    pub(in crate::http2) fn count_response(&mut self) {
        self.rapid_resets = self.rapid_resets.saturating_sub(1);
    }

    pub(super) fn goaway<'a>(&mut self, header: Header, payload: &[u8]) -> Taken<'a> {
        if header.stream != 0 {
            return Err(protocol(Fault::FrameStream));
        }
        let Some((head, _)) = payload.split_first_chunk::<8>() else {
            return Err(error(Fault::FrameSize, Code::FrameSize));
        };
        self.idle(Fault::EmptyFlood)?;
        let last = u32::from_be_bytes([head[0] & 0x7f, head[1], head[2], head[3]]);
        let code = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
        // GOAWAY may be repeated, with a lower number each time.
        let last = self.goaway.map_or(last, |before| before.min(last));
        self.goaway = Some(last);
        Ok(Event::GoAway { last, code })
    }
}
