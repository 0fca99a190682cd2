//! Memory that is large goes back to the system when it is freed.

/// What is no larger comes from the heap that all share. It is what glibc begins with.
const LARGE_BYTES: libc::c_int = 128 * 1024;

/// Gives what is large memory of its own for as long as it is used.
///
/// By itself glibc does so only until something large was freed: from then on it takes what is as large from the heap, up to 32 MiB.
/// A run makes some hundred kilobytes anew for each interval, and keeps a little of it; between the little that stays, what was freed
/// is never large enough for the next. So a process grew by some hundred kilobytes with each interval: a gigabyte in an hour.
pub fn give_large_memory_back() {
    // SAFETY: it takes two numbers, and changes a setting of the allocator behind the allocator's own lock.
    let is_done = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES) };
    debug_assert_eq!(is_done, 1, "glibc knows this setting");
}
