//! The name servers of this machine, and the names that it knows by itself.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::time::SystemTime;

const RESOLV_CONF: &str = "/etc/resolv.conf";
const HOSTS: &str = "/etc/hosts";
const DNS_PORT: u16 = 53;
/// Most name servers, names of the search list, and dots, as in the C library.
const SERVERS_MAX: usize = 3;
const SEARCH_MAX: usize = 6;
const DOTS_MAX: usize = 15;

/// The contents of `/etc/resolv.conf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResolverConfig {
    pub(super) servers: Vec<SocketAddr>,
    /// Suffixes of names.
    search: Vec<String>,
    /// A name with this many dots is tried without a suffix first.
    dots: usize,
}

impl ResolverConfig {
    /// The configuration of this machine.
    pub(super) fn of_machine() -> Self {
        Self::parse(&fs::read_to_string(RESOLV_CONF).unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let mut config = Self { servers: Vec::new(), search: Vec::new(), dots: 1 };
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("nameserver") if config.servers.len() < SERVERS_MAX => {
                    config.servers.extend(words.next().and_then(server));
                }
                Some("search" | "domain") => {
                    config.search = words.take(SEARCH_MAX).map(|name| name.trim_matches('.').to_owned()).collect();
                }
                Some("options") => {
                    let dots = words.filter_map(|word| word.strip_prefix("ndots:")?.parse().ok()).next_back();
                    config.dots = dots.map_or(config.dots, |dots: usize| dots.min(DOTS_MAX));
                }
                _ => {}
            }
        }
        if config.servers.is_empty() {
            config.servers.push((Ipv4Addr::LOCALHOST, DNS_PORT).into());
        }
        config
    }

    /// The names to ask for, in order.
    pub(super) fn candidates(&self, host: &str) -> Vec<String> {
        if host.ends_with('.') {
            return vec![host.to_owned()];
        }
        let suffixed = self.search.iter().filter(|suffix| !suffix.is_empty()).map(|suffix| format!("{host}.{suffix}"));
        let mut all: Vec<String> = suffixed.collect();
        let is_first = host.matches('.').count() >= self.dots;
        all.insert(if is_first { 0 } else { all.len() }, host.to_owned());
        all
    }
}

/// A name server; a link-local one has its interface.
fn server(word: &str) -> Option<SocketAddr> {
    match word.parse::<IpAddr>() {
        Ok(address) => Some((address, DNS_PORT).into()),
        Err(_) if word.contains('%') => (word, DNS_PORT).to_socket_addrs().ok()?.next(),
        Err(_) => None,
    }
}

/// The addresses of a name in `/etc/hosts`.
pub(super) fn own_addresses(host: &str) -> Vec<IpAddr> {
    addresses_in(&fs::read_to_string(HOSTS).unwrap_or_default(), host)
}

/// When that file was changed.
pub(super) fn hosts_changed_at() -> Option<SystemTime> {
    fs::metadata(HOSTS).and_then(|file| file.modified()).ok()
}

fn addresses_in(hosts: &str, host: &str) -> Vec<IpAddr> {
    let host = host.trim_end_matches('.');
    let of_line = |line: &str| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = words.next()?.parse().ok()?;
        words.any(|name| name.eq_ignore_ascii_case(host)).then_some(address)
    };
    hosts.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_search_list_are_tried_in_order() {
        let text = "# ours\nnameserver 10.0.0.2\n nameserver fd00::2 \nnameserver nonsense\nnameserver 10.0.0.4\n\
            nameserver 10.0.0.5\nsearch a.example b.example.\noptions rotate ndots:2 timeout:1\n";
        let config = ResolverConfig::parse(text);
        let servers: Vec<String> = config.servers.iter().map(SocketAddr::to_string).collect();
        assert_eq!(servers, ["10.0.0.2:53", "[fd00::2]:53", "10.0.0.4:53"]);
        assert_eq!(config.candidates("shop"), ["shop.a.example", "shop.b.example", "shop"]);
        assert_eq!(config.candidates("www.shop"), ["www.shop.a.example", "www.shop.b.example", "www.shop"]);
        assert_eq!(config.candidates("w.w.shop"), ["w.w.shop", "w.w.shop.a.example", "w.w.shop.b.example"]);
        assert_eq!(config.candidates("shop."), ["shop."]);
    }

    #[test]
    fn without_a_file_this_machine_is_the_server() {
        let config = ResolverConfig::parse("");
        assert_eq!(config.servers, ["127.0.0.1:53".parse().expect("an address")]);
        assert_eq!(config.candidates("shop.example"), ["shop.example"]);
    }

    #[test]
    fn a_name_of_the_hosts_file_has_all_its_addresses() {
        let hosts = "127.0.0.1 localhost\n10.0.0.1\tshop.example shop # ours\n10.0.0.2 SHOP\n# 10.0.0.3 shop\nx shop\n";
        let of = |host: &str| addresses_in(hosts, host).iter().map(IpAddr::to_string).collect::<Vec<_>>();
        assert_eq!(of("shop"), ["10.0.0.1", "10.0.0.2"]);
        assert_eq!(of("shop.example."), ["10.0.0.1"]);
        assert!(of("other").is_empty());
    }
}
