//! The checks of a response by what is captured of it, and the samples of those that fail.

use driver::Socket;
use metrics::{Class, Failure, Outcome, Part, PartKind, Row, SAMPLE_BODY_BYTES_MAX, Sample};
use pacing::Nanos;
use plan::{CHECKED_BODY_BYTES_MAX, Checks, HttpVersion, JSON_MEMORY_BYTES_MAX, Protocol, Request};
use wire::coding::Undecoded;
use wire::hpack::FieldList;
use wire::http1;

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::exchanges::captured_response::{CapturedResponse, SHARE_MAX, SHOWN_BODY_BYTES_MAX};
use crate::scenario_runtime::exchanges::grpc::CallState;
use crate::scenario_runtime::exchanges::redirect_state::RedirectState;
use crate::scenario_runtime::exchanges::step::{PreparedCall, PreparedChecks, PreparedStep, http2_fields};
use crate::scenario_runtime::exchanges::transcript::lines_of;
use crate::scenario_runtime::exchanges::{Attempt, Exchange};
use crate::scenario_runtime::users::variables::secrets::hide;
use crate::slab::Key;

/// Most captured bytes of a head: what the HTTP/1 parser accepts.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Most captured bytes of concurrent responses on one connection, beyond what each of them has in any case.
const KEPT_ON_CONNECTION_MAX: usize = 24 * 1024 * 1024;
/// What the responses on one connection have together in any case, each its share of it.
const KEPT_IN_ANY_CASE: usize = 8 * 1024 * 1024;
/// Least such share; the most is [`SHARE_MAX`].
const SHARE_MIN: usize = 4 * 1024;
impl Attempt {
    /// The head is complete: each field is on one line from here on.
    #[cold]
    pub(in crate::scenario_runtime) fn unfold_head(&mut self) {
        if let Some(kept) = &mut self.kept {
            http1::unfold(&mut kept.head);
        }
    }

    /// Keeps what the checks need of a body, on a connection with this much room for it.
    pub(in crate::scenario_runtime) fn keep_within(&mut self, body: &[u8], room: Option<usize>) {
        self.body_bytes = self.body_bytes.saturating_add(body.len() as u32);
        let most = self.needs.body as usize;
        if most > 0 {
            self.kept.get_or_insert_default().keep_within(body, most, room);
        }
    }

    /// Keeps more of a head.
    #[cold]
    pub(in crate::scenario_runtime) fn keep_head(&mut self, bytes: &[u8]) {
        let kept = self.kept.get_or_insert_default();
        let room = HEAD_BYTES_MAX - kept.head.len().min(HEAD_BYTES_MAX);
        kept.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Drops the head of an interim response.
    pub(in crate::scenario_runtime) fn forget_head(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.head.clear();
        }
    }

    /// Keeps the head of an HTTP/2 response, in the form of HTTP/1.
    #[cold]
    pub(in crate::scenario_runtime) fn keep_fields(&mut self, status: u16, fields: &FieldList) {
        let start = format!("HTTP/2 {status}\r\n").into_bytes();
        self.forget_head();
        self.keep_head(&[start, lines_of(fields), b"\r\n".to_vec()].concat());
    }
}

impl Attempt {
    /// Keeps the trailers after a body: checks search them with the fields of the head.
    #[cold]
    pub(in crate::scenario_runtime) fn keep_trailers(&mut self, fields: &FieldList) {
        if let Some(kept) = &mut self.kept {
            kept.head_bytes = kept.head.len();
        }
        for (name, value) in fields.iter() {
            self.keep_head(&[name, b": ", value, b"\r\n"].concat());
        }
    }
}

impl PreparedChecks {
    /// The outcome of a response with a successful status.
    #[cold]
    pub(in crate::scenario_runtime) fn response_outcome(&self, kept: Option<&mut CapturedResponse>) -> Outcome {
        self.outcome(kept, None)
    }

    /// The same for a call.
    #[cold]
    pub(in crate::scenario_runtime) fn call_outcome(
        &self,
        kept: Option<&mut CapturedResponse>,
        call: &PreparedCall,
    ) -> Outcome {
        self.outcome(kept, Some(call))
    }

