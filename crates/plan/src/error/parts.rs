//! Parts of messages about flags: required flags, remedies, faults of stages.

use crate::errors;

errors! {
    /// The fault of a stage.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum StageFault;

    /// The colon is missing.
    NoColon;
        "it has no colon",
        "缺少冒号";
    /// The part before the colon is invalid.
    Target;
        "the part before the colon is no rate",
        "冒号前不是速率";
    /// The part before the colon is invalid, where users are counted.
    Users;
        "the part before the colon is no number of users",
        "冒号前不是用户数";
    /// The part after the colon is invalid.
    Time;
        "the part after the colon is no time",
        "冒号后不是时间";
    /// There are too many stages.
    TooMany;
        "there are more than 1000",
        "阶段超过 1000 个";
}

errors! {
    /// The requirement of a flag.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Need;

    /// Commands of curl.
    Curl;
        "several curl commands, --curl FILE, or URLs, --urls FILE",
        "需要用 --curl 文件 给出多条 curl 命令，或用 --urls 文件 给出 URL";
    /// A proxy.
    Proxy;
        "a proxy: --proxy or --proxy-from-env",
        "需要用 --proxy 或 --proxy-from-env 给出代理";
    /// The schema of a call.
    Schema;
        "the description of the service, --proto or --protoset: the target is not queried for it that way",
        "需要用 --proto 或 --protoset 给出服务描述：此时不会向目标查询";
    /// A version of the PROXY protocol.
    ProxyProtocol;
        "the version of the header: --proxy-protocol v1 or v2",
        "需要用 --proxy-protocol v1 或 v2 给出版本";
    /// A message with a response.
    Answered;
        "a message that is answered: -d, with ws:// or tcp://",
        "需要有响应的消息：-d，且 URL 以 ws:// 或 tcp:// 开头";
    /// HTTP.
    Http;
        "an http:// or https:// URL",
        "需要 http:// 或 https:// 开头的 URL";
    /// A scenario file.
    File;
        "a scenario file, like: onrush run FILE.yaml",
        "需要场景文件，如：onrush run FILE.yaml";
    /// An export.
    Export;
        "--export, whose end it bounds",
        "需要同时给出 --export";
    /// Following of redirects.
    Location;
        "--location, which follows redirects",
        "需要同时给出 --location（跟随重定向）";
    /// The open model.
    Rate;
        "a rate, -q or --stages",
        "需要同时给出速率（-q 或 --stages）";
    /// A number of connections.
    Connections;
        "-c, which says how many there are",
        "需要用 -c 说明连接数";
    /// TLS.
    Https;
        "an https://, wss:// or grpcs:// URL",
        "需要 https://、wss:// 或 grpcs:// 开头的 URL";
    /// A certificate.
    Cert;
        "--cert, the certificate that the key belongs to",
        "需要同时用 --cert 给出对应的证书";
    /// HTTP/2.
    Http2;
        "--http2, or an https:// URL",
        "需要同时给出 --http2，或使用 https:// 开头的 URL";
    /// gRPC.
    Grpc;
        "a grpc:// or grpcs:// URL",
        "需要 grpc:// 或 grpcs:// 开头的 URL";
    /// A method whose messages are described.
    Method;
        "a URL that names a method, like grpc://host/package.Service/Method",
        "需要写明方法的 URL，如 grpc://主机:端口/包名.服务/方法";
    /// A `.proto` file.
    Proto;
        "--proto, the file whose imports it is for",
        "需要同时用 --proto 给出导入它们的文件";
    /// A connection without HTTP.
    Messaging;
        "a ws://, wss:// or tcp:// URL",
        "需要 ws://、wss:// 或 tcp:// 开头的 URL";
    /// WebSocket.
    WebSocket;
        "a ws:// or wss:// URL",
        "需要 ws:// 或 wss:// 开头的 URL";
    /// A message.
    Data;
        "a message, -d or --data-bytes",
        "需要同时用 -d 或 --data-bytes 给出消息";
    /// Random bytes.
    DataBytes;
        "--data-bytes, the random bytes that it is for",
        "需要同时给出 --data-bytes";
    /// A request log.
    Log;
        "--log FILE",
        "需要同时给出 --log FILE";
    /// A protocol with headers.
    Headers;
        "requests of HTTP or calls of gRPC: other messages have no headers",
        "需要 HTTP 请求或 gRPC 调用：其他消息没有请求头";
    /// A schedule for messages.
    Work;
        "a time to send it: --every 30s, or --once",
        "需要同时说明何时发送：--every 30s 或 --once";
    /// A method that takes a stream of messages.
    ClientStream;
        "a method that takes a stream of messages",
        "只能用于以流方式接收消息的方法";
}

