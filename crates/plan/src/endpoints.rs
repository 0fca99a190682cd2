//! Source and target addresses of connections.

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use crate::{PLACES_MAX, PlanError};

/// The source addresses of connections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sources {
    /// The kernel's choice; for a loopback target, as many addresses of 127.0.0.0/8 as are needed.
    #[default]
    Usual,
    /// The addresses of the interface to the target.
    Auto,
    /// These, in turn.
    These(Vec<IpAddr>),
}

/// Parses `10.0.0.2,10.0.1.2-10.0.1.9,10.0.2.0/24` or `auto`.
///
/// # Errors
/// The text is invalid, or there are too many.
pub fn parse_sources(text: &str) -> Result<Sources, PlanError> {
    if text.trim() == "auto" {
        return Ok(Sources::Auto);
    }
    let wrong = || PlanError::Sources { value: text.to_owned() };
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = span_of(part).ok_or_else(wrong)?;
        for address in between(first, last).ok_or_else(wrong)? {
            if all.len() == PLACES_MAX {
                return Err(PlanError::TooManyPlaces { flag: "--source-ip", most: PLACES_MAX });
            }
            all.push(address);
        }
    }
    Ok(Sources::These(all))
}

/// The first and the last address of `a`, `a-b` or `a/bits`. For a network, its own address and the broadcast address
/// are left out.
fn span_of(part: &str) -> Option<(IpAddr, IpAddr)> {
    if let Some((first, last)) = part.split_once('-') {
        return Some((first.trim().parse().ok()?, last.trim().parse().ok()?));
    }
    let Some((address, bits)) = part.split_once('/') else {
        let only: IpAddr = part.parse().ok()?;
        return Some((only, only));
    };
    let bits: u32 = bits.trim().parse().ok()?;
    match address.trim().parse().ok()? {
        IpAddr::V4(address) if bits <= 32 => {
            let hosts = u32::MAX.checked_shr(bits).unwrap_or(0);
            let first = u32::from(address) & !hosts;
            let (skip_first, skip_last) = if hosts > 1 { (1, 1) } else { (0, 0) };
            Some((Ipv4Addr::from(first + skip_first).into(), Ipv4Addr::from((first | hosts) - skip_last).into()))
        }
        IpAddr::V6(address) if bits <= 128 => {
            let hosts = u128::MAX.checked_shr(bits).unwrap_or(0);
            let first = u128::from(address) & !hosts;
            let skip = u128::from(hosts > 1);
            Some((Ipv6Addr::from(first + skip).into(), Ipv6Addr::from(first | hosts).into()))
        }
        _ => None,
    }
}

fn between(first: IpAddr, last: IpAddr) -> Option<Box<dyn Iterator<Item = IpAddr>>> {
    match (first, last) {
        (IpAddr::V4(first), IpAddr::V4(last)) if first <= last => {
            Some(Box::new((u32::from(first)..=u32::from(last)).map(|number| Ipv4Addr::from(number).into())))
        }
        (IpAddr::V6(first), IpAddr::V6(last)) if first <= last => {
            Some(Box::new((u128::from(first)..=u128::from(last)).map(|number| Ipv6Addr::from(number).into())))
        }
        _ => None,
    }
}

/// An endpoint to connect to: an address, or that of the URL, and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The address; `None` for that of the URL.
    pub address: Option<IpAddr>,
    /// Its port.
    pub port: u16,
}

impl Endpoint {
    /// The socket address, with the address of the URL as default.
    pub fn with(self, mut address: SocketAddr) -> SocketAddr {
        if let Some(own) = self.address {
            return SocketAddr::new(own, self.port);
        }
        address.set_port(self.port);
        address
    }
}

/// Parses `10.0.0.1:8001-8016,:8080,[::1]:9000`.
///
/// # Errors
/// The text is invalid, or there are too many.
pub fn parse_places(text: &str) -> Result<Vec<Endpoint>, PlanError> {
    let wrong = || PlanError::Places { value: text.to_owned() };
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (address, ports) = part.rsplit_once(':').ok_or_else(wrong)?;
        let address = match address.trim_start_matches('[').trim_end_matches(']') {
            "" => None,
            address => Some(address.parse().map_err(|_| wrong())?),
        };
        let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
        let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0);
        let (first, last) = (port(first).ok_or_else(wrong)?, port(last).ok_or_else(wrong)?);
        if first > last {
            return Err(wrong());
        }
        all.extend((first..=last).map(|port| Endpoint { address, port }));
        if all.len() > PLACES_MAX {
            return Err(PlanError::TooManyPlaces { flag: "--connect-addresses", most: PLACES_MAX });
        }
    }
    Ok(all)
}

/// The longest path of a socket: the kernel needs a zero after it.
const UNIX_PATH_BYTES_MAX: usize = 107;

/// Parses the path of a socket.
///
/// # Errors
/// It is longer than the kernel accepts, or empty.
pub(crate) fn parse_unix_socket(text: &str) -> Result<Arc<Path>, PlanError> {
    let is_good = (1..=UNIX_PATH_BYTES_MAX).contains(&text.len()) && !text.contains('\0');
    is_good.then(|| Path::new(text).into()).ok_or_else(|| PlanError::UnixSocket { path: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_as_people_write_them() {
        let of = |text: &str| match parse_sources(text) {
            Ok(Sources::These(all)) => Ok(all.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(" ")),
            Ok(other) => Ok(format!("{other:?}")),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(of("auto").as_deref(), Ok("Auto"));
        assert_eq!(of("10.0.0.2, 10.0.0.9").as_deref(), Ok("10.0.0.2 10.0.0.9"));
        assert_eq!(of("10.0.0.254-10.0.1.1").as_deref(), Ok("10.0.0.254 10.0.0.255 10.0.1.0 10.0.1.1"));
        assert_eq!(of("10.0.0.5/30").as_deref(), Ok("10.0.0.5 10.0.0.6"));
        assert_eq!(of("10.0.0.5/32,10.0.0.8/31").as_deref(), Ok("10.0.0.5 10.0.0.8 10.0.0.9"));
        assert_eq!(of("fd00::7/126").as_deref(), Ok("fd00::5 fd00::6 fd00::7"));
        for text in ["", "10.0.0", "10.0.0.9-10.0.0.2", "10.0.0.1/33", "::1-10.0.0.1", "10.0.0.1,", "0.0.0.0/0"] {
            assert!(of(text).is_err(), "{text}");
        }
        assert!(matches!(parse_sources("10.0.0.0/8"), Err(PlanError::TooManyPlaces { .. })));
    }

    #[test]
    fn places_as_people_write_them() {
        let url = SocketAddr::from(([192, 0, 2, 1], 0));
        let of = |text: &str| {
            parse_places(text)
                .map(|all| all.iter().map(|place| place.with(url).to_string()).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(of(":8080").as_deref(), Ok("192.0.2.1:8080"));
        assert_eq!(
            of("10.0.0.1:8001-8003, [::1]:9").as_deref(),
            Ok("10.0.0.1:8001 10.0.0.1:8002 10.0.0.1:8003 [::1]:9")
        );
        for text in ["", "8080", "host:1", ":0", ":9-8", ":70000", "10.0.0.1"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
