//! Opening of connections, for an exchange or in advance.

use driver::{OpenOptions, Socket, SocketError, Sockets};
use metrics::Counter;
use pacing::Nanos;

use super::ONE_SEGMENT_BYTES;
use crate::user::View;
use crate::world::phase::Phase;
use crate::world::{Deadline, ScenarioRuntime};

impl ScenarioRuntime {
    pub(super) fn open_connection<S: Sockets>(&mut self, step: usize, sockets: &mut S) -> Result<Socket, SocketError> {
        self.seen.counts[Counter::ConnectionsTried] += 1;
        self.pool.links.gather.open();
        // Handshakes and frames are small pieces that the peer waits for.
        let prepared = &self.ledger.steps[step];
        let origin = &self.pool.origins[usize::from(prepared.origin)];
        let no_delay = origin.is_layered() || prepared.request.len() > ONE_SEGMENT_BYTES;
        let (to, from) = match &origin.single_place {
            Some(to) => (to.clone(), None),
            None => {
                self.pool.opened += 1;
                origin.places.pick(self.work.segment.nth(self.pool.opened - 1))
            }
        };
        let options = OpenOptions { to, from, no_delay };
        let opened = sockets.open(&options);
        if opened == Err(SocketError::NoDescriptor) && self.pool.connections.closing > 0 {
            // Connections that only wait for the peer's close make way for one that works.
            self.pool.connections.drain_closing(|socket| sockets.close(socket));
            return sockets.open(&options);
        }
        opened
    }

    /// Opens the connection of a user before anything is to be sent on it. When that fails, the user's first exchange
    /// retries and reports it.
    pub(in crate::world) fn prepare<S: Sockets>(&mut self, user: u32, sockets: &mut S) {
        let since = sockets.now();
        if self.shared_connection(user, 0).is_some() || self.opens_anew(0) {
            // Another user of its link has opened it, or only an exchange knows how it is opened.
            return self.next(user, View::Nothing, since, since, sockets);
        }
        match self.open_connection(0, sockets) {
            Ok(socket) => {
                self.pool.connections.insert(socket, Phase::Prepare { user, since }, 0);
                self.add_layers(socket, user, 0);
                let deadline = since + self.pool.origins[0].connect_timeout;
                self.timers.insert(deadline, Deadline::Preparing(socket));
            }
            Err(_) => self.next(user, View::NoConnection, since, since, sockets),
        }
    }

    /// A connection opened in advance is not established in time.
    pub(in crate::world) fn prepare_due<S: Sockets>(&mut self, socket: Socket, now: Nanos, sockets: &mut S) {
        let phase = self.pool.connections.find(socket).map(|connection| connection.phase);
        let Some(Phase::Prepare { since, .. }) = phase else { return };
        let deadline = self.stalls.spare(since, since + self.pool.origins[0].connect_timeout);
        if deadline > now {
            return self.timers.insert(deadline, Deadline::Preparing(socket));
        }
        if deadline > self.instants.read_until {
            return self.pool.overdue_prepared.push(socket);
        }
        let failure = self.unanswered_stage(socket);
        self.lose(socket, failure, now, sockets);
    }
}
