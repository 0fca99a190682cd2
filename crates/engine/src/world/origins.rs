//! Where exchanges go: what each target wants of a connection, and where users keep theirs.
//!
//! Most loads have one origin, and a user one connection. A load of several steps may have several; a redirect may lead to one
//! that nobody knew before the run.

use driver::{Peer, Socket, Sockets};
use pacing::Nanos;
use plan::{Protocol, Target};
use std::collections::HashMap;
use std::sync::Arc;
use wire::tls::ClientConfig;

use super::World;
use crate::Places;

/// Origins of a shard that redirects may add; a further one is a failure.
pub(super) const ORIGINS_MAX: usize = 256;

/// A target, and how its connections are made.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) target: Arc<Target>,
    pub(crate) places: Places,
    /// What makes TLS sessions, where connections are secured.
    pub(crate) tls: Option<ClientConfig>,
    /// How long one may take to be there: the most that a step to it allows.
    pub(super) connect_timeout: Nanos,
    /// Where all of them go, when that is one place.
    pub(super) single_place: Option<Peer>,
}

impl Origin {
    pub(crate) fn new(target: Arc<Target>, places: Places, tls: Option<ClientConfig>, connect_timeout: Nanos) -> Self {
        let single_place = places.single();
        Self { target, places, tls, connect_timeout, single_place }
    }

    /// What is spoken.
    #[inline]
    pub(crate) fn protocol(&self) -> Protocol {
        self.target.protocol
    }

    /// Its connections have layers: TLS, or streams.
    #[inline]
    pub(crate) fn is_layered(&self) -> bool {
        self.tls.is_some() || self.target.protocol != Protocol::Http1
    }

    /// Users share its connections.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.target.protocol, Protocol::Http2 | Protocol::Negotiated)
    }
}

/// Connections of users beyond that to the first origin.
#[derive(Default)]
pub(super) struct Elsewhere(HashMap<(u32, u16), Socket>);

impl Elsewhere {
    #[cold]
    #[inline(never)]
    fn take(&mut self, user: u32, origin: u16) -> Option<Socket> {
        self.0.remove(&(user, origin))
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, user: u32, origin: u16, socket: Socket) {
        self.0.insert((user, origin), socket);
    }
}

/// Two targets are reached in the same way.
pub(super) fn is_same_place(one: &Target, other: &Target) -> bool {
    one.host == other.host
        && one.port == other.port
        && one.tls.is_some() == other.tls.is_some()
        && one.dial == other.dial
        && one.unix == other.unix
        && one.places == other.places
}

impl World {
    /// The idle connection of a user to an origin leaves its place.
    #[inline]
    pub(super) fn take_own(&mut self, user: u32, origin: u16) -> Option<Socket> {
        if origin == 0 { self.users[user as usize].connection.take() } else { self.elsewhere.take(user, origin) }
    }

    /// A connection of a user is idle.
    #[inline]
    pub(super) fn keep_own(&mut self, user: u32, origin: u16, socket: Socket) {
        if origin == 0 {
            self.users[user as usize].connection = Some(socket);
        } else {
            self.elsewhere.keep(user, origin, socket);
        }
    }

    #[cfg(test)]
    pub(super) fn own(&self, user: u32, origin: u16) -> Option<Socket> {
        if origin == 0 { self.users[user as usize].connection } else { self.elsewhere.0.get(&(user, origin)).copied() }
    }

    /// A user leaves: its connections are closed. Peers of WebSocket hear so; at the end of a run all of them together.
    pub(super) fn close_own<S: Sockets>(&mut self, user: u32, sockets: &mut S) {
        if self.is_talk && (self.budget.is_over || self.budget.is_spent()) {
            return;
        }
        for origin in 0..self.origins.len() as u16 {
            match self.take_own(user, origin) {
                Some(socket) if self.is_talk => {
                    let now = sockets.now();
                    self.say_goodbye(socket, now, sockets);
                }
                Some(socket) => self.close(socket, sockets),
                None => {}
            }
        }
    }

    /// The origin of a host that a redirect names; an error when there are too many.
    pub(super) fn known_origin(&self, wanted: &Target) -> Option<u16> {
        let fits = |origin: &Origin| is_same_place(&origin.target, wanted);
        self.origins.iter().position(fits).map(|index| index as u16)
    }

    pub(super) fn add_origin(&mut self, origin: Origin) -> Option<u16> {
        if self.origins.len() >= ORIGINS_MAX {
            return None;
        }
        self.is_layered |= origin.is_layered();
        self.links.make_room(self.origins.len() + 1, origin.is_shared());
        self.origins.push(origin);
        Some((self.origins.len() - 1) as u16)
    }
}
