//! The transcript of an exchange that may be shown (`--debug`, `--show-failures`), in order and as far as it arrived;
//! bounded.
//!
//! Nothing of this is made, and nothing here is called, unless the plan wants exchanges to be shown (`records`).

use driver::Socket;
use metrics::{Part, PartKind};
use wire::connection::{ConnectionEvent, ProtocolConnection};
use wire::hpack::FieldList;
use wire::http1::BodyLength;

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::exchanges::Attempt;
use crate::scenario_runtime::exchanges::captured_response::CapturedResponse;
use crate::scenario_runtime::exchanges::transcript::{
    Records, SHOWN_BYTES_MAX, SHOWN_PARTS_MAX, lines_of, messages_in, trailers_in,
};
use crate::slab::Key;

/// Most parts of an exchange that is shown if it fails; there are as many as there are users.
const FAILED_PARTS_MAX: usize = 40;
const FAILED_BYTES_MAX: usize = 16 * 1024;
/// Most bytes of an extracted value: a line shows no more.
const TAKEN_BYTES_MAX: usize = 1024;
/// Most bytes of what could not be parsed.
const RAW_BYTES_MAX: usize = 4 * 1024;

impl Attempt {
    pub(in crate::scenario_runtime) fn is_recorded(&self) -> bool {
        self.needs.records != Records::Nothing
    }

    /// Keeps a part, as far as there is room.
    #[cold]
    pub(in crate::scenario_runtime) fn record(&mut self, is_ours: bool, kind: PartKind, bytes: &[u8]) {
        let most = match self.needs.records {
            Records::Nothing => return,
            Records::Failures => (FAILED_PARTS_MAX, FAILED_BYTES_MAX),
            Records::All => (SHOWN_PARTS_MAX, SHOWN_BYTES_MAX),
        };
        let kept = self.kept.get_or_insert_default();
        let is_behind = !kept.head.is_empty();
        let bytes = bytes[..bytes.len().min(most.1)].to_vec();
        kept.record.push(is_behind, Part { is_ours, kind, bytes }, most);
    }

    /// Records a value that was extracted from the response.
    #[cold]
    pub(in crate::scenario_runtime) fn record_taken(&mut self, reported: &[u8]) {
        let bytes = reported[..reported.len().min(TAKEN_BYTES_MAX)].to_vec();
        self.kept.get_or_insert_default().record.taken.push(Part { is_ours: false, kind: PartKind::Taken, bytes });
    }

    /// Keeps what the HTTP/1 parser has consumed, and the event that it made of it.
    #[cold]
    pub(in crate::scenario_runtime) fn keep_response(&mut self, read: &[u8], said: &ConnectionEvent<'_>) {
        if self.head.is_none() {
            self.keep_head(read);
        }
        if !self.is_recorded() {
            return;
        }
        match said {
            ConnectionEvent::Interim { .. } => {
                let head = self.kept.as_mut().map(|kept| std::mem::take(&mut kept.head)).unwrap_or_default();
                self.record(false, PartKind::Head, &head);
            }
            ConnectionEvent::Body { .. } => {
                if let Some(kept) = &mut self.kept {
                    kept.record.framing.clear();
                }
            }
            ConnectionEvent::NeedMore | ConnectionEvent::End { .. } => {
                let is_chunked = self.head.is_some_and(|head| head.body == BodyLength::Chunked);
                let Some(kept) = self.kept.as_mut().filter(|_| is_chunked) else { return };
                let framing = &mut kept.record.framing;
                let room = SHOWN_BYTES_MAX - framing.len().min(SHOWN_BYTES_MAX);
                framing.extend_from_slice(&read[..read.len().min(room)]);
                let is_over = matches!(said, ConnectionEvent::End { .. });
                let trailers = if is_over { trailers_in(framing) } else { Vec::new() };
                if !trailers.is_empty() {
                    self.record(false, PartKind::Trailers, &trailers);
                }
            }
            _ => {}
        }
    }

    /// Records what came next, and could not be parsed.
    #[cold]
    pub(in crate::scenario_runtime) fn record_unread(&mut self, rest: &[u8]) {
        if !self.is_recorded() {
            return;
        }
        let rest = &rest[..rest.len().min(RAW_BYTES_MAX)];
        if self.head.is_none() && self.stream == 0 {
            return self.keep_head(rest);
        }
        let framing = self.kept.as_mut().map(|kept| std::mem::take(&mut kept.record.framing)).unwrap_or_default();
        self.record(false, PartKind::Raw, &[framing.as_slice(), rest].concat());
    }

    /// Records a head, or trailers, of HTTP/2.
    #[cold]
    pub(in crate::scenario_runtime) fn record_fields(&mut self, kind: PartKind, fields: &FieldList) {
        if self.is_recorded() {
            let status = fields.find(b":status").map(|status| [b"HTTP/2 ", status, b"\r\n"].concat());
            let start = status.filter(|_| kind == PartKind::Head).unwrap_or_default();
            self.record(false, kind, &[start, lines_of(fields)].concat());
        }
    }

    /// A message of a call is complete.
    #[cold]
    pub(in crate::scenario_runtime) fn record_message(&mut self) {
        let Some(kept) = &mut self.kept else { return };
        let message = kept.bytes[kept.record.reported.min(kept.bytes.len())..].to_vec();
        kept.record.reported = kept.bytes.len();
        self.record(false, PartKind::Message, &message);
    }

    /// Messages of a call are sent.
    #[cold]
    pub(in crate::scenario_runtime) fn record_framed(&mut self, framed: &[u8]) {
        for message in messages_in(framed) {
            self.record(true, PartKind::Message, &message);
        }
    }
}

