//! A small shop, for users that log in, take a token, look at items, fill a cart, pay and wait until that is done.
//!
//! Values that only one user may know (a cookie, a token, the hidden field of a form) are checked wherever they come
//! back. When two of them belong to different users the response is 403, and it is counted: a client that mixes up its
//! users is detected. Secrets are random, but not cryptographically: this is no place for valuable data.

mod books;
mod cart;
mod files;
mod graphql;
mod item_query;
mod limited;
mod multipart;
mod open;
mod pages;
mod reply;
mod requested;
mod sessions;
mod tokens;

use std::sync::Mutex;
use std::time::Duration;

use pacing::{Nanos, Random};

pub(crate) use books::Books;
pub(crate) use files::FILE_BYTES_MAX;
pub(crate) use pages::ShopPage;
pub(crate) use reply::Reply;
pub(crate) use requested::{Method, ShopRequest};
pub(crate) use sessions::Sessions;

use cart::{COUNT_MAX, Item, NoRoom, Price};
use files::StoredFiles;
use graphql::PersistedQueries;
use limited::RateLimit;
use reply::{LOST, TEXT, bad, expired, html, json, number, refusal, refused, see, text_of_json, unknown};
use requested::{COOKIE, FormFields, Proof, Unread};
use sessions::{Key, PaidOrder, Session, SessionId, USER_BYTES_MAX, hex};

use crate::paths::CountedPath;
use crate::respond::Kind;

/// The largest accepted form.
pub(crate) const FORM_BYTES_MAX: usize = 16 * 1024;
/// Number of polls until an order is ready, unless the payer requests another.
const LOOKS_USUAL: u32 = 3;
/// The largest number of polls that a payer may request.
const LOOKS_MAX: u32 = 1_000;
/// Maximum number of sessions that are listed one by one.
const LISTED_MAX: usize = 10_000;

/// What the threads of a server share.
#[derive(Default)]
pub(crate) struct ShopState {
    pub(crate) sessions: Sessions,
    pub(crate) books: Books,
    /// The limit of clients without a session.
    limit: Mutex<RateLimit>,
    files: Mutex<StoredFiles>,
    queries: Mutex<PersistedQueries>,
}

/// The shop state of a thread: its own random numbers, and the stripe of the next session.
pub(crate) struct ShopThread {
    random: Random,
    turn: usize,
}

impl ShopThread {
    /// `seed` is that of the server, `index` that of the thread.
    pub(crate) fn new(seed: u64, index: usize) -> Self {
        Self { random: Random::for_stream(seed, index as u64), turn: index }
    }
}

/// The shop as one request sees it.
pub(crate) struct Shop<'a> {
    pub(crate) shop_thread: &'a mut ShopThread,
    pub(crate) state: &'a ShopState,
    /// What the request is counted by.
    pub(crate) path: CountedPath,
    /// Its arrival, on the clock of the server.
    pub(crate) now: Nanos,
    /// The time since the Unix epoch at which this clock was zero.
    pub(crate) unix_start: Duration,
    /// Whether cookies are sent over TLS only.
    pub(crate) is_secure: bool,
    pub(crate) seen: Seen,
}

impl Shop<'_> {
    /// Stores a session that begins with this request.
    fn begin(&mut self, session: Session) -> SessionId {
        let id = self.state.sessions.keep(self.shop_thread.turn, session);
        self.shop_thread.turn = self.shop_thread.turn.wrapping_add(1);
        self.seen.is_of_session = true;
        self.state.books.count(id, "", self.path);
        id
    }
}

/// The counters that a request affects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Whether it came with the cookie or the token of a session, or began one.
    pub(crate) is_of_session: bool,
    /// Whether its cookie or token was not issued here, or has expired.
    pub(crate) is_unknown: bool,
    /// Whether its values belong to different users.
    pub(crate) is_mixed: bool,
}

/// The sender of a request.
enum Who {
    Nobody,
    /// The cookie or the token was not issued here, or has expired.
    Unknown,
    /// The cookie of one user and the token of another.
    Mixed,
    Known(SessionId),
}

/// The response to a request for a page of the shop.
///
/// `body`: the body of the request; `None` when it was too large.
pub(crate) fn response(page: ShopPage, requested: &ShopRequest, body: Option<&[u8]>, shop: &mut Shop<'_>) -> Reply {
    if !page.methods().contains(&requested.method) {
        return refused(405, Kind::new(TEXT).with("Allow", page.allow()), "this path has other methods, see Allow");
    }
    if page == ShopPage::Sessions {
        return json(200, sessions_json(&shop.state.sessions));
    }
    let Some(body) = body else { return refusal(413, "the body is too large") };
    let who = who(requested, shop);
    match &who {
        Who::Known(_) => shop.seen.is_of_session = true,
        Who::Unknown => shop.seen.is_unknown = true,
        Who::Mixed => return mixed("the cookie and the token are those of different sessions", shop),
        Who::Nobody => {}
    }
    if page.is_open() {
        return open::response(page, requested, body, &who, shop);
    }
    let said = match requested.method {
        Method::Post => FormFields::read(requested.form, body),
        _ => Ok(FormFields::default()),
    };
    let said = match said {
        Ok(said) => said,
        Err(why) => return unread(why),
    };
    match (page, requested.method, who) {
        (ShopPage::Login, Method::Get, who) => form_of_login(&who, shop),
        (ShopPage::Token, _, who) => tokens::give(&who, requested, &said, shop),
        (_, _, Who::Known(id)) => visit(id, page, requested, &said, shop),
        (_, _, Who::Unknown) => expired("the cookie or the token does not hold, or no longer"),
        _ => unknown("no session: ask for /login or /api/token first, and send its cookie or token"),
    }
}

