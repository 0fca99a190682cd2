//! Bodies as curl makes them: joined data, forms, encoded text, files.

use std::fmt::Write;
use std::path::Path;

use super::fault::{CurlFault, at};
use crate::flags::read_up_to;
use crate::{PlanError, REQUEST_BODY_BYTES_MAX};

/// Content types by the end of a file's name.
const CONTENT_TYPES: [(&str, &str); 10] = [
    (".gif", "image/gif"),
    (".jpg", "image/jpeg"),
    (".jpeg", "image/jpeg"),
    (".png", "image/png"),
    (".svg", "image/svg+xml"),
    (".txt", "text/plain"),
    (".htm", "text/html"),
    (".html", "text/html"),
    (".pdf", "application/pdf"),
    (".xml", "application/xml"),
];
const ANY_CONTENT: &str = "application/octet-stream";

/// A file that a command names.
pub(super) fn file(flag: &'static str, path: &[u8], line: usize) -> Result<Vec<u8>, PlanError> {
    let path = text(flag, path, line)?;
    read_up_to(flag, &path, REQUEST_BODY_BYTES_MAX).map_err(|error| error.at_line(line))
}

/// Text of a value.
pub(super) fn text(flag: &str, bytes: &[u8], line: usize) -> Result<String, PlanError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| at(line, CurlFault::NotText { flag: flag.to_owned() }))
}

/// `-d`: a file loses its line ends and zeros.
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

/// `--data-binary` and `--json`: a file as it is.
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

/// Everything but letters, digits and `-._~` as its number.
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

/// What percent signs stand for.
pub(super) fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let (mut out, mut place) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(place) {
        let pair = bytes.get(place + 1..place + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.filter(|pair| byte == b'%' && !pair.starts_with('+')).map(|pair| u8::from_str_radix(pair, 16)) {
            Some(Ok(number)) => {
                out.push(number);
                place += 3;
            }
            _ => {
                out.push(byte);
                place += 1;
            }
        }
    }
    out
}

/// A part of a form.
#[derive(Debug)]
pub(super) struct Part {
    name: Vec<u8>,
    contents: Vec<Content>,
    headers: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Content {
    bytes: Vec<u8>,
    file_name: Option<Vec<u8>>,
    content_type: Option<String>,
}

/// `--form-string`: nothing in it has a meaning.
pub(super) fn form_string(value: &[u8], line: usize) -> Result<Part, PlanError> {
    let (name, bytes) = name_and_rest("--form-string", value, line)?;
    let content = Content { bytes: bytes.to_vec(), file_name: None, content_type: None };
    Ok(Part { name: name.to_vec(), contents: vec![content], headers: Vec::new() })
}

fn name_and_rest<'a>(flag: &'static str, value: &'a [u8], line: usize) -> Result<(&'a [u8], &'a [u8]), PlanError> {
    let wrong = || {
        let value = String::from_utf8_lossy(value).into_owned();
        at(line, CurlFault::Value { flag, value, wanted: "name=content or name=@file" })
    };
    let place = value.iter().position(|byte| *byte == b'=').ok_or_else(wrong)?;
    Ok((&value[..place], &value[place + 1..]))
}

/// `-F`: `name=content`, `name=@file`, `name=<file`, with `;type=`, `;filename=` and `;headers=` behind it.
pub(super) fn form(value: &[u8], line: usize) -> Result<Part, PlanError> {
    let (name, rest) = name_and_rest("-F", value, line)?;
    let mut part = Part { name: name.to_vec(), contents: Vec::new(), headers: Vec::new() };
    match rest.first() {
        Some(b'(' | b')') if part.name.is_empty() || rest.first() == Some(&b'(') => {
            let value = String::from_utf8_lossy(value).into_owned();
            return Err(at(line, CurlFault::Value { flag: "-F", value, wanted: "a part that is no group of parts" }));
        }
        Some(b'@') => {
            let mut rest = Some(&rest[1..]);
            while let Some(from) = rest {
                let mut fields = Fields { rest: from };
                let path = fields.word(true);
                let extras = fields.extras(&mut part.headers, line)?;
                let bytes = file("-F", &path, line)?;
                let base = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
                let guessed = extras.content_type.unwrap_or_else(|| content_type_of(&path).to_owned());
                part.contents.push(Content {
                    bytes,
                    file_name: Some(extras.file_name.unwrap_or(base)),
                    content_type: Some(guessed),
                });
                rest = fields.rest.strip_prefix(b",");
            }
        }
        Some(b'<') => {
            let mut fields = Fields { rest: &rest[1..] };
            let path = fields.word(false);
            let extras = fields.extras(&mut part.headers, line)?;
            let bytes = file("-F", &path, line)?;
            part.contents.push(Content { bytes, file_name: extras.file_name, content_type: extras.content_type });
        }
        _ => {
            let mut fields = Fields { rest };
            let bytes = fields.word(false);
            let extras = fields.extras(&mut part.headers, line)?;
            part.contents.push(Content { bytes, file_name: extras.file_name, content_type: extras.content_type });
        }
    }
    Ok(part)
}

fn content_type_of(path: &[u8]) -> &'static str {
    let path = Path::new(std::str::from_utf8(path).unwrap_or_default()).to_string_lossy().to_ascii_lowercase();
    CONTENT_TYPES.iter().find(|(end, _)| path.ends_with(end)).map_or(ANY_CONTENT, |(_, kind)| kind)
}

#[derive(Default)]
struct Extras {
    content_type: Option<String>,
    file_name: Option<Vec<u8>>,
}

/// What stands behind the name of a part.
struct Fields<'a> {
    rest: &'a [u8],
}

