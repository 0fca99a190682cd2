//! The network interface to an address, and its speed.

use std::net::{IpAddr, Ipv4Addr};

/// An interface with a known speed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Bits a second in one direction.
    pub bits_per_s: u64,
}

/// The interface through which an address is reached; `None` for loopback, for IPv6, and where the system does not
/// report it.
pub fn link_to(address: IpAddr) -> Option<Link> {
    let IpAddr::V4(address) = address.to_canonical() else { return None };
    // An address of this machine is reached without an interface, whatever the routes are.
    if crate::is_own(address.into()) {
        return None;
    }
    let routes = std::fs::read_to_string("/proc/net/route").ok()?;
    let name = interface_to(address, &routes)?;
    let speed = std::fs::read_to_string(format!("/sys/class/net/{name}/speed")).ok()?;
    // A virtual interface reports -1.
    let megabits: u64 = speed.trim().parse().ok().filter(|speed| *speed > 0)?;
    Some(Link { name, bits_per_s: megabits * 1_000_000 })
}

/// The interface of the longest prefix in the kernel's table: name, destination, gateway, flags, ..., mask as the
/// eighth field; addresses are hexadecimal in host byte order.
fn interface_to(address: Ipv4Addr, routes: &str) -> Option<String> {
    let address = u32::from_ne_bytes(address.octets());
    let matching = routes.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |index: usize| u32::from_str_radix(fields.get(index)?, 16).ok();
        let (to, mask) = (number(1)?, number(7)?);
        (address & mask == to).then(|| (mask.count_ones(), (*fields.first().unwrap_or(&"")).to_owned()))
    });
    matching.max_by_key(|(bits, _)| *bits).map(|(_, name)| name).filter(|name| name != "lo")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_wins() {
        let number = |octets: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(octets));
        let line = |name: &str, to: [u8; 4], mask: [u8; 4]| {
            format!("{name}\t{}\t00000000\t0003\t0\t0\t0\t{}\t0\t0\t0\n", number(to), number(mask))
        };
        let routes = ["Iface\tDestination\n".to_owned()]
            .into_iter()
            .chain([
                line("eth0", [0, 0, 0, 0], [0, 0, 0, 0]),
                line("eth1", [10, 0, 0, 0], [255, 0, 0, 0]),
                line("eth2", [10, 1, 0, 0], [255, 255, 0, 0]),
            ])
            .collect::<String>();
        let to = |address: [u8; 4]| interface_to(address.into(), &routes);
        assert_eq!(to([192, 0, 2, 1]).as_deref(), Some("eth0"));
        assert_eq!(to([10, 2, 0, 1]).as_deref(), Some("eth1"));
        assert_eq!(to([10, 1, 2, 3]).as_deref(), Some("eth2"));
        assert_eq!(interface_to([10, 1, 2, 3].into(), "header only\n"), None);
    }

    #[test]
    fn loopback_has_no_speed() {
        assert_eq!(link_to(IpAddr::V4(Ipv4Addr::LOCALHOST)), None);
    }
}
