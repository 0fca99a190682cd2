//! Addresses of this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The addresses of the interface that leads to `to`; only the kernel's choice if the others cannot be read.
pub fn addresses_towards(to: SocketAddr) -> Vec<IpAddr> {
    let unspecified: SocketAddr =
        if to.is_ipv4() { (Ipv4Addr::UNSPECIFIED, 0).into() } else { (Ipv6Addr::UNSPECIFIED, 0).into() };
    // No packet is sent: connecting a datagram socket looks up the route.
    let chosen = UdpSocket::bind(unspecified).and_then(|socket| socket.connect(to).and_then(|()| socket.local_addr()));
    let Ok(chosen) = chosen.map(|address| address.ip()) else { return Vec::new() };
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let mut all = match (to.ip(), chosen) {
        (IpAddr::V4(_), IpAddr::V4(own)) => on_link_with(own, &read("/proc/net/route"), &read("/proc/net/fib_trie"))
            .into_iter()
            .map(IpAddr::V4)
            .collect(),
        (_, IpAddr::V6(own)) => {
            beside(own, &read("/proc/net/if_inet6")).into_iter().map(IpAddr::V6).collect::<Vec<IpAddr>>()
        }
        _ => Vec::new(),
    };
    if !all.contains(&chosen) {
        all.insert(0, chosen);
    }
    all
}

/// Local addresses in the networks of the interface that has the address `own`, by the kernel's routes and its trie of
/// addresses.
fn on_link_with(own: Ipv4Addr, routes: &str, trie: &str) -> Vec<Ipv4Addr> {
    // Name, destination, gateway, flags, ..., mask as the eighth field; numbers in host byte order.
    let networks: Vec<(&str, u32, u32)> = routes
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let number = |index: usize| u32::from_str_radix(fields.get(index)?, 16).ok();
            let (to, gateway, mask) = (number(1)?, number(2)?, number(7)?);
            (gateway == 0 && mask != 0).then(|| (*fields.first().unwrap_or(&""), to, mask))
        })
        .collect();
    let lies_in =
        |address: Ipv4Addr, (_, to, mask): &(&str, u32, u32)| u32::from_ne_bytes(address.octets()) & mask == *to;
    let Some(name) = networks.iter().find(|network| lies_in(own, network)).map(|(name, ..)| *name) else {
        return Vec::new();
    };
    let mut addresses = Vec::new();
    let mut leaf = None;
    for line in trie.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse::<Ipv4Addr>().ok();
        } else if line.starts_with("/32 host LOCAL")
            && let Some(address) = leaf
            && networks.iter().any(|network| network.0 == name && lies_in(address, network))
            && !addresses.contains(&address)
        {
            addresses.push(address);
        }
    }
    addresses
}

/// Addresses of the interface that has the address `own`, of the same scope; the table has address, index, prefix,
/// scope, flags, name.
fn beside(own: Ipv6Addr, table: &str) -> Vec<Ipv6Addr> {
    let lines = || {
        table.lines().filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let number = u128::from_str_radix(fields.first()?, 16).ok()?;
            Some((Ipv6Addr::from(number), *fields.get(3)?, *fields.get(5)?))
        })
    };
    let Some((_, scope, name)) = lines().find(|(address, ..)| *address == own) else { return Vec::new() };
    lines().filter(|line| (line.1, line.2) == (scope, name)).map(|(address, ..)| address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_interface() {
        let number = |octets: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(octets));
        let route = |name: &str, to: [u8; 4], gateway: [u8; 4], mask: [u8; 4]| {
            format!("{name}\t{}\t{}\t0001\t0\t0\t0\t{}\t0\t0\t0\n", number(to), number(gateway), number(mask))
        };
        let routes = [
            "Iface\tDestination\n".to_owned(),
            route("eth0", [0, 0, 0, 0], [10, 0, 0, 1], [0, 0, 0, 0]),
            route("eth0", [10, 0, 0, 0], [0, 0, 0, 0], [255, 255, 255, 0]),
            route("eth1", [10, 0, 1, 0], [0, 0, 0, 0], [255, 255, 255, 0]),
        ]
        .concat();
        let trie = "Local:\n  +-- 10.0.0.0/24 2 0 2\n     |-- 10.0.0.2\n        /32 host LOCAL\n     |-- 10.0.0.3\n        /32 host LOCAL\n     |-- 10.0.0.255\n        /32 link BROADCAST\n     |-- 10.0.1.2\n        /32 host LOCAL\n     |-- 10.0.0.2\n        /32 host LOCAL\n";
        let found = on_link_with([10, 0, 0, 3].into(), &routes, trie);
        assert_eq!(found, [Ipv4Addr::from([10, 0, 0, 2]), Ipv4Addr::from([10, 0, 0, 3])]);
        assert_eq!(on_link_with([192, 0, 2, 1].into(), &routes, trie), Vec::<Ipv4Addr>::new());
        let six = "fd000000000000000000000000000001 02 40 00 80 eth0\nfe800000000000000000000000000001 02 40 20 80 eth0\nfd000000000000000000000000000002 02 40 00 80 eth0\nfd000000000000000000000000000003 03 40 00 80 eth1\n";
        let own = "fd00::2".parse().expect("an address");
        assert_eq!(beside(own, six).iter().map(Ipv6Addr::to_string).collect::<Vec<_>>(), ["fd00::1", "fd00::2"]);
    }

    #[test]
    fn loopback_leads_to_itself() {
        assert_eq!(addresses_towards("127.0.0.1:9".parse().expect("an address")).len(), 1);
    }
}
