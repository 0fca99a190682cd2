//! Tunnels through a proxy: CONNECT of HTTP/1.1 (RFC 9110 9.3.6), and SOCKS5 (RFC 1928, RFC 1929).
//!
//! The client ([`Tunnel`]) writes its first bytes when it is made; [`Tunnel::read`] takes received bytes until it
//! returns [`TunnelProgress::Established`] or fails, and is not called after that. A proxy that closes before is
//! [`TunnelFault::Closed`]. [`TunnelServer`] is the other side. Both give the same however the bytes were cut.
//!
//! The client of SOCKS5 keeps no received byte; that of HTTP and the server keep an incomplete head or message.

mod http;
mod server;
mod socks5;

use core::net::SocketAddr;
use std::fmt;

pub use self::http::HttpTunnel;
pub use self::server::{TunnelServer, TunnelServerEvent};
pub use self::socks5::{Socks5Tunnel, reply_text};

/// The login at a proxy.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user; for HTTP without a colon, which would end it (RFC 7617 2).
    pub user: String,
    /// The password. No debug output has it.
    pub password: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// The peer behind the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination<'a> {
    /// A name that the proxy looks up, and a port. The name was checked before: it has no blanks and no line ends.
    Name(&'a str, u16),
    /// An address.
    Address(SocketAddr),
}

/// The progress of a tunnel that was not refused so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TunnelProgress {
    /// All bytes were consumed, and the tunnel is not open yet.
    NeedMore,
    /// The tunnel is open.
    Established {
        /// The number of bytes that belonged to the proxy; the others are from the peer behind it.
        taken: usize,
    },
}

/// The code with which a proxy refuses a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The status of an HTTP response.
    Status(u16),
    /// The reply code of SOCKS5; [`reply_text`] has its meaning.
    Socks(u8),
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Status(status) => write!(out, "status {status}"),
            Self::Socks(code) => write!(out, "{} (code {code})", reply_text(code)),
        }
    }
}

/// The reason why there is no tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TunnelFault {
    /// The proxy requires a login, or does not accept ours.
    #[error("the proxy requires a login, or does not accept this one")]
    Login,
    /// The proxy does not connect us with the peer.
    #[error("the proxy refuses the connection: {0}")]
    Refused(Refusal),
    /// The peer broke the protocol, or speaks another one.
    #[error("the proxy does not keep to its protocol")]
    Invalid,
    /// The connection ended before the tunnel was open; the caller sees that, not the machine.
    #[error("the proxy closed the connection before the tunnel was open")]
    Closed,
    /// A name that SOCKS5 cannot send.
    #[error("a name for SOCKS5 must have 1 to 255 bytes")]
    Name,
    /// A login that SOCKS5 cannot send.
    #[error("user and password for SOCKS5 must have 1 to 255 bytes each")]
    Credentials,
}

/// The client's state machine of a tunnel that is being opened.
#[derive(Debug)]
pub enum Tunnel {
    /// Through an HTTP proxy.
    Http(HttpTunnel),
    /// Through a SOCKS5 proxy.
    Socks5(Socks5Tunnel),
}

impl Tunnel {
    /// A tunnel through an HTTP proxy. The request is appended to `out`.
    pub fn http(to: &Destination<'_>, credentials: Option<&Credentials>, out: &mut Vec<u8>) -> Self {
        Self::Http(HttpTunnel::start(to, credentials, out))
    }

    /// A tunnel through a SOCKS5 proxy. The greeting is appended to `out`.
    ///
    /// # Errors
    /// The protocol cannot send the name or the login: [`TunnelFault::Name`], [`TunnelFault::Credentials`].
    pub fn socks5(
        to: &Destination<'_>,
        credentials: Option<&Credentials>,
        out: &mut Vec<u8>,
    ) -> Result<Self, TunnelFault> {
        Socks5Tunnel::start(to, credentials, out).map(Self::Socks5)
    }

    /// Reads received bytes. Bytes to send are appended to `out`.
    ///
    /// # Errors
    /// There will be no tunnel; the connection must be closed.
    pub fn read(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<TunnelProgress, TunnelFault> {
        match self {
            Self::Http(tunnel) => tunnel.read(bytes),
            Self::Socks5(tunnel) => tunnel.read(bytes, out),
        }
    }
}

#[cfg(test)]
mod tests;
