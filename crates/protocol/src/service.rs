//! The other side of a protocol, as a machine over bytes.

/// A service for the connections, and the peers of datagrams, of one thread. Bytes of connections arrive cut anywhere.
pub trait Service: Send {
    /// A connection was accepted.
    fn open(&mut self, _connection: u64, _replies: &mut Replies) {}

    /// Bytes arrived on a connection.
    fn handle(&mut self, connection: u64, bytes: &[u8], replies: &mut Replies);

    /// A datagram arrived from a peer, whose number is that of no connection. Replies are made with
    /// [`Replies::datagram`].
    fn handle_datagram(&mut self, _peer: u64, _bytes: &[u8], _replies: &mut Replies) {}

    /// A connection, or a peer, is gone.
    fn close(&mut self, _connection: u64) {}
}

/// What a service does: bytes for its connections, and the ends of some.
#[derive(Debug, Default)]
pub struct Replies {
    /// The bytes for each connection, or each datagram for a peer, in the order in which they are sent.
    pub sent: Vec<(u64, Vec<u8>)>,
    /// The connections to close once their bytes are sent.
    pub closed: Vec<u64>,
    /// The requests that were read, for the statistics of the server.
    pub requests: u64,
}

impl Replies {
    /// Sends bytes on a connection; on any of this thread.
    pub fn send(&mut self, connection: u64, bytes: &[u8]) {
        self.buffer(connection).extend_from_slice(bytes);
    }

    /// The buffer of what is sent on a connection.
    pub fn buffer(&mut self, connection: u64) -> &mut Vec<u8> {
        if self.sent.last().is_none_or(|(last, _)| *last != connection) {
            self.sent.push((connection, Vec::new()));
        }
        &mut self.sent.last_mut().expect("one was added").1
    }

    /// A new datagram for a peer.
    pub fn datagram(&mut self, peer: u64) -> &mut Vec<u8> {
        self.sent.push((peer, Vec::new()));
        &mut self.sent.last_mut().expect("one was added").1
    }

    /// Closes a connection when its bytes are sent.
    pub fn close(&mut self, connection: u64) {
        self.closed.push(connection);
    }
}
