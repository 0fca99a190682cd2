//! Errors of a plan: cause, position, and remedy.

mod curl;
mod parts;
mod rows;
mod secrets;
mod urls;

use crate::custom::protocols;
use crate::text::grouped;
use crate::{CustomMistake, errors};
pub use curl::CurlFault;
pub(crate) use curl::at;
use curl::{line_before, line_in_chinese, wanted_in_chinese};
pub use parts::{DataIs, Need, Remedy, StageFault};
pub use rows::listed;
pub use urls::UrlsFault;

/// An upper limit from here on is not mentioned.
const BOUND_SAID_MAX: u64 = 1 << 62;

fn range(least: u64, most: u64) -> String {
    match most {
        BOUND_SAID_MAX.. => format!("from {} up", grouped(least)),
        _ => format!("from {} to {}", grouped(least), grouped(most)),
    }
}

fn range_in_chinese(least: u64, most: u64) -> String {
    match most {
        BOUND_SAID_MAX.. => format!("不小于 {} ", grouped(least)),
        _ => format!(" {} 到 {} 之间", grouped(least), grouped(most)),
    }
}

impl From<CustomMistake> for PlanError {
    fn from(CustomMistake { en, zh, .. }: CustomMistake) -> Self {
        Self::Custom { en, zh }
    }
}

/// The schemes of custom protocols.
fn custom_schemes(between: &str) -> String {
    let all = protocols().iter().flat_map(|protocol| protocol.schemes());
    all.map(|scheme| scheme.prefix).collect::<Vec<_>>().join(between)
}

fn further_schemes() -> String {
    let all = custom_schemes(", ");
    if all.is_empty() { all } else { format!("; also {all}") }
}

fn further_schemes_in_chinese() -> String {
    let all = custom_schemes("、");
    if all.is_empty() { all } else { format!("，以及 {all}") }
}

