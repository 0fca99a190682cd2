//! Source and destination addresses of the connections of a load.
//!
//! One source address, one target address and one target port carry as many connections as there are local ports. More
//! connections need more addresses or more ports: of the loopback network there are always enough.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use driver::Peer;
use plan::{Sources, Target, errors};

/// Half of the local ports of an address are used before another one is taken: the kernel searches long for the last
/// ones.
const PORTS_SHARE: u64 = 2;
/// The first source address on loopback; further ones follow it.
const LOOPBACK_FIRST: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 1);

/// Pairs of a source address and a target endpoint, used in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    to: Vec<Peer>,
    from: Vec<Option<IpAddr>>,
}

errors! {
    /// Why the addresses of a load cannot be used.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum PlacesError;

    /// The address belongs to another machine.
    NotOurs { address: IpAddr };
        "{address} is not an address of this machine; see: ip address, or give it one with: ip address add {address} dev ...",
        "{address} 不是本机地址；请用 ip address 查看，或添加：ip address add {address} dev ...";
    /// The source and the target differ in address family.
    Families { from: IpAddr, to: SocketAddr };
        "{from} cannot lead to {to}: one is IPv4 and the other IPv6; give both of one kind",
        "无法从 {from} 连接 {to}：一个是 IPv4，另一个是 IPv6；请使用同一种地址";
}

impl Places {
    /// One target endpoint, and a source address chosen by the kernel.
    pub fn only(to: SocketAddr) -> Self {
        Self { to: vec![to.into()], from: vec![None] }
    }

    /// The endpoints of a target whose host is `address`, for a number of connections.
    ///
    /// # Errors
    /// An address is not of this machine, or of another family than the target.
    pub fn of(target: &Target, address: SocketAddr, connections: u64) -> Result<Self, PlacesError> {
        if let Some(path) = &target.unix {
            return Ok(Self { to: vec![Peer::Unix(path.clone())], from: vec![None] });
        }
        let to: Vec<SocketAddr> = match target.places.as_slice() {
            [] => vec![address],
            places => places.iter().map(|place| place.with(address)).collect(),
        };
        let from = match &target.sources {
            Sources::These(addresses) => addresses.clone(),
            Sources::Auto | Sources::Usual if to.iter().all(|place| is_loopback4(*place)) => {
                loopback_sources(connections, to.len() as u64)
            }
            Sources::Auto => host::addresses_towards(to[0]),
            Sources::Usual => Vec::new(),
        };
        for address in &from {
            if !host::is_own(*address) {
                return Err(PlacesError::NotOurs { address: *address });
            }
            if let Some(to) = to.iter().find(|place| place.is_ipv4() != address.is_ipv4()) {
                return Err(PlacesError::Families { from: *address, to: *to });
            }
        }
        let from = if from.is_empty() { vec![None] } else { from.into_iter().map(Some).collect() };
        Ok(Self { to: to.into_iter().map(Peer::from).collect(), from })
    }

    /// The single endpoint of most loads.
    #[inline]
    pub(crate) fn single(&self) -> Option<Peer> {
        match (self.to.as_slice(), self.from.as_slice()) {
            ([to], [None]) => Some(to.clone()),
            _ => None,
        }
    }

    /// Target and source address of connection `number`.
    pub(crate) fn pick(&self, number: u64) -> (Peer, Option<IpAddr>) {
        let to = self.to[(number % self.to.len() as u64) as usize].clone();
        let turn = number / self.to.len() as u64;
        (to, self.from[(turn % self.from.len() as u64) as usize])
    }

    /// Some endpoint is neither this machine nor in a private network.
    pub(crate) fn are_far(&self) -> bool {
        self.to.iter().any(|to| to.ip().is_some_and(|to| !plan::is_near(to.ip())))
    }

    /// Connections that local ports can carry, with `ports` of them for each pair.
    pub fn carry(&self, ports: u64) -> u64 {
        ports * self.to.len() as u64 * self.from.len() as u64
    }

    /// Counts of source addresses and of target endpoints.
    pub fn counts(&self) -> (usize, usize) {
        (self.from.len(), self.to.len())
    }
}

fn is_loopback4(place: SocketAddr) -> bool {
    matches!(place.ip(), IpAddr::V4(address) if address.is_loopback())
}

/// Empty when the kernel's choice has ports enough.
fn loopback_sources(connections: u64, places: u64) -> Vec<IpAddr> {
    let ports = host::local_port_range().map_or(28_232, |(first, last)| u64::from(last.saturating_sub(first)) + 1);
    let each = (ports / PORTS_SHARE).max(1) * places;
    let count = connections.div_ceil(each).min(plan::PLACES_MAX as u64);
    if count <= 1 {
        return Vec::new();
    }
    let first = u32::from(LOOPBACK_FIRST);
    (0..count as u32).map(|number| Ipv4Addr::from(first + number).into()).collect()
}

#[cfg(test)]
mod tests {
    use plan::Flags;

    use super::*;

    fn places(flags: &[(&str, &str)], connections: u64) -> Result<Places, PlacesError> {
        let mut requested = Flags { url: Some("http://127.0.0.1:8080/".to_owned()), ..Flags::default() };
        for (name, value) in flags {
            let value = Some((*value).to_owned());
            match *name {
                "url" => requested.url = value,
                "from" => requested.source_ip = value,
                _ => requested.to = value,
            }
        }
        let plan = requested.plan().expect("a plan");
        let target = plan.scenarios[0].target();
        let address = SocketAddr::new(target.host.parse().expect("an address"), target.port);
        Places::of(target, address, connections)
    }

    #[test]
    fn loopback_has_addresses_enough() {
        assert_eq!(places(&[], 1_000), Ok(Places::only("127.0.0.1:8080".parse().expect("an address"))));
        let many = places(&[], 1_000_000).expect("places");
        let (from, to) = many.counts();
        assert!(from > 60 && to == 1, "{from} {to}");
        let (ports_first, ports_last) = host::local_port_range().expect("the kernel tells");
        assert!(many.carry(u64::from(ports_last - ports_first) + 1) >= 1_000_000);
        let spread = places(&[("to", ":9001-9064")], 1_000_000).expect("places");
        assert_eq!(spread.counts().1, 64);
        assert!(spread.counts().0 < 4);
        assert_eq!(spread.pick(65).0.ip().map(|to| to.port()), Some(9_002));
    }

    #[test]
    fn addresses_are_dealt_out_in_turn() {
        let some = places(&[("from", "127.0.0.5-127.0.0.6"), ("to", ":1-2")], 10).expect("places");
        let picked: Vec<String> = (0..5)
            .map(|number| {
                let (to, from) = some.pick(number);
                format!("{}>{}", from.expect("one of ours"), to.ip().expect("by TCP").port())
            })
            .collect();
        assert_eq!(picked, ["127.0.0.5>1", "127.0.0.5>2", "127.0.0.6>1", "127.0.0.6>2", "127.0.0.5>1"]);
    }

    #[test]
    fn what_cannot_be_is_said() {
        let strange = "192.0.2.77".parse().expect("an address");
        assert_eq!(places(&[("from", "192.0.2.77")], 1), Err(PlacesError::NotOurs { address: strange }));
        assert!(matches!(places(&[("from", "::1")], 1), Err(PlacesError::Families { .. })));
    }
}
