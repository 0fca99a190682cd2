//! The provided buffers of a ring: the kernel picks one for what it receives, and gets it back when it was read.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// The buffers of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The number by which operations name the group.
    pub(super) group: u16,
    /// Bytes of a buffer.
    pub(super) bytes: usize,
    /// How many there may be: a power of two.
    pub(super) count: u16,
    /// How many are offered at first; each time they were too few, as many again. The kernel takes them in turn, and few of them stay
    /// in the caches.
    pub(super) first: u16,
    /// No more than these are offered.
    pub(super) most: u16,
}

impl Shape {
    /// From one buffer to the next. At whole pages all buffers would begin in the same sets of the caches, and the heads of
    /// answers would drive each other out.
    const fn stride(self) -> usize {
        self.bytes + 256
    }

    fn ring_layout(self) -> Layout {
        let bytes = usize::from(self.count) * size_of::<BufRingEntry>();
        Layout::from_size_align(bytes, PAGE_BYTES).expect("a valid layout")
    }

    fn memory_layout(self) -> Layout {
        Layout::from_size_align(usize::from(self.count) * self.stride(), PAGE_BYTES).expect("a valid layout")
    }
}

/// The kernel wants the ring at the start of a page.
const PAGE_BYTES: usize = 4_096;

/// The buffers and the ring in which they are offered.
pub(super) struct Buffers {
    ring: *mut BufRingEntry,
    memory: *mut u8,
    tail: u16,
    /// Buffers below this were offered at least once.
    in_use: u16,
    shape: Shape,
    /// Operations may still write here after the ring is gone.
    is_left: bool,
}

impl Buffers {
    /// Registers buffers with a ring, and offers the first of them.
    pub(super) fn register(ring: &IoUring, shape: Shape) -> Result<Self, std::io::Error> {
        // Buffers that are never offered are never touched, and cost nothing.
        // SAFETY: both layouts have a size above zero, and of a buffer only what the kernel wrote is ever read.
        let (entries, memory) = unsafe { (alloc_zeroed(shape.ring_layout()), alloc(shape.memory_layout())) };
        if entries.is_null() || memory.is_null() {
            handle_alloc_error(shape.memory_layout());
        }
        let mut buffers = Self { ring: entries.cast(), memory, tail: 0, in_use: 0, shape, is_left: false };
        // SAFETY: the memory has the size of `count` entries, is aligned to a page, and lives as long as `Buffers`,
        // which the owner drops after the ring.
        unsafe { ring.submitter().register_buf_ring_with_flags(entries as u64, shape.count, shape.group, 0)? };
        buffers.offer_up_to(shape.first);
        Ok(buffers)
    }

    /// Bytes that one of them holds.
    pub(super) fn bytes(&self) -> usize {
        self.shape.bytes
    }

    /// The memory stays for ever, because the kernel did not end what writes here.
    pub(super) fn leave(&mut self) {
        self.is_left = true;
    }

    /// Too few were offered: the number doubles, up to all.
    pub(super) fn grow(&mut self) {
        self.offer_up_to((self.in_use * 2).min(self.shape.most));
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
        debug_assert!(id < self.shape.count && count <= self.shape.bytes);
        // SAFETY: the range lies in our memory; the kernel does not touch it until it is offered again, and the caller
        // has the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.memory.add(usize::from(id) * self.shape.stride()), count) }
    }

    /// Gives a buffer to the kernel.
    pub(super) fn offer(&mut self, id: u16) {
        let place = usize::from(self.tail & (self.shape.count - 1));
        // SAFETY: `place` is below `count`; the kernel reads an entry only below the tail, which is published after it.
        unsafe {
            let entry = &mut *self.ring.add(place);
            entry.set_addr(self.memory.add(usize::from(id) * self.shape.stride()) as u64);
            entry.set_len(self.shape.bytes as u32);
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
            dealloc(self.ring.cast(), self.shape.ring_layout());
            dealloc(self.memory, self.shape.memory_layout());
        }
    }
}
