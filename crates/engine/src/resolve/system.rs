//! Lookup by the resolver of this system.

use std::net::{IpAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::time::Duration;

use super::ResolveError;

/// A resolver that queries three name servers twice, 2 s each, has given up by then.
const LOOKUP_TIME_MAX: Duration = Duration::from_secs(12);

/// Queries the system's resolver, on a thread of its own: nothing else ends a lookup that hangs.
pub(super) fn look_up(host: &str) -> Result<Vec<IpAddr>, ResolveError> {
    let failed = |reason: String| ResolveError::Lookup { host: host.to_owned(), reason };
    let (reported, receive) = mpsc::sync_channel(1);
    let name = host.to_owned();
    let requested = std::thread::Builder::new().name("resolver".to_owned()).spawn(move || {
        let found = (name.as_str(), 0).to_socket_addrs();
        // There is no receiver after the time is up.
        reported.send(found.map(|addresses| addresses.map(|address| address.ip()).collect::<Vec<_>>())).ok();
    });
    requested.map_err(|error| failed(error.to_string()))?;
    match receive.recv_timeout(LOOKUP_TIME_MAX) {
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) if is_nobody_to_ask(&error) => Err(failed(error.to_string())),
        Ok(Err(_)) => Err(ResolveError::Unknown { host: host.to_owned() }),
        Err(_) => Err(failed(format!("no answer in {} s", LOOKUP_TIME_MAX.as_secs()))),
    }
}

/// No name server responded, or the system could not query one. The code of `getaddrinfo` is only in the text of its
/// error: those of glibc and of musl, which are English as long as no locale is set.
fn is_nobody_to_ask(error: &std::io::Error) -> bool {
    let words = error.to_string();
    error.raw_os_error().is_some()
        || ["Temporary failure", "Try again", "Non-recoverable", "Unrecoverable", "ystem error", "emory"]
            .iter()
            .any(|part| words.contains(part))
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::*;

    #[test]
    fn this_machine_has_a_name() {
        let found = look_up("localhost").expect("every system knows it");
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
    }

    #[test]
    fn a_name_that_nobody_knows_is_reported_from_nobody_to_ask() {
        let of = |words: &str| Error::other(format!("failed to lookup address information: {words}"));
        for words in ["Temporary failure in name resolution", "Try again", "Non-recoverable failure in name resolution"]
        {
            assert!(is_nobody_to_ask(&of(words)), "{words}");
        }
        for words in ["Name or service not known", "No address associated with hostname", "Name does not resolve"] {
            assert!(!is_nobody_to_ask(&of(words)), "{words}");
        }
        assert!(is_nobody_to_ask(&Error::from_raw_os_error(24)));
    }
}