    fn outcome(&self, kept: Option<&mut CapturedResponse>, call: Option<&PreparedCall>) -> Outcome {
        let mut nothing = CapturedResponse::default();
        let kept = kept.unwrap_or(&mut nothing);
        match check_all(&self.checks, kept, call) {
            Ok(()) => Outcome::Succeeded,
            Err((failure, reason)) => {
                kept.reason = reason;
                Outcome::Failed(failure)
            }
        }
    }
}

fn check_all(checks: &Checks, kept: &CapturedResponse, call: Option<&PreparedCall>) -> Result<(), (Failure, String)> {
    if kept.is_crowded {
        let most = KEPT_ON_CONNECTION_MAX;
        return Err((Failure::BodyLimit, format!("more than {most} bytes of answers on one connection at a time")));
    }
    checks.check_head(http1::fields(&kept.head)).map_err(|reason| (Failure::Check, reason))?;
    if !checks.want_body() {
        return Ok(());
    }
    if kept.is_too_large {
        return Err((Failure::BodyLimit, format!("more than {CHECKED_BODY_BYTES_MAX} bytes")));
    }
    let coding = || kept.codings().reported();
    let body = kept.decoded(CHECKED_BODY_BYTES_MAX).map_err(|undecoded| match undecoded {
        Undecoded::TooLarge => (Failure::BodyLimit, format!("more than {CHECKED_BODY_BYTES_MAX} bytes")),
        Undecoded::Unknown => (Failure::Check, format!("{} is not known", coding())),
        Undecoded::Broken => (Failure::Check, format!("the body is not as {} says", coding())),
    })?;
    if let Some(call) = call {
        checks.check_text(&body).map_err(|reason| (Failure::Check, reason))?;
        return check_messages(checks, kept, call);
    }
    if checks.json_is_too_large(&body) {
        return Err(json_limit());
    }
    checks.check_response(kept.field(b"content-type"), &body).map_err(|reason| (Failure::Check, reason))
}

/// The response to a call is Protobuf: checks on JSON use its messages as JSON, for a stream of responses a list.
fn check_messages(checks: &Checks, kept: &CapturedResponse, call: &PreparedCall) -> Result<(), (Failure, String)> {
    let Some(check) = checks.json.first().or(checks.absent.json.first()) else { return Ok(()) };
    let messages = call.types.as_ref().and_then(|types| kept.messages(types, call.responses_stream));
    let other = || (Failure::Check, format!("--expect-json {check}: a message is not what the method gives"));
    let json = messages.ok_or_else(other)?;
    if checks.json_is_too_large(&json) {
        return Err(json_limit());
    }
    checks.check_json(&json).map_err(|reason| (Failure::Check, reason))
}

fn json_limit() -> (Failure, String) {
    (Failure::BodyLimit, format!("JSON of more than {JSON_MEMORY_BYTES_MAX} bytes in memory"))
}

impl ScenarioRuntime {
    /// How much of its body an attempt may keep on a connection that it shares, when `more` bytes come. `None`: as much
    /// as it needs.
    #[inline]
    pub(in crate::scenario_runtime) fn kept_room(&mut self, key: Key, more: usize) -> Option<usize> {
        let attempt = self.in_flight.attempts.find(key).filter(|attempt| attempt.needs.body > 0)?;
        let held = attempt.kept.as_ref().map_or(0, |kept| kept.held());
        let share = (KEPT_IN_ANY_CASE / self.work.streams.max(1) as usize).clamp(SHARE_MIN, SHARE_MAX);
        if held + more.min(attempt.needs.body as usize) <= share {
            return None;
        }
        let socket = attempt.socket;
        Some(self.crowded_room(key, socket, share))
    }

    /// Whether there is room to capture the head of a response on a stream, if it is needed.
    #[inline]
    pub(in crate::scenario_runtime) fn has_room_for_head(&mut self, key: Key, fields: &FieldList) -> bool {
        let Some(attempt) = self.in_flight.attempts.find(key).filter(|attempt| attempt.needs.head) else { return true };
        let more = fields.bytes();
        if more <= SHARE_MIN {
            return true;
        }
        let socket = attempt.socket;
        self.crowded_room(key, socket, SHARE_MIN) >= more
    }

