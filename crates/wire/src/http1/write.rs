//! Rendering of messages. The input was checked before: names are tokens, values have no line ends.

use super::Version;
use crate::decimal::push_decimal;

/// Appends a whole request: start line, fields in their order, body.
pub fn render_request(
    method: &str,
    target: &str,
    version: Version,
    fields: &[(String, Vec<u8>)],
    body: &[u8],
    out: &mut Vec<u8>,
) {
    for part in [method, " ", target, " ", version.as_str(), "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
    for (name, value) in fields {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body);
}

/// The content of a response head.
#[derive(Clone, Copy, Debug)]
pub struct ResponseStart {
    /// 100 to 999.
    pub status: u16,
    /// The length of the body; `None` for chunks.
    pub body_bytes: Option<u64>,
    /// `Content-Type`.
    pub content_type: &'static str,
    /// `Location`, of a redirect.
    pub location: Option<&'static str>,
    /// Whether the connection ends after this response.
    pub close: bool,
    /// Whether to send `Connection: keep-alive`, which an HTTP/1.0 peer needs.
    pub keep_alive: bool,
}

/// Appends the head of a response; `more` is an additional field: its name and its value.
pub fn write_response_head(start: &ResponseStart, more: Option<(&str, &str)>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 ");
    push_decimal(u64::from(start.status), out);
    out.push(b' ');
    out.extend_from_slice(reason_phrase(start.status).as_bytes());
    out.extend_from_slice(b"\r\n");
    // RFC 9110 8.6: no length in 1xx and 204. 304 has no body either; a length there would describe the 200.
    if start.status >= 200 && start.status != 204 && start.status != 304 {
        out.extend_from_slice(b"Content-Type: ");
        out.extend_from_slice(start.content_type.as_bytes());
        match start.body_bytes {
            Some(length) => {
                out.extend_from_slice(b"\r\nContent-Length: ");
                push_decimal(length, out);
            }
            None => out.extend_from_slice(b"\r\nTransfer-Encoding: chunked"),
        }
        out.extend_from_slice(b"\r\n");
    }
    if let Some(location) = start.location {
        out.extend_from_slice(b"Location: ");
        out.extend_from_slice(location.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    if let Some((name, value)) = more {
        for part in [name, ": ", value, "\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    }
    if start.close {
        out.extend_from_slice(b"Connection: close\r\n");
    } else if start.keep_alive {
        out.extend_from_slice(b"Connection: keep-alive\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

/// The standard phrase of a status (RFC 9110 15, RFC 6585), or a generic one for a status that has none.
pub fn reason_phrase(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        413 => "Content Too Large",
        418 => "I'm a teapot",
        422 => "Unprocessable Content",
        425 => "Too Early",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "Status",
    }
}
