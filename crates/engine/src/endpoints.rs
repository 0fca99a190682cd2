//! Source and destination addresses of the connections of a load.
//!
//! One source address, one target address and one target port carry as many connections as there are local ports. More
//! connections need more addresses or more ports: of the loopback network there are always enough.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use driver::Peer;
use metrics::AddressSlots;
use pacing::Nanos;
use plan::{Sources, Target, errors};

use crate::names::AddressSet;

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
    /// The TLS options of the proxy are invalid.
    ProxyTls { reason: String };
        "TLS with the proxy: {reason}",
        "与代理的 TLS：{reason}";
}

impl Places {
    /// These target endpoints, and a source address chosen by the kernel.
    pub(crate) fn these(to: &[SocketAddr]) -> Self {
        Self { to: to.iter().copied().map(Peer::from).collect(), from: vec![None] }
    }

    /// The endpoints of a target whose host has these addresses, for a number of connections.
    ///
    /// # Errors
    /// An address is not of this machine, or of another family than the target.
    pub fn resolve(target: &Target, addresses: &[SocketAddr], connections: u64) -> Result<Self, PlacesError> {
        if let Some(path) = &target.unix {
            return Ok(Self { to: vec![Peer::Unix(path.clone())], from: vec![None] });
        }
        let to: Vec<SocketAddr> = match target.places.as_slice() {
            [] => addresses.to_vec(),
            // They fix the set: of the name, its first address counts.
            places => places.iter().map(|place| place.with(addresses[0])).collect(),
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
    fn single(&self) -> Option<Peer> {
        match (self.to.as_slice(), self.from.as_slice()) {
            ([to], [None]) => Some(to.clone()),
            _ => None,
        }
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

/// How long an endpoint that refused a connection gets no other one, while another endpoint does not refuse.
const REST: Nanos = Nanos::from_millis(5_000);

/// The endpoints of an origin on one shard: whose turn it is, and which rest.
#[derive(Clone)]
pub(crate) struct EndpointRotation {
    places: Places,
    /// The only endpoint, where there is one and it stays so.
    single: Option<Peer>,
    /// Addresses that are looked up again.
    name: Option<Arc<AddressSet>>,
    version: u32,
    /// Every endpoint that there was, and the places of those in use among them.
    known: Vec<KnownEndpoint>,
    used: Vec<u16>,
    opened: u64,
    /// Further connections opened so far, to endpoints of others.
    opened_again: u64,
    /// The endpoint of the last connection.
    last: u16,
}

#[derive(Clone)]
struct KnownEndpoint {
    to: Peer,
    rests_until: Nanos,
    /// The slot of its address, once it is counted apart.
    slot: Option<u8>,
}

impl EndpointRotation {
    pub(crate) fn new(places: Places, name: Option<Arc<AddressSet>>) -> Self {
        let single = if name.is_none() { places.single() } else { None };
        let mut turns = Self {
            single,
            name,
            version: 0,
            known: Vec::new(),
            used: Vec::new(),
            opened: 0,
            opened_again: 0,
            last: 0,
            places,
        };
        turns.use_all();
        turns
    }

    fn use_all(&mut self) {
        self.used.clear();
        for to in &self.places.to {
            let place = self.known.iter().position(|known| known.to == *to).unwrap_or_else(|| {
                self.known.push(KnownEndpoint { to: to.clone(), rests_until: Nanos::ZERO, slot: None });
                self.known.len() - 1
            });
            self.used.push(place.min(usize::from(u16::MAX)) as u16);
        }
    }

    /// The only endpoint, for connections from any address of ours.
    #[inline]
    pub(crate) fn single(&self) -> Option<&Peer> {
        self.single.as_ref()
    }

    /// Takes addresses that were looked up since.
    pub(crate) fn update(&mut self) {
        let Some(name) = self.name.as_ref().filter(|name| name.version() != self.version) else { return };
        self.version = name.version();
        self.places.to = name.addresses().iter().copied().map(Peer::from).collect();
        self.use_all();
    }

    /// Some endpoint in use has not failed of late.
    pub(crate) fn is_any_awake(&self, now: Nanos) -> bool {
        self.used.iter().any(|used| self.known[usize::from(*used)].rests_until <= now)
    }

    /// The address of an endpoint; `None` for a socket that has none. `endpoint`: that of a connection.
    pub(crate) fn address(&self, endpoint: Option<u16>) -> Option<SocketAddr> {
        let known = || self.known.get(usize::from(endpoint.unwrap_or(self.last))).map(|known| &known.to);
        self.single.as_ref().or_else(known)?.ip()
    }

    /// The slot of the address of an endpoint; none where there is only one.
    pub(crate) fn slot(&mut self, endpoint: u16, slots: &mut AddressSlots) -> Option<u8> {
        let known = self.known.get_mut(usize::from(endpoint)).filter(|_| self.single.is_none())?;
        if known.slot.is_none() {
            known.slot = known.to.ip().map(|address| slots.slot(address));
        }
        known.slot
    }

    /// There is one endpoint, and there was no other.
    pub(crate) fn is_one(&self) -> bool {
        self.known.len() <= 1
    }

    /// The number of endpoints in use.
    pub(crate) fn count(&self) -> usize {
        self.used.len()
    }

    /// Connections opened so far.
    pub(crate) fn opened(&self) -> u64 {
        self.opened
    }

    /// The endpoint of the last connection.
    pub(crate) fn last(&self) -> u16 {
        self.last
    }

    /// The endpoint of connection `number`: which one it is, and with it the address of ours.
    pub(crate) fn next(&mut self, number: u64, now: Nanos) -> (u16, Peer, Option<IpAddr>) {
        self.opened += 1;
        let (count, first) = (self.used.len(), (number % self.used.len() as u64) as usize);
        let awake = |place: &usize| self.known[usize::from(self.used[*place])].rests_until <= now;
        let place = (first..first + count).map(|place| place % count).find(awake).unwrap_or(first);
        let turn = number / count as u64;
        let from = self.places.from[(turn % self.places.from.len() as u64) as usize];
        let used = self.used[place];
        self.last = used;
        (used, self.known[usize::from(used)].to.clone(), from)
    }

    /// A further connection to the endpoint of another one, and the address of ours whose turn it is.
    pub(crate) fn again(&mut self, endpoint: u16) -> Option<(Peer, Option<IpAddr>)> {
        let to = self.known.get(usize::from(endpoint))?.to.clone();
        let from = self.places.from[(self.opened_again % self.places.from.len() as u64) as usize];
        self.opened_again += 1;
        Some((to, from))
    }

    /// A connection to this endpoint failed: others have its turns for a while.
    pub(crate) fn rest(&mut self, endpoint: u16, now: Nanos) {
        if let Some(known) = self.known.get_mut(usize::from(endpoint)) {
            known.rests_until = now + REST;
        }
    }

    /// Some endpoint is neither this machine nor in a private network.
    pub(crate) fn are_far(&self) -> bool {
        self.places.are_far()
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
        Places::resolve(target, &[address], connections)
    }

    #[test]
    fn loopback_has_addresses_enough() {
        assert_eq!(places(&[], 1_000), Ok(Places::these(&["127.0.0.1:8080".parse().expect("an address")])));
        let many = places(&[], 1_000_000).expect("places");
        let (from, to) = many.counts();
        assert!(from > 60 && to == 1, "{from} {to}");
        let (ports_first, ports_last) = host::local_port_range().expect("the kernel tells");
        assert!(many.carry(u64::from(ports_last - ports_first) + 1) >= 1_000_000);
        let spread = places(&[("to", ":9001-9064")], 1_000_000).expect("places");
        assert_eq!(spread.counts().1, 64);
        assert!(spread.counts().0 < 4);
        let (_, to, _) = EndpointRotation::new(spread, None).next(65, Nanos::ZERO);
        assert_eq!(to.ip().map(|to| to.port()), Some(9_002));
    }

    #[test]
    fn addresses_are_dealt_out_in_turn() {
        let some = places(&[("from", "127.0.0.5-127.0.0.6"), ("to", ":1-2")], 10).expect("places");
        let mut turns = EndpointRotation::new(some, None);
        let picked: Vec<String> = (0..5)
            .map(|number| {
                let (_, to, from) = turns.next(number, Nanos::ZERO);
                format!("{}>{}", from.expect("one of ours"), to.ip().expect("by TCP").port())
            })
            .collect();
        assert_eq!(picked, ["127.0.0.5>1", "127.0.0.5>2", "127.0.0.6>1", "127.0.0.6>2", "127.0.0.5>1"]);
    }

    /// The ports that five connections in a row go to.
    fn ports(turns: &mut EndpointRotation, at: Nanos) -> [u16; 5] {
        [0, 1, 2, 3, 4].map(|number| turns.next(number, at).1.ip().map_or(0, |to| to.port()))
    }

    #[test]
    fn an_endpoint_rests_while_another_does_not() {
        let mut turns = EndpointRotation::new(places(&[("to", ":1-3")], 10).expect("places"), None);
        let later = Nanos::from_millis(1_000);
        assert_eq!(ports(&mut turns, later), [1, 2, 3, 1, 2]);
        turns.rest(1, later);
        assert_eq!(ports(&mut turns, later), [1, 3, 3, 1, 3]);
        assert!(turns.is_any_awake(later));
        (0..3).for_each(|endpoint| turns.rest(endpoint, later));
        assert!(!turns.is_any_awake(later));
        assert_eq!(ports(&mut turns, later), [1, 2, 3, 1, 2], "all of them never rest");
        assert_eq!(ports(&mut turns, later + REST), [1, 2, 3, 1, 2]);
        turns.rest(0, later + REST);
        assert_eq!(ports(&mut turns, later + REST), [2, 2, 3, 2, 2]);
    }

    #[test]
    fn a_further_connection_goes_to_the_same_endpoint_and_takes_no_turn() {
        let some = places(&[("from", "127.0.0.5-127.0.0.6"), ("to", ":1-3")], 10).expect("places");
        let mut turns = EndpointRotation::new(some, None);
        let (second, ..) = (turns.next(0, Nanos::ZERO), turns.next(1, Nanos::ZERO)).1;
        let again = [0, 1, 2].map(|_| turns.again(second).expect("it is known"));
        let ports = again.map(|(to, from)| (to.ip().map(|to| to.port()), from.map(|from| from.to_string())));
        let of = |from: &str| (Some(2), Some(from.to_owned()));
        assert_eq!(ports, [of("127.0.0.5"), of("127.0.0.6"), of("127.0.0.5")]);
        assert_eq!((turns.opened(), turns.last(), turns.again(3)), (2, second, None));
    }

    #[test]
    fn addresses_that_come_take_turns_and_keep_their_numbers() {
        let flags = Flags { url: Some("http://shop.test:81/".to_owned()), ..Flags::default() };
        let target = flags.plan().expect("a plan").scenarios[0].target().clone();
        let of = |number: u8| SocketAddr::from(([127, 0, 0, number], 81));
        let set = Arc::new(AddressSet::new(&target, &[of(2), of(3)]));
        let mut turns = EndpointRotation::new(Places::these(&[of(2), of(3)]), Some(set.clone()));
        assert!(turns.single().is_none() && !turns.is_one());
        let mut taken = |number| {
            turns.update();
            let (endpoint, to, _) = turns.next(number, Nanos::ZERO);
            (endpoint, to.ip())
        };
        assert_eq!([taken(0), taken(1)], [(0, Some(of(2))), (1, Some(of(3)))]);
        assert!(set.take(&[of(3).ip(), of(4).ip()]));
        assert_eq!([taken(0), taken(1)], [(1, Some(of(3))), (2, Some(of(4)))]);
        assert!(set.take(&[of(2).ip()]));
        assert_eq!([taken(0), taken(1)], [(0, Some(of(2))), (0, Some(of(2)))]);
    }

    #[test]
    fn what_cannot_be_is_said() {
        let strange = "192.0.2.77".parse().expect("an address");
        assert_eq!(places(&[("from", "192.0.2.77")], 1), Err(PlacesError::NotOurs { address: strange }));
        assert!(matches!(places(&[("from", "::1")], 1), Err(PlacesError::Families { .. })));
    }
}
