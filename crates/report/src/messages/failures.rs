//! What each failure is called in Chinese, and its cause and remedy in both languages.

use metrics::{Failure, ProtocolFault};

use super::{FailureContext, closes, custom, grpc, in_chinese, proxy, reach, secure, silence};
use crate::format::span;
use crate::{Language, texts};

/// ENOENT: the path does not exist.
const NO_SUCH_FILE: u16 = 2;

/// The Chinese name, beside the name that reports, metrics and thresholds have.
pub(super) fn chinese(failure: Failure) -> &'static str {
    match failure {
        Failure::Unreachable => "主机不可达",
        Failure::Permission => "没有权限",
        Failure::NoConsent => "未获授权",
        Failure::ConnectRefused => "连接被拒绝",
        Failure::ConnectTimeout => "建立连接超时",
        Failure::NoLocalPort => "本地端口耗尽",
        Failure::NoDescriptor => "文件描述符耗尽",
        Failure::Reset => "连接被重置",
        Failure::ClosedEarly => "响应前连接被关闭",
        Failure::Timeout => "超时",
        Failure::Protocol(_) | Failure::Custom(_) => "协议错误",
        Failure::Tls(_) => "TLS 失败",
        Failure::StreamReset(_) => "流被重置",
        Failure::Goaway => "服务端拒绝新请求",
        Failure::GrpcStatus(_) => "gRPC 状态不符",
        Failure::Status | Failure::CallHttp(_) => "状态码不符",
        Failure::BodyLimit => "响应体过大",
        Failure::Check | Failure::TimeCheck | Failure::SizeCheck => "断言失败",
        Failure::Dns => "域名解析失败",
        Failure::Redirect => "重定向失败",
        Failure::NotTaken => "提取失败",
        Failure::NotFilled => "请求无法生成",
        Failure::LoopLimit => "循环次数超限",
        Failure::CheckFailed => "检查未通过",
        Failure::NotRecorded => "自定义指标的值无效",
        Failure::WebSocketClose(_) => "WebSocket 被关闭",
        Failure::NoFirstAnswer => "首个请求没有响应",
        Failure::ProxyRefused => "代理拒绝",
        Failure::ProxyLogin => "代理认证失败",
        Failure::ProxyTimeout => "代理超时",
        Failure::ProxyClosed => "代理关闭连接",
        Failure::ProxyAnswer => "代理响应无效",
        Failure::Os(_) => "系统错误",
    }
}

