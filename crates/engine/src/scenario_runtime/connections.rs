//! The connections of a shard, indexed by their sockets.

pub(super) mod addresses;
pub(super) mod graceful_close;
pub(super) mod layers;
pub(super) mod lifetimes;
pub(super) mod lookups;
pub(super) mod opening;
pub(super) mod origins;
pub(super) mod phase;
pub(super) mod reachability;
pub(super) mod sharing;
use driver::Socket;
use pacing::Nanos;

use crate::scenario_runtime::connections::layers::Layers;
use crate::scenario_runtime::connections::phase::Phase;

/// How long a connection waits for its peer to close first. The side that closes first keeps the port in TIME_WAIT for
/// a minute, and 28,000 ports are soon used up.
pub(crate) const CLOSING_WAIT: Nanos = Nanos::from_millis(500);
/// Connections of a shard that wait for that; beyond it they are closed at once.
pub(crate) const CLOSING_MAX: usize = 1_024;

/// The number that stands for all endpoints from it on: a connection has one byte for it.
const LAST_ENDPOINT: u8 = u8::MAX;

pub(crate) struct Connection {
    generation: u32,
    /// Its origin, and the number of its endpoint there.
    pub(crate) origin: u16,
    endpoint: u8,
    pub(crate) phase: Phase,
    /// It has carried a response, so the peer may close it at any time.
    pub(crate) is_reused: bool,
    /// Layers: TLS, and the streams of HTTP/2.
    pub(crate) layers: Option<Box<Layers>>,
}

impl Connection {
    /// Its origin and the number of its endpoint there, if that has one of its own.
    pub(crate) fn place(&self) -> (u16, Option<u16>) {
        (self.origin, (self.endpoint < LAST_ENDPOINT).then_some(self.endpoint.into()))
    }

    /// Sets the number of its endpoint.
    pub(crate) fn goes_to(&mut self, endpoint: u16) {
        self.endpoint = endpoint.min(LAST_ENDPOINT.into()) as u8;
    }

    /// The peer has ended the TLS session.
    pub(crate) fn peer_closed_tls(&self) -> bool {
        self.layers.as_ref().is_some_and(|layers| layers.peer_closed_tls())
    }
}

/// Connections indexed by [`Socket::index`]: the driver's indices are small.
#[derive(Default)]
pub(crate) struct Connections {
    entries: Vec<Option<Connection>>,
    pub(crate) closing: usize,
    /// Connections that have carried a response.
    pub(crate) proven: u64,
    /// For each origin the connections that carry one exchange at a time, or do not know yet; empty where none are
    /// shared.
    alone: Vec<u64>,
}

impl Connections {
    pub(crate) fn with_room_for(count: usize) -> Self {
        Self { entries: Vec::with_capacity(count), closing: 0, proven: 0, alone: Vec::new() }
    }

    pub(crate) fn insert(&mut self, socket: Socket, phase: Phase, origin: u16) {
        let index = socket.index as usize;
        if index >= self.entries.len() {
            self.entries.resize_with(index + 1, || None);
        }
        if let Some(alone) = self.alone.get_mut(usize::from(origin)) {
            *alone += u64::from(phase.is_alone());
        }
        self.entries[index] = Some(Connection {
            generation: socket.generation,
            origin,
            endpoint: 0,
            phase,
            is_reused: false,
            layers: None,
        });
    }

    #[inline]
    pub(crate) fn find(&mut self, socket: Socket) -> Option<&mut Connection> {
        self.entries.get_mut(socket.index as usize)?.as_mut().filter(|entry| entry.generation == socket.generation)
    }

    pub(crate) fn remove(&mut self, socket: Socket) -> Option<Connection> {
        self.find(socket)?;
        let connection = self.entries[socket.index as usize].take()?;
        self.closing -= usize::from(connection.phase == Phase::Close);
        if let Some(alone) = self.alone.get_mut(usize::from(connection.origin)) {
            *alone -= u64::from(connection.phase.is_alone());
        }
        self.proven -= u64::from(connection.is_reused);
        Some(connection)
    }

    /// Changes the phase of a connection that carried one exchange at a time.
    pub(crate) fn turn_into(&mut self, socket: Socket, phase: Phase) {
        let Some(connection) = self.find(socket) else { return };
        let (was, origin) = (std::mem::replace(&mut connection.phase, phase), usize::from(connection.origin));
        if let Some(alone) = self.alone.get_mut(origin) {
            *alone = *alone - u64::from(was.is_alone()) + u64::from(phase.is_alone());
        }
    }

    /// Begins to count them for `origins` origins, where connections are shared.
    pub(crate) fn count_alone(&mut self, origins: usize) {
        self.alone.resize(origins, 0);
    }

    /// Connections to an origin that carry one exchange at a time, or do not know yet.
    pub(crate) fn alone(&self, origin: u16) -> u64 {
        self.alone.get(usize::from(origin)).copied().unwrap_or(0)
    }

    pub(crate) fn drain_closing(&mut self, mut close: impl FnMut(Socket)) {
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if let Some(connection) = entry.take_if(|connection| connection.phase == Phase::Close) {
                self.proven -= u64::from(connection.is_reused);
                close(Socket { index: index as u32, generation: connection.generation });
            }
        }
        self.closing = 0;
    }

    /// All connections, with their sockets.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Socket, &Connection)> {
        self.entries.iter().enumerate().filter_map(|(index, entry)| {
            let connection = entry.as_ref()?;
            Some((Socket { index: index as u32, generation: connection.generation }, connection))
        })
    }

    /// All connections, with their phases.
    pub(crate) fn phases(&self) -> Vec<(Socket, Phase)> {
        self.all().map(|(socket, connection)| (socket, connection.phase)).collect()
    }
}

#[cfg(test)]
impl Connections {
    pub(crate) fn proven_now(&self) -> u64 {
        self.entries.iter().flatten().filter(|connection| connection.is_reused).count() as u64
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Socket, Phase, u16)> + '_ {
        self.all().map(|(socket, connection)| (socket, connection.phase, connection.origin))
    }
}
