//! Packets of RADIUS, as the servers of the tests read and write them (RFC 2865, RFC 3579).

pub(super) const ACCEPT: u8 = 2;
pub(super) const REJECT: u8 = 3;
pub(super) const ACCOUNTING_RESPONSE: u8 = 5;
pub(super) const CHALLENGE: u8 = 11;
const MESSAGE_AUTHENTICATOR: u8 = 80;
const HEADER_BYTES: usize = 20;

/// A request, as it came.
#[derive(Clone, Debug)]
pub(super) struct Packet(pub(super) Vec<u8>);

impl Packet {
    pub(super) fn id(&self) -> u8 {
        self.0[1]
    }

    pub(super) fn authenticator(&self) -> &[u8] {
        &self.0[4..HEADER_BYTES]
    }

    /// The response with this code, attributes and secret, signed in both ways.
    pub(super) fn response(&self, code: u8, attributes: &[(u8, &[u8])], secret: &str) -> Vec<u8> {
        let mut packet = self.unsigned(code, attributes);
        packet.extend([&[MESSAGE_AUTHENTICATOR, 18][..], &[0; 16]].concat());
        set_length(&mut packet);
        let at = packet.len() - 16;
        let signature = keyed(secret.as_bytes(), &packet);
        packet[at..].copy_from_slice(&signature);
        finished(packet, secret)
    }

    /// The same without a Message-Authenticator, and with these bytes after its attributes.
    pub(super) fn plain(&self, code: u8, attributes: &[(u8, &[u8])], rest: &[u8], secret: &str) -> Vec<u8> {
        let mut packet = self.unsigned(code, attributes);
        packet.extend_from_slice(rest);
        set_length(&mut packet);
        finished(packet, secret)
    }

    /// A packet with the authenticator of the request in its place.
    fn unsigned(&self, code: u8, attributes: &[(u8, &[u8])]) -> Vec<u8> {
        let mut packet = [&[code, self.id(), 0, 0], self.authenticator()].concat();
        for (kind, value) in attributes {
            packet.extend([*kind, value.len() as u8 + 2]);
            packet.extend_from_slice(value);
        }
        packet
    }
}

fn set_length(packet: &mut [u8]) {
    let length = (packet.len() as u16).to_be_bytes();
    packet[2..4].copy_from_slice(&length);
}

/// A packet with its own authenticator.
fn finished(mut packet: Vec<u8>, secret: &str) -> Vec<u8> {
    let digest = md5::compute([&packet, secret.as_bytes()].concat());
    packet[4..HEADER_BYTES].copy_from_slice(&digest.0);
    packet
}

/// HMAC-MD5, with a key of at most a block.
fn keyed(key: &[u8], bytes: &[u8]) -> [u8; 16] {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let inner = md5::compute([&block.map(|byte| byte ^ 0x36)[..], bytes].concat());
    md5::compute([&block.map(|byte| byte ^ 0x5c)[..], &inner.0].concat()).0
}
