//! Message heads: parsed for framing and connection reuse.

use std::mem::MaybeUninit;

use super::{BodyLength, HEADER_COUNT_MAX, Limits, ProtocolError, RequestKind, Version};

/// The stored part of a response head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// 100 to 999.
    pub status: u16,
    /// The version that the peer speaks.
    pub version: Version,
    /// Whether the connection may carry another request after this response.
    pub keep_alive: bool,
    /// Where the body ends.
    pub body: BodyLength,
}

/// The head of a request, borrowed for the length of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHead<'a> {
    /// Any token, as sent.
    pub method: &'a str,
    /// The request target, as sent.
    pub target: &'a str,
    /// The version that the peer speaks.
    pub version: Version,
    /// Whether the connection may carry another request after this one.
    pub keep_alive: bool,
    /// `Expect: 100-continue`: the peer waits for an interim response before it sends the body.
    pub expect_continue: bool,
    /// Where the body ends; never [`BodyLength::UntilClose`].
    pub body: BodyLength,
    /// All bytes as received, for [`fields`].
    pub bytes: &'a [u8],
}

/// The fields of a stored head: the text before the first colon of each line, and after it.
pub fn fields(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> + Clone {
    head.split(|byte| *byte == b'\n').skip(1).filter_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

/// RFC 9112 5.2: a line of a response head that begins with a blank continues the one before it. The line end and the
/// blanks around it become spaces, in place, so that [`fields`] finds each field in one line.
pub fn unfold(head: &mut [u8]) {
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t');
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'\n', &head[from..]).map(|at| from + at) {
        from = at + 1;
        if !head.get(at + 1).is_some_and(|next| is_blank(*next)) {
            continue;
        }
        let mut begin = at - usize::from(at > 0 && head[at - 1] == b'\r');
        while begin > 0 && is_blank(head[begin - 1]) {
            begin -= 1;
        }
        while from < head.len() && is_blank(head[from]) {
            from += 1;
        }
        head[begin..from].fill(b' ');
    }
}

type Fields<'h, 'b> = &'h [httparse::Header<'b>];

/// First bytes of the TLS records with which a server may respond to a plain request: an alert, a handshake (RFC 8446
/// 5.1).
const TLS_RECORDS: [u8; 2] = [0x15, 0x16];

/// Reads a response head from the front of `input`: its length and content, or `None` when more bytes are needed.
pub(super) fn response(
    input: &[u8],
    kind: RequestKind,
    limits: &Limits,
) -> Result<Option<(usize, ResponseHead)>, ProtocolError> {
    if input.first().is_some_and(|first| TLS_RECORDS.contains(first)) {
        return Err(ProtocolError::Tls);
    }
    let window = &input[..input.len().min(limits.head_bytes_max)];
    let as_known;
    let window = match later_minor(window) {
        None => window,
        Some(at) => {
            let mut copy = window.to_vec();
            copy[at] = b'1';
            as_known = copy;
            &as_known
        }
    };
    let mut fields = [const { MaybeUninit::uninit() }; HEADER_COUNT_MAX];
    let mut head = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default()
        .allow_obsolete_multiline_headers_in_responses(true)
        .parse_response_with_uninit_headers(&mut head, window, &mut fields)
        .map_err(blame)?;
    let httparse::Status::Complete(length) = parsed else {
        return incomplete(window, limits);
    };
    let status = head.code.filter(|code| (100..=999).contains(code)).ok_or(ProtocolError::StartLine)?;
    let version = Version::from_minor(head.version.unwrap_or(1));
    let framing = Framing::read(head.headers)?;
    let body = response_body(status, kind, version, &framing)?;
    let keep_alive = framing.keeps_alive(version) && body != BodyLength::UntilClose;
    Ok(Some((length, ResponseHead { status, version, keep_alive, body })))
}

/// RFC 9110 2.5: a response of HTTP/1.2 or later is read as the highest known minor version. Returns the position of
/// its digit.
fn later_minor(window: &[u8]) -> Option<usize> {
    // Empty lines before the status line are ignored (RFC 9112 2.2).
    let from = window.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    let minor = window[from..].strip_prefix(b"HTTP/1.")?.first()?;
    matches!(minor, b'2'..=b'9').then_some(from + b"HTTP/1.".len())
}

/// Reads a request head from the front of `input`: its length and content, or `None` when more bytes are needed.
pub(super) fn request<'a>(input: &'a [u8], limits: &Limits) -> Result<Option<(usize, RequestHead<'a>)>, ProtocolError> {
    let window = &input[..input.len().min(limits.head_bytes_max)];
    let mut fields = [const { MaybeUninit::uninit() }; HEADER_COUNT_MAX];
    let mut head = httparse::Request::new(&mut []);
    let parsed = httparse::ParserConfig::default()
        .parse_request_with_uninit_headers(&mut head, window, &mut fields)
        .map_err(blame)?;
    let httparse::Status::Complete(length) = parsed else {
        return incomplete(window, limits);
    };
    let version = Version::from_minor(head.version.unwrap_or(1));
    let framing = Framing::read(head.headers)?;
    let hosts = head.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("host")).count();
    // RFC 9112 3.2: a 1.1 request without Host, or any request with several, is answered with 400.
    if hosts > 1 || hosts == 0 && version == Version::Http11 {
        return Err(ProtocolError::Host);
    }
    let expect_continue = version == Version::Http11
        && head.headers.iter().any(|field| {
            field.name.eq_ignore_ascii_case("expect") && field.value.eq_ignore_ascii_case(b"100-continue")
        });
    let body = match (framing.coding, framing.length) {
        (Coding::None, length) => length.map_or(BodyLength::None, BodyLength::Known),
        (_, Some(_)) => return Err(ProtocolError::AmbiguousLength),
        (Coding::Chunked, None) if version == Version::Http11 => BodyLength::Chunked,
        // RFC 9112 6.3: the length of a request whose final coding is not chunked cannot be known.
        _ => return Err(ProtocolError::TransferEncoding),
    };
    Ok(Some((
        length,
        RequestHead {
            method: head.method.unwrap_or_default(),
            target: head.path.unwrap_or_default(),
            version,
            keep_alive: framing.keeps_alive(version),
            expect_continue,
            body,
            bytes: &window[..length],
        },
    )))
}

