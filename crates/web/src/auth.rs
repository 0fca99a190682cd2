//! Authentication. A browser request from another site is refused, whatever it contains; a client without the token
//! gets nothing but the page itself, which has no results.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::serve::IncomingStream;
use listener::{Bounded, Guest};

use crate::error::ApiError;
use crate::token::is_same;

/// Only resources of this server; no site may frame it, and it sends nothing to other sites.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every response.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The client at the other end of a connection.
#[derive(Clone)]
pub(crate) struct Who(Arc<Guest>);

impl Who {
    /// Notes that its request was read; the response may take its time.
    pub(crate) fn serve(&self) {
        self.0.serve();
    }
}

impl Connected<IncomingStream<'_, Bounded>> for Who {
    fn connect_info(stream: IncomingStream<'_, Bounded>) -> Self {
        Self(stream.io().guest())
    }
}

/// Checks each request first of all.
pub(crate) async fn authorize(
    State(token): State<Arc<str>>,
    ConnectInfo(who): ConnectInfo<Who>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match refusal(&request, &token) {
        Some(fault) => fault.into_response(),
        None => {
            if is_secret(request.uri().path()) {
                who.0.vouch();
            }
            next.run(request).await
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn is_secret(path: &str) -> bool {
    path.starts_with("/api/")
}

fn refusal(request: &Request, token: &str) -> Option<ApiError> {
    let headers = request.headers();
    let hosts: Vec<&HeaderValue> = headers.get_all(header::HOST).iter().collect();
    let host = match hosts[..] {
        [host] => host.to_str().ok().filter(|host| is_own_name(host)),
        _ => None,
    };
    let Some(host) = host else {
        let (text, zh) = (
            "the Host of this request is no address of this machine; open the page by its address, or as localhost",
            "请求的 Host 不是本机地址；请用 IP 地址或 localhost 打开页面",
        );
        return Some(ApiError::new(StatusCode::MISDIRECTED_REQUEST, "foreign_host", text, zh));
    };
    let foreign = || {
        let (text, zh) = ("this request comes from another site and is refused", "请求来自其他网站，已拒绝");
        Some(ApiError::new(StatusCode::FORBIDDEN, "foreign_origin", text, zh))
    };
    let own = format!("http://{host}");
    if headers.get_all(header::ORIGIN).iter().any(|origin| origin.as_bytes() != own.as_bytes()) {
        return foreign();
    }
    // A typed or followed link may open the page; it carries no token.
    if !is_secret(request.uri().path()) {
        return None;
    }
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
        return foreign();
    }
    if !has_token(headers, token) {
        let (text, zh) = (
            "a token is wanted: open the link that onrush showed, or send 'Authorization: Bearer TOKEN'",
            "需要令牌：请打开 onrush 显示的链接，或发送 'Authorization: Bearer 令牌'",
        );
        return Some(ApiError::new(StatusCode::UNAUTHORIZED, "no_token", text, zh));
    }
    // Only JSON makes a browser send a preflight request for another site.
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_json = kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    (request.method() == Method::POST && !is_json).then(|| {
        let (text, zh) = ("this wants 'Content-Type: application/json'", "需要 'Content-Type: application/json'");
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "no_json", text, zh)
    })
}

/// A literal address or `localhost`: a name that foreign DNS resolves to this machine is neither.
fn is_own_name(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (host, None),
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    is_port && (name.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok())
}

fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    given.and_then(|given| given.strip_prefix(b"Bearer ")).is_some_and(|given| is_same(given, token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::is_own_name;

    #[test]
    fn names_of_others_are_foreign() {
        for own in ["127.0.0.1:8089", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8089", "[::1]", "10.0.0.7:80"] {
            assert!(is_own_name(own), "{own}");
        }
        for foreign in [
            "",
            "evil.example",
            "evil.example:8089",
            "127.0.0.1.evil.example",
            "localhost.evil:1",
            "127.0.0.1:x",
            "[::1",
            ":80",
        ] {
            assert!(!is_own_name(foreign), "{foreign}");
        }
    }
}
