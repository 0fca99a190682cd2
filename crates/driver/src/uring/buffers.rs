//! The provided buffers of a ring: the kernel picks one for received bytes, and gets it back when it was read.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// The layout of a buffer group.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferShape {
    /// The group ID used by operations.
    pub(super) group: u16,
    /// Bytes per buffer.
    pub(super) bytes: usize,
    /// Maximum number of buffers: a power of two.
    pub(super) count: u16,
    /// Number of buffers offered at first; a quarter more each time they were too few. The kernel uses them in turn, so
    /// that all of them pass through the caches.
    pub(super) first: u16,
    /// Maximum number of offered buffers.
    pub(super) most: u16,
    /// While there are enough, one of them is withdrawn from time to time, until this number is left.
    pub(super) least: u16,
}

impl BufferShape {
    /// Distance between two buffers. At whole pages all buffers would begin in the same sets of the caches, and the
    /// heads of responses would evict each other.
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

/// Waits with enough buffers before one is withdrawn: a receive that finds none costs as much as some that miss the
/// caches.
const CALM_WAITS: u32 = 16;
/// The ring must start at a page boundary.
const PAGE_BYTES: usize = 4_096;

/// The buffers and the ring in which they are offered.
pub(super) struct Buffers {
    ring: *mut BufRingEntry,
    memory: *mut u8,
    tail: u16,
    /// Buffers below this index were offered at least once.
    touched: u16,
    /// Of these, the ones that are withdrawn.
    resting: Vec<u16>,
    /// Waits since there were too few, or since the last was withdrawn.
    calm: u32,
    /// Whether there were too few in this wait.
    was_short: bool,
    /// Whether the next returned buffer is withdrawn.
    rests_next: bool,
    shape: BufferShape,
    /// Whether operations may still write here after the ring is gone.
    is_left: bool,
}

impl Buffers {
    /// Registers buffers with a ring, and offers the first of them.
    pub(super) fn register(ring: &IoUring, shape: BufferShape) -> Result<Self, std::io::Error> {
        // Buffers that are never offered are never touched, and cost nothing.
        // SAFETY: both layouts have a size above zero, and of a buffer only bytes written by the kernel are ever read.
        let (entries, memory) = unsafe { (alloc_zeroed(shape.ring_layout()), alloc(shape.memory_layout())) };
        if entries.is_null() || memory.is_null() {
            handle_alloc_error(shape.memory_layout());
        }
        let mut buffers = Self {
            ring: entries.cast(),
            memory,
            tail: 0,
            touched: 0,
            resting: Vec::with_capacity(usize::from(shape.count)),
            calm: 0,
            was_short: false,
            rests_next: false,
            shape,
            is_left: false,
        };
        // SAFETY: the memory has the size of `count` entries, is aligned to a page, and lives as long as `Buffers`,
        // which the owner drops after the ring.
        unsafe { ring.submitter().register_buf_ring_with_flags(entries as u64, shape.count, shape.group, 0)? };
        buffers.offer_more(shape.first);
        Ok(buffers)
    }

    /// Bytes per buffer.
    pub(super) fn bytes(&self) -> usize {
        self.shape.bytes
    }

    /// Leaks the memory, because the kernel did not end all operations that write here.
    pub(super) fn leave(&mut self) {
        self.is_left = true;
    }

    /// Too few were offered, in this wait for the first time: a quarter more is offered from now on.
    pub(super) fn grow(&mut self) {
        if !std::mem::replace(&mut self.was_short, true) {
            self.rests_next = false;
            self.offer_more((self.turning() / 4).max(1));
        }
    }

    /// Number of buffers in use.
    fn turning(&self) -> u16 {
        self.touched - self.resting.len() as u16
    }

    fn offer_more(&mut self, count: u16) {
        for _ in 0..count.min(self.shape.most - self.turning()) {
            let id = self.resting.pop().unwrap_or_else(|| {
                self.touched += 1;
                self.touched - 1
            });
            self.offer(id);
        }
    }

    /// Called at the beginning of a wait.
    #[inline]
    pub(super) fn begin_wait(&mut self) {
        self.calm = if std::mem::take(&mut self.was_short) { 0 } else { self.calm + 1 };
        if self.calm >= CALM_WAITS {
            self.calm = 0;
            self.rests_next = self.turning() > self.shape.least;
        }
    }

    /// Returns a buffer that was read.
    #[inline]
    pub(super) fn give_back(&mut self, id: u16) {
        if std::mem::take(&mut self.rests_next) {
            self.resting.push(id);
        } else {
            self.offer(id);
        }
    }

