//! Outcomes of exchanges. They are data: `Copy`, and each indexes a counter.

mod closes;
mod tls;

pub use closes::CLOSE_WITHOUT_CODE;
use closes::{CLOSE_COUNT, close_index, close_of_index};
pub use tls::TlsFault;

/// The outcome of an exchange that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A complete response that is a success by the rules of the plan.
    Succeeded,
    /// A failure.
    Failed(Failure),
}

/// The reason of a failed exchange, one that a user can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// No route to the target.
    Unreachable,
    /// This host forbids the connection.
    Permission,
    /// The target's host responded that nothing listens on the port.
    ConnectRefused,
    /// No connection within the connect timeout.
    ConnectTimeout,
    /// All local ports to this address are in use.
    NoLocalPort,
    /// This process may not open more descriptors.
    NoDescriptor,
    /// The peer reset the connection.
    Reset,
    /// The peer closed before the response was complete.
    ClosedEarly,
    /// No complete response within the timeout.
    Timeout,
    /// The peer broke the protocol.
    Protocol(ProtocolFault),
    /// No TLS session with the peer.
    Tls(TlsFault),
    /// The peer reset the stream with an error code of HTTP/2 (RFC 9113, 7).
    StreamReset(u8),
    /// A gRPC call that ended with this status, which is no success.
    GrpcStatus(u8),
    /// A gRPC call whose response has an HTTP status other than 200 and no gRPC status; which one, as
    /// [`Failure::of_http`] says.
    CallHttp(u8),
    /// The peer closed a WebSocket session with this code before it had answered.
    WebSocketClose(u16),
    /// The connection was established, but its first request, such as the WebSocket handshake, had no response within
    /// the connect timeout.
    NoFirstAnswer,
    /// The peer refused further requests, time and again, and never processed this one.
    Goaway,
    /// A complete response whose status is no success.
    Status,
    /// The body is larger than a check may read.
    BodyLimit,
    /// A check of the response failed.
    Check,
    /// The host of a redirect is unknown.
    Dns,
    /// A redirect leads to a public host that the user has not allowed.
    NoConsent,
    /// Endless redirects, or one that cannot be followed.
    Redirect,
    /// A value that the user needs later is not in the response.
    NotTaken,
    /// A value that the request needs is not available, or not valid in its place.
    NotFilled,
    /// A complete response that took longer, or less, than the check of its time allows.
    TimeCheck,
    /// A complete response that is larger, or smaller, than the check of its size allows.
    SizeCheck,
    /// A loop of a scenario reached its maximum number of rounds before its condition ended it.
    LoopLimit,
    /// Another error of the operating system.
    Os(u16),
}

/// The way in which the peer broke the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is named by `name`, and described where the protocol machine says it")]
#[repr(u8)]
pub enum ProtocolFault {
    StartLine,
    Header,
    HeadTooLarge,
    TooManyHeaders,
    ContentLength,
    AmbiguousLength,
    TransferEncoding,
    ChunkSize,
    ChunkLineTooLong,
    ChunkEnd,
    Trailer,
    UnexpectedUpgrade,
    TooManyInterim,
    Unsolicited,
    Preface,
    FrameSize,
    FrameStream,
    Padding,
    Continuation,
    ContinuationFlood,
    Compression,
    HeadersTooLarge,
    Headers,
    Settings,
    Window,
    Push,
    PingFlood,
    SettingsFlood,
    ResetFlood,
    EmptyFlood,
    ContentType,
    MessageFlag,
    MessageCut,
    MessageEncoding,
    MessageCount,
    NoGrpcStatus,
    Handshake,
    WebSocketFrame,
    WebSocketText,
    WebSocketDeflate,
    MessageTooLarge,
    WebSocketFlood,
    AnswerLength,
    EncodingNotOffered,
    MessageUnzip,
    UnzippedTooLarge,
    MessageType,
    BadGrpcStatus,
    Tls,
}

