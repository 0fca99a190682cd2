//! Large bodies of HTTP/1, in memory once for all connections: a plain one goes to the kernel unchanged, and through
//! TLS it is sealed piece by piece, as the kernel takes it.

use driver::{Outgoing, Socket, Sockets};

use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::exchanges::step::Rest;
use crate::scenario_runtime::{Pool, ScenarioRuntime};

/// Bytes that are sealed at a time; two such pieces are on their way to the kernel.
const PIECE_BYTES: usize = 128 * 1024;

/// A body of which not all is sealed.
pub(super) struct Unsealed {
    rest: Rest,
    from: usize,
}

impl ScenarioRuntime {
    /// A body leaves behind its head.
    #[cold]
    pub(in crate::scenario_runtime) fn send_rest(&mut self, socket: Socket, rest: Rest, sockets: &mut dyn Sockets) {
        match self.layers(socket) {
            Some(layers) if layers.is_sealed() => {
                layers.unsealed = Some(Unsealed { rest, from: 0 });
                self.seal_next(socket, sockets);
            }
            layers => {
                let is_layered = layers.is_some();
                let (body_bytes, end) = (rest.body.len(), rest.end);
                if is_layered {
                    self.count_handed(socket, body_bytes + end.len());
                }
                sockets.send(socket, Outgoing::Whole(rest.body));
                if !end.is_empty() {
                    sockets.send(socket, Outgoing::Lent(end.to_vec()));
                }
            }
        }
    }

    /// The next piece of a body is sealed and leaves.
    #[cold]
    pub(super) fn seal_next(&mut self, socket: Socket, sockets: &mut dyn Sockets) {
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let is_over = connection.phase == Phase::Close;
        let Some(layers) = connection.layers.as_deref_mut() else { return };
        let (Some(Unsealed { rest, from }), false) = (layers.unsealed.take(), is_over) else { return };
        let mut buffer = self.pool.links.buffer();
        let to = rest.body.len().min(from + PIECE_BYTES);
        let mut sealed = layers.seal(&rest.body[from..to], &mut buffer);
        if to < rest.body.len() {
            layers.unsealed = Some(Unsealed { rest, from: to });
        } else if !rest.end.is_empty() {
            sealed = sealed.and_then(|()| layers.seal(rest.end, &mut buffer));
        }
        match sealed {
            Ok(()) => self.send_lent(socket, buffer, sockets),
            Err(fault) => self.pool.links.lose_later(socket, fault),
        }
    }
}

impl Pool {
    /// Some of a request waits until the kernel has taken what is before it.
    pub(in crate::scenario_runtime) fn has_unsealed(&mut self, socket: Socket) -> bool {
        let layers = self.connections.find(socket).and_then(|connection| connection.layers.as_deref());
        layers.is_some_and(|layers| layers.unsealed.is_some())
    }
}
