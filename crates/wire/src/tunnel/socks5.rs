//! The client's side of SOCKS5, byte by byte: no part of a reply is kept, so none can be too large.

use core::net::{IpAddr, SocketAddr};
use std::fmt;

use super::{Credentials, Destination, Refusal, TunnelFault, TunnelProgress};

/// The version of the protocol (RFC 1928).
pub(super) const VERSION: u8 = 5;
/// The version of the login (RFC 1929).
pub(super) const LOGIN_VERSION: u8 = 1;
/// The methods: no login, user and password, none that is acceptable.
pub(super) const METHOD_NONE: u8 = 0;
pub(super) const METHOD_LOGIN: u8 = 2;
pub(super) const METHOD_REFUSED: u8 = 0xff;
/// The command that opens a stream.
pub(super) const CONNECT: u8 = 1;
/// The code of success, in replies and for logins.
pub(super) const SUCCESS: u8 = 0;
/// The types of addresses.
pub(super) const TYPE_V4: u8 = 1;
pub(super) const TYPE_NAME: u8 = 3;
pub(super) const TYPE_V6: u8 = 4;
/// The bytes of a port.
const PORT_BYTES: u16 = 2;

/// The meaning of a reply code of SOCKS5 (RFC 1928 6).
pub fn reply_text(code: u8) -> &'static str {
    match code {
        SUCCESS => "succeeded",
        1 => "general failure",
        2 => "not allowed by ruleset",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "TTL expired",
        7 => "command not supported",
        8 => "address type not supported",
        _ => "unassigned reply code",
    }
}

/// The byte that is expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextByte {
    MethodVersion,
    Method,
    LoginVersion,
    LoginStatus,
    ReplyVersion,
    ReplyCode,
    ReplyReserved,
    AddressType,
    NameLength,
    /// The bound address and its port, of which nothing is used.
    Bound {
        remaining: u16,
    },
    /// None: the tunnel is open, or will never be.
    End,
}

/// A tunnel through a SOCKS5 proxy.
pub struct Socks5Tunnel {
    next: NextByte,
    /// The bytes of the login in `unsent`; zero when none was offered.
    login_bytes: u16,
    /// Our messages behind the greeting: the login and the request.
    unsent: Vec<u8>,
}

impl fmt::Debug for Socks5Tunnel {
    /// Without the messages: they contain the password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Socks5Tunnel").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Socks5Tunnel {
    pub(super) fn start(
        to: &Destination<'_>,
        credentials: Option<&Credentials>,
        out: &mut Vec<u8>,
    ) -> Result<Self, TunnelFault> {
        let mut unsent = Vec::new();
        if let Some(credentials) = credentials {
            unsent.push(LOGIN_VERSION);
            put_text(&credentials.user, &mut unsent).ok_or(TunnelFault::Credentials)?;
            put_text(&credentials.password, &mut unsent).ok_or(TunnelFault::Credentials)?;
        }
        let login_bytes = unsent.len() as u16;
        unsent.extend_from_slice(&[VERSION, CONNECT, 0]);
        let port = match *to {
            Destination::Name(name, port) => {
                unsent.push(TYPE_NAME);
                put_text(name, &mut unsent).ok_or(TunnelFault::Name)?;
                port
            }
            Destination::Address(address) => {
                put_address(address, &mut unsent);
                address.port()
            }
        };
        unsent.extend_from_slice(&port.to_be_bytes());
        out.extend_from_slice(match credentials {
            None => &[VERSION, 1, METHOD_NONE],
            Some(_) => &[VERSION, 2, METHOD_NONE, METHOD_LOGIN],
        });
        Ok(Self { next: NextByte::MethodVersion, login_bytes, unsent })
    }

    pub(super) fn read(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<TunnelProgress, TunnelFault> {
        for (at, byte) in bytes.iter().enumerate() {
            let next = self.step(*byte, out);
            self.next = next.unwrap_or(NextByte::End);
            if next? == NextByte::End {
                return Ok(TunnelProgress::Established { taken: at + 1 });
            }
        }
        Ok(TunnelProgress::NeedMore)
    }

    /// Reads a byte, and returns what the next one is.
    fn step(&mut self, byte: u8, out: &mut Vec<u8>) -> Result<NextByte, TunnelFault> {
        Ok(match (self.next, byte) {
            (NextByte::MethodVersion, VERSION) => NextByte::Method,
            (NextByte::Method, METHOD_NONE) => {
                self.send_request(out);
                NextByte::ReplyVersion
            }
            (NextByte::Method, METHOD_LOGIN) if self.login_bytes > 0 => {
                out.extend_from_slice(self.unsent.get(..usize::from(self.login_bytes)).unwrap_or_default());
                NextByte::LoginVersion
            }
            (NextByte::Method, METHOD_REFUSED) => return Err(TunnelFault::Login),
            (NextByte::LoginVersion, LOGIN_VERSION) => NextByte::LoginStatus,
            (NextByte::LoginStatus, SUCCESS) => {
                self.send_request(out);
                NextByte::ReplyVersion
            }
            (NextByte::LoginStatus, _) => return Err(TunnelFault::Login),
            (NextByte::ReplyVersion, VERSION) => NextByte::ReplyCode,
            (NextByte::ReplyCode, SUCCESS) => NextByte::ReplyReserved,
            // The rest of such a reply says nothing, and may not even be sent.
            (NextByte::ReplyCode, code) => return Err(TunnelFault::Refused(Refusal::Socks(code))),
            // It must be zero, but no reader needs that.
            (NextByte::ReplyReserved, _) => NextByte::AddressType,
            (NextByte::AddressType, TYPE_V4) => NextByte::Bound { remaining: 4 + PORT_BYTES },
            (NextByte::AddressType, TYPE_V6) => NextByte::Bound { remaining: 16 + PORT_BYTES },
            (NextByte::AddressType, TYPE_NAME) => NextByte::NameLength,
            (NextByte::NameLength, length) => NextByte::Bound { remaining: u16::from(length) + PORT_BYTES },
            (NextByte::Bound { remaining: 0 | 1 }, _) => NextByte::End,
            (NextByte::Bound { remaining }, _) => NextByte::Bound { remaining: remaining - 1 },
            (
                NextByte::MethodVersion
                | NextByte::Method
                | NextByte::LoginVersion
                | NextByte::ReplyVersion
                | NextByte::AddressType
                | NextByte::End,
                _,
            ) => return Err(TunnelFault::Invalid),
        })
    }

    /// Sends the request, and frees our messages.
    fn send_request(&mut self, out: &mut Vec<u8>) {
        let unsent = std::mem::take(&mut self.unsent);
        out.extend_from_slice(unsent.get(usize::from(self.login_bytes)..).unwrap_or_default());
    }
}

/// Appends a text behind its length; `None` when it has not 1 to 255 bytes.
fn put_text(text: &str, out: &mut Vec<u8>) -> Option<()> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length > 0)?;
    out.push(length);
    out.extend_from_slice(text.as_bytes());
    Some(())
}

/// Appends the type of an address, and the address without its port.
fn put_address(address: SocketAddr, out: &mut Vec<u8>) {
    match address.ip() {
        IpAddr::V4(ip) => {
            out.push(TYPE_V4);
            out.extend_from_slice(&ip.octets());
        }
        IpAddr::V6(ip) => {
            out.push(TYPE_V6);
            out.extend_from_slice(&ip.octets());
        }
    }
}