fn incomplete<T>(window: &[u8], limits: &Limits) -> Result<Option<T>, ProtocolError> {
    if window.len() >= limits.head_bytes_max { Err(ProtocolError::HeadTooLarge) } else { Ok(None) }
}

fn blame(error: httparse::Error) -> ProtocolError {
    match error {
        httparse::Error::HeaderName | httparse::Error::HeaderValue | httparse::Error::NewLine => ProtocolError::Header,
        httparse::Error::TooManyHeaders => ProtocolError::TooManyHeaders,
        httparse::Error::Status | httparse::Error::Token | httparse::Error::Version => ProtocolError::StartLine,
    }
}

/// RFC 9112 6.3, in its order.
fn response_body(
    status: u16,
    kind: RequestKind,
    version: Version,
    framing: &Framing,
) -> Result<BodyLength, ProtocolError> {
    let bodiless = kind == RequestKind::Head || (100..200).contains(&status) || status == 204 || status == 304;
    if framing.coding != Coding::None && framing.length.is_some() {
        // RFC 9112 6.3: Transfer-Encoding overrides Content-Length, and having both ought to be an error. We count it
        // and close.
        return Err(ProtocolError::AmbiguousLength);
    }
    if bodiless {
        return Ok(BodyLength::None);
    }
    if kind == RequestKind::Connect && (200..300).contains(&status) {
        // A tunnel: everything after the head is its content.
        return Ok(BodyLength::UntilClose);
    }
    match (framing.coding, framing.length) {
        (Coding::None, Some(length)) => Ok(BodyLength::Known(length)),
        (Coding::None, None) => Ok(BodyLength::UntilClose),
        // RFC 9112 6.1: HTTP/1.0 knows no transfer coding, so its framing is faulty.
        _ if version == Version::Http10 => Err(ProtocolError::TransferEncoding),
        (Coding::Chunked, _) => Ok(BodyLength::Chunked),
        (Coding::Other, _) => Ok(BodyLength::UntilClose),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    None,
    Chunked,
    Other,
}

/// The fields that frame a message and decide about reuse.
struct Framing {
    coding: Coding,
    was_chunked: bool,
    length: Option<u64>,
    close: bool,
    keep: bool,
}

impl Framing {
    fn read(fields: Fields<'_, '_>) -> Result<Self, ProtocolError> {
        let mut framing = Self { coding: Coding::None, was_chunked: false, length: None, close: false, keep: false };
        for field in fields {
            // The length of the name is compared first: three of four fields are skipped with one comparison.
            match field.name.len() {
                14 if field.name.eq_ignore_ascii_case("content-length") => framing.read_length(field.value)?,
                17 if field.name.eq_ignore_ascii_case("transfer-encoding") => framing.read_coding(field.value)?,
                10 if field.name.eq_ignore_ascii_case("connection") => framing.read_connection(field.value),
                _ => {}
            }
        }
        Ok(framing)
    }

    /// RFC 9112 6.3: a list of equal numbers counts as that number.
    fn read_length(&mut self, value: &[u8]) -> Result<(), ProtocolError> {
        for item in elements(value) {
            let number = decimal(item).ok_or(ProtocolError::ContentLength)?;
            if self.length.is_some_and(|earlier| earlier != number) {
                return Err(ProtocolError::ContentLength);
            }
            self.length = Some(number);
        }
        Ok(())
    }

    /// Only the last coding frames the message, and `chunked` must not be applied twice (RFC 9112 6.1).
    fn read_coding(&mut self, value: &[u8]) -> Result<(), ProtocolError> {
        for item in elements(value).filter(|item| !item.is_empty()) {
            let is_chunked = item.eq_ignore_ascii_case(b"chunked");
            if is_chunked && self.was_chunked {
                return Err(ProtocolError::TransferEncoding);
            }
            self.was_chunked |= is_chunked;
            self.coding = if is_chunked { Coding::Chunked } else { Coding::Other };
        }
        if self.coding == Coding::None { Err(ProtocolError::TransferEncoding) } else { Ok(()) }
    }

    fn read_connection(&mut self, value: &[u8]) {
        for item in elements(value) {
            self.close |= item.eq_ignore_ascii_case(b"close");
            self.keep |= item.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// RFC 9112 9.3.
    fn keeps_alive(&self, version: Version) -> bool {
        !self.close && (version == Version::Http11 || self.keep)
    }
}

fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// Digits only: no sign, no blank, at most what fits half of a `u64`, so that sums cannot overflow.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 19 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0u64, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    (number <= u64::MAX >> 1).then_some(number)
}
