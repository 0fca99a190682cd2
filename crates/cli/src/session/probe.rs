//! A probe of a port without any understandable response: made once, when the load is over.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use metrics::Snapshot;
use plan::{Plan, Protocol};

/// A timeout that is long enough for any live server.
const PATIENCE: Duration = Duration::from_secs(2);
/// A ClientHello of TLS 1.2 with one cipher suite, no session and no extension (RFC 5246, 7.4.1.2). A TLS server
/// responds to it, most with an alert.
const HELLO: [u8; 50] = {
    let mut hello = [0x55; 50];
    // A record of a handshake, 45 bytes; in it a ClientHello of 41.
    let head = [0x16, 3, 1, 0, 45, 1, 0, 0, 41, 3, 3];
    let mut place = 0;
    while place < head.len() {
        hello[place] = head[place];
        place += 1;
    }
    // 32 random bytes; then no session, one suite (TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256), no compression.
    let tail = [0, 0, 2, 0xc0, 0x2f, 1, 0];
    let mut place = 0;
    while place < tail.len() {
        hello[43 + place] = tail[place];
        place += 1;
    }
    hello
};
/// The record types that a response begins with: an alert, a handshake.
const RESPONSES: [u8; 2] = [0x15, 0x16];

/// Whether TLS is spoken at an address; false if that cannot be determined.
pub(crate) fn speaks_tls(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<[u8; 2]> {
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        let until = Instant::now() + PATIENCE;
        stream.write_all(&HELLO)?;
        let (mut response, mut read) = ([0; 2], 0);
        while read < response.len() {
            // A read that a stop of the process interrupts begins its timeout anew.
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            stream.set_read_timeout(Some(left))?;
            match stream.read(&mut response[read..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => read += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(response)
    };
    ask().is_ok_and(|[kind, major]| RESPONSES.contains(&kind) && major == 3)
}

/// Whether the target may need TLS: requests went out in plain text, by a protocol that exists over TLS, on established
/// connections, and not a byte ever came back. A target that has sent anything is not probed, and sees no connection
/// but those of the load; nor is a target with HTTP/2 by prior knowledge.
pub(crate) fn may_need_tls(plan: &Plan, seen: &Snapshot) -> bool {
    let target = plan.scenarios.first().expect("a plan has a scenario").target();
    let is_plain = target.tls.is_none()
        && target.unix.is_none()
        && matches!(target.protocol, Protocol::Http1 | Protocol::WebSocket);
    let is_mute = seen.connect.count() > 0 && seen.counts.bytes_received() == 0;
    is_plain && is_mute && seen.counts.failed() > 0
}
