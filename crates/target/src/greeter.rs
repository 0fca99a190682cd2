//! gRPC calls of the target, independent of the transport: messages in, responses and a status out, now or later.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use pacing::Nanos;
use prost::Message;
use wire::grpc::reflection::PATHS;
use wire::grpc::{MessagePiece, Messages, Status, Unzipped, gunzip, gzip, push_message};

use crate::described;

/// The largest accepted message.
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum bytes of responses that are rendered ahead.
const AHEAD_BYTES: usize = 16 * 1024;
/// Maximum bytes that a call stores for its client: names, and responses that the client does not read yet.
const HELD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Size of a pending response, without its name.
const PENDING_BYTES: usize = 64;
/// Maximum names in the response of `GreetAll`.
const NAMES_MAX: usize = 100;

#[derive(Clone, PartialEq, Eq, Message)]
struct HelloRequest {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(uint32, tag = "2")]
    delay_ms: u32,
    #[prost(uint32, tag = "3")]
    status: u32,
    #[prost(uint32, tag = "4")]
    replies: u32,
    #[prost(uint32, tag = "5")]
    gap_ms: u32,
}

#[derive(Clone, PartialEq, Eq, Message)]
struct HelloReply {
    #[prost(string, tag = "1")]
    message: String,
    #[prost(uint32, tag = "2")]
    number: u32,
}

#[derive(Clone, PartialEq, Eq, Message)]
struct ApiRequest {
    #[prost(string, tag = "1")]
    user_name: String,
}

#[derive(Clone, PartialEq, Eq, Message)]
struct ApiResponse {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    msg: String,
}

/// The called method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    SayHello,
    SayHellos,
    GreetAll,
    Chat,
    HelloWorld,
    Reflection,
}

impl Method {
    fn from_path(path: &[u8]) -> Option<Self> {
        Some(match path {
            b"/hello.Greeter/SayHello" => Self::SayHello,
            b"/hello.Greeter/SayHellos" => Self::SayHellos,
            b"/hello.Greeter/GreetAll" => Self::GreetAll,
            b"/hello.Greeter/Chat" => Self::Chat,
            b"/ApiServer/HelloWorld" => Self::HelloWorld,
            path if PATHS.iter().any(|known| known.as_bytes() == path) => Self::Reflection,
            _ => return None,
        })
    }

    /// Whether it takes a single message.
    fn is_plain(self) -> bool {
        matches!(self, Self::SayHello | Self::SayHellos | Self::HelloWorld)
    }
}

/// Pending actions of a call, in this order.
#[derive(Debug)]
enum Pending {
    Reply { name: String },
    Api { name: String },
    Series { name: String, left: u32, gap: Nanos },
    End(CallEnding),
}

impl Pending {
    fn name_bytes(&self) -> usize {
        match self {
            Self::Reply { name } | Self::Api { name } | Self::Series { name, .. } => name.len(),
            Self::End(_) => 0,
        }
    }
}

/// The end of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallEnding {
    pub(crate) status: Status,
    pub(crate) message: String,
}

impl CallEnding {
    pub(crate) fn new(status: Status, message: &str) -> Self {
        Self { status, message: message.to_owned() }
    }
}

/// The compression of a call's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zips {
    pub(crate) requests: bool,
    pub(crate) responses: bool,
}

/// The state of a call.
#[derive(Debug)]
pub(crate) struct Call {
    method: Method,
    zips: Zips,
    /// The deadline; never, when the client sets none.
    pub(crate) deadline: Nanos,
    reader: Messages,
    is_zipped: bool,
    message: Vec<u8>,
    messages: u32,
    /// The message of a method with a single one.
    only: Option<Vec<u8>>,
    names: Vec<String>,
    /// Longest delay and last status requested by messages of `GreetAll`.
    last: (Nanos, u32),
    pending: VecDeque<(Nanos, Pending)>,
    /// Stored bytes of names and of pending responses.
    held: usize,
    replies: u32,
    /// Framed responses; `from` is how much of them was sent.
    pub(crate) outbox: Vec<u8>,
    pub(crate) from: usize,
    pub(crate) ending: Option<CallEnding>,
    pub(crate) has_head: bool,
}

impl Call {
    /// The call of a path; `None` if there is no such method.
    pub(crate) fn new(path: &[u8], zips: Zips, deadline: Nanos) -> Option<Self> {
        Some(Self {
            method: Method::from_path(path)?,
            zips,
            deadline,
            reader: Messages::default(),
            is_zipped: false,
            message: Vec::new(),
            messages: 0,
            only: None,
            names: Vec::new(),
            last: (Nanos::ZERO, 0),
            pending: VecDeque::new(),
            held: 0,
            replies: 0,
            outbox: Vec::new(),
            from: 0,
            ending: None,
            has_head: false,
        })
    }

