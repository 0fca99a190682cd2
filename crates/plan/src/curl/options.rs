//! The flags of curl: which there are, and what they mean to a load.

use super::fault::{CurlFault, at};
use super::shell::Word;
use crate::PlanError;

/// What a flag means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Request,
    Url,
    Header,
    Data,
    DataRaw,
    DataBinary,
    DataUrlencode,
    Json,
    Form,
    FormString,
    Get,
    Head,
    Cookie,
    UserAgent,
    Referer,
    User,
    Bearer,
    Insecure,
    Location,
    LocationTrusted,
    NoLocation,
    NoCompressed,
    MaxRedirs,
    Post301,
    Post302,
    Post303,
    Compressed,
    Http10,
    Http11,
    Http2,
    Http2Prior,
    MaxTime,
    ConnectTimeout,
    Resolve,
    ConnectTo,
    UnixSocket,
    Cert,
    Key,
    Cacert,
    Upload,
    Range,
    PathAsIs,
    Globoff,
    UrlQuery,
    Next,
    RequestTarget,
    Tls12,
    Tls13,
    /// Changes nothing that a load sends.
    Quiet,
    Proxy,
    Jar,
    Auth,
    Refused,
}

use Meaning as M;

/// A flag: its long name, its short one, whether a value follows, and what it means.
struct Known(&'static str, u8, bool, Meaning);

const NONE: u8 = 0;

/// In the order of the long names.
const KNOWN: [Known; 147] = [
    Known("--anyauth", NONE, false, M::Auth),
    Known("--append", b'a', false, M::Refused),
    Known("--aws-sigv4", NONE, true, M::Auth),
    Known("--basic", NONE, false, M::Quiet),
    Known("--buffer", NONE, false, M::Quiet),
    Known("--ca-native", NONE, false, M::Quiet),
    Known("--cacert", NONE, true, M::Cacert),
    Known("--capath", NONE, true, M::Refused),
    Known("--cert", b'E', true, M::Cert),
    Known("--cert-status", NONE, false, M::Refused),
    Known("--cert-type", NONE, true, M::Quiet),
    Known("--ciphers", NONE, true, M::Refused),
    Known("--compressed", NONE, false, M::Compressed),
    Known("--compressed-ssh", NONE, false, M::Quiet),
    Known("--config", b'K', true, M::Refused),
    Known("--connect-timeout", NONE, true, M::ConnectTimeout),
    Known("--connect-to", NONE, true, M::ConnectTo),
    Known("--continue-at", b'C', true, M::Refused),
    Known("--cookie", b'b', true, M::Cookie),
    Known("--cookie-jar", b'c', true, M::Jar),
    Known("--create-dirs", NONE, false, M::Quiet),
    Known("--crlf", NONE, false, M::Refused),
    Known("--data", b'd', true, M::Data),
    Known("--data-ascii", NONE, true, M::Data),
    Known("--data-binary", NONE, true, M::DataBinary),
    Known("--data-raw", NONE, true, M::DataRaw),
    Known("--data-urlencode", NONE, true, M::DataUrlencode),
    Known("--digest", NONE, false, M::Auth),
    Known("--disable", b'q', false, M::Quiet),
    Known("--dns-servers", NONE, true, M::Refused),
    Known("--dump-header", b'D', true, M::Quiet),
    Known("--expect100-timeout", NONE, true, M::Quiet),
    Known("--fail", b'f', false, M::Quiet),
    Known("--fail-early", NONE, false, M::Quiet),
    Known("--fail-with-body", NONE, false, M::Quiet),
    Known("--form", b'F', true, M::Form),
    Known("--form-string", NONE, true, M::FormString),
    Known("--get", b'G', false, M::Get),
    Known("--globoff", b'g', false, M::Globoff),
    Known("--head", b'I', false, M::Head),
    Known("--header", b'H', true, M::Header),
    Known("--http0.9", NONE, false, M::Refused),
    Known("--http1.0", b'0', false, M::Http10),
    Known("--http1.1", NONE, false, M::Http11),
    Known("--http2", NONE, false, M::Http2),
    Known("--http2-prior-knowledge", NONE, false, M::Http2Prior),
    Known("--http3", NONE, false, M::Refused),
    Known("--http3-only", NONE, false, M::Refused),
    Known("--ignore-content-length", NONE, false, M::Refused),
    Known("--include", b'i', false, M::Quiet),
    Known("--insecure", b'k', false, M::Insecure),
    Known("--interface", NONE, true, M::Refused),
    Known("--ipv4", b'4', false, M::Quiet),
    Known("--ipv6", b'6', false, M::Refused),
    Known("--json", NONE, true, M::Json),
    Known("--junk-session-cookies", b'j', false, M::Quiet),
    Known("--keepalive", NONE, false, M::Quiet),
    Known("--keepalive-time", NONE, true, M::Quiet),
    Known("--key", NONE, true, M::Key),
    Known("--key-type", NONE, true, M::Quiet),
    Known("--limit-rate", NONE, true, M::Refused),
    Known("--local-port", NONE, true, M::Refused),
    Known("--location", b'L', false, M::Location),
    Known("--location-trusted", NONE, false, M::LocationTrusted),
    Known("--max-filesize", NONE, true, M::Quiet),
    Known("--max-redirs", NONE, true, M::MaxRedirs),
    Known("--max-time", b'm', true, M::MaxTime),
    Known("--negotiate", NONE, false, M::Auth),
    Known("--netrc", b'n', false, M::Auth),
    Known("--netrc-file", NONE, true, M::Auth),
    Known("--netrc-optional", NONE, false, M::Auth),
    Known("--next", b':', false, M::Next),
    Known("--no-alpn", NONE, false, M::Refused),
    Known("--no-basic", NONE, false, M::Quiet),
    Known("--no-buffer", b'N', false, M::Quiet),
    Known("--no-clobber", NONE, false, M::Quiet),
    Known("--no-compressed", NONE, false, M::NoCompressed),
    Known("--no-fail", NONE, false, M::Quiet),
    Known("--no-keepalive", NONE, false, M::Quiet),
    Known("--no-location", NONE, false, M::NoLocation),
    Known("--no-npn", NONE, false, M::Quiet),
    Known("--no-progress-meter", NONE, false, M::Quiet),
    Known("--no-sessionid", NONE, false, M::Quiet),
    Known("--no-silent", NONE, false, M::Quiet),
    Known("--no-verbose", NONE, false, M::Quiet),
    Known("--noproxy", NONE, true, M::Quiet),
    Known("--ntlm", NONE, false, M::Auth),
    Known("--oauth2-bearer", NONE, true, M::Bearer),
    Known("--output", b'o', true, M::Quiet),
    Known("--output-dir", NONE, true, M::Quiet),
    Known("--parallel", b'Z', false, M::Quiet),
    Known("--parallel-immediate", NONE, false, M::Quiet),
    Known("--parallel-max", NONE, true, M::Quiet),
    Known("--pass", NONE, true, M::Refused),
    Known("--path-as-is", NONE, false, M::PathAsIs),
    Known("--post301", NONE, false, M::Post301),
    Known("--post302", NONE, false, M::Post302),
    Known("--post303", NONE, false, M::Post303),
    Known("--preproxy", NONE, true, M::Proxy),
    Known("--progress-bar", b'#', false, M::Quiet),
    Known("--proto", NONE, true, M::Quiet),
    Known("--proto-default", NONE, true, M::Quiet),
    Known("--proto-redir", NONE, true, M::Quiet),
    Known("--proxy", b'x', true, M::Proxy),
    Known("--proxy-header", NONE, true, M::Proxy),
    Known("--proxy-insecure", NONE, false, M::Quiet),
    Known("--proxy-user", b'U', true, M::Proxy),
    Known("--proxytunnel", b'p', false, M::Proxy),
    Known("--range", b'r', true, M::Range),
    Known("--rate", NONE, true, M::Refused),
    Known("--raw", NONE, false, M::Quiet),
    Known("--referer", b'e', true, M::Referer),
    Known("--remote-header-name", b'J', false, M::Quiet),
    Known("--remote-name", b'O', false, M::Quiet),
    Known("--remote-name-all", NONE, false, M::Quiet),
    Known("--remote-time", b'R', false, M::Quiet),
    Known("--remove-on-error", NONE, false, M::Quiet),
    Known("--request", b'X', true, M::Request),
    Known("--request-target", NONE, true, M::RequestTarget),
    Known("--resolve", NONE, true, M::Resolve),
    Known("--retry", NONE, true, M::Quiet),
    Known("--retry-all-errors", NONE, false, M::Quiet),
    Known("--retry-connrefused", NONE, false, M::Quiet),
    Known("--retry-delay", NONE, true, M::Quiet),
    Known("--retry-max-time", NONE, true, M::Quiet),
    Known("--show-error", b'S', false, M::Quiet),
    Known("--silent", b's', false, M::Quiet),
    Known("--socks5", NONE, true, M::Proxy),
    Known("--socks5-hostname", NONE, true, M::Proxy),
    Known("--ssl-no-revoke", NONE, false, M::Quiet),
    Known("--stderr", NONE, true, M::Quiet),
    Known("--styled-output", NONE, false, M::Quiet),
    Known("--tcp-nodelay", NONE, false, M::Quiet),
    Known("--tlsv1", b'1', false, M::Quiet),
    Known("--tlsv1.2", NONE, false, M::Tls12),
    Known("--tlsv1.3", NONE, false, M::Tls13),
    Known("--trace", NONE, true, M::Quiet),
    Known("--trace-ascii", NONE, true, M::Quiet),
    Known("--trace-time", NONE, false, M::Quiet),
    Known("--unix-socket", NONE, true, M::UnixSocket),
    Known("--upload-file", b'T', true, M::Upload),
    Known("--url", NONE, true, M::Url),
    Known("--url-query", NONE, true, M::UrlQuery),
    Known("--user", b'u', true, M::User),
    Known("--user-agent", b'A', true, M::UserAgent),
    Known("--verbose", b'v', false, M::Quiet),
    Known("--write-out", b'w', true, M::Quiet),
];

/// A flag with its value, as it stands in a command.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) meaning: Meaning,
    /// As messages name it.
    pub(super) flag: &'static str,
    pub(super) value: Vec<u8>,
    pub(super) line: usize,
}

