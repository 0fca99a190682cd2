//! Rendering of requests for HTTP/1 and for HTTP/2.

use plan::{DynamicParts, NotFilled, Request, Scope, Target};

pub(super) fn over_http2(number: u32, request: &Request, body: &[u8], target: &Target) -> wire::http2::Request {
    let fields = http2_fields(&request.method, &request.path, &request.headers, target.tls.is_some());
    let fields = fields.iter().map(|(name, value)| (name.as_slice(), value.as_slice()));
    wire::http2::Request::new(number, fields, body)
}

/// The fields of an HTTP/2 request (RFC 9113, 8.3.1): none of them is about the connection.
pub(crate) fn http2_fields(
    method: &str,
    path: &str,
    headers: &[(String, Vec<u8>)],
    is_tls: bool,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let host = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let scheme = if is_tls { &b"https"[..] } else { b"http" };
    let mut fields: Vec<(Vec<u8>, Vec<u8>)> =
        vec![(b":method".to_vec(), method.as_bytes().to_vec()), (b":scheme".to_vec(), scheme.to_vec())];
    if let Some((_, host)) = host {
        fields.push((b":authority".to_vec(), host.clone()));
    }
    fields.push((b":path".to_vec(), path.as_bytes().to_vec()));
    for (name, value) in headers {
        let name = name.to_ascii_lowercase();
        let is_of_connection =
            matches!(name.as_str(), "host" | "connection" | "keep-alive" | "proxy-connection" | "upgrade");
        // Streams have no chunks.
        let is_refused = name == "transfer-encoding" || name == "te" && !value.eq_ignore_ascii_case(b"trailers");
        if !is_of_connection && !is_refused {
            fields.push((name.into_bytes(), value.clone()));
        }
    }
    fields
}

/// The bytes of an HTTP/1 request. A body with a chunked coding in the head is sent in one chunk: where chunks are cut
/// means nothing.
pub(super) fn render(request: &Request) -> Vec<u8> {
    let mut bytes = Vec::new();
    render_into(request, &mut bytes);
    bytes
}

pub(super) fn render_into(request: &Request, bytes: &mut Vec<u8>) {
    let version = match request.version {
        plan::HttpVersion::Http10 => wire::http1::Version::Http10,
        plan::HttpVersion::Http11 => wire::http1::Version::Http11,
    };
    let is_chunked = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding"));
    let mut chunk = Vec::new();
    if is_chunked {
        if !request.body.is_empty() {
            chunk.extend_from_slice(format!("{:x}\r\n", request.body.len()).as_bytes());
            chunk.extend_from_slice(&request.body);
            chunk.extend_from_slice(b"\r\n");
        }
        chunk.extend_from_slice(b"0\r\n\r\n");
    }
    let body = if is_chunked { &chunk } else { &request.body };
    wire::http1::render_request(&request.method, &request.path, version, &request.headers, body, bytes);
}

/// Makes the dynamic request that opens a conversation. `is_open`: the conversation is open already, so the request
/// gets no path and opens none.
pub(super) fn open_anew(
    making: &DynamicParts,
    base: &Request,
    request: &mut Request,
    is_open: bool,
    scope: &mut impl Scope,
) -> Result<(), NotFilled> {
    if is_open {
        request.path.clear();
        return Ok(());
    }
    request.path.clone_from(&base.path);
    making.remake(base, request, scope)
}
