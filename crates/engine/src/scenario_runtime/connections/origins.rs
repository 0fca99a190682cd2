//! Where exchanges go: the connection settings of each target, and the connections of users to them.
//!
//! A step goes to an *origin*: a target with its way of connecting. A user keeps one connection to each, and as many
//! more as it has exchanges at a time. Most loads have one origin, and a user one connection. A redirect may lead to
//! an origin that was not known before the run; its host is looked up on a separate thread while the loop continues.

use driver::{Socket, Sockets};
use pacing::Nanos;
use plan::{Protocol, ProxyMode, Target, TargetPolicy};
use std::collections::HashMap;
use std::sync::Arc;
use wire::tls::ClientConfig;

use crate::endpoints::EndpointRotation;
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::layers::Passage;

/// Most origins of a shard with those that redirects add; a further one is a failure.
pub(in crate::scenario_runtime) const ORIGINS_MAX: usize = 256;

/// An origin: a target, and how its connections are made.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) target: Arc<Target>,
    pub(crate) turns: EndpointRotation,
    /// TLS client configuration, where connections are secured.
    pub(crate) tls: Option<ClientConfig>,
    /// Connect timeout: the longest that a step to it allows.
    pub(in crate::scenario_runtime) connect_timeout: Nanos,
    /// No consent was required to load it, since the load is small: it stays small when requests are refused.
    pub(in crate::scenario_runtime) lacks_consent: bool,
    /// What its connections begin with.
    pub(in crate::scenario_runtime) passage: Option<Arc<Passage>>,
    /// The number of its connections that have begun with that.
    pub(in crate::scenario_runtime) passages: u64,
    /// The step whose conversation a connection begins with.
    pub(in crate::scenario_runtime) opens_with: Option<u32>,
}

impl Origin {
    pub(crate) fn new(
        target: Arc<Target>,
        turns: EndpointRotation,
        tls: Option<ClientConfig>,
        proxy_tls: Option<ClientConfig>,
        connect_timeout: Nanos,
    ) -> Self {
        let is_far = turns.are_far() || target.proxy.is_some() && !is_near_host(&target.host);
        let lacks_consent = target.target_policy == TargetPolicy::Anywhere && is_far;
        let passage = Passage::of(&target, proxy_tls.as_ref());
        // Whole requests are for the proxy.
        let tls = if target.proxy_mode() == Some(ProxyMode::Absolute) { proxy_tls } else { tls };
        Self { target, turns, tls, connect_timeout, lacks_consent, passage, passages: 0, opens_with: None }
    }

    /// Sets the step that opens conversations with it: the first one that goes to it.
    pub(crate) fn opened_with(self, step: Option<u32>) -> Self {
        Self { opens_with: step, ..self }
    }

    /// Its protocol.
    #[inline]
    pub(crate) fn protocol(&self) -> Protocol {
        self.target.protocol
    }

    /// Its connections have layers: TLS, or streams.
    #[inline]
    pub(crate) fn is_layered(&self) -> bool {
        let is_sealed = |passage: &Arc<Passage>| passage.is_sealed();
        self.tls.is_some() || self.target.protocol != Protocol::Http1 || self.passage.as_ref().is_some_and(is_sealed)
    }

    /// Its connections have layers, at least until they reach the target.
    #[inline]
    pub(crate) fn begins_layered(&self) -> bool {
        self.is_layered() || self.passage.is_some()
    }

    /// TLS with a proxy is around all that the target gets.
    pub(in crate::scenario_runtime) fn has_outer_tls(&self) -> bool {
        self.passage.as_ref().is_some_and(|passage| passage.is_sealed())
    }

    /// Its messages are datagrams.
    pub(crate) fn is_datagram(&self) -> bool {
        self.target.is_datagram()
    }

    /// Messages of WebSocket, TCP or a custom protocol are exchanged with it.
    pub(crate) fn is_messaging(&self) -> bool {
        matches!(self.target.protocol, Protocol::WebSocket | Protocol::Tcp | Protocol::Custom)
    }

    /// Users share its connections.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.target.protocol, Protocol::Http2 | Protocol::Negotiated)
    }
}

