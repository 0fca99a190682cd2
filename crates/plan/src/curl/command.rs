//! The parsed flags of one command.

use std::time::Duration;

use super::Route;
use super::body;
use super::form::{self, FormPart};
use super::options::{GivenFlag, Meaning};
use super::proxy::ProxyFlags;
use super::resume::Resume;
use crate::body_bytes::joined;
use crate::endpoints::parse_unix_socket;
use crate::error::{CurlFault, at};
use crate::header::is_token;
use crate::names::parse_dns_server;
use crate::{ConnectTo, PlanError, Resolve, TlsVersion, Version};

/// The source of the body.
#[derive(Debug, Default)]
pub(super) enum Content {
    #[default]
    None,
    Data(Vec<u8>),
    Form(Vec<FormPart>),
}

/// The parsed flags of one command.
#[derive(Debug, Default)]
pub(super) struct Command {
    pub(super) line: usize,
    pub(super) urls: Vec<(Vec<u8>, usize)>,
    pub(super) method: Option<String>,
    pub(super) headers: Vec<(Vec<u8>, usize)>,
    /// One upload per URL; an empty one uploads nothing.
    pub(super) uploads: Vec<(Vec<u8>, usize)>,
    pub(super) content: Content,
    pub(super) is_json: bool,
    pub(super) escapes_names: bool,
    pub(super) gets: bool,
    pub(super) heads: bool,
    pub(super) cookies: Vec<Vec<u8>>,
    pub(super) cookie_files: Vec<(Vec<u8>, usize)>,
    pub(super) junks_sessions: bool,
    pub(super) etag_file: Option<(Vec<u8>, usize)>,
    pub(super) user_agent: Option<String>,
    pub(super) referer: Option<String>,
    pub(super) user: Option<Vec<u8>>,
    pub(super) bearer: Option<String>,
    pub(super) follows: bool,
    /// Whether a redirect may change the method, also one that was named.
    pub(super) frees_method: bool,
    pub(super) trusts_others: bool,
    pub(super) redirects: Option<u32>,
    pub(super) keeps_post: u8,
    pub(super) is_compressed: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) range: Option<String>,
    pub(super) resume: Resume,
    /// Where answers would be written, one for each URL.
    pub(super) outputs: Vec<Vec<u8>>,
    /// Of URLs that have none.
    pub(super) scheme: Option<&'static str>,
    pub(super) path_as_is: bool,
    pub(super) globoff: bool,
    pub(super) queries: Vec<Vec<u8>>,
    pub(super) request_target: Option<String>,
    pub(super) way: Route,
    proxy: ProxyFlags,
}

impl Command {
    pub(super) fn from_flags(given: &[GivenFlag], line: usize) -> Result<Self, PlanError> {
        let mut command = Self { line, ..Self::default() };
        for one in given {
            command.take(one)?;
            command.check_data(one)?;
        }
        let route = &mut command.way.route_overrides;
        (route.proxies, route.proxy_header) = std::mem::take(&mut command.proxy).finish()?;
        Ok(command)
    }

