//! What is kept of an answer: for the checks, for redirects, and to show what failed.

use std::borrow::Cow;

use driver::Socket;
use metrics::{Class, Failure, Outcome, Row, SAMPLE_BODY_BYTES_MAX, SAMPLES_MAX, Sample};
use pacing::Nanos;
use plan::{CHECKED_BODY_BYTES_MAX, Checks, JSON_MEMORY_BYTES_MAX};
use wire::coding::{Undecoded, decode, within_chunks};
use wire::hpack::FieldList;
use wire::http1;

use super::World;
use super::exchanges::{Attempt, Exchange};
use super::hops::Steps;
use super::step::PreparedChecks;
use crate::slab::{Key, Slab};

/// The most of a head that is kept: what the machine of HTTP/1 takes.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The most that is shown of a body.
const SHOWN_BODY_BYTES_MAX: usize = 64 * 1024;

/// The most that is kept of the answers on one connection at a time, beyond what each of them has in any case.
const KEPT_ON_CONNECTION_MAX: usize = 24 * 1024 * 1024;
/// What the answers on one connection have together in any case, each its share of it.
const KEPT_IN_ANY_CASE: usize = 8 * 1024 * 1024;
/// Such a share lies between these.
const SHARE_MIN: usize = 4 * 1024;
const SHARE_MAX: usize = 1024 * 1024;
/// The smallest buffer of a body.
const KEPT_BYTES_MIN: usize = 256;

/// What is kept of an answer.
#[derive(Default)]
pub(crate) struct KeptBody {
    /// Lines of HTTP/1, or what would be.
    pub(crate) head: Vec<u8>,
    pub(crate) status: u16,
    pub(crate) bytes: Vec<u8>,
    /// It had more than may be kept: what there is, is its beginning.
    pub(crate) is_too_large: bool,
    /// Others on the connection left no room for it.
    pub(crate) is_crowded: bool,
    /// What failed.
    pub(crate) reason: String,
}

impl KeptBody {
    pub(super) fn keep(&mut self, body: &[u8], room: usize) {
        if self.is_too_large {
            return;
        }
        let length = self.bytes.len();
        let count = body.len().min(room - length.min(room));
        if length + count > self.bytes.capacity() {
            // Large ones move seldom: what they leave behind stays with the process for a while.
            let growth = if length >= SHARE_MAX { 4 } else { 2 };
            let capacity = (self.bytes.capacity() * growth).max(length + count).max(KEPT_BYTES_MIN).min(room);
            self.bytes.reserve_exact(capacity.max(length + count) - length);
        }
        self.bytes.extend_from_slice(&body[..count]);
        if count < body.len() {
            self.cut();
        }
    }

    /// The same where others on the connection leave so much room.
    #[inline]
    pub(super) fn keep_within(&mut self, body: &[u8], most: usize, room: Option<usize>) {
        self.keep(body, room.map_or(most, |room| room.min(most)));
        self.is_crowded |= self.is_too_large && room.is_some_and(|room| room < most);
    }

    /// There is more than may be kept. Nobody looks at a part of it but a person.
    #[cold]
    fn cut(&mut self) {
        self.is_too_large = true;
        if self.bytes.len() > SHOWN_BODY_BYTES_MAX {
            self.bytes.truncate(SHOWN_BODY_BYTES_MAX);
            self.bytes.shrink_to_fit();
        }
    }

    /// The memory that it takes.
    fn held(&self) -> usize {
        self.bytes.len() + self.head.len()
    }

    /// What the fields of a name say, as one list.
    fn list(&self, name: &[u8]) -> Vec<u8> {
        let fields = http1::fields(&self.head).filter(|(known, _)| known.eq_ignore_ascii_case(name));
        fields.map(|(_, value)| value).collect::<Vec<_>>().join(&b',')
    }

