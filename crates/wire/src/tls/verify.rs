//! Verification of server certificates, and the content of a refused one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};

use crate::certificate::Certificate;

/// The content of the first certificate that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its subject.
    pub subject: String,
    /// Its issuer.
    pub issuer: String,
    /// The names that it is valid for.
    pub names: Vec<String>,
    /// Start of its validity.
    pub not_before: String,
    /// End of its validity.
    pub not_after: String,
    /// The expected name.
    pub wanted: String,
    /// Bits of its key, if that is an RSA key.
    pub rsa_bits: Option<usize>,
}

/// Minimum RSA key size: smaller keys are refused as too weak.
const RSA_BITS_MIN: usize = 2_048;

/// The error of an RSA key smaller than the minimum.
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

/// Remembers the first refused certificate, and whether a client certificate was requested that we do not have.
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

/// Verifies with the Web PKI rules, and remembers the refused certificate.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) inner: Arc<WebPkiServerVerifier>,
    /// Certificates that were given one by one: a server that shows exactly one of them is trusted, even if it is
    /// self-signed.
    pub(super) pinned: Vec<CertificateDer<'static>>,
    /// Accepted server names, of which the certificate must have one; empty where the name that the server was reached
    /// by is verified.
    pub(super) names: Vec<ServerName<'static>>,
    pub(super) witness: Arc<Witness>,
}

impl Verifier {
    /// The Web PKI rules refuse a self-signed CA certificate as a server certificate; a user that names it in a file
    /// trusts it all the same. Name and time are verified as usual.
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
                // A self-signed certificate has no other issuer, whatever other rule it breaks.
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
                // A signature that cannot be verified looks like an invalid one.
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
            // The handshake could not verify signatures of this key.
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

/// Has no client certificate, and records that one was requested.
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

/// Skips certificate verification. The peer's possession of its private key is still verified, as other clients do,
/// except for RSA keys that are too small for the library: a client that trusts any server loses nothing by it.
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
