//! The address of a peer.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The longest path of a Unix domain socket: the kernel needs a zero after it.
#[cfg(target_os = "linux")]
pub(crate) const UNIX_PATH_BYTES_MAX: usize = 107;

/// The address of a stream's peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A TCP address.
    Ip(SocketAddr),
    /// The path of a Unix domain socket.
    Unix(Arc<Path>),
}

impl Peer {
    /// Its network address, if it has one.
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
