//! Encoding of the measurements by address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::SnapshotError;
use super::number::{Reader, put};
use super::times::{put_times, read};
use crate::by_address::{ADDRESSES_MAX, AddressTally, ByAddress};

/// The kinds of an address.
const OTHERS: u8 = 0;
const V4: u8 = 4;
const V6: u8 = 6;

/// Writes the addresses in their order, each with its tally; nothing without any.
pub(super) fn put_all(out: &mut Vec<u8>, addresses: &ByAddress) {
    let all = addresses.all();
    if all.is_empty() {
        return;
    }
    put(out, all.len() as u64);
    for (address, tally) in all {
        match address.map(|address| (address.ip(), address.port())) {
            None => out.push(OTHERS),
            Some((IpAddr::V4(address), port)) => {
                out.push(V4);
                out.extend_from_slice(&address.octets());
                out.extend_from_slice(&port.to_be_bytes());
            }
            Some((IpAddr::V6(address), port)) => {
                out.push(V6);
                out.extend_from_slice(&address.octets());
                out.extend_from_slice(&port.to_be_bytes());
            }
        }
        tally.counts().into_iter().for_each(|count| put(out, count));
        put_times(out, &tally.response);
    }
}

pub(super) fn read_all(from: &mut Reader<'_>) -> Result<ByAddress, SnapshotError> {
    let mut addresses = ByAddress::default();
    let count = from.length(ADDRESSES_MAX + 1)?;
    from.must(count > 0)?;
    let mut last: Option<(bool, Option<SocketAddr>)> = None;
    for _ in 0..count {
        let address = address(from)?;
        let place = (address.is_none(), address);
        from.must(last.is_none_or(|last| last < place))?;
        last = Some(place);
        let mut tally = AddressTally::default();
        for count in [&mut tally.tried, &mut tally.established, &mut tally.sent, &mut tally.answered, &mut tally.failed]
        {
            *count = from.amount()?;
        }
        tally.response = read(from)?;
        from.must(!tally.is_empty())?;
        addresses.push(address, tally);
    }
    Ok(addresses)
}

fn address(from: &mut Reader<'_>) -> Result<Option<SocketAddr>, SnapshotError> {
    let ip: IpAddr = match from.byte()? {
        OTHERS => return Ok(None),
        V4 => Ipv4Addr::from(fixed::<4>(from)?).into(),
        V6 => Ipv6Addr::from(fixed::<16>(from)?).into(),
        _ => return Err(from.damaged()),
    };
    Ok(Some((ip, u16::from_be_bytes(fixed::<2>(from)?)).into()))
}

fn fixed<const N: usize>(from: &mut Reader<'_>) -> Result<[u8; N], SnapshotError> {
    let mut bytes = [0; N];
    bytes.copy_from_slice(from.take(N)?);
    Ok(bytes)
}
