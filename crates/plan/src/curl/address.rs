//! URLs as curl takes them: path and query go out as they are written.

use url::Url;

use super::body::percent_decode;
use crate::{PlanError, masked_url};

/// A URL that was understood, and its path as written.
pub(crate) struct CurlUrl {
    url: Url,
    credentials: Option<Vec<u8>>,
    path: String,
    query: Option<String>,
    /// The host as it was written.
    written: String,
}

/// Why there is none.
pub(super) enum Fault {
    Glob,
    Plan(PlanError),
}

impl CurlUrl {
    pub(super) fn parse(text: &str, path_as_is: bool, globoff: bool) -> Result<Self, Fault> {
        let text = text.trim();
        let shown = masked_url(text);
        let wrong = |reason: &str| Fault::Plan(PlanError::Url { url: shown.clone(), reason: reason.to_owned() });
        if text.chars().any(|each| each.is_ascii_control() || each == ' ') {
            return Err(wrong("it holds a space or a control character; write it as %20"));
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest))
                if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) =>
            {
                (scheme.to_ascii_lowercase(), rest)
            }
            _ => ("http".to_owned(), text),
        };
        if scheme != "http" && scheme != "https" {
            return Err(Fault::Plan(PlanError::Scheme { url: shown, scheme }));
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, behind) = rest.split_at(end);
        if !globoff {
            let host_is_address = authority.contains("[") && authority.contains("]");
            let is_glob = |part: &str| part.contains(['{', '}', '[', ']']);
            if is_glob(behind) || (is_glob(authority) && !host_is_address) {
                return Err(Fault::Glob);
            }
        }
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
        let url = Url::parse(&format!("{scheme}://{host}/")).map_err(|error| wrong(&error.to_string()))?;
        if url.port() == Some(0) {
            return Err(wrong("port 0 cannot be connected to"));
        }
        let bare = host
            .rsplit_once(':')
            .map_or(host, |(front, port)| if port.bytes().all(|byte| byte.is_ascii_digit()) { front } else { host });
        let written = bare.to_owned();
        Ok(Self { url, credentials, path, query, written })
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Without brackets.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    pub(crate) fn path_and_query(&self) -> String {
        self.query.as_ref().map_or(self.path.clone(), |query| format!("{}?{query}", self.path))
    }

    /// The target alone, as one that flags name.
    pub(crate) fn origin(&self) -> Url {
        self.url.clone()
    }

    pub(super) fn host_header(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        // Letters stay as large as they are.
        let host = if self.written.eq_ignore_ascii_case(host) { &self.written } else { host };
        self.url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// `name:password`.
    pub(super) fn credentials(&self) -> Option<Vec<u8>> {
        self.credentials.clone()
    }

    pub(super) fn add_query(&mut self, more: &str) {
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

    /// A path that ends with a slash names a place; what is put there keeps its name.
    pub(super) fn add_file_name(&mut self, name: &str) {
        if self.path.ends_with('/') {
            self.path.push_str(name);
        }
    }
}

/// As curl: what is no ASCII stands as its number in a path.
fn with_numbers(path: &str) -> String {
    path.bytes()
        .map(|byte| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02x}") })
        .collect()
}

/// As curl: numbers in a query that is added are written in small letters.
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

/// RFC 3986, 5.2.4.
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
}
