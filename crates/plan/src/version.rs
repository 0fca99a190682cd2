//! Versions that the user may request.

/// A version of HTTP that the user may request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
}

impl Version {
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Http10 => "--http1.0",
            Self::Http11 => "--http1.1",
            Self::Http2 => "--http2",
        }
    }
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2
    Tls12,
    /// TLS 1.3
    Tls13,
}
