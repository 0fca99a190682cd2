//! Tokens: of users that give their name, and of clients with credentials (OAuth 2.0, RFC 6749 4.4).

use pacing::Nanos;

use super::reply::{JSON, LOST, Reply, bad, refused, text_of_json, unknown};
use super::requested::{FormFields, ShopRequest};
use super::sessions::{Key, Session, USER_BYTES_MAX};
use super::{NO_USER, Shop, Who, known_or_new, user_of};
use crate::millis::thousandths;
use crate::respond::Kind;

/// The longest lifetime of a token.
const TTL_MS_MAX: u64 = 86_400_000;
/// The lifetime of a client's token, unless it requests another.
const CLIENT_TTL_MS: u64 = 3_600_000;
const BAD_TTL: &str = "ttl is in seconds, like 2 or 0.5, and at most 86400";

/// The lifetime of a token in milliseconds; `None` for as long as its session.
struct Lifetime(Option<u64>);

impl Lifetime {
    /// The one in the query; `None` when it is not valid.
    fn requested(requested: &ShopRequest, usual: Option<u64>) -> Option<Self> {
        let Some(text) = requested.query("ttl") else { return Some(Self(usual)) };
        thousandths(&text).filter(|ms| (1..=TTL_MS_MAX).contains(ms)).map(|ms| Self(Some(ms)))
    }

    fn until(&self, now: Nanos) -> Nanos {
        self.0.map_or(Nanos::NEVER, |ms| now + Nanos::from_millis(ms))
    }

    /// The member of a JSON object that tells it, in seconds.
    fn member(&self) -> String {
        match self.0 {
            None => String::new(),
            Some(ms) if ms.is_multiple_of(1_000) => format!(",\"expires_in\":{}", ms / 1_000),
            Some(ms) => format!(",\"expires_in\":{}.{:03}", ms / 1_000, ms % 1_000),
        }
    }
}

/// Gives a token to a user, who is logged in by it, and by the cookie of its session.
pub(super) fn give(who: &Who, requested: &ShopRequest, said: &FormFields, shop: &mut Shop<'_>) -> Reply {
    let Some(user) = user_of(said) else { return bad(NO_USER) };
    let Some(lifetime) = Lifetime::requested(requested, None) else { return bad(BAD_TTL) };
    let (secret, until) = (shop.shop_thread.random.next_u64(), lifetime.until(shop.now));
    let found = known_or_new(who, Kind::new(JSON), shop, |session| {
        (session.token, session.token_until) = (Some(secret), until);
        std::mem::replace(&mut session.user, user.into()).is_empty()
    });
    let Some((session, kind, is_new)) = found else { return unknown(LOST) };
    if is_new {
        shop.state.books.count_user(user, shop.path);
    }
    let (token, expires) = (Key { session, secret }, lifetime.member());
    let user = text_of_json(user);
    let body = format!("{{\"token\":\"{token}\"{expires},\"session\":\"{session}\",\"user\":{user}}}\n");
    Reply { status: 201, kind, body: body.into_bytes() }
}

/// Gives a token to a client with credentials. Each begins a session, whose user is the client.
pub(super) fn give_to_client(requested: &ShopRequest, said: &FormFields, shop: &mut Shop<'_>) -> Reply {
    let in_form = || said.get("client_id").zip(said.get("client_secret"));
    let (id, secret) = match &requested.basic {
        Some(basic) => basic.split_once(':').unwrap_or_default(),
        None => in_form().unwrap_or_default(),
    };
    if !(1..=USER_BYTES_MAX).contains(&id.len()) || secret.is_empty() {
        let kind = Kind::new(JSON).with("WWW-Authenticate", "Basic realm=\"clients\"");
        return refused(401, kind, "{\"error\":\"invalid_client\"}");
    }
    match said.get("grant_type") {
        Some("client_credentials") => {}
        Some(_) => return refused(400, Kind::new(JSON), "{\"error\":\"unsupported_grant_type\"}"),
        None => return refused(400, Kind::new(JSON), "{\"error\":\"invalid_request\"}"),
    }
    let Some(lifetime) = Lifetime::requested(requested, Some(CLIENT_TTL_MS)) else { return bad(BAD_TTL) };
    let mut session = Session::new(&mut shop.shop_thread.random);
    let secret = shop.shop_thread.random.next_u64();
    (session.token, session.token_until) = (Some(secret), lifetime.until(shop.now));
    session.user = id.into();
    let session = shop.begin(session);
    shop.state.books.count_user(id, shop.path);
    let (token, expires) = (Key { session, secret }, lifetime.member());
    let scope = said.get("scope").map_or(String::new(), |scope| format!(",\"scope\":{}", text_of_json(scope)));
    let body = format!("{{\"access_token\":\"{token}\",\"token_type\":\"Bearer\"{expires}{scope}}}\n");
    // RFC 6749 5.1: nobody on the way may store it.
    Reply { status: 200, kind: Kind::new(JSON).with("Cache-Control", "no-store"), body: body.into_bytes() }
}
