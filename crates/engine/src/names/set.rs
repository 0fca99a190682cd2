//! The addresses of a name, as the shards connect to them, and what became of its lookups.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use plan::{AddressChoice, Target, is_near};

/// Most changes of addresses that are reported.
const CHANGES_MAX: usize = 1_000;
/// Most addresses of one name.
const ADDRESSES_MAX: usize = 1_024;

/// The addresses of a name changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressChange {
    /// When, since the lookups began.
    pub after: Duration,
    /// Addresses that came.
    pub came: Vec<IpAddr>,
    /// Addresses that left.
    pub left: Vec<IpAddr>,
}

/// What became of the lookups of a name during a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameReport {
    /// The name.
    pub host: String,
    /// Its addresses at the end.
    pub addresses: Vec<IpAddr>,
    /// Lookups, the first one not counted.
    pub lookups: u64,
    /// Failed ones among them.
    pub failed: u64,
    /// The reason of the last failure; empty when the name had no address.
    pub reason: Option<String>,
    /// How old the addresses were at the last failure.
    pub age: Duration,
    /// Changes of the addresses.
    pub changes: Vec<AddressChange>,
    /// Addresses that may not be loaded: public or link-local ones that came during the run, or without consent.
    pub refused: Vec<IpAddr>,
    /// The system was asked: it does not tell how long addresses are valid.
    pub is_of_system: bool,
    /// No address was left that may be loaded, so the run ended.
    pub has_none: bool,
}

/// The kind of an address: a load that began on one kind goes to no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Own,
    Private,
    LinkLocal,
    Public,
}

fn kind_of(address: IpAddr) -> Kind {
    let address = address.to_canonical();
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    match address {
        _ if is_link_local => Kind::LinkLocal,
        address if address.is_loopback() || address.is_unspecified() => Kind::Own,
        address if is_near(address) => Kind::Private,
        _ => Kind::Public,
    }
}

/// The addresses of the name of a target.
#[derive(Debug)]
pub(crate) struct AddressSet {
    target: Target,
    /// Kinds of the addresses at the start.
    kinds: Vec<Kind>,
    /// The family of all addresses, where only one is used.
    is_ipv4: Option<bool>,
    began: Instant,
    version: AtomicU32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    addresses: Arc<[SocketAddr]>,
    /// When they were last found.
    found_at: Instant,
    report: NameReport,
}

impl AddressSet {
    /// The addresses that the first lookup found.
    pub(crate) fn new(target: &Target, addresses: &[SocketAddr]) -> Self {
        let began = Instant::now();
        let mut kinds: Vec<Kind> = Vec::new();
        for kind in addresses.iter().map(|address| kind_of(address.ip())) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let is_ipv4 = addresses.first().map(SocketAddr::is_ipv4);
        let report = NameReport { host: target.dialed().0.to_owned(), ..NameReport::default() };
        Self {
            target: target.clone(),
            kinds,
            is_ipv4: is_ipv4.filter(|_| target.names.addresses != AddressChoice::All),
            began,
            version: AtomicU32::new(0),
            state: Mutex::new(State { addresses: addresses.into(), found_at: began, report }),
        }
    }

