//! Outcomes of exchanges. They are data: `Copy`, and each indexes a counter.

mod closes;
mod custom;
mod table;
mod tls;

pub use closes::CLOSE_WITHOUT_CODE;
use closes::{CLOSE_COUNT, close_index, close_of_index};
use custom::CUSTOM_COUNT;
pub(crate) use custom::is_custom_name;
#[cfg(test)]
pub(crate) use custom::tests::register as custom_failures;
pub use custom::{CUSTOM_FAILURES_EACH, CustomFailure, register_failures};
pub use table::Stage;
use table::{failures, faults, status};
pub use tls::TlsFault;

use status::{DEADLINE_EXCEEDED, UNAVAILABLE};

/// The outcome of an exchange that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A complete response that is a success by the rules of the plan.
    Succeeded,
    /// A failure.
    Failed(Failure),
}

failures! {
    /// The reason of a failed exchange, one that a user can act on.
    Failure;
    /// No route to the target.
    Unreachable = 0, "unreachable", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// This host forbids the connection.
    Permission = 1, "permission", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// The target's host responded that nothing listens on the port.
    ConnectRefused = 2, "connect-refused", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// No connection within the connect timeout.
    ConnectTimeout = 3, "connect-timeout", TimedOut, Connecting, Some(UNAVAILABLE);
    /// All local ports to this address are in use.
    NoLocalPort = 4, "no-local-port", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// This process may not open more descriptors.
    NoDescriptor = 5, "no-descriptor", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// The peer reset the connection.
    Reset = 6, "reset", FailedUnanswered, Exchanging, Some(UNAVAILABLE);
    /// The peer closed before the response was complete.
    ClosedEarly = 7, "closed-early", FailedUnanswered, Exchanging, Some(UNAVAILABLE);
    /// No complete response within the timeout.
    Timeout = 8, "timeout", TimedOut, Exchanging, Some(DEADLINE_EXCEEDED);
    /// A complete response whose status is no success.
    Status = 9, "status", FailedAnswered, Answered, None;
    /// The body is larger than a check may read.
    BodyLimit = 10, "body-limit", FailedAnswered, Answered, None;
    /// A check of the response failed.
    Check = 11, "check", FailedAnswered, Answered, None;
    /// The peer refused further requests, time and again, and never processed this one.
    Goaway = 12, "goaway", FailedUnanswered, Exchanging, Some(UNAVAILABLE);
    /// The host of a redirect is unknown.
    Dns = 13, "dns", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// Endless redirects, or one that cannot be followed.
    Redirect = 14, "redirect", FailedAnswered, Exchanging, None;
    /// The connection was established, but its first request, such as the WebSocket handshake, had no response within
    /// the connect timeout.
    NoFirstAnswer = 15, "no-first-answer", TimedOut, Connecting, Some(UNAVAILABLE);
    /// A redirect leads to a public host that the user has not allowed.
    NoConsent = 16, "no-consent", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// A value that the user needs later is not in the response.
    NotTaken = 17, "not-taken", FailedAnswered, Answered, None;
    /// A value that the request needs is not available, or not valid in its place.
    NotFilled = 18, "not-filled", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// A complete response that took longer, or less, than the check of its time allows.
    TimeCheck = 19, "time-check", FailedAnswered, Answered, None;
    /// A complete response that is larger, or smaller, than the check of its size allows.
    SizeCheck = 20, "size-check", FailedAnswered, Answered, None;
    /// A loop of a scenario reached its maximum number of rounds before its condition ended it.
    LoopLimit = 21, "loop-limit", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// The proxy refused to open a tunnel.
    ProxyRefused = 84, "proxy-refused", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// The proxy wants another user or password.
    ProxyLogin = 85, "proxy-login", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// The proxy opened no tunnel within the connect timeout.
    ProxyTimeout = 86, "proxy-timeout", TimedOut, Connecting, Some(UNAVAILABLE);
    /// The proxy closed the connection before a tunnel was open.
    ProxyClosed = 87, "proxy-closed", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// What the proxy sent is no answer to the request for a tunnel.
    ProxyAnswer = 88, "proxy-answer", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    /// A check of a scenario whose condition was not true. It is counted for that check alone, and is no request.
    CheckFailed = 89, "check-failed", FailedAnswered, Answered, None;
    /// A figure of the file was given what is no value of it.
    NotRecorded = 90, "not-recorded", FailedUnanswered, Connecting, Some(UNAVAILABLE);
    detailed:
    /// The peer broke the protocol.
    Protocol(ProtocolFault), "protocol", FailedUnanswered, Exchanging;
    /// No TLS session with the peer.
    Tls(TlsFault), "tls", FailedUnanswered, Connecting;
    /// The peer reset the stream with an error code of HTTP/2 (RFC 9113, 7).
    StreamReset(u8), "stream-reset", FailedUnanswered, Exchanging;
    /// A gRPC call that ended with this status, which is no success.
    GrpcStatus(u8), "grpc-status", FailedAnswered, Answered;
    /// A gRPC call whose response has an HTTP status other than 200 and no gRPC status; which one, as
    /// [`Failure::from_http_status`] says.
    CallHttp(u8), "status", FailedAnswered, Answered;
    /// The peer closed a WebSocket session with this code before it had answered.
    WebSocketClose(u16), "websocket-close", FailedUnanswered, Exchanging;
    /// Another error of the operating system.
    Os(u16), "os", FailedUnanswered, Exchanging;
    registered:
    /// The peer broke a custom protocol: the position of the protocol among the registered ones, times
    /// [`CUSTOM_FAILURES_EACH`], plus the position of the failure among its own.
    Custom(u8);
}