impl ProtocolFault {
    const ALL: [Self; 49] = [
        Self::StartLine,
        Self::Header,
        Self::HeadTooLarge,
        Self::TooManyHeaders,
        Self::ContentLength,
        Self::AmbiguousLength,
        Self::TransferEncoding,
        Self::ChunkSize,
        Self::ChunkLineTooLong,
        Self::ChunkEnd,
        Self::Trailer,
        Self::UnexpectedUpgrade,
        Self::TooManyInterim,
        Self::Unsolicited,
        Self::Preface,
        Self::FrameSize,
        Self::FrameStream,
        Self::Padding,
        Self::Continuation,
        Self::ContinuationFlood,
        Self::Compression,
        Self::HeadersTooLarge,
        Self::Headers,
        Self::Settings,
        Self::Window,
        Self::Push,
        Self::PingFlood,
        Self::SettingsFlood,
        Self::ResetFlood,
        Self::EmptyFlood,
        Self::ContentType,
        Self::MessageFlag,
        Self::MessageCut,
        Self::MessageEncoding,
        Self::MessageCount,
        Self::NoGrpcStatus,
        Self::Handshake,
        Self::WebSocketFrame,
        Self::WebSocketText,
        Self::WebSocketDeflate,
        Self::MessageTooLarge,
        Self::WebSocketFlood,
        Self::AnswerLength,
        Self::EncodingNotOffered,
        Self::MessageUnzip,
        Self::UnzippedTooLarge,
        Self::MessageType,
        Self::BadGrpcStatus,
        Self::Tls,
    ];

    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::StartLine => "start-line",
            Self::Header => "header",
            Self::HeadTooLarge => "head-too-large",
            Self::TooManyHeaders => "too-many-headers",
            Self::ContentLength => "content-length",
            Self::AmbiguousLength => "ambiguous-length",
            Self::TransferEncoding => "transfer-encoding",
            Self::ChunkSize => "chunk-size",
            Self::ChunkLineTooLong => "chunk-line-too-long",
            Self::ChunkEnd => "chunk-end",
            Self::Trailer => "trailer",
            Self::UnexpectedUpgrade => "unexpected-upgrade",
            Self::TooManyInterim => "too-many-interim",
            Self::Unsolicited => "unsolicited",
            Self::Preface => "preface",
            Self::FrameSize => "frame-size",
            Self::FrameStream => "frame-stream",
            Self::Padding => "padding",
            Self::Continuation => "continuation",
            Self::ContinuationFlood => "continuation-flood",
            Self::Compression => "compression",
            Self::HeadersTooLarge => "headers-too-large",
            Self::Headers => "headers",
            Self::Settings => "settings",
            Self::Window => "window",
            Self::Push => "push",
            Self::PingFlood => "ping-flood",
            Self::SettingsFlood => "settings-flood",
            Self::ResetFlood => "reset-flood",
            Self::EmptyFlood => "empty-flood",
            Self::ContentType => "content-type",
            Self::MessageFlag => "message-flag",
            Self::MessageCut => "message-cut",
            Self::MessageEncoding => "message-encoding",
            Self::MessageCount => "message-count",
            Self::NoGrpcStatus => "no-grpc-status",
            Self::Handshake => "handshake",
            Self::WebSocketFrame => "websocket-frame",
            Self::WebSocketText => "websocket-text",
            Self::WebSocketDeflate => "websocket-deflate",
            Self::MessageTooLarge => "message-too-large",
            Self::WebSocketFlood => "websocket-flood",
            Self::AnswerLength => "answer-length",
            Self::EncodingNotOffered => "encoding-not-offered",
            Self::MessageUnzip => "message-unzip",
            Self::UnzippedTooLarge => "unzipped-too-large",
            Self::MessageType => "message-type",
            Self::BadGrpcStatus => "bad-grpc-status",
            Self::Tls => "tls",
        }
    }
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
const TLS_FIRST: usize = 96;
const RESET_FIRST: usize = 128;
const CALL_FIRST: usize = 144;
const OS_FIRST: usize = 160;
/// Linux knows 133; larger ones are counted as the last.
const ERRNO_MAX: usize = 255;
const GRPC_FIRST: usize = OS_FIRST + ERRNO_MAX + 1;
const CLOSE_FIRST: usize = GRPC_FIRST + GRPC_STATUSES.len();
/// The number of counters for failures.
pub const FAILURE_COUNT: usize = CLOSE_FIRST + CLOSE_COUNT;

