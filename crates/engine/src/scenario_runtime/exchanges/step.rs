//! Prepared steps: the request as bytes, and the checks of responses.

mod bytes;
mod call;
mod checks;

use std::ops::Range;
use std::sync::Arc;

use metrics::{SAMPLE_BODY_BYTES_MAX, SeriesId};
use pacing::Nanos;
use plan::{CaptureOptions, DynamicParts, NotFilled, Protocol, Request, ResponseNeeds, Scope, Step, Target, UrlOrigin};
use wire::http1::RequestKind;

use crate::messaging::PreparedMessaging;
use crate::program::ForkPart;
use crate::scenario_runtime::exchanges::redirect_state::RedirectState;
use crate::scenario_runtime::exchanges::transcript::Records;
pub(in crate::scenario_runtime) use bytes::Rest;
pub(crate) use bytes::{Bytes, http2_fields};
use bytes::{open_anew, over_http2};
pub(crate) use call::PreparedCall;
pub(crate) use checks::PreparedChecks;

/// What is captured of a response, in few bytes: each attempt has a copy.
#[derive(Clone, Copy)]
pub(in crate::scenario_runtime) struct Wants {
    /// Bytes of the body.
    pub(in crate::scenario_runtime) body: u32,
    pub(in crate::scenario_runtime) head: bool,
    /// Whether a transcript is kept.
    pub(in crate::scenario_runtime) records: Records,
}

impl Wants {
    fn new(needs: ResponseNeeds, records: Records) -> Self {
        let is_recorded = records != Records::Nothing;
        let least = if is_recorded { SAMPLE_BODY_BYTES_MAX } else { 0 };
        let body = u32::try_from(needs.body_bytes_max.max(least)).unwrap_or(u32::MAX);
        Self { body, head: needs.head || is_recorded, records }
    }
}

/// A step with its request rendered.
pub(crate) struct PreparedStep {
    pub(in crate::scenario_runtime) request: Bytes,
    /// The series of its timings.
    pub(in crate::scenario_runtime) series: SeriesId,
    /// Its origin.
    pub(in crate::scenario_runtime) origin: u16,
    /// Redirect state, if it follows redirects.
    pub(in crate::scenario_runtime) redirect_state: Option<Box<RedirectState>>,
    /// Its responses are shown.
    pub(in crate::scenario_runtime) is_shown: bool,
    /// The same for HTTP/2, where that may be used.
    pub(in crate::scenario_runtime) http2: Option<wire::http2::Request>,
    pub(in crate::scenario_runtime) kind: RequestKind,
    /// It may be sent twice (RFC 9110 9.2.2).
    pub(in crate::scenario_runtime) is_repeatable: bool,
    /// It is sent once more when a kept connection has ended before its response.
    pub(in crate::scenario_runtime) retries: bool,
    /// It may be sent once only, so that its connection is read first.
    pub(in crate::scenario_runtime) leaves_once: bool,
    /// Its body waits for a 100 of the server (RFC 9110 10.1.1).
    pub(in crate::scenario_runtime) expects_word: bool,
    pub(in crate::scenario_runtime) keep_alive: bool,
    pub(in crate::scenario_runtime) timeout: Nanos,
    /// The time after which its success counts as missed; never without one.
    pub(in crate::scenario_runtime) deadline: Nanos,
    pub(in crate::scenario_runtime) connect_timeout: Nanos,
    pub(in crate::scenario_runtime) checks: PreparedChecks,
    pub(in crate::scenario_runtime) needs: Wants,
    /// The same once enough failures are kept.
    pub(in crate::scenario_runtime) last_needs: Wants,
    /// Its host and port, for messages.
    pub(in crate::scenario_runtime) place: Arc<str>,
    /// The original request, where it is shown.
    pub(in crate::scenario_runtime) shown: Option<Box<Request>>,
    /// State of a gRPC call, if it is one.
    pub(in crate::scenario_runtime) call: Option<PreparedCall>,
    /// Prepared messages of a WebSocket or TCP connection, if it is one.
    pub(in crate::scenario_runtime) messaging: Option<Arc<PreparedMessaging>>,
    /// Its dynamic parts, and the request that they are applied to.
    pub(in crate::scenario_runtime) dynamic_parts: Option<(Arc<DynamicParts>, Arc<Request>)>,
    /// Values are extracted from the bodies of its responses.
    pub(in crate::scenario_runtime) takes_body: bool,
    /// It is a call whose messages are read as JSON, for values or for checks.
    pub(in crate::scenario_runtime) reads_messages: bool,
    /// The request, where it was made for one exchange.
    pub(in crate::scenario_runtime) made: Option<Box<Request>>,
    /// The message of a conversation, likewise.
    pub(in crate::scenario_runtime) message: Option<Vec<u8>>,
    /// The step of the plan that it is made from, for one exchange after the other.
    pub(in crate::scenario_runtime) made_from: Option<u32>,
    /// Number of that exchange among several at a time.
    pub(in crate::scenario_runtime) part: ForkPart,
    /// The same step at the origins of its dynamic parts: their places among all steps.
    at_origins: Range<u32>,
}

