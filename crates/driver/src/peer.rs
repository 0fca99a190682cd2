//! Whom to connect to.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The longest path of a socket in the file system: the kernel wants a zero behind it.
pub const UNIX_PATH_BYTES_MAX: usize = 107;

/// A peer of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// By TCP.
    Ip(SocketAddr),
    /// By a socket in the file system of this machine.
    Unix(Arc<Path>),
}

impl Peer {
    /// It is reached by IPv4.
    pub fn is_ipv4(&self) -> bool {
        matches!(self, Self::Ip(SocketAddr::V4(_)))
    }

    /// Its address in the network, if it has one.
    pub fn ip(&self) -> Option<SocketAddr> {
        match self {
            Self::Ip(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }
}

impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        Self::Ip(address)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
