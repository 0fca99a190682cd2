//! Overrides of the route to a host, as in curl.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use crate::{Endpoint, PlanError, Proxy, ProxyHeaderOptions, ProxyOptions, Remedy};

/// The way to a host, where it is not the direct one.
#[derive(Debug, Default)]
pub(crate) struct Route {
    /// The endpoints.
    pub(crate) places: Vec<Endpoint>,
    /// The name and port to connect to.
    pub(crate) dial: Option<(String, u16)>,
    /// The proxy in between.
    pub(crate) proxy: Option<Box<Proxy>>,
    /// What a connection begins with.
    pub(crate) proxy_header: Option<ProxyHeaderOptions>,
}

/// Endpoints, and the name and port to connect to.
type Endpoints = (Vec<Endpoint>, Option<(String, u16)>);

/// The route overrides of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteOverrides {
    /// Addresses of names.
    pub resolve: Vec<Resolve>,
    /// Other hosts to connect to.
    pub connect_to: Vec<ConnectTo>,
    /// The Unix socket to connect to instead.
    pub unix: Option<Arc<Path>>,
    /// The proxies.
    pub proxies: ProxyOptions,
    /// The header of the PROXY protocol.
    pub proxy_header: Option<ProxyHeaderOptions>,
}

/// The addresses of a name at a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolve {
    /// The host; `*` for any.
    pub host: String,
    /// The port in the URL.
    pub port: u16,
    /// The addresses.
    pub addresses: Vec<IpAddr>,
}

/// Another host and port to connect to. Empty and `None` parts stay unchanged, and match anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectTo {
    host: String,
    port: Option<u16>,
    to: String,
    to_port: Option<u16>,
}

impl Resolve {
    /// Parses `host:port:address`.
    ///
    /// # Errors
    /// The text is invalid.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let read = || {
            let [host, port, addresses] = *fields(text.trim_start_matches('+'), 3)? else { return None };
            let addresses = addresses.split(',').map(|address| without_brackets(address).parse().ok());
            // As in curl, a hyphen removes an address; here there is none to remove.
            let addresses = addresses.collect::<Option<Vec<_>>>().filter(|_| !host.starts_with('-'))?;
            Some(Self { host: host.to_owned(), port: port_of(port)?, addresses })
        };
        read().ok_or_else(|| PlanError::Resolve { value: text.to_owned() })
    }
}

impl ConnectTo {
    /// Parses `host:port:host:port`.
    ///
    /// # Errors
    /// The text is invalid.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let port = |text: &str| if text.is_empty() { Some(None) } else { port_of(text).map(Some) };
        let read = || {
            let [host, from_port, to, to_port] = *fields(text, 4)? else { return None };
            Some(Self { host: host.to_owned(), port: port(from_port)?, to: to.to_owned(), to_port: port(to_port)? })
        };
        read().ok_or_else(|| PlanError::ConnectTo { value: text.to_owned() })
    }

    #[inline]
    fn fits(&self, host: &str, port: u16) -> bool {
        (self.host.is_empty() || self.host.eq_ignore_ascii_case(host)) && self.port.is_none_or(|own| own == port)
    }
}

impl RouteOverrides {
    /// The way to a host and port. `places`: those that were named directly; `is_tls`: connections to it are secured.
    #[inline]
    pub(crate) fn to(&self, host: &str, port: u16, places: Vec<Endpoint>, is_tls: bool) -> Result<Route, PlanError> {
        let mut route = Route { proxy_header: self.proxy_header.clone(), ..Route::default() };
        (route.places, route.dial) = self.endpoints(host, port, places)?;
        if self.unix.is_none()
            && let Some(proxy) = self.proxies.of(host, is_tls)
        {
            self.pass_through(proxy, &mut route);
        }
        Ok(route)
    }

