//! URLs in the manner of curl: path and query are sent as written.

use serde::{Deserialize, Serialize};
use std::fmt::Write;

use url::Url;

use crate::address::Address;
use crate::zone::{with_zone, without_zone};
use crate::{PlanError, masked_url};

/// A parsed URL, with its path as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CurlUrl {
    url: Url,
    /// The interface of a link-local address.
    zone: Option<String>,
    credentials: Option<Vec<u8>>,
    path: String,
    query: Option<String>,
    /// The host as written.
    written: String,
}

/// The reason why a URL is invalid.
pub(crate) enum CurlUrlFault {
    Glob,
    Plan(PlanError),
}

impl CurlUrl {
    /// `usual`: the scheme of a URL that has none, where somebody named one.
    pub(crate) fn parse(
        text: &str,
        usual: Option<&'static str>,
        path_as_is: bool,
        globoff: bool,
    ) -> Result<Self, CurlUrlFault> {
        let text = text.trim();
        let unglobbed = if globoff { text.to_owned() } else { without_globs(text).ok_or(CurlUrlFault::Glob)? };
        let text = unglobbed.as_str();
        let shown = masked_url(text);
        if text.chars().any(|each| each.is_ascii_control() || each == ' ') {
            return Err(wrong(&shown, "it holds a space or a control character; write it as %20"));
        }
        let (scheme, rest) = split_scheme(text).unwrap_or((usual.unwrap_or("http").to_owned(), text));
        if scheme != "http" && scheme != "https" {
            return Err(CurlUrlFault::Plan(PlanError::Scheme { url: shown, scheme }));
        }
        Self::from_parts(&scheme, rest, path_as_is).map_err(|reason| wrong(&shown, &reason))
    }