faults! {
    /// The way in which the peer broke the protocol.
    ProtocolFault;
    StartLine = 0, "start-line", INTERNAL;
    Header = 1, "header", INTERNAL;
    HeadTooLarge = 2, "head-too-large", INTERNAL;
    TooManyHeaders = 3, "too-many-headers", INTERNAL;
    ContentLength = 4, "content-length", INTERNAL;
    AmbiguousLength = 5, "ambiguous-length", INTERNAL;
    TransferEncoding = 6, "transfer-encoding", INTERNAL;
    ChunkSize = 7, "chunk-size", INTERNAL;
    ChunkLineTooLong = 8, "chunk-line-too-long", INTERNAL;
    ChunkEnd = 9, "chunk-end", INTERNAL;
    Trailer = 10, "trailer", INTERNAL;
    UnexpectedUpgrade = 11, "unexpected-upgrade", INTERNAL;
    TooManyInterim = 12, "too-many-interim", INTERNAL;
    Unsolicited = 13, "unsolicited", INTERNAL;
    Preface = 14, "preface", INTERNAL;
    FrameSize = 15, "frame-size", INTERNAL;
    FrameStream = 16, "frame-stream", INTERNAL;
    Padding = 17, "padding", INTERNAL;
    Continuation = 18, "continuation", INTERNAL;
    ContinuationFlood = 19, "continuation-flood", INTERNAL;
    Compression = 20, "compression", INTERNAL;
    HeadersTooLarge = 21, "headers-too-large", INTERNAL;
    Headers = 22, "headers", INTERNAL;
    Settings = 23, "settings", INTERNAL;
    Window = 24, "window", INTERNAL;
    Push = 25, "push", INTERNAL;
    PingFlood = 26, "ping-flood", INTERNAL;
    SettingsFlood = 27, "settings-flood", INTERNAL;
    ResetFlood = 28, "reset-flood", INTERNAL;
    EmptyFlood = 29, "empty-flood", INTERNAL;
    ContentType = 30, "content-type", UNKNOWN;
    MessageFlag = 31, "message-flag", INTERNAL;
    MessageCut = 32, "message-cut", INTERNAL;
    MessageEncoding = 33, "message-encoding", INTERNAL;
    MessageCount = 34, "message-count", UNIMPLEMENTED;
    NoGrpcStatus = 35, "no-grpc-status", UNKNOWN;
    Handshake = 36, "handshake", INTERNAL;
    WebSocketFrame = 37, "websocket-frame", INTERNAL;
    WebSocketText = 38, "websocket-text", INTERNAL;
    WebSocketDeflate = 39, "websocket-deflate", INTERNAL;
    MessageTooLarge = 40, "message-too-large", INTERNAL;
    WebSocketFlood = 41, "websocket-flood", INTERNAL;
    AnswerLength = 42, "answer-length", INTERNAL;
    EncodingNotOffered = 43, "encoding-not-offered", INTERNAL;
    MessageUnzip = 44, "message-unzip", INTERNAL;
    UnzippedTooLarge = 45, "unzipped-too-large", RESOURCE_EXHAUSTED;
    MessageType = 46, "message-type", INTERNAL;
    BadGrpcStatus = 47, "bad-grpc-status", UNKNOWN;
    Tls = 48, "tls", INTERNAL;
}

