//! The crypto provider of the sessions. The default builds fast and requires a CPU of the last ten years; the feature
//! `aws-lc` runs on any CPU and supports more groups and curves.

use std::sync::Arc;
#[cfg(not(feature = "aws-lc"))]
use std::sync::OnceLock;

#[cfg(not(feature = "aws-lc"))]
use rustls::SupportedCipherSuite;
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::server::ProducesTickets;

use super::SetupError;

/// The groups that can be requested, by their standard names.
#[cfg(feature = "aws-lc")]
pub const GROUPS: &[&str] = &["X25519MLKEM768", "X25519", "secp256r1", "secp384r1", "SECP256R1MLKEM768", "MLKEM768"];

/// The groups that can be requested, by their standard names.
#[cfg(not(feature = "aws-lc"))]
pub const GROUPS: &[&str] = &["X25519MLKEM768", "X25519", "secp256r1", "secp384r1"];

/// Groups available only in builds with the feature `aws-lc`.
#[cfg(not(feature = "aws-lc"))]
const GROUPS_OF_AWS_LC: [&str; 2] = ["SECP256R1MLKEM768", "MLKEM768"];

/// Whether ECDSA signatures with P-521 can be verified.
pub const HAS_P521: bool = cfg!(feature = "aws-lc");

/// The crypto provider with all its algorithms.
///
/// # Errors
/// It does not run on this CPU.
#[cfg(feature = "aws-lc")]
pub fn provider() -> Result<CryptoProvider, SetupError> {
    Ok(rustls::crypto::aws_lc_rs::default_provider())
}

/// The crypto provider with all its algorithms.
///
/// # Errors
/// It does not run on this CPU.
#[cfg(not(feature = "aws-lc"))]
pub fn provider() -> Result<CryptoProvider, SetupError> {
    static SUITES: OnceLock<Vec<SupportedCipherSuite>> = OnceLock::new();
    runs_here()?;
    let usual = rustls_graviola::default_provider();
    let suites = SUITES.get_or_init(|| usual.cipher_suites.iter().map(with_ed25519).collect());
    Ok(CryptoProvider { cipher_suites: suites.clone(), ..usual })
}

/// Ed25519 keys also serve TLS 1.2 (RFC 8422); the suites of the provider leave that out, though it verifies them.
#[cfg(not(feature = "aws-lc"))]
fn with_ed25519(suite: &SupportedCipherSuite) -> SupportedCipherSuite {
    use rustls::crypto::CipherSuiteCommon;
    use rustls::{SignatureScheme, Tls12CipherSuite};
    let SupportedCipherSuite::Tls12(old) = suite else { return *suite };
    if !old.sign.contains(&SignatureScheme::ECDSA_NISTP256_SHA256) || old.sign.contains(&SignatureScheme::ED25519) {
        return *suite;
    }
    let sign: Vec<_> = old.sign.iter().copied().chain([SignatureScheme::ED25519]).collect();
    let new = Tls12CipherSuite {
        common: CipherSuiteCommon { ..old.common },
        prf_provider: old.prf_provider,
        kx: old.kx,
        // A few entries, leaked once per process.
        sign: Vec::leak(sign),
        aead_alg: old.aead_alg,
    };
    SupportedCipherSuite::Tls12(Box::leak(Box::new(new)))
}

/// Checks that the crypto runs on this CPU. Using it on a CPU that lacks the instructions aborts the process.
///
/// # Errors
/// It does not run here.
#[cfg(feature = "aws-lc")]
pub fn runs_here() -> Result<(), SetupError> {
    Ok(())
}

/// Checks that the crypto runs on this CPU. Using it on a CPU that lacks the instructions aborts the process.
///
/// # Errors
/// It does not run here.
#[cfg(not(feature = "aws-lc"))]
pub fn runs_here() -> Result<(), SetupError> {
    if graviola::util::is_cpu_supported() { Ok(()) } else { Err(SetupError::Cpu) }
}

/// The group of a name, in any case.
pub(super) fn group(name: &str) -> Result<&'static dyn SupportedKxGroup, SetupError> {
    #[cfg(not(feature = "aws-lc"))]
    if GROUPS_OF_AWS_LC.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return Err(SetupError::GroupNotBuilt { name: name.to_owned() });
    }
    known(name).ok_or_else(|| SetupError::Group { name: name.to_owned() })
}

#[cfg(feature = "aws-lc")]
fn known(name: &str) -> Option<&'static dyn SupportedKxGroup> {
    use rustls::crypto::aws_lc_rs::kx_group as group;
    Some(match name.to_ascii_uppercase().as_str() {
        "X25519MLKEM768" => group::X25519MLKEM768,
        "X25519" => group::X25519,
        "SECP256R1" | "P-256" | "P256" | "PRIME256V1" => group::SECP256R1,
        "SECP384R1" | "P-384" | "P384" => group::SECP384R1,
        "SECP256R1MLKEM768" => group::SECP256R1MLKEM768,
        "MLKEM768" => group::MLKEM768,
        _ => return None,
    })
}

#[cfg(not(feature = "aws-lc"))]
fn known(name: &str) -> Option<&'static dyn SupportedKxGroup> {
    use rustls::NamedGroup;
    let wanted = match name.to_ascii_uppercase().as_str() {
        "X25519MLKEM768" => NamedGroup::X25519MLKEM768,
        "X25519" => NamedGroup::X25519,
        "SECP256R1" | "P-256" | "P256" | "PRIME256V1" => NamedGroup::secp256r1,
        "SECP384R1" | "P-384" | "P384" => NamedGroup::secp384r1,
        _ => return None,
    };
    rustls_graviola::kx::ALL_KX_GROUPS.iter().find(|group| group.name() == wanted).copied()
}

/// The ticketer, which issues resumption tickets to clients.
#[cfg(feature = "aws-lc")]
pub(super) fn ticketer() -> Option<Arc<dyn ProducesTickets>> {
    rustls::crypto::aws_lc_rs::Ticketer::new().ok()
}

/// The ticketer, which issues resumption tickets to clients.
#[cfg(not(feature = "aws-lc"))]
pub(super) fn ticketer() -> Option<Arc<dyn ProducesTickets>> {
    rustls_graviola::Ticketer::new().ok()
}
