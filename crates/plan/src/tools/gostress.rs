//! go-stress-testing.

use std::time::Duration;

use super::options::{read, refuse_zeros, switch, value};
use super::{
    Body, CaptureOptions, Commands, Draft, GivenFlags, Header, Load, Opt, Request, Settings, Style, Tool, ToolFault,
    ToolRun,
};
use crate::{Address, JsonCheck, Plan, PlanError, StatusSet, Version};

/// How responses are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the verification of its name")]
pub enum Verify {
    StatusCode,
    Json,
}

/// The options of go-stress-testing.
#[derive(Clone, Debug, PartialEq)]
pub struct GoStressSettings {
    /// Users.
    pub users: u64,
    /// Requests of each user.
    pub requests: u64,
    /// `http`, `webSocket` or `grpc`, as printed.
    pub form: &'static str,
    /// The URL, as printed.
    pub url: String,
    /// The method, as printed.
    pub method: String,
    /// The headers, sorted by name.
    pub headers: Vec<(String, String)>,
    /// The data, as printed.
    pub data: String,
    /// The verification, as printed.
    pub verify: String,
    /// How responses are verified.
    pub judges: Verify,
    /// The code of a success.
    pub code: u64,
    /// The timeout in seconds.
    pub timeout_s: u64,
    /// The time limit of the whole run, in seconds.
    pub deadline_s: Option<u64>,
    /// The debug option, as printed.
    pub debug: bool,
    /// The HTTP/2 option, as printed.
    pub http2: bool,
    /// The keep-alive option, as printed.
    pub keep_alive: bool,
    /// The connection limit, as printed.
    pub max_connections: u64,
}

/// Headers of a request that belong to the connection: the tool does not print them.
const NOT_PRINTED: [&str; 3] = ["host", "connection", "content-length"];

impl GoStressSettings {
    /// Takes the request of a file from the plan.
    pub(super) fn fill(&mut self, plan: &Plan) {
        let Some(scenario) = plan.scenarios.first() else { return };
        let Some(request) = scenario.steps.first().map(|step| &step.request) else { return };
        let is_printed = |(name, _): &&(String, Vec<u8>)| !NOT_PRINTED.contains(&name.to_ascii_lowercase().as_str());
        let said = |(name, value): &(String, Vec<u8>)| (name.clone(), String::from_utf8_lossy(value).into_owned());
        self.url.clone_from(&scenario.target().url);
        self.method.clone_from(&request.method);
        self.headers = request.headers.iter().filter(is_printed).map(said).collect();
        self.headers.sort();
        self.data = String::from_utf8_lossy(&request.body).into_owned();
    }
}

pub(super) const TABLE: [Opt; 17] = [
    value("-c", ""),
    value("-n", ""),
    value("-d", ""),
    value("-u", ""),
    value("-p", ""),
    value("-v", ""),
    value("-H", ""),
    value("-data", ""),
    value("-m", ""),
    value("-code", ""),
    switch("-http2", ""),
    switch("-k", ""),
    switch("-redirect", ""),
    value("-cpuNumber", ""),
    value("-t", ""),
    value("-timeout", ""),
    switch("-h", "-help"),
];
const CONTENT_TYPE: &str = "application/x-www-form-urlencoded; charset=utf-8";

pub(super) fn parse(words: &[String]) -> Result<ToolRun, ToolFault> {
    let given = read(Style::Go, &TABLE, words)?;
    let (users, requests) = (given.whole("-c", 1)?, given.whole("-n", 1)?);
    refuse_zeros(&[("-n", requests), ("-c", users)])?;
    let source = RequestSource::from_flags(&given)?;
    let form = source.form();
    let data = given.last("-data").unwrap_or_default();
    let (verify, judges) = verification(&given, form)?;
    let headers = headers_of(&given, source.file.is_some());
    let (keep_alive, http2) = (given.is_on("-k")?, given.is_on("-http2")?);
    let follows = given.last("-redirect").is_none() || given.is_on("-redirect")?;
    let timeout_s = match given.whole("-t", 0)? {
        0 => 30,
        seconds => seconds,
    };
    let deadline_s = Some(given.whole("-timeout", 0)?).filter(|seconds| *seconds > 0);
    let debug = given.last("-d").is_some_and(|text| text.eq_ignore_ascii_case("true"));
    let full_url = source.full_url();
    let settings = GoStressSettings {
        users,
        requests,
        form,
        url: full_url.clone().unwrap_or_default(),
        method: if data.is_empty() { "GET" } else { "POST" }.to_owned(),
        headers,
        data: data.to_owned(),
        verify,
        judges,
        code: given.whole("-code", 200)?,
        timeout_s,
        deadline_s,
        debug,
        http2,
        keep_alive,
        max_connections: 1,
    };
    let url = full_url.as_deref().filter(|_| form != "http" || source.file.is_none());
    let mut draft = draft_of(url.map(Address::parse).transpose()?, &settings);
    match form {
        "http" => fill_http(&mut draft, &settings, &source, follows)?,
        "webSocket" => fill_messages(&mut draft, &settings)?,
        _ => draft.request.body = Some(data_of(data)),
    }
    Ok(ToolRun {
        tool: Tool::GoStress,
        draft,
        threads: None,
        is_native: false,
        is_debug: debug,
        settings: Settings::GoStress(GoStressSettings { max_connections: given.whole("-m", 1)?, ..settings }),
    })
}

/// The source of the requests: a URL, or a file, or both.
struct RequestSource<'a> {
    url: Option<&'a str>,
    file: Option<&'a str>,
    scheme: &'a str,
}

