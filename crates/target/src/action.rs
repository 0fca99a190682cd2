//! The action of a request, independent of its protocol.

use std::borrow::Cow;

use pacing::Nanos;

use crate::gates::{GateAction, GateEntry, GateName, GateWaiter};
use crate::paths::CountedPath;
use crate::respond::{self, Kind};
use crate::routes::{REDIRECTS, Route};
use crate::shop::{self, Method, Reply, ShopRequest};
use crate::tools::Tools;

/// Minimum time from the request for a freeze to its beginning.
const FREEZE_LEAD: Nanos = Nanos::from_millis(1);

/// The action of a request.
#[derive(Debug)]
pub(crate) enum Action {
    /// A response whose body is available.
    Whole { status: u16, kind: Kind, body: Cow<'static, [u8]> },
    /// A long body; its length may be in the head or not.
    Long { bytes: u64, says_length: bool },
    /// An empty response at this instant.
    Hold { until: Nanos },
    /// An empty response when the gate opens.
    Wait(GateWaiter),
    /// A body in pieces.
    Drip { pieces: u32, gap: Nanos },
    /// The connection is closed without a response.
    Drop,
}

/// Data of a request that its route needs beyond the path.
#[derive(Debug, Default)]
pub(crate) struct RequestData {
    /// What it is counted by.
    pub(crate) path: CountedPath,
    /// Its body; `None` when it was too large.
    body: Option<Vec<u8>>,
    /// Fields for the shop and for gates. Boxed, since every other route would pay for its size.
    requested: Option<Box<ShopRequest>>,
}

impl RequestData {
    /// `ask` parses the head.
    pub(crate) fn new(route: Route, path: CountedPath, ask: impl FnOnce() -> ShopRequest) -> Self {
        let requested = matches!(route, Route::Shop(_) | Route::Gate(..)).then(|| Box::new(ask()));
        Self { path, body: Some(Vec::new()), requested }
    }

    /// Appends a piece of the body, if the route needs it.
    pub(crate) fn take_body(&mut self, route: Route, bytes: &[u8]) {
        let most = route.body_bytes_max();
        let Some(body) = self.body.as_mut().filter(|_| most > 0) else { return };
        if body.len() + bytes.len() > most {
            self.body = None;
        } else {
            body.extend_from_slice(bytes);
        }
    }

    /// Moves the value out, leaving nothing behind.
    pub(crate) fn take(&mut self) -> Self {
        Self { path: self.path, body: self.body.take(), requested: self.requested.take() }
    }
}

impl Action {
    pub(crate) fn new(route: Route, request_data: RequestData, at: Nanos, tools: &mut Tools) -> Self {
        match route {
            Route::Root => Self::text(200, respond::ROOT_BODY),
            Route::Close => Self::text(200, b"bye\n"),
            Route::Bytes(bytes) => Self::Long { bytes, says_length: true },
            Route::Chunked(bytes) => Self::Long { bytes, says_length: false },
            Route::Delay(delay) => Self::Hold { until: at + delay.draw(&mut tools.random) },
            Route::Serial(span) => Self::Hold { until: tools.agreed().serve_alone(at, span) },
            Route::Queue(shape) => match tools.agreed().queue_up(shape, at) {
                Some(until) => Self::Hold { until },
                None => Self::text(503, b"the queue is full\n"),
            },
            Route::QueueLog => Self::owned(200, "text/csv", tools.agreed().queue_log().into_bytes()),
            Route::Stall { .. } if !tools.can_freeze => Self::text(501, b"this server has no thread to freeze\n"),
            Route::Stall { after, span } => {
                // The response to this request is sent first.
                let from = at + after.max(FREEZE_LEAD);
                tools.asks_freeze = true;
                if tools.agreed().freeze(at, from, from + span) {
                    tools.wake_all();
                    Self::text(200, b"the freeze is agreed on\n")
                } else {
                    Self::text(200, b"another freeze comes first\n")
                }
            }
            Route::Drip { pieces, gap } => Self::Drip { pieces, gap },
            Route::Fail { share, status } if tools.fails(share) => Self::text(status, b"failed\n"),
            Route::Fail { .. } => Self::text(200, b"fine\n"),
            Route::Redirect(left) => {
                let location = REDIRECTS.get(usize::from(left).saturating_sub(1)).copied();
                let kind = Kind { location, ..Kind::new("text/plain") };
                Self::Whole { status: 302, kind, body: Cow::Borrowed(b"elsewhere\n") }
            }
            Route::Status(status) => Self::owned(status, "text/plain", format!("{status}\n").into_bytes()),
            Route::Echo => match request_data.body {
                Some(body) => Self::owned(200, "text/plain", body),
                None => Self::text(413, b"the body is too large\n"),
            },
            Route::Drop => Self::Drop,
            Route::Shop(page) => {
                let requested = request_data.requested.expect("a request for the shop has its head");
                let mut shop = tools.shop(request_data.path, at);
                let Reply { status, kind, body } =
                    shop::response(page, &requested, request_data.body.as_deref(), &mut shop);
                let seen = shop.seen;
                tools.stats().see(seen);
                Self::Whole { status, kind, body: Cow::Owned(body) }
            }
            Route::Gate(name, action) => {
                let requested = request_data.requested.expect("a request for a gate has its head");
                Self::at_gate(name, action, requested.method, tools)
            }
            Route::Books => Self::owned(200, "application/json", tools.books_json().into_bytes()),
            Route::Room => Self::text(400, b"a room takes WebSocket connections only\n"),
            Route::Conns => Self::owned(200, "application/json", tools.conns_json().into_bytes()),
            Route::Stats => Self::owned(200, "application/json", tools.stats_json().into_bytes()),
            Route::NotFound | Route::Grpc => Self::text(404, b"no such path\n"),
            Route::BadNumber => Self::text(400, b"the number or the name in the path is out of range\n"),
        }
    }

    fn at_gate(name: GateName, action: GateAction, method: Method, tools: &Tools) -> Self {
        let no_room = || Self::text(503, b"the server has no room for another gate\n");
        let number = |count: u64| Self::owned(200, "text/plain", count.to_string().into_bytes());
        let (known, allow) =
            if action == GateAction::Open { (Method::Post, "POST") } else { (Method::Get, "GET, HEAD") };
        if method != known {
            let kind = Kind::new("text/plain").with("Allow", allow);
            return Self::Whole {
                status: 405,
                kind,
                body: Cow::Borrowed(b"this path has another method, see Allow\n"),
            };
        }
        match action {
            GateAction::Pass => match tools.gates().enter(name) {
                GateEntry::IsOpen => Self::text(200, b""),
                GateEntry::Waits(waiting) => Self::Wait(waiting),
                GateEntry::NoRoom => no_room(),
            },
            GateAction::Open => match tools.gates().open(name) {
                Some(waited) => {
                    tools.wake_all();
                    number(waited)
                }
                None => no_room(),
            },
            GateAction::Count => number(tools.gates().waiting(name)),
        }
    }

    fn text(status: u16, body: &'static [u8]) -> Self {
        Self::Whole { status, kind: Kind::new("text/plain"), body: Cow::Borrowed(body) }
    }

    fn owned(status: u16, content_type: &'static str, body: Vec<u8>) -> Self {
        Self::Whole { status, kind: Kind::new(content_type), body: Cow::Owned(body) }
    }
}
