//! Resolution of the name of a target to its address, once, before the run.
//!
//! Names are resolved as this system resolves them for all programs: `/etc/hosts`, name servers and whatever else it is
//! set up for. A static binary cannot use the system resolver (glibc loads parts of itself for that), and queries the
//! name servers itself: the feature `dns`.

#[cfg(feature = "dns")]
mod name_servers;
#[cfg(any(test, not(feature = "dns")))]
mod system;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use plan::{AddressChoice, Proxy, ProxyKind, Target};

use crate::names::{self, LookupFault, in_order};

#[cfg(feature = "dns")]
use name_servers::look_up;
#[cfg(not(feature = "dns"))]
use system::look_up;

#[cfg(all(not(feature = "dns"), target_env = "gnu", target_feature = "crt-static"))]
compile_error!("a static binary cannot use glibc's resolver: build with --features dns");

/// A resolved target.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The first address that accepts a connection.
    pub address: SocketAddr,
    /// The addresses of the name that are used, in order; empty where no name was looked up.
    pub addresses: Vec<SocketAddr>,
    /// Duration of the lookup; `None` when the URL held an address.
    pub lookup: Option<Duration>,
    /// The addresses of a target behind a proxy that wants an address.
    pub behind_proxy: Vec<IpAddr>,
}

impl Resolved {
    /// An address that was given.
    pub fn given(address: SocketAddr) -> Self {
        Self { address, addresses: Vec::new(), lookup: None, behind_proxy: Vec::new() }
    }

    /// The target, with the addresses that its proxy gets.
    #[must_use]
    pub fn complete(&self, mut target: Target) -> Target {
        if let Some(proxy) = target.proxy.as_mut().filter(|_| !self.behind_proxy.is_empty()) {
            proxy.addresses.clone_from(&self.behind_proxy);
        }
        target
    }

    /// All addresses of the load.
    pub fn all(&self) -> &[SocketAddr] {
        if self.addresses.is_empty() { std::slice::from_ref(&self.address) } else { &self.addresses }
    }
}

/// The addresses of a name that are used, when this one is the first that accepts a connection.
fn used(all: &[SocketAddr], first: SocketAddr, choice: AddressChoice) -> Vec<SocketAddr> {
    let is_used = |address: &&SocketAddr| match choice {
        AddressChoice::All => true,
        AddressChoice::OneFamily => address.is_ipv4() == first.is_ipv4(),
        AddressChoice::First => **address == first,
    };
    let mut used = all.iter().filter(is_used).copied().collect();
    in_order(&mut used);
    used
}

/// Hosts that are named in one message; the others are counted.
pub const UNCONSENTED_SHOWN_MAX: usize = 8;

/// A host that would be loaded without consent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnconsentedHost {
    /// The key of a consent to it: its name, or its address where it has no name of its own.
    pub host: String,
    /// Its address.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
    /// The address was given by the user; no name was looked up.
    pub is_given: bool,
}

impl UnconsentedHost {
    /// What a consent covers: a name where it was looked up, else the address alone.
    pub fn meant(&self) -> String {
        if self.is_given { self.address.to_string() } else { self.host.clone() }
    }
}

/// Cause and remedy.
fn refusal(unconsented_hosts: &[UnconsentedHost]) -> String {
    let (are, them) = if unconsented_hosts.len() == 1 { ("is", "it") } else { ("are", "them") };
    let shown = &unconsented_hosts[..unconsented_hosts.len().min(UNCONSENTED_SHOWN_MAX)];
    let more = unconsented_hosts.len() - shown.len();
    let who: Vec<String> = shown.iter().map(UnconsentedHost::to_string).collect();
    let who = format!("{}{}", who.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() });
    let mut hosts: Vec<&str> = shown.iter().map(|one| one.host.as_str()).collect();
    hosts.dedup();
    let flags: Vec<String> = hosts.iter().map(|host| format!("--allow-host {host}")).collect();
    let (flags, first, rate) = (flags.join(" "), hosts[0], plan::UNASKED_RATE_MAX);
    let connections = plan::UNASKED_CONNECTIONS_MAX;
    format!(
        "{who} {are} neither this machine nor in a private network; if you may load {them}, add {flags}, or let {them} say so in /.well-known/onrush-consent (onrush: allow {first}); up to {rate} requests/s (-q, steps and redirects counted) and {connections} connections (-c) go without"
    )
}

impl std::fmt::Display for UnconsentedHost {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, address, .. } = self;
        let is_alone = host.parse() == Ok(*address) || *address == UNKNOWN_ADDRESS;
        if is_alone { write!(out, "{host}") } else { write!(out, "{host} ({address})") }
    }
}

