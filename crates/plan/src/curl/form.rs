//! Multipart forms of curl's `-F` (RFC 7578).

use base64::Engine;

use super::body::{file, text};
use crate::body_bytes::joined;
use crate::error::{CurlFault, at};
use crate::{Header, PlanError};

/// Content types by file extension.
const CONTENT_TYPES: [(&str, &str); 10] = [
    (".gif", "image/gif"),
    (".jpg", "image/jpeg"),
    (".jpeg", "image/jpeg"),
    (".png", "image/png"),
    (".svg", "image/svg+xml"),
    (".txt", PLAIN_TEXT),
    (".htm", "text/html"),
    (".html", "text/html"),
    (".pdf", "application/pdf"),
    (".xml", "application/xml"),
];
const PLAIN_TEXT: &str = "text/plain";
const ANY_CONTENT: &str = "application/octet-stream";

/// Characters of a line of base64 (RFC 2045, 6.8).
const BASE64_LINE: usize = 76;

/// A form as the words of a curl command, for flags and tools with the forms of curl.
pub(crate) fn command_of_form<'a>(
    parts: impl Iterator<Item = &'a str>,
    headers: &[Header],
    method: Option<&str>,
    url: String,
) -> Vec<Vec<u8>> {
    // The URL is no pattern here.
    let mut words: Vec<Vec<u8>> = vec![b"-g".to_vec()];
    for part in parts {
        words.extend([b"-F".to_vec(), part.as_bytes().to_vec()]);
    }
    for header in headers {
        let name = header.name.as_bytes();
        let said = match header.value.as_deref() {
            None => [name, b":"].concat(),
            Some([]) => [name, b";"].concat(),
            Some(value) => [name, b": ", value].concat(),
        };
        words.extend([b"-H".to_vec(), said]);
    }
    if let Some(method) = method {
        words.extend([b"-X".to_vec(), method.as_bytes().to_vec()]);
    }
    words.push(url.into_bytes());
    words
}

/// A part of a form.
#[derive(Debug)]
pub(super) struct FormPart {
    name: Vec<u8>,
    contents: Vec<Content>,
}

#[derive(Debug)]
struct Content {
    bytes: Vec<u8>,
    file_name: Option<Vec<u8>>,
    content_type: Option<String>,
    /// The encoding, when given.
    encoding: Option<String>,
    /// Further lines of its head: of several files each has its own.
    headers: Vec<Vec<u8>>,
}

/// `--form-string`: no character has a special meaning.
pub(super) fn form_string(value: &[u8], line: usize) -> Result<FormPart, PlanError> {
    let (name, bytes) = name_and_rest("--form-string", value, line)?;
    let content =
        Content { bytes: bytes.to_vec(), file_name: None, content_type: None, encoding: None, headers: Vec::new() };
    Ok(FormPart { name: name.to_vec(), contents: vec![content] })
}

fn name_and_rest<'a>(flag: &'static str, value: &'a [u8], line: usize) -> Result<(&'a [u8], &'a [u8]), PlanError> {
    let place = value.iter().position(|byte| *byte == b'=').ok_or_else(|| {
        let value = String::from_utf8_lossy(value).into_owned();
        at(line, CurlFault::Value { flag, value, wanted: "name=content or name=@file" })
    })?;
    Ok((&value[..place], &value[place + 1..]))
}

fn wrong(value: &[u8], wanted: &'static str, line: usize) -> PlanError {
    at(line, CurlFault::Value { flag: "-F", value: String::from_utf8_lossy(value).into_owned(), wanted })
}

/// `-F`: `name=content`, `name=@file`, `name=<file`, with `;type=`, `;filename=`, `;encoder=` and `;headers=` after it.
pub(super) fn form(value: &[u8], line: usize) -> Result<FormPart, PlanError> {
    let (name, rest) = name_and_rest("-F", value, line)?;
    let mut part = FormPart { name: name.to_vec(), contents: Vec::new() };
    match rest.first() {
        Some(b'(' | b')') if part.name.is_empty() || rest.first() == Some(&b'(') => {
            return Err(wrong(value, "a part that is no group of parts", line));
        }
        Some(b'@') => {
            let mut rest = Some(&rest[1..]);
            while let Some(from) = rest {
                let mut fields = Fields { rest: from, ends_with_comma: true };
                let path = fields.word();
                let extras = fields.extras(line)?;
                let bytes = file("-F", &path, line)?;
                let base = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
                // The type of the standard input is known only by a name.
                let last_guess = (path != b"-").then_some(ANY_CONTENT);
                let name = extras.file_name.as_deref();
                let guessed = name.and_then(content_type_of).or_else(|| content_type_of(&path)).or(last_guess);
                let content_type = extras.content_type.or_else(|| guessed.map(str::to_owned));
                let file_name = Some(extras.file_name.unwrap_or(base));
                let Extras { encoding, headers, .. } = extras;
                part.contents.push(Content { bytes, file_name, content_type, encoding, headers });
                rest = fields.rest.strip_prefix(b",");
            }
        }
        Some(b'<') => {
            let mut fields = Fields { rest: &rest[1..], ends_with_comma: false };
            let path = fields.word();
            let extras = fields.extras(line)?;
            let bytes = file("-F", &path, line)?;
            // As curl: text is the default type of a field, and what is read into a field has no file name of its own.
            let guessed = content_type_of(&path).filter(|kind| *kind != PLAIN_TEXT);
            let content_type = extras.content_type.or_else(|| guessed.map(str::to_owned));
            let Extras { encoding, headers, .. } = extras;
            part.contents.push(Content { bytes, file_name: None, content_type, encoding, headers });
        }
        _ => {
            let mut fields = Fields { rest, ends_with_comma: false };
            let bytes = fields.word();
            let extras = fields.extras(line)?;
            let guessed = extras.file_name.as_deref().and_then(content_type_of);
            let content_type = extras.content_type.or_else(|| guessed.map(str::to_owned));
            let Extras { file_name, encoding, headers, .. } = extras;
            part.contents.push(Content { bytes, file_name, content_type, encoding, headers });
        }
    }
    Ok(part)
}

