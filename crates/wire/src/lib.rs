//! Protocols as state machines over bytes.
//!
//! A machine takes bytes and returns events; it owns no socket, no clock and no thread, so a test of it is a list of
//! byte strings. Layer 1: it depends on no other crate of the workspace. Two exceptions to "no clock, no lock":
//! rustls reads the time of day for certificates, and a refused certificate is recorded behind a lock.
//!
//! - `http1`: `client` and `server` share `head` (framing, connection reuse) and `body` (lengths, chunks)
//! - `http2`: both sides share `connection` (frames, windows, settings, bounds); `message` has the rules for the
//!   fields of a message; `hpack` compresses fields
//! - `grpc`: messages in a body, the response to a call, statuses, deadlines, compression, the messages of reflection
//! - `websocket`: handshake, frames, and sessions of both sides that answer pings and closes by themselves
//! - `tcp`: where responses end on a plain stream
//! - `connection`: the protocol of one connection behind one interface, for all of these
//! - `dns`: the question for the addresses of a name, and its answer; its `message` has the parts of any message
//! - `coding`: decompression of bodies; `certificate`: the fields of an X.509 certificate
//! - `tunnel`: a connection through an HTTP or SOCKS5 proxy; `proxy_header`: the addresses that a proxy sends ahead
//! - `tls`: sessions on rustls, and trusted CAs

#[cfg(test)]
#[macro_use]
extern crate claims;

pub mod certificate;
pub mod coding;
pub mod connection;
pub mod decimal;
pub mod dns;
pub mod grpc;
pub mod hpack;
pub mod http1;
pub mod http2;
pub mod proxy_header;
pub mod tcp;
#[cfg(feature = "tls")]
pub mod tls;
pub mod tunnel;
pub mod websocket;
