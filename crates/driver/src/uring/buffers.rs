//! The provided buffers of a ring: the kernel picks one for what it receives, and gets it back when it was read.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// A power of two.
pub(super) const COUNT: u16 = 1_024;
/// Buffers that are offered at first; each time they were too few, as many again. The kernel takes them in turn, and few of them
/// stay in the caches.
pub(super) const FEW: u16 = 128;
/// A small answer with its head fits; a large one comes in several.
const BYTES: usize = 4 * 1_024;
/// From one buffer to the next. At whole pages all buffers would begin in the same sets of the caches, and the heads of
/// answers would drive each other out.
const STRIDE: usize = BYTES + 256;
/// The kernel wants the ring at the start of a page.
const PAGE_BYTES: usize = 4_096;

/// The buffers and the ring in which they are offered.
pub(super) struct Buffers {
    ring: *mut BufRingEntry,
    memory: *mut u8,
    tail: u16,
    /// Buffers below this were offered at least once.
    in_use: u16,
    /// No more than these are offered.
    most: u16,
    /// Operations may still write here after the ring is gone.
    is_left: bool,
}

impl Buffers {
    fn ring_layout() -> Layout {
        Layout::from_size_align(usize::from(COUNT) * size_of::<BufRingEntry>(), PAGE_BYTES).expect("a valid layout")
    }

    fn memory_layout() -> Layout {
        Layout::from_size_align(usize::from(COUNT) * STRIDE, PAGE_BYTES).expect("a valid layout")
    }

    /// Registers buffers as group `group` of a ring, and offers the `first`, and up to `most` when they are too few.
    pub(super) fn register(ring: &IoUring, group: u16, first: u16, most: u16) -> Result<Self, std::io::Error> {
        // Buffers that are never offered are never touched, and cost nothing.
        // SAFETY: both layouts have a size above zero, and of a buffer only what the kernel wrote is ever read.
        let (entries, memory) = unsafe { (alloc_zeroed(Self::ring_layout()), alloc(Self::memory_layout())) };
        if entries.is_null() || memory.is_null() {
            handle_alloc_error(Self::memory_layout());
        }
        let mut buffers = Self { ring: entries.cast(), memory, tail: 0, in_use: 0, most, is_left: false };
        // SAFETY: the memory has the size of `COUNT` entries, is aligned to a page, and lives as long as `Buffers`,
        // which the owner drops after the ring.
        unsafe { ring.submitter().register_buf_ring_with_flags(entries as u64, COUNT, group, 0)? };
        buffers.offer_up_to(first);
        Ok(buffers)
    }

    /// The memory stays for ever, because the kernel did not end what writes here.
    pub(super) fn leave(&mut self) {
        self.is_left = true;
    }

    /// Too few were offered: the number doubles, up to all.
    pub(super) fn grow(&mut self) {
        self.offer_up_to((self.in_use * 2).min(self.most));
    }

    fn offer_up_to(&mut self, more: u16) {
        for id in self.in_use..more {
            self.offer(id);
        }
        self.in_use = more;
    }

    /// What the kernel wrote into a buffer that it picked.
    ///
    /// # Safety
    /// The kernel said that `id` holds `count` bytes, and `id` was not given back since.
    pub(super) unsafe fn lent<'a>(&self, id: u16, count: usize) -> &'a mut [u8] {
        debug_assert!(id < COUNT && count <= BYTES);
        // SAFETY: the range lies in our memory; the kernel does not touch it until it is offered again, and the caller
        // has the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.memory.add(usize::from(id) * STRIDE), count) }
    }

    /// Gives a buffer to the kernel.
    pub(super) fn offer(&mut self, id: u16) {
        let place = usize::from(self.tail & (COUNT - 1));
        // SAFETY: `place` is below `COUNT`; the kernel reads an entry only below the tail, which is published after it.
        unsafe {
            let entry = &mut *self.ring.add(place);
            entry.set_addr(self.memory.add(usize::from(id) * STRIDE) as u64);
            entry.set_len(BYTES as u32);
            entry.set_bid(id);
        }
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the tail is a u16 in the first entry, which lives as long as `self`; the kernel reads it concurrently,
        // so it is written as an atomic.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.ring).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if self.is_left {
            return;
        }
        // SAFETY: both were made with these layouts, and `Ring::end` has seen the end of every operation that could write here.
        unsafe {
            dealloc(self.ring.cast(), Self::ring_layout());
            dealloc(self.memory, Self::memory_layout());
        }
    }
}