impl CapturedResponse {
    /// The received part of an incomplete message of a call.
    pub(in crate::scenario_runtime) fn begun_message(&self) -> &[u8] {
        &self.bytes[self.record.reported.min(self.bytes.len())..]
    }
}

impl ScenarioRuntime {
    /// Records the received part of an incomplete WebSocket message.
    #[cold]
    pub(in crate::scenario_runtime) fn record_begun(&mut self, socket: Socket) {
        let Some(line) = self.layers(socket).and_then(|layers| layers.line.as_ref()) else { return };
        let begun = line.begun().to_vec();
        if !begun.is_empty() {
            self.record_on(socket, false, PartKind::Raw, &begun);
        }
    }

    /// Records something that a connection sent or received for its attempt.
    #[cold]
    pub(in crate::scenario_runtime) fn record_on(
        &mut self,
        socket: Socket,
        is_ours: bool,
        kind: PartKind,
        bytes: &[u8],
    ) {
        if let Some(attempt) = self.recorded_on(socket) {
            attempt.record(is_ours, kind, bytes);
        }
    }

    /// The attempt that has a connection for itself, when its transcript is kept.
    pub(in crate::scenario_runtime) fn recorded_on(&mut self, socket: Socket) -> Option<&mut Attempt> {
        let (Phase::Connect { attempt, .. } | Phase::Response { attempt }) = self.pool.connections.find(socket)?.phase
        else {
            return None;
        };
        self.in_flight.attempts.find(attempt).filter(|attempt| attempt.is_recorded())
    }

    /// Records bytes that broke a connection of many streams.
    #[cold]
    pub(in crate::scenario_runtime) fn record_broken(&mut self, socket: Socket, rest: &[u8]) {
        if !self.in_flight.records {
            return;
        }
        for key in self.in_flight.attempts.keys().collect::<Vec<Key>>() {
            if let Some(attempt) =
                self.in_flight.attempts.find(key).filter(|attempt| attempt.socket == socket && attempt.stream != 0)
            {
                attempt.record_unread(rest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::grpc;

    use super::*;
    use crate::scenario_runtime::PreparedStep;
    use crate::scenario_runtime::exchanges::transcript::Record;

    #[test]
    fn trailers_stand_behind_the_last_chunk() {
        for (framing, trailers) in [
            ("\r\n0\r\nX-Sum: 7\r\n\r\n", "X-Sum: 7\r\n"),
            ("0;a=b\r\nX: 1\r\nY: 2\r\n\r\n", "X: 1\r\nY: 2\r\n"),
            ("\r\n0\r\n\r\n", ""),
            ("0\r\n\r\n", ""),
            ("", ""),
        ] {
            assert_eq!(trailers_in(framing.as_bytes()), trailers.as_bytes(), "{framing:?}");
        }
    }

    #[test]
    fn a_record_is_bounded() {
        let mut record = Record::default();
        let part = |length: usize| Part { is_ours: false, kind: PartKind::Message, bytes: vec![b'x'; length] };
        (0..1_000).for_each(|_| record.push(false, part(1_000), (FAILED_PARTS_MAX, FAILED_BYTES_MAX)));
        let (before, after, left_out) = record.split();
        assert_eq!(before.iter().map(|part| part.bytes.len()).sum::<usize>(), FAILED_BYTES_MAX);
        assert_eq!((after.len(), left_out), (0, 1_000_000 - FAILED_BYTES_MAX as u64));
        let mut record = Record::default();
        (0..1_000).for_each(|_| record.push(true, part(1), (FAILED_PARTS_MAX, FAILED_BYTES_MAX)));
        let (before, after, left_out) = record.split();
        assert_eq!((before.len(), after.len(), left_out), (0, FAILED_PARTS_MAX, 1_000 - FAILED_PARTS_MAX as u64));
    }

    #[test]
    fn messages_come_out_of_their_frames() {
        let mut framed = Vec::new();
        grpc::push_message(b"one", false, &mut framed);
        grpc::push_message(&grpc::gzip(b"two"), true, &mut framed);
        grpc::push_message(b"", false, &mut framed);
        assert_eq!(messages_in(&framed), [&b"one"[..], b"two", b""]);
        assert_eq!(messages_in(&framed[..7]), Vec::<Vec<u8>>::new());
    }

    /// Nothing is kept, rendered or remembered for display unless it is wanted.
    #[test]
    fn a_step_that_nobody_wants_to_see_needs_nothing() {
        for url in ["http://127.0.0.1:1/", "ws://127.0.0.1:1/", "grpc://127.0.0.1:1/", "tcp://127.0.0.1:1"] {
            let data = (!url.starts_with("http")).then(|| "x".to_owned());
            let until = url.starts_with("tcp").then(|| "x".to_owned());
            let flags = plan::Flags { url: Some(url.to_owned()), data, until, ..plan::Flags::default() };
            let plain = flags.plan().expect("a plan");
            for (plan, records) in [
                (plain.clone(), Records::Nothing),
                (plain.clone().for_failures(), Records::Failures),
                (plain.for_debug(), Records::All),
            ] {
                let scenario = &plan.scenarios[0];
                let step = PreparedStep::new(0, &scenario.steps[0], &scenario.targets[0], plan.capture_options);
                let is_kept = records != Records::Nothing;
                assert_eq!((step.needs.records, step.needs.head), (records, is_kept), "{url}");
                assert_eq!((step.needs.body > 0, step.last_needs.head), (is_kept, records == Records::All), "{url}");
                assert_eq!(step.shown.is_some(), records == Records::All, "{url}");
                let said = step.messaging.as_ref().map(|messaging| messaging.said.is_some());
                assert_eq!(said, step.messaging.as_ref().map(|_| is_kept), "{url}");
            }
        }
    }
}
