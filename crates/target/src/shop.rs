//! A small shop, for users that log in, take a token, look at items, fill a cart, pay and wait until that is done.
//!
//! Values that only one user may know (a cookie, a token, the hidden field of a form) are checked wherever they come
//! back. When two of them belong to different users the response is 403, and it is counted: a client that mixes up its
//! users is detected. Secrets are random, but not cryptographically: this is no place for valuable data.

mod cart;
mod pages;
mod requested;
mod sessions;

use pacing::Random;

pub(crate) use pages::ShopPage;
pub(crate) use requested::{Method, ShopRequest};
pub(crate) use sessions::Sessions;

use cart::{COUNT_MAX, Item, NoRoom, Price};
use requested::{COOKIE, FormFields, Proof, Unread};
use sessions::{Key, PaidOrder, Session, SessionId, USER_BYTES_MAX, hex};

use crate::respond::Kind;

/// The largest accepted form.
pub(crate) const FORM_BYTES_MAX: usize = 16 * 1024;
/// Number of polls until an order is ready, unless the payer requests another.
const LOOKS_USUAL: u32 = 3;
/// The largest number of polls that a payer may request.
const LOOKS_MAX: u32 = 1_000;
/// Maximum number of sessions that are listed one by one.
const LISTED_MAX: usize = 10_000;

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
    pub(crate) sessions: &'a Sessions,
    /// Whether cookies are sent over TLS only.
    pub(crate) is_secure: bool,
    pub(crate) seen: Seen,
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

/// A response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) kind: Kind,
    pub(crate) body: String,
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
        return json(200, sessions_json(shop.sessions));
    }
    let Some(body) = body else { return refusal(413, "the form is too large") };
    let who = who(requested, shop.sessions);
    match &who {
        Who::Known(_) => shop.seen.is_of_session = true,
        Who::Unknown => shop.seen.is_unknown = true,
        Who::Mixed => return mixed("the cookie and the token are those of different sessions", shop),
        Who::Nobody => {}
    }
    if page.is_open() {
        return open_page(page, requested);
    }
    let said = match requested.method {
        Method::Post => FormFields::read(requested.form, body),
        _ => Ok(FormFields::default()),
    };
    let said = match said {
        Ok(said) => said,
        Err(Unread::Kind) => return refusal(415, "a form or a JSON object is read here, by its Content-Type"),
        Err(Unread::Broken) => return bad("the body is no JSON object"),
    };
    match (page, requested.method, who) {
        (ShopPage::Login, Method::Get, who) => form_of_login(&who, shop),
        (ShopPage::Token, _, who) => give_token(&who, &said, shop),
        (_, _, Who::Known(id)) => visit(id, page, requested, &said, shop),
        _ => unknown("no session: ask for /login or /api/token first, and send its cookie or token"),
    }
}

/// The session of the cookie and the token. A request counts for its session.
fn who(requested: &ShopRequest, sessions: &Sessions) -> Who {
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
        let is_token = sessions.visit(second.session, |session| session.token == Some(second.secret));
        return if is_cookie == Some(true) && is_token == Some(true) { Who::Mixed } else { Who::Unknown };
    }
    let id = first.session;
    let is_known = sessions.visit(id, |session| {
        let fits = fits(requested.cookie, id, Some(session.cookie)) && fits(requested.token, id, session.token);
        session.requests += u64::from(fits);
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
        return shop.sessions.visit(*id, look).map(|seen| (*id, kind, seen));
    }
    let mut session = Session::new(&mut shop.shop_thread.random);
    let (secret, seen) = (session.cookie, look(&mut session));
    let id = shop.sessions.keep(shop.shop_thread.turn, session);
    shop.shop_thread.turn = shop.shop_thread.turn.wrapping_add(1);
    shop.seen.is_of_session = true;
    Some((id, with_cookie(kind, Key { session: id, secret }, shop), seen))
}

fn form_of_login(who: &Who, shop: &mut Shop<'_>) -> Reply {
    let found = known_or_new(who, Kind::new(HTML), shop, |session| session.csrf);
    let Some((_, kind, csrf)) = found else { return unknown(LOST) };
    Reply { status: 200, kind, body: pages::login(csrf) }
}

