//! Connections that are opened, for an exchange or beforehand.

use driver::{OpenOptions, Socket, SocketError, Sockets};
use pacing::Nanos;

use super::ONE_SEGMENT_BYTES;
use crate::user::View;
use crate::world::connections::Phase;
use crate::world::{Deadline, World};

impl World {
    pub(super) fn open_connection<S: Sockets>(&mut self, step: usize, sockets: &mut S) -> Result<Socket, SocketError> {
        self.seen.counts.connections_tried += 1;
        // Handshakes and frames are small pieces that others wait for.
        let prepared = &self.steps[step];
        let origin = &self.origins[usize::from(prepared.origin)];
        let no_delay = origin.is_layered() || prepared.request.len() > ONE_SEGMENT_BYTES;
        let (to, from) = match &origin.single_place {
            Some(to) => (to.clone(), None),
            None => {
                self.opened += 1;
                origin.places.pick(self.work.segment.nth(self.opened - 1))
            }
        };
        let options = OpenOptions { to, from, no_delay };
        let opened = sockets.open(&options);
        if opened == Err(SocketError::NoDescriptor) && self.connections.closing > 0 {
            // Connections that only wait for the peer's close give way to one that works.
            self.connections.drain_closing(|socket| sockets.close(socket));
            return sockets.open(&options);
        }
        opened
    }

    /// Opens the connection of a user before anything is to be sent on it. When it fails, the user's first exchange tries again
    /// and tells.
    pub(in crate::world) fn prepare<S: Sockets>(&mut self, user: u32, sockets: &mut S) {
        let since = sockets.now();
        if self.shared_connection(user, 0).is_some() {
            // Another user of its link has opened it.
            return self.next(user, View::Nothing, since, since, sockets);
        }
        match self.open_connection(0, sockets) {
            Ok(socket) => {
                self.connections.insert(socket, Phase::Prepare { user, since }, 0);
                self.add_layers(socket, user, 0);
                let deadline = since + self.origins[0].connect_timeout;
                self.timers.insert(deadline, Deadline::Preparing(socket));
            }
            Err(_) => self.next(user, View::NoConnection, since, since, sockets),
        }
    }

    /// A connection that was opened beforehand is not there in time.
    pub(in crate::world) fn prepare_due<S: Sockets>(&mut self, socket: Socket, now: Nanos, sockets: &mut S) {
        let phase = self.connections.find(socket).map(|connection| connection.phase);
        let Some(Phase::Prepare { since, .. }) = phase else { return };
        if since + self.origins[0].connect_timeout > self.read_until {
            return self.overdue_prepared.push(socket);
        }
        let failure = self.unanswered_stage(socket);
        self.lose(socket, failure, now, sockets);
    }
}
