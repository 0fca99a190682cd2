//! From the name of a target to its address, once, before the run.
//!
//! Names are resolved as this system resolves them for everybody: `/etc/hosts`, name servers and whatever else it is set up for.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use plan::Target;

/// A resolver that asks three name servers twice, 2 s each, has given up by then.
const LOOKUP_TIME_MAX: Duration = Duration::from_secs(12);

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
    let addresses = look_up(host)?;
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

/// Asks the system's resolver, on a thread of its own: nothing else ends a lookup that hangs.
fn look_up(host: &str) -> Result<Vec<IpAddr>, ResolveError> {
    let failed = |reason: String| ResolveError::Lookup { host: host.to_owned(), reason };
    let (told, hear) = mpsc::sync_channel(1);
    let name = host.to_owned();
    let asked = std::thread::Builder::new().name("resolver".to_owned()).spawn(move || {
        let found = (name.as_str(), 0).to_socket_addrs();
        // Nobody listens after the time is up.
        told.send(found.map(|addresses| addresses.map(|address| address.ip()).collect::<Vec<_>>())).ok();
    });
    asked.map_err(|error| failed(error.to_string()))?;
    match hear.recv_timeout(LOOKUP_TIME_MAX) {
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) if is_nobody_to_ask(&error) => Err(failed(error.to_string())),
        Ok(Err(_)) => Err(ResolveError::Unknown { host: host.to_owned() }),
        Err(_) => Err(failed(format!("no answer in {} s", LOOKUP_TIME_MAX.as_secs()))),
    }
}

/// No name server answered, or the system could not ask one. The code of `getaddrinfo` is in the words of its error alone: those of
/// glibc and of musl, which are English as long as nobody sets a locale.
fn is_nobody_to_ask(error: &std::io::Error) -> bool {
    let words = error.to_string();
    error.raw_os_error().is_some()
        || ["Temporary failure", "Try again", "Non-recoverable", "Unrecoverable", "ystem error", "emory"]
            .iter()
            .any(|part| words.contains(part))
}