impl PreparedStep {
    /// Prepares a step. `number`: that of this step among all. `target`: where it goes.
    pub(crate) fn new(number: u32, step: &Step, target: &Target, capture_options: CaptureOptions) -> Self {
        let records = match (step.is_shown, capture_options.failures) {
            (true, _) => Records::All,
            (false, true) => Records::Failures,
            (false, false) => Records::Nothing,
        };
        let of_shown = if step.is_shown { Records::All } else { Records::Nothing };
        let request = &step.request;
        let call = step.call.as_ref().map(|call| PreparedCall::new(call, &request.headers));
        let body = call.as_ref().map(|call| &call.first);
        let http2 = matches!(target.protocol, Protocol::Http2 | Protocol::Negotiated).then(|| {
            let http2 = over_http2(number, request, body, target);
            if call.as_ref().is_some_and(PreparedCall::is_open) { http2.kept_open() } else { http2 }
        });
        Self {
            request: Bytes::shared(request, target),
            series: SeriesId::step(number),
            origin: step.target as u16,
            redirect_state: step.follow.clone().map(|follow| {
                let at = follow.form.begin();
                Box::new(RedirectState { follow, at, hops: 0, began: Nanos::NEVER, way: Vec::new() })
            }),
            is_shown: step.is_shown,
            http2,
            kind: RequestKind::from_method(&request.method),
            is_repeatable: step.call.is_none() && step.messaging.is_none() && request.is_idempotent(),
            retries: step.retries,
            leaves_once: leaves_once(step, request),
            expects_word: request.expects_word(),
            keep_alive: step.keep_alive && request.asks_to_stay(),
            timeout: step.timeout.into(),
            deadline: step.deadline.map_or(Nanos::NEVER, Nanos::from),
            connect_timeout: step.connect_timeout.into(),
            checks: PreparedChecks::new(&step.checks),
            needs: Wants::new(step.needs(), records),
            last_needs: Wants::new(step.needs(), of_shown),
            place: target.place().into(),
            shown: step.is_shown.then(|| Box::new(request.clone())),
            call,
            messaging: PreparedMessaging::new(step, target, records != Records::Nothing).map(Arc::new),
            dynamic_parts: step.dynamic_parts.clone().map(|dynamic_parts| (dynamic_parts, Arc::new(request.clone()))),
            takes_body: takes_body(step),
            reads_messages: step.call.is_some() && (takes_body(step) || checks_json(step)),
            made: None,
            message: None,
            made_from: None,
            part: 0,
            at_origins: 0..0,
        }
    }
}

/// Whether what it sends may be sent once only. A step that waits for a message sends nothing.
fn leaves_once(step: &Step, request: &Request) -> bool {
    match &step.messaging {
        Some(messaging) => messaging.message.is_some() || messaging.custom.is_some(),
        None => step.call.is_some() || !request.is_idempotent(),
    }
}

fn checks_json(step: &Step) -> bool {
    let mut made = step.dynamic_parts.iter().flat_map(|dynamic_parts| &dynamic_parts.expects);
    let checks = &step.checks;
    !checks.json.is_empty() || !checks.absent.json.is_empty() || made.any(|check| check.of == plan::CheckOf::Json)
}

fn takes_body(step: &Step) -> bool {
    step.dynamic_parts.iter().flat_map(|dynamic_parts| &dynamic_parts.takes).any(plan::Extraction::wants_body)
}

impl PreparedStep {
    /// The step of the next request after a redirect. `number`: that of it among all.
    pub(in crate::scenario_runtime) fn for_hop(
        &self,
        number: u32,
        request: &Request,
        redirect_state: Option<RedirectState>,
        target: &Target,
    ) -> Self {
        let speaks_http2 = matches!(target.protocol, Protocol::Http2 | Protocol::Negotiated);
        Self {
            request: Bytes::own(request, target),
            series: self.series,
            origin: self.origin,
            is_shown: self.is_shown,
            http2: speaks_http2.then(|| over_http2(number, request, None, target)),
            kind: RequestKind::from_method(&request.method),
            is_repeatable: self.call.is_none() && self.messaging.is_none() && request.is_idempotent(),
            retries: self.retries,
            leaves_once: !request.is_idempotent(),
            expects_word: request.expects_word(),
            keep_alive: self.keep_alive,
            timeout: self.timeout,
            deadline: self.deadline,
            connect_timeout: self.connect_timeout,
            checks: self.checks.clone(),
            needs: self.needs,
            last_needs: self.last_needs,
            place: target.place().into(),
            shown: self.is_shown.then(|| Box::new(request.clone())),
            call: None,
            messaging: None,
            redirect_state: redirect_state.map(Box::new),
            dynamic_parts: self.dynamic_parts.clone(),
            takes_body: self.takes_body,
            reads_messages: self.reads_messages,
            made: self.dynamic_parts.is_some().then(|| Box::new(request.clone())),
            message: None,
            made_from: None,
            part: self.part,
            at_origins: 0..0,
        }
    }

