//! Binding a socket to a local address without a port: a call that no safe library offers.

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

/// The port is chosen when the socket connects, so that one port serves many peers (IP_BIND_ADDRESS_NO_PORT).
pub(crate) fn choose_port_late(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    let on: libc::c_int = 1;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the pointer is to a number that outlives the call, and the length is its own.
    let done = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            std::ptr::from_ref(&on).cast(),
            length,
        )
    };
    if done == 0 {
        return Ok(());
    }
    let errno = std::io::Error::last_os_error().raw_os_error().map_or(Errno::INVAL, Errno::from_raw_os_error);
    Err(errno)
}