/// Whether it is two words with a slash between them.
fn is_content_type(kind: &[u8]) -> bool {
    let mut words = kind.splitn(2, |byte| *byte == b'/');
    let is_word = |word: Option<&[u8]>| word.is_some_and(|word| !word.is_empty() && !b" ;,".contains(&word[0]));
    is_word(words.next()) && is_word(words.next())
}

/// The type by a file name.
fn content_type_of(name: &[u8]) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    CONTENT_TYPES.iter().find(|(end, _)| name.ends_with(end.as_bytes())).map(|(_, kind)| *kind)
}

#[derive(Default)]
struct Extras {
    content_type: Option<String>,
    file_name: Option<Vec<u8>>,
    encoding: Option<String>,
    headers: Vec<Vec<u8>>,
}

/// The text after the name of a part.
struct Fields<'a> {
    rest: &'a [u8],
    /// Whether a comma separates files.
    ends_with_comma: bool,
}

impl<'a> Fields<'a> {
    fn is_end(&self, byte: u8) -> bool {
        byte == b';' || (self.ends_with_comma && byte == b',')
    }

    /// The text up to a semicolon, or a comma between files; in quotes both have no meaning. Surrounding spaces are
    /// dropped.
    fn word(&mut self) -> Vec<u8> {
        self.rest = self.rest.trim_ascii_start();
        if let Some(word) = self.quoted() {
            return word;
        }
        let end = self.rest.iter().position(|byte| self.is_end(*byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.trim_ascii_end().to_vec()
    }

    /// A quoted word; `None` without a closing quote.
    fn quoted(&mut self) -> Option<Vec<u8>> {
        let quoted = self.rest.strip_prefix(b"\"")?;
        let (mut out, mut place) = (Vec::new(), 0);
        loop {
            match (*quoted.get(place)?, quoted.get(place + 1)) {
                (b'\\', Some(sign @ (b'\\' | b'"'))) => {
                    out.push(*sign);
                    place += 2;
                }
                (b'"', _) => {
                    let behind = &quoted[place + 1..];
                    let skipped = behind.iter().take_while(|byte| !self.is_end(**byte)).count();
                    self.rest = &behind[skipped..];
                    return Some(out);
                }
                (byte, _) => {
                    out.push(byte);
                    place += 1;
                }
            }
        }
    }

    /// The text after a name and an equals sign, ignoring case.
    fn behind(&self, name: &[u8]) -> Option<&'a [u8]> {
        let front = self.rest.get(..name.len())?;
        front.eq_ignore_ascii_case(name).then(|| &self.rest[name.len()..])
    }

    fn extras(&mut self, line: usize) -> Result<Extras, PlanError> {
        let mut extras = Extras::default();
        // An unknown field after a type belongs to it: types have parameters.
        let mut open_type: Option<&[u8]> = None;
        while let Some(rest) = self.rest.strip_prefix(b";") {
            self.rest = rest.trim_ascii_start();
            if let (None, Some(rest)) = (open_type, self.behind(b"type=")) {
                self.rest = rest.trim_ascii_start();
                let start = self.rest;
                let kind = self.skip_to_end(start);
                if !is_content_type(kind) {
                    return Err(wrong(kind, "a type like ;type=text/plain", line));
                }
                extras.content_type = Some(text("-F", kind, line)?);
                open_type = Some(start);
            } else if let Some(rest) = self.behind(b"filename=") {
                (self.rest, open_type) = (rest, None);
                extras.file_name = Some(self.word());
            } else if let Some(rest) = self.behind(b"encoder=") {
                (self.rest, open_type) = (rest, None);
                let encoding = text("-F", &self.word(), line)?.to_ascii_lowercase();
                if !matches!(encoding.as_str(), "binary" | "8bit" | "7bit" | "base64") {
                    return Err(wrong(encoding.as_bytes(), "the encoder base64, 8bit, 7bit or binary", line));
                }
                extras.encoding = Some(encoding);
            } else if let Some(rest) = self.behind(b"headers=") {
                (self.rest, open_type) = (rest, None);
                self.headers(&mut extras.headers, line)?;
            } else if let Some(start) = open_type {
                extras.content_type = Some(text("-F", self.skip_to_end(start), line)?);
            } else {
                // As curl: unknown fields are ignored.
                self.word();
            }
        }
        Ok(extras)
    }

    /// Skips to the end of the field, and returns the text from `start` up to there.
    fn skip_to_end(&mut self, start: &'a [u8]) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| self.is_end(*byte)).unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
        start[..start.len() - self.rest.len()].trim_ascii_end()
    }

    fn headers(&mut self, headers: &mut Vec<Vec<u8>>, line: usize) -> Result<(), PlanError> {
        match self.rest.first() {
            Some(b'@' | b'<') => {
                self.rest = &self.rest[1..];
                let bytes = file("-F", &self.word(), line)?;
                let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
                headers.extend(lines.filter(|line| !line.is_empty() && line[0] != b'#').map(<[u8]>::to_vec));
            }
            _ => headers.push(self.word()),
        }
        Ok(())
    }
}

/// The boundary between parts: a constant, so that the same command gives the same bytes.
pub(super) const BOUNDARY: &str = "------------------------6f6e727573680a21";
const INNER_BOUNDARY: &str = "------------------------6f6e727573680a22";

/// The body of a form. In a body of another type its parts are attachments. `escapes_names`: with backslashes instead
/// of percent-encoding.
pub(super) fn multipart(parts: Vec<FormPart>, is_form: bool, escapes_names: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        push_line(&mut out, &[b"--", BOUNDARY.as_bytes()]);
        let name = escape(&part.name, escapes_names);
        let mut disposition = b"Content-Disposition: ".to_vec();
        disposition.extend_from_slice(if is_form { b"form-data" } else { b"attachment" });
        if !part.name.is_empty() {
            disposition.extend_from_slice(&[b"; name=\"", name.as_slice(), b"\""].concat());
        }
        match <[Content; 1]>::try_from(part.contents) {
            Ok([only]) => push_content(&mut out, &disposition, only, escapes_names),
            Err(several) => {
                push_line(&mut out, &[&disposition]);
                push_line(&mut out, &[b"Content-Type: multipart/mixed; boundary=", INNER_BOUNDARY.as_bytes()]);
                out.extend_from_slice(b"\r\n");
                for content in several {
                    push_line(&mut out, &[b"--", INNER_BOUNDARY.as_bytes()]);
                    push_content(&mut out, b"Content-Disposition: attachment", content, escapes_names);
                }
                push_line(&mut out, &[b"--", INNER_BOUNDARY.as_bytes(), b"--"]);
                out.extend_from_slice(b"\r\n");
            }
        }
    }
    push_line(&mut out, &[b"--", BOUNDARY.as_bytes(), b"--"]);
    out
}

