//! Commands of curl, as steps: what curl would send, a load sends.

mod address;
mod body;
mod fault;
mod options;
mod shell;

use std::time::{Duration, SystemTime};

use base64::Engine;

use crate::flags::{Header, is_token, read_up_to};
use crate::{Follow, HttpVersion, PlanError, Request, Tls, Ways};
pub(crate) use address::CurlUrl;
use body::Part;
pub use fault::CurlFault;
use fault::at;
use options::{Given, Meaning};
use shell::Word;

/// The largest file with commands.
pub const CURL_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most commands, and with them steps, of one load.
pub const COMMANDS_MAX: usize = 1_000;
/// As curl.
const REDIRECTS_DEFAULT: u32 = 50;
/// As curl of today writes it.
const ENCODINGS: &str = "deflate, gzip, br, zstd";

/// One request that a command stands for, with its circumstances.
pub(crate) struct Sending {
    pub(crate) line: usize,
    pub(crate) url: CurlUrl,
    pub(crate) request: Request,
    pub(crate) follow: Option<Asked>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) way: Way,
}

impl Sending {
    /// It goes to this URL instead.
    pub(crate) fn lead(&mut self, text: &str) -> Result<(), PlanError> {
        self.url = CurlUrl::parse(text, false, true).map_err(|fault| match fault {
            address::Fault::Glob => at(self.line, CurlFault::Glob { url: text.to_owned() }),
            address::Fault::Plan(error) => error,
        })?;
        self.request.path = self.url.path_and_query();
        for (name, value) in &mut self.request.headers {
            if name == "Host" {
                *value = self.url.host_header().into_bytes();
            }
        }
        Ok(())
    }
}

/// How a command follows redirects.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    most: u32,
    trusts_others: bool,
    keeps_method: bool,
    keeps_post: u8,
    tells_referer: bool,
}

impl Asked {
    pub(crate) fn with(self, tls: Tls, ways: Ways) -> Follow {
        let Self { most, trusts_others, keeps_method, keeps_post, tells_referer } = self;
        Follow {
            tls: Box::new(tls),
            ways: Box::new(ways),
            most,
            trusts_others,
            keeps_method,
            keeps_post,
            tells_referer,
        }
    }
}

/// How a command gets to its target.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    pub(crate) insecure: bool,
    pub(crate) cacert: Option<String>,
    pub(crate) cert: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) tls_min: Option<String>,
    pub(crate) http10: bool,
    pub(crate) http11: bool,
    pub(crate) http2: bool,
    pub(crate) resolve: Vec<String>,
    pub(crate) connect_to: Vec<String>,
    pub(crate) unix_socket: Option<String>,
}

/// A command in the words of a command line, behind the name of the program.
pub(crate) fn of_words(words: &[Vec<u8>], user_agent: &str) -> Result<Vec<Sending>, PlanError> {
    let words: Vec<Word> = words.iter().map(|bytes| Word { bytes: bytes.clone(), line: 0 }).collect();
    of_command(&words, 0, user_agent)
}

/// The words of the commands in a text, as a shell splits them: so many commands and words.
///
/// # Errors
/// A quote does not end, or a running shell would be needed.
pub fn curl_words(text: &[u8]) -> Result<(usize, usize), PlanError> {
    let commands = shell::commands(text)?;
    Ok((commands.len(), commands.iter().map(Vec::len).sum()))
}

/// The commands of a file.
pub(crate) fn of_file(flag: &'static str, path: &str, user_agent: &str) -> Result<Vec<Sending>, PlanError> {
    let text = read_up_to(flag, path, CURL_FILE_BYTES_MAX)?;
    of_text(&text, user_agent).map_err(|error| error.in_file(path))
}

