//! From the flags of a command to the requests for each of its URLs.

use super::command::{Command, Content};
use super::glob::{self, NoGlob};
use super::{COMMANDS_MAX, RedirectOptions, Sending, body, form};
use crate::cookies::{self, Cookie};
use crate::curl_url::{self, CurlUrl, without_globs};
use crate::error::{CurlFault, at};
use crate::redirect::{self, Field};
use crate::{BodyBytes, Form, Header, HttpVersion, PlanError, Version};

/// The default of curl.
const REDIRECTS_DEFAULT: u32 = 50;
/// What a load speaks, and no command of curl.
const OTHERS: [&str; 5] = ["ws", "wss", "tcp", "grpc", "grpcs"];
/// As curl of today writes it.
const ENCODINGS: &[u8] = b"deflate, gzip, br, zstd";

/// The body for one URL.
struct Load {
    bytes: BodyBytes,
    content: redirect::BodyContent,
    /// Its type, unless the user wrote one.
    kind: Option<String>,
    /// Whether only its end determines its length.
    is_endless: bool,
}

/// What all URLs of a command have in common.
struct Common<'a> {
    user_agent: &'a str,
    cookies: Vec<Cookie>,
    /// Data, or a form in parts: made once.
    body: BodyBytes,
    /// The type of a form.
    kind: String,
}

/// The headers that the user wrote, and those that flags write in their place.
struct Written(Vec<Header>);

impl Written {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|header| header.name.eq_ignore_ascii_case(name))
    }

    fn value(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|header| header.name.eq_ignore_ascii_case(name))?.value.as_deref()
    }

    fn add(&mut self, name: &str, value: Vec<u8>) {
        self.0.push(Header { name: name.to_owned(), value: Some(value) });
    }
}

impl Command {
    /// The requests, one for each URL.
    pub(super) fn sendings(mut self, user_agent: &str) -> Result<Vec<Sending>, PlanError> {
        if self.urls.is_empty() {
            return Err(at(self.line, CurlFault::NoUrl));
        }
        let upload = self.uploads.iter().find(|(path, _)| !path.is_empty());
        let has_content = !matches!(self.content, Content::None);
        if let (Some((_, line)), true) = (upload, has_content) {
            return Err(at(*line, CurlFault::Conflict { one: "-T", other: "-d or -F" }));
        }
        if self.heads && !self.gets && (has_content || upload.is_some()) {
            return Err(at(self.line, CurlFault::Conflict { one: "-I", other: "-d, -F or -T" }));
        }
        let mut cookies = Vec::new();
        for (path, line) in &self.cookie_files {
            cookies::read(&body::file("-b", path, *line)?, self.junks_sessions, &mut cookies);
        }
        let written = self.written()?;
        let kind = match written.has("content-type") {
            true => String::from_utf8_lossy(written.value("content-type").unwrap_or_default()).into_owned(),
            false => "multipart/form-data".to_owned(),
        };
        let is_form = kind.get(..19).is_some_and(|front| front.eq_ignore_ascii_case("multipart/form-data"));
        let body = match &mut self.content {
            Content::Data(bytes) if !self.gets => std::mem::take(bytes).into(),
            Content::Form(parts) => form::multipart(std::mem::take(parts), is_form, self.escapes_names).into(),
            Content::Data(_) | Content::None => BodyBytes::default(),
        };
        let common = Common { user_agent, cookies, body, kind };
        let mut all = Vec::new();
        for (index, (url, line)) in self.urls.iter().enumerate() {
            for text in self.texts(url, *line)? {
                all.push(self.sending(index, &text, *line, &common)?);
            }
        }
        Ok(all)
    }

    /// What a URL stands for: itself, or several.
    fn texts(&self, url: &[u8], line: usize) -> Result<Vec<String>, PlanError> {
        let text = body::text("--url", url, line)?;
        if self.globoff {
            return Ok(vec![text]);
        }
        glob::expand(&text, COMMANDS_MAX).map_err(|fault| match fault {
            NoGlob::Unread => at(line, CurlFault::Glob { url: crate::masked_url(&text) }),
            NoGlob::TooMany => at(line, CurlFault::TooMany { most: COMMANDS_MAX }),
        })
    }

