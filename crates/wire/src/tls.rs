//! TLS as a layer over bytes: incoming bytes are decrypted, outgoing bytes encrypted. The implementation is rustls.
//!
//! A [`Session`] is one side of one connection. [`Session::feed`] takes received bytes and returns their content;
//! during the handshake it also writes the bytes to send back. [`Session::seal`] encrypts what is to be sent. An idle
//! session stores no bytes.

mod client;
mod crypto;
mod fault;
mod server;
mod verify;

use std::sync::Arc;

use rustls::AlertDescription;
use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncryptError, UnbufferedStatus};

pub use client::{ClientConfig, ClientSettings, Trust, client_of_library};
pub use crypto::{GROUPS, HAS_P521, provider, runs_here};
pub use fault::{CertificatePart, SetupError, TlsFault};
pub use server::{ServerConfig, ServerSettings};
pub use verify::Refused;
use verify::Witness;

/// Maximum content of one record.
const RECORD_BYTES_MAX: usize = 16 * 1024;
/// Maximum overhead of a record: header, nonce of TLS 1.2, content type, tag.
const RECORD_OVERHEAD: usize = 5 + 8 + 1 + 16 + 16;
/// Room for a record that may be sent in addition to the requested content: a key update.
const KEY_UPDATE_BYTES: usize = 128;
/// Maximum size of an incomplete handshake message: rustls accepts messages of 64 KiB, whose records may be small.
const TAIL_BYTES_MAX: usize = 160 * 1024;

enum Side {
    Client(Box<UnbufferedClientConnection>),
    Server(Box<UnbufferedServerConnection>),
}

/// One side of a TLS connection. See the module.
pub struct Session {
    side: Side,
    /// An incomplete record, or an incomplete flight of the handshake.
    tail: Vec<u8>,
    is_closed_by_peer: bool,
    /// The fault that broke the session.
    fault: Option<TlsFault>,
    /// Records whether the server requested a client certificate that we do not have; `None` for a server.
    witness: Option<Arc<Witness>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("tail_bytes", &self.tail.len()).finish_non_exhaustive()
    }
}

/// The next step of the session.
enum Step {
    /// Call again with the remaining bytes.
    Again,
    /// Wait for more bytes.
    Wait,
}

impl Session {
    fn new(side: Side, witness: Option<Arc<Witness>>) -> Self {
        Self { side, tail: Vec::new(), is_closed_by_peer: false, fault: None, witness }
    }

    /// Whether the handshake is in progress: nothing can be sealed yet.
    pub fn is_handshaking(&self) -> bool {
        match &self.side {
            Side::Client(connection) => connection.is_handshaking(),
            Side::Server(connection) => connection.is_handshaking(),
        }
    }

    /// Whether the handshake resumed an earlier session.
    pub fn is_resumed(&self) -> bool {
        let kind = match &self.side {
            Side::Client(connection) => connection.handshake_kind(),
            Side::Server(connection) => connection.handshake_kind(),
        };
        kind == Some(rustls::HandshakeKind::Resumed)
    }

    /// The negotiated protocol (ALPN).
    pub fn alpn(&self) -> Option<&[u8]> {
        match &self.side {
            Side::Client(connection) => connection.alpn_protocol(),
            Side::Server(connection) => connection.alpn_protocol(),
        }
    }