fn of_text(text: &[u8], user_agent: &str) -> Result<Vec<Sending>, PlanError> {
    let mut all = Vec::new();
    for words in shell::commands(text)? {
        let Some((name, mut rest)) = words.split_first() else { continue };
        let mut name = name;
        // As people copy it with the prompt before it.
        if name.bytes == b"$"
            && let Some((next, behind)) = rest.split_first()
        {
            (name, rest) = (next, behind);
        }
        let program = name.bytes.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or_default();
        if !program.eq_ignore_ascii_case(b"curl") && !program.eq_ignore_ascii_case(b"curl.exe") {
            let word = String::from_utf8_lossy(&name.bytes).chars().take(60).collect();
            return Err(at(name.line, CurlFault::NotCurl { word }));
        }
        all.extend(of_command(rest, name.line, user_agent)?);
        if all.len() > COMMANDS_MAX {
            return Err(at(name.line, CurlFault::TooMany { most: COMMANDS_MAX }));
        }
    }
    if all.is_empty() { Err(at(1, CurlFault::Empty)) } else { Ok(all) }
}

fn of_command(words: &[Word], line: usize, user_agent: &str) -> Result<Vec<Sending>, PlanError> {
    let given = options::read(words)?;
    let mut all = Vec::new();
    for part in given.split(|one| one.meaning == Meaning::Next) {
        all.extend(Command::of(part, line)?.sendings(user_agent)?);
    }
    Ok(all)
}

/// What carries the body.
#[derive(Debug, Default)]
enum Content {
    #[default]
    None,
    Data(Vec<u8>),
    Form(Vec<Part>),
    Upload {
        path: Vec<u8>,
        line: usize,
    },
}

/// The flags of one command, understood.
#[derive(Debug, Default)]
struct Command {
    line: usize,
    urls: Vec<(Vec<u8>, usize)>,
    method: Option<String>,
    headers: Vec<(Vec<u8>, usize)>,
    content: Content,
    is_json: bool,
    gets: bool,
    heads: bool,
    cookies: Vec<Vec<u8>>,
    cookie_files: Vec<(Vec<u8>, usize)>,
    user_agent: Option<String>,
    referer: Option<String>,
    user: Option<Vec<u8>>,
    bearer: Option<String>,
    follows: bool,
    trusts_others: bool,
    redirects: Option<u32>,
    keeps_post: u8,
    is_compressed: bool,
    timeout: Option<Duration>,
    connect_timeout: Option<Duration>,
    range: Option<String>,
    path_as_is: bool,
    globoff: bool,
    queries: Vec<Vec<u8>>,
    request_target: Option<String>,
    way: Way,
}

impl Command {
    fn of(given: &[Given], line: usize) -> Result<Self, PlanError> {
        let mut command = Self { line, ..Self::default() };
        for one in given {
            command.take(one)?;
        }
        Ok(command)
    }

