//! Socket errors of the kernel, grouped by what the user can do about them.

use rustix::io::Errno;

/// Why a socket failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// The peer's host responded that no process listens.
    #[error("connection refused")]
    Refused,
    /// No route to the peer.
    #[error("no route to host")]
    Unreachable,
    /// This host forbids it.
    #[error("permission denied")]
    Permission,
    /// The kernel gave up waiting for the peer.
    #[error("timed out in the kernel")]
    TimedOut,
    /// No local port is free, or the local address does not belong to this host.
    #[error("no local port or address is available")]
    NoLocalPort,
    /// The address to listen on is in use.
    #[error("address already in use")]
    AddressInUse,
    /// No more file descriptors in this process or on this host.
    #[error("no more descriptors")]
    NoDescriptor,
    /// The peer reset the connection.
    #[error("connection reset by peer")]
    Reset,
    /// Anything else.
    #[error("error {0} of the operating system")]
    Os(u16),
}

impl From<Errno> for SocketError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::CONNREFUSED => Self::Refused,
            Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NETDOWN | Errno::HOSTDOWN => Self::Unreachable,
            Errno::ACCESS | Errno::PERM => Self::Permission,
            Errno::TIMEDOUT => Self::TimedOut,
            Errno::ADDRNOTAVAIL => Self::NoLocalPort,
            Errno::ADDRINUSE => Self::AddressInUse,
            Errno::MFILE | Errno::NFILE => Self::NoDescriptor,
            Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => Self::Reset,
            other => Self::Os(u16::try_from(other.raw_os_error()).unwrap_or(u16::MAX)),
        }
    }
}

impl From<&std::io::Error> for SocketError {
    /// An error without a number is that of a kernel that has no descriptor or memory left.
    fn from(error: &std::io::Error) -> Self {
        Errno::from_io_error(error).map_or(Self::NoDescriptor, Self::from)
    }
}
