//! Attributes by name: RFC 2865, 2866, 2869, 3162, 6911, and a few of others.

use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use plan::distance;
use protocol::{Phrase, push_json_text};

use super::packet::{VALUE_BYTES_MAX, VENDOR_SPECIFIC};

/// The values of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Octets,
    /// Also a time in seconds since 1970.
    Integer,
    Address,
    Address6,
    Prefix6,
}

use Format::{Address, Address6, Integer, Octets, Prefix6, Text};

/// All attributes, each as its type and its name.
static ATTRIBUTES: [(Format, &str); 6] = [
    (
        Text,
        "1=User-Name 11=Filter-Id 18=Reply-Message 19=Callback-Number 20=Callback-Id 22=Framed-Route \
         30=Called-Station-Id 31=Calling-Station-Id 32=NAS-Identifier 34=Login-LAT-Service 35=Login-LAT-Node \
         39=Framed-AppleTalk-Zone 44=Acct-Session-Id 50=Acct-Multi-Session-Id 63=Login-LAT-Port \
         68=Acct-Tunnel-Connection 77=Connect-Info 78=Configuration-Token 87=NAS-Port-Id 88=Framed-Pool \
         89=Chargeable-User-Identity 99=Framed-IPv6-Route 100=Framed-IPv6-Pool 126=Operator-Name \
         171=Delegated-IPv6-Prefix-Pool 172=Stateful-IPv6-Address-Pool",
    ),
    (
        Octets,
        "2=User-Password 3=CHAP-Password 24=State 25=Class 26=Vendor-Specific 33=Proxy-State 36=Login-LAT-Group \
         60=CHAP-Challenge 74=ARAP-Security-Data 79=EAP-Message 80=Message-Authenticator 96=Framed-Interface-Id \
         170=Route-IPv6-Information",
    ),
    (
        Integer,
        "5=NAS-Port 6=Service-Type 7=Framed-Protocol 10=Framed-Routing 12=Framed-MTU 13=Framed-Compression \
         15=Login-Service 16=Login-TCP-Port 23=Framed-IPX-Network 27=Session-Timeout 28=Idle-Timeout \
         29=Termination-Action 37=Framed-AppleTalk-Link 38=Framed-AppleTalk-Network 40=Acct-Status-Type \
         41=Acct-Delay-Time 42=Acct-Input-Octets 43=Acct-Output-Octets 45=Acct-Authentic 46=Acct-Session-Time \
         47=Acct-Input-Packets 48=Acct-Output-Packets 49=Acct-Terminate-Cause 51=Acct-Link-Count \
         52=Acct-Input-Gigawords 53=Acct-Output-Gigawords 55=Event-Timestamp 61=NAS-Port-Type 62=Port-Limit \
         75=Password-Retry 76=Prompt 85=Acct-Interim-Interval 101=Error-Cause",
    ),
    (Address, "4=NAS-IP-Address 8=Framed-IP-Address 9=Framed-IP-Netmask 14=Login-IP-Host"),
    (Address6, "95=NAS-IPv6-Address 98=Login-IPv6-Host 168=Framed-IPv6-Address 169=DNS-Server-IPv6-Address"),
    (Prefix6, "97=Framed-IPv6-Prefix 123=Delegated-IPv6-Prefix"),
];

/// The names of values: those of an attribute in a row, from a first number on.
static VALUES: [(u8, u32, &str); 13] = [
    (
        6,
        1,
        "Login-User Framed-User Callback-Login-User Callback-Framed-User Outbound-User Administrative-User \
         NAS-Prompt-User Authenticate-Only Callback-NAS-Prompt Call-Check Callback-Administrative",
    ),
    (6, 17, "Authorize-Only"),
    (7, 1, "PPP SLIP ARAP"),
    (29, 0, "Default RADIUS-Request"),
    (40, 1, "Start Stop Interim-Update"),
    (40, 7, "Accounting-On Accounting-Off"),
    (45, 1, "RADIUS Local Remote"),
    (
        49,
        1,
        "User-Request Lost-Carrier Lost-Service Idle-Timeout Session-Timeout Admin-Reset Admin-Reboot Port-Error \
         NAS-Error NAS-Request NAS-Reboot Port-Unneeded Port-Preempted Port-Suspended Service-Unavailable Callback \
         User-Error Host-Request",
    ),
    (61, 0, "Async Sync ISDN-Sync ISDN-Async-V120 ISDN-Async-V110 Virtual"),
    (61, 15, "Ethernet xDSL Cable Wireless-Other Wireless-802.11"),
    (76, 0, "No-Echo Echo"),
    (10, 0, "None Broadcast Listen Broadcast-Listen"),
    (15, 0, "Telnet Rlogin TCP-Clear PortMaster LAT"),
];

