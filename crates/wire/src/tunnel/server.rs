//! The proxy's side of both protocols, for tests and simulated proxies: it reads what a client requests, and writes
//! answers. It connects to nothing.

use core::net::{Ipv4Addr, Ipv6Addr};

use super::http::{LOGIN_REQUIRED, authorization};
use super::socks5::{
    CONNECT, LOGIN_VERSION, METHOD_LOGIN, METHOD_NONE, METHOD_REFUSED, SUCCESS, TYPE_NAME, TYPE_V4, TYPE_V6, VERSION,
};
use super::{Credentials, Refusal, TunnelFault};
use crate::http1::{RequestHead, Server, ServerEvent, fields, reason_phrase};

/// The progress of a request for a tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TunnelServerEvent {
    /// All bytes were consumed, and the request is not complete.
    NeedMore,
    /// The whole request: answer it with [`TunnelServer::accept`] or [`TunnelServer::refuse`].
    Requested {
        /// A name or an address; IPv6 without brackets.
        host: String,
        /// The port.
        port: u16,
        /// The number of bytes that belonged to the request; the others are for the peer.
        taken: usize,
    },
    /// The request was answered here, with a refusal: close when it is sent.
    Refused,
}

/// The state machine of a proxy for one connection: call [`TunnelServer::read`] until it returns another event than
/// [`TunnelServerEvent::NeedMore`]. The first byte decides about the protocol.
#[derive(Debug)]
pub struct TunnelServer {
    expected: Option<Credentials>,
    waits: ServerWaits,
}

#[derive(Debug)]
enum ServerWaits {
    FirstByte,
    Http(Box<Server>),
    /// A message of SOCKS5, and the bytes of it that have arrived: at most 513.
    Socks(SocksMessage, Vec<u8>),
    /// Nothing: the request is complete, or was refused.
    End {
        is_socks: bool,
    },
}

#[derive(Clone, Copy, Debug)]
enum SocksMessage {
    Greeting,
    Login,
    Request,
}

/// A host and a port.
type HostPort = (String, u16);

/// The length of what was read, and its host and port; no host when it was refused, and the answer was written.
type ReadRequest = (usize, Option<HostPort>);

impl TunnelServer {
    /// The state of a new connection; `expected` is the login that clients must have.
    pub fn new(expected: Option<Credentials>) -> Self {
        Self { expected, waits: ServerWaits::FirstByte }
    }

    /// Reads received bytes. Answers that come before that of the caller are appended to `out`.
    ///
    /// # Errors
    /// [`TunnelFault::Invalid`]: the client speaks neither protocol.
    pub fn read(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<TunnelServerEvent, TunnelFault> {
        if let (ServerWaits::FirstByte, Some(first)) = (&self.waits, bytes.first()) {
            self.waits = match *first {
                VERSION => ServerWaits::Socks(SocksMessage::Greeting, Vec::new()),
                _ => ServerWaits::Http(Box::default()),
            };
        }
        let expected = self.expected.as_ref();
        let (is_socks, read) = match &mut self.waits {
            ServerWaits::FirstByte => return Ok(TunnelServerEvent::NeedMore),
            ServerWaits::End { .. } => return Err(TunnelFault::Invalid),
            ServerWaits::Http(server) => (false, read_http(server, expected, bytes, out)?),
            ServerWaits::Socks(message, kept) => (true, read_socks(message, kept, expected, bytes, out)?),
        };
        let Some((taken, target)) = read else { return Ok(TunnelServerEvent::NeedMore) };
        self.waits = ServerWaits::End { is_socks };
        Ok(match target {
            Some((host, port)) => TunnelServerEvent::Requested { host, port, taken },
            None => TunnelServerEvent::Refused,
        })
    }

    /// Writes the answer to a request whose tunnel is open.
    pub fn accept(&self, out: &mut Vec<u8>) {
        if self.is_socks() { put_reply(SUCCESS, out) } else { out.extend_from_slice(b"HTTP/1.1 200 OK\r\n\r\n") }
    }

    /// Writes the answer to a request that is refused. A code of the other protocol becomes 502, or a general failure.
    pub fn refuse(&self, refusal: Refusal, out: &mut Vec<u8>) {
        match (self.is_socks(), refusal) {
            (true, Refusal::Socks(code)) => put_reply(code, out),
            (true, Refusal::Status(_)) => put_reply(1, out),
            (false, Refusal::Status(status)) => put_status(status, out),
            (false, Refusal::Socks(_)) => put_status(502, out),
        }
    }

    fn is_socks(&self) -> bool {
        matches!(self.waits, ServerWaits::Socks(..) | ServerWaits::End { is_socks: true })
    }
}

fn put_status(status: u16, out: &mut Vec<u8>) {
    let challenge = if status == LOGIN_REQUIRED { "Proxy-Authenticate: Basic realm=\"proxy\"\r\n" } else { "" };
    let phrase = reason_phrase(status);
    let head = format!("HTTP/1.1 {status} {phrase}\r\n{challenge}Content-Length: 0\r\nConnection: close\r\n\r\n");
    out.extend_from_slice(head.as_bytes());
}

/// Appends a reply of SOCKS5 whose bound address is unspecified.
fn put_reply(code: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&[VERSION, code, 0, TYPE_V4, 0, 0, 0, 0, 0, 0]);
}

