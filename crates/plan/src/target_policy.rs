//! The target policy: a load may reach this machine and private networks by default. Any other host needs consent.

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use crate::{Hold, HoldWork, Load, Plan, RATE_UNIT, Scenario, highest};

/// The highest request rate without consent: all steps of an iteration and all redirects that may be followed count.
pub const UNASKED_RATE_MAX: u64 = 100;
/// The most connections without consent.
pub const UNASKED_CONNECTIONS_MAX: u64 = 50;

/// The targets that a load may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetPolicy {
    /// Any: the load is no more than a user makes by hand.
    #[default]
    Anywhere,
    /// Near addresses, and these hosts and addresses, which the user named.
    Near(Arc<[String]>),
    /// These hosts and addresses, and nothing else, near or not.
    Only(Arc<[String]>),
}

impl TargetPolicy {
    /// Whether an address that these names resolved to may be loaded. An address gives consent to itself alone, and a
    /// name of this machine to no other one.
    pub fn allows(&self, names: &[&str], address: IpAddr) -> bool {
        let (named, near) = match self {
            Self::Anywhere => return true,
            Self::Near(also) => (also, is_near(address)),
            Self::Only(named) => (named, false),
        };
        // A name of this machine counts, where it is named.
        let is_own = |name: &str| matches!(self, Self::Only(_)) && !is_name_of_others(name) && is_near(address);
        let is_named = |named: &String| {
            let named = named.trim_start_matches('[').trim_end_matches([']', '.']);
            match named.parse::<IpAddr>() {
                Ok(named) => named.to_canonical() == address.to_canonical(),
                Err(_) => names.iter().any(|name| (is_name_of_others(name) || is_own(name)) && is_same(name, named)),
            }
        };
        near || named.iter().any(is_named)
    }

    /// The same, and this host.
    #[must_use]
    pub fn with(&self, host: &str) -> Self {
        match self {
            Self::Anywhere => Self::Anywhere,
            Self::Near(also) => Self::Near(also.iter().cloned().chain([host.to_owned()]).collect()),
            Self::Only(named) => Self::Only(named.iter().cloned().chain([host.to_owned()]).collect()),
        }
    }
}

/// Whether it is a host name that may belong to others: no address, and not this machine.
pub fn is_name_of_others(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_here = host == "localhost" || host.ends_with(".localhost");
    !is_here && host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_err()
}

fn is_same(name: &str, named: &str) -> bool {
    name.trim_end_matches('.').eq_ignore_ascii_case(named)
}

/// Whether it is loopback, private or link-local; for an IPv6 address that stands for an IPv4 one, that one decides.
pub fn is_near(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_loopback() || address.is_private() || address.is_link_local() || address.is_unspecified()
        }
        IpAddr::V6(address) => match inner(address) {
            Some(inner) => is_near(inner.into()),
            None => {
                let is_site = address.segments()[0] & 0xfe00 == 0xfc00;
                let is_link = address.segments()[0] & 0xffc0 == 0xfe80;
                address.is_loopback() || address.is_unspecified() || is_site || is_link
            }
        },
    }
}

/// The IPv4 address that is mapped (RFC 4291, 2.5.5), translated (RFC 6052) or tunnelled (RFC 3056).
fn inner(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(of(g, h)),
        [0, 0, 0, 0, 0, 0] if !address.is_loopback() && !address.is_unspecified() => Some(of(g, h)),
        [0x2002, ..] => Some(of(b, c)),
        _ => None,
    }
}

impl Load {
    /// Whether it exceeds what a user makes by hand. The rate of a closed load is unknown before it runs.
    pub fn wants_consent(&self) -> bool {
        match self {
            Self::Closed { .. } => true,
            Self::Open { stages, connections, .. } => {
                highest(stages) > UNASKED_RATE_MAX * RATE_UNIT || connections.most() > UNASKED_CONNECTIONS_MAX
            }
        }
    }
}

impl Scenario {
    /// The most requests that one iteration can make; each message of a call is one.
    pub fn requests_most(&self) -> u64 {
        self.program.requests_most(&|step| {
            let Some(step) = self.steps.get(step) else { return 1 };
            let messages = step.call.as_ref().map_or(1, |call| call.messages.len().max(1) as u64);
            messages + step.follow.as_ref().map_or(0, |follow| u64::from(follow.most))
        })
    }
}

impl Plan {
    /// Whether all scenarios together exceed what a user makes by hand.
    pub fn wants_consent(&self) -> bool {
        let (mut per_s, mut connections) = (0u128, 0u64);
        for scenario in &self.scenarios {
            match &scenario.load {
                Load::Closed { .. } => return true,
                Load::Open { stages, connections: own, .. } => {
                    per_s += u128::from(highest(stages)) * u128::from(scenario.requests_most());
                    // Each target has connections of its own, and so has each of several concurrent exchanges.
                    let wide = scenario.program.parallel_most().saturating_mul(scenario.targets.len() as u64);
                    connections = connections.saturating_add(own.most().saturating_mul(wide));
                }
            }
        }
        per_s > u128::from(UNASKED_RATE_MAX * RATE_UNIT) || connections > UNASKED_CONNECTIONS_MAX
    }
}

