//! The addresses of a name: which of them are used, how long they are valid, and who is asked.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{PlanError, parse_span};

/// The port of name servers.
const DNS_PORT: u16 = 53;
/// The shortest time between two lookups of a name: a shorter TTL counts as this.
pub const LOOKUP_EVERY_MIN: Duration = Duration::from_secs(1);

/// Which addresses of a name are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressChoice {
    /// All addresses of the family, IPv4 or IPv6, of the first one that accepts a connection.
    #[default]
    OneFamily,
    /// All of them.
    All,
    /// The first one that accepts a connection.
    First,
}

/// When a name is looked up again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LookupAgain {
    /// When the TTL of the answer ends.
    #[default]
    AtTtl,
    /// After this time.
    After(Duration),
    /// Never.
    Never,
}

/// Options of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameOptions {
    /// Which addresses are used.
    pub addresses: AddressChoice,
    /// When a name is looked up again.
    pub again: LookupAgain,
    /// The name server to ask instead of this machine's.
    pub server: Option<SocketAddr>,
}

/// The names of the choices of addresses.
pub(crate) const ADDRESS_CHOICES: [(&str, AddressChoice); 3] =
    [("one-family", AddressChoice::OneFamily), ("all", AddressChoice::All), ("first", AddressChoice::First)];

/// Parses a time, or `never`.
pub(crate) fn parse_lookup_again(text: &str) -> Result<LookupAgain, PlanError> {
    match text {
        "never" => Ok(LookupAgain::Never),
        text => parse_span("--dns-ttl", text, LOOKUP_EVERY_MIN).map(LookupAgain::After),
    }
}

/// Parses `10.0.0.2`, `10.0.0.2:5353`, `fd00::2` or `[fd00::2]:5353`.
pub(crate) fn parse_dns_server(text: &str) -> Result<SocketAddr, PlanError> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().filter(|server| server.port() > 0);
    let server = bare.parse::<IpAddr>().map(|address| (address, DNS_PORT).into()).ok().or_else(with_port);
    server.ok_or_else(|| PlanError::DnsServer { value: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_an_address_with_or_without_a_port() {
        for (text, expected) in [
            ("10.0.0.2", "10.0.0.2:53"),
            ("10.0.0.2:5353", "10.0.0.2:5353"),
            ("fd00::2", "[fd00::2]:53"),
            ("[fd00::2]", "[fd00::2]:53"),
            ("[fd00::2]:5353", "[fd00::2]:5353"),
        ] {
            assert_eq!(parse_dns_server(text), Ok(expected.parse().expect("an address")), "{text}");
        }
        for wrong in ["", "dns.example", "10.0.0.2:", "10.0.0.2:0", "10.0.0.2:65536", "10.0.0.2,10.0.0.3"] {
            let value = wrong.to_owned();
            assert_eq!(parse_dns_server(wrong), Err(PlanError::DnsServer { value }));
        }
    }

    #[test]
    fn a_name_is_looked_up_each_second_at_most() {
        assert_eq!(parse_lookup_again("never"), Ok(LookupAgain::Never));
        assert_eq!(parse_lookup_again("5s"), Ok(LookupAgain::After(Duration::from_secs(5))));
        for wrong in ["0s", "900ms", "always", ""] {
            assert!(parse_lookup_again(wrong).is_err(), "{wrong}");
        }
    }
}
