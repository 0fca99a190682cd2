//! Extraction of values from responses, for the user's next steps.

#[cfg(feature = "css")]
mod css;
mod plain;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use regex::bytes::Regex;
use serde_json_path::JsonPath;

use crate::checks::{compiled, json_is_too_large};
use crate::errors;
use crate::{Value, text_of};

/// The most values of one extraction.
pub const TAKEN_MAX: usize = 10_000;

/// The source of a value in a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExtractFrom {
    /// A path into JSON (RFC 9535).
    Json(String),
    /// The first group of a pattern, or the whole match when it has none.
    Regex(String),
    /// A header.
    Header(String),
    /// A cookie that the response sets.
    Cookie(String),
    /// The status.
    Status,
    /// An HTML element, by a CSS selector: this attribute of it, or its text.
    Css {
        /// The selector.
        selector: String,
        /// The attribute, without `@`.
        attribute: Option<String>,
    },
    /// The whole body, or the message.
    Body,
    /// The URL of the response, after redirects: the first group of a pattern in it, or all of it.
    Url(Option<String>),
}

impl fmt::Display for ExtractFrom {
    /// The notation of a scenario file.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(path) => write!(out, "json {path}"),
            Self::Regex(pattern) => write!(out, "regex {pattern}"),
            Self::Header(name) => write!(out, "header {name}"),
            Self::Cookie(name) => write!(out, "cookie {name}"),
            Self::Status => out.write_str("status"),
            Self::Css { selector, attribute: Some(attribute) } => write!(out, "css {selector} @{attribute}"),
            Self::Css { selector, attribute: None } => write!(out, "css {selector}"),
            Self::Body => out.write_str("body"),
            Self::Url(None) => out.write_str("url"),
            Self::Url(Some(pattern)) => write!(out, "url /{pattern}/"),
        }
    }
}

/// Which of several values is extracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Which {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
    /// All, as a list.
    All,
    /// A random one, all equally likely.
    Random,
    /// The one with this number; the first is 1.
    Nth(u32),
    /// None of them: how many there are.
    Count,
}

errors! {
    /// The reason why an extraction is invalid.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum ExtractError;

    /// An invalid JSON path.
    Path { path: String, reason: String };
        "'{path}' is not a JSON path: {reason}; write it like $.items[0].id (RFC 9535)",
        "'{path}' 不是有效的 JSON 路径：{reason}；请写成 $.items[0].id 的形式（RFC 9535）";
    /// An invalid regular expression.
    Pattern { pattern: String, reason: String };
        "'{pattern}' is not a regular expression: {reason}; write it like id=([0-9]+)",
        "'{pattern}' 不是有效的正则表达式：{reason}；请写成 id=([0-9]+) 的形式";
    /// An invalid CSS selector.
    Selector { selector: String, reason: String };
        "'{selector}' is not a CSS selector: {reason}; write it like input[name=csrf]",
        "'{selector}' 不是有效的 CSS 选择器：{reason}；请写成 input[name=csrf] 的形式";
    /// This build cannot read HTML.
    NoSelectors;
        "this build has no CSS selectors; take it by a regex, use a package of onrush, or build it with --features css",
        "当前构建不支持 CSS 选择器；请改用 regex 提取，或使用 onrush 安装包，或加上 --features css 重新构建";
}

errors! {
    /// The reason why nothing was extracted.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum NotExtracted;

    /// There is no match, or there are fewer than requested.
    Nothing;
        "nothing is there",
        "没有找到";
    /// The body is no JSON.
    NoJson { reason: String };
        "the body is no JSON ({reason})",
        "响应体不是 JSON（{reason}）";
    /// The body exceeds the limit.
    TooLarge { form: &'static str };
        "the body takes too much memory as {form}",
        "响应体按 {form} 解析占用内存过多";
}

/// A response for extractions. Conversions of its body are made once.
#[derive(Debug)]
pub struct Answered<'a> {
    status: u16,
    fields: &'a [(&'a [u8], &'a [u8])],
    body: &'a [u8],
    url: &'a str,
    text: OnceCell<Cow<'a, [u8]>>,
    json: OnceCell<Result<serde_json::Value, NotExtracted>>,
    #[cfg(feature = "css")]
    page: OnceCell<css::HtmlDocument>,
}