/// What the user can do about it.
#[expect(clippy::too_many_lines, reason = "a table: one arm for each failure")]
pub(super) fn remedy(failure: Failure, context: &FailureContext<'_>, language: Language) -> String {
    let step = context.step;
    let address = context.where_met(failure, language);
    let connect_limit = step.map_or(String::new(), |step| span(step.connect_timeout));
    let pick = |en: String, zh: String| language.pick(en, zh);
    match failure {
        Failure::Unreachable => pick(
            format!("no route to {address}; check the address and the network"),
            format!("没有到 {address} 的路由；请检查地址和网络"),
        ),
        Failure::NoConsent => reach::no_consent(&address, language),
        Failure::Permission if context.unix.is_some() => pick(
            format!("this user may not connect to {address}; check who may write to the socket and enter its folder"),
            format!("当前用户无权连接 {address}；请检查该套接字的写权限和所在目录的访问权限"),
        ),
        Failure::Permission => pick(
            "this machine does not permit the connection; check its firewall and security policy".to_owned(),
            "本机不允许发起该连接；请检查防火墙和安全策略".to_owned(),
        ),
        Failure::ConnectRefused | Failure::ConnectTimeout if context.is_over_tcp(failure) => pick(
            format!("the response did not fit into a datagram, and TCP to {address} is not possible; open that port for TCP, or offer a larger size (EDNS)"),
            format!("响应超出数据报大小，但无法以 TCP 连接 {address}；请开放该端口的 TCP，或声明更大的可接收大小（EDNS）"),
        ),
        Failure::ConnectRefused => pick(
            format!("nobody listens on {address}; start the server or check the port"),
            format!("{address} 上没有服务在监听；请启动服务或检查端口"),
        ),
        Failure::ConnectTimeout => {
            let limit = &connect_limit;
            pick(
                format!(
                    "no connection within {limit}; check firewalls and the server's accept queue, or raise --connect-timeout"
                ),
                format!("{limit} 内未能建立连接；请检查防火墙和服务端的 accept 队列，或调大 --connect-timeout"),
            )
        }
        Failure::NoFirstAnswer if context.is_messaging() => pick(
            format!("the connection to {address} was established, but the WebSocket handshake had no answer within {connect_limit}; check that the path is one of WebSocket and that the server is not overloaded, or raise --connect-timeout"),
            format!("到 {address} 的连接已建立，但 WebSocket 握手在 {connect_limit} 内没有收到响应；请确认该路径是 WebSocket 服务且服务端没有过载，或调大 --connect-timeout"),
        ),
        Failure::NoFirstAnswer => pick(
            format!("the connection to {address} was established, but the first request on it had no answer within {connect_limit}; check which protocol the port speaks and whether the server is overloaded, or raise --connect-timeout"),
            format!("到 {address} 的连接已建立，但首个请求在 {connect_limit} 内没有收到响应；请检查该端口的协议以及服务端是否过载，或调大 --connect-timeout"),
        ),
        Failure::NoLocalPort => {
            let ports = context.local_ports.map_or(String::new(), |(first, last)| {
                let number = u32::from(last.saturating_sub(first)) + 1;
                language.pick(format!(" (there are {number})"), format!("（共 {number} 个）"))
            });
            pick(
                format!(
                    "all local ports to {address} are in use{ports}; keep connections alive, use fewer, come from more addresses (--source-ip), or widen them: sysctl -w net.ipv4.ip_local_port_range='1024 65535'"
                ),
                format!(
                    "到 {address} 的本地端口已用完{ports}；请使用长连接、减少连接数、使用更多本机地址（--source-ip），或扩大端口范围：sysctl -w net.ipv4.ip_local_port_range='1024 65535'"
                ),
            )
        }
        Failure::NoDescriptor => pick(
            "this process cannot open more file descriptors; raise the limit with ulimit -n, or lower -c".to_owned(),
            "本进程可打开的文件描述符已用完；请用 ulimit -n 调大上限，或调小 -c".to_owned(),
        ),
        Failure::Reset => pick(
            "the server reset the connection; look at its log, its limits, and whether it closes connections while requests arrive".to_owned(),
            "连接被服务端重置；请查看服务端日志、各项上限，以及它是否在请求到达时关闭连接".to_owned(),
        ),
        Failure::ClosedEarly if context.is_held && context.was_answered_and_closed() => pick(
            "the server answered and closed the connection (as with 'Connection: close'), so none could be held; turn on keep-alive there, or hold another path".to_owned(),
            "服务端响应后就关闭了连接（如带有 Connection: close），因此无法保持；请在服务端启用长连接，或换一个路径".to_owned(),
        ),
        Failure::ClosedEarly if context.is_held => pick(
            "the server closed the connection; look at its log, its limits, and how it treats idle connections".to_owned(),
            "服务端关闭了连接；请查看其日志、各项上限，以及它对空闲连接的处理".to_owned(),
        ),
        Failure::ClosedEarly => pick(
            "the server closed before the answer was complete; look at its log, its limits, and whether it closes connections while requests arrive".to_owned(),
            "服务端在响应完成前关闭了连接；请查看服务端日志、各项上限，以及它是否在请求到达时关闭连接".to_owned(),
        ),
        Failure::ProxyRefused
        | Failure::ProxyLogin
        | Failure::ProxyTimeout
        | Failure::ProxyClosed
        | Failure::ProxyAnswer => proxy::remedy(failure, &address, &connect_limit, language),
        Failure::Timeout => silence::timeout(context, language),
        Failure::Protocol(fault) => protocol(fault, language),
        Failure::Tls(fault) => secure::tls(fault, &address, context.refused, &connect_limit, language),
        Failure::WebSocketClose(code) => closes::remedy(code, context, language),
        Failure::StreamReset(_) => pick(
            "the server reset the stream with this HTTP/2 error code; look at its log and its limits".to_owned(),
            "服务端以该 HTTP/2 错误码终止了流；请查看其日志和各项上限".to_owned(),
        ),
        Failure::Goaway => pick(
            "the server refused new requests on 16 connections in a row (GOAWAY) and did not process these; raise its limit of requests per connection".to_owned(),
            "服务端在连续 16 个连接上都拒绝了新请求（GOAWAY），这些请求未被处理；请调大服务端单个连接的请求数上限".to_owned(),
        ),
        Failure::GrpcStatus(status) => grpc::status(status, context, language),
        Failure::CallHttp(_) => pick(
            "the answer has this HTTP status and no grpc-status: it may come from a proxy in front of the gRPC server; look at its log".to_owned(),
            "响应只有 HTTP 状态码，没有 grpc-status：可能来自 gRPC 服务前面的代理；请查看其日志".to_owned(),
        ),
        Failure::Custom(number) => custom::remedy(number, language),
        Failure::Status if context.is_messaging() && !context.has_status_words => pick(
            "the server does not switch to WebSocket: its status is not 101; check the path and the headers (-H)".to_owned(),
            "服务端没有切换到 WebSocket：状态码不是 101；请检查路径和请求头（-H）".to_owned(),
        ),
        Failure::Status => pick(
            "the status is not a success; look at the server's log, or set which count as success with --expect-status (in a file: expect: {status: ...})".to_owned(),
            "状态码不在成功范围内；请查看服务端日志，或用 --expect-status（文件中为 expect: {status: ...}）指定哪些状态码算成功".to_owned(),
        ),
        Failure::BodyLimit => pick(
            format!(
                "the body is larger than {} bytes, the maximum for a check, or takes too much memory together with others on its connection or as JSON; see which with --show-failures, and lower --streams if many run at a time",
                plan::CHECKED_BODY_BYTES_MAX
            ),
            format!(
                "响应体超过断言可检查的 {} 字节，或与同一连接上的其他响应合计、或解析为 JSON 时占用内存过多；可用 --show-failures 查看是哪一种，并发流多时请调小 --streams",
                plan::CHECKED_BODY_BYTES_MAX
            ),
        ),
        Failure::Check => pick(
            "the answer does not meet --expect-body, --expect-header or --expect-json; see it with --show-failures".to_owned(),
            "响应不符合 --expect-body、--expect-header 或 --expect-json 的要求；可用 --show-failures 查看".to_owned(),
        ),
        Failure::NotTaken => pick(
            "a value that the user needs later is not in the answer; see it with --show-failures, or give the extraction a default".to_owned(),
            "响应中没有后续步骤需要的值；可用 --show-failures 查看，或为该提取设置 default".to_owned(),
        ),
        Failure::NotFilled => pick(
            "a value that the request needs cannot be had, or cannot stand in a header; see why with --show-failures".to_owned(),
            "请求需要的值无法取得，或不能放在请求头中；可用 --show-failures 查看原因".to_owned(),
        ),
        Failure::TimeCheck => pick(
            "a complete answer took longer, or less, than the check on its time allows; see how long with --show-failures".to_owned(),
            "响应完整，但耗时不符合要求；可用 --show-failures 查看耗时".to_owned(),
        ),
        Failure::SizeCheck => pick(
            "a complete answer is larger, or smaller, than the check on its size allows; see its size with --show-failures".to_owned(),
            "响应完整，但大小不符合要求；可用 --show-failures 查看大小".to_owned(),
        ),
        Failure::LoopLimit => pick(
            "a loop went round as often as it may, and its condition did not end it; raise `max_rounds`, or look at what the condition waits for".to_owned(),
            "循环次数达到上限，条件仍未满足；请调大 max_rounds，或检查条件所等待的内容".to_owned(),
        ),
        Failure::CheckFailed => pick(
            "the condition of a `check` in the scenario was not true; look at the values that it compares, and at the steps that set them".to_owned(),
            "场景中 check 的条件不成立；请检查它比较的值，以及设置这些值的步骤".to_owned(),
        ),
        Failure::NotRecorded => pick(
            "a `record` step got what is no value of its figure: text or nothing where a number belongs, or a number out of range; see which with --show-failures".to_owned(),
            "record 步骤得到的不是该指标的有效值：应为数字却是文本或空值，或数字超出范围；可用 --show-failures 查看是哪个值".to_owned(),
        ),
        Failure::Dns => pick(
            format!("a redirect leads to a host that cannot be resolved ({address}); see how it got there with --show-failures"),
            format!("重定向指向一个无法解析的主机（{address}）；可用 --show-failures 查看经过"),
        ),
        Failure::Redirect => pick(
            "redirects form a loop, or lead to an address that cannot be loaded; see how it got there with --show-failures, or raise --max-redirs".to_owned(),
            "重定向形成循环，或指向无法跟随的地址；可用 --show-failures 查看经过，或调大 --max-redirs".to_owned(),
        ),
        Failure::Os(NO_SUCH_FILE) if context.unix.is_some() => pick(
            format!("there is no socket {address}; start the server, or check the path of --unix-socket"),
            format!("没有套接字 {address}；请启动服务，或检查 --unix-socket 的路径"),
        ),
        Failure::Os(errno) => {
            let reason = std::io::Error::from_raw_os_error(i32::from(errno));
            pick(format!("the system says: {reason}"), in_chinese(&format!("系统返回：{reason}")))
        }
    }
}