impl<'a> RequestSource<'a> {
    fn from_flags(given: &'a GivenFlags) -> Result<Self, ToolFault> {
        let (url, file) = (given.last("-u").filter(|url| !url.is_empty()), given.last("-p"));
        if given.has("-h") || (url.is_none() && file.is_none()) {
            return Err(ToolFault::Missing { flag: "-u" });
        }
        if url.is_some_and(|url| url.starts_with("radius://")) {
            return Err(ToolFault::Unsupported { flag: "radius://" });
        }
        let scheme = url.and_then(|url| url.split_once("://")).map_or("http", |(scheme, _)| scheme);
        Ok(Self { url, file, scheme })
    }

    /// `http`, `webSocket` or `grpc`.
    fn form(&self) -> &'static str {
        match self.scheme {
            "ws" | "wss" => "webSocket",
            "grpc" | "rpc" => "grpc",
            _ => "http",
        }
    }

    /// The URL, with the scheme that we have for it.
    fn full_url(&self) -> Option<String> {
        self.url.map(|url| match self.scheme {
            "rpc" => format!("grpc{}", &url[3..]),
            _ => url.to_owned(),
        })
    }
}

/// The verification of responses: as printed, and what it is.
fn verification(given: &GivenFlags, form: &str) -> Result<(String, Verify), ToolFault> {
    let verify = given.last("-v").unwrap_or(match form {
        "http" => "statusCode",
        "webSocket" => "json",
        _ => "",
    });
    let judges = match (form, verify) {
        ("http", "statusCode") | ("grpc", _) => Verify::StatusCode,
        ("http" | "webSocket", "json") => Verify::Json,
        (_, other) => {
            let (flag, value) = ("-v", other.to_owned());
            return Err(ToolFault::Value { flag, value, wanted: "statusCode (of http) or json" });
        }
    };
    Ok((verify.to_owned(), judges))
}

/// The headers, sorted by name; values of the same name are joined.
fn headers_of(given: &GivenFlags, has_file: bool) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for text in given.all("-H") {
        let Some((name, value)) = text.split_once(':') else { continue };
        let value = value.strip_prefix(' ').unwrap_or(value);
        match headers.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = format!("{known}; {value}"),
            None => headers.push((name.to_owned(), value.to_owned())),
        }
    }
    if !headers.iter().any(|(name, _)| name == "Content-Type") && !has_file {
        headers.push(("Content-Type".to_owned(), CONTENT_TYPE.to_owned()));
    }
    headers.sort();
    headers
}

/// What the loads of all forms have in common.
fn draft_of(url: Option<Address>, settings: &GoStressSettings) -> Draft {
    let timeout = Duration::from_secs(settings.timeout_s);
    Draft {
        url,
        load: Load {
            connections: Some(settings.users),
            requests: Some(settings.users.saturating_mul(settings.requests)),
            duration: settings.deadline_s.map(Duration::from_secs),
            ..Load::default()
        },
        request: Request { timeout: Some(timeout), ..Request::default() },
        grace: Some(timeout),
        capture_options: CaptureOptions { ignores_failures: true, ..CaptureOptions::default() },
        ..Draft::default()
    }
}

/// What only a load of HTTP has.
fn fill_http(
    draft: &mut Draft,
    settings: &GoStressSettings,
    source: &RequestSource<'_>,
    follows: bool,
) -> Result<(), ToolFault> {
    let is_json = settings.judges == Verify::Json;
    let status = if is_json { 200 } else { status_of(settings.code)? };
    draft.responses.status = Some(StatusSet::one(status));
    draft.responses.location = follows;
    draft.responses.max_redirs = follows.then_some(10);
    draft.connection.no_keepalive = !settings.keep_alive;
    draft.connection.security.insecure = !settings.http2 && (follows || source.scheme == "https");
    draft.connection.version = (!settings.http2).then_some(Version::Http11);
    if is_json {
        draft.responses.json = vec![JsonCheck::parse(&format!("$.code == {}", settings.code))?];
    }
    if let Some(file) = source.file {
        // Of the requests in its file, the one that it sends.
        let (path, leads_to) = (file.to_owned(), source.url.map(str::to_owned));
        draft.commands = Some(Commands::File { path, leads_to });
    } else {
        let data = &settings.data;
        draft.request.method = Some(settings.method.clone());
        draft.request.body = (!data.is_empty()).then(|| Body::Bytes(data.as_bytes().to_vec().into()));
        draft.request.headers = vec![Header::without("Accept")];
        if !settings.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept-encoding")) {
            draft.request.headers.push(Header::new("Accept-Encoding", "gzip"));
        }
        draft.request.headers.extend(headers_sent(settings)?);
    }
    Ok(())
}

/// What only a load of WebSocket messages has.
fn fill_messages(draft: &mut Draft, settings: &GoStressSettings) -> Result<(), ToolFault> {
    draft.connection.connect_timeout = Some(Duration::from_secs(settings.timeout_s));
    draft.request.body = Some(Body::Numbered);
    draft.request.headers = headers_sent(settings)?;
    draft.request.pause = Duration::from_secs(1);
    draft.responses.json = vec![JsonCheck::parse("$.response.code == 200")?];
    Ok(())
}

/// The printed headers, as they are sent.
fn headers_sent(settings: &GoStressSettings) -> Result<Vec<Header>, PlanError> {
    settings.headers.iter().map(|(name, value)| Header::parse(&format!("{}: {value}", name.trim()))).collect()
}

fn status_of(code: u64) -> Result<u16, PlanError> {
    let status = u16::try_from(code).ok().filter(|status| (100..=999).contains(status));
    status.ok_or_else(|| PlanError::Statuses { value: code.to_string() })
}

/// The data of its calls, in the form of `-d`.
fn data_of(text: &str) -> Body {
    text.strip_prefix('@').map_or(Body::Bytes(text.as_bytes().to_vec().into()), |path| Body::File(path.to_owned()))
}