    /// The bytes that the kernel wrote into a buffer that it picked.
    ///
    /// # Safety
    /// The kernel reported that `id` contains `count` bytes, and `id` was not returned since.
    pub(super) unsafe fn lent<'a>(&self, id: u16, count: usize) -> &'a mut [u8] {
        debug_assert!(id < self.shape.count && count <= self.shape.bytes);
        // SAFETY: the range lies in our memory; the kernel does not touch it until it is offered again, and the caller
        // has the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.memory.add(usize::from(id) * self.shape.stride()), count) }
    }

    /// Offers a buffer to the kernel.
    fn offer(&mut self, id: u16) {
        let place = usize::from(self.tail & (self.shape.count - 1));
        // SAFETY: `place` is below `count`; the kernel reads an entry only below the tail, which is published after it.
        unsafe {
            let entry = &mut *self.ring.add(place);
            entry.set_addr(self.memory.add(usize::from(id) * self.shape.stride()) as u64);
            entry.set_len(self.shape.bytes as u32);
            entry.set_bid(id);
        }
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the tail is a u16 in the first entry, which lives as long as `self`; the kernel reads it
        // concurrently, so it is written as an atomic.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.ring).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if self.is_left {
            return;
        }
        // SAFETY: both were allocated with these layouts, and `Ring::end` has seen the end of every operation that
        // could write here.
        unsafe {
            dealloc(self.ring.cast(), self.shape.ring_layout());
            dealloc(self.memory, self.shape.memory_layout());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: BufferShape = BufferShape { group: 0, bytes: 64, count: 64, first: 4, most: 40, least: 2 };

    /// The ring is second in the pair, so that it is dropped first: then it no longer writes into the buffers.
    fn registered(shape: BufferShape) -> (Buffers, IoUring) {
        let ring = IoUring::new(8).expect("a ring");
        let buffers = Buffers::register(&ring, shape).expect("room for it");
        (buffers, ring)
    }

    /// `count` waits, in each of which a buffer is returned.
    fn waits(buffers: &mut Buffers, count: u32, is_short: bool) {
        for _ in 0..count {
            buffers.begin_wait();
            if is_short {
                buffers.grow();
            }
            let id = buffers.touched - 1 - u16::from(buffers.resting.contains(&(buffers.touched - 1)));
            buffers.give_back(id);
        }
    }

    #[test]
    fn while_they_are_enough_few_are_left() {
        let (mut buffers, _ring) = registered(SHAPE);
        assert_eq!(buffers.turning(), 4);
        waits(&mut buffers, CALM_WAITS - 1, false);
        assert_eq!(buffers.turning(), 4, "not yet");
        waits(&mut buffers, 1, false);
        assert_eq!(buffers.turning(), 3);
        waits(&mut buffers, 100 * CALM_WAITS, false);
        assert_eq!(buffers.turning(), SHAPE.least);
    }

    #[test]
    fn when_they_are_too_few_they_are_more_once_in_a_wait_up_to_the_most() {
        let (mut buffers, _ring) = registered(SHAPE);
        buffers.begin_wait();
        (0..9).for_each(|_| buffers.grow());
        assert_eq!(buffers.turning(), 5, "many sockets that found none are one shortage");
        waits(&mut buffers, 1_000, true);
        assert_eq!(buffers.turning(), SHAPE.most);
        assert!(buffers.touched <= SHAPE.most, "no more memory is touched than was needed at once");
    }

    #[test]
    fn those_that_rest_come_first() {
        let (mut buffers, _ring) = registered(SHAPE);
        waits(&mut buffers, 100 * CALM_WAITS, false);
        waits(&mut buffers, 2, true);
        assert_eq!((buffers.turning(), buffers.touched), (4, 4));
    }

    #[test]
    fn a_shortage_puts_rest_off() {
        let (mut buffers, _ring) = registered(SHAPE);
        for _ in 0..50 {
            waits(&mut buffers, CALM_WAITS - 2, false);
            waits(&mut buffers, 1, true);
        }
        assert_eq!(buffers.turning(), SHAPE.most);
    }

    #[test]
    fn where_the_least_is_the_most_none_rests() {
        let (mut buffers, _ring) = registered(BufferShape { least: SHAPE.most, ..SHAPE });
        waits(&mut buffers, 100 * CALM_WAITS, false);
        assert_eq!((buffers.turning(), buffers.resting.len()), (4, 0));
    }
}
