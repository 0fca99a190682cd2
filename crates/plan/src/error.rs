//! What can be wrong with a plan: what, where, and the remedy.

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

/// Above this a bound is none that anybody meets.
pub const BOUND_SAID_MAX: u64 = 1 << 62;

fn range(least: u64, most: u64) -> String {
    match most {
        BOUND_SAID_MAX.. => format!("from {} up", grouped(least)),
        _ => format!("from {} to {}", grouped(least), grouped(most)),
    }
}

/// The user's words do not make a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is no URL.
    #[error("no URL given; try: onrush http://127.0.0.1:8080/ (or: onrush demo)")]
    NoUrl,
    /// The URL cannot be understood.
    #[error("'{url}' is not a URL ({reason}); write it like http://127.0.0.1:8080/path")]
    Url {
        /// As given.
        url: String,
        /// What the parser says.
        reason: String,
    },
    /// The scheme is none that is known.
    #[error(
        "'{url}' has the unknown scheme '{scheme}'; use http://, https://, ws://, wss://, tcp://, grpc:// or grpcs://"
    )]
    Scheme {
        /// As given.
        url: String,
        /// The part before the colon.
        scheme: String,
    },
    /// A plain connection has a port and no path.
    #[error("'{url}' is not a TCP address; write it like tcp://127.0.0.1:9000")]
    TcpUrl {
        /// As given.
        url: String,
    },
    /// There is no URL for `hold`.
    #[error("no URL given; try: onrush hold -c 10000 ws://127.0.0.1:8080/")]
    NoHoldUrl,
    /// A budget with other parts than it may have.
    #[error(
        "--budget takes requests=N, bytes=SIZE and time=TIME, like requests=1M,bytes=10GiB,time=10m, not '{value}'"
    )]
    Budget {
        /// As given.
        value: String,
    },
    /// A share that is none.
    #[error("{flag} wants a share like 1% or 0.01, at least 0.0001%, not '{value}'")]
    #[expect(missing_docs, reason = "the flag and its value, as given")]
    Share { flag: &'static str, value: String },
    /// Connections of many streams are not held.
    #[error(
        "'{url}' shares connections by HTTP/2; hold takes ws://, wss://, tcp://, http:// and https://, with HTTP/1.1"
    )]
    HoldScheme {
        /// As it was understood.
        url: String,
    },
    /// A header that the handshake of WebSocket writes.
    #[error("the header '{header}' belongs to the handshake of WebSocket; leave it out, onrush writes it")]
    HeaderOfHandshake {
        /// Its name.
        header: String,
    },
    /// A load on a plain connection without a message.
    #[error("there is nothing to send; give a message with -d or --data-bytes (or: onrush hold --receive-only)")]
    NothingToSend,
    /// Nothing says where an answer ends.
    #[error(
        "nothing says where an answer ends; add --until '\\n', --read-bytes N, --length-prefix 4, or --no-response"
    )]
    NoAnswerEnd,
    /// A delimiter that cannot be read, or is too long.
    #[error("--until wants 1 to {most} bytes like '\\n' or '\\x00', not '{value}'")]
    Until {
        /// As given.
        value: String,
        /// The bound.
        most: usize,
    },
    /// No hexadecimal digits.
    #[error("-d hex: wants pairs of hexadecimal digits like 'hex:0a ff', not '{value}'")]
    Hex {
        /// As given.
        value: String,
    },
    /// A text message that is no text.
    #[error("--ws-type text wants UTF-8, and -d is none; use --ws-type binary")]
    TextNotUtf8,
    /// A ping with too much in it.
    #[error("a ping carries at most {most} bytes; shorten -d, or use --ws-type text")]
    PingTooLarge {
        /// The bound.
        most: usize,
    },
    /// Addresses of ours that cannot be read.
    #[error("--source-ip wants addresses like 10.0.0.2,10.0.1.2-10.0.1.9,10.0.2.0/24, or auto, not '{value}'")]
    Sources {
        /// As given.
        value: String,
    },
    /// Places that cannot be read.
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
        /// The bound.
        most: usize,
    },
    /// The URL holds a name and a password.
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
    /// A header whose name is no token.
    #[error("the header '{header}' has no valid name before its colon; write it like -H 'Name: value'")]
    HeaderName {
        /// As given.
        header: String,
    },
    /// A header value with a control character.
    #[error("the value of the header '{header}' holds a line end or another control character; remove it")]
    HeaderValue {
        /// As given, made visible.
        header: String,
    },
    /// A body of which the head says another length, or that HTTP/1.0 or chunks would frame differently.
    #[error("the header '{header}' would contradict the body; leave it out, onrush writes it")]
    HeaderFraming {
        /// As given.
        header: String,
    },
    /// A curl command that cannot be understood.
    #[error("{}{fault}", line_before(*line))]
    Curl {
        /// Where it is written, or 0 for the command line.
        line: usize,
        /// What is wrong.
        fault: Box<CurlFault>,
    },
    /// A file of URLs that cannot be understood.
    #[error(transparent)]
    Urls(#[from] UrlsFault),
    /// A part of a form that cannot be read.
    #[error("-F wants {wanted}, not '{value}'")]
    FormPart {
        /// As given.
        value: String,
        /// What it wants.
        wanted: &'static str,
    },
    /// A mistake within a curl command.
    #[error("{}{inner}", line_before(*line))]
    AtLine {
        /// Where it is written, or 0 for the command line.
        line: usize,
        /// What is wrong.
        inner: Box<PlanError>,
    },
    /// A mistake within a file.
    #[error("{path}: {inner}")]
    InFile {
        /// Its path.
        path: String,
        /// What is wrong.
        inner: Box<PlanError>,
    },
    /// A pattern that is none.
    #[error("{flag} '{value}' is no pattern: {reason}; write text, or a regular expression like /ok|done/")]
    Pattern {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// What the library says.
        reason: String,
    },
    /// A check of JSON that is none.
    #[error("--expect-json '{value}' is no check: {reason}; write it like '$.code == 200' (paths as in RFC 9535)")]
    JsonCheck {
        /// As given.
        value: String,
        /// What is wrong.
        reason: String,
    },
    /// An address for a name that cannot be read.
    #[error("--resolve wants host:port:address like example.com:443:127.0.0.1, not '{value}'")]
    Resolve {
        /// As given.
        value: String,
    },
    /// Another target that cannot be read.
    #[error("--connect-to wants host:port:host:port like example.com:443:127.0.0.1:8443, not '{value}'")]
    ConnectTo {
        /// As given.
        value: String,
    },
    /// The path of a socket that cannot be one.
    #[error("--unix-socket wants a path of 1 to 107 bytes, not '{path}'")]
    UnixSocket {
        /// As given.
        path: String,
    },
    /// A method that is no token.
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
        /// What the system says.
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
    /// A password that nobody can be asked for.
    #[error("-u wants name:password, since nobody is asked; write name: for an empty password")]
    User,
    /// A time where a body is wanted: other tools call their duration so.
    #[error(
        "-d is the {what}, and '{value}' is a time; a duration is {instead} {value} (to send these bytes: -d @FILE)"
    )]
    DataIsTime {
        /// As given.
        value: String,
        /// What `-d` is here.
        what: DataIs,
        /// The flag that is meant.
        instead: &'static str,
    },
    /// Not a whole number, or out of its range.
    #[error("{flag} wants a whole number {}, not '{value}'", range(*least, *most))]
    Number {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The smallest that makes sense.
        least: u64,
        /// The largest that is supported.
        most: u64,
    },
    /// Not a span of time.
    #[error("{flag} wants a time like 500ms, 10s, 2m or 1h30m, at most 3650d, not '{value}'")]
    Duration {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
    },
    /// A span of time below its least.
    #[error("{flag} wants at least {least}, not '{value}'")]
    DurationTooShort {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The smallest that makes sense.
        least: &'static str,
    },
    /// Not a rate.
    #[error("{flag} wants a rate like 5000, 100/m or 2.5/s, at most {} a second, not '{value}'", grouped(*most))]
    Rate {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The highest rate, a second.
        most: u64,
    },
    /// Not a list of stages.
    #[error("--stages wants TARGET:TIME,... like 0:30s,1000:1m,1000:2m; stage {number}, '{value}', is none: {reason}")]
    Stage {
        /// Counted from 1.
        number: usize,
        /// As given.
        value: String,
        /// What is wrong with it.
        reason: StageFault,
    },
    /// The rate makes no start in its time.
    #[error("{flag} makes no start in the time of the load; raise the rate or give it more time")]
    NoStarts {
        /// The flag.
        flag: &'static str,
    },
    /// Two flags that cannot be meant together.
    #[error("{one} and {other} cannot be given together; {remedy}")]
    Conflict {
        /// A flag.
        one: &'static str,
        /// Another.
        other: &'static str,
        /// What to do.
        remedy: Remedy,
    },
    /// A flag that says nothing without another.
    #[error("{flag} needs {needed}")]
    Needs {
        /// The flag.
        flag: &'static str,
        /// What it needs.
        needed: Need,
    },
    /// Connections times streams are too many.
    #[error("-c times --streams is more than {most} users; lower one of them")]
    TooManyUsers {
        /// [`crate::USERS_MAX`].
        most: u64,
    },
    /// A warm-up that would do nothing.
    #[error(
        "--warmup runs the load as it begins, and it begins with nothing; begin the stages with a jump like 100:0s"
    )]
    ColdWarmup,
    /// Not one of the words that a flag knows.
    #[error("{flag} wants one of {choices}, not '{value}'")]
    Choice {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The words.
        choices: &'static str,
    },
    /// A URL of gRPC that names no method.
    #[error(
        "'{path}' names no method; write it like grpc://host:port/package.Service/Method, and see what there is with: onrush grpc list grpc://host:port"
    )]
    GrpcPath {
        /// The path of the URL.
        path: String,
    },
    /// Nobody to ask for services.
    #[error("no URL given; try: onrush grpc list grpc://127.0.0.1:8080 (or: --proto FILE)")]
    NoGrpcUrl,
    /// A URL that is none of gRPC.
    #[error("'{url}' is not of gRPC; write it like grpc://host:port or grpcs://host:port")]
    NotGrpc {
        /// As it was understood.
        url: String,
    },
    /// A `.proto` file that is wrong.
    #[error("{reason}; look at this place of the .proto file, and at --import-path for files that it imports")]
    Proto {
        /// The place, and what the compiler says.
        reason: String,
    },
    /// A `.proto` file of a kind that is not understood.
    #[error(
        "'{file}' is written in an edition of Protobuf, and only proto2 and proto3 are understood; write syntax = \"proto3\", if it allows that"
    )]
    Edition {
        /// The file.
        file: String,
    },
    /// A set of descriptions that is none.
    #[error(
        "'{path}' is no set of descriptions ({reason}); write one with: protoc --include_imports --descriptor_set_out=FILE"
    )]
    Protoset {
        /// As given.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Descriptions that do not fit together.
    #[error("the target describes its services wrongly ({reason}); give the .proto files with --proto")]
    Described {
        /// What is wrong with them.
        reason: String,
    },
    /// Nobody described the service.
    #[error("nothing describes '{service}'; give its .proto file with --proto, or a set with --protoset")]
    NoSchema {
        /// As in the URL.
        service: String,
    },
    /// No such service.
    #[error("there is no service '{service}'; there are: {known}")]
    NoService {
        /// As in the URL.
        service: String,
        /// Those that there are.
        known: String,
    },
    /// No such method.
    #[error("the service '{service}' has no method '{method}'; it has: {known}")]
    NoMethod {
        /// The service.
        service: String,
        /// As in the URL.
        method: String,
        /// Those that it has.
        known: String,
    },
    /// Nothing of this name.
    #[error("nothing is called '{symbol}'; write the whole name with its package; the services are: {known}")]
    NoSymbol {
        /// As given.
        symbol: String,
        /// The services.
        known: String,
    },
    /// JSON that does not fit a message.
    #[error(
        "-d does not fit the message {message}: line {line}, column {column}: {reason}; see its fields with: onrush grpc describe {source_words} {message}"
    )]
    Json {
        /// The message's name.
        message: String,
        /// What `onrush grpc describe` is told to find it: an address, or flags that name files.
        source_words: String,
        /// From 1.
        line: usize,
        /// From 1, in bytes.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A message that is no text.
    #[error("-d of a gRPC call is JSON, and this is no UTF-8 text; write bytes as base64 in a string")]
    DataNotText,
    /// Not one message for a method that takes one.
    #[error("{method} takes one message, and -d has {given}; only a method with a stream of requests takes several")]
    OneMessage {
        /// The method.
        method: String,
        /// How many there are.
        given: usize,
    },
    /// Too many messages for a call.
    #[error("-d has more than {most} messages for one call; make it shorter")]
    TooManyMessages {
        /// [`crate::MESSAGES_MAX`].
        most: usize,
    },
    /// Not a set of statuses of gRPC.
    #[error("--expect-status wants statuses of gRPC like OK,NOT_FOUND or 0,5 here, not '{value}'")]
    GrpcStatuses {
        /// As given.
        value: String,
    },
    /// Not a set of statuses.
    #[error("--expect-status wants statuses and ranges like 200,300-399, not '{value}'")]
    Statuses {
        /// As given.
        value: String,
    },
}
