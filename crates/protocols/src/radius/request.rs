//! Requests: what a step writes, and what the connection adds to it.
//!
//! A step writes a packet without identifier, authenticator, hidden password and signature: zeros are in their places,
//! but in that of the identifier a mark where a value could not be sent. The password itself stands behind the packet. An
//! Access-Request begins with its Message-Authenticator, so that nothing that an attacker chooses stands before it, and
//! goes on with the attribute of the password, if it has one.

use protocol::{TextHandle, Texts};

use super::dictionary::{Attribute, encode};
use super::packet::{
    ACCESS_REQUEST, ACCOUNTING_REQUEST, ACCT_DELAY_TIME, ACCT_SESSION_ID, ACCT_STATUS_TYPE, CHAP_CHALLENGE,
    CHAP_PASSWORD, Digest, HEADER_BYTES, MESSAGE_AUTHENTICATOR, NAS_IDENTIFIER, Secret, USER_NAME, USER_PASSWORD,
    VALUE_BYTES_MAX, chap, packet_of, push_attribute, write_length,
};
use super::{Kind, Value};

/// The longest password that can be hidden (RFC 2865, 5.2).
pub(super) const PASSWORD_BYTES_MAX: usize = 128;
/// The most bytes of the attributes that a step lists: the others always fit beside them.
pub(super) const LISTED_BYTES_MAX: usize = 3_200;

/// In the place of the identifier: a value was too long, or not valid.
const CUT: u8 = 1;

/// Where the value of the Message-Authenticator begins.
const SIGNATURE_AT: usize = HEADER_BYTES + 2;
/// Where the attribute of the password begins.
const PASSWORD_AT: usize = SIGNATURE_AT + 16;
/// Where the value of the CHAP-Challenge begins.
const CHALLENGE_AT: usize = PASSWORD_AT + 19 + 2;

/// The content of a step's requests.
pub(super) struct StepContent {
    pub(super) kind: Kind,
    pub(super) user: Value,
    pub(super) password: Value,
    pub(super) session: Value,
    /// The listed attributes, each with its text: `name=value`.
    pub(super) listed: Vec<(Attribute, TextHandle)>,
}

/// The value in `name=value`.
pub(super) fn value_of(listed: &[u8]) -> &[u8] {
    let at = listed.iter().position(|byte| *byte == b'=').map_or(listed.len(), |at| at + 1);
    &listed[at..]
}

impl StepContent {
    /// Writes a request. A value that is made for it and is not valid leaves its attribute out; a password that is too
    /// long is cut. Such a request is marked: its response means nothing.
    pub(super) fn write(&self, texts: &Texts<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + HEADER_BYTES, 0);
        out[start] = if let Kind::Accounting(_) = self.kind { ACCOUNTING_REQUEST } else { ACCESS_REQUEST };
        let (mut password, user, session) = (self.password.get(texts), self.user.get(texts), self.session.get(texts));
        let is_long = |value: &[u8]| value.len() > VALUE_BYTES_MAX;
        if is_long(user) || is_long(session) || (self.kind == Kind::Pap && password.len() > PASSWORD_BYTES_MAX) {
            out[start + 1] = CUT;
        }
        match self.kind {
            Kind::Pap => {
                password = &password[..password.len().min(PASSWORD_BYTES_MAX)];
                push_attribute(MESSAGE_AUTHENTICATOR, &[0; 16], out);
                let blocks = password.len().div_ceil(16).max(1);
                push_attribute(USER_PASSWORD, &[0; PASSWORD_BYTES_MAX][..16 * blocks], out);
            }
            Kind::Chap => {
                push_attribute(MESSAGE_AUTHENTICATOR, &[0; 16], out);
                push_attribute(CHAP_PASSWORD, &[0; 17], out);
                push_attribute(CHAP_CHALLENGE, &[0; 16], out);
            }
            Kind::Accounting(status) => {
                password = &[];
                push_attribute(ACCT_STATUS_TYPE, &u32::to_be_bytes(status), out);
                self.push_unless_listed(ACCT_DELAY_TIME, &[0; 4], out);
            }
        }
        push_attribute(USER_NAME, user, out);
        push_attribute(ACCT_SESSION_ID, session, out);
        self.push_unless_listed(NAS_IDENTIFIER, b"onrush", out);
        let before = out.len();
        for (attribute, text) in &self.listed {
            let end = out.len();
            let is_valid = encode(*attribute, value_of(texts.get(*text)), out).is_some();
            if !is_valid || out.len() - before > LISTED_BYTES_MAX {
                out.truncate(end);
                out[start + 1] = CUT;
            }
        }
        write_length(start, &mut out[..]);
        out.extend_from_slice(password);
    }

    fn push_unless_listed(&self, kind: u8, value: &[u8], out: &mut Vec<u8>) {
        if !self.listed.iter().any(|(attribute, _)| attribute.kind == kind) {
            push_attribute(kind, value, out);
        }
    }
}

/// Whether a request that a step wrote lacks a part of what was meant.
pub(super) fn is_cut(written: &[u8]) -> bool {
    written.get(1) == Some(&CUT)
}

/// Makes the datagram of a request out of what a step wrote; `drawn` is never the same twice.
pub(super) fn finish(written: &[u8], id: u8, drawn: &Digest, secret: &Secret, datagram: &mut Vec<u8>) {
    let packet = packet_of(written).unwrap_or_default();
    let password = &written[packet.len()..];
    datagram.clear();
    datagram.extend_from_slice(packet);
    if packet.is_empty() {
        return;
    }
    datagram[1] = id;
    if datagram[0] != ACCESS_REQUEST {
        let digest = secret.digest(datagram, &[0; 16]);
        datagram[4..HEADER_BYTES].copy_from_slice(&digest);
        return;
    }
    datagram[4..HEADER_BYTES].copy_from_slice(drawn);
    let end = PASSWORD_AT + usize::from(datagram[PASSWORD_AT + 1]);
    let value = &mut datagram[PASSWORD_AT + 2..end];
    if packet[PASSWORD_AT] == USER_PASSWORD {
        value[..password.len()].copy_from_slice(password);
        secret.hide(drawn, value);
    } else {
        let challenge = md5::compute(drawn).0;
        value[0] = drawn[0];
        value[1..].copy_from_slice(&chap(drawn[0], password, &challenge));
        datagram[CHALLENGE_AT..CHALLENGE_AT + 16].copy_from_slice(&challenge);
    }
    let signature = secret.signature(datagram, drawn, SIGNATURE_AT);
    datagram[SIGNATURE_AT..PASSWORD_AT].copy_from_slice(&signature);
}
