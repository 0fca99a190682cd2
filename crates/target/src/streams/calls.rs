//! gRPC calls on the streams of a connection.

use std::collections::{BTreeSet, HashMap, VecDeque};

use pacing::Nanos;
use wire::grpc::{self, Status};
use wire::hpack::FieldList;

use super::{AHEAD_BYTES_MAX, Streams, TURN_BYTES};
use crate::greeter::{Call, CallEnding, Zips};
use crate::routes::Route;
use crate::tools::Tools;

/// Maximum bytes that all calls of a connection store for their client.
const HELD_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Pieces from this size on cause a check of the stored bytes.
const LARGE_BYTES: usize = 1024;

/// The calls of a connection.
#[derive(Debug, Default)]
pub(super) struct Calls {
    live: HashMap<u32, Call>,
    /// Calls with something to send, which take turns.
    ready: VecDeque<u32>,
    /// Instants for which timers are set.
    timers: BTreeSet<Nanos>,
}

impl Calls {
    pub(super) fn has(&self, number: u32) -> bool {
        self.live.contains_key(&number)
    }

    /// Bytes that all calls store for their clients.
    fn held_bytes(&self) -> usize {
        self.live.values().map(Call::held_bytes).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.live.remove(&number);
    }

    pub(super) fn clear(&mut self) {
        self.live.clear();
        self.ready.clear();
    }
}

impl Streams {
    /// Handles the beginning of a request. False when it is no gRPC call.
    pub(super) fn accept_call(
        &mut self,
        number: u32,
        fields: &FieldList,
        is_last: bool,
        at: Nanos,
        tools: &mut Tools,
    ) -> bool {
        let is_call =
            fields.find(b":method") == Some(b"POST") && fields.find(b"content-type").is_some_and(grpc::is_content_type);
        if !is_call {
            return false;
        }
        tools.stats().count(Route::Grpc.path("POST"));
        self.requests = self.requests.saturating_add(1);
        let encoding = fields.find(b"grpc-encoding").unwrap_or(b"identity");
        if encoding != b"identity" && encoding != b"gzip" {
            self.refuse(number, &CallEnding::new(Status::UNIMPLEMENTED, "only gzip is understood"), tools);
            return true;
        }
        let accepts = fields
            .find(b"grpc-accept-encoding")
            .is_some_and(|list| list.split(|byte| *byte == b',').any(|name| name.trim_ascii() == b"gzip"));
        let zips = Zips { requests: encoding == b"gzip", responses: encoding == b"gzip" && accepts };
        let timeout = fields.find(b"grpc-timeout").and_then(grpc::parse_timeout);
        let deadline = timeout.map_or(Nanos::NEVER, |timeout| at + timeout.into());
        match Call::new(fields.find(b":path").unwrap_or_default(), zips, deadline) {
            None => self.refuse(number, &CallEnding::new(Status::UNIMPLEMENTED, "no such method"), tools),
            Some(call) => {
                self.calls.live.insert(number, call);
                self.take_messages(number, &[], is_last, at, tools);
            }
        }
        true
    }

    /// Ends a call that has not begun.
    fn refuse(&mut self, number: u32, ending: &CallEnding, tools: &Tools) {
        let status = ending.status.index().to_string();
        let message = grpc::percent_encode(&ending.message);
        let mut fields = vec![(&b"content-type"[..], grpc::CONTENT_TYPE), (b"grpc-status", status.as_bytes())];
        if !message.is_empty() {
            fields.push((b"grpc-message", &message));
        }
        if ending.status == Status::UNIMPLEMENTED {
            fields.push((b"grpc-accept-encoding", b"identity,gzip"));
        }
        self.machine.response(number, 200, fields.into_iter(), true, &mut self.out);
        tools.stats().statuses[200].add(1);
    }

    /// Handles bytes of messages, and the end of the request if they are the last.
    pub(super) fn take_messages(&mut self, number: u32, bytes: &[u8], is_last: bool, at: Nanos, tools: &mut Tools) {
        let Some(call) = self.calls.live.get_mut(&number) else { return };
        if !bytes.is_empty() {
            call.take(bytes, at);
        }
        if is_last {
            call.request_ended(at);
        }
        let is_too_much = bytes.len() >= LARGE_BYTES && self.calls.held_bytes() > HELD_BYTES_MAX;
        if is_too_much && let Some(call) = self.calls.live.get_mut(&number) {
            call.end(Status::RESOURCE_EXHAUSTED, "the calls of this connection keep more than 64 MiB");
        }
        self.arm(number, tools);
    }