    /// Sets the places of the same step at its origins.
    pub(crate) fn lead_to(&mut self, at_origins: Range<u32>) {
        self.at_origins = at_origins;
    }

    /// The same step at the origin of a URL, if that is one of its own.
    #[cold]
    pub(in crate::scenario_runtime) fn at_origin_of(&self, url: &str) -> Option<u32> {
        let (dynamic_parts, _) = self.dynamic_parts.as_ref()?;
        self.at_origins.clone().nth(UrlOrigin::of(&dynamic_parts.origins, url)?)
    }

    /// Its request lies in one piece: for who sends nothing else.
    pub(crate) fn in_one_piece(mut self) -> Self {
        self.request = self.request.in_one_piece();
        self
    }

    /// The heads of its answers are kept.
    pub(crate) fn keeping_heads(mut self) -> Self {
        (self.needs.head, self.last_needs.head) = (true, true);
        self
    }

    /// Keeps messages on its connection as a whole: other steps check them.
    pub(crate) fn keeping_messages(mut self) -> Self {
        if let Some(messaging) = self.messaging.as_mut().and_then(Arc::get_mut) {
            messaging.keep_messages();
        }
        self
    }

    /// Whether its requests are dynamic. `has_cookies`: those of the user are sent with them.
    pub(in crate::scenario_runtime) fn is_made(&self, has_cookies: bool) -> bool {
        let is_made = |(dynamic_parts, _): &(Arc<DynamicParts>, _)| has_cookies || dynamic_parts.makes_requests();
        self.dynamic_parts.as_ref().is_some_and(is_made) && self.made.is_none()
    }

    /// The common part of all steps that are made from this one, the `place`-th of the plan.
    pub(in crate::scenario_runtime) fn blank(&self, place: u32, target: &Target) -> Option<Box<Self>> {
        let (_, base) = self.dynamic_parts.as_ref()?;
        let mut blank = self.for_hop(0, base, None, target);
        blank.messaging = self.messaging.clone();
        blank.made_from = Some(place);
        Some(Box::new(blank))
    }

    /// Makes what an exchange sends, in place of what another one sent. `is_open`: the connection of its conversation
    /// is established. `url`: where it leads, if that is rendered already.
    pub(in crate::scenario_runtime) fn remake(
        &self,
        blank: &mut Self,
        is_open: bool,
        url: Option<&str>,
        scope: &mut impl Scope,
    ) -> Result<(), NotFilled> {
        let (Some((dynamic_parts, base)), Some(request)) = (&self.dynamic_parts, &mut blank.made) else {
            return Ok(());
        };
        if let Some(checks) = dynamic_parts.checks(&self.checks.checks, scope)? {
            blank.checks = PreparedChecks::new(&checks);
        }
        if let Some(messaging) = &self.messaging {
            let texts = dynamic_parts.texts(scope)?;
            blank.message = match &messaging.custom {
                Some(custom) => Some(custom.bytes(&texts)),
                None => texts.into_iter().next(),
            };
            return open_anew(dynamic_parts, base, request, is_open, scope);
        }
        match url {
            Some(url) => dynamic_parts.remake_at(url, base, request, scope)?,
            None => dynamic_parts.remake(base, request, scope)?,
        }
        if dynamic_parts.messages.is_empty() {
            blank.call = self.call.clone();
            return Ok(());
        }
        let texts = dynamic_parts.texts(scope)?;
        match &self.call {
            Some(call) => blank.call = Some(call.with_messages(&call.encoded(&texts)?)),
            None => blank.message = texts.into_iter().next(),
        }
        Ok(())
    }