    fn take(&mut self, given: &Given) -> Result<(), PlanError> {
        let (flag, line, value) = (given.flag, given.line, given.value.as_slice());
        let text = || body::text(flag, value, line);
        match given.meaning {
            Meaning::Request => {
                let method = text()?;
                if method.is_empty() || !method.bytes().all(is_token) {
                    return Err(PlanError::Method { method }.at_line(line));
                }
                self.method = Some(method);
            }
            Meaning::Url => self.urls.push((value.to_vec(), line)),
            Meaning::Header => match value.strip_prefix(b"@") {
                Some(path) => {
                    let lines = body::file("-H", path, line)?;
                    let lines = lines.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
                    self.headers.extend(
                        lines.filter(|text| !text.is_empty() && text[0] != b'#').map(|text| (text.to_vec(), line)),
                    );
                }
                None => self.headers.push((value.to_vec(), line)),
            },
            Meaning::Data => self.add_data(&body::data(value, line)?, true),
            Meaning::DataRaw => self.add_data(value, true),
            Meaning::DataBinary => self.add_data(&body::data_binary("--data-binary", value, line)?, true),
            Meaning::DataUrlencode => self.add_data(&body::data_urlencode(value, line)?, true),
            Meaning::Json => {
                self.is_json = true;
                self.add_data(&body::data_binary("--json", value, line)?, false);
            }
            Meaning::Form => self.add_part(body::form(value, line)?, line)?,
            Meaning::FormString => self.add_part(body::form_string(value, line)?, line)?,
            Meaning::Get => self.gets = true,
            Meaning::Head => self.heads = true,
            Meaning::Cookie if value.contains(&b'=') => self.cookies.push(value.to_vec()),
            Meaning::Cookie if value.is_empty() => {}
            Meaning::Cookie => self.cookie_files.push((value.to_vec(), line)),
            Meaning::UserAgent => self.user_agent = Some(text()?),
            Meaning::Referer => self.referer = Some(text()?),
            Meaning::User => {
                if !value.contains(&b':') {
                    return Err(at(line, CurlFault::NoPassword));
                }
                self.user = Some(value.to_vec());
            }
            Meaning::Bearer => self.bearer = Some(text()?),
            Meaning::Insecure => self.way.insecure = true,
            Meaning::Location => self.follows = true,
            Meaning::NoLocation => self.follows = false,
            Meaning::NoCompressed => self.is_compressed = false,
            Meaning::LocationTrusted => (self.follows, self.trusts_others) = (true, true),
            Meaning::MaxRedirs => {
                let wanted = "a number, or -1 for no bound";
                let number = text()?;
                self.redirects = Some(match number.parse::<i64>() {
                    Ok(-1) => u32::MAX,
                    Ok(number) if number >= 0 => u32::try_from(number).unwrap_or(u32::MAX),
                    _ => return Err(at(line, CurlFault::Value { flag, value: number, wanted })),
                });
            }
            Meaning::Post301 => self.keeps_post |= 1,
            Meaning::Post302 => self.keeps_post |= 2,
            Meaning::Post303 => self.keeps_post |= 4,
            Meaning::Compressed => self.is_compressed = true,
            Meaning::Http10 => self.speak(true, false, false),
            Meaning::Http11 => self.speak(false, true, false),
            // Over plain connections curl asks for it within HTTP/1.1, and servers rarely agree; see `way_of`.
            Meaning::Http2 => self.speak(false, false, false),
            Meaning::Http2Prior => self.speak(false, false, true),
            Meaning::MaxTime => self.timeout = seconds(flag, &text()?, line)?,
            Meaning::ConnectTimeout => self.connect_timeout = seconds(flag, &text()?, line)?,
            Meaning::Resolve => self.way.resolve.push(text()?),
            Meaning::ConnectTo => self.way.connect_to.push(text()?),
            Meaning::UnixSocket => self.way.unix_socket = Some(text()?),
            Meaning::Cert => self.way.cert = Some(text()?),
            Meaning::Key => self.way.key = Some(text()?),
            Meaning::Cacert => self.way.cacert = Some(text()?),
            Meaning::Upload => {
                if !matches!(self.content, Content::None) {
                    return Err(at(line, CurlFault::Conflict { one: "-T", other: "-d, -F or another -T" }));
                }
                self.content = Content::Upload { path: value.to_vec(), line };
            }
            Meaning::Range => self.range = Some(text()?),
            Meaning::PathAsIs => self.path_as_is = true,
            Meaning::Globoff => self.globoff = true,
            Meaning::UrlQuery => self.queries.push(match value.strip_prefix(b"+") {
                Some(plain) => plain.to_vec(),
                None => body::data_urlencode(value, line)?,
            }),
            Meaning::RequestTarget => self.request_target = Some(text()?),
            Meaning::Tls12 => self.way.tls_min = Some("1.2".to_owned()),
            Meaning::Tls13 => self.way.tls_min = Some("1.3".to_owned()),
            Meaning::Next | Meaning::Quiet => {}
            Meaning::Proxy => return Err(at(line, CurlFault::Proxy { flag })),
            Meaning::Jar => return Err(at(line, CurlFault::Jar { flag })),
            Meaning::Auth => return Err(at(line, CurlFault::Auth { flag })),
            Meaning::Refused => return Err(at(line, CurlFault::Refused { flag })),
        }
        if matches!(
            given.meaning,
            Meaning::Data | Meaning::DataRaw | Meaning::DataBinary | Meaning::DataUrlencode | Meaning::Json
        ) && !matches!(self.content, Content::Data(_))
        {
            return Err(at(line, CurlFault::Conflict { one: flag, other: "-F or -T" }));
        }
        Ok(())
    }