    /// The codings of the message, and those of what it carries; the last is to come off first.
    fn codings(&self) -> Codings {
        let of_message = self.list(b"transfer-encoding");
        Codings { of_message: within_chunks(&of_message).to_vec(), of_content: self.list(b"content-encoding") }
    }

    /// The body without its codings.
    fn decoded(&self, most: usize) -> Result<Cow<'_, [u8]>, Undecoded> {
        let all = self.codings().all();
        if all.trim_ascii().is_empty() || self.bytes.is_empty() {
            return Ok(Cow::Borrowed(&self.bytes));
        }
        decode(&all, &self.bytes, most).map(Cow::Owned)
    }
}

/// What was done to a body before it was sent.
struct Codings {
    of_message: Vec<u8>,
    of_content: Vec<u8>,
}

impl Codings {
    /// In the order in which they were put on.
    fn all(&self) -> Vec<u8> {
        [&self.of_content[..], &self.of_message].join(&b',')
    }

    /// The fields and what they say.
    fn told(&self) -> String {
        let fields = [("Content-Encoding", &self.of_content), ("Transfer-Encoding", &self.of_message)];
        let told = fields.iter().filter(|(_, value)| !value.is_empty());
        told.map(|(name, value)| format!("{name} {}", String::from_utf8_lossy(value))).collect::<Vec<_>>().join(", ")
    }
}

impl Attempt {
    /// The head is complete: each field is in one line from here on.
    #[cold]
    pub(super) fn unfold_head(&mut self) {
        if let Some(kept) = &mut self.kept {
            http1::unfold(&mut kept.head);
        }
    }

    /// Keeps what the checks need of a body, on a connection that has so much room for it.
    pub(super) fn keep_within(&mut self, body: &[u8], room: Option<usize>) {
        self.body_bytes = self.body_bytes.saturating_add(body.len() as u32);
        let most = self.needs.body as usize;
        if most > 0 {
            self.kept.get_or_insert_default().keep_within(body, most, room);
        }
    }

    /// More of a head.
    #[cold]
    pub(super) fn keep_head(&mut self, bytes: &[u8]) {
        let kept = self.kept.get_or_insert_default();
        let room = HEAD_BYTES_MAX - kept.head.len().min(HEAD_BYTES_MAX);
        kept.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// An interim answer is none.
    pub(super) fn forget_head(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.head.clear();
        }
    }

    /// The head of an answer that failed: as much of it as came last.
    #[cold]
    pub(super) fn keep_failed_head(&mut self, bytes: &[u8]) {
        self.keep_head(bytes);
        self.needs.body = self.needs.body.max(SAMPLE_BODY_BYTES_MAX as u32);
    }

    /// A head of HTTP/2, in the form of HTTP/1.
    #[cold]
    pub(super) fn keep_fields(&mut self, status: u16, fields: &FieldList) {
        let mut head = format!("HTTP/2 {status}\r\n").into_bytes();
        for (name, value) in fields.iter().filter(|(name, _)| name.first() != Some(&b':')) {
            head.extend_from_slice(&[name, b": ", value, b"\r\n"].concat());
        }
        head.extend_from_slice(b"\r\n");
        self.forget_head();
        if self.needs.head { self.keep_head(&head) } else { self.keep_failed_head(&head) }
    }
}

impl Attempt {
    /// The fields behind a body: looked for with those of the head.
    #[cold]
    pub(super) fn keep_trailers(&mut self, fields: &FieldList) {
        for (name, value) in fields.iter() {
            self.keep_head(&[name, b": ", value, b"\r\n"].concat());
        }
    }
}

/// A head whose status is no success, by the plan or by what is usual: what failed is shown to whoever asks.
#[inline]
pub(super) fn is_bad_head(status: u16, attempt: &Attempt, exchanges: &mut Slab<Exchange>, steps: &Steps) -> bool {
    status >= 400
        || (attempt.needs.judges_status
            && exchanges
                .find(attempt.exchange)
                .is_some_and(|exchange| !steps[exchange.step as usize].checks.contains_status(status)))
}