    /// Handles calls whose timer has expired.
    pub(super) fn calls_due(&mut self, now: Nanos, tools: &mut Tools) {
        if self.calls.timers.first().is_none_or(|first| *first > now) {
            return;
        }
        self.calls.timers = self.calls.timers.split_off(&(now + Nanos(1)));
        let mut due: Vec<u32> =
            self.calls.live.iter().filter(|(_, call)| call.next() <= now).map(|(number, _)| *number).collect();
        // A fixed order, independent of the hash table.
        due.sort_unstable();
        for number in due {
            if let Some(call) = self.calls.live.get_mut(&number) {
                call.step(now);
            }
            self.arm(number, tools);
        }
        let next = self.calls.live.values().map(Call::next).min().unwrap_or(Nanos::NEVER);
        self.wake_at(next, tools);
    }

    /// Sets a timer, unless an earlier one already covers the instant.
    fn wake_at(&mut self, next: Nanos, tools: &mut Tools) {
        if next != Nanos::NEVER && self.calls.timers.first().is_none_or(|first| next < *first) {
            self.calls.timers.insert(next);
            tools.timers.insert(next, self.socket);
        }
    }

    /// Schedules the call for when it has something to send: now, or when that is due.
    fn arm(&mut self, number: u32, tools: &mut Tools) {
        let Some(call) = self.calls.live.get_mut(&number) else { return };
        if (call.ending.is_some() || call.from < call.outbox.len()) && !self.calls.ready.contains(&number) {
            self.calls.ready.push_back(number);
        }
        let next = call.next();
        self.wake_at(next, tools);
    }

    /// Sends responses in turns, as far as windows and the peer allow.
    pub(super) fn pump_calls(&mut self, now: Nanos, tools: &mut Tools) {
        let mut without_room = 0;
        while self.buffers_unsent < 2 && self.out.len() < AHEAD_BYTES_MAX && without_room < self.calls.ready.len() {
            let Some(number) = self.calls.ready.pop_front() else { return };
            let Some(call) = self.calls.live.get_mut(&number) else { continue };
            let left = call.outbox.len() - call.from;
            if !call.has_head && (left > 0 || call.ending.is_none()) {
                call.has_head = true;
                let mut fields = vec![(&b"content-type"[..], grpc::CONTENT_TYPE)];
                if call.is_zipping() {
                    fields.push((b"grpc-encoding", b"gzip"));
                }
                self.machine.response(number, 200, fields.into_iter(), false, &mut self.out);
                tools.stats().statuses[200].add(1);
            }
            let count = self.machine.room(number).min(left).min(TURN_BYTES);
            if left > 0 && count == 0 {
                without_room += 1;
                self.calls.ready.push_back(number);
                continue;
            }
            without_room = 0;
            if count > 0 {
                self.machine.data(number, &call.outbox[call.from..call.from + count], false, &mut self.out);
                call.from += count;
            }
            if count < left {
                self.calls.ready.push_back(number);
                continue;
            }
            match call.ending.take() {
                Some(ending) => {
                    let has_head = call.has_head;
                    self.calls.live.remove(&number);
                    if has_head {
                        self.end_call(number, &ending);
                    } else {
                        self.refuse(number, &ending, tools);
                    }
                }
                None => {
                    // More of a long response may be due.
                    call.step(now);
                    self.arm(number, tools);
                }
            }
        }
    }

    fn end_call(&mut self, number: u32, ending: &CallEnding) {
        let status = ending.status.index().to_string();
        let message = grpc::percent_encode(&ending.message);
        let message = (!message.is_empty()).then_some((&b"grpc-message"[..], &message[..]));
        let fields = [(&b"grpc-status"[..], status.as_bytes())].into_iter().chain(message);
        self.machine.trailers(number, fields, &mut self.out);
    }

    /// The peer has ended its side: calls whose responses wait for a window can never send them.
    pub(super) fn drop_deaf_calls(&mut self) {
        let machine = &mut self.machine;
        self.calls.live.retain(|number, call| {
            let left = call.outbox.len() - call.from;
            call.ending.is_none() && call.next() != Nanos::NEVER && (left == 0 || machine.room(*number) > 0)
        });
    }
}
