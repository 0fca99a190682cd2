//! Faults of a simulated network, and their probabilities.

use pacing::{Nanos, Random};

/// The stream from which the faults of datagrams are drawn.
const DATAGRAMS: u64 = 0x6461_7461;

/// Probabilities in parts per million. [`Faults::none`] is a network without faults; [`Faults::draw`] draws random
/// ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    /// Minimum latency of bytes in transit.
    pub latency_min: Nanos,
    /// Maximum latency, without a fault.
    pub latency_max: Nanos,
    /// Bytes are lost once and arrive 200 ms later.
    pub retransmission: u32,
    /// Maximum delay of a completion.
    pub completion_delay_max: Nanos,
    /// An operation takes effect only after the caller's turn.
    pub late_verb: u32,
    /// A wait ends early, without a reason.
    pub early_wake: u32,
    /// A read returns fewer bytes than there are.
    pub short_read: u32,
    /// The kernel takes fewer bytes than it could.
    pub short_write: u32,
    /// A connection is lost while bytes are in transit: both ends are reset, or one, or neither is notified.
    pub loss: u32,
    /// A connection is refused although there is a listener.
    pub refused: u32,
    /// The first packet of a connection is lost; the kernel retries after a second.
    pub syn_lost: u32,
    /// The kernel has no port or no descriptor for a connection.
    pub open_fails: u32,
    /// A datagram is lost.
    pub datagram_lost: u32,
    /// A datagram arrives twice.
    pub datagram_doubled: u32,
    /// A datagram arrives up to three seconds late.
    pub datagram_late: u32,
    /// Maximum bytes that are sent and not yet read by the peer; beyond it the kernel takes no more.
    pub window_bytes: usize,
    /// Maximum bytes of one read.
    pub read_bytes_max: usize,
    /// Maximum sockets of a host; beyond it there are no descriptors.
    pub sockets_max: usize,
    /// Maximum connections that wait to be accepted; further ones are dropped and retried.
    pub backlog: usize,
}

impl Faults {
    /// Latency only, and queues that are never full.
    pub fn none() -> Self {
        Self {
            latency_min: Nanos(20_000),
            latency_max: Nanos(60_000),
            retransmission: 0,
            completion_delay_max: Nanos::ZERO,
            late_verb: 0,
            early_wake: 0,
            short_read: 0,
            short_write: 0,
            loss: 0,
            refused: 0,
            syn_lost: 0,
            open_fails: 0,
            datagram_lost: 0,
            datagram_doubled: 0,
            datagram_late: 0,
            window_bytes: 256 * 1024,
            read_bytes_max: 16 * 1024,
            sockets_max: usize::MAX,
            backlog: usize::MAX,
        }
    }

    /// Each fault is absent or present, weak or strong: a world with every fault at once reaches few of the states that
    /// a world with one strong fault reaches.
    pub fn draw(random: &mut Random) -> Self {
        let latency_min = Nanos(random.between(1_000, 500_000));
        let mut chance = |most: u64| if random.chance(500_000) { random.between(1, most) as u32 } else { 0 };
        let mut faults = Self {
            latency_min,
            latency_max: latency_min,
            retransmission: chance(20_000),
            late_verb: chance(500_000),
            early_wake: chance(200_000),
            short_read: chance(900_000),
            short_write: chance(900_000),
            loss: chance(30_000),
            refused: chance(100_000),
            syn_lost: chance(100_000),
            open_fails: chance(100_000),
            ..Self::none()
        };
        let mut some = |usual: u64, least: u64, most: u64| {
            if random.chance(500_000) { usual } else { random.between(least, most) }
        };
        faults.latency_max = latency_min + Nanos(some(0, 0, 20_000_000));
        faults.completion_delay_max = Nanos(some(0, 1, 5_000_000));
        faults.window_bytes = some(256 * 1024, 1, 5_000) as usize;
        faults.read_bytes_max = some(16 * 1024, 1, 300) as usize;
        faults.sockets_max = some(u64::MAX, 4, 40) as usize;
        faults.backlog = some(u64::MAX, 1, 8) as usize;
        // From a stream of their own: what is drawn after these stays the same.
        let mut random = Random::for_stream(random.clone().next_u64(), DATAGRAMS);
        let mut chance = |most: u64| if random.chance(500_000) { random.between(1, most) as u32 } else { 0 };
        faults.datagram_lost = chance(300_000);
        faults.datagram_doubled = chance(300_000);
        faults.datagram_late = chance(200_000);
        faults
    }
}