    /// Leads a route through a proxy: its host is the one to connect to.
    fn pass_through(&self, proxy: &Proxy, route: &mut Route) {
        let mut proxy = proxy.clone();
        proxy.behind = route.dial.take();
        // Endpoints of the target have no meaning, but for one that would be looked up here.
        proxy.addresses = route.places.drain(..).filter_map(|place| place.address).collect();
        // Whatever `--connect-to` says of hosts, it is not about the proxy.
        route.places = self.resolved(&proxy.host, proxy.port);
        route.dial = Some((proxy.host.clone(), proxy.port));
        route.proxy = Some(Box::new(proxy));
    }

    /// The addresses that are given for a host and port.
    #[inline]
    fn resolved(&self, host: &str, port: u16) -> Vec<Endpoint> {
        let fits = |way: &&Resolve| (way.host == "*" || way.host.eq_ignore_ascii_case(host)) && way.port == port;
        let addresses = self.resolve.iter().rfind(fits).map_or(&[][..], |way| &way.addresses);
        addresses.iter().map(|address| Endpoint { address: Some(*address), port }).collect()
    }

    #[inline]
    fn endpoints(&self, host: &str, port: u16, places: Vec<Endpoint>) -> Result<Endpoints, PlanError> {
        // As curl: the first that matches.
        let led = self.connect_to.iter().find(|way| way.fits(host, port));
        let dial = led.map(|way| {
            let to = if way.to.is_empty() { host } else { &way.to };
            (to.to_owned(), way.to_port.unwrap_or(port))
        });
        let (looked_up, port) = dial.as_ref().map_or((host, port), |(host, port)| (host.as_str(), *port));
        let resolved = self.resolved(looked_up, port);
        match (resolved.is_empty(), places.is_empty()) {
            (true, _) => Ok((places, dial)),
            (false, true) => Ok((resolved, dial)),
            (false, false) => {
                Err(PlanError::Conflict { one: "--connect-addresses", other: "--resolve", remedy: Remedy::OneWay })
            }
        }
    }
}

/// Parts between colons; brackets protect colons within. The last part takes the rest.
fn fields(text: &str, count: usize) -> Option<Box<[&str]>> {
    let (mut all, mut start, mut depth) = (Vec::new(), 0, 0i32);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b':' if depth == 0 && all.len() + 1 < count => {
                all.push(without_brackets(&text[start..index]));
                start = index + 1;
            }
            _ => {}
        }
    }
    all.push(if count == 3 { &text[start..] } else { without_brackets(&text[start..]) });
    (all.len() == count).then(|| all.into())
}

fn without_brackets(text: &str) -> &str {
    text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text)
}

fn port_of(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_addresses_of_a_host_are_taken_and_each_is_valid() {
        let of = |text: &str| Resolve::parse(text).map(|one| one.addresses.iter().map(IpAddr::to_string).collect());
        let addresses: Vec<String> = of("a.test:80:127.0.0.5,[::1],127.0.0.6").expect("three addresses");
        assert_eq!(addresses, ["127.0.0.5", "::1", "127.0.0.6"]);
        for wrong in ["a.test:80:127.0.0.5,no", "a.test:80:", "a.test:80:127.0.0.5,", "-a.test:80:127.0.0.5"] {
            let refused: Result<Vec<String>, PlanError> = of(wrong);
            assert!(matches!(refused, Err(PlanError::Resolve { value }) if value == wrong), "{wrong}");
        }
        // The last one for a host and port counts, as with curl.
        let resolve = ["*:80:127.0.0.1", "a.test:80:127.0.0.2", "A.test:80:127.0.0.3,127.0.0.4"];
        let resolve = resolve.map(|text| Resolve::parse(text).expect("valid")).to_vec();
        let overrides = RouteOverrides { resolve, ..RouteOverrides::default() };
        let route = overrides.to("a.test", 80, Vec::new(), false).expect("a route");
        let addresses: Vec<_> =
            route.places.iter().filter_map(|place| place.address).map(|one| one.to_string()).collect();
        assert_eq!(addresses, ["127.0.0.3", "127.0.0.4"]);
        assert!(overrides.to("a.test", 81, Vec::new(), false).expect("a route").places.is_empty());
    }
}
