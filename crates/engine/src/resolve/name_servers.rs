//! Lookup by the name servers of `/etc/resolv.conf` and by `/etc/hosts`, without glibc.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use hickory_resolver::TokioResolver;

use super::ResolveError;

/// Timeout of each of two attempts.
const RESPONSE_TIME_MAX: Duration = Duration::from_secs(3);

pub(super) fn look_up(host: &str) -> Result<Vec<IpAddr>, ResolveError> {
    let failed = |reason: String| ResolveError::Lookup { host: host.to_owned(), reason };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed(error.to_string()))?;
    runtime.block_on(async {
        let mut builder = match TokioResolver::builder_tokio() {
            Ok(builder) => builder,
            // An image with nothing but the binary has neither file.
            Err(error) => return without_files(host).ok_or_else(|| failed(error.to_string())),
        };
        let options = builder.options_mut();
        options.timeout = RESPONSE_TIME_MAX;
        options.attempts = 2;
        let resolver = builder.build().map_err(|error| failed(error.to_string()))?;
        match resolver.lookup_ip(host).await {
            Ok(found) => Ok(found.iter().collect()),
            Err(error) if error.is_no_records_found() => Err(ResolveError::Unknown { host: host.to_owned() }),
            Err(error) => Err(failed(error.to_string())),
        }
    })
}

/// Names that every machine knows (RFC 6761, 6.3), whatever is set up.
fn without_files(host: &str) -> Option<Vec<IpAddr>> {
    (host == "localhost").then(|| vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_name() {
        let found = look_up("localhost").expect("every system knows it");
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
    }

    #[test]
    fn this_machine_has_a_name_where_nothing_is_set_up() {
        let found = without_files("localhost").expect("it is always known");
        assert!(found.len() == 2 && found.iter().all(IpAddr::is_loopback), "{found:?}");
        assert_eq!(without_files("example.com"), None);
    }
}
