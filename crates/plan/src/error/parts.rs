//! Parts of messages about flags: required flags, remedies, faults of stages.

/// The fault of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StageFault {
    /// The colon is missing.
    #[error("it has no colon")]
    NoColon,
    /// The part before the colon is invalid.
    #[error("the part before the colon is no rate")]
    Target,
    /// The part before the colon is invalid, where users are counted.
    #[error("the part before the colon is no number of users")]
    Users,
    /// The part after the colon is invalid.
    #[error("the part after the colon is no time")]
    Time,
    /// There are too many stages.
    #[error("there are more than 1000")]
    TooMany,
}

/// The requirement of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Need {
    /// Commands of curl.
    #[error("several curl commands, --curl FILE, or URLs, --urls FILE")]
    Curl,
    /// A message with a response.
    #[error("a message that is answered: -d, with ws:// or tcp://")]
    Answered,
    /// HTTP.
    #[error("an http:// or https:// URL")]
    Http,
    /// A scenario file.
    #[error("a scenario file, like: onrush run FILE.yaml")]
    File,
    /// An export.
    #[error("--export, whose end it bounds")]
    Export,
    /// Following of redirects.
    #[error("--location, which follows redirects")]
    Location,
    /// The open model.
    #[error("a rate, -q or --stages")]
    Rate,
    /// A number of connections.
    #[error("-c, which says how many there are")]
    Connections,
    /// TLS.
    #[error("an https://, wss:// or grpcs:// URL")]
    Https,
    /// A certificate.
    #[error("--cert, the certificate that the key belongs to")]
    Cert,
    /// HTTP/2.
    #[error("--http2, or an https:// URL")]
    Http2,
    /// gRPC.
    #[error("a grpc:// or grpcs:// URL")]
    Grpc,
    /// A method whose messages are described.
    #[error("a URL that names a method, like grpc://host/package.Service/Method")]
    Method,
    /// A `.proto` file.
    #[error("--proto, the file whose imports it is for")]
    Proto,
    /// A connection without HTTP.
    #[error("a ws://, wss:// or tcp:// URL")]
    Talk,
    /// WebSocket.
    #[error("a ws:// or wss:// URL")]
    WebSocket,
    /// A message.
    #[error("a message, -d or --data-bytes")]
    Data,
    /// Random bytes.
    #[error("--data-bytes, the random bytes that it is for")]
    DataBytes,
    /// A request log.
    #[error("--log FILE")]
    Log,
    /// A protocol with headers.
    #[error("requests of HTTP or calls of gRPC: other messages have no headers")]
    Headers,
    /// A schedule for messages.
    #[error("a time to send it: --every 30s, or --once")]
    Work,
    /// A method that takes a stream of messages.
    #[error("a method that takes a stream of messages")]
    ClientStream,
}

/// The remedy for flags that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Remedy {
    /// A request is described in one place.
    #[error("the curl command says what is sent; write it there")]
    InCurl,
    /// The same for a file of URLs.
    #[error("each line of --urls says what is sent; write it there: POST URL BODY")]
    InUrls,
    /// Connections have one route.
    #[error("each says where connections go; leave one of them out")]
    OneWay,
    /// A rate is one stage.
    #[error("write the rate as a stage")]
    RateAsStage,
    /// Stages have their times.
    #[error("the stages say how long the load lasts")]
    StagesHaveTimes,
    /// A random number of starts has no exact bound.
    #[error("a random number of starts ends with a time, -z")]
    RandomEndsWithTime,
    /// Iterations are counted in one way.
    #[error("one counts what all users do together, the other what each does; leave one of them out")]
    OneCount,
    /// A rate has no users.
    #[error("a rate starts requests, whichever user has them; load with users (-c), or count all requests with -n")]
    EachIsOfUsers,
    /// Users have a fixed number of iterations, measured or not.
    #[error("users would use up their requests in the warm-up; end the load with a time, -z")]
    WarmupUsesUp,
    /// The stages define the users.
    #[error("the stages say how many users there are")]
    StagesSayUsers,
    /// A rate is ramped by stages.
    #[error("a ramp starts users; let a rate rise with --stages 1000:30s,1000:1m")]
    RampIsOfUsers,
    /// There is one version.
    #[error("choose one version")]
    OneVersion,
    /// HTTP/1 has one exchange at a time.
    #[error("only HTTP/2 has more than one exchange at a time on a connection")]
    StreamsAreHttp2,
    /// Streams need a persistent connection.
    #[error("streams share a connection that stays; use -c for connections that do not")]
    StreamsStay,
    /// gRPC has one method and one version.
    #[error("a gRPC call is a POST over HTTP/2")]
    GrpcIsHttp2,
    /// One source of descriptions.
    #[error("one of them describes the messages")]
    OneSchema,
    /// There is one kind of trust.
    #[error("--insecure skips certificate verification; leave one of them out")]
    TrustOneWay,
    /// There is one body.
    #[error("each gives the body; leave one of them out")]
    OneBody,
    /// Two headers of one name.
    #[error("each gives the header; leave one of them out")]
    OneHost,
    /// The responses are not read.
    #[error("no answer is looked at; leave one of them out")]
    NoAnswer,
    /// There is one message.
    #[error("each gives the message; leave one of them out")]
    OneMessage,
    /// There is one end of a response.
    #[error("an answer ends in one way; leave one of them out")]
    OneEnd,
    /// WebSocket messages have ends.
    #[error("a message of WebSocket says itself where it ends")]
    MessagesEnd,
    /// There is one schedule for messages.
    #[error("each says when a connection speaks; leave one of them out")]
    OneWork,
    /// The exchange is not HTTP.
    #[error("it belongs to requests of HTTP")]
    TalkIsNoHttp,
    /// One exchange is shown.
    #[error("--debug shows one exchange as text and makes no report; leave one of them out")]
    DebugIsText,
    /// The version in use must be offered.
    #[error("--alpn must offer what is spoken: h2 for HTTP/2 and gRPC, http/1.1 and no h2 for HTTP/1 and WebSocket")]
    AlpnOffersVersion,
    /// A rendezvous needs all users.
    #[error("a rendezvous is of a fixed number of users, -c")]
    RendezvousIsConstant,
}

/// The meaning of `-d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataIs {
    /// The body of a request.
    #[error("body")]
    Body,
    /// A message on a connection.
    #[error("message")]
    Message,
}