    /// `rest`: the text after the scheme and its slashes.
    #[inline]
    fn from_parts(scheme: &str, rest: &str, path_as_is: bool) -> Result<Self, String> {
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, behind) = rest.split_at(end);
        let (path, query) = match behind.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (behind, None),
        };
        let mut path = if path.is_empty() { "/".to_owned() } else { path.to_owned() };
        if !path_as_is {
            path = without_dots(&path);
        }
        let path = with_numbers(&path);
        let (credentials, host) = match authority.rsplit_once('@') {
            Some((credentials, host)) => (Some(credentials), host),
            None => (None, authority),
        };
        let credentials = credentials.map(|credentials| {
            let (name, password) = credentials.split_once(':').unwrap_or((credentials, ""));
            [percent_decode(name), b":".to_vec(), percent_decode(password)].concat()
        });
        let (host, zone) = without_zone(host)?;
        let host = host.as_ref();
        let url = Url::parse(&format!("{scheme}://{host}/")).map_err(|error| error.to_string())?;
        if url.port() == Some(0) {
            return Err("port 0 cannot be connected to".to_owned());
        }
        let bare = host
            .rsplit_once(':')
            .map_or(host, |(front, port)| if port.bytes().all(|byte| byte.is_ascii_digit()) { front } else { host });
        let written = bare.to_owned();
        Ok(Self { url, zone, credentials, path, query, written })
    }

    /// The target of a `Location` from here, in the manner of curl: bytes that no URL can contain are percent-encoded,
    /// and path and query are otherwise left unchanged. `None` when it is invalid, or not HTTP.
    #[inline]
    pub(crate) fn join(&self, location: &[u8], path_as_is: bool) -> Option<Self> {
        let location = location.trim_ascii();
        if location.iter().any(u8::is_ascii_control) {
            return None;
        }
        let location = with_all_numbers(location)?;
        if let Some((scheme, rest)) = split_scheme(&location) {
            let is_http = scheme == "http" || scheme == "https";
            return is_http.then(|| Self::from_parts(&scheme, rest, path_as_is).ok())?.map(Self::without_empty_query);
        }
        // Any other scheme.
        let front = location.split(['/', '?', '#']).next().unwrap_or_default();
        if front.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme)) {
            return None;
        }
        if let Some(rest) = location.strip_prefix("//") {
            return Self::from_parts(self.url.scheme(), rest, path_as_is).ok().map(Self::without_empty_query);
        }
        let location = location.split('#').next().unwrap_or_default();
        let (path, query) = location.split_once('?').map_or((location, None), |(path, query)| (path, Some(query)));
        let mut path = match path {
            "" if query.is_some() => self.path.clone(),
            path if path.starts_with('/') => path.to_owned(),
            path => self.beside(path),
        };
        if !path_as_is {
            path = without_dots(&path);
        }
        let query = query.filter(|query| !query.is_empty()).map(str::to_owned);
        Some(Self { credentials: None, path, query, ..self.clone() })
    }

    /// A relative path, in the folder of this one: leading steps up are resolved even where dots are kept.
    #[inline]
    fn beside(&self, path: &str) -> String {
        let (mut folder, mut rest) = (self.path.rsplit_once('/').map_or("", |(folder, _)| folder), path);
        rest = rest.strip_prefix("./").unwrap_or(rest);
        while let Some(behind) = rest.strip_prefix("../") {
            (folder, rest) = (folder.rsplit_once('/').map_or("", |(above, _)| above), behind);
        }
        format!("{folder}/{rest}")
    }

    #[inline]
    fn without_empty_query(mut self) -> Self {
        self.query = self.query.filter(|query| !query.is_empty());
        self
    }

    /// Scheme, host and port.
    #[inline]
    pub(crate) fn place(&self) -> (bool, String, u16) {
        (self.is_tls(), self.host().to_owned(), self.url.port_or_known_default().unwrap_or(80))
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The URL without name and password.
    #[inline]
    pub(crate) fn shown(&self) -> String {
        let url = format!("{}://{}{}", self.url.scheme(), self.host_header(), self.path_and_query());
        with_zone(&url, self.zone.as_deref())
    }

    #[inline]
    pub(crate) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The host without brackets.
    #[inline]
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    #[inline]
    pub(crate) fn path_and_query(&self) -> String {
        self.query.as_ref().map_or(self.path.clone(), |query| format!("{}?{query}", self.path))
    }

    /// The origin alone, in the form of flags.
    pub(crate) fn origin(&self) -> Address {
        Address::from_http_url(self.url.clone(), self.zone.clone())
    }

    #[inline]
    pub(crate) fn host_header(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        // The case of letters is kept.
        let host = if self.written.eq_ignore_ascii_case(host) { &self.written } else { host };
        self.url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Rewrites path and query, where `written` has a replacement for them.
    pub(crate) fn rewrite(&mut self, written: &dyn Fn(&str) -> Option<String>) {
        for text in [Some(&mut self.path), self.query.as_mut()].into_iter().flatten() {
            if let Some(new) = written(text) {
                *text = new;
            }
        }
    }

    /// `name:password`.
    #[inline]
    pub(crate) fn credentials(&self) -> Option<Vec<u8>> {
        self.credentials.clone()
    }

    pub(crate) fn add_query(&mut self, more: &str) {
        let more = &with_small_numbers(more);
        match &mut self.query {
            Some(query) => {
                if !query.is_empty() && !query.ends_with('&') {
                    query.push('&');
                }
                query.push_str(more);
            }
            None => self.query = Some(more.to_owned()),
        }
    }

    /// Adds the file name to a path that ends with a slash, for uploads.
    pub(crate) fn add_file_name(&mut self, name: &str) {
        if self.path.ends_with('/') {
            self.path.push_str(name);
        }
    }
}

fn wrong(url: &str, reason: &str) -> CurlUrlFault {
    CurlUrlFault::Plan(PlanError::Url { url: url.to_owned(), reason: reason.to_owned() })
}

/// The scheme, and the text after its slashes: one to three, as in curl.
#[inline]
fn split_scheme(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once(":/")?;
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    is_scheme(scheme).then(|| (scheme.to_ascii_lowercase(), rest.strip_prefix('/').unwrap_or(rest)))
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Resolves braces and brackets in the manner of curl: one after a backslash is literal, and so are `[]` and an IPv6
/// address. `None` when they stand for several texts, or for none.
pub(crate) fn without_globs(text: &str) -> Option<String> {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(place) = rest.find(['\\', '[', ']', '{', '}']) {
        let (front, behind) = rest.split_at(place);
        out.push_str(front);
        let (taken, meant) = match behind.as_bytes() {
            [b'\\', b'[' | b']' | b'{' | b'}', ..] => (2, 1..2),
            [b'\\', ..] => (1, 0..1),
            [b'[', b']', ..] => (2, 0..2),
            [b'[', ..] => ipv6_end(behind).map(|end| (end, 0..end))?,
            _ => return None,
        };
        out.push_str(&behind[meant]);
        rest = &behind[taken..];
    }
    out.push_str(rest);
    Some(out)
}

/// Where an address of IPv6 in brackets ends that a text begins with.
pub(crate) fn ipv6_end(text: &str) -> Option<usize> {
    let (inner, _) = text.strip_prefix('[')?.split_once(']')?;
    let address = inner.split('%').next().unwrap_or_default();
    address.parse::<std::net::Ipv6Addr>().is_ok().then_some(inner.len() + 2)
}

/// As curl: bytes that no URL can contain are percent-encoded, and a space in a query becomes a plus sign. The host
/// must be text.
#[inline]
fn with_all_numbers(location: &[u8]) -> Option<String> {
    let mut out = String::with_capacity(location.len());
    let mut is_query = false;
    // An internationalized host name is left to the resolver.
    let host_end = location.windows(2).position(|pair| pair == b"//").map_or(0, |start| {
        let behind = &location[start + 2..];
        start + 2 + behind.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(behind.len())
    });
    let front = std::str::from_utf8(&location[..host_end]).unwrap_or_default();
    let is_absolute = front.starts_with("//") || split_scheme(front).is_some();
    let host_end = if is_absolute { host_end } else { 0 };
    let host = std::str::from_utf8(&location[..host_end]).ok()?;
    if host.contains(' ') {
        return None;
    }
    out.push_str(host);
    for byte in &location[host_end..] {
        is_query |= *byte == b'?';
        match byte {
            b' ' if is_query => out.push('+'),
            b' ' => out.push_str("%20"),
            byte if byte.is_ascii() => out.push(char::from(*byte)),
            byte => write!(out, "%{byte:02x}").expect("writing to a string does not fail"),
        }
    }
    Some(out)
}

/// As curl: non-ASCII characters in a path are percent-encoded.
#[inline]
fn with_numbers(path: &str) -> String {
    path.bytes()
        .map(|byte| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02x}") })
        .collect()
}

/// As curl: percent-encodings in an added query are in lower case.
fn with_small_numbers(query: &str) -> String {
    let (mut out, mut digits) = (String::new(), 0);
    for each in query.chars() {
        if digits > 0 && each.is_ascii_hexdigit() {
            digits -= 1;
            out.push(each.to_ascii_lowercase());
            continue;
        }
        digits = if each == '%' { 2 } else { 0 };
        out.push(each);
    }
    out
}

/// Removes dot segments (RFC 3986, 5.2.4).
#[inline]
fn without_dots(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => {
                out.pop();
            }
            segment => {
                out.push(segment);
                continue;
            }
        }
        if is_last {
            out.push("");
        }
    }
    format!("/{}", out.join("/"))
}

