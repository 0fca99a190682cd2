//! A peer's address in the kernel's form.

use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;

use crate::Peer;
use crate::peer::UNIX_PATH_BYTES_MAX;

pub(super) enum Address {
    V4(libc::sockaddr_in),
    V6(libc::sockaddr_in6),
    Unix(libc::sockaddr_un),
}

impl Address {
    pub(super) fn new(peer: &Peer) -> Self {
        match peer {
            Peer::Ip(SocketAddr::V4(v4)) => Self::V4(libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                sin_zero: [0; 8],
            }),
            Peer::Ip(SocketAddr::V6(v6)) => Self::V6(libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            }),
            Peer::Unix(path) => {
                let mut sun_path = [0; UNIX_PATH_BYTES_MAX + 1];
                let bytes = path.as_os_str().as_bytes();
                for (place, byte) in sun_path[..UNIX_PATH_BYTES_MAX].iter_mut().zip(bytes) {
                    *place = byte.cast_signed() as libc::c_char;
                }
                Self::Unix(libc::sockaddr_un { sun_family: libc::AF_UNIX as libc::sa_family_t, sun_path })
            }
        }
    }

    /// Valid as long as this value does not move.
    pub(super) fn as_raw(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        match self {
            Self::V4(v4) => (std::ptr::from_ref(v4).cast(), size_of::<libc::sockaddr_in>() as libc::socklen_t),
            Self::V6(v6) => (std::ptr::from_ref(v6).cast(), size_of::<libc::sockaddr_in6>() as libc::socklen_t),
            Self::Unix(unix) => (std::ptr::from_ref(unix).cast(), size_of::<libc::sockaddr_un>() as libc::socklen_t),
        }
    }
}