/// Why a name does not resolve.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The name is unknown.
    #[error("the host '{host}' is unknown; check the spelling, or write its address")]
    Unknown {
        /// The requested name.
        host: String,
    },
    /// Addresses are public, and there is no consent to load them.
    #[error("{}", refusal(unconsented_hosts))]
    Consent {
        /// All of them, at least one.
        unconsented_hosts: Vec<UnconsentedHost>,
    },
    /// The name servers cannot be queried.
    #[error("the host '{host}' cannot be looked up: {reason}; check /etc/resolv.conf, or write its address")]
    Lookup {
        /// The requested name.
        host: String,
        /// Error of the resolver.
        reason: String,
    },
    /// The name server that was given has no answer.
    #[error("the host '{host}' cannot be looked up: {reason}; check --dns, or leave it out")]
    Server {
        /// The requested name.
        host: String,
        /// Why there is no answer.
        reason: String,
    },
    /// A link-local address without its interface.
    #[error("{address} is link-local, so its interface belongs to it: [{address}%25eth0]; see: ip link")]
    NoZone {
        /// The address.
        address: Ipv6Addr,
    },
    /// This machine has no such interface.
    #[error("this machine has no interface '{zone}'; see: ip link")]
    Zone {
        /// The name or number of the interface.
        zone: String,
    },
}

/// An address, with the number of its interface if it is link-local.
fn in_zone(address: IpAddr, zone: Option<&str>, port: u16) -> Result<SocketAddr, ResolveError> {
    let Some(zone) = zone else {
        return match address {
            IpAddr::V6(address) if address.is_unicast_link_local() => Err(ResolveError::NoZone { address }),
            address => Ok((address, port).into()),
        };
    };
    let found = (format!("{address}%{zone}"), port).to_socket_addrs().ok().and_then(|mut all| all.next());
    found.ok_or_else(|| ResolveError::Zone { zone: zone.to_owned() })
}

/// All addresses of a name, or of an address itself. No connection is tried, and the target policy is not checked.
///
/// # Errors
/// The name is unknown, or no name server responds.
pub fn addresses_of(host: &str) -> Result<Vec<IpAddr>, ResolveError> {
    host.parse().map_or_else(|_| look_up(host), |address| Ok(vec![address]))
}

/// Finds the address of a target. Of several addresses it takes the first that accepts a connection, as a browser
/// would.
///
/// # Errors
/// The name is unknown, or no name server responds.
pub fn resolve(target: &Target, connect_timeout: Duration) -> Result<Resolved, ResolveError> {
    let accepts = |address: &SocketAddr| accepts(address, connect_timeout);
    match target.names.server {
        Some(server) => resolve_by(target, |host| by_server(server, host), accepts),
        None => resolve_by(target, look_up, accepts),
    }
}

/// The same with a given lookup of names and a given connection attempt, which is made only to addresses that the load
/// may go to.
fn resolve_by(
    target: &Target,
    look_up: impl Fn(&str) -> Result<Vec<IpAddr>, ResolveError>,
    accepts: impl Fn(&SocketAddr) -> bool,
) -> Result<Resolved, ResolveError> {
    // A Unix socket needs no name.
    if target.unix.is_some() {
        return Ok(Resolved::given((Ipv4Addr::LOCALHOST, target.port).into()));
    }
    let resolved = resolve_dialed(target, &look_up, accepts)?;
    match &target.proxy {
        Some(proxy) => Ok(Resolved { behind_proxy: behind_proxy(target, proxy, look_up)?, ..resolved }),
        None => Ok(resolved),
    }
}

/// Looks up a target behind a proxy. Where only the proxy can, its name counts as one of a public host.
fn behind_proxy(
    target: &Target,
    proxy: &Proxy,
    look_up: impl Fn(&str) -> Result<Vec<IpAddr>, ResolveError>,
) -> Result<Vec<IpAddr>, ResolveError> {
    let (host, port) = proxy.behind.as_ref().map_or((target.host.as_str(), target.port), |(host, port)| (host, *port));
    let is_looked_up_here = proxy.kind == ProxyKind::Socks5;
    let found = match host.parse::<IpAddr>() {
        Ok(address) => Ok(vec![address]),
        Err(_) if !proxy.addresses.is_empty() => Ok(proxy.addresses.clone()),
        Err(_) => look_up(host),
    };
    let addresses = match found {
        Ok(addresses) => addresses,
        Err(error) if is_looked_up_here => return Err(error),
        Err(_) => vec![UNKNOWN_ADDRESS],
    };
    let names = [host, target.host.as_str()];
    match addresses.iter().find(|address| !target.target_policy.allows(&names, **address)) {
        Some(address) => {
            let is_given = host.parse::<IpAddr>().is_ok();
            let unconsented_host = UnconsentedHost { host: host.to_owned(), address: *address, port, is_given };
            Err(ResolveError::Consent { unconsented_hosts: vec![unconsented_host] })
        }
        None if is_looked_up_here => Ok(addresses),
        None => Ok(Vec::new()),
    }
}

