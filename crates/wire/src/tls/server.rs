//! Server settings, and the sessions made from them.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::server::{UnbufferedServerConnection, WebPkiClientVerifier};

use super::client::{certificates, key_pair_error, private_key};
use super::crypto;
use super::{CertificatePart, Session, SetupError, Side, TlsFault};

/// The TLS settings of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// Its certificates, its own first, as a PEM text.
    pub certificates: Vec<u8>,
    /// Its key, as a PEM text.
    pub key: Vec<u8>,
    /// Supported protocols, in order of preference.
    pub alpn: Vec<String>,
    /// Authorities for client certificates, as a PEM text: clients must show a certificate signed by one of them.
    pub clients: Option<Vec<u8>>,
}

/// Makes sessions.
#[derive(Clone)]
pub struct ServerConfig(Arc<rustls::ServerConfig>);

impl std::fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerConfig").finish_non_exhaustive()
    }
}

impl ServerConfig {
    /// Builds the configuration from settings.
    ///
    /// # Errors
    /// A text contains no valid certificate or key, or they do not belong together.
    pub fn new(settings: &ServerSettings) -> Result<Self, SetupError> {
        let provider = Arc::new(crypto::provider()?);
        let builder = rustls::ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| SetupError::Versions { reason: error.to_string() })?;
        let builder = match &settings.clients {
            None => builder.with_no_client_auth(),
            Some(text) => {
                let mut roots = RootCertStore::empty();
                for (index, certificate) in certificates(text, CertificatePart::Authorities)?.into_iter().enumerate() {
                    roots.add(certificate).map_err(|error| SetupError::BadCertificate {
                        of: CertificatePart::Authorities,
                        number: index + 1,
                        reason: error.to_string(),
                    })?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
                    .build()
                    .map_err(|error| SetupError::Versions { reason: error.to_string() })?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let key = private_key(&settings.key)?;
        let key_pair_error = key_pair_error(&key);
        let chain = certificates(&settings.certificates, CertificatePart::Own)?;
        let mut config = builder.with_single_cert(chain, key).map_err(key_pair_error)?;
        config.alpn_protocols = settings.alpn.iter().map(|name| name.clone().into_bytes()).collect();
        if let Some(ticketer) = crypto::ticketer() {
            config.ticketer = ticketer;
        }
        Ok(Self(Arc::new(config)))
    }

    /// A session on a new connection.
    ///
    /// # Errors
    /// The settings do not allow one.
    pub fn session(&self) -> Result<Session, TlsFault> {
        let connection = UnbufferedServerConnection::new(self.0.clone());
        connection
            .map(|connection| Session::new(Side::Server(Box::new(connection)), None))
            .map_err(|error| TlsFault::from_error(&error))
    }
}