/// The status of a handshake for a room: 101 for a client with a token.
pub(crate) fn room_status(requested: &ShopRequest, shop: &mut Shop<'_>) -> u16 {
    match who(requested, shop) {
        Who::Known(_) => {
            shop.seen.is_of_session = true;
            if requested.token == Proof::Absent { 401 } else { 101 }
        }
        Who::Mixed => {
            shop.seen.is_mixed = true;
            403
        }
        Who::Unknown => {
            shop.seen.is_unknown = true;
            401
        }
        Who::Nobody => 401,
    }
}

/// The session of the cookie and the token. A request counts for its session and its user.
fn who(requested: &ShopRequest, shop: &Shop<'_>) -> Who {
    let sessions = &shop.state.sessions;
    let fits = |proof: Proof, id: SessionId, secret: Option<u64>| match proof {
        Proof::Absent => true,
        Proof::Strange => false,
        Proof::Key(key) => key.session == id && Some(key.secret) == secret,
    };
    let (Proof::Key(first), other) = (match requested.cookie {
        Proof::Absent => (requested.token, Proof::Absent),
        cookie => (cookie, requested.token),
    }) else {
        return if requested.cookie == Proof::Absent && requested.token == Proof::Absent {
            Who::Nobody
        } else {
            Who::Unknown
        };
    };
    if let Proof::Key(second) = other
        && second.session != first.session
    {
        let is_cookie = sessions.visit(first.session, |session| session.cookie == first.secret);
        let is_token = sessions.visit(second.session, |session| session.token_at(shop.now) == Some(second.secret));
        return if is_cookie == Some(true) && is_token == Some(true) { Who::Mixed } else { Who::Unknown };
    }
    let id = first.session;
    let is_known = sessions.visit(id, |session| {
        let token = session.token_at(shop.now);
        let fits = fits(requested.cookie, id, Some(session.cookie)) && fits(requested.token, id, token);
        if fits {
            session.requests += 1;
            shop.state.books.count(id, &session.user, shop.path);
        }
        fits
    });
    if is_known == Some(true) { Who::Known(id) } else { Who::Unknown }
}

/// The result of `look` for the session of the client, or for a new one that begins with this request; then the
/// response sets its cookie. `None` when the session was displaced by others meanwhile.
fn known_or_new<T>(
    who: &Who,
    kind: Kind,
    shop: &mut Shop<'_>,
    look: impl FnOnce(&mut Session) -> T,
) -> Option<(SessionId, Kind, T)> {
    if let Who::Known(id) = who {
        return shop.state.sessions.visit(*id, look).map(|seen| (*id, kind, seen));
    }
    let mut session = Session::new(&mut shop.shop_thread.random);
    let (secret, seen) = (session.cookie, look(&mut session));
    let id = shop.begin(session);
    Some((id, with_cookie(kind, Key { session: id, secret }, shop), seen))
}

fn form_of_login(who: &Who, shop: &mut Shop<'_>) -> Reply {
    let page = html(String::new());
    let found = known_or_new(who, page.kind, shop, |session| session.csrf);
    let Some((_, kind, csrf)) = found else { return unknown(LOST) };
    Reply { status: 200, kind, body: pages::login(csrf).into_bytes() }
}

/// The response of a page for a known session.
fn visit(id: SessionId, page: ShopPage, requested: &ShopRequest, said: &FormFields, shop: &mut Shop<'_>) -> Reply {
    if page == ShopPage::Logout {
        shop.state.sessions.end(id);
        return see(Kind::new(TEXT).with("Set-Cookie", COOKIE_END), "/login");
    }
    if page == ShopPage::Login {
        return log_in(id, said, shop);
    }
    let done = shop.state.sessions.visit(id, |session| {
        if session.user.is_empty() {
            return Some(unknown("this session has no user yet: log in first"));
        }
        match (page, requested.method) {
            (ShopPage::Account, _) => match requested.query("user") {
                Some(user) if *user != *session.user => None,
                _ => Some(json(200, session_json(id, session))),
            },
            (ShopPage::Session(named), _) => (named == id).then(|| json(200, session_json(id, session))),
            (ShopPage::Cart, Method::Post) => Some(put_into_cart(session, said)),
            (ShopPage::Cart, Method::Delete) => {
                session.cart.clear();
                Some(json(200, session.cart.to_json()))
            }
            (ShopPage::Cart, _) => Some(json(200, session.cart.to_json())),
            (ShopPage::Pay, _) => Some(pay(session, requested, said)),
            _ => Some(show_order(session)),
        }
    });
    match done {
        Some(Some(action)) => action,
        Some(None) => mixed("this is the session of another user", shop),
        None => unknown(LOST),
    }
}