    fn speak(&mut self, http10: bool, http11: bool, http2: bool) {
        (self.way.http10, self.way.http11, self.way.http2) = (http10, http11, http2);
    }

    /// Data that is given several times is joined.
    fn add_data(&mut self, more: &[u8], with_sign: bool) {
        match &mut self.content {
            Content::Data(bytes) => {
                if with_sign {
                    bytes.push(b'&');
                }
                bytes.extend_from_slice(more);
            }
            Content::None => self.content = Content::Data(more.to_vec()),
            Content::Form(_) | Content::Upload { .. } => {}
        }
    }

    fn add_part(&mut self, part: Part, line: usize) -> Result<(), PlanError> {
        match &mut self.content {
            Content::Form(parts) => parts.push(part),
            Content::None => self.content = Content::Form(vec![part]),
            Content::Data(_) | Content::Upload { .. } => {
                return Err(at(line, CurlFault::Conflict { one: "-F", other: "-d or -T" }));
            }
        }
        Ok(())
    }

    /// What it sends, one for each URL.
    fn sendings(self, user_agent: &str) -> Result<Vec<Sending>, PlanError> {
        if self.urls.is_empty() {
            return Err(at(self.line, CurlFault::NoUrl));
        }
        if self.heads && !self.gets && !matches!(self.content, Content::None) {
            return Err(at(self.line, CurlFault::Conflict { one: "-I", other: "-d, -F or -T" }));
        }
        self.urls.iter().map(|(url, line)| self.sending(url, *line, user_agent)).collect()
    }

    fn sending(&self, url: &[u8], line: usize, user_agent: &str) -> Result<Sending, PlanError> {
        let text = body::text("--url", url, line)?;
        let mut url = CurlUrl::parse(&text, self.path_as_is, self.globoff).map_err(|error| match error {
            address::Fault::Glob => at(line, CurlFault::Glob { url: crate::masked_url(&text) }),
            address::Fault::Plan(error) => error.at_line(line),
        })?;
        let mut queries = self.queries.clone();
        if let (true, Content::Data(data)) = (self.gets, &self.content) {
            queries.push(data.clone());
        }
        for query in queries.iter().filter(|query| !query.is_empty()) {
            url.add_query(&body::text("-G", query, line)?);
        }
        let asked = self.asked_headers()?;
        let is_asked = |name: &str| asked.iter().any(|header| header.name.eq_ignore_ascii_case(name));
        let (body, method, mut own) = self.content_of(&mut url, is_asked("transfer-encoding"))?;
        let method = self.method.clone().unwrap_or_else(|| method.to_owned());
        own.extend(self.other_headers(&url, user_agent, line)?);
        let mut headers = vec![("Host".to_owned(), url.host_header().into_bytes())];
        headers.extend(own);
        headers.retain(|(name, _)| !is_asked(name) || (name == "Content-Length" || name == "Transfer-Encoding"));
        for header in asked {
            let is_framing = header.name.eq_ignore_ascii_case("content-length")
                || header.name.eq_ignore_ascii_case("transfer-encoding");
            // Browsers copy it; it is written anew.
            if is_framing {
                continue;
            }
            let Some(mut value) = header.value else { continue };
            if matches!(self.content, Content::Form(_)) && header.name.eq_ignore_ascii_case("content-type") {
                value.extend_from_slice(format!("; boundary={}", body::BOUNDARY).as_bytes());
            }
            headers.push((header.name, value));
        }
        // A host that is left out, or empty, is one all the same: HTTP/1.1 wants it.
        let version = if self.way.http10 { HttpVersion::Http10 } else { HttpVersion::Http11 };
        let path = self.request_target.clone().unwrap_or_else(|| url.path_and_query());
        // It would end the line of the request, or split it.
        if path.is_empty() || path.chars().any(|each| each.is_ascii_control() || each == ' ') {
            let reason = "it holds a space or a control character; write it as %20, or use --data-urlencode".to_owned();
            return Err(PlanError::Url { url: path.escape_debug().to_string(), reason }.at_line(line));
        }
        let request = Request { method, path, version, headers, body };
        Ok(Sending {
            line,
            url,
            request,
            follow: self.follows.then(|| Asked {
                most: self.redirects.unwrap_or(REDIRECTS_DEFAULT),
                trusts_others: self.trusts_others,
                keeps_method: self.method.is_some(),
                keeps_post: self.keeps_post,
                tells_referer: self.referer.as_deref().is_some_and(|text| text.ends_with(";auto")),
            }),
            timeout: self.timeout,
            connect_timeout: self.connect_timeout,
            way: self.way.clone(),
        })
    }