/// The error codes of HTTP/2 by their numbers (RFC 9113, 7); unknown ones are counted as one.
const RESET_CODES: [&str; 15] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
    "UNKNOWN",
];

/// The gRPC statuses by their numbers; unknown ones are counted as one.
pub const GRPC_STATUSES: [&str; 18] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
    "OTHER",
];

/// The HTTP statuses that mean something for a call without a gRPC status; all others are counted as one.
const CALL_STATUSES: [u16; 9] = [400, 401, 403, 404, 429, 431, 502, 503, 504];

const PROTOCOL_FIRST: usize = 22;
/// Plain failures have the numbers below those of protocol faults, and from here on.
const PROTOCOL_END: usize = 84;
const TLS_FIRST: usize = 96;
const RESET_FIRST: usize = 128;
const CALL_FIRST: usize = 144;
const OS_FIRST: usize = 160;
/// Linux knows 133; larger ones are counted as the last.
const ERRNO_MAX: usize = 255;
const GRPC_FIRST: usize = OS_FIRST + ERRNO_MAX + 1;
const CLOSE_FIRST: usize = GRPC_FIRST + GRPC_STATUSES.len();
/// The numbers from here on never leave the process.
pub(crate) const CUSTOM_FIRST: usize = CLOSE_FIRST + CLOSE_COUNT;
/// The number of counters for failures.
pub const FAILURE_COUNT: usize = CUSTOM_FIRST + CUSTOM_COUNT;

impl Failure {
    /// The rows of failures and faults.
    pub(crate) const ROWS: usize = Self::PLAIN.len() + ProtocolFault::ALL.len() + TlsFault::ALL.len();

    /// The failure of a call whose response has this HTTP status, and no gRPC status.
    pub fn from_http_status(status: u16) -> Self {
        let known = CALL_STATUSES.iter().position(|known| *known == status);
        Self::CallHttp(known.unwrap_or(CALL_STATUSES.len()) as u8)
    }

    /// The HTTP status of such a call; `None` when it is another, or this is another failure.
    pub fn http_status(self) -> Option<u16> {
        match self {
            Self::CallHttp(index) => CALL_STATUSES.get(usize::from(index)).copied(),
            _ => None,
        }
    }

    /// The index of its counter, below [`FAILURE_COUNT`].
    pub fn index(self) -> usize {
        match self {
            Self::Protocol(fault) => PROTOCOL_FIRST + fault as usize,
            Self::Tls(fault) => TLS_FIRST + fault as usize,
            Self::StreamReset(code) => RESET_FIRST + usize::from(code).min(RESET_CODES.len() - 1),
            Self::CallHttp(index) => CALL_FIRST + usize::from(index).min(CALL_STATUSES.len()),
            Self::Os(errno) => OS_FIRST + usize::from(errno).min(ERRNO_MAX),
            Self::GrpcStatus(status) => GRPC_FIRST + usize::from(status).min(GRPC_STATUSES.len() - 1),
            Self::WebSocketClose(code) => CLOSE_FIRST + close_index(code),
            Self::Custom(number) => CUSTOM_FIRST + usize::from(number),
            plain => plain.plain_number().expect("all others are plain"),
        }
    }

