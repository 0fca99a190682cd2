//! The cookies of one user, stored as browsers store them (RFC 6265 and its revision).
//!
//! Public suffixes, under which anybody may register a name, get no cookies. The full list changes every week and takes
//! megabytes, so it is not included: a name of one label is such a suffix, and so is one like `co.uk` or `com.cn`.

use crate::cookies::{is_address, seconds_of};

/// The most cookies of one user; a further one replaces the oldest.
pub const JAR_COOKIES_MAX: usize = 300;
/// The most bytes of a name with its value; a longer cookie is rejected.
pub const COOKIE_BYTES_MAX: usize = 4_096;
/// The most bytes of the value of an attribute; a longer one is ignored.
const ATTRIBUTE_BYTES_MAX: usize = 1_024;
/// Labels before a country code that make a public suffix.
const SECOND_LEVELS: [&str; 10] = ["ac", "co", "com", "edu", "go", "gov", "ne", "net", "or", "org"];

/// The origin and path of a request, or of a response.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint<'a> {
    /// The host in lower case, without a port.
    pub host: &'a str,
    /// The path without a query.
    pub path: &'a str,
    /// Whether it uses TLS.
    pub is_tls: bool,
}

impl Endpoint<'_> {
    /// Whether it counts as secure: this machine does.
    #[inline]
    fn is_safe(&self) -> bool {
        self.is_tls || matches!(self.host, "localhost" | "127.0.0.1" | "::1" | "[::1]")
    }
}

/// The cookies of one user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jar {
    /// The cookies, the oldest first.
    cookies: Vec<StoredCookie>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct StoredCookie {
    /// `name=value`, domain and path, concatenated.
    text: Box<str>,
    name_bytes: u16,
    pair_bytes: u16,
    domain_bytes: u16,
    is_of_host: bool,
    is_secure: bool,
    /// The expiry, in seconds since 1970.
    expires: u64,
}

/// A parsed `Set-Cookie` field.
struct SetCookie<'a> {
    name: &'a str,
    value: &'a str,
    domain: Option<String>,
    path: Option<&'a str>,
    is_secure: bool,
    /// Seconds since 1970; `None`: until the user ends.
    expires: Option<i64>,
}

impl Jar {
    /// Stores the cookie of a `Set-Cookie` field, unless it is not allowed. `now_s`: seconds since 1970. True when
    /// something changed.
    #[inline]
    pub fn store(&mut self, field: &[u8], from: Endpoint<'_>, now_s: u64) -> bool {
        let text = String::from_utf8_lossy(field);
        let Some(said) = SetCookie::parse(&text, now_s) else { return false };
        let Some(kept) = self.admitted(&said, from) else { return false };
        let same = self.cookies.iter().position(|other| other.key() == kept.key());
        if kept.expires <= now_s {
            return same.map(|place| self.cookies.remove(place)).is_some();
        }
        match same {
            // It keeps its age.
            Some(place) if self.cookies[place] == kept => return false,
            Some(place) => self.cookies[place] = kept,
            None => {
                if self.cookies.len() >= JAR_COOKIES_MAX {
                    self.cookies.remove(0);
                }
                self.cookies.push(kept);
            }
        }
        true
    }

    /// The cookie to store; `None` if it is not allowed.
    #[inline]
    fn admitted(&self, said: &SetCookie<'_>, from: Endpoint<'_>) -> Option<StoredCookie> {
        let domain = said.domain.as_deref().filter(|domain| !domain.is_empty());
        let is_of_suffix = domain.is_some_and(is_suffix);
        let (domain, is_of_host) = match domain {
            Some(domain) if is_of_suffix => (domain, true),
            Some(domain) => (domain, false),
            None => (from.host, true),
        };
        let is_kept = if is_of_host { domain == from.host } else { is_within(from.host, domain) };
        let path = said.path.filter(|path| path.starts_with('/')).unwrap_or_else(|| folder(from.path));
        let is_safe = from.is_safe() || !(said.is_secure || self.is_hidden(said.name, domain, path));
        let keeps_word = keeps_word(said, is_of_host && said.domain.is_none());
        if !is_kept || !is_safe || !keeps_word {
            return None;
        }
        let pair = if said.name.is_empty() { said.value.to_owned() } else { format!("{}={}", said.name, said.value) };
        Some(StoredCookie {
            name_bytes: said.name.len() as u16,
            pair_bytes: pair.len() as u16,
            domain_bytes: u16::try_from(domain.len()).ok()?,
            text: format!("{pair}{domain}{path}").into(),
            is_of_host,
            is_secure: said.is_secure,
            expires: said.expires.map_or(u64::MAX, |at| u64::try_from(at).unwrap_or(0)),
        })
    }

    /// Whether there is a secure cookie of this name, which an insecure one must not hide.
    #[inline]
    fn is_hidden(&self, name: &str, domain: &str, path: &str) -> bool {
        self.cookies.iter().any(|kept| {
            kept.is_secure
                && kept.name() == name
                && (is_within(kept.domain(), domain) || is_within(domain, kept.domain()))
                && is_below(path, kept.path())
        })
    }

