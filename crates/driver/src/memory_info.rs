//! The datagrams that a socket's kernel has dropped: a query that no safe library offers.

use std::os::fd::{AsRawFd, BorrowedFd};

/// The fields of SO_MEMINFO.
pub(crate) type MemoryInfo = [u32; FIELDS];

/// Number of fields.
const FIELDS: usize = 9;
/// The position of the drops (SK_MEMINFO_DROPS).
pub(crate) const DROPS: usize = 8;

/// Datagrams that were dropped because the socket's buffer was full (SO_MEMINFO); 0 where the kernel does not report it.
pub(crate) fn dropped(fd: BorrowedFd<'_>) -> u64 {
    let mut info = MemoryInfo::default();
    let mut length = size_of::<MemoryInfo>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, and both pointers are to values that outlive the call.
    let done = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            std::ptr::from_mut(&mut info).cast(),
            std::ptr::from_mut(&mut length),
        )
    };
    let is_whole = done == 0 && length as usize == size_of::<MemoryInfo>();
    if is_whole { info[DROPS].into() } else { 0 }
}