    /// The failure of a counter; `None` for an index without a failure.
    pub fn from_index(index: usize) -> Option<Self> {
        match index {
            PROTOCOL_FIRST..PROTOCOL_END => ProtocolFault::from_number(index - PROTOCOL_FIRST).map(Self::Protocol),
            0..TLS_FIRST => Self::PLAIN.iter().find(|(number, _)| *number == index).map(|(_, plain)| *plain),
            TLS_FIRST..RESET_FIRST => TlsFault::from_number(index - TLS_FIRST).map(Self::Tls),
            RESET_FIRST..CALL_FIRST => {
                let code = index - RESET_FIRST;
                (code < RESET_CODES.len()).then_some(Self::StreamReset(code as u8))
            }
            CALL_FIRST..OS_FIRST => {
                let index = index - CALL_FIRST;
                (index <= CALL_STATUSES.len()).then_some(Self::CallHttp(index as u8))
            }
            OS_FIRST..GRPC_FIRST => u16::try_from(index - OS_FIRST).ok().map(Self::Os),
            GRPC_FIRST..CLOSE_FIRST => Some(Self::GrpcStatus((index - GRPC_FIRST) as u8)),
            CLOSE_FIRST..CUSTOM_FIRST => Some(Self::WebSocketClose(close_of_index(index - CLOSE_FIRST))),
            CUSTOM_FIRST..FAILURE_COUNT => {
                let number = (index - CUSTOM_FIRST) as u8;
                custom::registered(number).map(|_| Self::Custom(number))
            }
            _ => None,
        }
    }

    /// The detail that distinguishes failures of one name.
    pub fn detail(self) -> Option<String> {
        match self {
            Self::Protocol(fault) => Some(fault.name().to_owned()),
            Self::Tls(fault) => Some(fault.name().to_owned()),
            Self::StreamReset(code) => {
                let last = RESET_CODES.len() - 1;
                Some(RESET_CODES[usize::from(code).min(last)].to_owned())
            }
            Self::Os(errno) => Some(errno.to_string()),
            Self::CallHttp(_) => Some(self.http_status().map_or("other".to_owned(), |status| status.to_string())),
            Self::GrpcStatus(status) => {
                let last = GRPC_STATUSES.len() - 1;
                Some(GRPC_STATUSES[usize::from(status).min(last)].to_owned())
            }
            Self::WebSocketClose(code) => Some(close_of_index(close_index(code)).to_string()),
            _ => None,
        }
    }

    /// All failures, in the order of their index.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..FAILURE_COUNT).filter_map(Self::from_index)
    }

    /// The status of a gRPC call that ended with it; `None` where the call has a status of its own, or where its HTTP
    /// status or the code of its stream says it.
    pub fn grpc_status(self) -> Option<u8> {
        match self {
            Self::Protocol(fault) => Some(fault.grpc_status()),
            Self::Tls(fault) => Some(fault.grpc_status()),
            Self::GrpcStatus(status) => Some(status),
            Self::CallHttp(_) | Self::StreamReset(_) => None,
            Self::WebSocketClose(_) | Self::Os(_) => Some(status::UNAVAILABLE),
            plain => plain.plain_status(),
        }
    }
}

/// The class of outcomes: each has a series of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The headline series.
    Succeeded,
    /// Failed, but a complete response came: status, gRPC status, check, body limit.
    FailedAnswered,
    /// Failed without a complete response.
    FailedUnanswered,
    /// Timed out; recorded with its time until then.
    TimedOut,
}

impl Class {
    /// All classes, in the order of their index.
    pub const ALL: [Self; 4] = [Self::Succeeded, Self::FailedAnswered, Self::FailedUnanswered, Self::TimedOut];

    /// The class of an outcome.
    pub fn from_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Succeeded => Self::Succeeded,
            Outcome::Failed(Failure::Tls(TlsFault::NoAnswer)) => Self::TimedOut,
            Outcome::Failed(failure) => failure.class(),
        }
    }

    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::FailedAnswered => "failed_answered",
            Self::FailedUnanswered => "failed_unanswered",
            Self::TimedOut => "timed_out",
        }
    }
}