    /// Takes one flag.
    #[expect(clippy::too_many_lines, reason = "a table: one arm for each meaning of a flag")]
    fn take(&mut self, given: &GivenFlag) -> Result<(), PlanError> {
        let (flag, line, value) = (given.flag, given.line, given.value.as_slice());
        let text = || body::text(flag, value, line);
        let is_on = !given.is_off;
        let at_line = |error: PlanError| error.at_line(line);
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
            Meaning::Data => self.add_data(body::data(value, line)?, true),
            Meaning::DataRaw => self.add_data(value.to_vec(), true),
            Meaning::DataBinary => self.add_data(body::data_binary("--data-binary", value, line)?, true),
            Meaning::DataUrlencode => self.add_data(body::data_urlencode(value, line)?, true),
            Meaning::Json => {
                self.is_json = true;
                self.add_data(body::data_binary("--json", value, line)?, false);
            }
            Meaning::Form => self.add_part(form::form(value, line)?, line)?,
            Meaning::FormString => self.add_part(form::form_string(value, line)?, line)?,
            Meaning::FormEscape => self.escapes_names = is_on,
            Meaning::Get => self.gets = is_on,
            Meaning::Head => self.heads = is_on,
            Meaning::Cookie if value.contains(&b'=') => self.cookies.push(value.to_vec()),
            Meaning::Cookie if value.is_empty() => {}
            Meaning::Cookie => self.cookie_files.push((value.to_vec(), line)),
            Meaning::JunkSessions => self.junks_sessions = is_on,
            Meaning::UserAgent => self.user_agent = Some(text()?),
            Meaning::Referer => self.referer = Some(text()?),
            Meaning::User => {
                self.user = Some(match value {
                    b"" => b":".to_vec(),
                    value if value.contains(&b':') => value.to_vec(),
                    _ => return Err(at(line, CurlFault::NoPassword)),
                });
            }
            Meaning::Bearer => self.bearer = Some(text()?),
            Meaning::Insecure => self.way.insecure = is_on,
            Meaning::Location => (self.follows, self.frees_method) = (is_on, false),
            Meaning::LocationTrusted => (self.follows, self.trusts_others) = (is_on, is_on),
            Meaning::Follow => (self.follows, self.frees_method) = (true, true),
            Meaning::MaxRedirs => {
                let wanted = "a number, or -1 for no bound";
                let number = text()?;
                self.redirects = Some(match number.parse::<i64>() {
                    Ok(-1) => u32::MAX,
                    Ok(number) if number >= 0 => u32::try_from(number).unwrap_or(u32::MAX),
                    _ => return Err(at(line, CurlFault::Value { flag, value: number, wanted })),
                });
            }
            Meaning::Post301 => self.keep_post(1, is_on),
            Meaning::Post302 => self.keep_post(2, is_on),
            Meaning::Post303 => self.keep_post(4, is_on),
            Meaning::Compressed => self.is_compressed = is_on,
            Meaning::Http10 => self.way.version = Some(Version::Http10),
            Meaning::Http11 => self.way.version = Some(Version::Http11),
            // Over plain connections curl requests it by an upgrade from HTTP/1.1, and servers rarely accept; see
            // `way_of`.
            Meaning::Http2 => self.way.version = None,
            Meaning::Http2Prior => self.way.version = Some(Version::Http2),
            Meaning::MaxTime => self.timeout = seconds(flag, &text()?, line)?,
            Meaning::ConnectTimeout => self.connect_timeout = seconds(flag, &text()?, line)?,
            Meaning::Resolve => self.way.route_overrides.resolve.push(Resolve::parse(&text()?).map_err(at_line)?),
            Meaning::ConnectTo => {
                self.way.route_overrides.connect_to.push(ConnectTo::parse(&text()?).map_err(at_line)?)
            }
            Meaning::UnixSocket => self.way.route_overrides.unix = Some(parse_unix_socket(&text()?).map_err(at_line)?),
            Meaning::DnsServers => {
                let first = text()?.split(',').next().map(|one| parse_dns_server(one.trim()));
                self.way.dns = first.transpose().map_err(at_line)?;
            }
            Meaning::Cert => self.way.cert = Some(text()?),
            Meaning::Key => self.way.key = Some(text()?),
            Meaning::Cacert => self.way.cacert = Some(text()?),
            Meaning::Upload => self.uploads.push((value.to_vec(), line)),
            Meaning::Range => self.range = Some(text()?).filter(|range| !range.is_empty()),
            Meaning::ContinueAt => self.resume = Resume::parse(flag, &text()?, line)?,
            Meaning::Output => self.outputs.push(value.to_vec()),
            Meaning::ProtoDefault => self.scheme = Some(scheme(flag, &text()?, line)?),
            Meaning::EtagCompare => self.etag_file = Some((value.to_vec(), line)),
            Meaning::PathAsIs => self.path_as_is = is_on,
            Meaning::Globoff => self.globoff = is_on,
            Meaning::UrlQuery => self.queries.push(match value.strip_prefix(b"+") {
                Some(plain) => plain.to_vec(),
                None => body::data_urlencode(value, line)?,
            }),
            Meaning::RequestTarget => self.request_target = Some(text()?),
            Meaning::Tls12 => self.way.least = Some(TlsVersion::Tls12),
            Meaning::Tls13 => self.way.least = Some(TlsVersion::Tls13),
            Meaning::Sessions => self.way.no_resumption = !is_on,
            Meaning::Next | Meaning::Quiet => {}
            Meaning::Alpn if is_on => {}
            Meaning::Alpn => return Err(at(line, CurlFault::Refused { flag })),
            // A flag that is switched off changes nothing.
            Meaning::OtherProxy | Meaning::Auth | Meaning::Refused if !is_on => {}
            Meaning::OtherProxy => return Err(at(line, CurlFault::Proxy { flag })),
            Meaning::Proxy
            | Meaning::Socks5
            | Meaning::Socks5ByName
            | Meaning::ProxyUser
            | Meaning::NoProxy
            | Meaning::ProxyTunnel
            | Meaning::ProxyInsecure
            | Meaning::ProxyCacert
            | Meaning::ProxyHeader
            | Meaning::ProxyHeaderClient => self.proxy.take((given.meaning, flag), text()?, is_on, line)?,
            Meaning::Jar => return Err(at(line, CurlFault::Jar { flag })),
            Meaning::Auth => return Err(at(line, CurlFault::Auth { flag })),
            Meaning::Help | Meaning::Refused => return Err(at(line, CurlFault::Refused { flag })),
        }
        Ok(())
    }

    /// Checks that data, where the flag gives some, is the body.
    fn check_data(&self, given: &GivenFlag) -> Result<(), PlanError> {
        let is_data = matches!(
            given.meaning,
            Meaning::Data | Meaning::DataRaw | Meaning::DataBinary | Meaning::DataUrlencode | Meaning::Json
        );
        if is_data && !matches!(self.content, Content::Data(_)) {
            return Err(at(given.line, CurlFault::Conflict { one: given.flag, other: "-F or -T" }));
        }
        Ok(())
    }

    fn keep_post(&mut self, bit: u8, is_on: bool) {
        self.keeps_post = if is_on { self.keeps_post | bit } else { self.keeps_post & !bit };
    }

    /// Joins data that is given several times.
    fn add_data(&mut self, more: Vec<u8>, with_sign: bool) {
        match &mut self.content {
            Content::Data(bytes) => {
                if with_sign {
                    bytes.push(b'&');
                }
                *bytes = joined(std::mem::take(bytes), more);
            }
            Content::None => self.content = Content::Data(more),
            Content::Form(_) => {}
        }
    }

    fn add_part(&mut self, part: FormPart, line: usize) -> Result<(), PlanError> {
        match &mut self.content {
            Content::Form(parts) => parts.push(part),
            Content::None => self.content = Content::Form(vec![part]),
            Content::Data(_) => {
                return Err(at(line, CurlFault::Conflict { one: "-F", other: "-d or -T" }));
            }
        }
        Ok(())
    }
}

/// `--proto-default`: what URLs without a scheme are.
fn scheme(flag: &'static str, text: &str, line: usize) -> Result<&'static str, PlanError> {
    let known = ["http", "https"].into_iter().find(|known| text.eq_ignore_ascii_case(known));
    let wanted = "http or https";
    known.ok_or_else(|| at(line, CurlFault::Value { flag, value: text.to_owned(), wanted }))
}

/// Seconds, with a fraction; zero means no limit.
fn seconds(flag: &'static str, text: &str, line: usize) -> Result<Option<Duration>, PlanError> {
    let wanted = "seconds, like 5 or 2.5";
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let span = number.and_then(|number| Duration::try_from_secs_f64(number).ok());
    let span = span.ok_or_else(|| at(line, CurlFault::Value { flag, value: text.to_owned(), wanted }))?;
    Ok((!span.is_zero()).then(|| span.max(Duration::from_millis(1))))
}