    /// Renders a dynamic request. `number`: that of it among all.
    pub(in crate::scenario_runtime) fn render(&mut self, number: u32, original: &Self, target: &Target) {
        let Some(request) = self.made.as_deref() else { return };
        if matches!(target.protocol, Protocol::Http2 | Protocol::Negotiated) {
            let body = self.call.as_ref().map(|call| &call.first);
            let http2 = over_http2(number, request, body, target);
            let is_open = self.call.as_ref().is_some_and(PreparedCall::is_open);
            self.http2 = Some(if is_open { http2.kept_open() } else { http2 });
        }
        self.redirect_state = original.redirect_state.as_deref().map(|redirect_state| {
            let at = redirect_state.follow.form.begin_at(&request.path);
            Box::new(RedirectState {
                follow: redirect_state.follow.clone(),
                at,
                hops: 0,
                began: Nanos::NEVER,
                way: Vec::new(),
            })
        });
        if let Some(shown) = &mut self.shown {
            (**shown).clone_from(request);
        }
        if self.messaging.is_none() && target.protocol != Protocol::Http2 {
            self.request.make_anew(request, target);
        }
    }

    /// The request of HTTP/1, but for a body that all share.
    pub(crate) fn request_bytes(&self) -> &Arc<[u8]> {
        self.request.template()
    }

    pub(crate) fn kind(&self) -> RequestKind {
        self.kind
    }

    pub(crate) fn timeout(&self) -> Nanos {
        self.timeout
    }

    pub(crate) fn connect_timeout(&self) -> Nanos {
        self.connect_timeout
    }

    /// Whether a complete message passes the check.
    pub(crate) fn accepts(&self, message: &[u8]) -> bool {
        self.checks.checks.check_body(message).is_ok()
    }

    /// Whether a status of a custom protocol is one that is wanted. `is_success`: the protocol takes it for one.
    pub(crate) fn accepts_word(&self, status: &str, is_success: bool) -> bool {
        let words = &self.checks.checks.status_words;
        if words.is_empty() { is_success } else { words.iter().any(|word| word == status) }
    }

    pub(crate) fn accepts_status(&self, status: u16) -> bool {
        self.checks.contains_status(status)
    }
}

#[cfg(test)]
mod tests {
    use plan::HttpVersion;

    /// The plan, each step that is made of it, HTTP/1 and HTTP/2 have the same large body, and what goes out is what
    /// one piece was.
    #[test]
    fn a_large_body_is_shared_by_all_that_send_it() {
        let text = "0123456789abcdef".repeat(8 * 1024);
        for is_chunked in [false, true] {
            let flags =
                plan::Flags { url: Some("https://a/".to_owned()), data: Some(text.clone()), ..plan::Flags::default() };
            let mut plan = flags.plan().expect("a good plan");
            if is_chunked {
                plan.scenarios[0].steps[0].request.headers =
                    vec![("Transfer-Encoding".to_owned(), b"chunked".to_vec())];
            }
            let scenario = &plan.scenarios[0];
            let (step, target) = (&scenario.steps[0], scenario.target());
            let body = step.request.body.shared().expect("it is large");
            let prepared = super::PreparedStep::new(0, step, target, plan.capture_options);
            let hop = prepared.for_hop(1, &step.request, None, target);
            for prepared in [&prepared, &hop] {
                let rest = prepared.request.rest().expect("it is large");
                assert!(std::sync::Arc::ptr_eq(&rest.body, body));
                let whole = [prepared.request.front(), &rest.body, rest.end].concat();
                assert_eq!(prepared.request.len(), whole.len());
                let expect = if is_chunked {
                    format!("\r\n\r\n20000\r\n{text}\r\n0\r\n\r\n")
                } else {
                    format!("\r\n\r\n{text}")
                };
                assert!(whole.ends_with(expect.as_bytes()) && whole.starts_with(b"POST / HTTP/1.1\r\n"));
            }
            // The plan, and of each step what goes over HTTP/1 and HTTP/2.
            assert_eq!(std::sync::Arc::strong_count(body), 1 + 2 * 2);
            let whole = prepared.in_one_piece();
            assert!(whole.request.rest().is_none() && whole.request_bytes().len() == whole.request.len());
        }
    }

    #[test]
    fn a_request_of_http10_asks_to_stay_or_is_the_last() {
        let stays = |version, connection: Option<&str>| {
            let flags = plan::Flags { url: Some("http://a/".to_owned()), ..plan::Flags::default() };
            let mut request = flags.plan().expect("a good plan").scenarios[0].steps[0].request.clone();
            request.version = version;
            request.headers.extend(connection.map(|value| ("connection".to_owned(), value.as_bytes().to_vec())));
            request.asks_to_stay()
        };
        assert!(stays(HttpVersion::Http11, None));
        assert!(!stays(HttpVersion::Http10, None) && !stays(HttpVersion::Http10, Some("close")));
        assert!(stays(HttpVersion::Http10, Some("Keep-Alive")));
    }
}
