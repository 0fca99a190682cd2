//! Routing: from method and path to a route.

use pacing::Nanos;

use crate::behavior::Delay;
use crate::gates::{GateAction, GateName};
use crate::millis::{millis, thousandths};
use crate::paths::{self, CountedPath};
use crate::queue::QueueShape;
use crate::respond::ECHO_BYTES_MAX;
use crate::shop::{FILE_BYTES_MAX, FORM_BYTES_MAX, ShopPage};

/// Maximum bytes of one response.
pub(crate) const RESPONSE_BYTES_MAX: u64 = 1 << 40;

/// Targets of redirects: each has one redirect less to go.
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

/// The route of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Root,
    Bytes(u64),
    Chunked(u64),
    Delay(Delay),
    /// Served one at a time, each for this time.
    Serial(Nanos),
    /// Waits in a queue with known waiting times.
    Queue(QueueShape),
    /// The log of the queues.
    QueueLog,
    /// Freezes all threads: delay until the freeze, and its length.
    Stall {
        after: Nanos,
        span: Nanos,
    },
    /// A body in pieces: their number, and the interval between them.
    Drip {
        pieces: u32,
        gap: Nanos,
    },
    /// A failure status for this many of 100,000 requests, a 200 for the others.
    Fail {
        share: u32,
        status: u16,
    },
    Status(u16),
    /// 302, this many times in a row; the last leads to `/`.
    Redirect(u8),
    Echo,
    Close,
    Drop,
    Stats,
    Conns,
    /// Waits at a gate, opens it, or returns how many requests wait.
    Gate(GateName, GateAction),
    /// A page of the shop.
    Shop(ShopPage),
    /// Requests by user, session and path.
    Books,
    /// A room, which takes WebSocket connections only.
    Room,
    /// A gRPC call; no path leads there.
    Grpc,
    NotFound,
    /// A known path with an invalid number or name.
    BadNumber,
}

/// Index of the first shop page in [`paths::NAMES`].
const SHOP: usize = 18;

