//! The HTTP client of all exports.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body};
use url::Url;

use crate::error::DeliveryFault;
use crate::names::Names;
use crate::queue::DeliveryError;

/// The most bytes read of a response.
const RESPONSE_BYTES_MAX: u64 = 64 * 1024;
/// The most characters kept of an error response.
const SAID_CHARS_MAX: usize = 200;

/// A client that posts to one URL.
pub(crate) struct Client {
    agent: Agent,
    url: String,
    headers: Vec<(&'static str, String)>,
}

impl Client {
    /// A client for a URL, perhaps with a name and a password in it, which become a header. `token`: the alternative
    /// credential.
    pub(crate) fn new(url: &Url, headers: &[(&'static str, &str)], token: Option<String>) -> Self {
        let mut plain = url.clone();
        let mut headers: Vec<_> = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        if let Some(secret) = token.or_else(|| basic(url)) {
            headers.push(("Authorization", secret));
        }
        // Both fail only where a URL can have neither.
        let _ = plain.set_username("");
        let _ = plain.set_password(None);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Secrets are sent only to the given server, and through no proxy.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .user_agent(concat!("onrush/", env!("CARGO_PKG_VERSION")))
            .tls_config(if url.scheme() == "https" { tls() } else { TlsConfig::default() })
            .build();
        let agent = Agent::with_parts(config, DefaultConnector::default(), Names);
        Self { agent, url: plain.into(), headers }
    }

    /// Posts a body, and returns the response.
    pub(crate) fn post(&self, body: &[u8], wait: Duration) -> Result<Vec<u8>, DeliveryError> {
        let mut request = self.agent.post(&self.url).config().timeout_global(Some(wait)).build();
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let mut response = request.send(body).map_err(|error| delivery_error(&error))?;
        let status = response.status().as_u16();
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let said = read(response.body_mut());
        match status {
            200..=299 => Ok(said.unwrap_or_default()),
            408 | 429 | 500..=599 => Err(DeliveryError::Later(refusal(status, said), after.map(Duration::from_secs))),
            _ => Err(DeliveryError::Never(refusal(status, said))),
        }
    }
}

fn read(body: &mut Body) -> Option<Vec<u8>> {
    body.with_config().limit(RESPONSE_BYTES_MAX).read_to_vec().ok()
}

fn refusal(status: u16, said: Option<Vec<u8>>) -> DeliveryFault {
    let text = String::from_utf8_lossy(&said.unwrap_or_default()).into_owned();
    DeliveryFault::Status(status, one_line(&text))
}

/// The text of a server as one line of limited length.
pub(crate) fn one_line(text: &str) -> String {
    let line: String =
        text.trim().chars().map(|each| if each.is_control() { ' ' } else { each }).take(SAID_CHARS_MAX).collect();
    plan::masked(&line)
}

fn delivery_error(error: &ureq::Error) -> DeliveryError {
    let fault = match error {
        ureq::Error::Timeout(_) => DeliveryFault::TimedOut,
        // The kernel's own timeout of a connection looks like any other error.
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => DeliveryFault::TimedOut,
        ureq::Error::Io(error) => DeliveryFault::Unreachable(error.to_string()),
        other => DeliveryFault::Unreachable(one_line(&other.to_string())),
    };
    DeliveryError::Later(fault, None)
}

/// The user name and password of a URL as a header.
fn basic(url: &Url) -> Option<String> {
    let has_any = !url.username().is_empty() || url.password().is_some();
    let pair = [decoded(url.username()), b":".to_vec(), decoded(url.password().unwrap_or_default())].concat();
    has_any.then(|| format!("Basic {}", STANDARD.encode(pair)))
}

/// A percent-decoded part of a URL.
pub(crate) fn decoded(text: &str) -> Vec<u8> {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
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
    out
}

/// The crypto provider of the load, and the root certificates of this system.
fn tls() -> TlsConfig {
    let der = host::trusted_certificates();
    let roots: Vec<Certificate<'static>> = der.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    let config = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&roots));
    match wire::tls::provider() {
        Ok(provider) => config.unversioned_rustls_crypto_provider(Arc::new(provider)).build(),
        // Each request fails then, with the reason.
        Err(_) => config.build(),
    }
}