impl Fields<'_> {
    /// Up to a semicolon (or a comma, between files); in quotes both mean nothing.
    fn word(&mut self, ends_with_comma: bool) -> Vec<u8> {
        let trimmed = self.rest.trim_ascii_start();
        if let Some(quoted) = trimmed.strip_prefix(b"\"") {
            let (mut out, mut place) = (Vec::new(), 0);
            while let Some(&byte) = quoted.get(place) {
                match (byte, quoted.get(place + 1)) {
                    (b'\\', Some(sign @ (b'\\' | b'"'))) => {
                        out.push(*sign);
                        place += 2;
                    }
                    (b'"', _) => {
                        let behind = &quoted[place + 1..];
                        let skip =
                            behind.iter().take_while(|byte| **byte != b';' && !(ends_with_comma && **byte == b','));
                        self.rest = &behind[skip.count()..];
                        return out;
                    }
                    _ => {
                        out.push(byte);
                        place += 1;
                    }
                }
            }
        }
        let is_end = |byte: &u8| *byte == b';' || (ends_with_comma && *byte == b',');
        let end = self.rest.iter().position(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_vec()
    }

    fn extras(&mut self, headers: &mut Vec<Vec<u8>>, line: usize) -> Result<Extras, PlanError> {
        let mut extras = Extras::default();
        while let Some(rest) = self.rest.strip_prefix(b";") {
            let rest = rest.trim_ascii_start();
            let value_of = |name: &[u8]| {
                rest.get(..name.len())
                    .is_some_and(|front| front.eq_ignore_ascii_case(name))
                    .then(|| &rest[name.len()..])
            };
            if let Some(value) = value_of(b"type=") {
                // Parameters of a type have semicolons of their own.
                self.rest = value;
                let mut kind = self.word(true);
                while self.rest.starts_with(b";") {
                    let next = self.rest[1..].trim_ascii_start();
                    let is_ours = [&b"filename="[..], b"headers=", b"encoder=", b"type="]
                        .iter()
                        .any(|name| next.get(..name.len()).is_some_and(|front| front.eq_ignore_ascii_case(name)));
                    if is_ours {
                        break;
                    }
                    self.rest = &self.rest[1..];
                    kind.push(b';');
                    kind.extend(self.word(true));
                }
                extras.content_type = Some(text("-F", &kind, line)?);
            } else if let Some(value) = value_of(b"filename=") {
                self.rest = value;
                extras.file_name = Some(self.word(true));
            } else if let Some(value) = value_of(b"headers=") {
                self.rest = value;
                match self.rest.first() {
                    Some(b'@' | b'<') => {
                        self.rest = &self.rest[1..];
                        let path = self.word(true);
                        let bytes = file("-F", &path, line)?;
                        let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
                        headers.extend(lines.filter(|line| !line.is_empty() && line[0] != b'#').map(<[u8]>::to_vec));
                    }
                    _ => headers.push(self.word(true)),
                }
            } else {
                let value = String::from_utf8_lossy(rest).into_owned();
                return Err(at(
                    line,
                    CurlFault::Value { flag: "-F", value, wanted: ";type=, ;filename= or ;headers=" },
                ));
            }
        }
        Ok(extras)
    }
}

/// The boundary between parts: known from outside, so that the same command gives the same bytes.
pub(super) const BOUNDARY: &str = "------------------------6f6e727573680a21";
const INNER_BOUNDARY: &str = "------------------------6f6e727573680a22";

/// The body of a form (RFC 7578).
pub(super) fn multipart(parts: &[Part]) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        push_line(&mut out, &[b"--", BOUNDARY.as_bytes()]);
        let name = escape(&part.name);
        let mut disposition = b"Content-Disposition: form-data".to_vec();
        if !part.name.is_empty() {
            disposition.extend_from_slice(&[b"; name=\"", name.as_slice(), b"\""].concat());
        }
        match part.contents.as_slice() {
            [only] => push_content(&mut out, &disposition, only, &part.headers),
            several => {
                push_line(&mut out, &[&disposition]);
                push_line(&mut out, &[b"Content-Type: multipart/mixed; boundary=", INNER_BOUNDARY.as_bytes()]);
                part.headers.iter().for_each(|header| push_line(&mut out, &[header]));
                out.extend_from_slice(b"\r\n");
                for content in several {
                    push_line(&mut out, &[b"--", INNER_BOUNDARY.as_bytes()]);
                    push_content(&mut out, b"Content-Disposition: attachment", content, &[]);
                }
                push_line(&mut out, &[b"--", INNER_BOUNDARY.as_bytes(), b"--"]);
                out.extend_from_slice(b"\r\n");
            }
        }
    }
    push_line(&mut out, &[b"--", BOUNDARY.as_bytes(), b"--"]);
    out
}

fn push_content(out: &mut Vec<u8>, disposition: &[u8], content: &Content, headers: &[Vec<u8>]) {
    match &content.file_name {
        Some(name) => push_line(out, &[disposition, b"; filename=\"", &escape(name), b"\""]),
        None => push_line(out, &[disposition]),
    }
    if let Some(kind) = &content.content_type {
        push_line(out, &[b"Content-Type: ", kind.as_bytes()]);
    }
    headers.iter().for_each(|header| push_line(out, &[header]));
    out.extend_from_slice(b"\r\n");
    push_line(out, &[&content.bytes]);
}

fn push_line(out: &mut Vec<u8>, pieces: &[&[u8]]) {
    pieces.iter().for_each(|piece| out.extend_from_slice(piece));
    out.extend_from_slice(b"\r\n");
}

/// Names in quotes: what would end them stands as its number.
fn escape(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in name {
        match byte {
            b'"' => out.extend_from_slice(b"%22"),
            b'\r' => out.extend_from_slice(b"%0D"),
            b'\n' => out.extend_from_slice(b"%0A"),
            byte => out.push(*byte),
        }
    }
    out
}