    #[cold]
    fn crowded_room(&mut self, key: Key, socket: Socket, share: usize) -> usize {
        let of_connection = self.in_flight.attempts.values().filter(|attempt| attempt.socket == socket);
        let all: usize = of_connection.filter_map(|attempt| Some(attempt.kept.as_ref()?.held())).sum();
        let own =
            self.in_flight.attempts.find(key).and_then(|attempt| Some(attempt.kept.as_ref()?.held())).unwrap_or(0);
        share.max(KEPT_ON_CONNECTION_MAX.saturating_sub(all - own))
    }

    /// Keeps a failed exchange, while few were kept, and every exchange of a step that is shown.
    #[inline]
    pub(in crate::scenario_runtime) fn keep_sample(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&Attempt>,
        outcome: Outcome,
        done: Nanos,
    ) {
        if self.in_flight.records {
            self.make_sample(exchange, attempt, outcome, done);
        }
    }

    /// Keeps what the reports of other tools show.
    #[cold]
    pub(in crate::scenario_runtime) fn keep_more(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&Attempt>,
        outcome: Outcome,
        done: Nanos,
    ) {
        let is_answered =
            outcome == Outcome::Succeeded || matches!(Class::from_outcome(outcome), Class::FailedAnswered);
        let attempt = attempt.filter(|attempt| attempt.was_sent());
        let (sent, length) = attempt.map_or((done, 0), |attempt| (attempt.sent, u64::from(attempt.body_bytes)));
        let first_byte = attempt.map_or(done, |attempt| attempt.first_byte.min(done));
        if self.work.capture_options.bodies && is_answered {
            self.unreported.tool_details.reading.record(done.since(first_byte).0);
            self.unreported.tool_details.before.record(sent.since(exchange.intended).0);
            let first = *self.in_flight.first_length.get_or_insert(length);
            self.unreported.tool_details.first_length = self.unreported.tool_details.first_length.max(first);
            self.unreported.tool_details.lengths_differ += u64::from(length != first);
        }
        if self.work.capture_options.rows {
            let row = Row {
                start_ns: exchange.intended.since(self.instants.started).0,
                wait_ns: sent.since(exchange.taken_up).0,
                first_byte_ns: first_byte.since(sent).0,
                service_ns: done.since(sent).0,
                response_ns: done.since(exchange.intended).0,
                bytes: length,
                status: attempt.and_then(|one| one.head.map(|head| head.status).or(one.status)).unwrap_or(0),
                is_answered,
            };
            self.unreported.tool_details.keep_row(row);
        }
    }

    #[cold]
    fn make_sample(&mut self, exchange: &Exchange, attempt: Option<&Attempt>, outcome: Outcome, done: Nanos) {
        let step = &self.in_flight.steps[exchange.step as usize];
        let is_wanted = step.is_shown
            || (matches!(outcome, Outcome::Failed(_))
                && self.work.capture_options.failures
                && self.unreported.wants_samples());
        if !is_wanted {
            return;
        }
        let mut secrets = self.secrets_of(exchange.user);
        let step = &self.in_flight.steps[exchange.step as usize];
        let nothing = CapturedResponse::default();
        let kept = attempt.and_then(|attempt| attempt.kept.as_deref()).unwrap_or(&nothing);
        let sent = attempt.map(|attempt| attempt.sent).filter(|sent| *sent != Nanos::NEVER);
        let first = attempt.map(|attempt| attempt.first_byte).filter(|first| *first != Nanos::NEVER);
        // What was never sent is not shown as sent.
        let is_explained = matches!(outcome, Outcome::Failed(Failure::NotFilled | Failure::NotRecorded));
        let is_unsent = attempt.is_none() && (is_explained || outcome == Outcome::Failed(Failure::LoopLimit));
        let (parts, left_out) = if is_unsent { (Vec::new(), 0) } else { self.parts_of(step, attempt, kept) };
        secrets.extend_from_slice(&kept.record.secrets);
        let mut sample = Sample {
            at_ns: done.since(self.instants.started).0,
            step: step.series.place(),
            outcome,
            status: attempt.and_then(|attempt| attempt.head.map(|head| head.status).or(attempt.status)).unwrap_or(0),
            reason: if is_explained { self.in_flight.why.clone() } else { kept.reason.clone() },
            place: step.place.to_string(),
            way: step.redirect_state.as_deref().map(RedirectState::reported).unwrap_or_default(),
            parts,
            left_out,
            wait_ns: sent.map(|sent| sent.since(exchange.intended).0),
            first_byte_ns: sent.zip(first).map(|(sent, first)| first.since(sent).0),
            service_ns: sent.map(|sent| done.since(sent).0),
            is_shown: step.is_shown,
        };
        hide(&secrets, &mut sample);
        self.unreported.keep_sample(sample);
    }