fn give_token(who: &Who, said: &FormFields, shop: &mut Shop<'_>) -> Reply {
    let Some(user) = user_of(said) else { return bad(NO_USER) };
    let secret = shop.shop_thread.random.next_u64();
    let found = known_or_new(who, Kind::new(JSON), shop, |session| {
        (session.token, session.user) = (Some(secret), user.into());
    });
    let Some((session, kind, ())) = found else { return unknown(LOST) };
    let token = Key { session, secret };
    let body = format!("{{\"token\":\"{token}\",\"session\":\"{session}\",\"user\":{}}}\n", text_of_json(user));
    Reply { status: 201, kind, body }
}

/// The response of a page for a known session.
fn visit(id: SessionId, page: ShopPage, requested: &ShopRequest, said: &FormFields, shop: &mut Shop<'_>) -> Reply {
    if page == ShopPage::Logout {
        shop.sessions.end(id);
        return see(Kind::new(TEXT).with("Set-Cookie", COOKIE_END), "/login");
    }
    if page == ShopPage::Login {
        return log_in(id, said, shop);
    }
    let done = shop.sessions.visit(id, |session| {
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
    let is_own = shop.sessions.visit(id, |session| {
        let is_own = csrf == Some(session.csrf);
        if is_own {
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

/// The response of a page that needs no session.
fn open_page(page: ShopPage, requested: &ShopRequest) -> Reply {
    match page {
        ShopPage::Item(number) => {
            let Some(item) = Item::new(number) else { return refusal(404, "there is no such item") };
            let kind = Kind::new(JSON).with("ETag", item.tag());
            if requested.has(item) {
                return Reply { status: 304, kind, body: String::new() };
            }
            let (price, stock, next) = (Price(item.cents()), item.stock(), item.next());
            let body = format!(
                "{{\"sku\":{item},\"name\":\"item {item}\",\"price\":{price},\"stock\":{stock},\"next\":\"/items/{next}\"}}\n"
            );
            Reply { status: 200, kind, body }
        }
        ShopPage::Search => {
            let Some(text) = requested.query("q") else { return bad("ask like /search?q=tea") };
            json(200, pages::found(&text))
        }
        _ => {
            let page = requested.query("page").map_or(Some(1), |text| number(&text, pages::COUNT));
            page.map_or_else(
                || bad("page is from 1 to 50000"),
                |page| Reply { status: 200, kind: Kind::new(HTML), body: pages::items(page) },
            )
        }
    }
}

/// Deletes the cookie of a session.
const COOKIE_END: &str = "sid=; Path=/; Max-Age=0";
const TEXT: &str = "text/plain";
const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const LOST: &str = "the session is no more: too many came after it";
const NO_USER: &str = "the form has no user, of 1 to 64 bytes";

fn user_of(said: &FormFields) -> Option<&str> {
    said.get("user").filter(|user| (1..=USER_BYTES_MAX).contains(&user.len()))
}

/// A number from 1 to `most`.
fn number(text: &str, most: u32) -> Option<u32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && (1..=most).contains(number))
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

fn text_of_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn json(status: u16, body: String) -> Reply {
    Reply { status, kind: Kind::new(JSON), body }
}

fn see(kind: Kind, location: &'static str) -> Reply {
    Reply { status: 302, kind: Kind { location: Some(location), ..kind }, body: "elsewhere\n".to_owned() }
}

fn refused(status: u16, kind: Kind, why: &str) -> Reply {
    Reply { status, kind, body: format!("{why}\n") }
}

fn refusal(status: u16, why: &str) -> Reply {
    refused(status, Kind::new(TEXT), why)
}

fn bad(why: &str) -> Reply {
    refusal(400, why)
}

/// RFC 9110 15.5.2: the response names the authentication scheme.
fn unknown(why: &str) -> Reply {
    refused(401, Kind::new(TEXT).with("WWW-Authenticate", "Bearer"), why)
}

/// The response to values of different users.
fn mixed(why: &str, shop: &mut Shop<'_>) -> Reply {
    shop.seen.is_mixed = true;
    refusal(403, why)
}

#[cfg(test)]
mod tests;
