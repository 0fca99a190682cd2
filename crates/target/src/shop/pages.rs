//! The pages of the shop: their paths, their methods, and their content.

use std::fmt::Write;

use super::cart::{ITEMS_MAX, Item, Price};
use super::requested::Method;
use super::sessions::SessionId;

/// Number of links on a page of items.
const LINKS: u32 = 20;
/// Number of pages of items.
pub(crate) const COUNT: u32 = ITEMS_MAX / LINKS;
/// Number of items that a search finds.
const FOUND: u32 = 5;

/// A page of the shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShopPage {
    Login,
    Logout,
    Account,
    Token,
    /// A session by its ID: for clients with its token.
    Session(SessionId),
    Items,
    Item(u32),
    Search,
    Cart,
    Pay,
    PaidOrder,
    /// Counts by session, of the whole server.
    Sessions,
}

/// A path of the shop with an invalid name or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadName;

impl ShopPage {
    /// The page of a path, by its first part and the rest; `None` if it is not in the shop.
    pub(crate) fn from_path(name: &str, rest: Option<&str>) -> Option<Result<Self, BadName>> {
        Some(Ok(match (name, rest) {
            ("login", None) => Self::Login,
            ("logout", None) => Self::Logout,
            ("account", None) => Self::Account,
            ("items", None) => Self::Items,
            ("search", None) => Self::Search,
            ("cart", None) => Self::Cart,
            ("pay", None) => Self::Pay,
            ("order", None) => Self::PaidOrder,
            ("api", Some("token")) => Self::Token,
            ("stats", Some("sessions")) => Self::Sessions,
            ("items", Some(number)) => {
                let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
                return Some(number.parse().ok().filter(|_| is_plain).map(Self::Item).ok_or(BadName));
            }
            ("api", Some(rest)) => {
                return Some(rest.strip_prefix("sessions/")?.parse().map(Self::Session).map_err(|()| BadName));
            }
            _ => return None,
        }))
    }

    /// Its index among the names of [`crate::routes::NAMES`], counted from the first of the shop.
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Login => 0,
            Self::Logout => 1,
            Self::Account => 2,
            Self::Token => 3,
            Self::Session(_) => 4,
            Self::Items | Self::Item(_) => 5,
            Self::Search => 6,
            Self::Cart => 7,
            Self::Pay => 8,
            Self::PaidOrder => 9,
            Self::Sessions => 10,
        }
    }

    /// Whether it needs no session.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Items | Self::Item(_) | Self::Search)
    }

    pub(super) fn methods(self) -> &'static [Method] {
        match self {
            Self::Login => &[Method::Get, Method::Post],
            Self::Logout | Self::Token | Self::Pay => &[Method::Post],
            Self::Cart => &[Method::Get, Method::Post, Method::Delete],
            _ => &[Method::Get],
        }
    }

    /// The methods in the form of `Allow`.
    pub(super) fn allow(self) -> &'static str {
        match self.methods() {
            [Method::Post] => "POST",
            [_, _, _] => "GET, HEAD, POST, DELETE",
            [_, _] => "GET, HEAD, POST",
            _ => "GET, HEAD",
        }
    }
}

/// The login form, with the token that has to come back.
pub(super) fn login(csrf: u64) -> String {
    format!(
        "<!DOCTYPE html>\n<html><head><title>Log in</title></head><body>\n\
         <form method=\"post\" action=\"/login\">\n\
         <input type=\"hidden\" name=\"csrf\" value=\"{csrf:016x}\">\n\
         <input name=\"user\"> <input type=\"password\" name=\"password\"> <button>Log in</button>\n\
         </form>\n</body></html>\n"
    )
}

/// A page of links; pages are numbered from 1.
pub(super) fn items(page: u32) -> String {
    let mut html = "<!DOCTYPE html>\n<html><head><title>Items</title></head><body>\n<ul>\n".to_owned();
    for item in ((page - 1) * LINKS + 1..=page * LINKS).filter_map(Item::new) {
        let price = Price(item.cents());
        writeln!(html, "<li><a class=\"item\" href=\"/items/{item}\">item {item}</a> <b>{price}</b></li>")
            .expect("writing to a string does not fail");
    }
    let next = page % COUNT + 1;
    writeln!(html, "</ul>\n<a rel=\"next\" href=\"/items?page={next}\">next</a>\n</body></html>")
        .expect("writing to a string does not fail");
    html
}

/// The items that a search finds: always the same for the same text.
pub(super) fn found(text: &str) -> String {
    // FNV-1a, 32 bits.
    let mixed = text.bytes().fold(0x811c_9dc5u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let items = (0..FOUND).filter_map(|nth| Item::new(mixed.wrapping_add(nth) % ITEMS_MAX + 1));
    let paths: Vec<String> = items.map(|item| format!("\"/items/{item}\"")).collect();
    let q = serde_json::Value::from(text);
    format!("{{\"q\":{q},\"items\":[{}]}}\n", paths.join(","))
}
