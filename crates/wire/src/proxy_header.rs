//! The header of the PROXY protocol, versions 1 and 2 (proxy-protocol.txt of HAProxy): the addresses of a connection,
//! sent ahead of its first byte by a proxy that relays it.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The first bytes of version 2.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// The first bytes of version 1.
const WORD: &[u8] = b"PROXY ";
/// The largest line of version 1, with its end.
const LINE_BYTES_MAX: usize = 107;
/// The bytes of version 2 before the addresses.
const FIXED_BYTES: usize = 16;
/// Version 2 with its commands: the connection is the proxy's own, or that of a client.
const LOCAL: u8 = 0x20;
const PROXY: u8 = 0x21;
/// Families and transports: none, TCP over IPv4, TCP over IPv6.
const UNSPECIFIED: u8 = 0x00;
const TCP4: u8 = 0x11;
const TCP6: u8 = 0x21;

/// The form of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyHeaderVersion {
    /// A line of text.
    V1,
    /// Bytes.
    V2,
}

/// The content of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyHeader {
    /// The form.
    pub version: ProxyHeaderVersion,
    /// The addresses of the client and of the server; `None` for a connection of the proxy itself, and for what is not
    /// TCP over IP.
    pub addresses: Option<(SocketAddr, SocketAddr)>,
}

/// The reason why bytes are no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyHeaderFault {
    /// They begin like neither version.
    #[error("the connection does not begin with a header of the PROXY protocol")]
    Missing,
    /// They begin like one, but are none.
    #[error("the header of the PROXY protocol is malformed")]
    Malformed,
}

/// Appends a header: the addresses of the client and of the server. Without one of them, version 1 has no addresses,
/// and version 2 is that of a connection of the proxy itself. If one is IPv4 and the other IPv6, the former is mapped
/// to IPv6.
pub fn put_proxy_header(
    version: ProxyHeaderVersion,
    from: Option<SocketAddr>,
    to: Option<SocketAddr>,
    out: &mut Vec<u8>,
) {
    let ends = from.zip(to);
    match version {
        ProxyHeaderVersion::V1 => out.extend_from_slice(line_of(ends).as_bytes()),
        ProxyHeaderVersion::V2 => put_bytes(ends, out),
    }
}