    fn sending(&self, index: usize, text: &str, line: usize, common: &Common<'_>) -> Result<Sending, PlanError> {
        let mut url = CurlUrl::parse(text, self.scheme, self.path_as_is, true).map_err(|error| match error {
            curl_url::CurlUrlFault::Glob => at(line, CurlFault::Glob { url: crate::masked_url(text) }),
            curl_url::CurlUrlFault::Plan(PlanError::Scheme { url, scheme }) if OTHERS.contains(&scheme.as_str()) => {
                at(line, CurlFault::OtherLoad { url, scheme })
            }
            curl_url::CurlUrlFault::Plan(error) => error.at_line(line),
        })?;
        let mut queries = self.queries.clone();
        if let (true, Content::Data(data)) = (self.gets, &self.content) {
            queries = vec![data.clone()];
        }
        for query in queries.iter().filter(|query| !query.is_empty()) {
            url.add_query(&body::text("-G", query, line)?);
        }
        let written = self.written()?;
        let mut load = self.load(index, &mut url, common)?;
        let resume = self.resume.for_output(load.content, self.outputs.get(index).map(Vec::as_slice));
        let resumed = resume.cut(&mut load.bytes, load.content, load.is_endless, line)?;
        if self.way.version == Some(Version::Http10)
            && (load.is_endless || load.content != redirect::BodyContent::None && written.has("transfer-encoding"))
        {
            return Err(at(line, CurlFault::Chunks10));
        }
        let fields = self.fields(common.user_agent, &load, &written, resumed)?;
        let method = match (&self.method, load.content) {
            (Some(method), _) => method.as_str(),
            (None, redirect::BodyContent::None) => {
                if self.heads {
                    "HEAD"
                } else {
                    "GET"
                }
            }
            (None, redirect::BodyContent::File) => "PUT",
            (None, redirect::BodyContent::Data | redirect::BodyContent::Parts) => "POST",
        };
        let target = self.request_target.clone();
        // A line end would end the line of the request, or split it.
        let path = target.clone().unwrap_or_else(|| url.path_and_query());
        if path.is_empty() || path.chars().any(|each| each.is_ascii_control() || each == ' ') {
            let reason = "it holds a space or a control character; write it as %20, or use --data-urlencode".to_owned();
            return Err(PlanError::Url { url: path.escape_debug().to_string(), reason }.at_line(line));
        }
        let form = Form {
            method: method.to_owned(),
            version: if self.way.version == Some(Version::Http10) { HttpVersion::Http10 } else { HttpVersion::Http11 },
            fields,
            body: load.bytes,
            content: load.content,
            url,
            target,
            path_as_is: self.path_as_is,
            user: self.user.clone(),
            bearer: self.bearer.clone(),
            cookies: common.cookies.clone(),
        };
        Ok(Sending {
            line,
            form,
            follow: self.follows.then(|| RedirectOptions {
                most: self.redirects.unwrap_or(REDIRECTS_DEFAULT),
                trusts_others: self.trusts_others,
                keeps_method: self.method.is_some() && !self.frees_method,
                keeps_post: self.keeps_post,
                tells_referer: !written.has("referer")
                    && self.referer.as_deref().is_some_and(|text| text.ends_with(";auto")),
            }),
            timeout: self.timeout,
            connect_timeout: self.connect_timeout,
            way: self.way.clone(),
        })
    }

    fn written(&self) -> Result<Written, PlanError> {
        let mut all = Written(Vec::new());
        for (bytes, line) in &self.headers {
            let text = body::text("-H", bytes, *line)?;
            if !text.trim().is_empty() {
                all.0.push(Header::parse_any(text.trim()).map_err(|error| error.at_line(*line))?);
            }
        }
        if self.is_json {
            for name in ["Content-Type", "Accept"] {
                if !all.has(name) {
                    all.add(name, b"application/json".to_vec());
                }
            }
        }
        if let Some((path, line)) = &self.etag_file {
            let bytes = body::file("--etag-compare", path, *line)?;
            let tag = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
            all.add("If-None-Match", if tag.is_empty() { b"\"\"".to_vec() } else { tag.to_vec() });
        }
        Ok(all)
    }

    /// The body for a URL. A file that is uploaded to a folder adds its name to the URL.
    fn load(&self, index: usize, url: &mut CurlUrl, common: &Common<'_>) -> Result<Load, PlanError> {
        let none =
            Load { bytes: BodyBytes::default(), content: redirect::BodyContent::None, kind: None, is_endless: false };
        if let Some((path, line)) = self.uploads.get(index).filter(|(path, _)| !path.is_empty()) {
            return self.upload(path, *line, url);
        }
        Ok(match &self.content {
            Content::None => none,
            Content::Data(_) if self.gets => none,
            Content::Data(_) => Load {
                bytes: common.body.clone(),
                content: redirect::BodyContent::Data,
                kind: Some("application/x-www-form-urlencoded".to_owned()),
                is_endless: false,
            },
            Content::Form(_) => Load {
                bytes: common.body.clone(),
                content: redirect::BodyContent::Parts,
                kind: Some(format!("{}; boundary={}", common.kind, form::BOUNDARY)),
                is_endless: false,
            },
        })
    }

    fn upload(&self, path: &[u8], line: usize, url: &mut CurlUrl) -> Result<Load, PlanError> {
        let content = redirect::BodyContent::File;
        if matches!(path, b"-" | b".") {
            return Ok(Load { bytes: body::file("-T", b"-", line)?.into(), content, kind: None, is_endless: true });
        }
        let text = body::text("-T", path, line)?;
        let path = if self.globoff { Some(text.clone()) } else { without_globs(&text) };
        let path = path.ok_or_else(|| at(line, CurlFault::Glob { url: text }))?;
        let name = path.rsplit('/').next().unwrap_or_default();
        url.add_file_name(&body::percent_encode(name.as_bytes(), false));
        Ok(Load { bytes: body::file("-T", path.as_bytes(), line)?.into(), content, kind: None, is_endless: false })
    }