impl Hold {
    /// The same for a hold, and its messages.
    pub fn wants_consent(&self) -> bool {
        let per_s = match self.work {
            HoldWork::Nothing | HoldWork::Once => 0.0,
            HoldWork::Every(span) | HoldWork::Pause { least: span, .. } => self.connections as f64 / span.as_secs_f64(),
        };
        self.connections > UNASKED_CONNECTIONS_MAX || per_s > UNASKED_RATE_MAX as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    #[test]
    fn what_is_named_is_all_that_is_allowed() {
        let only =
            TargetPolicy::Only(["10.1.2.3".to_owned(), "shop.example".to_owned(), "localhost".to_owned()].into());
        let allows = |names: &[&str], address: &str| only.allows(names, address.parse().expect("an address"));
        assert!(allows(&["10.1.2.3"], "10.1.2.3") && allows(&["shop.example"], "192.0.2.1"));
        assert!(allows(&["localhost"], "127.0.0.1") && !allows(&["localhost"], "192.0.2.1"));
        assert!(!allows(&["127.0.0.1"], "127.0.0.1") && !allows(&["10.1.2.4"], "10.1.2.4"));
        assert!(!allows(&["other.example"], "192.0.2.1"));
    }

    #[test]
    fn addresses_are_near_or_not() {
        for near in [
            "127.0.0.1",
            "127.9.9.9",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "169.254.1.1",
            "0.0.0.0",
            "::1",
            "::",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "febf::1",
            "::ffff:10.0.0.1",
            "64:ff9b::127.0.0.1",
            "2002:a00:1::",
        ] {
            assert!(is_near(near.parse().expect(near)), "{near}");
        }
        for far in [
            "8.8.8.8",
            "172.15.0.1",
            "172.32.0.1",
            "192.169.0.1",
            "169.253.1.1",
            "100.64.0.1",
            "128.0.0.1",
            "11.0.0.1",
            "255.255.255.255",
            "224.0.0.1",
            "2001:db8::1",
            "fec0::1",
            "ff02::1",
            "::ffff:8.8.8.8",
            "::8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            "fb00::1",
        ] {
            assert!(!is_near(far.parse().expect(far)), "{far}");
        }
    }

    #[test]
    fn a_host_that_is_named_may_be_loaded() {
        let near = TargetPolicy::Near([].into());
        let far: IpAddr = "8.8.8.8".parse().expect("an address");
        assert!(!near.allows(&["example.com"], far) && TargetPolicy::Anywhere.allows(&[], far));
        let named = near.with("Example.com");
        assert!(named.allows(&["example.com"], far) && named.allows(&["x", "EXAMPLE.com."], far));
        assert!(!named.allows(&["example.org"], far) && !named.allows(&["www.example.com"], far));
        assert!(
            near.with("8.8.8.8").allows(&["example.com"], far) && !near.with("8.8.4.4").allows(&["example.com"], far)
        );
        assert!(near.with("[2001:db8::1]").allows(&["x"], "2001:db8::1".parse().expect("an address")));
        assert!(near.with("8.8.8.8").allows(&["x"], "::ffff:8.8.8.8".parse().expect("an address")));
        // A near host gives consent to no other one.
        for here in ["10.0.0.1", "127.0.0.1", "localhost", "shop.localhost.", "[::1]", "8.8.4.4"] {
            assert!(!near.with(here).allows(&[here], far), "{here}");
        }
    }

    /// A rate near zero makes many requests when each of its starts does.
    #[test]
    fn all_requests_of_a_start_count() {
        let plan = |flags: &Flags| flags.plan().expect("a plan");
        let some = |text: &str| Some(text.to_owned());
        let slow = |rate: &str| Flags {
            url: some("http://site.example/"),
            rate: some(rate),
            connections: some("50"),
            duration: some("1s"),
            ..Flags::default()
        };
        let curl = |rate: &str, steps: usize| {
            let line = vec!["http://site.example/"; steps].join(" --next ");
            let words = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
            Flags { url: None, curl: Some(words), ..slow(rate) }
        };
        for (flags, expect) in [
            (slow("100"), false),
            (slow("101"), true),
            (Flags { connections: some("51"), ..slow("1") }, true),
            (Flags { location: true, ..slow("1") }, false),
            (Flags { location: true, ..slow("2") }, true),
            (Flags { location: true, max_redirs: some("9"), ..slow("10") }, false),
            (Flags { location: true, max_redirs: some("10"), ..slow("10") }, true),
            (Flags { location: true, max_redirs: some("4294967295"), ..slow("1") }, true),
            (curl("50", 2), false),
            (curl("50", 3), true),
            (curl("10", 10), false),
            (curl("10", 20), true),
        ] {
            assert_eq!(plan(&flags).wants_consent(), expect, "{flags:?}");
            let target_policy = &plan(&flags).scenarios[0].target().target_policy.clone();
            assert_eq!(matches!(target_policy, TargetPolicy::Near(_)), expect, "{flags:?}");
        }
    }
}