/// The address of a name that only a proxy can look up: a public one that belongs to nobody (RFC 5737).
const UNKNOWN_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 0));

/// Resolves the host that connections go to.
fn resolve_dialed(
    target: &Target,
    look_up: impl Fn(&str) -> Result<Vec<IpAddr>, ResolveError>,
    accepts: impl Fn(&SocketAddr) -> bool,
) -> Result<Resolved, ResolveError> {
    let (host, port) = target.dialed();
    let mut unconsented_hosts = given_hosts(target);
    let allow_all = |unconsented_hosts: Vec<UnconsentedHost>| match unconsented_hosts.is_empty() {
        true => Ok(()),
        false => Err(ResolveError::Consent { unconsented_hosts }),
    };
    // Endpoints that are complete need no name either.
    if let Some(first) = target.places.first()
        && let Some(address) = first.address
        && target.places.iter().all(|place| place.address.is_some())
    {
        allow_all(unconsented_hosts)?;
        return Ok(Resolved::given((address, first.port).into()));
    }
    let names = target.dialed_names();
    if let Ok(address) = host.parse::<IpAddr>() {
        if !target.target_policy.allows(&names, address) {
            unconsented_hosts.push(UnconsentedHost { host: host.to_owned(), address, port, is_given: true });
        }
        allow_all(unconsented_hosts)?;
        let zone = target.zone.as_deref().filter(|_| target.dial.is_none());
        return Ok(Resolved::given(in_zone(address, zone, port)?));
    }
    let begun = Instant::now();
    // RFC 6761, 6.3: a name that ends with `.localhost` is this machine, whether or not a name server knows it.
    let is_local = host.to_ascii_lowercase().trim_end_matches('.').ends_with(".localhost");
    let addresses = look_up(if is_local { "localhost" } else { host })?;
    let lookup = Some(begun.elapsed());
    // One address of a name is enough to require consent for the name.
    let far = addresses.iter().find(|address| !target.target_policy.allows(&names, **address));
    unconsented_hosts.extend(far.map(|address| UnconsentedHost {
        host: host.to_owned(),
        address: *address,
        port,
        is_given: false,
    }));
    allow_all(unconsented_hosts)?;
    let addresses: Vec<SocketAddr> = addresses.into_iter().map(|address| (address, port).into()).collect();
    let chosen = match addresses.as_slice() {
        [] => return Err(ResolveError::Unknown { host: host.to_owned() }),
        // All of them are used, whichever accepts.
        [first, rest @ ..] if needs_no_choice(*first, rest, target.names.addresses) => *first,
        [first, ..] => *addresses.iter().find(|address| accepts(address)).unwrap_or(first),
    };
    let addresses = used(&addresses, chosen, target.names.addresses);
    Ok(Resolved { address: chosen, addresses, lookup, behind_proxy: Vec::new() })
}

/// Whether the addresses that are used do not depend on who accepts a connection.
fn needs_no_choice(first: SocketAddr, rest: &[SocketAddr], choice: AddressChoice) -> bool {
    match choice {
        AddressChoice::All => true,
        AddressChoice::OneFamily => rest.iter().all(|one| one.is_ipv4() == first.is_ipv4()),
        AddressChoice::First => rest.is_empty(),
    }
}

/// Asks a name server that was given; this machine's own name needs none.
fn by_server(server: SocketAddr, host: &str) -> Result<Vec<IpAddr>, ResolveError> {
    if host == "localhost" {
        return look_up(host);
    }
    names::ask(Some(server), host).map(|records| records.addresses).map_err(|fault| match fault {
        LookupFault::NoName => ResolveError::Unknown { host: host.to_owned() },
        LookupFault::Server(reason) => ResolveError::Server { host: host.to_owned(), reason },
    })
}

/// Unconsented hosts among the addresses that the user gave, each once.
fn given_hosts(target: &Target) -> Vec<UnconsentedHost> {
    let mut unconsented_hosts: Vec<UnconsentedHost> = Vec::new();
    for place in &target.places {
        let Some(address) = place.address else { continue };
        if target.target_policy.allows(&[&target.host], address)
            || unconsented_hosts.iter().any(|known| known.address == address)
        {
            continue;
        }
        let host = if plan::is_name_of_others(&target.host) { target.host.clone() } else { address.to_string() };
        unconsented_hosts.push(UnconsentedHost { host, address, port: place.port, is_given: true });
    }
    unconsented_hosts
}

fn accepts(address: &SocketAddr, timeout: Duration) -> bool {
    TcpStream::connect_timeout(address, timeout).is_ok()
}

#[cfg(test)]
mod tests;