    /// Ends the call with this status, after the framed responses.
    pub(crate) fn end(&mut self, status: Status, message: &str) {
        self.pending.clear();
        self.names.clear();
        self.held = 0;
        self.ending.get_or_insert_with(|| CallEnding::new(status, message));
    }

    /// Handles received bytes of messages.
    pub(crate) fn take(&mut self, bytes: &[u8], at: Nanos) {
        let mut rest = bytes;
        while self.ending.is_none() {
            let Ok((taken, piece)) = self.reader.handle(rest) else {
                return self.end(Status::INTERNAL, "a message begins with an unknown flag");
            };
            rest = &rest[taken..];
            match piece {
                MessagePiece::NeedMore => return,
                MessagePiece::Begun { length, .. } if length as usize > MESSAGE_BYTES_MAX => {
                    return self.end(Status::RESOURCE_EXHAUSTED, "the message is larger than 4 MiB");
                }
                MessagePiece::Begun { is_compressed, .. } => {
                    self.is_zipped = is_compressed;
                    if is_compressed && !self.zips.requests {
                        return self.end(Status::INTERNAL, "a message is compressed without grpc-encoding");
                    }
                }
                MessagePiece::Bytes(bytes) => self.message.extend_from_slice(bytes),
                MessagePiece::End => self.complete(at),
            }
        }
    }

    fn complete(&mut self, at: Nanos) {
        let mut message = std::mem::take(&mut self.message);
        if self.is_zipped {
            message = match gunzip(&message, MESSAGE_BYTES_MAX) {
                Unzipped::Whole(message) => message,
                Unzipped::TooLarge(_) => {
                    return self.end(Status::RESOURCE_EXHAUSTED, "the message is larger than 4 MiB");
                }
                Unzipped::Malformed => return self.end(Status::INTERNAL, "a message cannot be decompressed"),
            };
        }
        self.messages = self.messages.saturating_add(1);
        match self.method {
            method if method.is_plain() && self.messages > 1 => {
                self.end(Status::INTERNAL, "the method takes one message");
            }
            method if method.is_plain() => self.only = Some(message),
            Method::Reflection => match wire::grpc::reflection::Request::decode(&*message) {
                // These responses are small, and there is one for each request.
                Ok(request) if self.outbox.len() - self.from < HELD_BYTES_MAX => {
                    self.reply(&described::response(request));
                }
                Ok(_) => self.end(Status::RESOURCE_EXHAUSTED, "more than 16 MiB wait to be read"),
                Err(error) => self.end(Status::INTERNAL, &error.to_string()),
            },
            _ => match HelloRequest::decode(&*message) {
                Ok(request) => self.handle(request, at),
                Err(error) => self.end(Status::INTERNAL, &error.to_string()),
            },
        }
        self.step(at);
    }

    /// Handles one message of a streaming method.
    fn handle(&mut self, request: HelloRequest, at: Nanos) {
        let delay = Nanos::from_millis(u64::from(request.delay_ms));
        if self.method == Method::GreetAll {
            if self.names.len() < NAMES_MAX && self.hold(request.name.len()) {
                self.names.push(request.name);
            }
            self.last = (self.last.0.max(delay), if request.status > 0 { request.status } else { self.last.1 });
            return;
        }
        let due = at + delay;
        if request.status > 0 {
            self.later(due, Pending::End(requested_for(request.status)));
        } else {
            self.later(due, Pending::Reply { name: request.name });
        }
    }

    /// Counts stored bytes of the client. False when that exceeds the limit, and the call ends.
    fn hold(&mut self, bytes: usize) -> bool {
        self.held += bytes;
        let fits = self.held <= HELD_BYTES_MAX;
        if !fits {
            self.end(Status::RESOURCE_EXHAUSTED, "more than 16 MiB wait for their answers");
        }
        fits
    }

    /// Number of bytes that the call stores.
    pub(crate) fn held_bytes(&self) -> usize {
        let only = self.only.as_ref().map_or(0, Vec::len);
        self.held + self.message.capacity() + only + self.outbox.capacity()
    }

    /// Whether the client must take the rendered responses before more are rendered.
    fn is_full(&self) -> bool {
        self.outbox.len() - self.from >= AHEAD_BYTES
    }

    /// Schedules an action, not before the ones already scheduled.
    fn later(&mut self, due: Nanos, what: Pending) {
        if !self.hold(PENDING_BYTES + what.name_bytes()) {
            return;
        }
        let due = self.pending.back().map_or(due, |(before, _)| due.max(*before));
        self.pending.push_back((due, what));
    }