/// An attribute of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attribute {
    /// Its type.
    pub(super) kind: u8,
    /// Its vendor, and the type there, of a Vendor-Specific one.
    pub(super) vendor: Option<(u32, u8)>,
    format: Format,
}

impl Attribute {
    /// The form of its values.
    pub(super) fn form(self) -> Phrase {
        match self.format {
            Text => Phrase::new("a text of 1 to 253 bytes", " 1 到 253 字节的文本"),
            Octets => Phrase::new(
                "1 to 253 bytes (247 of a vendor's), as text, or as hexadecimal digits behind 0x",
                " 1 到 253 字节（厂商属性为 247）的文本，或 0x 开头的十六进制数",
            ),
            Integer => Phrase::new("a number up to 4294967295", "不超过 4294967295 的整数"),
            Address => Phrase::new("an IPv4 address", " IPv4 地址"),
            Address6 => Phrase::new("an IPv6 address", " IPv6 地址"),
            Prefix6 => Phrase::new("an IPv6 prefix, as 2001:db8::/32", " IPv6 前缀，例如 2001:db8::/32"),
        }
    }
}

/// All attributes: type, name and format of each.
fn all() -> impl Iterator<Item = (u8, &'static str, Format)> {
    let each = |(format, list): &'static (Format, &'static str)| {
        let attribute = |word: &'static str| Some((word.split_once('=')?, *format));
        list.split(' ').filter_map(attribute)
    };
    let attributes = ATTRIBUTES.iter().flat_map(each);
    attributes.filter_map(|((kind, name), format)| Some((kind.parse().ok()?, name, format)))
}

/// The attribute with a name, as `NAS-Port`; with a number, as `Attr-200`; or of a vendor, as `9.1`.
pub(super) fn named(name: &str) -> Option<Attribute> {
    if let Some((kind, _, format)) = all().find(|(_, own, _)| own.eq_ignore_ascii_case(name)) {
        return Some(Attribute { kind, vendor: None, format });
    }
    let of_kind = |kind, vendor| Attribute { kind, vendor, format: Octets };
    if let Some(number) = name.strip_prefix("Attr-") {
        return number.parse().ok().filter(|kind| *kind > 0).map(|kind| of_kind(kind, None));
    }
    let (vendor, kind) = name.split_once('.')?;
    Some(of_kind(VENDOR_SPECIFIC, Some((vendor.parse().ok()?, kind.parse().ok()?))))
}

/// The known names that are nearest to one that is not.
pub(super) fn nearest(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let mut near: Vec<_> = all().map(|(_, known, _)| (distance(&lower, &known.to_ascii_lowercase()), known)).collect();
    near.sort_unstable();
    near.iter().take(3).map(|(_, known)| *known).collect::<Vec<_>>().join(", ")
}

/// Appends an attribute. `None`, and nothing is appended, where the value is not valid.
pub(super) fn encode(attribute: Attribute, value: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    out.extend_from_slice(&[attribute.kind, 0]);
    if let Some((vendor, kind)) = attribute.vendor {
        out.extend_from_slice(&vendor.to_be_bytes());
        out.extend_from_slice(&[kind, 0]);
    }
    let at = out.len();
    let written = write_value(attribute, value, out).filter(|()| {
        let length = out.len() - start - 2;
        length <= VALUE_BYTES_MAX && out.len() > at
    });
    if written.is_none() {
        out.truncate(start);
        return None;
    }
    out[start + 1] = (out.len() - start) as u8;
    if attribute.vendor.is_some() {
        out[at - 1] = (out.len() - at + 2) as u8;
    }
    Some(())
}

