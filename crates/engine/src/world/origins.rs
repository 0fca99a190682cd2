//! Where exchanges go: what each target wants of a connection, and where users keep theirs.
//!
//! Most loads have one origin, and a user one connection. A load of several steps may have several; a redirect may lead to one
//! that nobody knew before the run.

use driver::{Peer, Socket, Sockets};
use metrics::Failure;
use pacing::Nanos;
use plan::{Protocol, Target};
use std::collections::HashMap;
use std::sync::Arc;
use wire::tls::ClientConfig;

use super::World;
use super::lookups::{Waiting, is_same_place};
use crate::Places;

/// Origins of a shard that redirects may add; a further one is a failure.
const ORIGINS_MAX: usize = 256;
/// While names are looked up, the loop asks for them at this interval.
const LOOKUP_EVERY: Nanos = Nanos::from_millis(1);

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
    fn known_origin(&self, wanted: &Target) -> Option<u16> {
        let fits = |origin: &Origin| is_same_place(&origin.target, wanted);
        self.origins.iter().position(fits).map(|index| index as u16)
    }

    fn add_origin(&mut self, origin: Origin) -> Option<u16> {
        if self.origins.len() >= ORIGINS_MAX {
            return None;
        }
        self.is_layered |= origin.is_layered();
        self.links.make_room(self.origins.len() + 1, origin.is_shared());
        self.origins.push(origin);
        Some((self.origins.len() - 1) as u16)
    }

    /// Starts a hop at an origin that may still have to be found.
    #[cold]
    #[inline(never)]
    pub(super) fn hop_to<S: Sockets>(
        &mut self,
        user: u32,
        step: u32,
        elsewhere: Option<Box<Target>>,
        intended: Nanos,
        sockets: &mut S,
    ) {
        let Some(target) = elsewhere else {
            return self.begin_exchange(user, step, intended, intended, sockets);
        };
        if let Some(origin) = self.known_origin(&target) {
            self.steps.lead(step, origin);
            return self.begin_exchange(user, step, intended, intended, sockets);
        }
        let waiting = Waiting { user, step, intended };
        if let Some((_, failure)) = self.unknown.iter().find(|(known, _)| is_same_place(known, &target)) {
            let failure = *failure;
            return self.fail_hop(user, step, intended, failure, sockets);
        }
        let timeout = self.steps[step as usize].connect_timeout;
        self.lookups.ask(target, waiting, timeout);
    }

    /// Names that were found let their exchanges go on.
    #[cold]
    pub(super) fn look_at_lookups<S: Sockets>(&mut self, sockets: &mut S) {
        while let Some((lookup, found)) = self.lookups.poll() {
            let origin = found.and_then(|origin| self.add_origin(origin).ok_or(Failure::Redirect));
            // A name that nobody knows is not asked for again and again.
            if let Err(failure) = origin
                && self.unknown.len() < ORIGINS_MAX
            {
                self.unknown.push((lookup.target.clone(), failure));
            }
            for Waiting { user, step, intended } in lookup.waiting {
                match origin {
                    Ok(origin) => {
                        self.steps.lead(step, origin);
                        self.begin_exchange(user, step, intended, intended, sockets);
                    }
                    Err(failure) => self.fail_hop(user, step, intended, failure, sockets),
                }
            }
        }
    }

    /// Hops that wait for a name when the run ends were started, and did not end.
    pub(super) fn give_up_lookups(&mut self, now: Nanos) {
        for waiting in self.lookups.give_up() {
            if waiting.intended >= self.measured_from {
                self.seen.counts.started += 1;
                self.seen.counts.attempts += 1;
                let series = self.steps[waiting.step as usize].series;
                self.seen.leave_unfinished(series, now.since(waiting.intended).0, None);
            }
            self.steps.remove(waiting.step);
        }
    }

    /// When names are asked for again.
    pub(super) fn next_lookup(&self, now: Nanos) -> Nanos {
        if self.lookups.is_empty() { Nanos::NEVER } else { now + LOOKUP_EVERY }
    }
}
