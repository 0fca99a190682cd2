//! Packets: their layout (RFC 2865, 3), their attributes, and what is computed with the shared secret.

use md5::Context;

pub(super) const ACCESS_REQUEST: u8 = 1;
pub(super) const ACCESS_ACCEPT: u8 = 2;
pub(super) const ACCESS_REJECT: u8 = 3;
pub(super) const ACCOUNTING_REQUEST: u8 = 4;
pub(super) const ACCOUNTING_RESPONSE: u8 = 5;
pub(super) const ACCESS_CHALLENGE: u8 = 11;

pub(super) const USER_NAME: u8 = 1;
pub(super) const USER_PASSWORD: u8 = 2;
pub(super) const CHAP_PASSWORD: u8 = 3;
pub(super) const REPLY_MESSAGE: u8 = 18;
pub(super) const STATE: u8 = 24;
pub(super) const VENDOR_SPECIFIC: u8 = 26;
pub(super) const NAS_IDENTIFIER: u8 = 32;
pub(super) const PROXY_STATE: u8 = 33;
pub(super) const ACCT_STATUS_TYPE: u8 = 40;
pub(super) const ACCT_DELAY_TIME: u8 = 41;
pub(super) const ACCT_SESSION_ID: u8 = 44;
pub(super) const CHAP_CHALLENGE: u8 = 60;
pub(super) const MESSAGE_AUTHENTICATOR: u8 = 80;

/// Code, identifier, length and authenticator.
pub(super) const HEADER_BYTES: usize = 20;
/// RFC 2865, 3: the longest packet.
pub(super) const PACKET_BYTES_MAX: usize = 4_096;
/// The longest value of an attribute: its length, a byte, counts type and length too.
pub(super) const VALUE_BYTES_MAX: usize = 253;

/// An authenticator, a digest, or a signature.
pub(super) type Digest = [u8; 16];

/// The name of a packet's code, if it is one of these.
pub(super) fn code_name(code: u8) -> Option<&'static str> {
    Some(match code {
        ACCESS_REQUEST => "Access-Request",
        ACCESS_ACCEPT => "Access-Accept",
        ACCESS_REJECT => "Access-Reject",
        ACCOUNTING_REQUEST => "Accounting-Request",
        ACCOUNTING_RESPONSE => "Accounting-Response",
        ACCESS_CHALLENGE => "Access-Challenge",
        _ => return None,
    })
}

/// The packet in a datagram. RFC 2865, 3: bytes beyond its length are padding; a datagram that is shorter is no packet.
pub(super) fn packet_of(datagram: &[u8]) -> Option<&[u8]> {
    let length = usize::from(u16::from_be_bytes([*datagram.get(2)?, *datagram.get(3)?]));
    datagram.get(..length).filter(|packet| (HEADER_BYTES..=PACKET_BYTES_MAX).contains(&packet.len()))
}

/// The identifier and the authenticator of a packet.
pub(super) fn identity(packet: &[u8]) -> (u8, Digest) {
    let authenticator = packet.get(4..HEADER_BYTES).and_then(|bytes| bytes.try_into().ok());
    (packet.get(1).copied().unwrap_or_default(), authenticator.unwrap_or_default())
}

/// Appends an attribute, unless its value is empty or too long.
pub(super) fn push_attribute(kind: u8, value: &[u8], out: &mut Vec<u8>) {
    if (1..=VALUE_BYTES_MAX).contains(&value.len()) {
        out.extend_from_slice(&[kind, value.len() as u8 + 2]);
        out.extend_from_slice(value);
    }
}

/// Writes the length of the packet that begins at `start`.
pub(super) fn write_length(start: usize, out: &mut [u8]) {
    let length = (out.len() - start) as u16;
    out[start + 2..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// The attributes of a packet, each as its type and its value; up to the first whose length is not valid.
#[derive(Clone)]
pub(super) struct Attributes<'a> {
    packet: &'a [u8],
    at: usize,
}

impl<'a> Attributes<'a> {
    pub(super) fn of(packet: &'a [u8]) -> Self {
        Self { packet, at: HEADER_BYTES.min(packet.len()) }
    }

    /// Those in bytes without a header, as in an attribute of a vendor.
    pub(super) fn within(bytes: &'a [u8]) -> Self {
        Self { packet: bytes, at: 0 }
    }

    /// Whether there is nothing behind the attributes that were read.
    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.packet.len()
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.packet.get(self.at..)?;
        let [kind, length, ..] = *rest else { return None };
        let value = rest.get(2..usize::from(length))?;
        self.at += usize::from(length);
        Some((kind, value))
    }
}

