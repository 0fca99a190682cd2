//! Zones of IPv6 addresses in URLs (RFC 6874): the interface through which a link-local address is reached. They are for
//! this machine alone, so that no request names them.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use crate::secrets::percent_decoded;

/// The longest name of an interface, without the zero behind it.
const ZONE_BYTES_MAX: usize = 15;

/// A URL without its scheme, without the zone, and the zone: of `[fe80::1%25eth0]:80/` and of `[fe80::1%eth0]:80/` it is
/// `eth0`.
///
/// # Errors
/// No interface can have this name.
#[inline]
pub(crate) fn without_zone(rest: &str) -> Result<(Cow<'_, str>, Option<String>), String> {
    let unchanged = Ok((Cow::Borrowed(rest), None));
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let begin = rest[..end].rfind('@').map_or(0, |user| user + 1);
    let Some(inner) = rest[begin..end].strip_prefix('[').and_then(|inner| inner.split(']').next()) else {
        return unchanged;
    };
    let Some((address, zone)) = inner.split_once('%').filter(|(address, _)| address.parse::<Ipv6Addr>().is_ok()) else {
        return unchanged;
    };
    // A number of an interface may begin with 25 too.
    let zone = percent_decoded(zone.strip_prefix("25").filter(|name| !name.is_empty()).unwrap_or(zone));
    if zone.is_empty()
        || zone.len() > ZONE_BYTES_MAX
        || !zone.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
    {
        return Err(format!("'{zone}' is the name of no interface"));
    }
    let bare = format!("{}[{address}{}", &rest[..begin], &rest[begin + 1 + inner.len()..]);
    Ok((Cow::Owned(bare), Some(zone)))
}

/// A URL whose host is in brackets, with the zone.
#[inline]
pub(crate) fn with_zone(url: &str, zone: Option<&str>) -> String {
    zone.map_or_else(|| url.to_owned(), |zone| url.replacen(']', &format!("%25{zone}]"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_parted_from_addresses() {
        for (text, bare, zone) in [
            ("[fe80::1%25eth0]:80/a?b=[c%25d]", "[fe80::1]:80/a?b=[c%25d]", Some("eth0")),
            ("[fe80::1%eth0]", "[fe80::1]", Some("eth0")),
            ("[fe80::1%253]/", "[fe80::1]/", Some("3")),
            ("[fe80::1%25]", "[fe80::1]", Some("25")),
            ("[fe80::1%25eth0%2e5]", "[fe80::1]", Some("eth0.5")),
            ("name:p%25@[fe80::1%25br-lan]:1", "name:p%25@[fe80::1]:1", Some("br-lan")),
            ("[fe80::1]:80", "[fe80::1]:80", None),
            ("[not%25one]/", "[not%25one]/", None),
            ("example.com/[fe80::1%25eth0]", "example.com/[fe80::1%25eth0]", None),
            ("[", "[", None),
            ("", "", None),
        ] {
            let (seen, found) = without_zone(text).expect(text);
            assert_eq!((seen.as_ref(), found.as_deref()), (bare, zone), "{text}");
            let again = with_zone(&seen, found.as_deref());
            assert_eq!(without_zone(&again), Ok((bare.into(), zone.map(str::to_owned))), "{again}");
        }
        for wrong in
            ["[fe80::1%]", "[fe80::1%25a b]", "[fe80::1%25a%2Fb]", "[fe80::1%25sixteen-bytes-00]", "[fe80::1%25é]"]
        {
            assert!(without_zone(wrong).is_err(), "{wrong}");
        }
    }
}