impl PreparedChecks {
    /// What is thought of an answer whose status is a success.
    #[cold]
    pub(super) fn of_answer(&self, kept: Option<&mut KeptBody>) -> Outcome {
        let mut nothing = KeptBody::default();
        let kept = kept.unwrap_or(&mut nothing);
        match look(&self.checks, kept) {
            Ok(()) => Outcome::Succeeded,
            Err((failure, reason)) => {
                kept.reason = reason;
                Outcome::Failed(failure)
            }
        }
    }
}

fn look(checks: &Checks, kept: &KeptBody) -> Result<(), (Failure, String)> {
    if kept.is_crowded {
        let most = KEPT_ON_CONNECTION_MAX;
        return Err((Failure::BodyLimit, format!("more than {most} bytes of answers on one connection at a time")));
    }
    checks.look_at_head(http1::fields(&kept.head)).map_err(|reason| (Failure::Check, reason))?;
    if !checks.want_body() {
        return Ok(());
    }
    if kept.is_too_large {
        return Err((Failure::BodyLimit, format!("more than {CHECKED_BODY_BYTES_MAX} bytes")));
    }
    let coding = || kept.codings().told();
    let body = kept.decoded(CHECKED_BODY_BYTES_MAX).map_err(|undecoded| match undecoded {
        Undecoded::TooLarge => (Failure::BodyLimit, format!("more than {CHECKED_BODY_BYTES_MAX} bytes")),
        Undecoded::Unknown => (Failure::Check, format!("{} is not known", coding())),
        Undecoded::Broken => (Failure::Check, format!("the body is not as {} says", coding())),
    })?;
    if checks.json_is_too_large(&body) {
        return Err((Failure::BodyLimit, format!("JSON of more than {JSON_MEMORY_BYTES_MAX} bytes in memory")));
    }
    checks.look_at_body(&body).map_err(|reason| (Failure::Check, reason))
}

impl World {
    /// How much of its body an attempt may keep on a connection that it shares, when so much more comes. `None`: as much as it needs.
    #[inline]
    pub(super) fn kept_room(&mut self, key: Key, more: usize) -> Option<usize> {
        let attempt = self.attempts.find(key).filter(|attempt| attempt.needs.body > 0)?;
        let held = attempt.kept.as_ref().map_or(0, |kept| kept.held());
        let share = (KEPT_IN_ANY_CASE / self.work.streams.max(1) as usize).clamp(SHARE_MIN, SHARE_MAX);
        if held + more.min(attempt.needs.body as usize) <= share {
            return None;
        }
        let socket = attempt.socket;
        Some(self.crowded_room(key, socket, share))
    }

    /// The head of an answer on a stream can be kept, if that is needed.
    #[inline]
    pub(super) fn has_room_for_head(&mut self, key: Key, fields: &FieldList) -> bool {
        let Some(attempt) = self.attempts.find(key).filter(|attempt| attempt.needs.head) else { return true };
        let more = fields.bytes();
        if more <= SHARE_MIN {
            return true;
        }
        let socket = attempt.socket;
        self.crowded_room(key, socket, SHARE_MIN) >= more
    }

    #[cold]
    fn crowded_room(&mut self, key: Key, socket: Socket, share: usize) -> usize {
        let of_connection = self.attempts.values().filter(|attempt| attempt.socket == socket);
        let all: usize = of_connection.filter_map(|attempt| Some(attempt.kept.as_ref()?.held())).sum();
        let own = self.attempts.find(key).and_then(|attempt| Some(attempt.kept.as_ref()?.held())).unwrap_or(0);
        share.max(KEPT_ON_CONNECTION_MAX.saturating_sub(all - own))
    }

