//! Client settings, and the sessions made from them.

use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption, UnbufferedClientConnection, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{RootCertStore, SupportedProtocolVersion, version};

use super::crypto;
use super::verify::{Anybody, NoCertificate, Refused, Verifier, Witness};
use super::{CertificatePart, Session, SetupError, Side, TlsFault};

/// Number of resumable server sessions per thread. One target has few names; each keeps up to eight tickets.
const SESSIONS_MAX: usize = 64;

/// The trust of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Any server.
    Anybody,
    /// Servers whose certificate is signed by one of these authorities: certificates in DER.
    Roots(Vec<Vec<u8>>),
    /// The certificates of a PEM text, and those that they have signed.
    Pem(Vec<u8>),
}

/// The TLS settings of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSettings {
    /// The trusted servers.
    pub trust: Trust,
    /// Its own certificates and key, as PEM texts.
    pub certificate: Option<(Vec<u8>, Vec<u8>)>,
    /// The server name that is sent and verified.
    pub name: String,
    /// Offered protocols, in order of preference.
    pub alpn: Vec<String>,
    /// Key exchange groups, in order of preference; empty for the default.
    pub groups: Vec<String>,
    /// Whether TLS 1.2 is refused.
    pub only_tls13: bool,
    /// Whether earlier sessions are resumed.
    pub resumes: bool,
}

/// Makes sessions. A clone has the same settings, but its own caches.
pub struct ClientConfig {
    config: Arc<rustls::ClientConfig>,
    name: ServerName<'static>,
    witness: Arc<Witness>,
    resumes: bool,
}

impl Clone for ClientConfig {
    /// Resumable sessions are not shared: each thread has its own.
    fn clone(&self) -> Self {
        let mut config = (*self.config).clone();
        config.resumption = resumption(self.resumes);
        Self { config: Arc::new(config), name: self.name.clone(), witness: self.witness.clone(), resumes: self.resumes }
    }
}

impl std::fmt::Debug for ClientConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientConfig").field("name", &self.name).finish_non_exhaustive()
    }
}

fn resumption(resumes: bool) -> Resumption {
    if resumes { Resumption::in_memory_sessions(SESSIONS_MAX) } else { Resumption::disabled() }
}

impl ClientConfig {
    /// Builds the configuration from settings.
    ///
    /// # Errors
    /// A text contains no valid certificate or key, or the settings contradict each other.
    pub fn new(settings: &ClientSettings) -> Result<Self, SetupError> {
        let witness = Arc::new(Witness::default());
        let config = config_of(settings, &witness, &[])?;
        Ok(Self { config: Arc::new(config), name: named(&settings.name)?, witness, resumes: settings.resumes })
    }

    /// A session on a new connection.
    ///
    /// # Errors
    /// The settings do not allow one.
    pub fn session(&self) -> Result<Session, TlsFault> {
        let connection = UnbufferedClientConnection::new(self.config.clone(), self.name.clone());
        connection
            .map(|connection| Session::new(Side::Client(Box::new(connection)), Some(self.witness.clone())))
            .map_err(|error| TlsFault::from_error(&error))
    }

    /// Whether a server requested a client certificate, and there was none.
    pub fn was_requested_in_vain(&self) -> bool {
        self.witness.was_requested()
    }

    /// The content of the first certificate that was refused.
    pub fn refused(&self) -> Option<Refused> {
        self.witness.testimony()
    }
}

/// The configuration for a library that makes its own sessions. Whatever name the library connects with, the
/// certificate must be valid for one of these names.
///
/// # Errors
/// As [`ClientConfig::new`].
pub fn client_of_library(settings: &ClientSettings, names: &[String]) -> Result<rustls::ClientConfig, SetupError> {
    let names = names.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?;
    config_of(settings, &Arc::default(), &names)
}

fn named(name: &str) -> Result<ServerName<'static>, SetupError> {
    ServerName::try_from(name.to_owned()).map_err(|_| SetupError::Name { name: name.to_owned() })
}

