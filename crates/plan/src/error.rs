//! Errors of a plan: cause, position, and remedy.

mod curl;
mod parts;
mod secrets;
mod urls;

use crate::text::grouped;
pub use curl::CurlFault;
pub(crate) use curl::at;
use curl::line_before;
pub use parts::{DataIs, Need, Remedy, StageFault};
pub use urls::UrlsFault;

/// An upper limit from here on is not mentioned.
pub const BOUND_SAID_MAX: u64 = 1 << 62;

fn range(least: u64, most: u64) -> String {
    match most {
        BOUND_SAID_MAX.. => format!("from {} up", grouped(least)),
        _ => format!("from {} to {}", grouped(least), grouped(most)),
    }
}

/// The reason why the user's input makes no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is no URL.
    #[error("no URL given; try: onrush http://127.0.0.1:8080/ (or: onrush demo)")]
    NoUrl,
    /// The URL is invalid.
    #[error("'{url}' is not a URL ({reason}); write it like http://127.0.0.1:8080/path")]
    Url {
        /// As given.
        url: String,
        /// The error of the parser.
        reason: String,
    },
    /// The scheme is unknown.
    #[error(
        "'{url}' has the unknown scheme '{scheme}'; use http://, https://, ws://, wss://, tcp://, grpc:// or grpcs://"
    )]
    Scheme {
        /// As given.
        url: String,
        /// The part before the colon.
        scheme: String,
    },
    /// The URL of a plain TCP connection needs a port and no path.
    #[error("'{url}' is not a TCP address; write it like tcp://127.0.0.1:9000")]
    TcpUrl {
        /// As given.
        url: String,
    },
    /// There is no URL for `hold`.
    #[error("no URL given; try: onrush hold -c 10000 ws://127.0.0.1:8080/")]
    NoHoldUrl,
    /// A budget with unknown parts.
    #[error(
        "--budget takes requests=N, bytes=SIZE and time=TIME, like requests=1M,bytes=10GiB,time=10m, not '{value}'"
    )]
    Budget {
        /// As given.
        value: String,
    },
    /// An invalid share.
    #[error("{flag} wants a share like 1% or 0.01, at least 0.0001%, not '{value}'")]
    #[expect(missing_docs, reason = "the flag and its value, as given")]
    Share { flag: &'static str, value: String },
    /// Multiplexed connections cannot be held.
    #[error(
        "'{url}' shares connections by HTTP/2; hold takes ws://, wss://, tcp://, http:// and https://, with HTTP/1.1"
    )]
    HoldScheme {
        /// The URL, as parsed.
        url: String,
    },
    /// A header that the WebSocket handshake sets itself.
    #[error("the header '{header}' belongs to the handshake of WebSocket; leave it out, onrush writes it")]
    HeaderOfHandshake {
        /// Its name.
        header: String,
    },
    /// A load on a plain connection without a message.
    #[error("there is nothing to send; give a message with -d or --data-bytes (or: onrush hold --receive-only)")]
    NothingToSend,
    /// The end of a response is not defined.
    #[error(
        "nothing says where an answer ends; add --until '\\n', --read-bytes N, --length-prefix 4, or --no-response"
    )]
    NoAnswerEnd,
    /// A delimiter that is invalid, or too long.
    #[error("--until wants 1 to {most} bytes like '\\n' or '\\x00', not '{value}'")]
    Until {
        /// As given.
        value: String,
        /// The limit.
        most: usize,
    },
    /// Invalid hexadecimal digits.
    #[error("-d hex: wants pairs of hexadecimal digits like 'hex:0a ff', not '{value}'")]
    Hex {
        /// As given.
        value: String,
    },
    /// A text message that is not UTF-8.
    #[error("--ws-type text wants UTF-8, and -d is none; use --ws-type binary")]
    TextNotUtf8,
    /// A ping with too large a payload.
    #[error("a ping carries at most {most} bytes; shorten -d, or use --ws-type text")]
    PingTooLarge {
        /// The limit.
        most: usize,
    },
    /// Invalid source addresses.
    #[error("--source-ip wants addresses like 10.0.0.2,10.0.1.2-10.0.1.9,10.0.2.0/24, or auto, not '{value}'")]
    Sources {
        /// As given.
        value: String,
    },
    /// Invalid endpoints.
    #[error("--connect-addresses wants places like 10.0.0.1:8001-8016,:8080, not '{value}'")]
    Places {
        /// As given.
        value: String,
    },
    /// Too many addresses.
    #[error("{flag} names more than {most} addresses; name fewer")]
    TooManyPlaces {
        /// The flag.
        flag: &'static str,
        /// The limit.
        most: usize,
    },
    /// The URL contains a name and a password.
    #[error("'{url}' holds a name or password; send them with -u NAME:PASSWORD, or with -H 'Authorization: ...'")]
    Credentials {
        /// As given.
        url: String,
    },
    /// A header without a colon.
    #[error("the header '{header}' has no colon; write it like -H 'Name: value'")]
    HeaderColon {
        /// As given.
        header: String,
    },
    /// A header whose name is not a token.
    #[error("the header '{header}' has no valid name before its colon; write it like -H 'Name: value'")]
    HeaderName {
        /// As given.
        header: String,
    },
    /// A header value with a control character.
    #[error("the value of the header '{header}' holds a line end or another control character; remove it")]
    HeaderValue {
        /// As given, with control characters made visible.
        header: String,
    },
    /// A header that contradicts the length of the body, or that HTTP/1.0 or chunks would frame differently.
    #[error("the header '{header}' would contradict the body; leave it out, onrush writes it")]
    HeaderFraming {
        /// As given.
        header: String,
    },
    /// An error in a curl command.
    #[error("{}{fault}", line_before(*line))]
    Curl {
        /// The line, or 0 for the command line.
        line: usize,
        /// The fault.
        fault: Box<CurlFault>,
    },
    /// An error in a file of URLs.
    #[error(transparent)]
    Urls(#[from] UrlsFault),
    /// An invalid form part.
    #[error("-F wants {wanted}, not '{value}'")]
    FormPart {
        /// As given.
        value: String,
        /// The expected form.
        wanted: &'static str,
    },
    /// An error within a curl command.
    #[error("{}{inner}", line_before(*line))]
    AtLine {
        /// The line, or 0 for the command line.
        line: usize,
        /// The error.
        inner: Box<PlanError>,
    },
    /// An error within a file.
    #[error("{path}: {inner}")]
    InFile {
        /// The path.
        path: String,
        /// The error.
        inner: Box<PlanError>,
    },
    /// An invalid pattern.
    #[error("{flag} '{value}' is no pattern: {reason}; write text, or a regular expression like /ok|done/")]
    Pattern {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The error of the library.
        reason: String,
    },
    /// An invalid JSON check.
    #[error("--expect-json '{value}' is no check: {reason}; write it like '$.code == 200' (paths as in RFC 9535)")]
    JsonCheck {
        /// As given.
        value: String,
        /// The reason.
        reason: String,
    },
    /// An invalid address for a name.
    #[error("--resolve wants host:port:address like example.com:443:127.0.0.1, not '{value}'")]
    Resolve {
        /// As given.
        value: String,
    },
    /// An invalid replacement target.
    #[error("--connect-to wants host:port:host:port like example.com:443:127.0.0.1:8443, not '{value}'")]
    ConnectTo {
        /// As given.
        value: String,
    },
    /// An invalid socket path.
    #[error("--unix-socket wants a path of 1 to 107 bytes, not '{path}'")]
    UnixSocket {
        /// As given.
        path: String,
    },
    /// A method that is not a token.
    #[error("'{method}' is not a method; write a word like GET or POST after -X")]
    Method {
        /// As given.
        method: String,
    },
    /// A file that cannot be read.
    #[error("cannot read the file '{path}' given to {flag}: {reason}; check the path")]
    File {
        /// The flag that names it.
        flag: &'static str,
        /// As given.
        path: String,
        /// The error of the system.
        reason: String,
    },
    /// A file that is larger than a request body may be.
    #[error("the file '{path}' is larger than {limit} bytes, the most that is read")]
    FileTooLarge {
        /// As given.
        path: String,
        /// [`crate::REQUEST_BODY_BYTES_MAX`].
        limit: u64,
    },
    /// A user without a password, which cannot be prompted for.
    #[error("-u wants name:password, since nobody is asked; write name: for an empty password")]
    User,
    /// A time in the place of a body: other tools use this flag for their duration.
    #[error(
        "-d is the {what}, and '{value}' is a time; a duration is {instead} {value} (to send these bytes: -d @FILE)"
    )]
    DataIsTime {
        /// As given.
        value: String,
        /// The meaning of `-d` here.
        what: DataIs,
        /// The flag that is meant.
        instead: &'static str,
    },
    /// A number that is invalid, or out of range.
    #[error("{flag} wants a whole number {}, not '{value}'", range(*least, *most))]
    Number {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The smallest useful value.
        least: u64,
        /// The largest supported value.
        most: u64,
    },
    /// An invalid time span.
    #[error("{flag} wants a time like 500ms, 10s, 2m or 1h30m, at most 3650d, not '{value}'")]
    Duration {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
    },
    /// A time span below its minimum.
    #[error("{flag} wants at least {least}, not '{value}'")]
    DurationTooShort {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The smallest useful value.
        least: &'static str,
    },
    /// An invalid rate.
    #[error("{flag} wants a rate like 5000, 100/m or 2.5/s, at most {} a second, not '{value}'", grouped(*most))]
    Rate {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The highest rate per second.
        most: u64,
    },
    /// An invalid list of stages.
    #[error("stages are TARGET:TIME,... like 0:30s,1000:1m,1000:2m; stage {number}, '{value}', is none: {reason}")]
    Stage {
        /// The number of the stage, from 1.
        number: usize,
        /// As given.
        value: String,
        /// The fault.
        reason: StageFault,
    },
    /// A rate that makes no start in its time.
    #[error("{flag} makes no start in the time of the load; raise the rate or give it more time")]
    NoStarts {
        /// The flag.
        flag: &'static str,
    },
    /// Two flags that exclude each other.
    #[error("{one} and {other} cannot be given together; {remedy}")]
    Conflict {
        /// A flag.
        one: &'static str,
        /// Another.
        other: &'static str,
        /// The remedy.
        remedy: Remedy,
    },
    /// A flag that has no effect without another.
    #[error("{flag} needs {needed}")]
    Needs {
        /// The flag.
        flag: &'static str,
        /// The required flag.
        needed: Need,
    },
    /// Too many connections times streams.
    #[error("-c times --streams is more than {most} users; lower one of them")]
    TooManyUsers {
        /// [`crate::USERS_MAX`].
        most: u64,
    },
    /// A warm-up without effect.
    #[error(
        "--warmup runs the load as it begins, and it begins with nothing; begin the stages with a jump like 100:0s"
    )]
    ColdWarmup,
    /// A word that is none of a fixed set.
    #[error("{flag} wants one of {choices}, not '{value}'")]
    Choice {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The words.
        choices: &'static str,
    },
    /// A gRPC URL without a method.
    #[error(
        "'{path}' names no method; write it like grpc://host:port/package.Service/Method, and see what there is with: onrush grpc list grpc://host:port"
    )]
    GrpcPath {
        /// The path of the URL.
        path: String,
    },
    /// There is no server to query for services.
    #[error("no URL given; try: onrush grpc list grpc://127.0.0.1:8080 (or: --proto FILE)")]
    NoGrpcUrl,
    /// A URL that is not gRPC.
    #[error("'{url}' is not of gRPC; write it like grpc://host:port or grpcs://host:port")]
    NotGrpc {
        /// The URL, as parsed.
        url: String,
    },
    /// An invalid `.proto` file.
    #[error("{reason}; look at this place of the .proto file, and at --import-path for files that it imports")]
    Proto {
        /// The position, and the error of the compiler.
        reason: String,
    },
    /// A `.proto` file in an unsupported edition.
    #[error(
        "'{file}' is written in an edition of Protobuf, and only proto2 and proto3 are understood; write syntax = \"proto3\", if it allows that"
    )]
    Edition {
        /// The file.
        file: String,
    },
    /// An invalid descriptor set.
    #[error(
        "'{path}' is no set of descriptions ({reason}); write one with: protoc --include_imports --descriptor_set_out=FILE"
    )]
    Protoset {
        /// As given.
        path: String,
        /// The reason.
        reason: String,
    },
    /// Inconsistent descriptors.
    #[error("the target describes its services wrongly ({reason}); give the .proto files with --proto")]
    Described {
        /// The reason.
        reason: String,
    },
    /// The service has no description.
    #[error("nothing describes '{service}'; give its .proto file with --proto, or a set with --protoset")]
    NoSchema {
        /// As in the URL.
        service: String,
    },
    /// Unknown service.
    #[error("there is no service '{service}'; there are: {known}")]
    NoService {
        /// As in the URL.
        service: String,
        /// The known services.
        known: String,
    },
    /// Unknown method.
    #[error("the service '{service}' has no method '{method}'; it has: {known}")]
    NoMethod {
        /// The service.
        service: String,
        /// As in the URL.
        method: String,
        /// The methods of the service.
        known: String,
    },
    /// Unknown symbol.
    #[error("nothing is called '{symbol}'; write the whole name with its package; the services are: {known}")]
    NoSymbol {
        /// As given.
        symbol: String,
        /// The known services.
        known: String,
    },
    /// JSON that does not fit a message.
    #[error(
        "-d does not fit the message {message}: line {line}, column {column}: {reason}; see its fields with: onrush grpc describe {source_words} {message}"
    )]
    Json {
        /// The name of the message.
        message: String,
        /// The arguments with which `onrush grpc describe` finds it: an address, or flags that name files.
        source_words: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
        /// The reason.
        reason: String,
    },
    /// A message that is not text.
    #[error("-d of a gRPC call is JSON, and this is no UTF-8 text; write bytes as base64 in a string")]
    DataNotText,
    /// Other than one message for a method that takes one.
    #[error("{method} takes one message, and -d has {given}; only a method with a stream of requests takes several")]
    OneMessage {
        /// The method.
        method: String,
        /// The number of given messages.
        given: usize,
    },
    /// Too many messages for a call.
    #[error("-d has more than {most} messages for one call; make it shorter")]
    TooManyMessages {
        /// [`crate::MESSAGES_MAX`].
        most: usize,
    },
    /// An invalid set of gRPC statuses.
    #[error("--expect-status wants statuses of gRPC like OK,NOT_FOUND or 0,5 here, not '{value}'")]
    GrpcStatuses {
        /// As given.
        value: String,
    },
    /// An invalid set of statuses.
    #[error("--expect-status wants statuses and ranges like 200,300-399, not '{value}'")]
    Statuses {
        /// As given.
        value: String,
    },
}