    /// The fields in the order of curl.
    fn fields(
        &self,
        user_agent: &str,
        load: &Load,
        written: &Written,
        resumed: Option<Field>,
    ) -> Result<Vec<Field>, PlanError> {
        let plain = |name: &str, value: &[u8]| Field::Plain(name.to_owned(), value.to_vec());
        let is_chunked =
            load.is_endless || load.content != redirect::BodyContent::None && written.has("transfer-encoding");
        let mut all = vec![match written.has("host") {
            true => Field::HostRequested("Host".to_owned(), written.value("host").map(<[u8]>::to_vec)),
            false => Field::Host,
        }];
        let mut own = Vec::new();
        own.push(("authorization", Field::Authorization));
        let range = resumed.or_else(|| {
            self.range.as_ref().map(|range| {
                // A number alone is where it begins.
                let open = if range.bytes().all(|byte| byte.is_ascii_digit()) { "-" } else { "" };
                Field::Range(format!("{range}{open}"))
            })
        });
        let said_by = if load.content == redirect::BodyContent::None { "range" } else { "content-range" };
        own.extend(range.map(|range| (said_by, range)));
        match self.user_agent.as_deref() {
            Some("") => {}
            agent => own.push(("user-agent", plain("User-Agent", agent.unwrap_or(user_agent).as_bytes()))),
        }
        own.push(("accept", plain("Accept", b"*/*")));
        if self.is_compressed {
            own.push(("accept-encoding", plain("Accept-Encoding", ENCODINGS)));
        }
        let referer = self.referer.as_deref().map(|text| text.strip_suffix(";auto").unwrap_or(text));
        own.push(("referer", Field::Referer(referer.filter(|referer| !referer.is_empty()).map(str::to_owned))));
        if load.is_endless {
            own.push(("transfer-encoding", Field::Chunked("Transfer-Encoding".to_owned())));
        }
        all.extend(own.into_iter().filter(|(name, _)| !written.has(name)).map(|(_, field)| field));
        // A header of the user replaces the flag's, except for cookies of files.
        let text = (!self.cookies.is_empty() && !written.has("cookie")).then(|| self.cookies.join(&b";"[..]));
        all.push(Field::Cookie(text));
        all.extend(self.written_fields(load, written));
        if !is_chunked && load.content != redirect::BodyContent::None && !written.has("content-length") {
            all.push(Field::Length("Content-Length".to_owned(), false));
        }
        if let Some(kind) = &load.kind
            && (load.content == redirect::BodyContent::Parts || !written.has("content-type"))
        {
            all.push(Field::OfBody("Content-Type".to_owned(), kind.as_bytes().to_vec()));
        }
        self.check(&all)?;
        Ok(all)
    }

    /// The headers of the user, except for those that are handled elsewhere.
    fn written_fields(&self, load: &Load, written: &Written) -> Vec<Field> {
        let mut all = Vec::new();
        let (mut has_length, mut has_chunks) = (false, false);
        for header in &written.0 {
            let lower = header.name.to_ascii_lowercase();
            let Some(value) = header.value.clone() else { continue };
            let name = header.name.clone();
            match lower.as_str() {
                // The first is written already; where it leaves the host out, another is an ordinary field.
                "host" if written.value("host").is_some() => {}
                "content-type" if load.content == redirect::BodyContent::Parts => {}
                // A header copied from a browser is recomputed from the body.
                "content-length" if has_length => {}
                "content-length" => {
                    has_length = true;
                    all.push(Field::Length(name, true));
                }
                "transfer-encoding" if has_chunks || load.is_endless => {}
                "transfer-encoding" => {
                    has_chunks = true;
                    all.push(Field::Chunked(name));
                }
                "authorization" | "cookie" => all.push(Field::Secret(name, value)),
                _ => all.push(Field::Plain(name, value)),
            }
        }
        all
    }

    /// Checks that no value ends its line.
    fn check(&self, fields: &[Field]) -> Result<(), PlanError> {
        let ends = |value: &[u8]| value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
        let wrong = fields.iter().find_map(|field| match field {
            Field::Plain(name, value) | Field::OfBody(name, value) if ends(value) => Some(name.as_str()),
            Field::Range(value) if ends(value.as_bytes()) => Some("Range"),
            Field::Referer(Some(value)) if ends(value.as_bytes()) => Some("Referer"),
            Field::Cookie(Some(value)) if ends(value) => Some("Cookie"),
            Field::Authorization if self.bearer.as_ref().is_some_and(|bearer| ends(bearer.as_bytes())) => {
                Some("Authorization")
            }
            _ => None,
        });
        wrong.map_or(Ok(()), |name| Err(PlanError::HeaderValue { header: name.to_owned() }.at_line(self.line)))
    }
}
