//! Whether a server is who it says it is, and what its certificate said when it was refused.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};

use crate::certificate::Certificate;

/// What the first certificate that was refused said of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Whom it names.
    pub subject: String,
    /// Who signed it.
    pub issuer: String,
    /// The names that it is valid for.
    pub names: Vec<String>,
    /// From when.
    pub not_before: String,
    /// Until when.
    pub not_after: String,
    /// The name that was wanted.
    pub wanted: String,
    /// Bits of its key, if that is one of RSA.
    pub rsa_bits: Option<usize>,
}

/// Smaller keys of RSA are verified by nobody any more.
const RSA_BITS_MIN: usize = 2_048;

/// A key of RSA is smaller than what is verified.
#[derive(Debug, thiserror::Error)]
#[error("an RSA key has fewer than {RSA_BITS_MIN} bits")]
pub(super) struct WeakKey;

impl WeakKey {
    fn error() -> Error {
        CertificateError::Other(OtherError(Arc::new(Self))).into()
    }
}

fn is_weak(certificate: &CertificateDer<'_>) -> bool {
    Certificate::read(certificate).and_then(|read| read.rsa_bits).is_some_and(|bits| bits < RSA_BITS_MIN)
}

/// Remembers the first certificate that was refused, and that one of ours was asked for in vain.
#[derive(Debug, Default)]
pub(super) struct Witness {
    refused: Mutex<Option<Refused>>,
    was_requested: AtomicBool,
}

impl Witness {
    pub(super) fn testimony(&self) -> Option<Refused> {
        self.refused.lock().expect("no holder of the lock panics").clone()
    }

    pub(super) fn was_requested(&self) -> bool {
        self.was_requested.load(Ordering::Relaxed)
    }

    fn note(&self, certificate: &CertificateDer<'_>, wanted: &ServerName<'_>) {
        let mut first = self.refused.lock().expect("no holder of the lock panics");
        if first.is_none() {
            *first = describe(certificate, wanted);
        }
    }
}

fn describe(certificate: &CertificateDer<'_>, wanted: &ServerName<'_>) -> Option<Refused> {
    let read = Certificate::read(certificate)?;
    Some(Refused {
        subject: read.subject.to_string(),
        issuer: read.issuer.to_string(),
        names: read.names().collect(),
        not_before: read.not_before.to_string(),
        not_after: read.not_after.to_string(),
        wanted: wanted.to_str().into_owned(),
        rsa_bits: read.rsa_bits,
    })
}

fn is_self_signed(certificate: &CertificateDer<'_>) -> bool {
    Certificate::read(certificate).is_some_and(|read| read.is_self_signed())
}

/// Verifies as the web does, and remembers whom it refused.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) inner: Arc<WebPkiServerVerifier>,
    /// Certificates that were named one by one: a server that shows just one of them is trusted, also if it signed itself.
    pub(super) pinned: Vec<CertificateDer<'static>>,
    /// Names that the server is known to have, of which its certificate must have one; none where it has the one that it was reached by.
    pub(super) names: Vec<ServerName<'static>>,
    pub(super) witness: Arc<Witness>,
}

impl Verifier {
    /// A self-signed certificate that may sign others is refused at the end of a chain by the rules of the web; who names it in a
    /// file means it all the same. Name and time count as ever.
    fn is_pinned(&self, certificate: &CertificateDer<'_>, name: &ServerName<'_>, now: UnixTime) -> Result<bool, Error> {
        if !self.pinned.iter().any(|pinned| pinned == certificate) {
            return Ok(false);
        }
        let Some(read) = Certificate::read(certificate) else { return Ok(false) };
        let now = now.as_secs() as i64;
        if now > read.not_after.unix_seconds() {
            return Err(CertificateError::Expired.into());
        }
        if now < read.not_before.unix_seconds() {
            return Err(CertificateError::NotValidYet.into());
        }
        let parsed = rustls::server::ParsedCertificate::try_from(certificate)?;
        rustls::client::verify_server_name(&parsed, name).map(|()| true)
    }
}

impl Verifier {
    fn verify_as(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self
            .inner
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            .or_else(|error| match self.is_pinned(end_entity, server_name, now) {
                Ok(true) => Ok(ServerCertVerified::assertion()),
                // Who signed itself is signed by nobody else, whatever other rule it breaks.
                Ok(false)
                    if matches!(error, Error::InvalidCertificate(CertificateError::Other(_)))
                        && is_self_signed(end_entity) =>
                {
                    Err(CertificateError::UnknownIssuer.into())
                }
                Ok(false) => Err(error),
                Err(closer) => Err(closer),
            })
            .map_err(|error| {
                // A signature that cannot be verified looks like a wrong one.
                let is_unverified = matches!(
                    error,
                    Error::InvalidCertificate(
                        CertificateError::BadSignature
                            | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
                            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
                    )
                );
                let mut chain = intermediates.iter().chain(&self.pinned).chain([end_entity]);
                if is_unverified && chain.any(is_weak) { WeakKey::error() } else { error }
            })
            // The handshake could not verify what this key signs.
            .and_then(|verified| if is_weak(end_entity) { Err(WeakKey::error()) } else { Ok(verified) });
        if verified.is_err() {
            self.witness.note(end_entity, server_name);
        }
        verified
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let by = |name: &ServerName<'_>| self.verify_as(end_entity, intermediates, name, ocsp_response, now);
        let Some((first, others)) = self.names.split_first() else { return by(server_name) };
        others.iter().fold(by(first), |verified, name| verified.or_else(|_| by(name)))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Has no certificate to show, and remembers that one was asked for.
#[derive(Debug)]
pub(super) struct NoCertificate(pub(super) Arc<Witness>);

impl ResolvesClientCert for NoCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.was_requested.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

/// Skips certificate verification. That the peer has the key of its certificate is still verified, as other clients do; but for keys of RSA
/// that are too small for the library, since who trusts anybody loses nothing by it.
#[derive(Debug)]
pub(super) struct Anybody(pub(super) Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
            .or_else(|error| if is_weak(cert) { Ok(HandshakeSignatureValid::assertion()) } else { Err(error) })
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
            .or_else(|error| if is_weak(cert) { Ok(HandshakeSignatureValid::assertion()) } else { Err(error) })
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
