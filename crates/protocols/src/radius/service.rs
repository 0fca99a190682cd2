//! A small RADIUS server, for tests and for `onrush serve`. Its memory is bounded.
//!
//! Its secret is `testing123`, and the password of every user is `secret`. The beginning of a user's name asks for
//! something else: `reject`, `challenge` (until a State comes back), `drop` (no reply), `twice` (two equal replies),
//! `forge` (a reply with a wrong authenticator, then the right one). The user `counts` is sent the accounting requests
//! by their status.

use std::collections::{HashMap, VecDeque};

use protocol::{Replies, Service};

use super::packet::{
    ACCESS_ACCEPT, ACCESS_CHALLENGE, ACCESS_REJECT, ACCESS_REQUEST, ACCOUNTING_REQUEST, ACCOUNTING_RESPONSE,
    ACCT_STATUS_TYPE, Attributes, CHAP_CHALLENGE, CHAP_PASSWORD, Digest, HEADER_BYTES, MESSAGE_AUTHENTICATOR,
    PACKET_BYTES_MAX, PROXY_STATE, REPLY_MESSAGE, STATE, Secret, USER_NAME, USER_PASSWORD, attribute, chap, identity,
    is_well_formed, packet_of, push_attribute, write_length,
};

/// The secret of all clients.
const SECRET: &[u8] = b"testing123";
/// The password of all users.
const PASSWORD: &[u8] = b"secret";
/// The replies that are kept, for requests that are sent again.
pub(super) const REPLIES_KEPT: usize = 4_096;

/// A request: its peer, its identifier and its authenticator.
type RequestKey = (u64, (u8, Digest));

/// The server.
pub(super) struct Server {
    secret: Secret,
    /// The last replies; an empty one is none.
    kept: HashMap<RequestKey, Vec<u8>>,
    order: VecDeque<RequestKey>,
    /// The accounting requests: start, stop, interim, and others.
    counts: [u64; 4],
}

impl Default for Server {
    fn default() -> Self {
        Self { secret: Secret::new(SECRET), kept: HashMap::new(), order: VecDeque::new(), counts: [0; 4] }
    }
}

impl Service for Server {
    fn handle(&mut self, connection: u64, _bytes: &[u8], replies: &mut Replies) {
        replies.close(connection);
    }

    fn handle_datagram(&mut self, peer: u64, bytes: &[u8], replies: &mut Replies) {
        // RFC 2865, 3; RFC 2866, 3; RFC 3579, 3.2: what is not valid has no reply.
        let Some(packet) = packet_of(bytes).filter(|packet| self.is_valid(packet)) else { return };
        let key = (peer, identity(packet));
        if let Some(reply) = self.kept.get(&key) {
            if !reply.is_empty() {
                replies.datagram(peer).extend_from_slice(reply);
            }
            return;
        }
        replies.requests += 1;
        let user = attribute(packet, USER_NAME).unwrap_or_default();
        let (code, text) = if packet[0] == ACCESS_REQUEST { self.access(packet, user) } else { self.account(packet) };
        let reply = if user.starts_with(b"drop") { Vec::new() } else { self.reply(code, &text, packet) };
        if !reply.is_empty() {
            if user.starts_with(b"forge") {
                let forged = replies.datagram(peer);
                forged.extend_from_slice(&reply);
                forged[4] ^= 1;
            }
            replies.datagram(peer).extend_from_slice(&reply);
            if user.starts_with(b"twice") {
                replies.datagram(peer).extend_from_slice(&reply);
            }
        }
        self.keep(key, reply);
    }
}

impl Server {
    fn is_valid(&self, packet: &[u8]) -> bool {
        if !is_well_formed(packet) {
            return false;
        }
        match packet[0] {
            ACCESS_REQUEST => self.secret.is_signed_if_at_all(packet, &identity(packet).1),
            ACCOUNTING_REQUEST => {
                self.secret.has_digest(packet, &[0; 16]) && self.secret.is_signed_if_at_all(packet, &[0; 16])
            }
            _ => false,
        }
    }

    /// The code of the reply to an Access-Request, and its text.
    fn access(&self, packet: &[u8], user: &[u8]) -> (u8, String) {
        let reply = |code, text: &str| (code, text.to_owned());
        if user.starts_with(b"reject") {
            return reply(ACCESS_REJECT, "this user is rejected");
        }
        if user.starts_with(b"challenge") && attribute(packet, STATE).is_none() {
            return reply(ACCESS_CHALLENGE, "send the password once more, and the State");
        }
        if !self.is_password_right(packet) {
            return reply(ACCESS_REJECT, "the password is wrong");
        }
        if user == b"counts" {
            let [start, stop, interim, others] = self.counts;
            return (ACCESS_ACCEPT, format!("start={start} stop={stop} interim={interim} others={others}"));
        }
        reply(ACCESS_ACCEPT, "welcome")
    }

    fn is_password_right(&self, packet: &[u8]) -> bool {
        let authenticator = identity(packet).1;
        if let Some([identifier, response @ ..]) = attribute(packet, CHAP_PASSWORD) {
            let challenge = attribute(packet, CHAP_CHALLENGE).unwrap_or(&authenticator);
            return chap(*identifier, PASSWORD, challenge) == response;
        }
        attribute(packet, USER_PASSWORD).is_some_and(|hidden| {
            let revealed = self.secret.reveal(&authenticator, hidden);
            let rest = revealed.strip_prefix(PASSWORD);
            hidden.len().is_multiple_of(16) && rest.is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
        })
    }

    fn account(&mut self, packet: &[u8]) -> (u8, String) {
        let status = match attribute(packet, ACCT_STATUS_TYPE) {
            Some([0, 0, 0, status @ 1..=3]) => usize::from(*status) - 1,
            _ => 3,
        };
        self.counts[status] += 1;
        (ACCOUNTING_RESPONSE, String::new())
    }

    /// The reply to a request; empty if it does not fit into a packet.
    fn reply(&self, code: u8, text: &str, packet: &[u8]) -> Vec<u8> {
        let (id, authenticator) = identity(packet);
        let mut reply = vec![0; HEADER_BYTES];
        (reply[0], reply[1]) = (code, id);
        let signature_at = reply.len() + 2;
        if packet[0] == ACCESS_REQUEST {
            push_attribute(MESSAGE_AUTHENTICATOR, &[0; 16], &mut reply);
        }
        push_attribute(REPLY_MESSAGE, text.as_bytes(), &mut reply);
        if code == ACCESS_CHALLENGE {
            push_attribute(STATE, b"challenged", &mut reply);
        }
        // RFC 2865, 5.33: a proxy's state goes back as it came.
        let states = Attributes::of(packet).filter(|(kind, _)| *kind == PROXY_STATE);
        states.for_each(|(kind, value)| push_attribute(kind, value, &mut reply));
        if reply.len() > PACKET_BYTES_MAX {
            return Vec::new();
        }
        write_length(0, &mut reply);
        if packet[0] == ACCESS_REQUEST {
            let signature = self.secret.signature(&reply, &authenticator, signature_at);
            reply[signature_at..signature_at + 16].copy_from_slice(&signature);
        }
        let digest = self.secret.digest(&reply, &authenticator);
        reply[4..HEADER_BYTES].copy_from_slice(&digest);
        reply
    }

    fn keep(&mut self, key: RequestKey, reply: Vec<u8>) {
        if self.order.len() >= REPLIES_KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.kept.remove(&oldest);
        }
        self.kept.insert(key, reply);
        self.order.push_back(key);
    }
}