impl Failure {
    const PLAIN: [Self; 22] = [
        Self::Unreachable,
        Self::Permission,
        Self::ConnectRefused,
        Self::ConnectTimeout,
        Self::NoLocalPort,
        Self::NoDescriptor,
        Self::Reset,
        Self::ClosedEarly,
        Self::Timeout,
        Self::Status,
        Self::BodyLimit,
        Self::Check,
        Self::Goaway,
        Self::Dns,
        Self::Redirect,
        Self::NoFirstAnswer,
        Self::NoConsent,
        Self::NotTaken,
        Self::NotFilled,
        Self::TimeCheck,
        Self::SizeCheck,
        Self::LoopLimit,
    ];

    /// The failure of a call whose response has this HTTP status, and no gRPC status.
    pub fn of_http(status: u16) -> Self {
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
            plain => Self::PLAIN.iter().position(|&each| each == plain).expect("every plain failure is in the table"),
        }
    }

    /// The failure of a counter; `None` for an index without a failure.
    pub fn of_index(index: usize) -> Option<Self> {
        match index {
            0..PROTOCOL_FIRST => Self::PLAIN.get(index).copied(),
            PROTOCOL_FIRST..TLS_FIRST => {
                ProtocolFault::ALL.get(index - PROTOCOL_FIRST).map(|&fault| Self::Protocol(fault))
            }
            TLS_FIRST..RESET_FIRST => TlsFault::ALL.get(index - TLS_FIRST).map(|&fault| Self::Tls(fault)),
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
            CLOSE_FIRST..FAILURE_COUNT => Some(Self::WebSocketClose(close_of_index(index - CLOSE_FIRST))),
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
        (0..FAILURE_COUNT).filter_map(Self::of_index)
    }

    /// A stable name for reports; [`Failure::detail`] adds the detail.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Permission => "permission",
            Self::NoConsent => "no-consent",
            Self::ConnectRefused => "connect-refused",
            Self::ConnectTimeout => "connect-timeout",
            Self::NoLocalPort => "no-local-port",
            Self::NoDescriptor => "no-descriptor",
            Self::Reset => "reset",
            Self::ClosedEarly => "closed-early",
            Self::Timeout => "timeout",
            Self::Protocol(_) => "protocol",
            Self::Tls(_) => "tls",
            Self::StreamReset(_) => "stream-reset",
            Self::Goaway => "goaway",
            Self::GrpcStatus(_) => "grpc-status",
            Self::Status | Self::CallHttp(_) => "status",
            Self::BodyLimit => "body-limit",
            Self::Check => "check",
            Self::Dns => "dns",
            Self::Redirect => "redirect",
            Self::NotTaken => "not-taken",
            Self::NotFilled => "not-filled",
            Self::TimeCheck => "time-check",
            Self::SizeCheck => "size-check",
            Self::LoopLimit => "loop-limit",
            Self::WebSocketClose(_) => "websocket-close",
            Self::NoFirstAnswer => "no-first-answer",
            Self::Os(_) => "os",
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
    pub fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Succeeded => Self::Succeeded,
            Outcome::Failed(
                Failure::Status
                | Failure::GrpcStatus(_)
                | Failure::CallHttp(_)
                | Failure::Check
                | Failure::BodyLimit
                | Failure::Redirect
                | Failure::NotTaken
                | Failure::TimeCheck
                | Failure::SizeCheck,
            ) => Self::FailedAnswered,
            Outcome::Failed(
                Failure::Timeout | Failure::ConnectTimeout | Failure::NoFirstAnswer | Failure::Tls(TlsFault::NoAnswer),
            ) => Self::TimedOut,
            Outcome::Failed(_) => Self::FailedUnanswered,
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