impl Route {
    pub(crate) fn from_target(target: &str) -> Self {
        // RFC 9112 3.2.2: the path of a target in absolute form.
        let target = match target.split_once("://").filter(|(scheme, _)| !scheme.contains('/')) {
            Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
            None => target,
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path == "/" {
            return Self::Root;
        }
        let mut parts = path.trim_start_matches('/').splitn(2, '/');
        let (name, number) = (parts.next().unwrap_or_default(), parts.next());
        match (name, number) {
            ("echo", None) => Self::Echo,
            ("close", None) => Self::Close,
            ("drop", None) => Self::Drop,
            ("stats", None) => Self::Stats,
            ("conns", None) => Self::Conns,
            ("stats", Some("books")) => Self::Books,
            ("room", Some(text)) => up_to(text, u64::from(u32::MAX)).map_or(Self::BadNumber, |_| Self::Room),
            ("bytes", Some(text)) => up_to(text, RESPONSE_BYTES_MAX).map_or(Self::BadNumber, Self::Bytes),
            ("chunked", Some(text)) => up_to(text, RESPONSE_BYTES_MAX).map_or(Self::BadNumber, Self::Chunked),
            ("delay", Some(text)) => Delay::parse(text).map_or(Self::BadNumber, Self::Delay),
            ("serial", Some(text)) => millis(text).map_or(Self::BadNumber, Self::Serial),
            ("queue", Some("log")) => Self::QueueLog,
            ("queue", Some(text)) => QueueShape::parse(text, query).map_or(Self::BadNumber, Self::Queue),
            ("stall", Some(text)) => match text.split_once('/').map(|(after, span)| (millis(after), millis(span))) {
                Some((Some(after), Some(span))) => Self::Stall { after, span },
                _ => Self::BadNumber,
            },
            ("drip", Some(text)) => match text.split_once('/').map(|(count, gap)| (up_to(count, 1 << 20), millis(gap)))
            {
                Some((Some(pieces), Some(gap))) if pieces > 0 => Self::Drip { pieces: pieces as u32, gap },
                _ => Self::BadNumber,
            },
            ("fail", Some(text)) => {
                let (share, status) = text.split_once('/').unwrap_or((text, "500"));
                let share = thousandths(share).filter(|share| *share <= 100_000);
                let status = up_to(status, 999).filter(|status| *status >= 200);
                share.zip(status).map_or(Self::BadNumber, |(share, status)| Self::Fail {
                    share: share as u32,
                    status: status as u16,
                })
            }
            ("status", Some(text)) => match up_to(text, 999) {
                Some(status) if status >= 200 => Self::Status(status as u16),
                _ => Self::BadNumber,
            },
            ("redirect", Some(text)) => match up_to(text, REDIRECTS.len() as u64) {
                Some(count) if count > 0 => Self::Redirect(count as u8),
                _ => Self::BadNumber,
            },
            ("gate", Some(text)) => {
                let (name, action) = match text.split_once('/') {
                    None => (text, GateAction::Pass),
                    Some((name, "open")) => (name, GateAction::Open),
                    Some((name, "waiting")) => (name, GateAction::Count),
                    Some(_) => return Self::NotFound,
                };
                GateName::parse(name).map_or(Self::BadNumber, |name| Self::Gate(name, action))
            }
            _ => match ShopPage::from_path(name, number) {
                Some(page) => page.map_or(Self::BadNumber, Self::Shop),
                None => Self::NotFound,
            },
        }
    }

    /// Maximum bytes of a request's body that are stored.
    pub(crate) fn body_bytes_max(self) -> usize {
        match self {
            Self::Echo => ECHO_BYTES_MAX,
            Self::Shop(ShopPage::Files) => FILE_BYTES_MAX,
            Self::Shop(_) => FORM_BYTES_MAX,
            _ => 0,
        }
    }

    /// What its requests are counted by.
    pub(crate) fn path(self, method: &str) -> CountedPath {
        let template = match self {
            Self::Shop(ShopPage::Item(_)) => paths::ITEM,
            Self::Shop(ShopPage::File(_)) => paths::FILE,
            Self::QueueLog => paths::QUEUE_LOG,
            Self::Gate(_, GateAction::Count) => paths::GATE_WAITING,
            _ => self.index(),
        };
        CountedPath::new(method, template)
    }

    /// Index in [`paths::NAMES`].
    fn index(self) -> usize {
        match self {
            Self::Root => 0,
            Self::Bytes(_) => 1,
            Self::Chunked(_) => 2,
            Self::Delay(_) => 3,
            Self::Status(_) => 4,
            Self::Echo => 5,
            Self::Close => 6,
            Self::Drop => 7,
            Self::Stats => 8,
            Self::NotFound => 9,
            Self::BadNumber => 10,
            Self::Serial(_) => 11,
            Self::Stall { .. } => 12,
            Self::Fail { .. } => 13,
            Self::Drip { .. } => 14,
            Self::Grpc => 15,
            Self::Conns => 16,
            Self::Redirect(_) => 17,
            Self::Shop(page) => SHOP + page.index(),
            Self::Queue(_) | Self::QueueLog => SHOP + 11,
            Self::Gate(_, GateAction::Pass) => SHOP + 12,
            Self::Gate(_, GateAction::Open | GateAction::Count) => SHOP + 13,
            Self::Books => SHOP + 19,
            Self::Room => SHOP + 20,
        }
    }
}

fn up_to(text: &str, most: u64) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let gate = GateName::parse("a").expect("a name");
        let cases = [
            ("/", Route::Root),
            ("/?a=b", Route::Root),
            ("/bytes/0", Route::Bytes(0)),
            ("/bytes/1024?x", Route::Bytes(1024)),
            ("/chunked/7", Route::Chunked(7)),
            ("/delay/20", Route::Delay(Delay::Constant(Nanos::from_millis(20)))),
            ("/delay/uniform/1-2?x", Route::Delay(Delay::Uniform { low: Nanos(1_000_000), high: Nanos(2_000_000) })),
            ("/serial/1.5", Route::Serial(Nanos(1_500_000))),
            ("/stall/4000/1000", Route::Stall { after: Nanos::from_millis(4_000), span: Nanos::from_millis(1_000) }),
            ("/drip/5/20", Route::Drip { pieces: 5, gap: Nanos::from_millis(20) }),
            ("/drip/0/20", Route::BadNumber),
            ("/stall/4000", Route::BadNumber),
            ("/fail/26.6", Route::Fail { share: 26_600, status: 500 }),
            ("/fail/100/429", Route::Fail { share: 100_000, status: 429 }),
            ("/fail/5/99", Route::BadNumber),
            ("/fail/100.001", Route::BadNumber),
            ("/delay/pareto/3", Route::BadNumber),
            ("/status/429", Route::Status(429)),
            ("/redirect/3", Route::Redirect(3)),
            ("/redirect/0", Route::BadNumber),
            ("/redirect/11", Route::BadNumber),
            ("/echo", Route::Echo),
            ("http://a:80/bytes/3", Route::Bytes(3)),
            ("http://a", Route::Root),
            ("/echo?u=http://x/", Route::Echo),
            ("/stats", Route::Stats),
            ("/conns", Route::Conns),
            ("/gate/a", Route::Gate(gate, GateAction::Pass)),
            ("/gate/a?x", Route::Gate(gate, GateAction::Pass)),
            ("/gate/a/open", Route::Gate(gate, GateAction::Open)),
            ("/gate/a/waiting", Route::Gate(gate, GateAction::Count)),
            ("/gate/a/close", Route::NotFound),
            ("/gate/a/open/", Route::NotFound),
            ("/gate", Route::NotFound),
            ("/gate/", Route::BadNumber),
            ("/gate/a%20b", Route::BadNumber),
            ("/gate//open", Route::BadNumber),
            ("/status/99", Route::BadNumber),
            ("/status/1000", Route::BadNumber),
            ("/bytes/-1", Route::BadNumber),
            ("/bytes/", Route::BadNumber),
            ("/bytes/99999999999999999999", Route::BadNumber),
            ("/bytes", Route::NotFound),
            ("/echo/x", Route::NotFound),
            ("", Route::NotFound),
            ("*", Route::NotFound),
        ];
        for (path, expect) in cases {
            assert_eq!(Route::from_target(path), expect, "{path}");
        }
    }

    #[test]
    fn paths_of_the_shop() {
        let cases = [
            ("/login", Route::Shop(ShopPage::Login)),
            ("/login?next=/cart", Route::Shop(ShopPage::Login)),
            ("/login/", Route::NotFound),
            ("/items", Route::Shop(ShopPage::Items)),
            ("/items/7", Route::Shop(ShopPage::Item(7))),
            ("/items/0", Route::Shop(ShopPage::Item(0))),
            ("/items/x", Route::BadNumber),
            ("/items/99999999999999999999", Route::BadNumber),
            ("/items/7/more", Route::BadNumber),
            ("/api/token", Route::Shop(ShopPage::Token)),
            ("/api/sessions/", Route::BadNumber),
            ("/api/sessions/000000000000001G", Route::BadNumber),
            ("/api", Route::NotFound),
            ("/api/else", Route::NotFound),
            ("/stats/sessions", Route::Shop(ShopPage::Sessions)),
            ("/stats/books", Route::Books),
            ("/api/items?page=2", Route::Shop(ShopPage::ItemsJson)),
            ("/api/items/7", Route::NotFound),
            ("/limited?per_s=3", Route::Shop(ShopPage::Limited)),
            ("/oauth/token", Route::Shop(ShopPage::OAuthToken)),
            ("/oauth", Route::NotFound),
            ("/graphql", Route::Shop(ShopPage::GraphQl)),
            ("/files", Route::Shop(ShopPage::Files)),
            ("/files/7", Route::Shop(ShopPage::File(7))),
            ("/files/x", Route::BadNumber),
            ("/room/7?token=x", Route::Room),
            ("/room/4294967296", Route::BadNumber),
            ("/room", Route::NotFound),
            ("/stats/else", Route::NotFound),
        ];
        for (path, expect) in cases {
            assert_eq!(Route::from_target(path), expect, "{path}");
        }
    }

    /// Each request is counted under the name of its path.
    #[test]
    fn requests_are_counted_under_their_path() {
        for (place, name) in paths::NAMES.iter().enumerate().filter(|(_, name)| name.starts_with('/')) {
            let tails = ["", "/1", "/1/1", "/200", "/0000000000040001"];
            let routes: Vec<Route> = tails.iter().map(|tail| Route::from_target(&format!("{name}{tail}"))).collect();
            let is_known = |route: &&Route| !matches!(route, Route::NotFound | Route::BadNumber);
            let known: Vec<usize> = routes.iter().filter(is_known).map(|route| route.index()).collect();
            assert!(!known.is_empty() && known.iter().all(|known| *known == place), "{name}: {routes:?}");
        }
    }

    /// The path of each template is counted under that template.
    #[test]
    fn requests_are_counted_under_their_template() {
        let values =
            [("{session}", "0000000000040001"), ("{status}", "200"), ("{id}", "7"), ("{n}", "3"), ("{ms}", "1.5")];
        for (template, _) in paths::TEMPLATES.iter().filter(|(template, _)| template.starts_with('/')) {
            let path = values.iter().fold((*template).to_owned(), |path, (name, value)| path.replace(name, value));
            let path = path.replace("{percent}", "20").replace("{name}", "a");
            let counted = Route::from_target(&format!("{path}?page=2")).path("POST").to_string();
            assert_eq!(counted, format!("POST {template}"));
        }
    }
}
