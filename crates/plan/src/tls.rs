//! The protocol of a target, and TLS options.

use serde::{Deserialize, Serialize};

/// The protocol of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// HTTP/1, one exchange at a time on a connection.
    Http1,
    /// HTTP/2; a target that does not speak it fails.
    Http2,
    /// The one that the target chooses in the TLS handshake.
    Negotiated,
    /// WebSocket, over HTTP/1.1.
    WebSocket,
    /// None: bytes on a plain connection.
    Tcp,
    /// One that the plan knows by its name only.
    Custom,
}

/// The trust of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trust {
    /// In any server.
    Anybody,
    /// In the root certificates of this system.
    System,
    /// In the certificates of a PEM text, and those signed by them.
    Pem(Vec<u8>),
}

/// A client certificate, as PEM texts.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCertificate {
    /// The certificate, and those that lead to a known CA.
    pub chain: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for OwnCertificate {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnCertificate").finish_non_exhaustive()
    }
}

/// TLS options of connections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// The trust.
    pub trust: Trust,
    /// The client certificate.
    pub certificate: Option<OwnCertificate>,
    /// The requested name, which the certificate must have.
    pub name: String,
    /// The offered protocols (ALPN), in order of preference.
    pub alpn: Vec<String>,
    /// Key exchange groups, in order of preference; empty for the default ones.
    pub groups: Vec<String>,
    /// Whether TLS 1.2 is refused.
    pub only_tls13: bool,
    /// Whether earlier sessions are resumed.
    pub resumes: bool,
}

impl Tls {
    /// The options of the connection to a proxy of this name: the system's trust, and no client certificate.
    pub fn of_proxy(host: &str) -> Self {
        Self {
            trust: Trust::System,
            certificate: None,
            name: host.to_owned(),
            alpn: vec!["http/1.1".to_owned()],
            groups: Vec::new(),
            only_tls13: false,
            resumes: true,
        }
    }
}
