//! From the name of a target to its address, once, before the run.
//!
//! Names are resolved as this system resolves them for everybody: `/etc/hosts`, name servers and whatever else it is set up for. A
//! static binary cannot ask it (glibc loads parts of itself for that), and asks the name servers itself: the feature `dns`.

#[cfg(feature = "dns")]
mod name_servers;
#[cfg(any(test, not(feature = "dns")))]
mod system;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use plan::Target;

#[cfg(feature = "dns")]
use name_servers::look_up;
#[cfg(not(feature = "dns"))]
use system::look_up;

#[cfg(all(not(feature = "dns"), target_env = "gnu", target_feature = "crt-static"))]
compile_error!("a static binary cannot use glibc's resolver: build with --features dns");

/// The address of a target.
#[derive(Clone, Copy, Debug)]
pub struct Resolved {
    /// Where the load goes.
    pub address: SocketAddr,
    /// How long the lookup took; `None` when the URL held an address.
    pub lookup: Option<Duration>,
}

/// The name leads nowhere.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// Nobody knows the name.
    #[error("the host '{host}' is unknown; check the spelling, or write its address")]
    Unknown {
        /// The name.
        host: String,
    },
    /// The name servers cannot be asked.
    #[error("the host '{host}' cannot be looked up: {reason}; check /etc/resolv.conf, or write its address")]
    Lookup {
        /// The name.
        host: String,
        /// What the resolver says.
        reason: String,
    },
}

/// Finds the address of a target. Of several addresses it takes the first that accepts a connection, as a browser would.
///
/// # Errors
/// The name is unknown, or no name server answers.
pub fn resolve(target: &Target, connect_timeout: Duration) -> Result<Resolved, ResolveError> {
    // A socket of this machine needs no name, and places that say all need none either.
    if target.unix.is_some() {
        return Ok(Resolved { address: (Ipv4Addr::LOCALHOST, target.port).into(), lookup: None });
    }
    if let Some(first) = target.places.first()
        && let Some(address) = first.address
        && target.places.iter().all(|place| place.address.is_some())
    {
        return Ok(Resolved { address: (address, first.port).into(), lookup: None });
    }
    let (host, port) = target.dial.as_ref().map_or((&target.host, target.port), |(host, port)| (host, *port));
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(Resolved { address: (address, port).into(), lookup: None });
    }
    let begun = Instant::now();
    // RFC 6761, 6.3: what ends with `.localhost` is this machine, whether or not a name server knows it.
    let is_local = host.to_ascii_lowercase().trim_end_matches('.').ends_with(".localhost");
    let addresses = look_up(if is_local { "localhost" } else { host })?;
    let lookup = Some(begun.elapsed());
    let addresses: Vec<SocketAddr> = addresses.into_iter().map(|address| (address, port).into()).collect();
    let chosen = match addresses.as_slice() {
        [] => return Err(ResolveError::Unknown { host: host.clone() }),
        [only] => *only,
        [first, ..] => *addresses.iter().find(|address| accepts(address, connect_timeout)).unwrap_or(first),
    };
    Ok(Resolved { address: chosen, lookup })
}

fn accepts(address: &SocketAddr, timeout: Duration) -> bool {
    TcpStream::connect_timeout(address, timeout).is_ok()
}
