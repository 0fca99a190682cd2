//! A self-signed certificate for a server without a given one.

use std::net::IpAddr;

#[cfg(not(feature = "aws-lc"))]
mod key;

use rcgen::{CertificateParams, KeyIdMethod, SerialNumber};
use wire::tls::{ServerConfig, ServerSettings, SetupError};

/// Supported protocols, in order of preference.
const ALPN: [&str; 2] = ["h2", "http/1.1"];

/// Bytes of the public key that serve as the serial number: as random as the key.
const SERIAL: std::ops::Range<usize> = 1..17;

/// A certificate and its key, as PEM texts.
#[derive(Clone)]
pub struct Certificate {
    /// The chain, the server's own first.
    pub chain: Vec<u8>,
    /// The private key.
    pub key: Vec<u8>,
}

impl Certificate {
    /// A self-signed certificate for loopback and an address. It is created anew each time, so that no key is stored
    /// anywhere.
    ///
    /// # Errors
    /// The crypto creates no key, or does not run on this CPU.
    pub fn self_signed(address: IpAddr) -> Result<Self, SetupError> {
        wire::tls::runs_here()?;
        let made = || {
            let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
            if !address.is_unspecified() && !address.is_loopback() {
                names.push(address.to_string());
            }
            #[cfg(not(feature = "aws-lc"))]
            let (key, key_pem) = {
                let key = key::Key::generate()?;
                let pem = key.serialize_pem()?;
                (key, pem)
            };
            #[cfg(feature = "aws-lc")]
            let (key, key_pem) = {
                let key = rcgen::KeyPair::generate()?;
                let pem = key.serialize_pem();
                (key, pem)
            };
            let mut params = CertificateParams::new(names)?;
            params.distinguished_name.push(rcgen::DnType::CommonName, "onrush serve");
            // Two certificates of one issuer must not have the same serial number: browsers refuse the second.
            params.serial_number = Some(SerialNumber::from(rcgen::PublicKeyData::der_bytes(&key)[SERIAL].to_vec()));
            params.key_identifier_method = KeyIdMethod::PreSpecified(Vec::new());
            let certificate = params.self_signed(&key)?;
            Ok(Self { chain: certificate.pem().into_bytes(), key: key_pem.into_bytes() })
        };
        made().map_err(|error: rcgen::Error| SetupError::BadPair { reason: error.to_string() })
    }

    /// The TLS configuration of a server with this certificate.
    ///
    /// # Errors
    /// A text contains no valid certificate or key, or they do not belong together.
    pub fn config(self) -> Result<ServerConfig, SetupError> {
        self.config_with(&ALPN)
    }

    /// The same for a server of a custom protocol, which is not negotiated.
    ///
    /// # Errors
    /// A text contains no valid certificate or key, or they do not belong together.
    pub fn config_without_alpn(self) -> Result<ServerConfig, SetupError> {
        self.config_with(&[])
    }

    fn config_with(self, alpn: &[&str]) -> Result<ServerConfig, SetupError> {
        ServerConfig::new(&ServerSettings {
            certificates: self.chain,
            key: self.key,
            alpn: alpn.iter().copied().map(str::to_owned).collect(),
            clients: None,
        })
    }
}
