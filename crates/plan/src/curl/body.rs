//! Bodies in the forms of curl: joined data, encoded text, files.

use std::fmt::Write;

use crate::error::{CurlFault, at};
use crate::file::read_up_to;
use crate::{PlanError, REQUEST_BODY_BYTES_MAX};

/// The content of a file that a command names.
pub(super) fn file(flag: &'static str, path: &[u8], line: usize) -> Result<Vec<u8>, PlanError> {
    let path = text(flag, path, line)?;
    read_up_to(flag, &path, REQUEST_BODY_BYTES_MAX).map_err(|error| error.at_line(line))
}

/// A value as text.
pub(super) fn text(flag: &str, bytes: &[u8], line: usize) -> Result<String, PlanError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| at(line, CurlFault::NotText { flag: flag.to_owned() }))
}

/// `-d`: a file without its line ends and zeros.
pub(super) fn data(value: &[u8], line: usize) -> Result<Vec<u8>, PlanError> {
    match value.strip_prefix(b"@") {
        None => Ok(value.to_vec()),
        Some(path) => {
            let mut bytes = file("-d", path, line)?;
            bytes.retain(|byte| !matches!(byte, b'\r' | b'\n' | 0));
            Ok(bytes)
        }
    }
}

/// `--data-binary` and `--json`: a file unchanged.
pub(super) fn data_binary(flag: &'static str, value: &[u8], line: usize) -> Result<Vec<u8>, PlanError> {
    value.strip_prefix(b"@").map_or(Ok(value.to_vec()), |path| file(flag, path, line))
}

/// `--data-urlencode`: `content`, `=content`, `name=content`, `@file` or `name@file`.
pub(super) fn data_urlencode(value: &[u8], line: usize) -> Result<Vec<u8>, PlanError> {
    let sign = value.iter().position(|byte| matches!(byte, b'=' | b'@'));
    let (name, content) = match sign {
        None => (&b""[..], value.to_vec()),
        Some(place) if value[place] == b'=' => (&value[..place], value[place + 1..].to_vec()),
        Some(place) => (&value[..place], file("--data-urlencode", &value[place + 1..], line)?),
    };
    let mut out = name.to_vec();
    if !name.is_empty() {
        out.push(b'=');
    }
    out.extend_from_slice(percent_encode(&content, true).as_bytes());
    Ok(out)
}

/// Percent-encodes everything but letters, digits and `-._~`.
pub(super) fn percent_encode(bytes: &[u8], space_is_plus: bool) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b' ' if space_is_plus => out.push('+'),
            byte if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) => out.push(char::from(*byte)),
            byte => write!(out, "%{byte:02X}").expect("writing to a string does not fail"),
        }
    }
    out
}