fn push_content(out: &mut Vec<u8>, disposition: &[u8], content: Content, escapes_names: bool) {
    match &content.file_name {
        Some(name) => push_line(out, &[disposition, b"; filename=\"", &escape(name, escapes_names), b"\""]),
        None => push_line(out, &[disposition]),
    }
    if let Some(kind) = &content.content_type {
        push_line(out, &[b"Content-Type: ", kind.as_bytes()]);
    }
    if let Some(encoding) = &content.encoding {
        push_line(out, &[b"Content-Transfer-Encoding: ", encoding.as_bytes()]);
    }
    content.headers.iter().for_each(|header| push_line(out, &[header]));
    out.extend_from_slice(b"\r\n");
    if content.encoding.as_deref() == Some("base64") {
        let encoded = base64::engine::general_purpose::STANDARD.encode(&content.bytes);
        let lines: Vec<&[u8]> = encoded.as_bytes().chunks(BASE64_LINE).collect();
        push_line(out, &[&lines.join(&b"\r\n"[..])]);
    } else {
        *out = joined(std::mem::take(out), content.bytes);
        push_line(out, &[]);
    }
}

fn push_line(out: &mut Vec<u8>, pieces: &[&[u8]]) {
    pieces.iter().for_each(|piece| out.extend_from_slice(piece));
    out.extend_from_slice(b"\r\n");
}

/// Escapes a quoted name: with percent-encoding, or with a backslash.
fn escape(name: &[u8], by_backslash: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in name {
        match byte {
            b'"' | b'\\' if by_backslash => out.extend_from_slice(&[b'\\', *byte]),
            b'"' => out.extend_from_slice(b"%22"),
            b'\r' => out.extend_from_slice(b"%0D"),
            b'\n' => out.extend_from_slice(b"%0A"),
            byte => out.push(*byte),
        }
    }
    out
}