    /// The client has ended its side.
    pub(crate) fn request_ended(&mut self, at: Nanos) {
        if self.ending.is_some() {
            return;
        }
        if !self.reader.is_between() {
            return self.end(Status::INTERNAL, "the request ends within a message");
        }
        let ok = || Pending::End(CallEnding::new(Status::OK, ""));
        match (self.method, self.only.take()) {
            (Method::GreetAll, _) => {
                let (delay, status) = self.last;
                let more = self.messages as usize - self.names.len();
                let mut name = self.names.join(", ");
                if more > 0 {
                    name.push_str(&format!(" and {more} more"));
                }
                if status > 0 {
                    self.later(at + delay, Pending::End(requested_for(status)));
                } else {
                    self.later(at + delay, Pending::Reply { name });
                    self.later(at + delay, ok());
                }
            }
            (Method::Chat | Method::Reflection, _) => self.later(at, ok()),
            (_, None) => return self.end(Status::INTERNAL, "the method takes one message, and there is none"),
            (Method::HelloWorld, Some(message)) => match ApiRequest::decode(&*message) {
                Ok(request) => {
                    self.later(at, Pending::Api { name: request.user_name });
                    self.later(at, ok());
                }
                Err(error) => return self.end(Status::INTERNAL, &error.to_string()),
            },
            (method, Some(message)) => match HelloRequest::decode(&*message) {
                Ok(request) => self.plain(method, request, at),
                Err(error) => return self.end(Status::INTERNAL, &error.to_string()),
            },
        }
        self.step(at);
    }

    fn plain(&mut self, method: Method, request: HelloRequest, at: Nanos) {
        let due = at + Nanos::from_millis(u64::from(request.delay_ms));
        let (name, gap) = (request.name, Nanos::from_millis(u64::from(request.gap_ms)));
        let ending = if request.status > 0 { requested_for(request.status) } else { CallEnding::new(Status::OK, "") };
        match method {
            Method::SayHellos => self.later(due, Pending::Series { name, left: request.replies.max(1), gap }),
            _ if request.status > 0 => {}
            _ => self.later(due, Pending::Reply { name }),
        }
        self.later(due, Pending::End(ending));
    }

    /// Performs the actions that are due. More of a long response is rendered when the rendered part is sent.
    pub(crate) fn step(&mut self, now: Nanos) {
        if now >= self.deadline {
            self.end(Status::DEADLINE_EXCEEDED, "the deadline of the call has passed");
        }
        while self.ending.is_none()
            && let Some((due, what)) = self.pending.pop_front()
        {
            let is_response = !matches!(what, Pending::End(_));
            if due > now || (is_response && self.is_full()) {
                return self.pending.push_front((due, what));
            }
            self.held -= (PENDING_BYTES + what.name_bytes()).min(self.held);
            match what {
                Pending::Reply { name } => self.greet(&name),
                Pending::Api { name } => {
                    let msg = format!("Hello {name}");
                    self.reply(&ApiResponse { code: 200, msg });
                }
                Pending::Series { name, left, gap } => {
                    self.greet(&name);
                    if left > 1 {
                        self.held += PENDING_BYTES + name.len();
                        // The responses keep their rhythm, even when one is late.
                        self.pending.push_front((due + gap, Pending::Series { name, left: left - 1, gap }));
                    }
                }
                Pending::End(ending) => self.ending = Some(ending),
            }
        }
    }

    fn greet(&mut self, name: &str) {
        self.replies += 1;
        let reply = HelloReply { message: format!("Hello {name}"), number: self.replies };
        self.reply(&reply);
    }

    fn reply(&mut self, message: &impl Message) {
        let bytes = message.encode_to_vec();
        if self.from == self.outbox.len() {
            self.outbox.clear();
            self.from = 0;
        }
        match self.zips.responses {
            true => push_message(&gzip(&bytes), true, &mut self.outbox),
            false => push_message(&bytes, false, &mut self.outbox),
        }
    }

    /// Whether responses are compressed.
    pub(crate) fn is_zipping(&self) -> bool {
        self.zips.responses
    }

    /// The instant at which [`Call::step`] must be called again.
    pub(crate) fn next(&self) -> Nanos {
        if self.ending.is_some() {
            return Nanos::NEVER;
        }
        // A response that waits for the client to read is rendered when it has.
        let pending = self.pending.front().filter(|_| !self.is_full());
        pending.map_or(Nanos::NEVER, |(due, _)| *due).min(self.deadline)
    }
}

fn requested_for(status: u32) -> CallEnding {
    CallEnding::new(Status::from_number(status), "as asked for")
}
