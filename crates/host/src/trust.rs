//! Certificates that this host trusts.

/// The trusted root certificates of this system, in DER. Empty where it has no such store.
pub fn trusted_certificates() -> Vec<Vec<u8>> {
    rustls_native_certs::load_native_certs().certs.into_iter().map(|certificate| certificate.to_vec()).collect()
}
