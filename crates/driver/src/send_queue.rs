//! The unacknowledged bytes of a socket in the kernel: a query that no safe library offers.

use std::os::fd::{AsRawFd, BorrowedFd};

/// Sequence numbers of a TCP connection that its peer has not acknowledged (SIOCOUTQ): bytes, and one for our end of
/// the stream.
pub(crate) fn unacknowledged(fd: BorrowedFd<'_>) -> Option<usize> {
    let mut count: libc::c_int = 0;
    // SAFETY: for this request the kernel writes one int, and the pointer is to an int that outlives the call.
    let done = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCOUTQ, std::ptr::from_mut(&mut count)) };
    if done == 0 { usize::try_from(count).ok() } else { None }
}
