//! Steps that change the cookies of a user.

use plan::TextContext;

use crate::diagnostic::{CookieFault, Problem, Things, shortened};
use crate::file::{Action, CookieChange};
use crate::keys::COOKIES;
use crate::reader::{Fields, Read, Reader};

/// The most cookies of one step; a user keeps no more.
const COOKIES_MAX: usize = plan::JAR_COOKIES_MAX;

/// `cookies: {clear: true, set: {lang: de}}`: they are removed first.
pub(super) fn change(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Read<(Action, String)> {
    let node = fields.need(reader, "cookies")?;
    let mut fields = Fields::open(reader, node, &COOKIES)?;
    let clear = fields.get("clear").and_then(|node| reader.switch(node)).unwrap_or(false);
    let mut set = Vec::new();
    let named = fields.get("set").map(|node| super::bounded(reader, node, Things::Cookies, COOKIES_MAX));
    for (name, at, node) in named.into_iter().flatten() {
        let is_sound = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&byte));
        if !is_sound {
            reader.found.add(at, Problem::Cookies(CookieFault::Name(shortened(name))));
            continue;
        }
        set.extend(reader.pattern(node, TextContext::Text).map(|value| (name.to_owned(), value)));
    }
    if !clear && fields.given(&["set"]).is_empty() {
        reader.found.add(node.at, Problem::Cookies(CookieFault::Nothing));
    }
    fields.close();
    Some((Action::Cookies(CookieChange { clear, set }), "cookies".to_owned()))
}