/// The flags of a command, behind its name. What is no flag is a URL.
pub(super) fn read(words: &[Word]) -> Result<Vec<Given>, PlanError> {
    let mut given = Vec::new();
    let mut words = words.iter();
    let mut only_urls = false;
    while let Some(Word { bytes, line }) = words.next() {
        let line = *line;
        if only_urls || bytes.first() != Some(&b'-') || bytes.as_slice() == b"-" {
            given.push(Given { meaning: M::Url, flag: "--url", value: bytes.clone(), line });
            continue;
        }
        if bytes.as_slice() == b"--" {
            only_urls = true;
            continue;
        }
        if let Some(long) = bytes.strip_prefix(b"--") {
            let (name, attached) = match long.iter().position(|byte| *byte == b'=') {
                Some(place) => (&long[..place], Some(long[place + 1..].to_vec())),
                None => (long, None),
            };
            let known = long_flag(name, line)?;
            let value = match (known.2, attached) {
                (true, Some(value)) => value,
                (true, None) => next_value(&mut words, name, line)?,
                (false, None) => Vec::new(),
                (false, Some(_)) => {
                    let flag = format!("--{}=", String::from_utf8_lossy(name));
                    return Err(at(line, CurlFault::Unknown { flag }));
                }
            };
            given.push(Given { meaning: known.3, flag: known.0, value, line });
            continue;
        }
        // Short flags may stand together; the value of the last may be attached.
        let mut letters = &bytes[1..];
        while let Some((&letter, rest)) = letters.split_first() {
            let known = KNOWN.iter().find(|known| known.1 == letter && letter != NONE).ok_or_else(|| {
                let flag = format!("-{}", char::from(letter).escape_debug());
                at(line, CurlFault::Unknown { flag })
            })?;
            letters = rest;
            let value = match (known.2, rest.is_empty()) {
                (false, _) => Vec::new(),
                (true, false) => std::mem::take(&mut letters).to_vec(),
                (true, true) => next_value(&mut words, &[letter], line)?,
            };
            given.push(Given { meaning: known.3, flag: known.0, value, line });
        }
    }
    Ok(given)
}

fn next_value<'a>(words: &mut impl Iterator<Item = &'a Word>, name: &[u8], line: usize) -> Result<Vec<u8>, PlanError> {
    let dashes = if name.len() > 1 { "--" } else { "-" };
    let flag = format!("{dashes}{}", String::from_utf8_lossy(name));
    words.next().map(|word| word.bytes.clone()).ok_or_else(|| at(line, CurlFault::NoValue { flag }))
}

/// A flag by its name, or by as much of it as tells it from the others.
fn long_flag(name: &[u8], line: usize) -> Result<&'static Known, PlanError> {
    if let Some(exact) = KNOWN.iter().find(|known| known.0.as_bytes()[2..] == *name) {
        return Ok(exact);
    }
    let mut fits = KNOWN.iter().filter(|known| known.0.as_bytes()[2..].starts_with(name) && !name.is_empty());
    let flag = format!("--{}", String::from_utf8_lossy(name));
    match (fits.next(), fits.next()) {
        (Some(only), None) => Ok(only),
        (Some(one), Some(other)) => Err(at(line, CurlFault::Ambiguous { flag, one: one.0, other: other.0 })),
        (None, _) => Err(at(line, CurlFault::Unknown { flag })),
    }
}
