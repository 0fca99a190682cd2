//! What messages about flags are put together from: what a flag needs, what to do, what is wrong with a stage.

/// What is wrong with a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StageFault {
    /// There is no colon.
    #[error("it has no colon")]
    NoColon,
    /// The part before the colon.
    #[error("the part before the colon is no rate")]
    Target,
    /// The part before the colon, where users are counted.
    #[error("the part before the colon is no number of users")]
    Users,
    /// The part after the colon.
    #[error("the part after the colon is no time")]
    Time,
    /// There are too many stages.
    #[error("there are more than 1000")]
    TooMany,
}

/// What a flag needs beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Need {
    /// Commands of curl.
    #[error("several curl commands, --curl FILE, or URLs, --urls FILE")]
    Curl,
    /// A message with an answer.
    #[error("a message that is answered: -d, with ws:// or tcp://")]
    Answered,
    /// HTTP.
    #[error("an http:// or https:// URL")]
    Http,
    /// A file of scenarios.
    #[error("a scenario file, like: onrush run FILE.yaml")]
    File,
    /// Figures for other programs.
    #[error("--export, whose end it bounds")]
    Export,
    /// Redirects are followed.
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
    /// A file to begin with.
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
    /// A log.
    #[error("--log FILE")]
    Log,
    /// Something with headers.
    #[error("requests of HTTP or calls of gRPC: other messages have no headers")]
    Headers,
    /// A time to speak.
    #[error("a time to send it: --every 30s, or --once")]
    Work,
    /// A method that takes any number of messages.
    #[error("a method that takes a stream of messages")]
    ClientStream,
}

/// What to do about flags that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Remedy {
    /// A request is described in one place.
    #[error("the curl command says what is sent; write it there")]
    InCurl,
    /// The same of a file of URLs.
    #[error("each line of --urls says what is sent; write it there: POST URL BODY")]
    InUrls,
    /// Connections go one way.
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
    /// Users have so many iterations, measured or not.
    #[error("users would use up their requests in the warm-up; end the load with a time, -z")]
    WarmupUsesUp,
    /// Users are what the stages count.
    #[error("the stages say how many users there are")]
    StagesSayUsers,
    /// A rate rises by stages.
    #[error("a ramp starts users; let a rate rise with --stages 1000:30s,1000:1m")]
    RampIsOfUsers,
    /// One version is spoken.
    #[error("choose one version")]
    OneVersion,
    /// HTTP/1 has one exchange at a time.
    #[error("only HTTP/2 has more than one exchange at a time on a connection")]
    StreamsAreHttp2,
    /// Streams are of a connection that stays.
    #[error("streams share a connection that stays; use -c for connections that do not")]
    StreamsStay,
    /// gRPC has one method and one version.
    #[error("a gRPC call is a POST over HTTP/2")]
    GrpcIsHttp2,
    /// One source of descriptions.
    #[error("one of them describes the messages")]
    OneSchema,
    /// Trust is one thing.
    #[error("--insecure skips certificate verification; leave one of them out")]
    TrustOneWay,
    /// A body is one thing.
    #[error("each gives the body; leave one of them out")]
    OneBody,
    /// Two headers of one name.
    #[error("each gives the header; leave one of them out")]
    OneHost,
    /// Nobody looks at what comes.
    #[error("no answer is looked at; leave one of them out")]
    NoAnswer,
    /// A message is one thing.
    #[error("each gives the message; leave one of them out")]
    OneMessage,
    /// An answer ends in one way.
    #[error("an answer ends in one way; leave one of them out")]
    OneEnd,
    /// Messages of WebSocket have ends.
    #[error("a message of WebSocket says itself where it ends")]
    MessagesEnd,
    /// Work is one thing.
    #[error("each says when a connection speaks; leave one of them out")]
    OneWork,
    /// What is no exchange of HTTP.
    #[error("it belongs to requests of HTTP")]
    TalkIsNoHttp,
    /// One exchange is shown.
    #[error("--debug shows one exchange as text and makes no report; leave one of them out")]
    DebugIsText,
    /// What is spoken is offered.
    #[error("--alpn must offer what is spoken: h2 for HTTP/2 and gRPC, http/1.1 and no h2 for HTTP/1 and WebSocket")]
    AlpnOffersVersion,
    /// A rendezvous has everybody.
    #[error("a rendezvous is of a fixed number of users, -c")]
    RendezvousIsConstant,
}

/// What `-d` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataIs {
    /// What a request carries.
    #[error("body")]
    Body,
    /// What is sent on a connection.
    #[error("message")]
    Message,
}