impl<'a> Answered<'a> {
    /// `body`: decoded.
    #[inline]
    pub fn new(status: u16, fields: &'a [(&'a [u8], &'a [u8])], body: &'a [u8]) -> Self {
        Self {
            status,
            fields,
            body,
            url: "",
            text: OnceCell::new(),
            json: OnceCell::new(),
            #[cfg(feature = "css")]
            page: OnceCell::new(),
        }
    }

    /// The same with the URL that it came from.
    #[must_use]
    #[inline]
    pub fn with_url(self, url: &'a str) -> Self {
        Self { url, ..self }
    }

    #[inline]
    fn values_of(&self, name: &[u8]) -> impl Iterator<Item = &'a [u8]> {
        self.fields.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    /// The body in UTF-8, whatever its charset.
    #[inline]
    fn text(&self) -> &[u8] {
        self.text.get_or_init(|| text_of(self.values_of(b"content-type").next(), self.body))
    }

    /// The value at one position in the JSON.
    #[inline]
    fn at(&self, segments: &[plain::Segment]) -> Result<Option<serde_json::Value>, NotExtracted> {
        let text = self.text();
        if json_is_too_large(text) {
            return Err(NotExtracted::TooLarge { form: "JSON" });
        }
        plain::find(text, segments).map_err(|error| NotExtracted::NoJson { reason: error.to_string() })
    }

    #[inline]
    fn json(&self) -> Result<&serde_json::Value, NotExtracted> {
        let read = || {
            let text = self.text();
            if json_is_too_large(text) {
                return Err(NotExtracted::TooLarge { form: "JSON" });
            }
            serde_json::from_slice(text).map_err(|error| NotExtracted::NoJson { reason: error.to_string() })
        };
        self.json.get_or_init(read).as_ref().map_err(Clone::clone)
    }
}

/// A prepared extraction.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "(ExtractFrom, Which)", into = "(ExtractFrom, Which)")]
pub struct Extract {
    from: ExtractFrom,
    finder: Finder,
    which: Which,
}

impl Extract {
    /// The source.
    #[inline]
    pub fn from(&self) -> &ExtractFrom {
        &self.from
    }
}

impl From<Extract> for (ExtractFrom, Which) {
    fn from(take: Extract) -> Self {
        (take.from, take.which)
    }
}

impl TryFrom<(ExtractFrom, Which)> for Extract {
    type Error = ExtractError;

    fn try_from((from, which): (ExtractFrom, Which)) -> Result<Self, ExtractError> {
        Self::new(&from, which)
    }
}

impl PartialEq for Extract {
    fn eq(&self, other: &Self) -> bool {
        (&self.from, self.which) == (&other.from, other.which)
    }
}

#[derive(Clone, Debug)]
enum Finder {
    Json(JsonPath),
    /// A path to a single position.
    Plain(Vec<plain::Segment>),
    Regex(Regex),
    Header(Box<[u8]>),
    Cookie(Box<[u8]>),
    Status,
    #[cfg(feature = "css")]
    Css(css::Elements),
    Body,
    Url(Option<Regex>),
}

impl Extract {
    /// Prepares an extraction.
    ///
    /// # Errors
    /// The path, the pattern or the selector is invalid; or this build has no selectors.
    pub fn new(from: &ExtractFrom, which: Which) -> Result<Self, ExtractError> {
        let finder = match from {
            ExtractFrom::Json(path) => {
                let wrong = |reason: String| ExtractError::Path { path: path.clone(), reason };
                let parsed = JsonPath::parse(path).map_err(|error| wrong(error.to_string()))?;
                plain::segments(path).map_or(Finder::Json(parsed), Finder::Plain)
            }
            ExtractFrom::Regex(pattern) => Finder::Regex(regex(pattern)?),
            ExtractFrom::Url(pattern) => Finder::Url(pattern.as_deref().map(regex).transpose()?),
            ExtractFrom::Header(name) => Finder::Header(name.as_bytes().into()),
            ExtractFrom::Cookie(name) => Finder::Cookie(name.as_bytes().into()),
            ExtractFrom::Status => Finder::Status,
            ExtractFrom::Css { selector, attribute } => elements(selector, attribute.as_deref())?,
            ExtractFrom::Body => Finder::Body,
        };
        Ok(Self { from: from.clone(), finder, which })
    }

    /// Whether it needs the body.
    #[inline]
    pub fn wants_body(&self) -> bool {
        !self.wants_head() && !matches!(self.finder, Finder::Status | Finder::Url(_))
    }

    /// Whether it needs the URL.
    #[inline]
    pub fn wants_url(&self) -> bool {
        matches!(self.finder, Finder::Url(_))
    }

