//! Bytes on their way to a socket with layers: sealed for the target, then for a proxy, and counted.

use driver::{Outgoing, Socket, Sockets};
use metrics::Counter;
use pacing::Nanos;
use wire::tls::TlsFault;

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::layers::Layers;

impl ScenarioRuntime {
    /// Sends bytes, sealed where there is TLS. False when the session is broken; the connection will be
    /// lost.
    pub(in crate::scenario_runtime) fn send_through(
        &mut self,
        socket: Socket,
        bytes: Vec<u8>,
        sockets: &mut dyn Sockets,
    ) -> bool {
        let mut sealed = self.pool.links.buffer();
        let session = self.layers(socket).and_then(|layers| layers.tls.as_mut());
        match session.map(|session| session.seal(&bytes, &mut sealed)) {
            None => self.send_lent(socket, bytes, sockets),
            Some(Ok(())) => self.send_lent(socket, sealed, sockets),
            Some(Err(fault)) => {
                self.pool.links.lose_later(socket, fault);
                return false;
            }
        }
        true
    }

    pub(in crate::scenario_runtime) fn send_lent(&mut self, socket: Socket, bytes: Vec<u8>, sockets: &mut dyn Sockets) {
        if !self.pool.has_outer_tls {
            return self.send_raw(socket, bytes, sockets);
        }
        if let Some(sealed) = self.seal_for_proxy(socket, bytes) {
            self.send_raw(socket, sealed, sockets);
        }
    }

    /// Counts bytes handed to a socket with layers.
    pub(in crate::scenario_runtime) fn count_handed(&mut self, socket: Socket, bytes: usize) {
        self.unreported.counts[Counter::BytesQueued] += bytes as u64;
        if let Some(layers) = self.layers(socket) {
            layers.handed += bytes as u64;
        }
    }

    /// Bytes that were handed to a socket with layers.
    pub(in crate::scenario_runtime) fn handed_to(&mut self, socket: Socket) -> u64 {
        self.layers(socket).map_or(0, |layers| layers.handed)
    }

    /// Sends an HTTP/1 request through TLS. Returns the instant.
    pub(in crate::scenario_runtime) fn send_sealed(
        &mut self,
        socket: Socket,
        step: usize,
        sockets: &mut dyn Sockets,
    ) -> Option<Nanos> {
        let mut buffer = self.pool.links.buffer();
        let connection = self.pool.connections.find(socket)?;
        let layers = connection.layers.as_deref_mut()?;
        let request = &self.in_flight.steps[step].request;
        if let Err(fault) = layers.seal(request.front(), &mut buffer) {
            self.pool.links.lose_later(socket, fault);
            return None;
        }
        let (sent, rest) = (sockets.now(), request.rest().cloned());
        self.send_lent(socket, buffer, sockets);
        if let Some(rest) = rest {
            self.send_rest(socket, rest, sockets);
        }
        Some(sent)
    }

    /// Seals bytes for the proxy, where there is TLS with it. `None` when that fails; the connection will be lost.
    #[cold]
    pub(in crate::scenario_runtime) fn seal_for_proxy(&mut self, socket: Socket, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let mut sealed = self.pool.links.buffer();
        let outer = self.passage_state(socket).and_then(|state| state.outer_mut());
        match outer.map(|session| session.seal(&bytes, &mut sealed)) {
            None => {
                self.pool.links.give_back(sealed);
                Some(bytes)
            }
            Some(Ok(())) => {
                self.pool.links.give_back(bytes);
                Some(sealed)
            }
            Some(Err(fault)) => {
                self.pool.links.lose_later(socket, fault);
                None
            }
        }
    }

    /// Sends bytes as they are.
    pub(in crate::scenario_runtime) fn send_raw(&mut self, socket: Socket, bytes: Vec<u8>, sockets: &mut dyn Sockets) {
        self.count_handed(socket, bytes.len());
        sockets.send(socket, Outgoing::Lent(bytes));
    }
}

impl Layers {
    /// Seals bytes for the target; without TLS they are copied.
    pub(super) fn seal(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), TlsFault> {
        match &mut self.tls {
            Some(session) => session.seal(bytes, out),
            None => {
                out.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}