/// Logs in. The token of the form must belong to the session of the cookie, otherwise the request was not intended by
/// the user.
fn log_in(id: SessionId, said: &FormFields, shop: &mut Shop<'_>) -> Reply {
    let csrf = said.get("csrf").and_then(hex);
    let Some(user) = user_of(said) else { return bad(NO_USER) };
    let (cookie, next) = (shop.shop_thread.random.next_u64(), shop.shop_thread.random.next_u64());
    let is_own = shop.state.sessions.visit(id, |session| {
        let is_own = csrf == Some(session.csrf);
        if is_own {
            if session.user.is_empty() {
                shop.state.books.count_user(user, shop.path);
            }
            // A cookie from before the login does not give access to the user's session.
            (session.cookie, session.csrf, session.user) = (cookie, next, user.into());
        }
        is_own
    });
    match is_own {
        Some(true) => {
            let key = Key { session: id, secret: cookie };
            see(with_cookie(Kind::new(TEXT), key, shop), "/account")
        }
        Some(false) if said.get("csrf").is_none() => bad("the form has no csrf: take it from /login"),
        Some(false) => mixed("the csrf of the form is not that of the session", shop),
        None => unknown(LOST),
    }
}

fn put_into_cart(session: &mut Session, said: &FormFields) -> Reply {
    let Some(item) = said.get("sku").and_then(Item::parse) else {
        return bad("the form has no sku, like 7 or /items/7");
    };
    let count = said.get("count").map_or(Some(1), |text| number(text, COUNT_MAX));
    let Some(count) = count else { return bad("count is from 1 to 1000") };
    match session.cart.add(item, count) {
        Ok(()) => json(200, session.cart.to_json()),
        Err(NoRoom::Lines) => refusal(409, "the cart holds 20 different items"),
        Err(NoRoom::Count) => refusal(409, "the cart holds 1000 pieces of an item"),
    }
}

fn pay(session: &mut Session, requested: &ShopRequest, said: &FormFields) -> Reply {
    let looks = said.get("looks").map(str::to_owned).or_else(|| requested.query("looks"));
    let Some(ready_at) = looks.map_or(Some(LOOKS_USUAL), |text| number(&text, LOOKS_MAX)) else {
        return bad("looks is from 1 to 1000");
    };
    if session.cart.is_empty() {
        return refusal(409, "the cart is empty");
    }
    let order = PaidOrder { cents: session.cart.cents(), looks: 0, ready_at };
    session.cart.clear();
    session.order = Some(order);
    json(202, order_json(order))
}

fn show_order(session: &mut Session) -> Reply {
    let Some(order) = &mut session.order else {
        return refusal(404, "there is no order: post to /pay first");
    };
    order.looks = order.looks.saturating_add(1);
    json(200, order_json(*order))
}

/// Deletes the cookie of a session.
const COOKIE_END: &str = "sid=; Path=/; Max-Age=0";
const NO_USER: &str = "the form has no user, of 1 to 64 bytes";

fn user_of(said: &FormFields) -> Option<&str> {
    said.get("user").filter(|user| (1..=USER_BYTES_MAX).contains(&user.len()))
}

fn unread(why: Unread) -> Reply {
    match why {
        Unread::Kind => refusal(415, "a form or a JSON object is read here, by its Content-Type"),
        Unread::Broken => bad("the body is no JSON object"),
    }
}

fn with_cookie(kind: Kind, key: Key, shop: &Shop<'_>) -> Kind {
    let secure = if shop.is_secure { "; Secure" } else { "" };
    kind.with("Set-Cookie", format!("{COOKIE}={key}; Path=/; HttpOnly; SameSite=Lax{secure}"))
}

fn session_json(id: SessionId, session: &Session) -> String {
    let Session { user, requests, .. } = session;
    format!("{{\"user\":{},\"session\":\"{id}\",\"requests\":{requests}}}\n", text_of_json(user))
}

fn order_json(order: PaidOrder) -> String {
    let state = if order.looks >= order.ready_at { "paid" } else { "pending" };
    format!("{{\"state\":\"{state}\",\"looks\":{},\"total\":{}}}\n", order.looks, Price(order.cents))
}

/// Requests by session; sessions beyond the limit are only counted.
fn sessions_json(sessions: &Sessions) -> String {
    let (mut body, mut listed, mut left_off) = ("{\"sessions\":[".to_owned(), 0, 0u64);
    sessions.each(|id, session| {
        if listed < LISTED_MAX {
            body.push_str(if listed > 0 { "," } else { "" });
            body.push_str(session_json(id, session).trim_end());
            listed += 1;
        } else {
            left_off += 1;
        }
    });
    body.push_str(&format!("],\"left_off\":{left_off}}}\n"));
    body
}

/// The response to values of different users.
fn mixed(why: &str, shop: &mut Shop<'_>) -> Reply {
    shop.seen.is_mixed = true;
    refusal(403, why)
}

#[cfg(test)]
mod tests;
