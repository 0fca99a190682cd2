//! The pages of the shop: their paths, their methods, and their content.

use std::fmt::Write;
use std::str::FromStr;

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
    /// Pages of items as JSON.
    ItemsJson,
    Item(u32),
    Search,
    Cart,
    Pay,
    PaidOrder,
    /// A page with a limit of requests per second.
    Limited,
    /// Tokens for clients with credentials.
    OAuthToken,
    GraphQl,
    /// Takes files.
    Files,
    /// A file by its number.
    File(u64),
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
            ("limited", None) => Self::Limited,
            ("graphql", None) => Self::GraphQl,
            ("files", None) => Self::Files,
            ("oauth", Some("token")) => Self::OAuthToken,
            ("api", Some("items")) => Self::ItemsJson,
            ("api", Some("token")) => Self::Token,
            ("stats", Some("sessions")) => Self::Sessions,
            ("items", Some(number)) => return Some(numbered(number).map(Self::Item).ok_or(BadName)),
            ("files", Some(number)) => return Some(numbered(number).map(Self::File).ok_or(BadName)),
            ("api", Some(rest)) => {
                return Some(rest.strip_prefix("sessions/")?.parse().map(Self::Session).map_err(|()| BadName));
            }
            _ => return None,
        }))
    }

    /// Its index among the names of [`crate::paths::NAMES`], counted from the first of the shop.
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
            Self::ItemsJson => 14,
            Self::Limited => 15,
            Self::OAuthToken => 16,
            Self::GraphQl => 17,
            Self::Files | Self::File(_) => 18,
        }
    }

    /// Whether it needs no session.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Items | Self::ItemsJson | Self::Item(_) | Self::Search | Self::Limited)
            || matches!(self, Self::OAuthToken | Self::GraphQl | Self::Files | Self::File(_))
    }

    pub(super) fn methods(self) -> &'static [Method] {
        match self {
            Self::Login => &[Method::Get, Method::Post],
            Self::Logout | Self::Token | Self::Pay => &[Method::Post],
            Self::OAuthToken | Self::GraphQl | Self::Files => &[Method::Post],
            Self::Limited => &[Method::Get, Method::Post],
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

/// A number of decimal digits.
fn numbered<N: FromStr>(text: &str) -> Option<N> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// A page of items. Pages are numbered from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemsPage {
    pub(super) page: u32,
    /// The last page with items; `None` for a list without an end, whose first page follows the last one.
    pub(super) last: Option<u32>,
}

impl ItemsPage {
    fn items(self) -> impl Iterator<Item = Item> {
        let is_empty = self.last.is_some_and(|last| self.page > last);
        let numbers = (self.page - 1) * LINKS + 1..=self.page * LINKS;
        numbers.filter(move |_| !is_empty).filter_map(Item::new)
    }

    fn next(self) -> Option<u32> {
        match self.last {
            Some(last) => (self.page < last).then_some(self.page + 1),
            None => Some(self.page % COUNT + 1),
        }
    }

    /// A page of links.
    pub(super) fn to_html(self) -> String {
        let mut html = "<!DOCTYPE html>\n<html><head><title>Items</title></head><body>\n<ul>\n".to_owned();
        for item in self.items() {
            let price = Price(item.cents());
            writeln!(html, "<li><a class=\"item\" href=\"/items/{item}\">item {item}</a> <b>{price}</b></li>")
                .expect("writing to a string does not fail");
        }
        html.push_str("</ul>\n");
        if let Some(next) = self.next() {
            let last = self.last.map_or(String::new(), |last| format!("&amp;last={last}"));
            writeln!(html, "<a rel=\"next\" href=\"/items?page={next}{last}\">next</a>")
                .expect("writing to a string does not fail");
        }
        html.push_str("</body></html>\n");
        html
    }

    pub(super) fn to_json(self) -> String {
        let items = self.items().map(|item| {
            let price = Price(item.cents());
            format!("{{\"sku\":{item},\"path\":\"/items/{item}\",\"price\":{price}}}")
        });
        let items: Vec<String> = items.collect();
        let next = self.next().map_or("null".to_owned(), |next| next.to_string());
        format!("{{\"items\":[{}],\"page\":{},\"next\":{next}}}\n", items.join(","), self.page)
    }
}

/// The items that a search finds, and the sum of their prices: always the same for the same text.
pub(super) fn found(text: &str) -> String {
    // FNV-1a, 32 bits.
    let mixed = text.bytes().fold(0x811c_9dc5u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let items = (0..FOUND).filter_map(|nth| Item::new(mixed.wrapping_add(nth) % ITEMS_MAX + 1));
    let total = Price(items.clone().map(Item::cents).sum());
    let paths: Vec<String> = items.map(|item| format!("\"/items/{item}\"")).collect();
    let q = serde_json::Value::from(text);
    format!("{{\"q\":{q},\"items\":[{}],\"total\":{total}}}\n", paths.join(","))
}
