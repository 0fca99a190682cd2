//! Secrets: the names whose values are secret, and texts without them.
//!
//! There are two mechanisms. [`masked`] and related functions recognize a secret by the name before it, in heads,
//! queries, forms and JSON. [`SecretValues`] knows the values themselves, wherever they occur: a server may repeat what
//! a user typed under any name.

pub(crate) mod flags;
mod known;
mod scan;
mod shown;
#[cfg(test)]
mod tests;

pub use flags::{Credential, FlagDialect, credential};
pub use known::SecretValues;
use scan::secrets_in;

/// The replacement of a secret.
const MASK: &str = "***";

/// A name whose value is secret ends with one of these, compared by letters and digits only.
const ENDINGS: [&str; 25] = [
    "token",
    "authorization",
    "cookie",
    "cookies",
    "cookie2",
    "secret",
    "secrets",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "pwd",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "accountkey",
    "subscriptionkey",
    "functionskey",
    "credential",
    "credentials",
    "signature",
    "sessionid",
    "sessid",
];
/// Or it is one of these.
const WHOLE: [&str; 6] = ["auth", "xauth", "pass", "sig", "sid", "jwt"];
/// In a query or a form these are secret too: elsewhere they have many other meanings.
const OF_QUERIES: [&str; 4] = ["key", "code", "session", "sas"];
/// Longer than any name: a server may send anything.
const NAME_BYTES_MAX: usize = 256;

/// Whether a name has a secret value, as a field, in a query or a form, or in JSON: it is masked by default.
pub fn is_secret_field(name: &str) -> bool {
    let name = name.trim();
    if name.len() > NAME_BYTES_MAX {
        return false;
    }
    let decoded = if name.contains('%') { percent_decoded(name) } else { name.to_owned() };
    // gRPC metadata with a binary value.
    let decoded = decoded.strip_suffix("-bin").unwrap_or(&decoded);
    let compact: String =
        decoded.chars().filter(char::is_ascii_alphanumeric).map(|each| each.to_ascii_lowercase()).collect();
    WHOLE.contains(&compact.as_str()) || ENDINGS.iter().any(|ending| compact.ends_with(ending))
}

/// The same for a name in a query or a form.
fn is_secret_in_query(name: &str) -> bool {
    OF_QUERIES.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// Decodes percent-encodings (RFC 3986, 2.1).
pub fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, _, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A text with the secrets masked that follow a secret name.
pub fn masked(text: &str) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for secret in secrets_in(text) {
        out.push_str(&text[at..secret.start]);
        out.push_str(MASK);
        at = secret.end;
    }
    out.push_str(&text[at..]);
    out
}

/// A URL as typed, perhaps with errors. A password may contain characters that end the host: then more is masked than
/// necessary.
pub fn masked_url(text: &str) -> String {
    match user_of(text) {
        Some(user) => format!("{}{MASK}{}", &text[..user.start], masked(&text[user.end..])),
        None => masked(text),
    }
}

/// The range of a URL's user information.
fn user_of(text: &str) -> Option<std::ops::Range<usize>> {
    let last = |from: usize, to: usize| text[from..to].rfind('@').map(|at| from..from + at);
    let Some(start) = text.find("://").map(|place| place + 3) else {
        // Without its slashes, the begin of the host is unknown.
        let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
        let signs = text[letters..].bytes().take_while(|byte| matches!(byte, b':' | b'/' | b'\\')).count();
        let is_scheme = ["http", "https", "ws", "wss", "tcp", "grpc", "grpcs"].contains(&&text[..letters]);
        let start = if is_scheme { letters + signs } else { 0 };
        return last(start, text.len());
    };
    let end = text[start..].find(['/', '?', '#', '\\']).map_or(text.len(), |place| start + place);
    let host = &text[start..end];
    let behind = host.rsplit_once(']').map_or(host, |(_, behind)| behind);
    let is_odd = behind.split_once(':').is_some_and(|(_, port)| !port.parse::<u16>().is_ok_and(|port| port > 0));
    last(start, if host.contains('@') || !is_odd { end } else { text.len() })
}

/// A header as typed, perhaps with errors, or as sent.
pub fn masked_header(line: &str) -> String {
    let lower = line.to_ascii_lowercase();
    let words =
        ["authorization", "cookie", "token", "secret", "password", "api-key", "api_key", "apikey", "credential"];
    match line.find([':', ' ', ';', '=']) {
        Some(place) if is_secret_field(&line[..place]) || words.iter().any(|word| lower[..place].contains(word)) => {
            let space = if line[place + 1..].starts_with(' ') { " " } else { "" };
            format!("{}{space}{MASK}", &line[..=place])
        }
        _ => masked(line),
    }
}