    /// Keeps an answer that failed, as long as few were kept, and every answer of a step that is shown.
    #[inline]
    pub(super) fn keep_sample(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&Attempt>,
        outcome: Outcome,
        done: Nanos,
    ) {
        if outcome == Outcome::Succeeded && self.is_simple {
            return;
        }
        let is_shown = self.steps[exchange.step as usize].is_shown;
        let is_failed_answer = matches!(
            outcome,
            Outcome::Failed(
                Failure::Status
                    | Failure::CallHttp(_)
                    | Failure::Check
                    | Failure::BodyLimit
                    | Failure::Redirect
                    | Failure::GrpcStatus(_)
                    | Failure::WebSocketClose(_)
            )
        );
        if is_shown || (is_failed_answer && self.seen.wants_samples()) {
            self.make_sample(exchange, attempt, outcome, done);
        }
    }

    /// Keeps what the reports of other tools show.
    #[cold]
    pub(super) fn keep_more(&mut self, exchange: &Exchange, attempt: Option<&Attempt>, outcome: Outcome, done: Nanos) {
        let is_answered = outcome == Outcome::Succeeded || matches!(Class::of(outcome), Class::FailedAnswered);
        let attempt = attempt.filter(|attempt| attempt.was_sent());
        let (sent, length) = attempt.map_or((done, 0), |attempt| (attempt.sent, u64::from(attempt.body_bytes)));
        let first_byte = attempt.map_or(done, |attempt| attempt.first_byte.min(done));
        if self.work.keeps.bodies && is_answered {
            self.seen.reading.record(done.since(first_byte).0);
            self.seen.before.record(sent.since(exchange.intended).0);
            let first = *self.first_length.get_or_insert(length);
            self.seen.counts.first_length = self.seen.counts.first_length.max(first);
            self.seen.counts.lengths_differ += u64::from(length != first);
        }
        if self.work.keeps.rows {
            let row = Row {
                start_ns: exchange.intended.since(self.started).0,
                wait_ns: sent.since(exchange.taken_up).0,
                first_byte_ns: first_byte.since(sent).0,
                service_ns: done.since(sent).0,
                response_ns: done.since(exchange.intended).0,
                bytes: length,
                status: attempt.and_then(|one| one.head.map(|head| head.status).or(one.status)).unwrap_or(0),
                is_answered,
            };
            self.seen.keep_row(row);
        }
    }

    #[cold]
    fn make_sample(&mut self, exchange: &Exchange, attempt: Option<&Attempt>, outcome: Outcome, done: Nanos) {
        let step = &self.steps[exchange.step as usize];
        let nothing = KeptBody::default();
        let kept = attempt.and_then(|attempt| attempt.kept.as_deref()).unwrap_or(&nothing);
        let most = if step.is_shown { SHOWN_BODY_BYTES_MAX } else { SAMPLE_BODY_BYTES_MAX };
        let body = kept.decoded(CHECKED_BODY_BYTES_MAX).unwrap_or(Cow::Borrowed(&kept.bytes));
        let body = body[..body.len().min(most)].to_vec();
        let sent = attempt.map(|attempt| attempt.sent).filter(|sent| *sent != Nanos::NEVER);
        let first = attempt.map(|attempt| attempt.first_byte).filter(|first| *first != Nanos::NEVER);
        let sample = Sample {
            at_ns: done.since(self.started).0,
            step: step.series,
            outcome,
            status: attempt.and_then(|attempt| attempt.head.map(|head| head.status).or(attempt.status)).unwrap_or(0),
            reason: kept.reason.clone(),
            request: if step.is_shown { step.request.to_vec() } else { Vec::new() },
            head: kept.head.clone(),
            body,
            wait_ns: sent.map(|sent| sent.since(exchange.intended).0),
            first_byte_ns: sent.zip(first).map(|(sent, first)| first.since(sent).0),
            service_ns: sent.map(|sent| done.since(sent).0),
            is_shown: step.is_shown,
        };
        self.seen.keep_sample(sample, if step.is_shown { usize::MAX } else { SAMPLES_MAX });
    }
}
