//! The reasons of a failed TLS session, as reasons that a user can act on.

/// The reason why there is no TLS session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is named by `name`, and described where the session says it")]
#[repr(u8)]
pub enum TlsFault {
    UnknownIssuer,
    Expired,
    NotYetValid,
    WrongName,
    Certificate,
    ClientCertificate,
    NothingInCommon,
    NoProtocol,
    NotTls,
    Alert,
    ClosedEarly,
    Other,
    WeakKey,
    ChainTooLong,
    TooLarge,
    Renegotiation,
    NoAnswer,
    UnsupportedKey,
    UnknownName,
}

impl TlsFault {
    /// All reasons, in the order of their index.
    pub const ALL: [Self; 19] = [
        Self::UnknownIssuer,
        Self::Expired,
        Self::NotYetValid,
        Self::WrongName,
        Self::Certificate,
        Self::ClientCertificate,
        Self::NothingInCommon,
        Self::NoProtocol,
        Self::NotTls,
        Self::Alert,
        Self::ClosedEarly,
        Self::Other,
        Self::WeakKey,
        Self::ChainTooLong,
        Self::TooLarge,
        Self::Renegotiation,
        Self::NoAnswer,
        Self::UnsupportedKey,
        Self::UnknownName,
    ];

    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnknownIssuer => "unknown-issuer",
            Self::Expired => "expired",
            Self::NotYetValid => "not-yet-valid",
            Self::WrongName => "wrong-name",
            Self::Certificate => "certificate",
            Self::ClientCertificate => "client-certificate",
            Self::NothingInCommon => "nothing-in-common",
            Self::NoProtocol => "no-protocol",
            Self::NotTls => "not-tls",
            Self::Alert => "alert",
            Self::ClosedEarly => "closed-early",
            Self::Other => "other",
            Self::WeakKey => "weak-key",
            Self::ChainTooLong => "chain-too-long",
            Self::TooLarge => "too-large",
            Self::Renegotiation => "renegotiation",
            Self::NoAnswer => "no-response",
            Self::UnsupportedKey => "unsupported-key",
            Self::UnknownName => "unknown-name",
        }
    }
}