    /// What was sent and received, and the count of bytes not shown.
    fn parts_of(&self, step: &PreparedStep, attempt: Option<&Attempt>, kept: &CapturedResponse) -> (Vec<Part>, u64) {
        let most = if step.is_shown { SHOWN_BODY_BYTES_MAX } else { SAMPLE_BODY_BYTES_MAX };
        let mut left_out = 0;
        let mut part = |is_ours, kind, bytes: &[u8]| {
            left_out += bytes.len().saturating_sub(most) as u64;
            (!bytes.is_empty()).then(|| Part { is_ours, kind, bytes: bytes[..bytes.len().min(most)].to_vec() })
        };
        let origin = &self.pool.origins[usize::from(step.origin)];
        let mut parts = Vec::new();
        if let Some(request) = step.shown.as_deref().filter(|_| step.messaging.is_none()) {
            let is_http2 = attempt.is_some_and(|attempt| attempt.stream != 0) || origin.protocol() == Protocol::Http2;
            let head = if is_http2 { head_over_http2(request, origin.tls.is_some()) } else { head_of(request) };
            parts.push(Part { is_ours: true, kind: PartKind::Head, bytes: head });
            parts.extend(part(true, PartKind::Body, &request.body));
        }
        let (before, after, more) = kept.record.split();
        parts.extend_from_slice(before);
        if !kept.head.is_empty() {
            let end = if kept.head_bytes > 0 { kept.head_bytes } else { kept.head.len() };
            parts.push(Part { is_ours: false, kind: PartKind::Head, bytes: kept.head[..end].to_vec() });
        }
        let is_call = attempt.and_then(|attempt| attempt.call.as_ref()).is_some_and(CallState::is_grpc);
        let last = match (is_call, origin.protocol()) {
            (true, _) => part(false, PartKind::Raw, kept.begun_message()),
            (false, Protocol::Tcp | Protocol::Custom) => part(false, PartKind::Message, &kept.bytes),
            (false, Protocol::WebSocket) => None,
            (false, _) => {
                parts.extend(part(false, PartKind::Body, &kept.shown()));
                None
            }
        };
        parts.extend_from_slice(after);
        parts.extend(last);
        parts.extend_from_slice(&kept.record.taken);
        let unkept = attempt.map_or(0, |attempt| u64::from(attempt.body_bytes)).saturating_sub(kept.bytes.len() as u64);
        (parts, left_out + more + if kept.is_too_large { unkept } else { 0 })
    }
}

/// The head of an HTTP/1 request.
fn head_of(request: &Request) -> Vec<u8> {
    let version = match request.version {
        HttpVersion::Http10 => "HTTP/1.0",
        HttpVersion::Http11 => "HTTP/1.1",
    };
    let mut head = format!("{} {} {version}\r\n", request.method, request.path).into_bytes();
    for (name, value) in &request.headers {
        head.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// The head of an HTTP/2 request: its request line, and all other fields.
fn head_over_http2(request: &Request, is_tls: bool) -> Vec<u8> {
    let mut head = format!("{} {} HTTP/2\r\n", request.method, request.path).into_bytes();
    for (name, value) in http2_fields(&request.method, &request.path, &request.headers, is_tls) {
        if name != b":method" && name != b":path" {
            head.extend_from_slice(&[&name, &b": "[..], &value, b"\r\n"].concat());
        }
    }
    head.extend_from_slice(b"\r\n");
    head
}