    fn asked_headers(&self) -> Result<Vec<Header>, PlanError> {
        let mut all = Vec::new();
        for (bytes, line) in &self.headers {
            let text = body::text("-H", bytes, *line)?;
            all.push(Header::parse_any(text.trim()).map_err(|error| error.at_line(*line))?);
        }
        Ok(all)
    }

    /// The body, the method that goes with it, and what the head says of it.
    fn content_of(&self, url: &mut CurlUrl, is_chunked: bool) -> Result<(Vec<u8>, &'static str, Fields), PlanError> {
        let mut fields = Vec::new();
        let mut say = |name: &str, value: String| fields.push((name.to_owned(), value.into_bytes()));
        let (bytes, method) = match &self.content {
            Content::None => return Ok((Vec::new(), if self.heads { "HEAD" } else { "GET" }, fields)),
            Content::Data(_) if self.gets => {
                return Ok((Vec::new(), if self.heads { "HEAD" } else { "GET" }, fields));
            }
            Content::Data(bytes) => {
                if self.is_json {
                    say("Content-Type", "application/json".to_owned());
                } else {
                    say("Content-Type", "application/x-www-form-urlencoded".to_owned());
                }
                (bytes.clone(), "POST")
            }
            Content::Form(parts) => {
                say("Content-Type", format!("multipart/form-data; boundary={}", body::BOUNDARY));
                (body::multipart(parts), "POST")
            }
            Content::Upload { path, line } => {
                let bytes = if path.as_slice() == b"." {
                    body::file("-T", b"-", *line)?
                } else {
                    body::file("-T", path, *line)?
                };
                if matches!(path.as_slice(), b"-" | b".") {
                    say("Transfer-Encoding", "chunked".to_owned());
                    return Ok((bytes, "PUT", fields));
                }
                let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
                url.add_file_name(&body::percent_encode(name, false));
                (bytes, "PUT")
            }
        };
        if is_chunked {
            say("Transfer-Encoding", "chunked".to_owned());
            return Ok((bytes, method, fields));
        }
        say("Content-Length", bytes.len().to_string());
        Ok((bytes, method, fields))
    }

