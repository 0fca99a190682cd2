//! A file of URLs: `URL`, or `METHOD URL BODY`, per line.

use super::commands::Parts;
use super::{Body, Draft};
use crate::address::Scheme;
use crate::file::read_up_to;
use crate::{Address, PlanError, Remedy, UrlsFault, masked_url};

/// The most URLs of a file. When there are more than reports can separate, the figures of the last ones are combined.
pub const URLS_MAX: usize = 10_000;
/// The largest file of URLs, in bytes.
pub const URLS_FILE_BYTES_MAX: u64 = 16 << 20;

/// The content of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UrlLine<'a> {
    method: Option<&'a str>,
    url: &'a str,
    body: Option<&'a str>,
}

impl Draft {
    /// A step for each line.
    pub(super) fn url_steps(&self, path: &str) -> Result<Parts, PlanError> {
        let given = [
            ("-X", self.request.method.is_some()),
            ("-d", self.request.body.is_some()),
            ("--pause", !self.request.pause.is_zero()),
        ];
        if let Some((one, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            return Err(PlanError::Conflict { one, other: "--urls", remedy: Remedy::InUrls });
        }
        self.request.call.refuse()?;
        self.request.refuse_messaging()?;
        let bytes = read_up_to("--urls", path, URLS_FILE_BYTES_MAX)?;
        self.steps_of_text(&bytes).map_err(|error| error.in_file(path))
    }

    fn steps_of_text(&self, bytes: &[u8]) -> Result<Parts, PlanError> {
        let text = std::str::from_utf8(bytes).map_err(|_| UrlsFault::NotText)?;
        let (mut targets, mut steps) = (Vec::new(), Vec::new());
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let at_line = |error: PlanError| error.at_line(index + 1);
            if steps.len() == URLS_MAX {
                return Err(at_line(UrlsFault::TooMany { most: URLS_MAX }.into()));
            }
            let (target, mut step) = self.step_of_line(line).map_err(at_line)?;
            let known = targets.iter().position(|known| *known == target);
            step.target = known.unwrap_or_else(|| {
                targets.push(target);
                targets.len() - 1
            });
            steps.push(step);
        }
        if steps.is_empty() { Err(UrlsFault::Empty.into()) } else { Ok((targets, steps)) }
    }

    fn step_of_line(&self, line: &str) -> Result<(crate::Target, crate::Step), PlanError> {
        let UrlLine { method, url, body } = read(line)?;
        let is_path = url.starts_with(['/', '?']);
        let slash = if url.starts_with('?') { "/" } else { "" };
        let address = match &self.url {
            Some(base) if is_path => Address::parse(&format!("{}{slash}{url}", base.origin()))?,
            None if is_path => return Err(UrlsFault::Relative { path: masked_url(url) }.into()),
            Some(base) if is_word(url) => {
                return Err(UrlsFault::NoSlash { word: masked_url(url), base: base.origin() }.into());
            }
            _ => Address::parse(url)?,
        };
        if address.scheme != Scheme::Http {
            return Err(UrlsFault::NotHttp { url: masked_url(url) }.into());
        }
        let mut draft = self.clone();
        draft.request.method = method.map(str::to_owned);
        draft.request.body = body.map(|body| match body.strip_prefix('@') {
            Some(path) => Body::File(path.to_owned()),
            None => Body::Bytes(body.as_bytes().to_vec().into()),
        });
        let mut target = draft.target(&address)?;
        // One target for all paths of a server.
        target.url = address.origin();
        Ok((target, draft.step(&address)?))
    }
}

/// Methods that are known in any case.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Parses a line. A first word in capitals, or a known one, is a method; the text after the URL is the body.
fn read(line: &str) -> Result<UrlLine<'_>, PlanError> {
    let (first, rest) = cut(line);
    let is_method = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    let known = METHODS.into_iter().find(|method| method.eq_ignore_ascii_case(first));
    let method = known.or(is_method.then_some(first));
    let line = if method.is_some() { rest } else { line };
    let (url, body) = cut(line);
    if url.is_empty() {
        return Err(UrlsFault::NoUrl { method: first.to_owned() }.into());
    }
    Ok(UrlLine { method, url, body: Some(body).filter(|body| !body.is_empty()) })
}

