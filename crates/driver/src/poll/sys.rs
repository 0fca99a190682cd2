//! The system calls of the poll driver, with their socket options and errors.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind,
    connect as connect_to, getsockname, listen as listen_on, recv, send as send_to, shutdown, socket_with, sockopt,
};

use crate::{ListenOptions, OpenOptions, Peer, SocketError, SocketKind};

/// The kernel limits this to `somaxconn`.
pub(super) const BACKLOG: i32 = 65_535;

/// A number that no other process draws.
pub(crate) fn entropy() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn new_socket(peer: &Peer, kind: SocketKind) -> Result<OwnedFd, Errno> {
    let family = match peer {
        Peer::Ip(SocketAddr::V4(_)) => AddressFamily::INET,
        Peer::Ip(SocketAddr::V6(_)) => AddressFamily::INET6,
        Peer::Unix(_) => AddressFamily::UNIX,
    };
    let socket_type = match kind {
        SocketKind::Stream => SocketType::STREAM,
        SocketKind::Datagram => SocketType::DGRAM,
    };
    socket_with(family, socket_type, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)
}

/// A socket bound to a local address, which must belong to this host. Its port is chosen when it connects: then one
/// port serves many peers.
pub(crate) fn socket_from(options: &OpenOptions) -> Result<OwnedFd, SocketError> {
    let fd = new_socket(&options.to, options.kind)?;
    if let Some(from) = options.from {
        #[cfg(target_os = "linux")]
        crate::late_port::choose_port_late(fd.as_fd())?;
        bind(&fd, &SocketAddr::new(from, 0)).map_err(|errno| match errno {
            Errno::ADDRNOTAVAIL => SocketError::NoLocalPort,
            other => other.into(),
        })?;
    }
    Ok(fd)
}

pub(crate) fn set_no_delay(fd: &OwnedFd) -> Result<(), SocketError> {
    Ok(sockopt::set_tcp_nodelay(fd, true)?)
}

pub(super) fn connect(options: &OpenOptions) -> Result<OwnedFd, SocketError> {
    let fd = socket_from(options)?;
    let address = match &options.to {
        Peer::Ip(address) => address,
        Peer::Unix(path) => {
            return match connect_to(&fd, &SocketAddrUnix::new(&**path)?) {
                Ok(()) => Ok(fd),
                // The backlog of the listener is full.
                Err(Errno::AGAIN) => Err(SocketError::Refused),
                Err(errno) => Err(errno.into()),
            };
        }
    };
    if options.no_delay && options.kind == SocketKind::Stream {
        set_no_delay(&fd)?;
    }
    match connect_to(&fd, address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(fd),
        // The implicit bind of a connect finds no port: EADDRNOTAVAIL. EAGAIN means the same on older kernels.
        Err(Errno::AGAIN) => Err(SocketError::NoLocalPort),
        Err(errno) => Err(errno.into()),
    }
}

pub(crate) fn listen(options: &ListenOptions, backlog: i32) -> Result<(OwnedFd, SocketAddr), SocketError> {
    if options.kind == SocketKind::Datagram {
        return Err(Errno::OPNOTSUPP.into());
    }
    let fd = new_socket(&Peer::Ip(options.on), options.kind)?;
    sockopt::set_socket_reuseaddr(&fd, true)?;
    if options.share_port {
        sockopt::set_socket_reuseport(&fd, true)?;
    }
    bind(&fd, &options.on).map_err(|errno| match errno {
        Errno::ADDRNOTAVAIL => SocketError::NoLocalPort,
        other => other.into(),
    })?;
    listen_on(&fd, backlog)?;
    let address = SocketAddr::try_from(getsockname(&fd)?).map_err(|_| SocketError::Os(0))?;
    Ok((fd, address))
}

pub(super) fn accept(listener: &OwnedFd) -> Result<OwnedFd, Errno> {
    let fd = accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?;
    // A response may be written in several pieces; none of them waits for an acknowledgement.
    let _ = sockopt::set_tcp_nodelay(&fd, true);
    Ok(fd)
}

#[inline]
pub(super) fn receive(fd: &OwnedFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    recv(fd, buffer, RecvFlags::empty()).map(|(count, _)| count)
}

#[inline]
pub(super) fn send(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    send_to(fd, bytes, SendFlags::NOSIGNAL)
}

/// The pending error of a socket (SO_ERROR).
pub(super) fn take_error(fd: &OwnedFd) -> Option<SocketError> {
    match sockopt::socket_error(fd) {
        Ok(Ok(())) => None,
        Ok(Err(errno)) | Err(errno) => Some(errno.into()),
    }
}

/// Whether an error is pending, or neither side can send any more.
pub(super) fn is_reset(fd: &OwnedFd) -> bool {
    let mut requested = [PollFd::new(fd, PollFlags::empty())];
    let answered = poll(&mut requested, Some(&Timespec::default()));
    answered.is_ok() && requested[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Ends our side; returns whether there was one to end. A socket that is gone already needs no shutdown.
pub(super) fn shutdown_write(fd: &OwnedFd) -> bool {
    shutdown(fd, Shutdown::Write).is_ok()
}

/// Sequence numbers that the peer has not acknowledged; `None` where the kernel does not report it.
#[cfg(target_os = "linux")]
pub(super) fn unacknowledged(fd: &OwnedFd) -> Option<usize> {
    crate::send_queue::unacknowledged(fd.as_fd())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn unacknowledged(_: &OwnedFd) -> Option<usize> {
    None
}

/// Datagrams that the kernel dropped because the socket's buffer was full.
#[cfg(target_os = "linux")]
pub(super) fn dropped(fd: &OwnedFd) -> u64 {
    crate::memory_info::dropped(fd.as_fd())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn dropped(_: &OwnedFd) -> u64 {
    0
}
