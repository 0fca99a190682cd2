//! The generated key of a self-signed certificate, on P-256.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use graviola::hashing::Sha256;
use graviola::signing::ecdsa::{P256, SigningKey};
use rcgen::{PublicKeyData, SignatureAlgorithm};

/// An uncompressed point: a marker byte and two numbers of 32 bytes.
const POINT_BYTES: usize = 65;
/// Maximum length of an encoded key or signature on this curve.
const DER_BYTES_MAX: usize = 256;
/// Characters in a line of PEM (RFC 7468).
const PEM_LINE_CHARS: usize = 64;

pub(super) struct Key {
    key: SigningKey<P256>,
    point: Vec<u8>,
}

fn unusable<E>(_: E) -> rcgen::Error {
    rcgen::Error::RemoteKeyError
}

impl Key {
    pub(super) fn generate() -> Result<Self, rcgen::Error> {
        let key = SigningKey::generate().map_err(unusable)?;
        let mut room = [0; DER_BYTES_MAX];
        let info = key.to_spki_der(&mut room).map_err(unusable)?;
        // The point is its last element.
        let point = info.len().checked_sub(POINT_BYTES).map(|start| info[start..].to_vec());
        Ok(Self { point: point.ok_or(rcgen::Error::RemoteKeyError)?, key })
    }

    pub(super) fn serialize_pem(&self) -> Result<String, rcgen::Error> {
        let mut room = [0; DER_BYTES_MAX];
        let text = STANDARD.encode(self.key.to_pkcs8_der(&mut room).map_err(unusable)?);
        let mut pem = "-----BEGIN PRIVATE KEY-----\n".to_owned();
        for line in text.as_bytes().chunks(PEM_LINE_CHARS) {
            pem.push_str(&String::from_utf8_lossy(line));
            pem.push('\n');
        }
        pem.push_str("-----END PRIVATE KEY-----\n");
        Ok(pem)
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        &self.point
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &rcgen::PKCS_ECDSA_P256_SHA256
    }
}

impl rcgen::SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let mut room = [0; DER_BYTES_MAX];
        Ok(self.key.sign_asn1::<Sha256>(&[message], &mut room).map_err(unusable)?.to_vec())
    }
}