    /// The negotiated version, as text.
    pub fn version(&self) -> &'static str {
        let version = match &self.side {
            Side::Client(connection) => connection.protocol_version(),
            Side::Server(connection) => connection.protocol_version(),
        };
        match version {
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLS 1.2",
            Some(rustls::ProtocolVersion::TLSv1_3) => "TLS 1.3",
            _ => "TLS",
        }
    }

    /// Whether the peer announced that it will send nothing more.
    pub fn is_closed_by_peer(&self) -> bool {
        self.is_closed_by_peer
    }

    /// Begins the handshake: a client writes its first flight, a server nothing.
    ///
    /// # Errors
    /// rustls refuses its configuration.
    pub fn start(&mut self, out: &mut Vec<u8>) -> Result<(), TlsFault> {
        self.feed(&mut [], &mut Vec::new(), out)
    }

    /// Handles received bytes: adds their content to `plain`, and the bytes to send back to `out`.
    ///
    /// # Errors
    /// The peer broke the protocol or is not trusted. `out` may contain an alert for it; the connection must be closed.
    pub fn feed(&mut self, bytes: &mut [u8], plain: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<(), TlsFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if self.tail.is_empty() {
            let taken = self.work(bytes, plain, out)?;
            self.tail.extend_from_slice(&bytes[taken..]);
        } else {
            let mut tail = std::mem::take(&mut self.tail);
            tail.extend_from_slice(bytes);
            let taken = self.work(&mut tail, plain, out)?;
            if taken < tail.len() {
                tail.drain(..taken);
                self.tail = tail;
            }
        }
        if self.tail.len() > TAIL_BYTES_MAX { Err(TlsFault::TooLarge) } else { Ok(()) }
    }

    /// Processes `input`: returns how many bytes were consumed.
    fn work(&mut self, input: &mut [u8], plain: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<usize, TlsFault> {
        let mut taken = 0;
        loop {
            let rest = &mut input[taken..];
            let closed = &mut self.is_closed_by_peer;
            let (discard, step) = match &mut self.side {
                Side::Client(connection) => advance(connection.process_tls_records(rest), plain, out, closed),
                Side::Server(connection) => advance(connection.process_tls_records(rest), plain, out, closed),
            };
            taken += discard;
            match step {
                Ok(Step::Again) => {}
                Ok(Step::Wait) => return Ok(taken),
                Err(error) => {
                    let fault = self.fault_of(&error);
                    self.fault = Some(fault);
                    self.collect_alert(&mut input[taken..], out);
                    return Err(fault);
                }
            }
        }
    }

    /// The fault of a rustls error in the current state of the session.
    fn fault_of(&self, error: &rustls::Error) -> TlsFault {
        let is_refused = matches!(error, rustls::Error::AlertReceived(AlertDescription::HandshakeFailure));
        let was_requested = || self.witness.as_ref().is_some_and(|witness| witness.was_requested());
        match error {
            // A TLS 1.2 server has no other alert for a missing certificate (RFC 5246, 7.4.6).
            _ if is_refused && self.is_handshaking() && was_requested() => TlsFault::ClientCertificate,
            // A handshake failure after the handshake: the server demanded a renegotiation, which we refuse.
            _ if is_refused && !self.is_handshaking() && self.version() == "TLS 1.2" => TlsFault::Renegotiation,
            error => TlsFault::from_error(error),
        }
    }

    /// Collects the alert that tells the peer why the connection is closed. One step only: rustls must not process
    /// broken input a second time.
    fn collect_alert(&mut self, rest: &mut [u8], out: &mut Vec<u8>) {
        let (closed, mut nothing) = (&mut self.is_closed_by_peer, Vec::new());
        // The error of this step is already known.
        let _ = match &mut self.side {
            Side::Client(connection) => advance(connection.process_tls_records(rest), &mut nothing, out, closed),
            Side::Server(connection) => advance(connection.process_tls_records(rest), &mut nothing, out, closed),
        };
    }

    /// Encrypts `plain` and adds the records to `out`.
    ///
    /// # Errors
    /// The handshake is not over, or the keys are used up.
    pub fn seal(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TlsFault> {
        self.write(out, plain.len(), |traffic, room| match traffic {
            Traffic::Client(traffic) => traffic.encrypt(plain, room),
            Traffic::Server(traffic) => traffic.encrypt(plain, room),
        })
    }

    /// Sends `close_notify`.
    ///
    /// # Errors
    /// The handshake is not over.
    pub fn close(&mut self, out: &mut Vec<u8>) -> Result<(), TlsFault> {
        self.write(out, 0, |traffic, room| match traffic {
            Traffic::Client(traffic) => traffic.queue_close_notify(room),
            Traffic::Server(traffic) => traffic.queue_close_notify(room),
        })
    }

    fn write(
        &mut self,
        out: &mut Vec<u8>,
        plain_bytes: usize,
        put: impl FnOnce(Traffic<'_, '_>, &mut [u8]) -> Result<usize, EncryptError>,
    ) -> Result<(), TlsFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let from = out.len();
        let records = plain_bytes / RECORD_BYTES_MAX + 1;
        out.resize(from + plain_bytes + records * RECORD_OVERHEAD + KEY_UPDATE_BYTES, 0);
        let room = &mut out[from..];
        // An incomplete message that rustls points into has to be passed again.
        let tail = &mut self.tail[..];
        let (discard, written) = match &mut self.side {
            Side::Client(connection) => {
                let UnbufferedStatus { discard, state } = connection.process_tls_records(tail);
                match state {
                    Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                        (discard, put(Traffic::Client(&mut traffic), room).ok())
                    }
                    _ => (discard, None),
                }
            }
            Side::Server(connection) => {
                let UnbufferedStatus { discard, state } = connection.process_tls_records(tail);
                match state {
                    Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                        (discard, put(Traffic::Server(&mut traffic), room).ok())
                    }
                    _ => (discard, None),
                }
            }
        };
        self.tail.drain(..discard);
        out.truncate(from + written.unwrap_or(0));
        written.map(|_| ()).ok_or(TlsFault::Other)
    }
}

enum Traffic<'a, 'c> {
    Client(&'a mut rustls::unbuffered::WriteTraffic<'c, rustls::client::ClientConnectionData>),
    Server(&'a mut rustls::unbuffered::WriteTraffic<'c, rustls::server::ServerConnectionData>),
}

/// One step of rustls: how many bytes it consumed, and what it needs next.
fn advance<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    plain: &mut Vec<u8>,
    out: &mut Vec<u8>,
    is_closed: &mut bool,
) -> (usize, Result<Step, rustls::Error>) {
    let UnbufferedStatus { discard, state } = status;
    let step = state.map(|state| match state {
        ConnectionState::ReadTraffic(mut traffic) => {
            while let Some(record) = traffic.next_record() {
                if let Ok(record) = record {
                    plain.extend_from_slice(record.payload);
                }
            }
            Step::Again
        }
        ConnectionState::EncodeTlsData(mut data) => {
            let from = out.len();
            // The size of a flight is not known beforehand: buffer sizes are tried until it fits.
            let mut room = 512;
            loop {
                out.resize(from + room, 0);
                match data.encode(&mut out[from..]) {
                    Ok(written) => {
                        out.truncate(from + written);
                        break;
                    }
                    Err(rustls::unbuffered::EncodeError::InsufficientSize(error)) => room = error.required_size,
                    Err(rustls::unbuffered::EncodeError::AlreadyEncoded) => {
                        out.truncate(from);
                        break;
                    }
                }
            }
            Step::Again
        }
        ConnectionState::TransmitTlsData(data) => {
            // The encoded bytes are in `out`, which the caller sends.
            data.done();
            Step::Again
        }
        ConnectionState::PeerClosed => {
            *is_closed = true;
            Step::Again
        }
        _ => Step::Wait,
    });
    (discard, step)
}

#[cfg(test)]
mod tests;