/// The addresses of both ends, of one family.
enum Ips {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

fn ips_of(from: SocketAddr, to: SocketAddr) -> Ips {
    let mapped = |ip| match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    match (from.ip(), to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => Ips::V4(from, to),
        (from, to) => Ips::V6(mapped(from), mapped(to)),
    }
}

fn line_of(ends: Option<(SocketAddr, SocketAddr)>) -> String {
    let Some((from, to)) = ends else { return "PROXY UNKNOWN\r\n".to_owned() };
    let ports = (from.port(), to.port());
    match ips_of(from, to) {
        Ips::V4(from, to) => format!("PROXY TCP4 {from} {to} {} {}\r\n", ports.0, ports.1),
        Ips::V6(from, to) => {
            format!("PROXY TCP6 {} {} {} {}\r\n", hexadecimal(from), hexadecimal(to), ports.0, ports.1)
        }
    }
}

/// An address in hexadecimal groups alone: the header has no form with dots, which a mapped IPv4 address is shown in.
fn hexadecimal(ip: Ipv6Addr) -> String {
    match (ip.to_ipv4_mapped(), ip.segments()) {
        (Some(_), [.., high, low]) => format!("::ffff:{high:x}:{low:x}"),
        (None, _) => ip.to_string(),
    }
}

fn put_bytes(ends: Option<(SocketAddr, SocketAddr)>, out: &mut Vec<u8>) {
    out.extend_from_slice(&SIGNATURE);
    let Some((from, to)) = ends else {
        out.extend_from_slice(&[LOCAL, UNSPECIFIED, 0, 0]);
        return;
    };
    match ips_of(from, to) {
        Ips::V4(from, to) => {
            out.extend_from_slice(&[PROXY, TCP4, 0, 12]);
            out.extend_from_slice(&from.octets());
            out.extend_from_slice(&to.octets());
        }
        Ips::V6(from, to) => {
            out.extend_from_slice(&[PROXY, TCP6, 0, 36]);
            out.extend_from_slice(&from.octets());
            out.extend_from_slice(&to.octets());
        }
    }
    out.extend_from_slice(&from.port().to_be_bytes());
    out.extend_from_slice(&to.port().to_be_bytes());
}

/// Parses a header at the start of `bytes`: its content and its length, or `None` when more bytes are needed. That of
/// version 2 has at most 65551 bytes.
///
/// # Errors
/// The bytes are no header.
pub fn read_proxy_header(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, ProxyHeaderFault> {
    let begins = |start: &[u8]| bytes.iter().zip(start).all(|(byte, wanted)| byte == wanted);
    if begins(&SIGNATURE) {
        read_bytes(bytes)
    } else if begins(WORD) {
        read_line(bytes)
    } else {
        Err(ProxyHeaderFault::Missing)
    }
}

fn read_line(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, ProxyHeaderFault> {
    let window = bytes.get(..LINE_BYTES_MAX).unwrap_or(bytes);
    let Some(end) = window.windows(2).position(|pair| pair == b"\r\n") else {
        return if window.len() < LINE_BYTES_MAX { Ok(None) } else { Err(ProxyHeaderFault::Malformed) };
    };
    let line = window.get(WORD.len()..end).and_then(|line| std::str::from_utf8(line).ok());
    let line = line.ok_or(ProxyHeaderFault::Malformed)?;
    // What stands behind UNKNOWN is ignored.
    let addresses = match line.strip_prefix("UNKNOWN") {
        Some(rest) if rest.is_empty() || rest.starts_with(' ') => None,
        _ => Some(ends_of(line).ok_or(ProxyHeaderFault::Malformed)?),
    };
    Ok(Some((ProxyHeader { version: ProxyHeaderVersion::V1, addresses }, end + 2)))
}

/// The addresses of a line: exactly one space between its parts.
fn ends_of(line: &str) -> Option<(SocketAddr, SocketAddr)> {
    let mut parts = line.split(' ');
    let mut next = || parts.next();
    let (family, from, to, from_port, to_port) = (next()?, next()?, next()?, next()?, next()?);
    let ip = |text: &str| match family {
        "TCP4" => text.parse().ok().map(IpAddr::V4),
        "TCP6" => text.parse().ok().map(IpAddr::V6),
        _ => None,
    };
    let ends = (SocketAddr::new(ip(from)?, port_of(from_port)?), SocketAddr::new(ip(to)?, port_of(to_port)?));
    next().is_none().then_some(ends)
}

/// A port: digits without a sign, and without a zero ahead of others.
fn port_of(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}

fn read_bytes(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, ProxyHeaderFault> {
    let (command, kind) = (bytes.get(12).copied(), bytes.get(13).copied());
    let is_known = |kind: u8| kind >> 4 <= 3 && kind & 0x0f <= 2;
    if !command.is_none_or(|command| matches!(command, LOCAL | PROXY))
        || command == Some(PROXY) && !kind.is_none_or(is_known)
    {
        return Err(ProxyHeaderFault::Malformed);
    }
    let Some(&[high, low]) = bytes.get(14..FIXED_BYTES) else { return Ok(None) };
    let length = FIXED_BYTES + usize::from(u16::from_be_bytes([high, low]));
    let Some(block) = bytes.get(FIXED_BYTES..length) else { return Ok(None) };
    // Behind the addresses may be more, which is skipped.
    let addresses = match (command, kind) {
        (Some(PROXY), Some(TCP4)) => Some(ends_in::<4>(block).ok_or(ProxyHeaderFault::Malformed)?),
        (Some(PROXY), Some(TCP6)) => Some(ends_in::<16>(block).ok_or(ProxyHeaderFault::Malformed)?),
        _ => None,
    };
    Ok(Some((ProxyHeader { version: ProxyHeaderVersion::V2, addresses }, length)))
}

/// The addresses at the start of a block, of `N` bytes each; then the ports.
fn ends_in<const N: usize>(block: &[u8]) -> Option<(SocketAddr, SocketAddr)>
where
    IpAddr: From<[u8; N]>,
{
    let (from, rest) = block.split_first_chunk::<N>()?;
    let (to, rest) = rest.split_first_chunk::<N>()?;
    let (from_port, rest) = rest.split_first_chunk()?;
    let to_port = rest.first_chunk()?;
    let end = |ip: &[u8; N], port: &[u8; 2]| SocketAddr::new(IpAddr::from(*ip), u16::from_be_bytes(*port));
    Some((end(from, from_port), end(to, to_port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: ProxyHeaderVersion = ProxyHeaderVersion::V1;
    const V2: ProxyHeaderVersion = ProxyHeaderVersion::V2;

    fn header(version: ProxyHeaderVersion, ends: Option<(&str, &str)>) -> Vec<u8> {
        let mut out = Vec::new();
        let end = |text: &str| text.parse().expect("an address");
        put_proxy_header(version, ends.map(|ends| end(ends.0)), ends.map(|ends| end(ends.1)), &mut out);
        out
    }

    /// Version 2: what stands behind the signature.
    fn after_signature(rest: &[u8]) -> Vec<u8> {
        [b"\x0D\x0A\x0D\x0A\x00\x0D\x0A\x51\x55\x49\x54\x0A", rest].concat()
    }

    #[test]
    fn headers_are_those_of_the_specification() {
        let example = Some(("192.168.0.1:56324", "192.168.0.11:443"));
        assert_eq!(header(V1, example), b"PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n");
        let largest = header(V1, Some(("255.255.255.255:65535", "255.255.255.255:65535")));
        assert_eq!(largest.len(), 56);
        let all = "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535";
        assert_eq!(header(V1, Some((all, all))).len(), 104);
        assert_eq!(header(V1, None), b"PROXY UNKNOWN\r\n");
        assert_eq!(header(V2, None), after_signature(b"\x20\x00\x00\x00"));
        let bytes = b"\x21\x11\x00\x0c\xc0\xa8\x00\x01\xc0\xa8\x00\x0b\xdc\x04\x01\xbb";
        assert_eq!(header(V2, example), after_signature(bytes));
        let mut bytes = b"\x21\x21\x00\x24\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01".to_vec();
        bytes.extend_from_slice(b"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02\x10\x00\x00\x50");
        assert_eq!(header(V2, Some(("[2001:db8::1]:4096", "[2001:db8::2]:80"))), after_signature(&bytes));
        // Without one of the addresses there is none.
        let mut half = Vec::new();
        put_proxy_header(V1, Some("192.0.2.1:1".parse().expect("an address")), None, &mut half);
        assert_eq!(half, b"PROXY UNKNOWN\r\n");
    }

    #[test]
    fn an_ipv4_address_is_mapped_beside_one_of_ipv6() {
        let mixed = Some(("192.0.2.1:1000", "[2001:db8::2]:80"));
        assert_eq!(header(V1, mixed), b"PROXY TCP6 ::ffff:c000:201 2001:db8::2 1000 80\r\n");
        let bytes = header(V2, mixed);
        assert_eq!(bytes[12..16], [0x21, 0x21, 0, 36]);
        assert_eq!(bytes[16..32], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1]);
        let other_way = header(V1, Some(("[2001:db8::2]:80", "192.0.2.1:1")));
        assert_eq!(other_way, b"PROXY TCP6 2001:db8::2 ::ffff:c000:201 80 1\r\n");
    }

    #[test]
    fn what_is_written_is_read_when_it_is_complete() {
        let ends = [
            None,
            Some(("192.0.2.1:0", "192.0.2.2:65535")),
            Some(("[2001:db8::1]:1", "[::]:2")),
            Some(("[::ffff:192.0.2.1]:1", "[::1]:2")),
        ];
        for version in [V1, V2] {
            for ends in ends {
                let bytes = header(version, ends);
                let end = |text: &str| text.parse().expect("an address");
                let expected = ProxyHeader { version, addresses: ends.map(|ends| (end(ends.0), end(ends.1))) };
                let more = [&bytes[..], b"\r\nGET"].concat();
                for cut in 0..=more.len() {
                    let whole = (cut >= bytes.len()).then_some((expected, bytes.len()));
                    assert_eq!(read_proxy_header(&more[..cut]), Ok(whole), "{ends:?} cut at {cut}");
                }
            }
        }
    }

    #[test]
    fn headers_that_others_write_are_read_or_refused() {
        let ignored = |version, length| Ok(Some((ProxyHeader { version, addresses: None }, length)));
        let unknown = b"PROXY UNKNOWN ffff:: ffff:: 65535 65535\r\n";
        assert_eq!(read_proxy_header(unknown), ignored(V1, unknown.len()));
        // UDP, Unix, and a local connection with a block are skipped; so is what follows addresses.
        for kind in [b"\x21\x12", b"\x21\x31", b"\x21\x00", b"\x20\x11", b"\x20\xff"] {
            let bytes = after_signature(&[&kind[..], b"\x00\x03abcGET"].concat());
            assert_eq!(read_proxy_header(&bytes), ignored(V2, 19), "{kind:?}");
        }
        let more = after_signature(b"\x21\x11\x00\x10\xc0\x00\x02\x01\xc0\x00\x02\x02\x00\x01\x00\x02\x04\x00\x01x");
        let read = read_proxy_header(&more).expect("a header").expect("a whole one");
        let end = |text: &str| text.parse().expect("an address");
        assert_eq!(read, (ProxyHeader { version: V2, addresses: Some((end("192.0.2.1:1"), end("192.0.2.2:2"))) }, 32));
        for wrong in ["GET / HTTP/1.1\r\n", "\r\n\r\nX", "PROXX", "\x16\x03\x01"] {
            assert_eq!(read_proxy_header(wrong.as_bytes()), Err(ProxyHeaderFault::Missing), "{wrong}");
        }
        let lines = [
            "PROXY \r\n",
            "PROXY UNKNOWNS\r\n",
            "PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1 2 3\r\n",
            "PROXY TCP4 192.0.2.1  192.0.2.2 1 2\r\n",
            "PROXY TCP4 192.0.2.01 192.0.2.2 1 2\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 01 2\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 +1 2\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1 65536\r\n",
            "PROXY TCP4 192.0.2.1 ::1 1 2\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n\r\n",
        ];
        let endless = format!("PROXY UNKNOWN {}", "x".repeat(93));
        for wrong in lines.into_iter().chain([&*endless]) {
            assert_eq!(read_proxy_header(wrong.as_bytes()), Err(ProxyHeaderFault::Malformed), "{wrong}");
        }
        assert_eq!(read_proxy_header(&endless.as_bytes()[..106]), Ok(None));
        let blocks: [&[u8]; 5] = [
            b"\x11",
            b"\x22\x11",
            b"\x21\x41",
            b"\x21\x13",
            b"\x21\x11\x00\x0b\xc0\x00\x02\x01\xc0\x00\x02\x02\x00\x01\x00",
        ];
        for wrong in blocks {
            assert_eq!(read_proxy_header(&after_signature(wrong)), Err(ProxyHeaderFault::Malformed), "{wrong:?}");
        }
    }
}
