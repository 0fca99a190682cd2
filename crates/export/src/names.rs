//! Name resolution: by the resolver that the load uses too, since a static binary must not use that of glibc.

use std::net::{IpAddr, SocketAddr};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The most addresses of one name that are tried; further ones are not needed.
const ADDRESSES_MAX: usize = 8;

/// The resolver for the HTTP client.
#[derive(Debug)]
pub(crate) struct Names;

/// Addresses of a host, which may be an address itself, with or without brackets.
pub(crate) fn addresses_of(host: &str) -> std::io::Result<Vec<IpAddr>> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let found = engine::addresses_of(bare).map_err(|error| std::io::Error::other(error.to_string()))?;
    if found.is_empty() { Err(std::io::ErrorKind::AddrNotAvailable.into()) } else { Ok(found) }
}

impl Resolver for Names {
    fn resolve(&self, uri: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().ok_or(ureq::Error::HostNotFound)?;
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let mut addresses = self.empty();
        for address in addresses_of(host)?.into_iter().take(ADDRESSES_MAX) {
            addresses.push(SocketAddr::new(address, port));
        }
        Ok(addresses)
    }
}
