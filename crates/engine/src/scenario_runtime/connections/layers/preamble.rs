//! What a connection begins with before it reaches its target: TLS with a proxy, a tunnel through it, and the header of
//! the PROXY protocol.
//!
//! Until the tunnel is open the connection is in its phase of connecting, and its connect timeout runs. TLS with the
//! proxy stays around all that follows; everything else is gone then, so that a plain connection through a tunnel is
//! read and written like one without.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use driver::{Socket, Sockets};
use metrics::Failure;
use pacing::Nanos;
use plan::{ProxyHeaderOptions, ProxyHeaderVersion, ProxyMode, Target};
use wire::proxy_header::{self, put_proxy_header};
use wire::tls::{ClientConfig, Session};
use wire::tunnel::{Credentials, Destination, Tunnel, TunnelFault, TunnelProgress};

use crate::faults;
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::phase::Phase;

/// The first port of the clients that a header names, and how many there are.
const CLIENT_PORTS: (u16, u64) = (10_000, 50_000);

/// What the connections to an origin begin with.
pub(crate) struct Passage {
    /// TLS with the proxy.
    outer: Option<ClientConfig>,
    tunnel: Option<TunnelRequest>,
    header: Option<ProxyHeaderOptions>,
}

/// The tunnel that a proxy is requested to open.
struct TunnelRequest {
    is_socks: bool,
    host: String,
    port: u16,
    /// The addresses of the host, where the proxy gets one of them in turn.
    addresses: Vec<IpAddr>,
    credentials: Option<Credentials>,
}

impl Passage {
    /// That of a target; `None` where its connections begin with what the target gets. `outer`: TLS with the proxy.
    pub(crate) fn of(target: &Target, outer: Option<&ClientConfig>) -> Option<Arc<Self>> {
        let tunnel = target.proxy.as_ref().filter(|_| target.proxy_mode() == Some(ProxyMode::Tunnel));
        let tunnel = tunnel.map(|proxy| {
            let (host, port) = proxy.behind.clone().unwrap_or_else(|| (target.host.clone(), target.port));
            let credentials = proxy.credentials.as_ref();
            TunnelRequest {
                is_socks: proxy.is_socks(),
                addresses: host.parse().map_or_else(|_| proxy.addresses.clone(), |address| vec![address]),
                host,
                port,
                credentials: credentials
                    .map(|known| Credentials { user: known.user.clone(), password: known.password.clone() }),
            }
        });
        let header = target.proxy_header.clone();
        let outer = outer.filter(|_| tunnel.is_some()).cloned();
        (tunnel.is_some() || header.is_some()).then(|| Arc::new(Self { outer, tunnel, header }))
    }

    /// TLS with the proxy is around all that the target gets.
    pub(crate) fn is_sealed(&self) -> bool {
        self.outer.is_some()
    }
}

impl TunnelRequest {
    /// The tunnel of connection `number`; its first bytes are appended to `out`.
    fn open(&self, number: u64, out: &mut Vec<u8>) -> Result<Tunnel, TunnelFault> {
        let to = match self.address(number) {
            Some(address) => Destination::Address(address),
            None => Destination::Name(&self.host, self.port),
        };
        let credentials = self.credentials.as_ref();
        if self.is_socks { Tunnel::socks5(&to, credentials, out) } else { Ok(Tunnel::http(&to, credentials, out)) }
    }

    fn address(&self, number: u64) -> Option<SocketAddr> {
        let place = number.checked_rem(self.addresses.len() as u64)? as usize;
        Some((self.addresses[place], self.port).into())
    }
}

/// How far a connection has come on its way to the target.
pub(super) struct PassageState {
    /// TLS with the proxy.
    outer: Option<Session>,
    stage: PassageStage,
    /// When it was connected.
    since: Nanos,
    /// Its number among the connections of all shards to its origin.
    number: u64,
}

enum PassageStage {
    /// The TLS handshake with the proxy is in progress.
    Outer,
    /// The proxy is opening a tunnel.
    Tunnel(Box<Tunnel>),
    /// The way is open.
    Open,
}

impl PassageState {
    /// The way to the target is not open yet.
    pub(super) fn is_passing(&self) -> bool {
        !matches!(self.stage, PassageStage::Open)
    }

    /// The same, to seal bytes.
    pub(super) fn outer_mut(&mut self) -> Option<&mut Session> {
        self.outer.as_mut()
    }