/// `names`: the accepted names of the server, where the name that it was reached by is not verified.
fn config_of(
    settings: &ClientSettings,
    witness: &Arc<Witness>,
    names: &[ServerName<'static>],
) -> Result<rustls::ClientConfig, SetupError> {
    let provider = Arc::new(provider(&settings.groups)?);
    let both: &[&SupportedProtocolVersion] = &[&version::TLS13, &version::TLS12];
    let versions = if settings.only_tls13 { &both[..1] } else { both };
    let builder = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .map_err(|error| SetupError::Versions { reason: error.to_string() })?;
    let verified = |roots, is_strict| {
        let trust: Arc<dyn ServerCertVerifier> = Arc::new(verifier(roots, is_strict, &provider, (witness, names))?);
        Ok(trust)
    };
    let trust = match &settings.trust {
        Trust::Anybody => Arc::new(Anybody(provider.clone())),
        Trust::Roots(roots) => verified(roots.iter().map(|der| CertificateDer::from(der.clone())).collect(), false)?,
        Trust::Pem(text) => verified(certificates(text, CertificatePart::Authorities)?, true)?,
    };
    let builder = builder.dangerous().with_custom_certificate_verifier(trust);
    let mut config = match &settings.certificate {
        None => builder.with_client_cert_resolver(Arc::new(NoCertificate(witness.clone()))),
        Some((chain, key)) => {
            let key = private_key(key)?;
            let key_pair_error = key_pair_error(&key);
            builder.with_client_auth_cert(certificates(chain, CertificatePart::Own)?, key).map_err(key_pair_error)?
        }
    };
    config.alpn_protocols = settings.alpn.iter().map(|name| name.clone().into_bytes()).collect();
    config.resumption = resumption(settings.resumes);
    Ok(config)
}

/// System authorities that cannot be parsed are skipped, as other clients do; those of a file are not.
fn verifier(
    certificates: Vec<CertificateDer<'static>>,
    is_strict: bool,
    provider: &Arc<CryptoProvider>,
    (witness, names): (&Arc<Witness>, &[ServerName<'static>]),
) -> Result<Verifier, SetupError> {
    let mut roots = RootCertStore::empty();
    for (index, certificate) in certificates.iter().enumerate() {
        if let Err(error) = roots.add(certificate.clone())
            && is_strict
        {
            return Err(SetupError::BadCertificate {
                of: CertificatePart::Authorities,
                number: index + 1,
                reason: error.to_string(),
            });
        }
    }
    let inner = WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone())
        .build()
        .map_err(|_| SetupError::NoCertificate { of: CertificatePart::Authorities })?;
    let pinned = if is_strict { certificates } else { Vec::new() };
    Ok(Verifier { inner, pinned, names: names.to_vec(), witness: witness.clone() })
}

/// The provider with the requested groups.
fn provider(groups: &[String]) -> Result<CryptoProvider, SetupError> {
    let mut provider = crypto::provider()?;
    if !groups.is_empty() {
        provider.kx_groups = groups.iter().map(|name| crypto::group(name)).collect::<Result<_, _>>()?;
    }
    Ok(provider)
}

/// All certificates of a PEM text.
pub(super) fn certificates(text: &[u8], of: CertificatePart) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    let mut found = Vec::new();
    for (index, certificate) in CertificateDer::pem_slice_iter(text).enumerate() {
        let number = index + 1;
        found.push(certificate.map_err(|error| SetupError::BadCertificate {
            of,
            number,
            reason: error.to_string(),
        })?);
    }
    if found.is_empty() { Err(SetupError::NoCertificate { of }) } else { Ok(found) }
}

/// The P-521 curve in an encoded key (secp521r1, 1.3.132.0.35; RFC 5480 2.1.1.1).
const P521: [u8; 7] = [0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23];

/// The error for a certificate and key that cannot be used together.
pub(super) fn key_pair_error(key: &PrivateKeyDer<'_>) -> impl Fn(rustls::Error) -> SetupError + use<> {
    let is_not_built = !crypto::HAS_P521 && key.secret_der().windows(P521.len()).any(|place| place == P521);
    move |error| {
        if is_not_built { SetupError::KeyNotBuilt } else { SetupError::BadPair { reason: error.to_string() } }
    }
}

/// The first private key of a PEM text.
pub(super) fn private_key(text: &[u8]) -> Result<PrivateKeyDer<'static>, SetupError> {
    PrivateKeyDer::from_pem_slice(text).map_err(|_| SetupError::NoKey)
}
