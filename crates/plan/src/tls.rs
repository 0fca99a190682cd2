//! What is spoken with a target, and how its connections are secured.

use serde::{Deserialize, Serialize};

/// The protocol of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// HTTP/1, one exchange at a time on a connection.
    Http1,
    /// HTTP/2; a target that does not speak it fails.
    Http2,
    /// What the target chooses in the TLS handshake.
    Negotiated,
    /// WebSocket, over HTTP/1.1.
    WebSocket,
    /// None: bytes on a plain connection.
    Tcp,
}

/// Whom a client trusts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trust {
    /// Whoever answers.
    Anybody,
    /// Whom this system trusts.
    System,
    /// The certificates of a PEM text, and those whom they have signed.
    Pem(Vec<u8>),
}

/// A certificate of our own, as PEM texts.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCertificate {
    /// It, and those that lead to a known authority.
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

/// How connections are secured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// Whom we trust.
    pub trust: Trust,
    /// What we show of ourselves.
    pub certificate: Option<OwnCertificate>,
    /// The name that is asked for, and that the certificate must have.
    pub name: String,
    /// Protocols that are offered (ALPN), in order of preference.
    pub alpn: Vec<String>,
    /// Key exchange groups, in order of preference; none for the usual ones.
    pub groups: Vec<String>,
    /// TLS 1.2 is refused.
    pub only_tls13: bool,
    /// Earlier sessions are resumed.
    pub resumes: bool,
}