/// Decodes percent-encodings.
#[inline]
fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let (mut out, mut place) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(place) {
        let pair = bytes.get(place + 1..place + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.filter(|pair| byte == b'%' && !pair.starts_with('+')).map(|pair| u8::from_str_radix(pair, 16)) {
            Some(Ok(number)) => {
                out.push(number);
                place += 3;
            }
            _ => {
                out.push(byte);
                place += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_go() {
        for (path, clean) in [
            ("/a/../b", "/b"),
            ("/a/./b/", "/a/b/"),
            ("/..", "/"),
            ("/a/..", "/"),
            ("/a/b/.", "/a/b/"),
            ("//a", "//a"),
            ("/", "/"),
        ] {
            assert_eq!(without_dots(path), clean);
        }
    }

    #[test]
    fn brackets_are_themselves_or_stand_for_many() {
        for (text, meant) in [
            (r"h/?ids\[\]=1", Some("h/?ids[]=1")),
            (r"h/\{a,b\}", Some("h/{a,b}")),
            ("h/[]?a[]=1", Some("h/[]?a[]=1")),
            ("[::1]:80/", Some("[::1]:80/")),
            ("[fe80::1%eth0]/", Some("[fe80::1%eth0]/")),
            (r"h/a\b\*", Some(r"h/a\b\*")),
            (r"h/\\[\]", Some(r"h/\[]")),
            (r"h/a\", Some(r"h/a\")),
            ("h/[1-3]", None),
            ("h/{a}", None),
            ("h/]", None),
            ("h/}", None),
            ("h/[", None),
            (r"h/\[1-3]", None),
            ("中[]文", Some("中[]文")),
        ] {
            assert_eq!(without_globs(text).as_deref(), meant, "{text}");
        }
    }

    #[test]
    fn locations_lead_where_curl_goes() {
        let Ok(base) = CurlUrl::parse("http://u:p@Host.test:81/a/b?c#d", None, false, true) else { panic!("a URL") };
        for (location, leads) in [
            (&b"/x"[..], Some("http://Host.test:81/x")),
            (b"x", Some("http://Host.test:81/a/x")),
            (b"../x", Some("http://Host.test:81/x")),
            (b"../../../x", Some("http://Host.test:81/x")),
            (b"?x", Some("http://Host.test:81/a/b?x")),
            (b"#x", Some("http://Host.test:81/a/")),
            (b"/?", Some("http://Host.test:81/")),
            (b"//other/x", Some("http://other/x")),
            (b"https://other", Some("https://other/")),
            (b"HTTP:/other:82/x", Some("http://other:82/x")),
            (b" /x y?x y ", Some("http://Host.test:81/x%20y?x+y")),
            (b"/\xd6\xd0?\xce", Some("http://Host.test:81/%d6%d0?%ce")),
            (b"http://u:p@other/\xff", Some("http://other/%ff")),
            (b"/%2e%2E/a%zz", Some("http://Host.test:81/%2e%2E/a%zz")),
            (b"/a\\b", Some("http://Host.test:81/a\\b")),
            (b"ftp://h/", None),
            (b"mailto:a", None),
            (b"http://h:0/", None),
            (b"http://\xff/", None),
            (b"http://a b/", None),
            (b"/\x01", None),
            (b"//", None),
        ] {
            let joined = base.join(location, false).map(|url| url.shown());
            assert_eq!(joined.as_deref(), leads, "{}", location.escape_ascii());
        }
        let as_is = |location: &[u8]| base.join(location, true).map(|url| url.shown());
        assert_eq!(as_is(b"/a/../x").as_deref(), Some("http://Host.test:81/a/../x"));
        assert_eq!(as_is(b"../x/./y").as_deref(), Some("http://Host.test:81/x/./y"));
    }
}
