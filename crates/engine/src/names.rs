//! The addresses of a name during a run: looked up again when their TTL ends, on threads of their own.
//!
//! - `ask`: questions to name servers, over UDP and TCP
//! - `config`: `/etc/resolv.conf` and `/etc/hosts`
//! - `set`: the addresses that shards connect to, and what became of the lookups
//! - `refresh`: the threads that look up again

mod ask;
mod config;
mod refresh;
mod set;

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

pub(crate) use ask::LookupFault;
use ask::Records;
use config::ResolverConfig;
pub(crate) use refresh::Refresher;
pub use set::{AddressChange, NameReport};
pub(crate) use set::{AddressSet, in_order};

/// A lookup is given up after this time.
pub(crate) const LOOKUP_TIME_MAX: Duration = Duration::from_secs(5);
/// How often the system is asked for a name whose TTL is not known.
const SYSTEM_EVERY: Duration = Duration::from_secs(30);

/// Asks a name server for the addresses of a name.
pub(crate) fn ask_server(server: SocketAddr, host: &str) -> Result<Vec<IpAddr>, LookupFault> {
    let candidates = [host.to_owned()];
    ask::ask(&[server], &candidates, Instant::now() + LOOKUP_TIME_MAX).map(|records| records.addresses)
}

/// Asks the given name server, or those of this machine, with the search list of its names.
fn ask_again(server: Option<SocketAddr>, host: &str) -> Result<Records, LookupFault> {
    let until = Instant::now() + LOOKUP_TIME_MAX;
    match server {
        Some(server) => ask::ask(&[server], &[host.to_owned()], until),
        None => {
            let config = ResolverConfig::of_machine();
            ask::ask(&config.servers, &config.candidates(host), until)
        }
    }
}
