//! Whom to connect to.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The longest path of a socket in the file system: the kernel wants a zero behind it.
#[cfg(target_os = "linux")]
pub(crate) const UNIX_PATH_BYTES_MAX: usize = 107;

/// A peer of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// By TCP.
    Ip(SocketAddr),
    /// By a socket in the file system of this machine.
    Unix(Arc<Path>),
}

impl Peer {
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
