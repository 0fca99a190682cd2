//! What a connection may begin with before its requests: tunnels through this server, as if it were a proxy that leads
//! to itself, and headers of the PROXY protocol.

use wire::proxy_header::read_proxy_header;
use wire::tunnel::{TunnelServer, TunnelServerEvent};

/// The first byte of SOCKS5 (RFC 1928).
const SOCKS5: u8 = 5;
/// The begin of a request for a tunnel.
const CONNECT: &[u8] = b"CONNECT ";
/// The begins of the two versions of the header.
const HEADERS: [&[u8]; 2] = [b"PROXY ", b"\r\n\r\n\0\r\nQUIT\n"];
/// Bytes that are kept until it is clear what they are.
const BYTES_MAX: usize = 64 * 1024;

/// The front of a connection.
#[derive(Default)]
pub(crate) struct Front {
    tunnel: Option<Box<TunnelServer>>,
    held: Vec<u8>,
}

/// What came through the front of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FrontEvent {
    /// More bytes are needed.
    NeedMore,
    /// The front is over; these bytes are for the server itself.
    Over(Vec<u8>),
    /// The peer was refused, or broke the protocol.
    Refused,
}

/// What was opened in front of the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) tunnels: u64,
    pub(crate) headers: u64,
}

impl Front {
    /// Reads received bytes. Bytes to send are appended to `out`.
    pub(crate) fn read(&mut self, bytes: &[u8], out: &mut Vec<u8>, opened: &mut Opened) -> FrontEvent {
        self.held.extend_from_slice(bytes);
        if self.held.len() > BYTES_MAX {
            return FrontEvent::Refused;
        }
        loop {
            if let Some(tunnel) = &mut self.tunnel {
                let held = std::mem::take(&mut self.held);
                match tunnel.read(&held, out) {
                    Ok(TunnelServerEvent::NeedMore) => return FrontEvent::NeedMore,
                    Ok(TunnelServerEvent::Requested { taken, .. }) => {
                        tunnel.accept(out);
                        (self.tunnel, self.held) = (None, held[taken.min(held.len())..].to_vec());
                        opened.tunnels += 1;
                    }
                    Ok(TunnelServerEvent::Refused) | Err(_) => return FrontEvent::Refused,
                }
            }
            if self.held.first() == Some(&SOCKS5) || self.held.starts_with(CONNECT) {
                self.tunnel = Some(Box::new(TunnelServer::new(None)));
                continue;
            }
            if HEADERS.iter().any(|begin| self.held.starts_with(begin)) {
                match read_proxy_header(&self.held) {
                    Ok(None) => return FrontEvent::NeedMore,
                    Ok(Some((_, taken))) => {
                        self.held.drain(..taken.min(self.held.len()));
                        opened.headers += 1;
                        continue;
                    }
                    Err(_) => return FrontEvent::Refused,
                }
            }
            let may_be = |begin: &[u8]| begin.starts_with(&self.held);
            if may_be(CONNECT) || HEADERS.iter().any(|begin| may_be(begin)) {
                return FrontEvent::NeedMore;
            }
            return FrontEvent::Over(std::mem::take(&mut self.held));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_in_pieces(bytes: &[u8], size: usize) -> (FrontEvent, Opened, Vec<u8>) {
        let (mut front, mut opened, mut out) = (Front::default(), Opened::default(), Vec::new());
        let mut pieces = bytes.chunks(size);
        let mut over: Option<Vec<u8>> = None;
        for piece in &mut pieces {
            match front.read(piece, &mut out, &mut opened) {
                FrontEvent::NeedMore => {}
                FrontEvent::Over(rest) => {
                    over = Some(rest);
                    break;
                }
                FrontEvent::Refused => return (FrontEvent::Refused, opened, out),
            }
        }
        let Some(mut rest) = over else { return (FrontEvent::NeedMore, opened, out) };
        pieces.for_each(|piece| rest.extend_from_slice(piece));
        (FrontEvent::Over(rest), opened, out)
    }

    #[test]
    fn a_front_is_over_where_the_requests_begin() {
        let request = b"GET / HTTP/1.1\r\n\r\n";
        let fronts: [(&[u8], Opened); 5] = [
            (b"", Opened { tunnels: 0, headers: 0 }),
            (b"PROXY UNKNOWN\r\n", Opened { tunnels: 0, headers: 1 }),
            (b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", Opened { tunnels: 1, headers: 0 }),
            (b"\x05\x01\x00\x05\x01\x00\x03\x01a\x00\x50", Opened { tunnels: 1, headers: 0 }),
            (
                b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\nPROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n",
                Opened { tunnels: 1, headers: 1 },
            ),
        ];
        for (front, opened) in fronts {
            let all = [front, request].concat();
            for size in 1..=all.len() {
                let (event, seen, _) = read_in_pieces(&all, size);
                assert_eq!((event, seen), (FrontEvent::Over(request.to_vec()), opened), "{front:?} by {size}");
            }
        }
        assert_eq!(read_in_pieces(b"\x05\x00", 1).0, FrontEvent::Refused, "no method that it knows");
        assert_eq!(read_in_pieces(b"PROXY TCP4 x\r\n", 3).0, FrontEvent::Refused);
    }
}
