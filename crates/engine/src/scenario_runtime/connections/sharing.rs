//! Connections that the users of a closed load share: a given number per origin.
//!
//! Where a connection carries one exchange at a time, an exchange takes an idle one, opens one if there may be more,
//! or waits for the next free one. It waits without an attempt. Waiting exchanges are served once a turn, first come,
//! first served. With streams, each user has its link (`layers.rs`), and waits there for a stream. The
//! wait begins when the exchange was intended, so it is part of its response time. Conversations have their own
//! connections.

use std::collections::VecDeque;

use driver::{Socket, Sockets};
use plan::Protocol;

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::origins::Origin;
use crate::slab::Key;

/// Shared connections.
pub(in crate::scenario_runtime) struct Sharing {
    /// Connections to each origin.
    most: u64,
    /// Pools, origin by origin; none where each user has its own.
    benches: Vec<Option<OriginPool>>,
    /// The exchange whose turn it is: it does not go behind those that wait.
    served: Option<Key>,
}

/// The connections to one origin.
#[derive(Default)]
struct OriginPool {
    /// Idle connections. The one that was busy last goes first.
    idle: Vec<Socket>,
    /// Exchanges that wait for one.
    waiting: VecDeque<Key>,
}

impl Sharing {
    pub(in crate::scenario_runtime) fn new(most: u64, origins: &[Origin]) -> Self {
        let mut sharing = Self { most, benches: Vec::new(), served: None };
        origins.iter().for_each(|origin| sharing.add_origin(origin));
        sharing
    }

    pub(in crate::scenario_runtime) fn add_origin(&mut self, origin: &Origin) {
        self.benches.push((!origin.is_messaging()).then(OriginPool::default));
    }

    /// Most connections to each origin.
    pub(in crate::scenario_runtime) fn most(&self) -> u64 {
        self.most
    }

    fn bench(&mut self, origin: u16) -> Option<&mut OriginPool> {
        self.benches.get_mut(usize::from(origin))?.as_mut()
    }
}

impl ScenarioRuntime {
    /// Whether users share connections to an origin.
    pub(in crate::scenario_runtime) fn is_shared_by_all(&self, origin: u16) -> bool {
        let sharing = self.pool.sharing.as_ref();
        sharing.is_some_and(|sharing| sharing.benches.get(usize::from(origin)).is_some_and(Option::is_some))
    }

    /// Takes an idle shared connection. The outer `None`: there are none to this origin.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn take_idle(&mut self, origin: u16) -> Option<Option<Socket>> {
        let sharing = self.pool.sharing.as_mut()?;
        sharing.bench(origin).map(|bench| bench.idle.pop())
    }

    /// Returns a connection as idle. False when it is not shared.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn keep_idle(&mut self, origin: u16, socket: Socket) -> bool {
        let bench = self.pool.sharing.as_mut().and_then(|sharing| sharing.bench(origin));
        bench.map(|bench| bench.idle.push(socket)).is_some()
    }

    /// An idle connection is unusable. False when it is not shared.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn forget_shared(&mut self, origin: u16, socket: Socket) -> bool {
        let bench = self.pool.sharing.as_mut().and_then(|sharing| sharing.bench(origin));
        bench.map(|bench| bench.idle.retain(|one| *one != socket)).is_some()
    }

    /// Whether an exchange gets a connection now; else it waits for one.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn gets_connection(&mut self, key: Key) -> bool {
        let Some(exchange) = self.in_flight.exchanges.find(key) else { return true };
        let (user, is_second_try) = (exchange.user, exchange.tries > 0 || exchange.is_moved);
        let origin = if self.in_flight.is_simple { 0 } else { self.in_flight.steps[exchange.step as usize].origin };
        let has_room = self.has_room(user, origin);
        let Some(sharing) = &mut self.pool.sharing else { return true };
        let is_served = sharing.served.take() == Some(key);
        let Some(bench) = sharing.bench(origin) else { return true };
        if has_room && (is_served || bench.waiting.is_empty()) {
            return true;
        }
        // An exchange that had a connection keeps its turn.
        if is_second_try {
            bench.waiting.push_front(key)
        } else {
            bench.waiting.push_back(key)
        }
        false
    }

    /// Whether there is a connection for a user, or there may be one more.
    fn has_room(&mut self, user: u32, origin: u16) -> bool {
        let Some(sharing) = &mut self.pool.sharing else { return true };
        let most = sharing.most;
        if sharing.bench(origin).is_none_or(|bench| !bench.idle.is_empty()) {
            return true;
        }
        // The link of a user is opened once, and users that come later wait there.
        let opens_places = self.pool.origins[usize::from(origin)].protocol() == Protocol::Http2;
        opens_places
            || self.shared_connection(user, origin).is_some()
            || self.pool.connections.alone(origin) + self.pool.links.count(origin) < most
    }

    /// Measured exchanges that wait for an attempt that will be counted.
    pub(in crate::scenario_runtime) fn untried(&mut self) -> u64 {
        let Some(sharing) = &self.pool.sharing else { return 0 };
        let mut count = 0;
        for key in sharing.benches.iter().flatten().flat_map(|bench| &bench.waiting) {
            let exchange = self.in_flight.exchanges.find(*key);
            count += u64::from(exchange.is_some_and(|exchange| exchange.is_measured && !exchange.is_moved));
        }
        count
    }

    /// Gives free connections to waiting exchanges.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn serve_waiting(&mut self, sockets: &mut dyn Sockets) {
        for origin in 0..self.pool.origins.len() as u16 {
            loop {
                let bench = self.pool.sharing.as_mut().and_then(|sharing| sharing.bench(origin));
                let Some(key) = bench.and_then(|bench| bench.waiting.front().copied()) else { break };
                let user = self.in_flight.exchanges.find(key).map(|exchange| exchange.user);
                if user.is_some_and(|user| !self.has_room(user, origin)) {
                    break;
                }
                let Some(sharing) = &mut self.pool.sharing else { return };
                sharing.served = Some(key);
                if let Some(bench) = sharing.bench(origin) {
                    bench.waiting.pop_front();
                }
                self.try_exchange(key, sockets);
                self.advance_freed(sockets);
            }
        }
    }
}

#[cfg(test)]
impl ScenarioRuntime {
    /// Exchanges that wait for a connection.
    pub(in crate::scenario_runtime) fn awaiting_connections(&self) -> usize {
        let benches = self.pool.sharing.iter().flat_map(|sharing| sharing.benches.iter().flatten());
        benches.map(|bench| bench.waiting.len()).sum()
    }

    pub(in crate::scenario_runtime) fn is_idle_for_all(&self, origin: u16, socket: Socket) -> Option<bool> {
        let bench = self.pool.sharing.as_ref()?.benches.get(usize::from(origin))?.as_ref()?;
        Some(bench.idle.contains(&socket))
    }

    /// The number of connections, if it exceeds what users may share.
    pub(in crate::scenario_runtime) fn too_many_shared(&self) -> Option<u64> {
        let most = self.pool.sharing.as_ref()?.most;
        let of = |origin: u16| self.pool.connections.alone(origin) + self.pool.links.count(origin);
        let is_plain = |origin: &u16| self.pool.origins[usize::from(*origin)].protocol() != Protocol::Http2;
        (0..self.pool.origins.len() as u16)
            .filter(|origin| self.is_shared_by_all(*origin))
            .filter(is_plain)
            .map(of)
            .find(|count| *count > most)
    }
}