    /// Whether it needs the fields of the head.
    #[inline]
    pub fn wants_head(&self) -> bool {
        matches!(self.finder, Finder::Header(_) | Finder::Cookie(_))
    }

    /// Extracts the value. `draw`: returns a number below its argument, all equally likely.
    ///
    /// # Errors
    /// There is no match.
    pub fn take(&self, response: &Answered<'_>, draw: impl FnOnce(u64) -> u64) -> Result<Value, NotExtracted> {
        let found = self.find(response)?;
        if self.which == Which::Count {
            return Ok(Value::Int(found.len() as i64));
        }
        if found.is_empty() {
            return Err(NotExtracted::Nothing);
        }
        let place = match self.which {
            Which::First => 0,
            Which::Last => found.len() - 1,
            Which::Random => draw(found.len() as u64) as usize,
            Which::Nth(number) => (number as usize).checked_sub(1).ok_or(NotExtracted::Nothing)?,
            Which::All | Which::Count => return Ok(list_of(&found)),
        };
        found.into_iter().nth(place).ok_or(NotExtracted::Nothing)
    }

    /// All matches, or as many as are needed.
    #[inline]
    fn find(&self, response: &Answered<'_>) -> Result<Vec<Value>, NotExtracted> {
        let most = match self.which {
            Which::First => 1,
            Which::Nth(number) => (number as usize).min(TAKEN_MAX),
            _ => TAKEN_MAX,
        };
        Ok(match &self.finder {
            Finder::Plain(segments) => response.at(segments)?.iter().map(Value::from_json).collect(),
            Finder::Json(path) => {
                path.query(response.json()?).iter().take(most).map(|one| Value::from_json(one)).collect()
            }
            Finder::Regex(pattern) => matches(pattern, response.text(), most),
            Finder::Url(Some(pattern)) => matches(pattern, response.url.as_bytes(), most),
            Finder::Url(None) => vec![Value::text(response.url)],
            Finder::Header(name) => response.values_of(name).take(most).map(of_bytes).collect(),
            Finder::Cookie(name) => {
                let set = response.values_of(b"set-cookie").filter_map(cookie);
                set.filter(|(known, _)| **known == **name).take(most).map(|(_, value)| of_bytes(value)).collect()
            }
            Finder::Status => vec![Value::Int(response.status.into())],
            #[cfg(feature = "css")]
            Finder::Css(elements) => {
                let page = || css::HtmlDocument::parse(&String::from_utf8_lossy(response.text()));
                if response.page.get().is_none() && response.text().len() > css::PAGE_BYTES_MAX {
                    return Err(NotExtracted::TooLarge { form: "HTML" });
                }
                elements.find(response.page.get_or_init(page), most)
            }
            Finder::Body => vec![of_bytes(response.text())],
        })
    }
}

/// A value of these bytes.
#[inline]
fn of_bytes(bytes: &[u8]) -> Value {
    Value::text(&String::from_utf8_lossy(bytes))
}

/// The first groups of the matches in a text.
#[inline]
fn matches(pattern: &Regex, text: &[u8], most: usize) -> Vec<Value> {
    let matches = pattern.captures_iter(text).take(most);
    // A group that took no part in the match has no value.
    matches.filter_map(|one| one.get(usize::from(one.len() > 1))).map(|one| of_bytes(one.as_bytes())).collect()
}

fn regex(pattern: &str) -> Result<Regex, ExtractError> {
    compiled(pattern).map_err(|reason| ExtractError::Pattern { pattern: pattern.to_owned(), reason })
}

#[cfg(feature = "css")]
fn elements(selector: &str, attribute: Option<&str>) -> Result<Finder, ExtractError> {
    css::Elements::new(selector, attribute).map(Finder::Css)
}

#[cfg(not(feature = "css"))]
fn elements(_: &str, _: Option<&str>) -> Result<Finder, ExtractError> {
    Err(ExtractError::NoSelectors)
}

/// Name and value of a `Set-Cookie`.
#[inline]
fn cookie(field: &[u8]) -> Option<(&[u8], &[u8])> {
    let pair = field.split(|byte| *byte == b';').next()?;
    let equals = memchr::memchr(b'=', pair)?;
    Some((pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii()))
}

#[inline]
fn list_of(found: &[Value]) -> Value {
    let mut out = vec![b'['];
    for (number, one) in found.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        one.write_json(&mut out);
    }
    out.push(b']');
    Value::Json(String::from_utf8_lossy(&out).into())
}