    /// The name.
    pub(super) fn host(&self) -> &str {
        self.target.dialed().0
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// The lookups of the two have the same results.
    pub(crate) fn fits(&self, target: &Target) -> bool {
        let (own, other) = (&self.target, target);
        (own.host == other.host && own.dialed() == other.dialed())
            && (own.names == other.names && own.target_policy == other.target_policy)
    }

    /// The number of changes so far.
    #[inline]
    pub(crate) fn version(&self) -> u32 {
        self.version.load(Ordering::Acquire)
    }

    /// The addresses now.
    pub(crate) fn addresses(&self) -> Arc<[SocketAddr]> {
        self.state().addresses.clone()
    }

    /// What became of the lookups.
    pub(crate) fn report(&self) -> NameReport {
        let state = self.state();
        let addresses = state.addresses.iter().map(SocketAddr::ip).collect();
        NameReport { addresses, ..state.report.clone() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of the lock panics")
    }

    /// The system is asked from now on.
    pub(super) fn is_of_system(&self) {
        self.state().report.is_of_system = true;
    }

    /// A lookup failed: the addresses stay.
    pub(super) fn keep(&self, reason: Option<String>) {
        let mut state = self.state();
        let age = state.found_at.elapsed();
        let report = &mut state.report;
        (report.lookups, report.failed, report.reason, report.age) =
            (report.lookups + 1, report.failed + 1, reason, age);
    }

    /// Takes the addresses that a lookup found. False when none of them may be loaded.
    pub(crate) fn take(&self, found: &[IpAddr]) -> bool {
        let mut state = self.state();
        state.report.lookups += 1;
        let (good, refused): (Vec<IpAddr>, Vec<IpAddr>) = found.iter().partition(|address| self.may_load(**address));
        let new: Vec<IpAddr> = refused.into_iter().filter(|one| !state.report.refused.contains(one)).collect();
        let room = ADDRESSES_MAX.saturating_sub(state.report.refused.len());
        state.report.refused.extend(new.into_iter().take(room));
        let chosen = self.chosen(good, &state.addresses);
        if chosen.is_empty() {
            state.report.has_none = true;
            return false;
        }
        state.found_at = Instant::now();
        if *chosen != *state.addresses {
            let came = without(&chosen, &state.addresses);
            let left = without(&state.addresses, &chosen);
            if state.report.changes.len() < CHANGES_MAX {
                state.report.changes.push(AddressChange { after: self.began.elapsed(), came, left });
            }
            state.addresses = chosen.into();
            self.version.fetch_add(1, Ordering::Release);
        }
        true
    }

    fn may_load(&self, address: IpAddr) -> bool {
        let names = self.target.dialed_names();
        self.kinds.contains(&kind_of(address)) && self.target.target_policy.allows(&names, address)
    }

    /// Those of the addresses that are used, with the port, in an order that does not depend on the answer.
    fn chosen(&self, found: Vec<IpAddr>, now: &[SocketAddr]) -> Vec<SocketAddr> {
        let (_, port) = self.target.dialed();
        let of_family =
            |is_ipv4: bool| found.iter().copied().filter(|one| one.is_ipv4() == is_ipv4).collect::<Vec<_>>();
        let chosen = match self.is_ipv4.map(of_family) {
            None => found,
            // The name has moved to the other family.
            Some(own) if own.is_empty() => found,
            Some(own) => own,
        };
        let mut chosen: Vec<SocketAddr> = chosen.into_iter().map(|address| (address, port).into()).collect();
        if self.target.names.addresses == AddressChoice::First {
            let kept = chosen.iter().copied().find(|address| now.contains(address));
            return kept.or(chosen.first().copied()).into_iter().collect();
        }
        in_order(&mut chosen);
        chosen
    }
}

/// Sorts addresses, and leaves each once.
pub(crate) fn in_order(addresses: &mut Vec<SocketAddr>) {
    addresses.sort_unstable();
    addresses.dedup();
    addresses.truncate(ADDRESSES_MAX);
}

fn without(all: &[SocketAddr], others: &[SocketAddr]) -> Vec<IpAddr> {
    all.iter().filter(|one| !others.contains(one)).map(SocketAddr::ip).collect()
}

#[cfg(test)]
mod tests {
    use plan::{Flags, NameOptions, TargetPolicy};

    use super::*;

    fn set(options: NameOptions, reach: TargetPolicy, first: &[&str]) -> AddressSet {
        let flags = Flags { url: Some("http://shop.example:81/".to_owned()), ..Flags::default() };
        let mut target = flags.plan().expect("a good plan").scenarios[0].targets[0].clone();
        (target.names, target.target_policy) = (options, reach);
        let first: Vec<SocketAddr> = first.iter().map(|one| (one.parse::<IpAddr>().expect("one"), 81).into()).collect();
        AddressSet::new(&target, &first)
    }

    fn of(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().expect("an address")).collect()
    }

    fn now(set: &AddressSet) -> Vec<String> {
        set.addresses().iter().map(SocketAddr::to_string).collect()
    }

    #[test]
    fn addresses_come_and_leave() {
        let set = set(NameOptions::default(), TargetPolicy::Anywhere, &["10.0.0.1", "10.0.0.2"]);
        assert!(set.take(&of(&["10.0.0.2", "10.0.0.1", "10.0.0.2"])));
        assert_eq!((set.version(), set.report().changes.len()), (0, 0), "the same in another order");
        assert!(set.take(&of(&["10.0.0.3", "10.0.0.2", "fd00::1"])));
        assert_eq!(now(&set), ["10.0.0.2:81", "10.0.0.3:81"]);
        let report = set.report();
        assert_eq!((set.version(), report.lookups), (1, 2));
        assert_eq!((&report.changes[0].came, &report.changes[0].left), (&of(&["10.0.0.3"]), &of(&["10.0.0.1"])));
        set.keep(Some("SERVFAIL".to_owned()));
        set.keep(None);
        let report = set.report();
        assert_eq!((report.lookups, report.failed, report.reason), (4, 2, None));
        assert_eq!(now(&set).len(), 2, "the addresses stay");
    }

    #[test]
    fn another_family_is_used_when_it_is_all_there_is() {
        let set = set(NameOptions::default(), TargetPolicy::Anywhere, &["10.0.0.1"]);
        // Private addresses of both families are of one kind.
        assert!(set.take(&of(&["fd00::1"])));
        assert_eq!(now(&set), ["[fd00::1]:81"]);
        let all = NameOptions { addresses: AddressChoice::All, ..NameOptions::default() };
        let set = self::set(all, TargetPolicy::Anywhere, &["10.0.0.1", "fd00::1"]);
        assert!(set.take(&of(&["fd00::2", "10.0.0.2"])));
        assert_eq!(now(&set), ["10.0.0.2:81", "[fd00::2]:81"]);
        let first = NameOptions { addresses: AddressChoice::First, ..NameOptions::default() };
        let set = self::set(first, TargetPolicy::Anywhere, &["10.0.0.2"]);
        assert!(set.take(&of(&["10.0.0.1", "10.0.0.2"])));
        assert_eq!(now(&set), ["10.0.0.2:81"], "it is still there");
        assert!(set.take(&of(&["10.0.0.4", "10.0.0.3"])));
        assert_eq!(now(&set), ["10.0.0.4:81"]);
    }

    #[test]
    fn no_address_of_another_kind_and_none_without_consent_is_loaded() {
        for (first, others) in [
            ("10.0.0.1", ["192.0.2.1", "169.254.169.254", "127.0.0.1", "fe80::1"]),
            ("127.0.0.1", ["192.0.2.1", "169.254.169.254", "10.0.0.1", "2001:db8::1"]),
        ] {
            let set = set(NameOptions::default(), TargetPolicy::Anywhere, &[first]);
            for other in others {
                assert!(!set.take(&of(&[other])), "{other}");
                assert!(set.take(&of(&[first, other])), "{other}");
                assert_eq!(now(&set), [format!("{first}:81")]);
            }
            assert_eq!(set.report().refused, of(&others), "each is told once");
            assert!(set.report().has_none);
        }
        let named = TargetPolicy::Near(["192.0.2.1".to_owned()].into());
        let set = set(NameOptions::default(), named, &["192.0.2.1"]);
        assert!(set.take(&of(&["192.0.2.1", "192.0.2.2"])));
        assert_eq!((now(&set), set.report().refused), (vec!["192.0.2.1:81".to_owned()], of(&["192.0.2.2"])));
    }
}