    /// TLS with the proxy.
    pub(super) fn outer(&self) -> Option<&Session> {
        self.outer.as_ref()
    }
}

impl ScenarioRuntime {
    /// The socket is connected: what comes before the target begins. False when there is nothing.
    pub(in crate::scenario_runtime) fn begin_passage(
        &mut self,
        socket: Socket,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) -> bool {
        let Some(passage) = self.passage_of(socket) else { return false };
        let number = self.next_passage(socket);
        let mut state = PassageState { outer: None, stage: PassageStage::Outer, since: at, number };
        let Some(config) = &passage.outer else {
            if let Some(layers) = self.layers(socket) {
                layers.passage = Some(Box::new(state));
            }
            self.open_tunnel(socket, at, sockets);
            return true;
        };
        let mut flight = self.pool.links.buffer();
        match config.session().and_then(|mut session| session.start(&mut flight).map(|()| session)) {
            Ok(session) => state.outer = Some(session),
            Err(fault) => {
                self.lose_connection(socket, faults::tls(fault), at, sockets);
                return true;
            }
        }
        if let Some(layers) = self.layers(socket) {
            layers.passage = Some(Box::new(state));
        }
        self.send_raw(socket, flight, sockets);
        true
    }

    fn passage_of(&mut self, socket: Socket) -> Option<Arc<Passage>> {
        let origin = self.pool.connections.find(socket)?.origin;
        self.pool.origins[usize::from(origin)].passage.clone()
    }

    pub(super) fn passage_state(&mut self, socket: Socket) -> Option<&mut PassageState> {
        self.layers(socket)?.passage.as_deref_mut()
    }

    /// The proxy is requested to open a tunnel.
    fn open_tunnel(&mut self, socket: Socket, at: Nanos, sockets: &mut dyn Sockets) {
        let Some(passage) = self.passage_of(socket) else { return };
        let Some(request) = &passage.tunnel else { return self.pass(socket, &passage, at, sockets) };
        let number = self.passage_state(socket).map_or(0, |state| state.number);
        let mut first = self.pool.links.buffer();
        match request.open(number, &mut first) {
            Ok(tunnel) => {
                if let Some(state) = self.passage_state(socket) {
                    state.stage = PassageStage::Tunnel(Box::new(tunnel));
                }
                self.send_lent(socket, first, sockets);
            }
            Err(fault) => self.lose_connection(socket, faults::tunnel(fault), at, sockets),
        }
    }

    /// The number of a connection that begins.
    fn next_passage(&mut self, socket: Socket) -> u64 {
        let origin = self.pool.connections.find(socket).map_or(0, |connection| connection.origin);
        let passages = &mut self.pool.origins[usize::from(origin)].passages;
        let before = *passages;
        *passages += 1;
        self.number_of(before)
    }

    /// The way is open: the header leaves, and the target is next.
    fn pass(&mut self, socket: Socket, passage: &Passage, at: Nanos, sockets: &mut dyn Sockets) {
        let Some(state) = self.passage_state(socket) else { return };
        state.stage = PassageStage::Open;
        let (since, is_sealed) = (state.since, state.outer.is_some());
        if passage.tunnel.is_some() {
            self.unreported.proxy_tunnel.record(at.since(since).0);
        }
        if let Some(options) = &passage.header {
            let (from, to) = self.addresses_in_header(socket, options, passage).unzip();
            let version = match options.version {
                ProxyHeaderVersion::V1 => proxy_header::ProxyHeaderVersion::V1,
                ProxyHeaderVersion::V2 => proxy_header::ProxyHeaderVersion::V2,
            };
            let mut header = self.pool.links.buffer();
            put_proxy_header(version, from, to, &mut header);
            self.send_lent(socket, header, sockets);
        }
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let is_layered = self.pool.origins[usize::from(connection.origin)].is_layered();
        if !is_layered {
            connection.layers = None;
        } else if !is_sealed && let Some(layers) = connection.layers.as_deref_mut() {
            layers.passage = None;
        }
        if !self.begin_handshake(socket, at, sockets) {
            self.ready(socket, at, sockets);
        }
    }

