//! TLS client configuration from a plan.

use plan::{Target, Tls, Trust};
use wire::tls::{ClientConfig, ClientSettings, SetupError};

/// Why there is no TLS configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// This system has no trusted certificates.
    #[error(
        "this system has no trusted certificates; install the package ca-certificates, name some with --cacert, or give --insecure"
    )]
    NoAuthorities,
    /// The settings contradict each other, or a text is invalid.
    #[error("{flag}: {error}{remedy}", flag = flag(.error), remedy = remedy(.error))]
    Setup {
        /// The fault.
        #[from]
        error: SetupError,
    },
}

/// The flag that an error belongs to.
pub fn flag(error: &SetupError) -> &'static str {
    use wire::tls::CertificatePart;
    match error {
        SetupError::NoCertificate { of: CertificatePart::Authorities }
        | SetupError::BadCertificate { of: CertificatePart::Authorities, .. } => "--cacert",
        SetupError::NoCertificate { of: CertificatePart::Own }
        | SetupError::BadCertificate { of: CertificatePart::Own, .. } => "--cert",
        SetupError::NoKey => "--key (or --cert)",
        SetupError::BadPair { .. } => "--cert and --key",
        SetupError::KeyNotBuilt => "--key (or --cert)",
        SetupError::Group { .. } | SetupError::GroupNotBuilt { .. } => "--tls-groups",
        SetupError::Cpu => "TLS",
        SetupError::Name { .. } => "--sni, or the host of the URL",
        SetupError::Versions { .. } => "--tls-min and --tls-groups",
    }
}

fn remedy(error: &SetupError) -> String {
    match error {
        SetupError::Group { .. } => format!("; known are {}", wire::tls::GROUPS.join(", ")),
        SetupError::GroupNotBuilt { .. } | SetupError::KeyNotBuilt | SetupError::Cpu => {
            "; packages do, and builds with cargo build --release --features aws-lc".to_owned()
        }
        SetupError::Name { .. } => "; give the name of the certificate with --sni".to_owned(),
        SetupError::NoCertificate { .. } | SetupError::NoKey => "; it begins with -----BEGIN".to_owned(),
        _ => String::new(),
    }
}

/// The client configuration for a target; `None` when its connections are not secured.
///
/// # Errors
/// The settings are invalid.
pub fn client_tls(target: &Target) -> Result<Option<ClientConfig>, TlsError> {
    target.tls.as_ref().map(client_config).transpose()
}

/// The same for the proxy of a target; `None` when connections to it are not secured.
///
/// # Errors
/// The settings are invalid.
pub fn proxy_tls(target: &Target) -> Result<Option<ClientConfig>, TlsError> {
    let tls = target.proxy.as_ref().and_then(|proxy| proxy.tls.as_deref());
    tls.map(client_config).transpose()
}

fn client_config(tls: &Tls) -> Result<ClientConfig, TlsError> {
    let trust = match &tls.trust {
        Trust::Anybody => wire::tls::Trust::Anybody,
        Trust::Pem(text) => wire::tls::Trust::Pem(text.clone()),
        Trust::System => {
            let roots = host::trusted_certificates();
            if roots.is_empty() {
                return Err(TlsError::NoAuthorities);
            }
            wire::tls::Trust::Roots(roots)
        }
    };
    let settings = ClientSettings {
        trust,
        certificate: tls.certificate.as_ref().map(|own| (own.chain.clone(), own.key.clone())),
        name: tls.name.clone(),
        alpn: tls.alpn.clone(),
        groups: tls.groups.clone(),
        only_tls13: tls.only_tls13,
        resumes: tls.resumes,
    };
    Ok(ClientConfig::new(&settings)?)
}