    /// Writes the value of `Cookie` for a request; nothing when no cookie matches. Those of longer paths come first,
    /// then the older ones.
    #[inline]
    pub fn write(&self, to: Endpoint<'_>, now_s: u64, out: &mut Vec<u8>) {
        let begins = out.len();
        let goes = |kept: &&StoredCookie| {
            let is_at_host = if kept.is_of_host { to.host == kept.domain() } else { is_within(to.host, kept.domain()) };
            is_at_host && is_below(to.path, kept.path()) && (!kept.is_secure || to.is_safe()) && kept.expires > now_s
        };
        let mut write = |kept: &StoredCookie| {
            if out.len() > begins {
                out.extend_from_slice(b"; ");
            }
            out.extend_from_slice(kept.pair().as_bytes());
        };
        // From the longest path to the shortest, without a list.
        let mut longest = self.cookies.iter().filter(goes).map(|kept| kept.path().len()).max();
        while let Some(length) = longest {
            let of_length = |kept: &&StoredCookie| goes(kept) && kept.path().len() == length;
            self.cookies.iter().filter(of_length).for_each(&mut write);
            longest =
                self.cookies.iter().filter(goes).map(|kept| kept.path().len()).filter(|other| *other < length).max();
        }
    }

    /// Removes all cookies.
    #[inline]
    pub fn clear(&mut self) {
        self.cookies.clear();
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Name and value of each, the oldest first.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.cookies.iter().map(|kept| (kept.name(), kept.value()))
    }

    /// Bytes on the heap.
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        self.cookies.capacity() * size_of::<StoredCookie>()
            + self.cookies.iter().map(|kept| kept.text.len()).sum::<usize>()
    }
}

impl StoredCookie {
    #[inline]
    fn name(&self) -> &str {
        &self.text[..usize::from(self.name_bytes)]
    }

    #[inline]
    fn pair(&self) -> &str {
        &self.text[..usize::from(self.pair_bytes)]
    }

    #[inline]
    fn value(&self) -> &str {
        let pair = self.pair();
        if self.name_bytes == 0 { pair } else { &pair[usize::from(self.name_bytes) + 1..] }
    }

    #[inline]
    fn domain(&self) -> &str {
        &self.text[usize::from(self.pair_bytes)..][..usize::from(self.domain_bytes)]
    }

    #[inline]
    fn path(&self) -> &str {
        &self.text[usize::from(self.pair_bytes) + usize::from(self.domain_bytes)..]
    }

    /// The identity of a cookie.
    #[inline]
    fn key(&self) -> (&str, &str, bool, &str) {
        (self.name(), self.domain(), self.is_of_host, self.path())
    }
}

impl<'a> SetCookie<'a> {
    #[inline]
    fn parse(text: &'a str, now_s: u64) -> Option<Self> {
        let is_control = |byte: u8| byte != b'\t' && byte.is_ascii_control();
        if text.bytes().any(is_control) {
            return None;
        }
        let mut parts = text.split(';');
        let pair = parts.next()?;
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        let (name, value) = (name.trim(), value.trim());
        if (name.is_empty() && value.is_empty()) || name.len() + value.len() > COOKIE_BYTES_MAX {
            return None;
        }
        let mut said = Self { name, value, domain: None, path: None, is_secure: false, expires: None };
        let (mut most, mut until) = (None, None);
        for part in parts {
            let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
            let (attribute, value) = (attribute.trim(), value.trim());
            if value.len() > ATTRIBUTE_BYTES_MAX {
                continue;
            }
            match attribute.to_ascii_lowercase().as_str() {
                "secure" => said.is_secure = true,
                "path" => said.path = Some(value),
                "domain" => said.domain = Some(value.strip_prefix('.').unwrap_or(value).to_ascii_lowercase()),
                "max-age" => most = seconds(value).or(most),
                "expires" => until = seconds_of(value).or(until),
                _ => {}
            }
        }
        said.expires = most.map(|most| (now_s as i64).saturating_add(most)).or(until);
        Some(said)
    }
}

/// A number of seconds; too large a one is the largest possible.
#[inline]
fn seconds(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(if digits.len() < text.len() { i64::MIN } else { i64::MAX }))
}

/// Whether the conditions of name prefixes are met. `is_bound`: it names no domain.
#[inline]
fn keeps_word(said: &SetCookie<'_>, is_bound: bool) -> bool {
    let begins = |text: &str, word: &str| text.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word));
    // A nameless cookie must not look as if it had a name.
    let promises = |word: &str| begins(said.name, word) || (said.name.is_empty() && begins(said.value, word));
    if promises("__Host-") {
        return said.is_secure && is_bound && said.path == Some("/") && !said.name.is_empty();
    }
    !promises("__Secure-") || (said.is_secure && !said.name.is_empty())
}

/// Whether the host is the domain, or below it.
#[inline]
fn is_within(host: &str, domain: &str) -> bool {
    let is_below = || host.strip_suffix(domain).is_some_and(|front| front.ends_with('.')) && !is_address(host);
    host == domain || is_below()
}

/// Whether the path is this folder, or below it.
#[inline]
fn is_below(path: &str, folder: &str) -> bool {
    let path = if path.starts_with('/') { path } else { "/" };
    let is_whole = |rest: &str| rest.is_empty() || folder.ends_with('/') || rest.starts_with('/');
    path.strip_prefix(folder).is_some_and(is_whole)
}

/// The folder of a path, which is the default path of a cookie.
#[inline]
fn folder(path: &str) -> &str {
    match path.rfind('/') {
        Some(place) if place > 0 && path.starts_with('/') => &path[..place],
        _ => "/",
    }
}

/// Whether anybody may register a name under it.
#[inline]
fn is_suffix(domain: &str) -> bool {
    match domain.split_once('.') {
        None => domain != "localhost",
        Some((second, top)) => top.len() == 2 && SECOND_LEVELS.contains(&second) && !is_address(domain),
    }
}

#[cfg(test)]
mod tests;