fn read_http(
    server: &mut Server,
    expected: Option<&Credentials>,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<Option<ReadRequest>, TunnelFault> {
    let (taken, event) = server.handle(bytes).map_err(|_| TunnelFault::Invalid)?;
    let ServerEvent::Head(head) = event else { return Ok(None) };
    let target = authority_of(&head, expected).map_err(|status| put_status(status, out)).ok();
    Ok(Some((taken, target)))
}

/// The host and the port of a CONNECT request, or the status with which it is refused.
fn authority_of(head: &RequestHead<'_>, expected: Option<&Credentials>) -> Result<HostPort, u16> {
    if head.method != "CONNECT" {
        return Err(405);
    }
    let logs_in = |expected: &Credentials| {
        let value = authorization(expected);
        fields(head.bytes)
            .any(|field| field.0.eq_ignore_ascii_case(b"proxy-authorization") && field.1 == value.as_bytes())
    };
    if !expected.is_none_or(logs_in) {
        return Err(LOGIN_REQUIRED);
    }
    let (host, port) = head.target.rsplit_once(':').ok_or(400_u16)?;
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let (host, port) = (inner.unwrap_or(host), port.parse().map_err(|_| 400_u16)?);
    if host.is_empty() { Err(400) } else { Ok((host.to_owned(), port)) }
}

/// Reads messages of SOCKS5 up to the request, or to one that is refused.
fn read_socks(
    message: &mut SocksMessage,
    kept: &mut Vec<u8>,
    expected: Option<&Credentials>,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<Option<ReadRequest>, TunnelFault> {
    for (at, byte) in bytes.iter().enumerate() {
        kept.push(*byte);
        let version = if matches!(message, SocksMessage::Login) { LOGIN_VERSION } else { VERSION };
        if kept.first() != Some(&version) {
            return Err(TunnelFault::Invalid);
        }
        let next = match message {
            SocksMessage::Greeting => read_greeting(kept, expected.is_some(), out),
            SocksMessage::Login => read_login(kept, expected, out),
            SocksMessage::Request => match read_request(kept)? {
                None => continue,
                Some(target) => {
                    let target = target.map_err(|code| put_reply(code, out)).ok();
                    return Ok(Some((at + 1, target)));
                }
            },
        };
        match next {
            None => continue,
            Some(None) => return Ok(Some((at + 1, None))),
            Some(Some(next)) => *message = next,
        }
        kept.clear();
    }
    Ok(None)
}

/// Answers a greeting that is complete: the message after it, or none when no method is acceptable.
fn read_greeting(kept: &[u8], needs_login: bool, out: &mut Vec<u8>) -> Option<Option<SocksMessage>> {
    let methods = kept.get(2..2 + usize::from(*kept.get(1)?))?;
    let (method, next) = match needs_login {
        true => (METHOD_LOGIN, SocksMessage::Login),
        false => (METHOD_NONE, SocksMessage::Request),
    };
    let is_offered = methods.contains(&method);
    out.extend_from_slice(&[VERSION, if is_offered { method } else { METHOD_REFUSED }]);
    Some(is_offered.then_some(next))
}

/// Answers a login that is complete: the message after it, or none when it is another one than ours.
fn read_login(kept: &[u8], expected: Option<&Credentials>, out: &mut Vec<u8>) -> Option<Option<SocksMessage>> {
    let (user, rest) = text_of(kept.get(1..)?)?;
    let (password, _) = text_of(rest)?;
    let is_ours = expected.is_none_or(|ours| user == ours.user.as_bytes() && password == ours.password.as_bytes());
    out.extend_from_slice(&[LOGIN_VERSION, if is_ours { SUCCESS } else { 1 }]);
    Some(is_ours.then_some(SocksMessage::Request))
}

/// The host and the port of a request that is complete, or the code with which it is refused.
fn read_request(kept: &[u8]) -> Result<Option<Result<HostPort, u8>>, TunnelFault> {
    let [_, command, _, kind, address @ ..] = kept else { return Ok(None) };
    if *command != CONNECT {
        return Ok(Some(Err(7)));
    }
    let parts = match *kind {
        TYPE_V4 => address.split_first_chunk::<4>().map(|(ip, rest)| (Ipv4Addr::from(*ip).to_string(), rest)),
        TYPE_V6 => address.split_first_chunk::<16>().map(|(ip, rest)| (Ipv6Addr::from(*ip).to_string(), rest)),
        TYPE_NAME => match text_of(address) {
            None => None,
            Some((name, rest)) => {
                let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty());
                Some((name.ok_or(TunnelFault::Invalid)?.to_owned(), rest))
            }
        },
        _ => return Ok(Some(Err(8))),
    };
    let complete = parts.and_then(|(host, rest)| Some((host, u16::from_be_bytes(*rest.first_chunk()?))));
    Ok(complete.map(Ok))
}

/// A text behind its length, and the bytes after it.
fn text_of(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first()?;
    rest.split_at_checked(usize::from(*length))
}
