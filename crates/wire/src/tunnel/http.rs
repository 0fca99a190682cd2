//! The client's side of CONNECT.

use core::net::SocketAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Credentials, Destination, Refusal, TunnelFault, TunnelProgress};
use crate::http1::{Client, HeadMemory, RequestKind, Response};

/// The status with which a proxy requires a login (RFC 9110 15.5.8).
pub(super) const LOGIN_REQUIRED: u16 = 407;
/// The status that some proxies give instead, such as tinyproxy.
const UNAUTHORIZED: u16 = 401;

/// A tunnel through an HTTP proxy. The limits are those of [`crate::http1`].
#[derive(Debug)]
pub struct HttpTunnel {
    client: Client,
}

impl HttpTunnel {
    pub(super) fn start(to: &Destination<'_>, credentials: Option<&Credentials>, out: &mut Vec<u8>) -> Self {
        let authority = match *to {
            Destination::Name(name, port) => format!("{name}:{port}"),
            Destination::Address(SocketAddr::V4(address)) => address.to_string(),
            // Without the zone, which has a meaning on this machine only.
            Destination::Address(SocketAddr::V6(address)) => format!("[{}]:{}", address.ip(), address.port()),
        };
        out.extend_from_slice(format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n").as_bytes());
        if let Some(credentials) = credentials {
            out.extend_from_slice(format!("Proxy-Authorization: {}\r\n", authorization(credentials)).as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        let mut client = Client::default();
        client.start(RequestKind::Connect);
        Self { client }
    }

    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<TunnelProgress, TunnelFault> {
        // A proxy answers once for each connection: nothing is gained by a cache that lasts.
        let mut memory = HeadMemory::default();
        let mut taken = 0;
        loop {
            let rest = bytes.get(taken..).unwrap_or_default();
            let (length, response) = self.client.handle(rest, &mut memory).map_err(|_| TunnelFault::Invalid)?;
            taken += length;
            match response {
                Response::NeedMore => return Ok(TunnelProgress::NeedMore),
                Response::Interim(_) => {}
                Response::Head(head) => {
                    return match head.status {
                        200..=299 => Ok(TunnelProgress::Established { taken }),
                        LOGIN_REQUIRED | UNAUTHORIZED => Err(TunnelFault::Login),
                        status => Err(TunnelFault::Refused(Refusal::Status(status))),
                    };
                }
                // Called again after the end.
                Response::Body(_) | Response::End => return Err(TunnelFault::Invalid),
            }
        }
    }
}

/// The value of `Proxy-Authorization` (RFC 7617).
pub(super) fn authorization(credentials: &Credentials) -> String {
    format!("Basic {}", STANDARD.encode(format!("{}:{}", credentials.user, credentials.password)))
}