/// Connections of users beyond one to the first origin.
#[derive(Default)]
pub(in crate::scenario_runtime) struct ExtraConnections {
    first: HashMap<(u32, u16), Socket>,
    /// Further connections of users with several exchanges at a time.
    further: HashMap<(u32, u16), Vec<Socket>>,
}

impl ExtraConnections {
    #[cold]
    #[inline(never)]
    fn take(&mut self, user: u32, origin: u16) -> Option<Socket> {
        self.take_further(user, origin).or_else(|| self.first.remove(&(user, origin)))
    }

    #[inline]
    fn take_further(&mut self, user: u32, origin: u16) -> Option<Socket> {
        if self.further.is_empty() {
            return None;
        }
        self.further.get_mut(&(user, origin)).and_then(Vec::pop)
    }

    fn has(&self, user: u32, origin: u16) -> bool {
        let place = (user, origin);
        self.first.contains_key(&place) || self.further.get(&place).is_some_and(|further| !further.is_empty())
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, user: u32, origin: u16, socket: Socket) {
        if let Some(first) = self.first.insert((user, origin), socket) {
            self.keep_further(user, origin, first);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_further(&mut self, user: u32, origin: u16, socket: Socket) {
        self.further.entry((user, origin)).or_default().push(socket);
    }

    #[cold]
    #[inline(never)]
    fn forget(&mut self, user: u32, origin: u16, socket: Socket) {
        if self.first.get(&(user, origin)) == Some(&socket) {
            self.first.remove(&(user, origin));
        } else if let Some(further) = self.further.get_mut(&(user, origin)) {
            further.retain(|one| *one != socket);
        }
    }
}

/// Whether a host is near for certain: names are looked up by a proxy.
fn is_near_host(host: &str) -> bool {
    host.parse().map_or_else(|_| !plan::is_name_of_others(host), plan::is_near)
}

/// Whether two targets are reached in the same way.
pub(in crate::scenario_runtime) fn is_same_place(one: &Target, other: &Target) -> bool {
    one.host == other.host
        && one.port == other.port
        && one.tls.is_some() == other.tls.is_some()
        && one.dial == other.dial
        && one.unix == other.unix
        && one.places == other.places
        && one.custom == other.custom
        && one.is_by_same_proxy(other)
}

impl ScenarioRuntime {
    /// Takes the idle connection of a user to an origin.
    #[inline]
    pub(in crate::scenario_runtime) fn take_own(&mut self, user: u32, origin: u16) -> Option<Socket> {
        // Users that share connections have none here.
        if origin == 0
            && let Some(own) = self.users.all[user as usize].connection.take()
        {
            return Some(own);
        }
        self.take_other(user, origin)
    }

    #[cold]
    #[inline(never)]
    fn take_other(&mut self, user: u32, origin: u16) -> Option<Socket> {
        if self.pool.sharing.is_some()
            && let Some(idle) = self.take_idle(origin)
        {
            return idle;
        }
        match origin {
            0 => self.pool.extra_connections.take_further(user, origin),
            _ => self.pool.extra_connections.take(user, origin),
        }
    }

    /// Whether a user may have an idle connection of its own to an origin.
    pub(in crate::scenario_runtime) fn has_idle(&self, user: u32, origin: u16) -> bool {
        if self.is_shared_by_all(origin) {
            return false;
        }
        let has_own = origin == 0 && self.users.all[user as usize].connection.is_some();
        has_own || self.pool.extra_connections.has(user, origin)
    }

    /// Whether a user has an idle connection of its own to an origin.
    pub(in crate::scenario_runtime) fn has_own(&self, user: u32, origin: u16) -> bool {
        match origin {
            0 => self.users.all[user as usize].connection.is_some(),
            _ => self.pool.extra_connections.first.contains_key(&(user, origin)),
        }
    }

    /// Whether URL or headers of a conversation with an origin are dynamic for each connection.
    pub(in crate::scenario_runtime) fn opens_anew(&self, origin: u16) -> bool {
        let step = self.pool.origins[usize::from(origin)].opens_with;
        let dynamic_parts = step.and_then(|step| self.work.steps[step as usize].dynamic_parts.as_ref());
        dynamic_parts
            .is_some_and(|(dynamic_parts, _)| dynamic_parts.path.is_some() || !dynamic_parts.headers.is_empty())
    }

    /// A connection of a user is idle.
    #[inline]
    pub(in crate::scenario_runtime) fn keep_own(&mut self, user: u32, origin: u16, socket: Socket) {
        if self.pool.sharing.is_some() && self.keep_idle(origin, socket) {
            return;
        }
        if origin == 0 {
            if let Some(other) = self.users.all[user as usize].connection.replace(socket) {
                self.pool.extra_connections.keep_further(user, origin, other);
            }
        } else {
            self.pool.extra_connections.keep(user, origin, socket);
        }
    }

    /// An idle connection of a user is unusable.
    pub(in crate::scenario_runtime) fn forget_own(&mut self, user: u32, origin: u16, socket: Socket) {
        if self.forget_shared(origin, socket) {
            return;
        }
        let own = &mut self.users.all[user as usize].connection;
        if origin == 0 && *own == Some(socket) {
            *own = None;
        } else {
            self.pool.extra_connections.forget(user, origin, socket);
        }
    }

    #[cfg(test)]
    pub(in crate::scenario_runtime) fn owns(&self, user: u32, origin: u16, socket: Socket) -> bool {
        if let Some(is_idle) = self.is_idle_for_all(origin, socket) {
            return is_idle;
        }
        let further = self.pool.extra_connections.further.get(&(user, origin));
        let first = if origin == 0 {
            self.users.all[user as usize].connection
        } else {
            self.pool.extra_connections.first.get(&(user, origin)).copied()
        };
        first == Some(socket) || further.is_some_and(|further| further.contains(&socket))
    }

    /// A user leaves: its connections are closed. WebSocket peers are notified; at the end of a run all of them
    /// together.
    pub(in crate::scenario_runtime) fn close_own(&mut self, user: u32, sockets: &mut dyn Sockets) {
        let ends_together = self.users.budget.is_over || self.users.budget.is_spent();
        for origin in 0..self.pool.origins.len() as u16 {
            let is_messaging = self.pool.origins[usize::from(origin)].is_messaging();
            if (is_messaging && ends_together) || self.is_shared_by_all(origin) {
                continue;
            }
            while let Some(socket) = self.take_own(user, origin) {
                self.close_unneeded(socket, sockets);
            }
        }
    }

    /// Closes an idle connection that its user gave up; a WebSocket peer is notified.
    pub(in crate::scenario_runtime) fn close_unneeded(&mut self, socket: Socket, sockets: &mut dyn Sockets) {
        if self.is_messaging(socket) {
            let now = sockets.now();
            self.say_goodbye(socket, now, sockets);
        } else {
            self.close(socket, sockets);
        }
    }

    /// The origin of a host that a redirect names; `None` when it is not known yet.
    pub(in crate::scenario_runtime) fn known_origin(&self, wanted: &Target) -> Option<u16> {
        let fits = |origin: &Origin| is_same_place(&origin.target, wanted);
        self.pool.origins.iter().position(fits).map(|index| index as u16)
    }

    pub(in crate::scenario_runtime) fn add_origin(&mut self, origin: Origin) -> Option<u16> {
        if self.pool.origins.len() >= ORIGINS_MAX {
            return None;
        }
        self.pool.is_layered |= origin.begins_layered();
        self.pool.has_passages |= origin.passage.is_some();
        self.pool.has_datagrams |= origin.is_datagram();
        self.pool.has_outer_tls |= origin.has_outer_tls();
        self.pool.addresses.rotate |= origin.turns.single().is_none();
        if !origin.is_shared() {
            self.pool.links.read_coalescer.end();
        }
        self.pool.links.make_room(self.pool.origins.len() + 1, origin.is_shared());
        if let Some(sharing) = &mut self.pool.sharing {
            sharing.add_origin(&origin);
            self.pool.connections.count_alone(self.pool.origins.len() + 1);
        }
        self.pool.origins.push(origin);
        Some((self.pool.origins.len() - 1) as u16)
    }
}
