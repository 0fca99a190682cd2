//! Cookie files in the formats of curl: that of Netscape, or heads of responses.

use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// As curl: the most cookies of one request,
const SENT_MAX: usize = 150;
/// in a line that is shorter than this, with its name;
const LINE_SENT_BYTES: usize = 8_113;
/// the most bytes of a line of a file,
const LINE_BYTES_MAX: usize = 4_998;
/// and of a cookie that a server sets; of its name or its value one less.
const COOKIE_BYTES_MAX: usize = 4_096;

/// One cookie, and where it goes (RFC 6265).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cookie {
    name: String,
    value: String,
    /// `None`: its line names none; curl sends it to hosts that are addresses.
    domain: Option<String>,
    /// Whether hosts below the domain get it too.
    has_tail: bool,
    /// The path as written; the order depends on its length.
    path_written: String,
    path: String,
    is_secure: bool,
    /// Whether it ends with the session.
    is_of_session: bool,
}

/// Adds the cookies of a file; one replaces another of the same name, domain and path.
pub(crate) fn read(bytes: &[u8], without_sessions: bool, all: &mut Vec<Cookie>) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |span| span.as_secs());
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines().filter(|line| line.len() <= LINE_BYTES_MAX) {
        let is_of_head = line.get(..11).is_some_and(|front| front.eq_ignore_ascii_case("set-cookie:"));
        let Some(cookie) = (if is_of_head { parse_header(&line[11..], now) } else { parse_netscape(line, now) }) else {
            continue;
        };
        if !is_allowed(&cookie) {
            continue;
        }
        let is_same = |other: &Cookie| {
            other.name.eq_ignore_ascii_case(&cookie.name)
                && (&other.domain, other.has_tail) == (&cookie.domain, cookie.has_tail)
                && other.path.eq_ignore_ascii_case(&cookie.path)
        };
        match all.iter_mut().find(|other| is_same(other)) {
            Some(other) => *other = cookie,
            None => all.push(cookie),
        }
    }
    all.retain(|cookie| !(without_sessions && cookie.is_of_session));
}

/// Those that go to a host and a path, in the order of curl: longer paths first, then longer domains, longer names,
/// later ones. False: the line is full, and takes nothing more.
#[inline]
pub(crate) fn pick(all: &[Cookie], host: &str, path: &str, is_tls: bool) -> (Vec<Vec<u8>>, bool) {
    let mut picked: Vec<&Cookie> =
        all.iter().filter(|cookie| cookie.goes_to(host, path, is_tls)).take(SENT_MAX).collect();
    picked.reverse();
    picked.sort_by_key(|cookie| {
        let domain = cookie.domain.as_ref().map_or(0, String::len);
        std::cmp::Reverse((cookie.path_written.len(), domain, cookie.name.len()))
    });
    let mut length = "Cookie: ".len();
    let (mut sent, count) = (Vec::new(), picked.len());
    for cookie in picked {
        let text = format!("{}={}", cookie.name, cookie.value).into_bytes();
        if length + text.len() >= LINE_SENT_BYTES {
            break;
        }
        length += text.len() + if sent.is_empty() { 0 } else { "; ".len() };
        sent.push(text);
    }
    let has_room = sent.len() == count;
    (sent, has_room)
}

