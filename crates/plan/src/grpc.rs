//! What a call of gRPC needs beside a request: descriptions of services, and messages made of JSON.

mod deadline;
mod describe;
mod messages;
mod schema;
mod shape;
mod sound;
mod sources;
mod types;

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

pub(crate) use deadline::format_timeout;
pub(crate) use messages::read_messages;
pub use schema::{Schema, missing_imports};
pub use shape::{Misfit, Shape, ShapeReader};
pub use types::MessageTypes;

use crate::Target;

/// The largest set of descriptions that is read.
pub const SCHEMA_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most messages that one call sends.
pub const MESSAGES_MAX: usize = 1_000_000;

/// What makes a request a call of gRPC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What is sent, in this order, each as Protobuf.
    pub messages: Vec<Vec<u8>>,
    /// The time between two of them.
    pub interval: Duration,
    /// They are compressed.
    pub is_gzipped: bool,
    /// The method takes any number of messages.
    pub sends_stream: bool,
    /// The method answers with any number of messages.
    pub responses_stream: bool,
    /// What its messages are; none where nobody described them.
    pub types: Option<MessageTypes>,
    /// What an answer looks like, where that is described.
    pub response: Option<Arc<Shape>>,
}

/// What a target is to be asked before there can be a plan: where things are described.
#[derive(Clone, Debug, PartialEq)]
pub struct Reflection {
    /// Who is asked.
    pub target: Target,
    /// What goes with the question.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The service that the plan needs; none when only the names of services are asked for.
    pub symbol: Option<String>,
    /// Until there is a connection.
    pub connect_timeout: Duration,
    /// From there on.
    pub timeout: Duration,
    /// What comes after the question; nothing where it is all.
    pub load: Option<crate::Load>,
}

#[cfg(test)]
mod tests;
