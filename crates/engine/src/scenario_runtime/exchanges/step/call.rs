//! Prepared messages of a gRPC call.

use std::sync::Arc;

use pacing::Nanos;
use plan::{Call, MessageTypes, NotFilled, Shape};
use wire::grpc;

/// The messages of a call, framed.
#[derive(Clone)]
pub(crate) struct PreparedCall {
    /// Messages sent with the head.
    pub(in crate::scenario_runtime) first: Vec<u8>,
    /// Number of those messages.
    pub(in crate::scenario_runtime) first_count: u64,
    /// What leaves afterwards, one after the other.
    pub(in crate::scenario_runtime) later: Vec<Arc<Vec<u8>>>,
    pub(in crate::scenario_runtime) interval: Nanos,
    /// Any number of messages may be sent, or received: then each is timed.
    pub(in crate::scenario_runtime) is_stream: bool,
    pub(in crate::scenario_runtime) responses_stream: bool,
    /// The shape of a response, where that is described.
    pub(in crate::scenario_runtime) response: Option<Arc<Shape>>,
    /// The types of its messages, where they are described.
    pub(in crate::scenario_runtime) types: Option<MessageTypes>,
    is_gzipped: bool,
    /// The encodings in which it may be compressed: the value of `grpc-accept-encoding`.
    offered: Vec<u8>,
}

impl PreparedCall {
    /// Something follows what is sent with the head.
    pub(super) fn is_open(&self) -> bool {
        !self.later.is_empty() || self.is_empty()
    }

    /// There is no message: an empty frame then ends the stream, as gRPC requires, and not the head.
    pub(in crate::scenario_runtime) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Encodings in which responses may be compressed.
    pub(in crate::scenario_runtime) fn offered(&self) -> &[u8] {
        &self.offered
    }

    pub(super) fn new(call: &Call, headers: &[(String, Vec<u8>)]) -> Self {
        let offered = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("grpc-accept-encoding"));
        let prepared = Self {
            first: Vec::new(),
            first_count: 0,
            later: Vec::new(),
            interval: call.interval.into(),
            is_stream: call.sends_stream || call.responses_stream,
            responses_stream: call.responses_stream,
            response: call.response.clone(),
            types: call.types.clone(),
            is_gzipped: call.is_gzipped,
            offered: offered.map(|(_, value)| value.as_slice()).collect::<Vec<_>>().join(&b','),
        };
        prepared.with_messages(&call.messages)
    }

    /// The same call with other messages.
    pub(super) fn with_messages(&self, messages: &[Vec<u8>]) -> Self {
        let frame = |message: &Vec<u8>, out: &mut Vec<u8>| match self.is_gzipped {
            true => grpc::push_message(&grpc::gzip(message), true, out),
            false => grpc::push_message(message, false, out),
        };
        let with_head = if self.interval == Nanos::ZERO { messages.len() } else { 1 };
        let (with_head, afterwards) = messages.split_at(with_head.min(messages.len()));
        let mut first = Vec::new();
        with_head.iter().for_each(|message| frame(message, &mut first));
        let framed = |message: &Vec<u8>| {
            let mut bytes = Vec::new();
            frame(message, &mut bytes);
            Arc::new(bytes)
        };
        Self {
            first,
            first_count: with_head.len() as u64,
            later: afterwards.iter().map(framed).collect(),
            interval: self.interval,
            is_stream: self.is_stream,
            responses_stream: self.responses_stream,
            response: self.response.clone(),
            types: self.types.clone(),
            is_gzipped: self.is_gzipped,
            offered: self.offered.clone(),
        }
    }

    /// Messages encoded for the method, from JSON.
    pub(in crate::scenario_runtime) fn encoded(&self, texts: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, NotFilled> {
        let Some(types) = &self.types else {
            let reason = "nobody described the method; give its .proto file, or a server with reflection".to_owned();
            return Err(NotFilled::Message { reason });
        };
        texts.iter().map(|text| types.encode(text).map_err(|reason| NotFilled::Message { reason })).collect()
    }
}