texts! {
    /// What is wrong with a fault that is neither of HTTP/2 nor of gRPC.
    fn fault(fault: ProtocolFault) of fault, else ("the server broke the protocol", "服务端违反了协议");
    ProtocolFault::StartLine =>
        "the answer is not HTTP/1.x; check that the port speaks plain HTTP",
        "响应不是 HTTP/1.x；请确认该端口提供的是明文 HTTP";
    ProtocolFault::Tls =>
        "the port speaks TLS, and was asked without it; write https:// (wss://, grpcs://)",
        "该端口使用 TLS，而请求没有加密；请写 https://（wss://、grpcs://）";
    ProtocolFault::Header => "a header field of the answer is malformed", "响应头格式错误";
    ProtocolFault::HeadTooLarge => "the head of the answer is larger than 64 KiB", "响应头超过 64 KiB";
    ProtocolFault::TooManyHeaders => "the answer has more than 128 header fields", "响应头超过 128 个字段";
    ProtocolFault::ContentLength =>
        "Content-Length of the answer is not one number",
        "响应的 Content-Length 不是唯一的数字";
    ProtocolFault::AmbiguousLength =>
        "the answer has Content-Length and Transfer-Encoding at once",
        "响应同时带有 Content-Length 和 Transfer-Encoding";
    ProtocolFault::TransferEncoding =>
        "Transfer-Encoding of the answer is not usable",
        "响应的 Transfer-Encoding 无法使用";
    ProtocolFault::ChunkSize => "a chunk size of the answer is malformed", "响应的分块长度格式错误";
    ProtocolFault::ChunkLineTooLong =>
        "a chunk-size line of the answer is longer than 4 KiB",
        "响应的分块长度行超过 4 KiB";
    ProtocolFault::ChunkEnd =>
        "a chunk of the answer does not end where its size says",
        "响应的分块没有在其长度处结束";
    ProtocolFault::Trailer => "a trailer field of the answer is malformed", "响应的 trailer 格式错误";
    ProtocolFault::UnexpectedUpgrade =>
        "the server switched protocols without being asked",
        "服务端未经请求就切换了协议";
    ProtocolFault::TooManyInterim =>
        "the server sent more than 32 interim (1xx) answers",
        "服务端发送了超过 32 个 1xx 临时响应";
    ProtocolFault::Unsolicited =>
        "the server sent bytes that belong to no request",
        "服务端发送了不属于任何请求的数据";
    ProtocolFault::Handshake =>
        "the server's answer to the WebSocket handshake is not valid",
        "服务端对 WebSocket 握手的响应无效";
    ProtocolFault::WebSocketFrame =>
        "the server sent a malformed WebSocket frame",
        "服务端发送了格式错误的 WebSocket 帧";
    ProtocolFault::WebSocketText => "a text message of the server is not UTF-8", "服务端的文本消息不是 UTF-8";
    ProtocolFault::WebSocketDeflate =>
        "a compressed message of the server cannot be taken apart",
        "服务端的压缩消息无法解压";
    ProtocolFault::MessageTooLarge => "a message of the server is larger than 1 GiB", "服务端的消息超过 1 GiB";
    ProtocolFault::WebSocketFlood =>
        "the server sent 10000 frames in a row that carry nothing, or pings whose answers it did not read",
        "服务端连续发送了 10000 个无实际内容的帧，或不断发送 ping 却不读取响应";
    ProtocolFault::AnswerLength =>
        "the length before an answer is larger than 1 GiB; check --length-prefix",
        "响应前的长度超过 1 GiB；请检查 --length-prefix";
}

fn protocol(broken: ProtocolFault, language: Language) -> String {
    let of_grpc = grpc::fault(broken);
    let (en, zh) = secure::http2(broken).or(of_grpc).unwrap_or_else(|| fault(broken));
    let look = match of_grpc {
        Some(_) => {
            language.pick("look at what it sends, for example with grpcurl", "可用 grpcurl 查看服务端实际发送的内容")
        }
        None => language
            .pick("look at what the server sends, for example with curl -v", "可用 curl -v 查看服务端实际发送的内容"),
    };
    format!("{}{}{look}", language.pick(en, zh), language.pick("; ", "；"))
}
