//! Parsing of listen addresses.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Parses `host:port` with a literal address; `:port` and `port` mean all addresses and loopback.
pub(crate) fn read_address(text: &str) -> Option<SocketAddr> {
    if let Some(port) = text.strip_prefix(':') {
        return Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port.parse().ok()?));
    }
    if let Ok(port) = text.parse() {
        return Some(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
    }
    text.replace("localhost:", "127.0.0.1:").parse().ok()
}
