//! A certificate for a server that was given none.

use std::net::IpAddr;

use rcgen::{CertificateParams, KeyPair};
use wire::tls::{ServerConfig, ServerSettings, SetupError};

/// Protocols of the target, the dearest first.
const ALPN: [&str; 2] = ["h2", "http/1.1"];

/// A certificate and its key, as PEM texts.
#[derive(Clone)]
pub struct Certificate {
    /// The chain, the server's own first.
    pub chain: Vec<u8>,
    /// The private key.
    pub key: Vec<u8>,
}

impl Certificate {
    /// Signs itself, for loopback and an address. It is made anew each time, so that no key lies about.
    ///
    /// # Errors
    /// The crypto gives no key.
    pub fn self_signed(address: IpAddr) -> Result<Self, SetupError> {
        let made = || {
            let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
            if !address.is_unspecified() && !address.is_loopback() {
                names.push(address.to_string());
            }
            let key = KeyPair::generate()?;
            let mut params = CertificateParams::new(names)?;
            params.distinguished_name.push(rcgen::DnType::CommonName, "onrush serve");
            let certificate = params.self_signed(&key)?;
            Ok(Self { chain: certificate.pem().into_bytes(), key: key.serialize_pem().into_bytes() })
        };
        made().map_err(|error: rcgen::Error| SetupError::BadPair { reason: error.to_string() })
    }

    /// What makes the sessions of a server with this certificate.
    ///
    /// # Errors
    /// A text is no certificate or key, or they do not belong together.
    pub fn config(self) -> Result<ServerConfig, SetupError> {
        ServerConfig::new(&ServerSettings {
            certificates: self.chain,
            key: self.key,
            alpn: ALPN.map(str::to_owned).to_vec(),
            clients: None,
        })
    }
}