errors! {
    /// The reason why the user's input makes no plan.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum PlanError;

    /// There is no URL.
    NoUrl;
        "no URL given; try: onrush http://127.0.0.1:8080/ (or: onrush demo)",
        "没有给出 URL；例如：onrush http://127.0.0.1:8080/（或：onrush demo）";
    /// The URL is invalid.
    Url { url: String, reason: String };
        "'{url}' is not a URL ({reason}); write it like http://127.0.0.1:8080/path",
        "'{url}' 不是有效的 URL（{reason}）；请写成 http://127.0.0.1:8080/path 的形式";
    /// The scheme is unknown.
    Scheme { url: String, scheme: String };
        "'{url}' has the unknown scheme '{scheme}'; use http://, https://, ws://, wss://, tcp://, grpc:// or grpcs://{}" [further_schemes()],
        "'{url}' 的协议 '{scheme}' 无法识别；请使用 http://、https://、ws://、wss://、tcp://、grpc:// 或 grpcs://{}" [further_schemes_in_chinese()];
    /// The URL of a plain TCP connection needs a port and no path.
    TcpUrl { url: String };
        "'{url}' is not a TCP address; write it like tcp://127.0.0.1:9000",
        "'{url}' 不是 TCP 地址；请写成 tcp://127.0.0.1:9000 的形式";
    /// There is no URL for `hold`.
    NoHoldUrl;
        "no URL given; try: onrush hold -c 10000 ws://127.0.0.1:8080/",
        "没有给出 URL；例如：onrush hold -c 10000 ws://127.0.0.1:8080/";
    /// A budget with unknown parts.
    Budget { value: String };
        "--budget takes requests=N, bytes=SIZE and time=TIME, like requests=1M,bytes=10GiB,time=10m, not '{value}'",
        "--budget 的值 '{value}' 无效：应由 requests=数量、bytes=字节数、time=时长 组成，如 requests=1M,bytes=10GiB,time=10m";
    /// An invalid share.
    Share { flag: &'static str, value: String };
        "{flag} wants a share like 1% or 0.01, at least 0.0001%, not '{value}'",
        "{flag} 的值 '{value}' 无效：应为 1% 或 0.01 这样的比例，最小 0.0001%";
    /// Multiplexed connections cannot be held.
    HoldScheme { url: String };
        "'{url}' shares connections by HTTP/2; hold takes ws://, wss://, tcp://, http:// and https://, with HTTP/1.1",
        "'{url}' 的连接由 HTTP/2 共用；hold 支持 ws://、wss://、tcp://，以及使用 HTTP/1.1 的 http:// 和 https://";
    /// Datagrams have no connections to hold.
    HoldDatagrams { scheme: &'static str };
        "{scheme} sends datagrams (UDP), which have no connections to hold; load it without 'hold'",
        "{scheme} 使用数据报（UDP），没有长连接可言；请去掉 hold，直接压测";
    /// A header that the WebSocket handshake sets itself.
    HeaderOfHandshake { header: String };
        "the header '{header}' belongs to the handshake of WebSocket; leave it out, onrush writes it",
        "请求头 '{header}' 属于 WebSocket 握手；请去掉，onrush 会自动填写";
    /// A load on a plain connection without a message.
    NothingToSend;
        "there is nothing to send; give a message with -d or --data-bytes (or: onrush hold --receive-only)",
        "没有要发送的内容；请用 -d 或 --data-bytes 给出消息（或：onrush hold --receive-only）";
    /// The end of a response is not defined.
    NoAnswerEnd;
        "nothing says where an answer ends; add --until '\\n', --read-bytes N, --length-prefix 4, or --no-response",
        "没有说明响应到哪里结束；请加上 --until '\\n'、--read-bytes N、--length-prefix 4 或 --no-response";
    /// A delimiter that is invalid, or too long.
    Until { value: String, most: usize };
        "--until wants 1 to {most} bytes like '\\n' or '\\x00', not '{value}'",
        "--until 的值 '{value}' 无效：应为 1 到 {most} 个字节，如 '\\n' 或 '\\x00'";
    /// Invalid hexadecimal digits.
    Hex { value: String };
        "-d hex: wants pairs of hexadecimal digits like 'hex:0a ff', not '{value}'",
        "-d hex: 的值 '{value}' 无效：应为成对的十六进制数字，如 'hex:0a ff'";
    /// A text message that is not UTF-8.
    TextNotUtf8;
        "--ws-type text wants UTF-8, and -d is none; use --ws-type binary",
        "--ws-type text 需要 UTF-8 文本，而 -d 不是；请改用 --ws-type binary";
    /// A ping with too large a payload.
    PingTooLarge { most: usize };
        "a ping carries at most {most} bytes; shorten -d, or use --ws-type text",
        "ping 最多携带 {most} 字节；请缩短 -d，或使用 --ws-type text";
    /// The value of `--dns` is no address.
    DnsServer { value: String };
        "--dns wants the address of a name server like 10.0.0.2 or 10.0.0.2:5353, not '{value}'",
        "--dns 的值 '{value}' 无效：应为 DNS 服务器的地址，如 10.0.0.2 或 10.0.0.2:5353";
    /// The value of `--proxy` is no proxy.
    Proxy { value: String };
        "--proxy wants a proxy like http://10.0.0.1:3128, https://, socks5:// or socks5h://, with user:password@ before the host where it needs them, not '{value}'",
        "--proxy 的值 '{value}' 无效：应为 http://10.0.0.1:3128、https://、socks5:// 或 socks5h:// 这样的代理，需要认证时在主机前写 用户名:密码@";
    /// Invalid client addresses.
    ProxyHeaderSources { value: String };
        "--proxy-protocol-from wants addresses like 10.9.8.0/24 or 10.9.8.1-10.9.8.9, not '{value}'",
        "--proxy-protocol-from 的值 '{value}' 无效：应为 10.9.8.0/24 或 10.9.8.1-10.9.8.9 这样的地址";
    /// Invalid source addresses.
    Sources { value: String };
        "--source-ip wants addresses like 10.0.0.2,10.0.1.2-10.0.1.9,10.0.2.0/24, or auto, not '{value}'",
        "--source-ip 的值 '{value}' 无效：应为 10.0.0.2,10.0.1.2-10.0.1.9,10.0.2.0/24 这样的地址或 auto";
    /// Invalid endpoints.
    Places { value: String };
        "--connect-addresses wants places like 10.0.0.1:8001-8016,:8080, not '{value}'",
        "--connect-addresses 的值 '{value}' 无效：应为 10.0.0.1:8001-8016,:8080 这样的地址和端口";
    /// Too many addresses.
    TooManyPlaces { flag: &'static str, most: usize };
        "{flag} names more than {most} addresses; name fewer",
        "{flag} 给出的地址超过 {most} 个；请减少";
    /// The URL contains a name and a password.
    Credentials { url: String };
        "'{url}' holds a name or password; send them with -u NAME:PASSWORD, or with -H 'Authorization: ...'",
        "'{url}' 中带有用户名或密码；请改用 -u 用户名:密码 或 -H 'Authorization: ...' 发送";
    /// A header without a colon.
    HeaderColon { header: String };
        "the header '{header}' has no colon; write it like -H 'Name: value'",
        "请求头 '{header}' 缺少冒号；请写成 -H 'Name: value' 的形式";
    /// A header whose name is not a token.
    HeaderName { header: String };
        "the header '{header}' has no valid name before its colon; write it like -H 'Name: value'",
        "请求头 '{header}' 的冒号前不是合法的名称；请写成 -H 'Name: value' 的形式";
    /// A header value with a control character.
    HeaderValue { header: String };
        "the value of the header '{header}' holds a line end or another control character; remove it",
        "请求头 '{header}' 的值含有换行或其他控制字符；请去掉";
    /// A header that contradicts the length of the body, or that HTTP/1.0 or chunks would frame differently.
    HeaderFraming { header: String };
        "the header '{header}' would contradict the body; leave it out, onrush writes it",
        "请求头 '{header}' 会与请求体冲突；请去掉，onrush 会自动填写";
    /// An error in a curl command.
    Curl { line: usize, fault: Box<CurlFault> };
        "{}{fault}" [line_before(*line)],
        "{}{}" [line_in_chinese(*line), fault.chinese()];
    /// An error in a file of URLs.
    Urls(it: UrlsFault);
        "{it}",
        "{}" [it.chinese()];
    /// An invalid form part.
    FormPart { value: String, wanted: &'static str };
        "-F wants {wanted}, not '{value}'",
        "-F 的值 '{value}' 无效：应为{}" [wanted_in_chinese(wanted)];
    /// An error within a curl command.
    AtLine { line: usize, inner: Box<PlanError> };
        "{}{inner}" [line_before(*line)],
        "{}{}" [line_in_chinese(*line), inner.chinese()];
    /// An error within a file.
    InFile { path: String, inner: Box<PlanError> };
        "{path}: {inner}",
        "{path}：{}" [inner.chinese()];
    /// An invalid pattern.
    Pattern { flag: &'static str, value: String, reason: String };
        "{flag} '{value}' is no pattern: {reason}; write text, or a regular expression like /ok|done/",
        "{flag} '{value}' 不是有效的模式：{reason}；请写普通文本，或 /ok|done/ 这样的正则表达式";
    /// An invalid JSON check.
    JsonCheck { value: String, reason: String };
        "--expect-json '{value}' is no check: {reason}; write it like '$.code == 200' (paths as in RFC 9535)",
        "--expect-json '{value}' 不是有效的断言：{reason}；请写成 '$.code == 200'（路径语法见 RFC 9535）";
    /// An invalid address for a name.
    Resolve { value: String };
        "--resolve wants host:port:address like example.com:443:127.0.0.1, not '{value}'",
        "--resolve 的值 '{value}' 无效：应为主机:端口:地址，如 example.com:443:127.0.0.1";
    /// An invalid replacement target.
    ConnectTo { value: String };
        "--connect-to wants host:port:host:port like example.com:443:127.0.0.1:8443, not '{value}'",
        "--connect-to 的值 '{value}' 无效：应为主机:端口:主机:端口，如 example.com:443:127.0.0.1:8443";
    /// An invalid socket path.
    UnixSocket { path: String };
        "--unix-socket wants a path of 1 to 107 bytes, not '{path}'",
        "--unix-socket 的值 '{path}' 无效：应为 1 到 107 字节的路径";
    /// A method that is not a token.
    Method { method: String };
        "'{method}' is not a method; write a word like GET or POST after -X",
        "'{method}' 不是合法的请求方法；请在 -X 后写 GET、POST 之类的单词";
    /// A file that cannot be read.
    File { flag: &'static str, path: String, reason: String };
        "cannot read the file '{path}' given to {flag}: {reason}; check the path",
        "无法读取 {flag} 指定的文件 '{path}'：{reason}";
    /// A file that is larger than a request body may be.
    FileTooLarge { path: String, limit: u64 };
        "the file '{path}' is larger than {limit} bytes, the most that is read",
        "文件 '{path}' 超过 {limit} 字节，这是读取的上限";
    /// A user without a password, which cannot be prompted for.
    User;
        "-u wants name:password, since nobody is asked; write name: for an empty password",
        "-u 需要 用户名:密码（运行时不会询问）；密码为空时写 用户名:";
    /// A time in the place of a body: other tools use this flag for their duration.
    DataIsTime { value: String, what: DataIs, instead: &'static str };
        "-d is the {what}, and '{value}' is a time; a duration is {instead} {value} (to send these bytes: -d @FILE)",
        "-d 是{}，而 '{value}' 是时间；持续时间请写 {instead} {value}（确实要发送这些字节：-d @FILE）" [what.chinese()];
    /// A number that is invalid, or out of range.
    Number { flag: &'static str, value: String, least: u64, most: u64 };
        "{flag} wants a whole number {}, not '{value}'" [range(*least, *most)],
        "{flag} 的值 '{value}' 无效：应为{}的整数" [range_in_chinese(*least, *most)];
    /// An invalid time span.
    Duration { flag: &'static str, value: String };
        "{flag} wants a time like 500ms, 10s, 2m or 1h30m, at most 3650d, not '{value}'",
        "{flag} 的值 '{value}' 无效：应为 500ms、10s、2m、1h30m 这样的时间（最长 3650d）";
    /// A time span below its minimum.
    DurationTooShort { flag: &'static str, value: String, least: String };
        "{flag} wants at least {least}, not '{value}'",
        "{flag} 的值 '{value}' 太小：至少为 {least}";
    /// An invalid rate.
    Rate { flag: &'static str, value: String, most: u64 };
        "{flag} wants a rate like 5000, 100/m or 2.5/s, at most {} a second, not '{value}'" [grouped(*most)],
        "{flag} 的值 '{value}' 无效：应为 5000、100/m 或 2.5/s 这样的速率，每秒最多 {}" [grouped(*most)];
    /// An invalid list of stages.
    Stage { number: usize, value: String, reason: StageFault };
        "stages are TARGET:TIME,... like 0:30s,1000:1m,1000:2m; stage {number}, '{value}', is none: {reason}",
        "阶段应写成 目标:时间,...，如 0:30s,1000:1m,1000:2m；第 {number} 个阶段 '{value}' 不对：{}" [reason.chinese()];
    /// A rate that makes no start in its time.
    NoStarts { flag: &'static str };
        "{flag} makes no start in the time of the load; raise the rate or give it more time",
        "按 {flag} 的速率，在压测时间内一个请求都不会发起；请提高速率或延长时间";
    /// Two flags that exclude each other.
    Conflict { one: &'static str, other: &'static str, remedy: Remedy };
        "{one} and {other} cannot be given together; {remedy}",
        "{one} 和 {other} 不能同时使用；{}" [remedy.chinese()];
    /// A flag that has no effect without another.
    Needs { flag: &'static str, needed: Need };
        "{flag} needs {needed}",
        "{flag} {}" [needed.chinese()];
    /// Too many connections times streams.
    TooManyUsers { most: u64 };
        "-c times --streams is more than {most} users; lower one of them",
        "-c 乘以 --streams 超过 {most} 个用户；请调小其中一个";
    /// A warm-up without effect.
    ColdWarmup;
        "--warmup runs the load as it begins, and it begins with nothing; begin the stages with a jump like 100:0s",
        "--warmup 按压测开始时的负载预热，而此压测从零开始；请让各阶段以跳变开始，如 100:0s";
    /// A word that is none of a fixed set.
    Choice { flag: &'static str, value: String, choices: &'static str };
        "{flag} wants one of {choices}, not '{value}'",
        "{flag} 的值 '{value}' 无效；可选：{}" [listed(choices)];
    /// A gRPC URL without a method.
    GrpcPath { path: String };
        "'{path}' names no method; write it like grpc://host:port/package.Service/Method, and see what there is with: onrush grpc list grpc://host:port",
        "'{path}' 不是方法名；请写成 grpc://主机:端口/包名.服务/方法 的形式，可用 onrush grpc list grpc://主机:端口 查看有哪些";
    /// There is no server to query for services.
    NoGrpcUrl;
        "no URL given; try: onrush grpc list grpc://127.0.0.1:8080 (or: --proto FILE)",
        "没有给出 URL；例如：onrush grpc list grpc://127.0.0.1:8080（或：--proto FILE）";
    /// A URL that is not gRPC.
    NotGrpc { url: String };
        "'{url}' is not of gRPC; write it like grpc://host:port or grpcs://host:port",
        "'{url}' 不是 gRPC 地址；请写成 grpc://主机:端口 或 grpcs://主机:端口";
    /// An invalid `.proto` file.
    Proto { reason: String };
        "{reason}; look at this place of the .proto file, and at --import-path for files that it imports",
        "{reason}；请检查 .proto 文件的这个位置；它导入的文件可用 --import-path 指定目录";
    /// A `.proto` file in an unsupported edition.
    Edition { file: String };
        "'{file}' is written in an edition of Protobuf, and only proto2 and proto3 are understood; write syntax = \"proto3\", if it allows that",
        "'{file}' 使用了 Protobuf edition 语法，目前只支持 proto2 和 proto3；如果内容允许，请改为 syntax = \"proto3\"";
    /// An invalid descriptor set.
    Protoset { path: String, reason: String };
        "'{path}' is no set of descriptions ({reason}); write one with: protoc --include_imports --descriptor_set_out=FILE",
        "'{path}' 不是描述符集（{reason}）；请用 protoc --include_imports --descriptor_set_out=FILE 生成";
    /// Inconsistent descriptors.
    Described { reason: String };
        "the target describes its services wrongly ({reason}); give the .proto files with --proto",
        "服务端对自身服务的描述有误（{reason}）；请用 --proto 给出 .proto 文件";
    /// The service has no description.
    NoSchema { service: String };
        "nothing describes '{service}'; give its .proto file with --proto, or a set with --protoset",
        "没有 '{service}' 的定义；请用 --proto 给出 .proto 文件，或用 --protoset 给出描述符集";
    /// Unknown service.
    NoService { service: String, known: String };
        "there is no service '{service}'; there are: {known}",
        "没有服务 '{service}'；现有服务：{}" [listed(known)];
    /// Unknown method.
    NoMethod { service: String, method: String, known: String };
        "the service '{service}' has no method '{method}'; it has: {known}",
        "服务 '{service}' 没有方法 '{method}'；现有方法：{}" [listed(known)];
    /// Unknown symbol.
    NoSymbol { symbol: String, known: String };
        "nothing is called '{symbol}'; write the whole name with its package; the services are: {known}",
        "没有名为 '{symbol}' 的定义；请写带包名的全名；现有服务：{}" [listed(known)];
    /// JSON that does not fit a message.
    Json { message: String, source_words: String, line: usize, column: usize, reason: String };
        "-d does not fit the message {message}: line {line}, column {column}: {reason}; see its fields with: onrush grpc describe {source_words} {message}",
        "-d 与消息 {message} 不符：第 {line} 行第 {column} 列：{reason}；可用 onrush grpc describe {source_words} {message} 查看其字段";
    /// A message that is not text.
    DataNotText;
        "-d of a gRPC call is JSON, and this is no UTF-8 text; write bytes as base64 in a string",
        "gRPC 调用的 -d 是 JSON，但给出的不是 UTF-8 文本；字节请以 base64 字符串表示";
    /// Other than one message for a method that takes one.
    OneMessage { method: String, given: usize };
        "{method} takes one message, and -d has {given}; only a method with a stream of requests takes several",
        "{method} 只接收一条消息，-d 却有 {given} 条；只有以流方式接收消息的方法才能有多条";
    /// Too many messages for a call.
    TooManyMessages { most: usize };
        "-d has more than {most} messages for one call; make it shorter",
        "-d 中单次调用的消息超过 {most} 条；请减少";
    /// An invalid set of gRPC statuses.
    GrpcStatuses { value: String };
        "--expect-status wants statuses of gRPC like OK,NOT_FOUND or 0,5 here, not '{value}'",
        "此处 --expect-status 的值 '{value}' 无效：应为 OK,NOT_FOUND 或 0,5 这样的 gRPC 状态";
    /// An invalid list of statuses of a custom protocol.
    StatusWords { value: String };
        "--expect-status wants statuses like OK,NOT_FOUND here: words of letters, digits, - and _; not '{value}'",
        "此处 --expect-status 的值 '{value}' 无效：应为 OK,NOT_FOUND 这样的状态（由字母、数字、- 和 _ 组成）";
    /// A status that no response of a custom protocol has.
    NoStatus { value: String, title: &'static str, known: String };
        "'{value}' is no status of {title}; expect one of {known}",
        "'{value}' 不是 {title} 的状态；可用的状态有 {known}";
    /// The same of one that is near to one.
    NearStatus { value: String, title: &'static str, near: String };
        "'{value}' is no status of {title}; did you mean {near}?",
        "'{value}' 不是 {title} 的状态；是否想写 {near}？";
    /// A request that a hold never sends.
    RequestOfHold;
        "nothing is sent on held connections; leave the request out, or say when it is sent, as with --every 5s",
        "保持连接期间不发送任何内容；请去掉请求，或给出发送时机，如 --every 5s";
    /// What a custom protocol says of a request or a URL.
    Custom { en: String, zh: String };
        "{en}",
        "{zh}";
    /// A custom protocol that this program does not have.
    UnknownProtocol { name: String };
        "this onrush does not have the protocol '{name}'; use one that was built with it",
        "此 onrush 不含协议 '{name}'；请使用包含该协议的版本";
    /// A flag of a custom protocol, and the URL is of another.
    CustomFlag { flag: &'static str, scheme: &'static str };
        "--{flag} needs a URL that begins with {scheme}",
        "--{flag} 需要以 {scheme} 开头的 URL";
    /// An invalid set of statuses.
    Statuses { value: String };
        "--expect-status wants statuses and ranges like 200,300-399, not '{value}'",
        "--expect-status 的值 '{value}' 无效：应为 200,300-399 这样的状态码和范围";
}

impl From<UrlsFault> for PlanError {
    fn from(error: UrlsFault) -> Self {
        Self::Urls(error)
    }
}
