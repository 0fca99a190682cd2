//! Returns large memory to the system when it is freed.

/// Smaller allocations come from the shared heap. This is glibc's initial threshold.
const LARGE_BYTES: libc::c_int = 128 * 1024;

/// Gives large allocations a memory mapping of their own for as long as they are used.
///
/// By default glibc does so only until a large allocation was freed: from then on it serves that size from the heap, up
/// to 32 MiB. A run allocates some hundred kilobytes for each interval, and retains a little of it; between the
/// retained pieces, the freed gaps are never large enough for the next interval. So a process grew by some hundred
/// kilobytes with each interval: a gigabyte in an hour.
pub fn give_large_memory_back() {
    // SAFETY: it takes two numbers, and changes a setting of the allocator under the allocator's own lock.
    let is_done = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES) };
    debug_assert_eq!(is_done, 1, "glibc knows this setting");
}