    /// What does not depend on the body.
    fn other_headers(&self, url: &CurlUrl, user_agent: &str, line: usize) -> Result<Fields, PlanError> {
        let mut fields = Vec::new();
        let mut say = |name: &str, value: Vec<u8>| fields.push((name.to_owned(), value));
        let of_url = url.credentials();
        if let Some(bearer) = &self.bearer {
            say("Authorization", format!("Bearer {bearer}").into_bytes());
        } else if let Some(user) = self.user.as_ref().or(of_url.as_ref()) {
            let encoded = base64::engine::general_purpose::STANDARD.encode(user);
            say("Authorization", format!("Basic {encoded}").into_bytes());
        }
        if let Some(range) = &self.range {
            // As curl: a number alone is where it begins.
            let open = if range.bytes().all(|byte| byte.is_ascii_digit()) { "-" } else { "" };
            say("Range", format!("bytes={range}{open}").into_bytes());
        }
        match self.user_agent.as_deref() {
            Some("") => {}
            agent => say("User-Agent", agent.unwrap_or(user_agent).as_bytes().to_vec()),
        }
        say("Accept", if self.is_json { "application/json" } else { "*/*" }.as_bytes().to_vec());
        if self.is_compressed {
            say("Accept-Encoding", ENCODINGS.as_bytes().to_vec());
        }
        let referer = self.referer.as_deref().map(|text| text.strip_suffix(";auto").unwrap_or(text));
        if let Some(referer) = referer.filter(|referer| !referer.is_empty()) {
            say("Referer", referer.as_bytes().to_vec());
        }
        let mut cookies = Vec::new();
        for (path, line) in &self.cookie_files {
            cookies.extend(cookies_of(&body::file("-b", path, *line)?, url));
        }
        // As curl joins what it was given.
        cookies.extend((!self.cookies.is_empty()).then(|| self.cookies.join(&b";"[..])));
        if !cookies.is_empty() {
            say("Cookie", cookies.join(&b"; "[..]));
        }
        if let Some((name, _)) =
            fields.iter().find(|(_, value)| value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)))
        {
            return Err(PlanError::HeaderValue { header: name.clone() }.at_line(line));
        }
        Ok(fields)
    }
}

type Fields = Vec<(String, Vec<u8>)>;

/// Seconds, with a fraction; zero is no bound.
fn seconds(flag: &'static str, text: &str, line: usize) -> Result<Option<Duration>, PlanError> {
    let wanted = "seconds, like 5 or 2.5";
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let span = number.and_then(|number| Duration::try_from_secs_f64(number).ok());
    let span = span.ok_or_else(|| at(line, CurlFault::Value { flag, value: text.to_owned(), wanted }))?;
    Ok((!span.is_zero()).then(|| span.max(Duration::from_millis(1))))
}

/// The cookies of a file in the format of Netscape, or of lines `Set-Cookie:`, that go to this URL.
fn cookies_of(bytes: &[u8], url: &CurlUrl) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |span| span.as_secs());
    for line in String::from_utf8_lossy(bytes).lines() {
        let line = line.strip_prefix("#HttpOnly_").unwrap_or(line);
        if line.starts_with('#') {
            continue;
        }
        if let Some(text) =
            line.get(..11).filter(|front| front.eq_ignore_ascii_case("set-cookie:")).map(|_| &line[11..])
        {
            let pair = text.split(';').next().unwrap_or_default().trim();
            if pair.contains('=') {
                all.push(((0, 0, 0), pair.as_bytes().to_vec()));
            }
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let [domain, tail, path, secure, expires, name, value] = fields.as_slice() else { continue };
        // Zero ends with the browser, which this is not.
        if expires.parse::<u64>().is_ok_and(|at| at > 0 && at < now) {
            continue;
        }
        let domain = domain.trim_start_matches('.').to_ascii_lowercase();
        let host = url.host();
        let fits = host == domain || (tail.eq_ignore_ascii_case("TRUE") && host.ends_with(&format!(".{domain}")));
        let path = path.trim_end_matches('/');
        let own = url.path_and_query();
        let in_path = own.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
        // This machine is as good as secured.
        let is_safe = url.is_tls() || matches!(host, "localhost" | "127.0.0.1" | "::1");
        if fits && in_path && (is_safe || !secure.eq_ignore_ascii_case("TRUE")) {
            all.push(((path.len(), domain.len(), name.len()), format!("{name}={value}").into_bytes()));
        }
    }
    // The longest path first (RFC 6265, 5.4), and then as curl.
    all.sort_by_key(|(lengths, _)| std::cmp::Reverse(*lengths));
    all.into_iter().map(|(_, cookie)| cookie).collect()
}