/// Whether the lengths of all attributes are valid.
pub(super) fn is_well_formed(packet: &[u8]) -> bool {
    let mut attributes = Attributes::of(packet);
    attributes.by_ref().for_each(drop);
    attributes.is_at_end()
}

/// The value of the first attribute of a type.
pub(super) fn attribute(packet: &[u8], kind: u8) -> Option<&[u8]> {
    Attributes::of(packet).find(|(own, _)| *own == kind).map(|(_, value)| value)
}

/// The CHAP response to a challenge (RFC 1994, 4.1).
pub(super) fn chap(identifier: u8, password: &[u8], challenge: &[u8]) -> Digest {
    let mut context = Context::new();
    context.consume([identifier]);
    context.consume(password);
    context.consume(challenge);
    context.finalize().0
}

/// The shared secret, as states of MD5 that have read it.
pub(super) struct Secret {
    bytes: Vec<u8>,
    keyed: Context,
    inner: Context,
    outer: Context,
}

impl Secret {
    pub(super) fn new(secret: &[u8]) -> Self {
        // RFC 2104, 2: a key is filled with zeros to a block, and one that is longer is hashed first.
        let mut key = [0; 64];
        let digest = md5::compute(secret).0;
        let short = if secret.len() > key.len() { &digest[..] } else { secret };
        key[..short.len()].copy_from_slice(short);
        let keyed = |bytes: &[u8]| {
            let mut context = Context::new();
            context.consume(bytes);
            context
        };
        let (inner, outer) = (key.map(|byte| byte ^ 0x36), key.map(|byte| byte ^ 0x5c));
        Self { bytes: secret.to_vec(), keyed: keyed(secret), inner: keyed(&inner), outer: keyed(&outer) }
    }

    /// Hides a password that is filled with zeros to whole blocks (RFC 2865, 5.2).
    pub(super) fn hide(&self, authenticator: &Digest, password: &mut [u8]) {
        let mut before = *authenticator;
        for block in password.chunks_exact_mut(16) {
            self.mask(&before, block);
            before.copy_from_slice(block);
        }
    }

    /// The password, filled with zeros, that was hidden.
    pub(super) fn reveal(&self, authenticator: &Digest, hidden: &[u8]) -> Vec<u8> {
        let mut password = hidden.to_vec();
        let before = std::iter::once(&authenticator[..]).chain(hidden.chunks_exact(16));
        password.chunks_exact_mut(16).zip(before).for_each(|(block, before)| self.mask(before, block));
        password
    }

    fn mask(&self, before: &[u8], block: &mut [u8]) {
        let mut context = self.keyed.clone();
        context.consume(before);
        block.iter_mut().zip(context.finalize().0).for_each(|(byte, mask)| *byte ^= mask);
    }

    /// The digest of a packet with this authenticator in the place of its own: what a response has as authenticator
    /// (RFC 2865, 3), and with zeros an Accounting-Request (RFC 2866, 3).
    pub(super) fn digest(&self, packet: &[u8], authenticator: &Digest) -> Digest {
        let mut context = Context::new();
        context.consume(packet.get(..4).unwrap_or_default());
        context.consume(authenticator);
        context.consume(packet.get(HEADER_BYTES..).unwrap_or_default());
        context.consume(&self.bytes);
        context.finalize().0
    }

    /// Whether the authenticator of a packet is its digest with this one.
    pub(super) fn has_digest(&self, packet: &[u8], authenticator: &Digest) -> bool {
        packet.get(4..HEADER_BYTES) == Some(&self.digest(packet, authenticator)[..])
    }

    /// The Message-Authenticator of a packet with this authenticator in the place of its own (RFC 3579, 3.2); its value
    /// begins at `at`, and counts as zeros.
    pub(super) fn signature(&self, packet: &[u8], authenticator: &Digest, at: usize) -> Digest {
        let mut inner = self.inner.clone();
        inner.consume(packet.get(..4).unwrap_or_default());
        inner.consume(authenticator);
        inner.consume(packet.get(HEADER_BYTES..at).unwrap_or_default());
        inner.consume([0; 16]);
        inner.consume(packet.get(at + 16..).unwrap_or_default());
        let mut outer = self.outer.clone();
        outer.consume(inner.finalize().0);
        outer.finalize().0
    }

    /// Whether a packet has no Message-Authenticator, or the right one.
    pub(super) fn is_signed_if_at_all(&self, packet: &[u8], authenticator: &Digest) -> bool {
        let mut attributes = Attributes::of(packet);
        match attributes.by_ref().find(|(kind, _)| *kind == MESSAGE_AUTHENTICATOR) {
            Some((_, value)) if value.len() == 16 => {
                self.signature(packet, authenticator, attributes.at - value.len()) == value
            }
            Some(_) => false,
            None => true,
        }
    }
}
