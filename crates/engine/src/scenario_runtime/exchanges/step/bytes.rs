//! Rendering of requests for HTTP/1 and for HTTP/2.

use std::sync::Arc;

use plan::{DynamicParts, NotFilled, ProxyMode, Request, Scope, Target};

/// `body`: that of the request, unless it is a call.
pub(super) fn over_http2(
    number: u32,
    request: &Request,
    body: Option<&Vec<u8>>,
    target: &Target,
) -> wire::http2::Request {
    let body = match (body, request.body.shared()) {
        (Some(body), _) => Arc::new(body.clone()),
        (None, Some(shared)) => shared.clone(),
        (None, None) => Arc::new(request.body.to_vec()),
    };
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

/// A request of HTTP/1 as bytes.
pub(crate) struct Bytes {
    front: Front,
    /// The body, where it is large.
    rest: Option<Rest>,
}

/// What is rendered: the head, and a body that is not shared.
enum Front {
    /// Of a step of the plan: all connections send the same.
    Shared(Arc<[u8]>),
    /// Made for one exchange.
    Own(Vec<u8>),
}

/// A large body, which the plan, all threads and all connections share.
#[derive(Clone)]
pub(in crate::scenario_runtime) struct Rest {
    pub(in crate::scenario_runtime) body: Arc<Vec<u8>>,
    /// Ends it, where it is a chunk.
    pub(in crate::scenario_runtime) end: &'static [u8],
}

impl Bytes {
    /// Of a step of the plan.
    pub(super) fn shared(request: &Request, target: &Target) -> Self {
        let mut bytes = Vec::new();
        let rest = render_into(request, target, &mut bytes);
        Self { front: Front::Shared(bytes.into()), rest }
    }

    /// Of one exchange.
    pub(super) fn own(request: &Request, target: &Target) -> Self {
        let mut bytes = Vec::new();
        let rest = render_into(request, target, &mut bytes);
        Self { front: Front::Own(bytes), rest }
    }

    /// Those of another exchange, in the place of these. Of a step of the plan nothing changes.
    pub(super) fn make_anew(&mut self, request: &Request, target: &Target) {
        if let Front::Own(bytes) = &mut self.front {
            bytes.clear();
            self.rest = render_into(request, target, bytes);
        }
    }

    /// All of them.
    #[inline]
    pub(in crate::scenario_runtime) fn len(&self) -> usize {
        self.front().len() + self.rest.as_ref().map_or(0, Rest::len)
    }

    /// What leaves first.
    #[inline]
    pub(in crate::scenario_runtime) fn front(&self) -> &[u8] {
        match &self.front {
            Front::Shared(bytes) => bytes,
            Front::Own(bytes) => bytes,
        }
    }

    /// What leaves behind it.
    #[inline]
    pub(in crate::scenario_runtime) fn rest(&self) -> Option<&Rest> {
        self.rest.as_ref()
    }

    /// The same, with a copy of the body behind the head.
    pub(super) fn in_one_piece(self) -> Self {
        match &self.rest {
            None => self,
            Some(rest) => {
                let front = [self.front(), &rest.body, rest.end].concat();
                Self { front: Front::Shared(front.into()), rest: None }
            }
        }
    }

    /// What leaves first, of a step of the plan.
    pub(super) fn template(&self) -> &Arc<[u8]> {
        match &self.front {
            Front::Shared(bytes) => bytes,
            Front::Own(_) => unreachable!("steps of the plan are asked alone"),
        }
    }
}

impl Rest {
    fn len(&self) -> usize {
        self.body.len() + self.end.len()
    }
}

/// Writes a request of HTTP/1, but for a body that is shared, which it gives. A body whose head says so goes in one
/// chunk: where chunks are cut means nothing.
fn render_into(request: &Request, target: &Target, bytes: &mut Vec<u8>) -> Option<Rest> {
    let is_for_proxy = target.proxy_mode() == Some(ProxyMode::Absolute);
    let for_proxy = is_for_proxy.then(|| for_proxy(request, target));
    let request = for_proxy.as_ref().unwrap_or(request);
    let version = match request.version {
        plan::HttpVersion::Http10 => wire::http1::Version::Http10,
        plan::HttpVersion::Http11 => wire::http1::Version::Http11,
    };
    let is_chunked = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding"));
    let shared = request.body.shared();
    let body = if shared.is_some() { &[][..] } else { &request.body };
    let mut chunk = Vec::new();
    if is_chunked {
        if !request.body.is_empty() {
            chunk.extend_from_slice(format!("{:x}\r\n", request.body.len()).as_bytes());
        }
        if shared.is_none() {
            chunk.extend_from_slice(body);
            chunk.extend_from_slice(if body.is_empty() { &CHUNKS_END[2..] } else { CHUNKS_END });
        }
    }
    let body = if is_chunked { &chunk } else { body };
    wire::http1::render_request(&request.method, &request.path, version, &request.headers, body, bytes);
    shared.map(|body| Rest { body: body.clone(), end: if is_chunked { CHUNKS_END } else { b"" } })
}

/// A request as a proxy wants it: with the whole URL (RFC 9112, 3.2.2), and with our credentials there.
fn for_proxy(request: &Request, target: &Target) -> Request {
    let mut request = request.clone();
    // The whole of it, whatever it is, is for the host that the load may go to.
    let port = if target.port == 80 { String::new() } else { format!(":{}", target.port) };
    let (open, close) = if target.host.contains(':') { ("[", "]") } else { ("", "") };
    let path = if request.path == "*" { "" } else { &request.path };
    let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
    request.path = format!("http://{open}{}{close}{port}{slash}{path}", target.host);
    let is_given = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(PROXY_AUTHORIZATION));
    let value = target.proxy.as_ref().and_then(|proxy| proxy.authorization()).filter(|_| !is_given);
    request.headers.extend(value.map(|value| (PROXY_AUTHORIZATION.to_owned(), value)));
    request
}

/// The field of the credentials for a proxy (RFC 9110, 11.7.2).
const PROXY_AUTHORIZATION: &str = "Proxy-Authorization";

/// What ends a chunk, and the one that is the last.
const CHUNKS_END: &[u8] = b"\r\n0\r\n\r\n";

/// What opens a conversation is made once for it. Without a path, it is that of nobody.
pub(super) fn open_anew(
    dynamic_parts: &DynamicParts,
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
    dynamic_parts.remake(base, request, scope)
}
