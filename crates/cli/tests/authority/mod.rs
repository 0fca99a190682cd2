//! Certificates for tests.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

/// The years in which a certificate is valid.
pub(crate) const GOOD: (i32, i32) = (2020, 2100);

/// A certificate authority that tests trust.
pub(crate) struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("params");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, "the authority of these tests");
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// Writes the certificate and key of a name into a folder.
    pub(crate) fn sign(&self, folder: &Path, file: &str, name: &str, years: (i32, i32)) {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("params");
        params.distinguished_name.push(rcgen::DnType::CommonName, format!("{file} of these tests"));
        params.not_before = rcgen::date_time_ymd(years.0, 1, 1);
        params.not_after = rcgen::date_time_ymd(years.1, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        std::fs::write(folder.join(format!("{file}.pem")), certificate.pem()).expect("a file");
        std::fs::write(folder.join(format!("{file}.key")), key.serialize_pem()).expect("a file");
        std::fs::write(folder.join("ca.pem"), &self.pem).expect("a file");
    }
}
