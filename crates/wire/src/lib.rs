//! Protocols as state machines over bytes.
//!
//! A machine takes bytes and gives events; it owns no socket, no clock and no thread, so a test of it is a list of byte
//! strings. Layer 1: it depends on no other crate of the workspace.

#[cfg(test)]
#[macro_use]
extern crate claims;

pub mod certificate;
pub mod coding;
pub mod connection;
pub mod grpc;
pub mod hpack;
pub mod http1;
pub mod http2;
pub mod tcp;
#[cfg(feature = "tls")]
pub mod tls;
pub mod websocket;