errors! {
    /// The remedy for flags that contradict each other.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Remedy;

    /// A request is described in one place.
    InCurl;
        "the curl command says what is sent; write it there",
        "请求由 curl 命令描述；请写在 curl 命令中";
    /// The same for a file of URLs.
    InUrls;
        "each line of --urls says what is sent; write it there: POST URL BODY",
        "请写在 --urls 的各行中：POST URL 请求体";
    /// Connections have one route.
    OneWay;
        "each says where connections go; leave one of them out",
        "两者都规定了连接的去向；请去掉其中一个";
    /// A rate is one stage.
    RateAsStage;
        "write the rate as a stage",
        "请把速率写成一个阶段";
    /// Stages have their times.
    StagesHaveTimes;
        "the stages say how long the load lasts",
        "各阶段已经规定了压测时长";
    /// A random number of starts has no exact bound.
    RandomEndsWithTime;
        "a random number of starts ends with a time, -z",
        "随机发起的请求数不固定，请用 -z 规定时长";
    /// Iterations are counted in one way.
    OneCount;
        "one counts what all users do together, the other what each does; leave one of them out",
        "前者是每个用户的数量，后者是所有用户合计的数量；请去掉其中一个";
    /// A rate has no users.
    EachIsOfUsers;
        "a rate starts requests, whichever user has them; load with users (-c), or count all requests with -n",
        "按速率发起的请求不区分用户；请用 -c 指定用户数，或用 -n 指定总数";
    /// Users have a fixed number of iterations, measured or not.
    WarmupUsesUp;
        "users would use up their requests in the warm-up; end the load with a time, -z",
        "用户会在预热中用完自己的请求；请用 -z 规定时长";
    /// The stages define the users.
    StagesSayUsers;
        "the stages say how many users there are",
        "各阶段已经规定了用户数";
    /// A rate is ramped by stages.
    RampIsOfUsers;
        "a ramp starts users; let a rate rise with --stages 1000:30s,1000:1m",
        "--ramp 让用户梯度增加；速率的梯度加压请用 --stages 1000:30s,1000:1m";
    /// There is one version.
    OneVersion;
        "choose one version",
        "请只选一个版本";
    /// HTTP/1 has one exchange at a time.
    StreamsAreHttp2;
        "only HTTP/2 has more than one exchange at a time on a connection",
        "只有 HTTP/2 能在一个连接上同时进行多个请求";
    /// Streams need a persistent connection.
    StreamsStay;
        "streams share a connection that stays; use -c for connections that do not",
        "多个流共用一个长连接；短连接请用 -c 指定并发数";
    /// Limits of connections are those of persistent ones.
    LimitsAreOfKept;
        "a limit is of connections that are kept; leave one of them out",
        "限制只对保持的长连接有意义；请去掉其中一个";
    /// gRPC has one method and one version.
    GrpcIsHttp2;
        "a gRPC call is a POST over HTTP/2",
        "gRPC 调用就是通过 HTTP/2 发送的 POST";
    /// One source of descriptions.
    OneSchema;
        "one of them describes the messages",
        "消息定义只需其中一种";
    /// There is one kind of trust.
    TrustOneWay;
        "--insecure skips certificate verification; leave one of them out",
        "--insecure 表示不校验证书；请去掉其中一个";
    /// There is one body.
    OneBody;
        "each gives the body; leave one of them out",
        "两者都规定了请求体；请去掉其中一个";
    /// Two headers of one name.
    OneHost;
        "each gives the header; leave one of them out",
        "两者都给出了该请求头；请去掉其中一个";
    /// The responses are not read.
    NoAnswer;
        "no answer is looked at; leave one of them out",
        "没有响应可供断言；请去掉其中一个";
    /// There is one message.
    OneMessage;
        "each gives the message; leave one of them out",
        "两者都规定了消息内容；请去掉其中一个";
    /// There is one end of a response.
    OneEnd;
        "an answer ends in one way; leave one of them out",
        "响应只能有一种结束方式；请去掉其中一个";
    /// WebSocket messages have ends.
    MessagesEnd;
        "a message of WebSocket says itself where it ends",
        "WebSocket 消息自带边界";
    /// There is one schedule for messages.
    OneWork;
        "each says when a connection speaks; leave one of them out",
        "两者都规定了何时发送；请去掉其中一个";
    /// A server of a custom protocol does nothing else.
    ProtocolIsAlone;
        "a custom protocol is served alone; leave one of them out",
        "服务端只提供该自定义协议；请去掉其中一个";
    /// A custom protocol that is never spoken over TLS.
    ProtocolWithoutTls;
        "this protocol has no TLS; leave it out",
        "该协议不使用 TLS；请去掉它";
    /// The exchange is not HTTP.
    MessagingIsNoHttp;
        "it belongs to requests of HTTP",
        "它只用于 HTTP 请求";
    /// The fields of the protocol are the request.
    CustomIsNoHttp;
        "its requests are made of its own flags; leave the other out",
        "其请求由它自己的参数给出；请去掉另一个";
    /// Datagrams have no connections.
    DatagramsGoStraight;
        "datagrams (UDP) go straight to their target; leave the other out",
        "数据报（UDP）直接发往目标；请去掉另一个";
    /// One exchange is shown.
    DebugIsText;
        "--debug shows one exchange as text and makes no report; leave one of them out",
        "--debug 以文本显示一次请求的全过程，不生成报告；请去掉其中一个";
    /// The version in use must be offered.
    AlpnOffersVersion;
        "--alpn must offer what is spoken: h2 for HTTP/2 and gRPC, http/1.1 and no h2 for HTTP/1 and WebSocket",
        "--alpn 必须包含所用的协议：HTTP/2 和 gRPC 为 h2，HTTP/1 和 WebSocket 为 http/1.1，且不含 h2";
    /// A rendezvous needs all users.
    RendezvousIsConstant;
        "a rendezvous is of a fixed number of users, -c",
        "集合点需要固定的用户数（-c）";
}

errors! {
    /// The meaning of `-d`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DataIs;

    /// The body of a request.
    Body;
        "body",
        "请求体";
    /// A message on a connection.
    Message;
        "message",
        "消息";
}
