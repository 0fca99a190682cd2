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

use std::net::SocketAddr;
use std::time::{Duration, Instant};

pub(crate) use ask::LookupFault;
use ask::Records;
use config::ResolverConfig;
pub(crate) use refresh::Refresher;
pub use set::{AddressChange, NameReport};
pub(crate) use set::{AddressSet, in_order};

/// A lookup is given up after this time.
const LOOKUP_TIME_MAX: Duration = Duration::from_secs(5);
/// How often the system is asked for a name whose TTL is not known.
const SYSTEM_EVERY: Duration = Duration::from_secs(30);

/// Asks the given name server, or those of this machine, with the search list of its names.
pub(crate) fn ask(server: Option<SocketAddr>, host: &str) -> Result<Records, LookupFault> {
    let until = Instant::now() + LOOKUP_TIME_MAX;
    match server {
        Some(server) => ask::ask(&[server], &[host.to_owned()], until),
        None => {
            let config = ResolverConfig::of_machine();
            ask::ask(&config.servers, &config.candidates(host), until)
        }
    }
}
