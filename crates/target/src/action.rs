//! What is done for a request, whatever protocol it came by.

use std::borrow::Cow;

use pacing::Nanos;

use crate::respond::{self, Kind};
use crate::routes::Route;
use crate::shard::Tools;

/// A freeze begins at the earliest so long after it was asked for.
const FREEZE_LEAD: Nanos = Nanos::from_millis(1);

/// Where redirects lead: each has one less before it.
pub(crate) const REDIRECTS: [&str; 10] = [
    "/",
    "/redirect/1",
    "/redirect/2",
    "/redirect/3",
    "/redirect/4",
    "/redirect/5",
    "/redirect/6",
    "/redirect/7",
    "/redirect/8",
    "/redirect/9",
];

/// What is done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// An answer that is at hand.
    Whole { status: u16, kind: Kind, body: Cow<'static, [u8]> },
    /// A long body, of a length that the head says or not.
    Long { bytes: u64, says_length: bool },
    /// An empty answer, then.
    Hold { until: Nanos },
    /// A body in pieces.
    Drip { pieces: u32, gap: Nanos },
    /// The connection ends without an answer.
    Drop,
}

impl Action {
    /// `body`: what came with the request, where its route wants it; `None` when it was too large.
    pub(crate) fn of(route: Route, body: Option<Vec<u8>>, at: Nanos, tools: &mut Tools) -> Self {
        match route {
            Route::Root => Self::text(200, respond::ROOT_BODY),
            Route::Close => Self::text(200, b"bye\n"),
            Route::Bytes(bytes) => Self::Long { bytes, says_length: true },
            Route::Chunked(bytes) => Self::Long { bytes, says_length: false },
            Route::Delay(delay) => Self::Hold { until: at + delay.draw(&mut tools.random) },
            Route::Serial(span) => Self::Hold { until: tools.agreed().serve_alone(at, span) },
            Route::Stall { .. } if !tools.can_freeze => Self::text(501, b"this server has no thread to freeze\n"),
            Route::Stall { after, span } => {
                // The answer to this goes out first.
                let from = at + after.max(FREEZE_LEAD);
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
                let kind = Kind { location, ..Kind::of("text/plain") };
                Self::Whole { status: 302, kind, body: Cow::Borrowed(b"elsewhere\n") }
            }
            Route::Status(status) => Self::owned(status, "text/plain", format!("{status}\n").into_bytes()),
            Route::Echo => match body {
                Some(body) => Self::owned(200, "text/plain", body),
                None => Self::text(413, b"the body is too large\n"),
            },
            Route::Drop => Self::Drop,
            Route::Conns => Self::owned(200, "application/json", tools.conns_json().into_bytes()),
            Route::Stats => Self::owned(200, "application/json", tools.stats_json().into_bytes()),
            Route::NotFound | Route::Grpc => Self::text(404, b"no such path\n"),
            Route::BadNumber => Self::text(400, b"the number in the path is out of range\n"),
        }
    }

    fn text(status: u16, body: &'static [u8]) -> Self {
        Self::Whole { status, kind: Kind::of("text/plain"), body: Cow::Borrowed(body) }
    }

    fn owned(status: u16, content_type: &'static str, body: Vec<u8>) -> Self {
        Self::Whole { status, kind: Kind::of(content_type), body: Cow::Owned(body) }
    }
}