/// Whether it could be the name of a server, but is more likely a path without its slash.
fn is_word(url: &str) -> bool {
    let host = url.split(['/', '?', '#']).next().unwrap_or_default();
    !url.contains("://") && !host.contains(['.', ':']) && host != "localhost"
}

fn cut(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(first, rest)| (first, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    fn steps(text: &str, base: Option<&str>) -> Result<Vec<String>, String> {
        let flags = Flags { url: base.map(str::to_owned), headers: vec!["X-A: b".to_owned()], ..Flags::default() };
        let (targets, steps) =
            flags.draft().and_then(|draft| draft.steps_of_text(text.as_bytes())).map_err(|error| error.to_string())?;
        Ok(steps
            .iter()
            .map(|step| {
                let (request, target) = (&step.request, &targets[step.target]);
                let body = String::from_utf8_lossy(&request.body).into_owned();
                assert!(request.headers.iter().any(|(name, value)| name == "X-A" && value == b"b"));
                format!("{} {}:{}{} {body}", request.method, target.host, target.port, request.path)
                    .trim_end()
                    .to_owned()
            })
            .collect())
    }

    #[test]
    fn lines_are_read() {
        let text = "\u{feff}http://a.test/\r\n\n# a comment\n  GET https://b.test/x?y=1  \nPOST a.test/z {\"a\": 1, \"b\": 2}\n";
        let expect = ["GET a.test:80/", "GET b.test:443/x?y=1", "POST a.test:80/z {\"a\": 1, \"b\": 2}"];
        assert_eq!(steps(text, None).expect("good lines"), expect);
        let expect = ["GET s.test:81/a", "DELETE s.test:81/b?c", "GET t.test:80/"];
        assert_eq!(steps("/a\nDELETE /b?c\nhttp://t.test", Some("http://s.test:81/ignored")).expect("good"), expect);
        assert_eq!(
            steps("post http://a.test/ x\nhEAD a.test", None).expect("known"),
            ["POST a.test:80/ x", "HEAD a.test:80/"]
        );
        assert_eq!(steps("localhost/a", Some("http://s.test")).expect("a server"), ["GET localhost:80/a"]);
        assert_eq!(steps("http://a.test/ body", None).expect("a body is posted"), ["POST a.test:80/ body"]);
    }

    #[test]
    fn wrong_lines_are_reported_with_their_place() {
        let many = "http://a.test/\n".repeat(URLS_MAX + 1);
        for (text, expect) in [
            ("", "there is no URL in it"),
            ("# nothing\n\n", "there is no URL in it"),
            ("http://a.test/\nGET\n", "line 2: GET is followed by no URL"),
            ("\n/a\n", "line 2: '/a' is a path; name the server"),
            ("ws://a.test/", "line 1: 'ws://a.test/' is no URL of HTTP"),
            ("grpc://a.test/b.C/D", "line 1: 'grpc://a.test/b.C/D' is no URL"),
            ("ftp://a.test/", "line 1: "),
            ("http://a.test:99999/", "line 1: "),
            ("http://bob:secret@a.test/", "line 1: "),
            ("POST http://a.test/ @/nofile", "line 1: cannot read the file '/nofile'"),
            (&many, "line 10001: there are more than 10000 URLs"),
        ] {
            let error = steps(text, None).expect_err(text);
            assert!(error.contains(expect) && !error.contains("secret"), "{error}");
        }
        for word in ["items/7", "items", "items?a=b"] {
            let error = steps(&format!("/a\nGET {word}\n"), Some("http://s.test/x")).expect_err(word);
            assert!(error.contains(&format!("line 2: '{word}' has no slash")), "{error}");
            assert!(error.contains(&format!("/{word}")) && error.contains("http://s.test"), "{error}");
        }
        let draft = Flags::default().draft().expect("no flags");
        assert_eq!(draft.steps_of_text(&[0xff]).map(drop), Err(UrlsFault::NotText.into()));
    }
}