    /// The client and the target that a header names; `None` for those of the connection itself.
    fn addresses_in_header(
        &mut self,
        socket: Socket,
        options: &ProxyHeaderOptions,
        passage: &Passage,
    ) -> Option<(SocketAddr, SocketAddr)> {
        let number = self.passage_state(socket).map_or(0, |state| state.number);
        let client = *options.from.get(number.checked_rem(options.from.len() as u64)? as usize)?;
        let (first, count) = CLIENT_PORTS;
        let from = SocketAddr::from((client, first + (number / options.from.len() as u64 % count) as u16));
        let (origin, endpoint) = self.pool.connections.find(socket)?.place();
        let origin = &self.pool.origins[usize::from(origin)];
        let behind = passage.tunnel.as_ref().map(|tunnel| tunnel.address(number));
        let to = behind.unwrap_or_else(|| origin.turns.address(endpoint));
        Some((from, to.unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, origin.target.port).into())))
    }

    /// Bytes came on a connection that has begun with something else than what its target gets.
    #[cold]
    pub(super) fn received_in_passage(
        &mut self,
        socket: Socket,
        bytes: &mut [u8],
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        let Some(state) = self.passage_state(socket) else { return };
        if state.outer.is_none() {
            return self.received_from_proxy(socket, bytes, at, sockets);
        }
        let (mut plain, mut back) = (std::mem::take(&mut self.pool.links.outer_plain), self.pool.links.buffer());
        plain.clear();
        let Some(state) = self.passage_state(socket) else { return };
        let Some(session) = &mut state.outer else { return };
        let fed = session.feed(bytes, &mut plain, &mut back);
        let is_ready = matches!(state.stage, PassageStage::Outer) && !session.is_handshaking();
        let is_closed = session.is_closed_by_peer();
        if back.is_empty() {
            self.pool.links.give_back(back);
        } else {
            self.send_raw(socket, back, sockets);
        }
        if is_ready && fed.is_ok() {
            self.open_tunnel(socket, at, sockets);
        }
        if !plain.is_empty() {
            self.received_from_proxy(socket, &mut plain, at, sockets);
        }
        match fed {
            Err(fault) => self.lose_connection(socket, faults::tls(fault), at, sockets),
            Ok(()) if is_closed => self.peer_closed(socket, at, sockets),
            Ok(()) => {}
        }
        self.pool.links.outer_plain = plain;
    }

    /// Bytes came from the proxy, or through it.
    fn received_from_proxy(&mut self, socket: Socket, bytes: &mut [u8], at: Nanos, sockets: &mut dyn Sockets) {
        let mut back = self.pool.links.buffer();
        let Some(state) = self.passage_state(socket) else { return };
        let read = match &mut state.stage {
            PassageStage::Open => {
                self.pool.links.give_back(back);
                return self.received_inside(socket, bytes, at, sockets);
            }
            // No handshake, and no request: nothing was to be answered.
            PassageStage::Outer => Err(TunnelFault::Invalid),
            PassageStage::Tunnel(tunnel) => tunnel.read(bytes, &mut back),
        };
        if back.is_empty() {
            self.pool.links.give_back(back);
        } else {
            self.send_lent(socket, back, sockets);
        }
        match read {
            Ok(TunnelProgress::NeedMore) => {}
            Ok(TunnelProgress::Established { taken }) => {
                let Some(passage) = self.passage_of(socket) else { return };
                self.pass(socket, &passage, at, sockets);
                let rest = bytes.get_mut(taken..).unwrap_or_default();
                if !rest.is_empty() {
                    self.received_behind(socket, rest, at, sockets);
                }
            }
            Err(fault) => self.lose_connection(socket, faults::tunnel(fault), at, sockets),
        }
    }

    /// The target has sent bytes right behind the answer of the proxy.
    fn received_behind(&mut self, socket: Socket, rest: &mut [u8], at: Nanos, sockets: &mut dyn Sockets) {
        match self.pool.connections.find(socket).map(|connection| (connection.layers.is_some(), connection.phase)) {
            Some((true, _)) => self.received_inside(socket, rest, at, sockets),
            Some((false, phase)) => self.received_in(phase, socket, rest, at, sockets),
            None => {}
        }
    }

    /// The failure of a connection that its peer has ended before it was ready; `None` when it had come further.
    #[inline]
    pub(in crate::scenario_runtime) fn ended_in_passage(&mut self, socket: Socket) -> Option<Failure> {
        if !self.pool.has_passages {
            return None;
        }
        let connection = self.pool.connections.find(socket)?;
        let is_new = matches!(connection.phase, Phase::Connect { .. } | Phase::Prepare { .. });
        let passage = connection.layers.as_deref()?.passage.as_deref()?;
        (is_new && passage.is_passing()).then_some(Failure::ProxyClosed)
    }
}
