//! Parts of a gRPC call beyond a request: descriptions of services, and messages made from JSON.

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

/// The largest descriptor set that is read.
pub const SCHEMA_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most messages that one call sends.
pub const MESSAGES_MAX: usize = 1_000_000;

/// The parts that make a request a gRPC call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The messages to send, in order, each as Protobuf.
    pub messages: Vec<Vec<u8>>,
    /// The time between two of them.
    pub interval: Duration,
    /// Whether they are compressed.
    pub is_gzipped: bool,
    /// Whether the method takes a stream of messages.
    pub sends_stream: bool,
    /// Whether the method responds with a stream of messages.
    pub responses_stream: bool,
    /// The types of its messages; `None` without a description.
    pub types: Option<MessageTypes>,
    /// The shape of a response, where that is described.
    pub response: Option<Arc<Shape>>,
}

/// A query to a target that is needed before there can be a plan: it returns descriptions.
#[derive(Clone, Debug, PartialEq)]
pub struct Reflection {
    /// The server to query.
    pub target: Target,
    /// The metadata of the query.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The service that the plan needs; `None` when only the names of services are requested.
    pub symbol: Option<String>,
    /// The time limit of the connection.
    pub connect_timeout: Duration,
    /// The time limit from there on.
    pub timeout: Duration,
    /// The load after the query; `None` where the query is all.
    pub load: Option<crate::Load>,
}

#[cfg(test)]
mod tests;
