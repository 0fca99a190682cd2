//! The flags of curl, and their meaning for a load.

mod known;

use super::shell::Word;
use crate::PlanError;
use crate::error::{CurlFault, at};
use known::{FlagSpec, KNOWN, NEWER, NONE};

/// The meaning of a flag.
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
    FormEscape,
    Get,
    Head,
    Cookie,
    JunkSessions,
    UserAgent,
    Referer,
    User,
    Bearer,
    Insecure,
    Location,
    LocationTrusted,
    Follow,
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
    DnsServers,
    Cert,
    Key,
    Cacert,
    Upload,
    Range,
    ContinueAt,
    Output,
    ProtoDefault,
    EtagCompare,
    PathAsIs,
    Globoff,
    UrlQuery,
    Next,
    RequestTarget,
    Tls12,
    Tls13,
    Sessions,
    Alpn,
    /// Asks for the help.
    Help,
    /// Changes nothing that a load sends.
    Quiet,
    /// A proxy, by its URL.
    Proxy,
    Socks5,
    Socks5ByName,
    ProxyUser,
    NoProxy,
    ProxyTunnel,
    ProxyInsecure,
    ProxyCacert,
    /// The header of the PROXY protocol.
    ProxyHeader,
    ProxyHeaderClient,
    /// A proxy of another kind.
    OtherProxy,
    Jar,
    Auth,
    Refused,
}

/// The syntax of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `--flag`, and `--no-flag` for its negation.
    Switch,
    /// `--flag` only.
    Alone,
    /// With a value.
    Valued,
}

/// Flags whose negation has a meaning of its own; for all others it changes nothing.
const CONTRARY: [(&str, &str); 2] = [("--alpn", "--no-alpn"), ("--sessionid", "--no-sessionid")];

/// A flag with its value, as given in a command.
#[derive(Debug)]
pub(super) struct GivenFlag {
    pub(super) meaning: Meaning,
    /// The name in messages.
    pub(super) flag: &'static str,
    /// Whether it is switched off.
    pub(super) is_off: bool,
    pub(super) value: Vec<u8>,
    pub(super) line: usize,
}

/// All flags as they are written, and what they mean.
pub(super) fn all() -> impl Iterator<Item = (String, Meaning)> {
    KNOWN.iter().chain(&NEWER).map(|known| match known.1 {
        NONE => (known.0.to_owned(), known.3),
        // The letter is the contrary of the name.
        b'N' => ("-N/--no-buffer".to_owned(), known.3),
        letter => (format!("-{}/{}", char::from(letter), known.0), known.3),
    })
}

#[cfg(test)]
pub(super) fn letter_takes_value(letter: char) -> bool {
    KNOWN.iter().any(|known| known.1 != NONE && char::from(known.1) == letter && known.2 == Kind::Valued)
}

/// The flags of a command, behind its name. What is no flag is a URL.
pub(super) fn read(words: &[Word]) -> Result<Vec<GivenFlag>, PlanError> {
    let mut given = Vec::new();
    let mut words = words.iter();
    let mut only_urls = false;
    while let Some(Word { bytes, line }) = words.next() {
        let line = *line;
        if only_urls || bytes.first() != Some(&b'-') || bytes.as_slice() == b"-" {
            given.push(GivenFlag { meaning: Meaning::Url, flag: "--url", is_off: false, value: bytes.clone(), line });
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
            let (known, is_off) = long_flag(name, line)?;
            let value = match (known.2, attached) {
                (Kind::Valued, Some(value)) => value,
                (Kind::Valued, None) => next_value(&mut words, name, line)?,
                (_, None) => Vec::new(),
                (_, Some(_)) => {
                    let flag = format!("--{}=", String::from_utf8_lossy(name));
                    return Err(at(line, CurlFault::Unknown { flag }));
                }
            };
            let contrary = CONTRARY.iter().find(|(on, _)| is_off && *on == known.0);
            let flag = contrary.map_or(known.0, |(_, off)| *off);
            given.push(GivenFlag { meaning: known.3, flag, is_off, value, line });
            continue;
        }
        // Short flags can be combined; the value of the last may be attached.
        let mut letters = &bytes[1..];
        while let Some((&letter, rest)) = letters.split_first() {
            let known = KNOWN.iter().find(|known| known.1 == letter && letter != NONE).ok_or_else(|| {
                let flag = format!("-{}", char::from(letter).escape_debug());
                at(line, CurlFault::Unknown { flag })
            })?;
            letters = rest;
            let value = match (known.2, rest.is_empty()) {
                (Kind::Switch | Kind::Alone, _) => Vec::new(),
                (Kind::Valued, false) => std::mem::take(&mut letters).to_vec(),
                (Kind::Valued, true) => next_value(&mut words, &[letter], line)?,
            };
            // `-N` is `--no-buffer`; neither has a meaning here.
            given.push(GivenFlag { meaning: known.3, flag: known.0, is_off: false, value, line });
        }
    }
    Ok(given)
}

fn next_value<'a>(words: &mut impl Iterator<Item = &'a Word>, name: &[u8], line: usize) -> Result<Vec<u8>, PlanError> {
    let dashes = if name.len() > 1 { "--" } else { "-" };
    let flag = format!("{dashes}{}", String::from_utf8_lossy(name));
    words.next().map(|word| word.bytes.clone()).ok_or_else(|| at(line, CurlFault::NoValue { flag }))
}

/// A flag by its name, or by an unambiguous prefix of it; and whether `no-` precedes it.
fn long_flag(name: &[u8], line: usize) -> Result<(&'static FlagSpec, bool), PlanError> {
    let flag = || format!("--{}", String::from_utf8_lossy(name));
    if let Some(exact) = KNOWN.iter().chain(&NEWER).find(|known| known.0.as_bytes()[2..] == *name) {
        return Ok((exact, false));
    }
    let (wanted, is_off) = name.strip_prefix(b"no-").map_or((name, false), |rest| (rest, true));
    let all = || KNOWN.iter().chain(&NEWER).filter(|known| !is_off || known.2 == Kind::Switch);
    if let Some(exact) = all().find(|known| known.0.as_bytes()[2..] == *wanted) {
        return Ok((exact, is_off));
    }
    let fits = |known: &&FlagSpec| known.0.as_bytes()[2..].starts_with(wanted) && !wanted.is_empty();
    let mut fitting = KNOWN.iter().filter(|known| !is_off || known.2 == Kind::Switch).filter(fits);
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => Ok((only, is_off)),
        (Some(one), Some(other)) => Err(at(line, CurlFault::Ambiguous { flag: flag(), one: one.0, other: other.0 })),
        (None, _) => Err(at(line, CurlFault::Unknown { flag: flag() })),
    }
}
