//! The content of an X.509 certificate: subject, issuer, validity, names and key size.
//!
//! It only reads; whether a certificate is trusted is decided by the TLS library. [`Certificate::read`] walks the DER
//! of RFC 5280 once, without a copy; texts are made on request.

mod der;
mod name;
mod time;

#[cfg(test)]
mod tests;

use core::net::{Ipv4Addr, Ipv6Addr};

use der::{Reader, tag};
pub use name::Name;
pub use time::Time;

/// `subjectAltName`, 2.5.29.17.
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
/// `rsaEncryption`, 1.2.840.113549.1.1.1.
const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

/// A certificate that was parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certificate<'a> {
    /// Its subject.
    pub subject: Name<'a>,
    /// Its issuer.
    pub issuer: Name<'a>,
    /// Start of its validity.
    pub not_before: Time,
    /// End of its validity.
    pub not_after: Time,
    /// Bits of its key, if that is an RSA key.
    pub rsa_bits: Option<usize>,
    /// Content of its `subjectAltName` extension; empty without one.
    names: &'a [u8],
}

impl<'a> Certificate<'a> {
    /// Reads the certificate at the start of `der`; `None` if it is malformed or incomplete.
    pub fn read(der: &'a [u8]) -> Option<Self> {
        let mut certificate = Reader(Reader(der).take(tag::SEQUENCE)?);
        let mut signed = Reader(certificate.take(tag::SEQUENCE)?);
        // An absent version means version 1.
        signed.take(tag::explicit(0));
        signed.take(tag::INTEGER)?;
        signed.take(tag::SEQUENCE)?;
        let issuer = Name(signed.take(tag::SEQUENCE)?);
        let mut validity = Reader(signed.take(tag::SEQUENCE)?);
        let (not_before, not_after) = (Time::read(&mut validity)?, Time::read(&mut validity)?);
        let subject = Name(signed.take(tag::SEQUENCE)?);
        let rsa_bits = rsa_bits(signed.take(tag::SEQUENCE)?);
        // Two unique identifiers that are no longer used.
        signed.take(tag::implicit(1));
        signed.take(tag::implicit(2));
        let names = signed.take(tag::explicit(3)).and_then(alternative_names).unwrap_or_default();
        Some(Self { subject, issuer, not_before, not_after, rsa_bits, names })
    }

    /// The hosts and addresses that it is valid for, as text. Names of other kinds are left out.
    pub fn names(&self) -> impl Iterator<Item = String> + use<'a> {
        let mut names = Reader(self.names);
        core::iter::from_fn(move || names.next()).filter_map(|(kind, bytes)| match kind {
            tag::DNS_NAME => core::str::from_utf8(bytes).ok().map(name::shown),
            tag::IP_ADDRESS => address(bytes),
            _ => None,
        })
    }

    /// Whether it is self-signed (subject equals issuer).
    pub fn is_self_signed(&self) -> bool {
        self.subject == self.issuer
    }
}

fn address(bytes: &[u8]) -> Option<String> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(|bytes| Ipv4Addr::from(bytes).to_string()),
        16 => <[u8; 16]>::try_from(bytes).ok().map(|bytes| Ipv6Addr::from(bytes).to_string()),
        _ => None,
    }
}

/// The names among the extensions (RFC 5280 4.2.1.6).
fn alternative_names(extensions: &[u8]) -> Option<&[u8]> {
    let mut extensions = Reader(Reader(extensions).take(tag::SEQUENCE)?);
    while let Some(extension) = extensions.take(tag::SEQUENCE) {
        let mut extension = Reader(extension);
        let which = extension.take(tag::OBJECT_IDENTIFIER)?;
        // The critical flag.
        extension.take(tag::BOOLEAN);
        let value = extension.take(tag::OCTET_STRING)?;
        if which == SUBJECT_ALT_NAME {
            return Reader(value).take(tag::SEQUENCE);
        }
    }
    None
}

/// The length of the modulus (RFC 8017 A.1.1).
fn rsa_bits(key_info: &[u8]) -> Option<usize> {
    let mut key_info = Reader(key_info);
    let which = Reader(key_info.take(tag::SEQUENCE)?).take(tag::OBJECT_IDENTIFIER)?;
    if which != RSA_ENCRYPTION {
        return None;
    }
    // The first byte of a bit string counts the unused bits of its last byte: always zero for a key.
    let key = key_info.take(tag::BIT_STRING)?.strip_prefix(&[0])?;
    let modulus = Reader(Reader(key).take(tag::SEQUENCE)?).take(tag::INTEGER)?;
    let start = modulus.iter().position(|byte| *byte != 0)?;
    Some((modulus.len() - start) * 8 - modulus[start].leading_zeros() as usize)
}