impl Cookie {
    #[inline]
    fn goes_to(&self, host: &str, path: &str, is_tls: bool) -> bool {
        let host = host.to_ascii_lowercase();
        let is_address = is_address(&host);
        let is_at_host = match &self.domain {
            None => is_address,
            Some(domain) if host == *domain => true,
            // As curl: a domain of one label has no subdomains.
            Some(domain) => {
                self.has_tail && !is_address && domain.contains('.') && host.ends_with(&format!(".{domain}"))
            }
        };
        let path = if path.starts_with('/') { path } else { "/" };
        let is_in_path = self.path == "/"
            || path.strip_prefix(&self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        // This machine counts as secure.
        let is_safe = is_tls || matches!(host.as_str(), "localhost" | "127.0.0.1" | "::1");
        is_at_host && is_in_path && (is_safe || !self.is_secure)
    }
}

#[inline]
pub(crate) fn is_address(host: &str) -> bool {
    host.parse::<std::net::IpAddr>().is_ok()
}

/// Names that promise something keep their promise.
fn is_allowed(cookie: &Cookie) -> bool {
    if cookie.name.starts_with("__Host-") {
        cookie.is_secure && cookie.path_written == "/" && !cookie.has_tail
    } else {
        !cookie.name.starts_with("__Secure-") || cookie.is_secure
    }
}

/// The value of a `Set-Cookie:` line.
fn parse_header(text: &str, now: u64) -> Option<Cookie> {
    let mut parts = text.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
    // What a server sets has no control characters, and is not too long; lines of the other kind are taken as they are.
    let is_clean = |text: &str| text.len() < COOKIE_BYTES_MAX - 1 && !text.bytes().any(|byte| byte.is_ascii_control());
    let is_fit = is_clean(&name) && is_clean(&value) && name.len() + value.len() <= COOKIE_BYTES_MAX;
    if name.is_empty() || !is_fit {
        return None;
    }
    let mut cookie = Cookie {
        name,
        value,
        domain: None,
        has_tail: false,
        path_written: String::new(),
        path: "/".to_owned(),
        is_secure: false,
        is_of_session: true,
    };
    let (mut most, mut expires) = (None, None);
    for part in parts {
        let (attribute, value) = part.split_once('=').map_or((part, ""), |(name, value)| (name, value));
        let (attribute, value) = (attribute.trim().to_ascii_lowercase(), value.trim());
        match attribute.as_str() {
            "secure" => cookie.is_secure = true,
            "path" if !value.is_empty() => {
                cookie.path_written = value.to_owned();
                cookie.path = clean_path(value);
            }
            "domain" if !value.is_empty() => {
                let domain = value.strip_prefix('.').unwrap_or(value).to_ascii_lowercase();
                let has_dot = domain.find('.').is_some_and(|place| place + 1 < domain.len());
                if !has_dot && domain != "localhost" {
                    return None;
                }
                cookie.has_tail = !is_address(&domain);
                cookie.domain = Some(domain);
            }
            // An invalid number expires at once.
            "max-age" => most = Some(value.trim_matches('"').parse::<i64>().unwrap_or(0)),
            "expires" => expires = seconds_of(value),
            _ => {}
        }
    }
    let is_over = most.map_or_else(|| expires.is_some_and(|expires| expires < now as i64), |most| most <= 0);
    cookie.is_of_session = most.is_none() && expires.is_none();
    (!is_over).then_some(cookie)
}

/// A line with seven fields separated by tabs.
fn parse_netscape(line: &str, now: u64) -> Option<Cookie> {
    let line = line.strip_prefix("#HttpOnly_").unwrap_or(line).trim_start_matches([' ', '\t']);
    if line.starts_with('#') {
        return None;
    }
    let mut fields: Vec<&str> = line.split('\t').filter(|field| !field.is_empty()).collect();
    // An empty path counts as none.
    if fields.get(2).is_some_and(|path| matches!(*path, "TRUE" | "FALSE")) {
        fields.insert(2, "/");
    }
    if fields.len() == 6 {
        fields.push("");
    }
    let [domain, tail, path, secure, expires, name, value] = *fields.as_slice() else { return None };
    let expires = expires.parse::<u64>().ok()?;
    if expires > 0 && expires < now {
        return None;
    }
    Some(Cookie {
        name: name.to_owned(),
        value: value.to_owned(),
        domain: Some(domain.strip_prefix('.').unwrap_or(domain).to_ascii_lowercase()),
        has_tail: tail.eq_ignore_ascii_case("TRUE"),
        path_written: path.to_owned(),
        path: clean_path(path),
        is_secure: secure.eq_ignore_ascii_case("TRUE"),
        is_of_session: expires == 0,
    })
}

/// A path without quotes, and without a slash at the end; an invalid path is the root.
fn clean_path(path: &str) -> String {
    let path = path.strip_prefix('"').unwrap_or(path);
    let path = path.strip_suffix('"').unwrap_or(path);
    if !path.starts_with('/') {
        return "/".to_owned();
    }
    if path.len() > 1 { path.strip_suffix('/').unwrap_or(path) } else { path }.to_owned()
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Seconds since 1970 of a date in any of the forms that servers write; `None` for an invalid date.
#[inline]
pub(crate) fn seconds_of(text: &str) -> Option<i64> {
    let (mut day, mut month, mut year, mut clock) = (None, None, None, (0, 0, 0));
    for word in text.split(|each: char| !each.is_ascii_alphanumeric() && each != ':').filter(|word| !word.is_empty()) {
        if word.contains(':') {
            let mut parts = word.split(':').map(|part| part.parse::<i64>().ok());
            let mut part = || parts.next().unwrap_or(Some(0)).filter(|part| (0..=60).contains(part));
            clock = (part()?, part()?, part()?);
        } else if let Ok(number) = word.parse::<i64>() {
            match (day, number) {
                (None, 1..=31) => day = Some(number),
                // Two digits mean this century, or the last one.
                (_, 0..=69) => year = Some(2000 + number),
                (_, 70..=99) => year = Some(1900 + number),
                // No calendar goes further.
                (_, 0..=9_999) => year = Some(number),
                _ => return None,
            }
        } else if let Some(place) = MONTHS.iter().position(|name| word.to_ascii_lowercase().starts_with(name)) {
            month = Some(place as i64 + 1);
        }
    }
    let (day, month, year) = (day?, month?, year?);
    // Days since 1970, with years that begin in March.
    let (shifted, year) = if month > 2 { (month - 3, year) } else { (month + 9, year - 1) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * shifted + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + clock.0 * 3_600 + clock.1 * 60 + clock.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_every_form() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Tue, 01 Jan 2019 00:00:00 GMT", Some(1_546_300_800)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
            ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
            ("Thu, 29-Feb-2024 12:00:00 GMT", Some(1_709_208_000)),
            ("01 Jan 99", Some(915_148_800)),
            ("whatever", None),
            ("Nov 1994", None),
            ("01 Jan 9223372036854775807", None),
            ("01 Jan 2000 9223372036854775807:00", None),
            ("", None),
        ] {
            assert_eq!(seconds_of(text), seconds, "{text}");
        }
    }

    #[test]
    fn a_cookie_goes_where_its_line_says() {
        let goes = |line: &str, host: &str, path: &str| {
            let mut all = Vec::new();
            read(line.as_bytes(), false, &mut all);
            !pick(&all, host, path, false).0.is_empty()
        };
        for (line, host, path, expected) in [
            ("Set-Cookie: a=1", "127.0.0.1", "/", true),
            ("Set-Cookie: a=1", "h.test", "/", false),
            ("set-cookie: a=1; Domain=h.test", "h.test", "/", true),
            ("set-cookie: a=1; domain=h.test", "x.h.test", "/", true),
            ("set-cookie: a=1; domain=h.test", "xh.test", "/", false),
            ("set-cookie: a=1; domain=test", "h.test", "/", false),
            ("set-cookie: a=1; domain=h.test; secure", "h.test", "/", false),
            ("Set-Cookie: a=1; path=/x", "127.0.0.1", "/x/y", true),
            ("Set-Cookie: a=1; path=/x", "127.0.0.1", "/xy", false),
            ("Set-Cookie: a=1; max-age=0", "127.0.0.1", "/", false),
            ("h.test\tFALSE\t/\tFALSE\t0\ta\t1", "x.h.test", "/", false),
            (".h.test\tTRUE\t/\tFALSE\t0\ta\t1", "x.h.test", "/", true),
            ("h.test\tFALSE\t/\tFALSE\tnever\ta\t1", "h.test", "/", false),
            ("X-Other: Set-Cookie: a=1", "127.0.0.1", "/", false),
        ] {
            assert_eq!(goes(line, host, path), expected, "{line} {host}{path}");
        }
    }
}