fn write_value(attribute: Attribute, value: &[u8], out: &mut Vec<u8>) -> Option<()> {
    match attribute.format {
        Text => out.extend_from_slice(value),
        Octets => match value.strip_prefix(b"0x") {
            Some(digits) => {
                let nibble = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
                let (pairs, rest) = digits.as_chunks();
                for [high, low] in pairs {
                    out.push(nibble(*high)? << 4 | nibble(*low)?);
                }
                return rest.is_empty().then_some(());
            }
            None => out.extend_from_slice(value),
        },
        Integer => {
            let text = text_of(value)?;
            let number = text.parse().ok().or_else(|| number_of(attribute.kind, text))?;
            out.extend_from_slice(&u32::to_be_bytes(number));
        }
        Address => out.extend_from_slice(&parsed::<Ipv4Addr>(value)?.octets()),
        Address6 => out.extend_from_slice(&parsed::<Ipv6Addr>(value)?.octets()),
        Prefix6 => {
            let (address, length) = text_of(value)?.split_once('/')?;
            let length = length.parse::<u8>().ok().filter(|length| *length <= 128)?;
            // RFC 3162, 2.3: bits beyond the prefix are zero.
            let kept = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            let bits = u128::from(Ipv6Addr::from_str(address).ok()?) & kept;
            out.extend_from_slice(&[0, length]);
            out.extend_from_slice(&bits.to_be_bytes());
        }
    }
    Some(())
}

fn text_of(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok().map(str::trim)
}

fn parsed<T: FromStr>(value: &[u8]) -> Option<T> {
    text_of(value)?.parse().ok()
}

fn number_of(kind: u8, name: &str) -> Option<u32> {
    VALUES.iter().filter(|(own, ..)| *own == kind).find_map(|(_, first, names)| {
        let at = names.split(' ').position(|known| known.eq_ignore_ascii_case(name))?;
        Some(first + at as u32)
    })
}

fn name_of(kind: u8, number: u32) -> Option<&'static str> {
    VALUES
        .iter()
        .filter(|(own, ..)| *own == kind)
        .find_map(|(_, first, names)| names.split(' ').nth(usize::try_from(number.checked_sub(*first)?).ok()?))
}

/// Writes the name of an attribute as JSON.
pub(super) fn write_name(kind: u8, json: &mut Vec<u8>) {
    match all().find(|(own, ..)| *own == kind) {
        Some((_, name, _)) => push_json_text(name.as_bytes(), json),
        None => push_json_text(format!("Attr-{kind}").as_bytes(), json),
    }
}

/// Writes the value of an attribute as JSON: a text, a number or the name of one, an address; others, and those that
/// have a wrong length, as hexadecimal digits.
pub(super) fn write_value_as_json(kind: u8, value: &[u8], json: &mut Vec<u8>) {
    let format = all().find(|(own, ..)| *own == kind).map_or(Octets, |(.., format)| format);
    let text = match (format, value) {
        (Text, _) => return push_json_text(value, json),
        (Integer, [a, b, c, d]) => {
            let number = u32::from_be_bytes([*a, *b, *c, *d]);
            match name_of(kind, number) {
                Some(name) => name.to_owned(),
                None => return json.extend_from_slice(number.to_string().as_bytes()),
            }
        }
        (Address, [a, b, c, d]) => Ipv4Addr::new(*a, *b, *c, *d).to_string(),
        (Address6, _) if let Some(address) = address6(value, 16) => address.to_string(),
        (Prefix6, [_, length, bits @ ..]) if let Some(address) = address6(bits, 0) => format!("{address}/{length}"),
        _ => return write_hexadecimal(value, json),
    };
    push_json_text(text.as_bytes(), json);
}

/// An address whose last bytes, zeros, may be left out.
fn address6(bytes: &[u8], least: usize) -> Option<Ipv6Addr> {
    let mut octets = [0; 16];
    octets.get_mut(..bytes.len()).filter(|_| bytes.len() >= least)?.copy_from_slice(bytes);
    Some(Ipv6Addr::from(octets))
}

/// Writes bytes as JSON: `"0x"` and hexadecimal digits.
pub(super) fn write_hexadecimal(bytes: &[u8], json: &mut Vec<u8>) {
    json.extend_from_slice(b"\"0x");
    for byte in bytes {
        // A vector takes all that is written.
        let _ = write!(json, "{byte:02x}");
    }
    json.push(b'"');
}
