//! The open streams of a connection.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::CANCELLED_MAX;

/// The state of one stream.
#[derive(Debug)]
pub(super) struct Stream {
    /// The owner's identifier of the exchange.
    pub(super) tag: u64,
    /// Bytes that the peer accepts.
    pub(super) send_window: i64,
    /// Bytes that we still accept.
    pub(super) receive_window: i64,
    /// Whether a final head has arrived.
    pub(super) has_head: bool,
    pub(super) interim_count: u32,
    /// Whether the response has no content, whatever its head says.
    pub(super) is_bodiless: bool,
    /// Bytes of the Content-Length that are still to come.
    pub(super) length_left: Option<u64>,
    /// Whether our side has ended.
    pub(super) is_sent: bool,
    /// Whether the peer's side has ended.
    pub(super) is_received: bool,
    /// What we would send if the windows let us, and whether it is the last.
    pub(super) unsent: VecDeque<(Arc<Vec<u8>>, usize)>,
    pub(super) ends_with_unsent: bool,
}

/// A hasher by multiplication, which is enough for stream numbers.
#[derive(Debug, Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("numbers only");
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[derive(Debug, Default)]
pub(super) struct Streams {
    live: HashMap<u32, Stream, BuildHasherDefault<NumberHasher>>,
    /// Streams that we cancelled, whose last frames may still be on their way.
    cancelled: VecDeque<u32>,
    /// Whether more were cancelled than we remember: frames of closed streams are then ignored.
    has_forgotten: bool,
}

impl Streams {
    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    pub(super) fn insert(&mut self, number: u32, stream: Stream) {
        self.live.insert(number, stream);
    }

    #[inline]
    pub(super) fn find(&mut self, number: u32) -> Option<&mut Stream> {
        self.live.get_mut(&number)
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<Stream> {
        self.live.remove(&number)
    }

    /// Cancels a stream: it is over for us; the peer may not know yet.
    pub(super) fn cancel(&mut self, number: u32) -> Option<Stream> {
        let stream = self.live.remove(&number)?;
        if self.cancelled.len() >= CANCELLED_MAX {
            self.cancelled.pop_front();
            self.has_forgotten = true;
        }
        self.cancelled.push_back(number);
        Some(stream)
    }

    pub(super) fn was_cancelled(&self, number: u32) -> bool {
        self.has_forgotten || self.cancelled.contains(&number)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut Stream)> {
        self.live.iter_mut().map(|(number, stream)| (*number, stream))
    }

    /// The numbers of the streams above another, in order.
    pub(super) fn above(&self, last: u32) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.live.keys().copied().filter(|number| *number > last).collect();
        numbers.sort_unstable();
        numbers
    }
}
