//! Errors of sessions and of their settings.

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible, PeerMisbehaved};

use super::verify::WeakKey;

/// Why a session failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
pub enum TlsFault {
    /// No trusted authority has signed the certificate.
    #[error("the certificate is signed by nobody who is trusted")]
    UnknownIssuer,
    /// The certificate is no longer valid.
    #[error("the certificate has expired")]
    Expired,
    /// The certificate is not valid yet.
    #[error("the certificate is not valid yet")]
    NotYetValid,
    /// The certificate is for another name.
    #[error("the certificate is of another name")]
    WrongName,
    /// The certificate is unusable for another reason.
    #[error("the certificate cannot be used")]
    Certificate,
    /// A key of the certificate, or of its issuer, is of a kind that the crypto of this build does not verify, such as
    /// P-521.
    #[error("a key of the certificate is of a kind that this build does not verify")]
    UnsupportedKey,
    /// The peer serves nothing under the requested name (`unrecognized_name`, RFC 6066 3).
    #[error("the peer does not know the name that it was asked for")]
    UnknownName,
    /// The peer requires a client certificate, or another one.
    #[error("the peer wants a client certificate")]
    ClientCertificate,
    /// No version, group or cipher in common.
    #[error("no TLS version, group or cipher in common")]
    NothingInCommon,
    /// No protocol in common (ALPN).
    #[error("no application protocol in common")]
    NoProtocol,
    /// A key is too small to be verified.
    #[error("the certificate has, or is signed with, an RSA key of fewer than 2048 bits")]
    WeakKey,
    /// The chain from the peer's certificate to a trusted one is too long to be verified.
    #[error("the chain of certificates is too long")]
    ChainTooLong,
    /// A handshake message of the peer, which is its certificates, is larger than the limit.
    #[error("a message of the handshake is larger than 64 KiB")]
    TooLarge,
    /// The peer requested a renegotiation in the middle of a TLS 1.2 session.
    #[error("the peer demands renegotiation")]
    Renegotiation,
    /// The received bytes are not TLS.
    #[error("the peer does not speak TLS")]
    NotTls,
    /// The peer aborted with an alert.
    #[error("the peer gave up with an alert")]
    Alert,
    /// The peer closed during the handshake.
    #[error("the peer closed during the handshake")]
    ClosedEarly,
    /// Anything else.
    #[error("the TLS session failed")]
    Other,
}

/// The rustls error for a chain of more than six intermediate certificates.
const PATH_TOO_DEEP: &str = "MaximumPathDepthExceeded";

impl TlsFault {
    pub(super) fn from_error(error: &Error) -> Self {
        match error {
            Error::InvalidCertificate(error) => Self::from_certificate_error(error),
            Error::NoApplicationProtocol | Error::AlertReceived(AlertDescription::NoApplicationProtocol) => {
                Self::NoProtocol
            }
            Error::NoCertificatesPresented => Self::ClientCertificate,
            Error::PeerIncompatible(PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon) => {
                Self::ClientCertificate
            }
            Error::PeerIncompatible(_) => Self::NothingInCommon,
            Error::PeerMisbehaved(PeerMisbehaved::TooManyRenegotiationRequests)
            | Error::AlertReceived(AlertDescription::NoRenegotiation) => Self::Renegotiation,
            Error::InvalidMessage(
                InvalidMessage::HandshakePayloadTooLarge | InvalidMessage::CertificatePayloadTooLarge,
            ) => Self::TooLarge,
            Error::InvalidMessage(_) => Self::NotTls,
            Error::AlertReceived(AlertDescription::UnrecognisedName) => Self::UnknownName,
            Error::AlertReceived(alert) => match alert {
                AlertDescription::CertificateRequired
                | AlertDescription::BadCertificate
                | AlertDescription::UnknownCA
                | AlertDescription::AccessDenied
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateRevoked => Self::ClientCertificate,
                AlertDescription::ProtocolVersion
                | AlertDescription::HandshakeFailure
                | AlertDescription::InsufficientSecurity => Self::NothingInCommon,
                _ => Self::Alert,
            },
            _ => Self::Other,
        }
    }

    fn from_certificate_error(error: &CertificateError) -> Self {
        match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotYetValid,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Self::WrongName,
            // It was signed by another authority of the same name.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::UnknownIssuer,
            CertificateError::Other(other) if other.0.is::<WeakKey>() => Self::WeakKey,
            CertificateError::UnsupportedSignatureAlgorithmContext { .. }
            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => Self::UnsupportedKey,
            // The type of this error is not public; its name is.
            CertificateError::Other(other) if other.0.to_string() == PATH_TOO_DEEP => Self::ChainTooLong,
            _ => Self::Certificate,
        }
    }
}

/// The role of the certificates in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificatePart {
    /// The trusted authorities.
    Authorities,
    /// Our own certificate chain.
    Own,
}

/// Why settings are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A text that should contain a certificate has none.
    #[error("there is no PEM certificate in it")]
    NoCertificate {
        /// The text.
        of: CertificatePart,
    },
    /// A text that should contain a key has none.
    #[error("there is no PEM private key in it")]
    NoKey,
    /// An authority certificate that cannot be used for verification.
    #[error("certificate {number} in it is unusable: {reason}")]
    BadCertificate {
        /// The text.
        of: CertificatePart,
        /// Its number, from 1.
        number: usize,
        /// The error of the parser.
        reason: String,
    },
    /// Certificate and key do not belong together, or the key is of an unknown kind.
    #[error("the certificate and the key cannot be used together: {reason}")]
    BadPair {
        /// The error of the crypto.
        reason: String,
    },
    /// The key is of a kind that needs the crypto of another build.
    #[error("the key is of P-521, which this build does not speak")]
    KeyNotBuilt,
    /// No group of that name.
    #[error("'{name}' is no key exchange group that is known")]
    Group {
        /// The name as given.
        name: String,
    },
    /// A group that needs the crypto of another build.
    #[error("'{name}' is a key exchange group that this build does not speak")]
    GroupNotBuilt {
        /// The name as given.
        name: String,
    },
    /// The crypto of this build does not run on this CPU.
    #[error("the crypto of this build wants a CPU with AES, AVX2 and ADX (x86-64 since 2015) or AES and PMULL (ARM)")]
    Cpu,
    /// A name that is not valid in a certificate.
    #[error("'{name}' is no name that a certificate can have")]
    Name {
        /// The name as given.
        name: String,
    },
    /// Versions and groups that do not fit together.
    #[error("these TLS versions and groups do not go together: {reason}")]
    Versions {
        /// The error of rustls.
        reason: String,
    },
}
