//! Error messages in both languages: cause and remedy.

mod closes;
mod config_error;
mod export_error;
mod failure_context;
mod failure_names;
mod feed_error;
mod grpc;
mod more;
mod plan_error;
mod reach;
mod run_error;
mod scenario;
mod secure;
mod silence;
mod snapshot_error;
mod system;
mod take_error;
mod threshold_error;
mod wide;

use driver::DriverSelection;
use std::net::SocketAddr;
use std::path::Path;

use engine::ResolveError;
use figures::{FailureCount, Held, Run};
use metrics::{Failure, ProtocolFault, TlsFault};

pub(crate) use closes::code_and_reason;
pub use config_error::{config_error, config_line};
pub(crate) use export_error::export_fault;
pub use export_error::{export_error, export_left_out};
pub(crate) use failure_context::FailureContext;
pub use feed_error::feed_error;
pub use grpc::reflect_error;
pub(crate) use more::{more, section};
pub use plan_error::plan_error;
pub use reach::strangers;
pub use run_error::run_error;
pub use scenario::{flag_fault, scenario_contents, scenario_mistakes};
pub use secure::tls_error;
pub use snapshot_error::snapshot_error;
pub use system::{Doing, in_chinese, system_fault};
pub(crate) use take_error::why_in_chinese;
pub use take_error::{not_taken, take_error};
pub use threshold_error::{threshold_error, threshold_fault};

use crate::Language;
use crate::format::{count, span};

/// Names in a Chinese sentence.
pub(crate) fn listed(names: &str) -> String {
    names.replace(", ", "、")
}

/// The name of a failure, with the detail that some have.
pub(crate) fn failure_name(failure: Failure) -> String {
    match failure.detail() {
        Some(detail) => format!("{} ({detail})", failure.name()),
        None => failure.name().to_owned(),
    }
}

/// The same for people who read Chinese: what it is called, and its name in brackets.
pub(crate) fn failure_called(failure: Failure, language: Language) -> String {
    let name = failure_name(failure);
    match language {
        Language::En => name,
        Language::Zh => format!("{}（{name}）", failure_names::chinese(failure)),
    }
}

/// The same of a name in a report.
pub(crate) fn reason_called(name: &str, language: Language) -> String {
    let plain = name.split(" (").next().unwrap_or_default();
    match Failure::all().find(|failure| failure.name() == plain) {
        Some(failure) if language == Language::Zh => format!("{}（{name}）", failure_names::chinese(failure)),
        _ => name.to_owned(),
    }
}

/// The same, with the HTTP status of a gRPC call that failed with it.
pub(crate) fn failure_in(failure: Failure, scene: &FailureContext<'_>, language: Language) -> String {
    let name = failure_name(failure);
    match call_status(failure, scene.is_grpc) {
        Some(status) if !matches!(failure, Failure::GrpcStatus(_)) => {
            language.pick(format!("{name}, counted as {status}"), format!("{name}，计为 {status}"))
        }
        _ => name,
    }
}

/// The HTTP status of a gRPC call that failed with it; `None` when it has a gRPC status, or no calls are made.
pub(crate) fn call_status_name(failure: Failure, run: &Run) -> Option<&'static str> {
    call_status(failure, run.is_grpc())
}

/// The most statuses that are named individually.
const STATUSES_NAMED_MAX: usize = 4;

/// A failure with its count. Statuses are counted separately, where that is known.
pub(crate) fn failure_counted(failure: &FailureCount, scene: &FailureContext<'_>, language: Language) -> String {
    let all = count(failure.count);
    let plain = || {
        let (name, called) = (failure_in(failure.failure, scene, language), failure_names::chinese(failure.failure));
        let gap = if called.starts_with(|first: char| first.is_ascii()) { " " } else { "" };
        language.pick(format!("{all} {name}"), format!("{all} 次{gap}{called}（{name}）"))
    };
    if failure.failure != Failure::Status {
        return plain();
    }
    let mut statuses = scene.failed_statuses.clone();
    // A redirect, or a status expected by one step only, makes it unclear which of them failed.
    if statuses.iter().map(|(_, count)| count).sum::<u64>() != failure.count {
        return plain();
    }
    statuses.sort_by_key(|&(status, count)| (std::cmp::Reverse(count), status));
    let rest: u64 = statuses.iter().skip(STATUSES_NAMED_MAX).map(|(_, count)| count).sum();
    let named = statuses.iter().take(STATUSES_NAMED_MAX);
    let mut parts: Vec<String> = named
        .map(|(status, number)| {
            let number = count(*number);
            language.pick(format!("{number} x HTTP {status}"), format!("{number} 个 HTTP {status}"))
        })
        .collect();
    if rest > 0 {
        let rest = count(rest);
        parts.push(language.pick(format!("{rest} x others"), format!("其他 {rest} 个")));
    }
    parts.join(language.pick(", ", "，"))
}

/// HTTP statuses that no step counts as a success.
fn failed_statuses(run: &Run) -> Vec<(u16, u64)> {
    let steps = || run.plan.scenarios.iter().flat_map(|scenario| &scenario.steps);
    if steps().any(|step| step.call.is_some()) {
        return Vec::new();
    }
    let is_success = |status: u16| steps().any(|step| step.talk.is_none() && step.checks.status.contains(status));
    run.tally.statuses.iter().copied().filter(|(status, _)| !is_success(*status)).collect()
}

fn call_status(failure: Failure, is_grpc: bool) -> Option<&'static str> {
    let status = engine::call_status(failure).filter(|_| is_grpc)?;
    Some(metrics::GRPC_STATUSES[status.index()])
}

/// ENOENT: the path does not exist.
const NO_SUCH_FILE: u16 = 2;

/// The target of the load.
pub(crate) fn place(run: &Run) -> String {
    let scenario = run.plan.scenarios.first();
    let unix = scenario.and_then(|scenario| scenario.targets.first()).and_then(|target| target.unix.as_deref());
    place_of(run.address, unix)
}

/// The target of a hold.
pub(crate) fn place_held(held: &Held) -> String {
    place_of(held.address, held.plan.target.unix.as_deref())
}

fn place_of(address: SocketAddr, unix: Option<&Path>) -> String {
    unix.map_or_else(|| address.to_string(), |path| format!("unix:{}", path.display()))
}

/// The reason why a connection was not established, in brackets. Where the remedy names the error, its number is
/// omitted.
pub(crate) fn failure_in_brackets(failure: Failure, language: Language) -> String {
    match failure {
        Failure::Os(_) => String::new(),
        _ => language.pick(format!(" ({})", failure_name(failure)), format!("（{}）", failure_name(failure))),
    }
}

/// The remedy of a failure for the user.
pub fn failure_remedy(failure: Failure, run: &Run, language: Language) -> String {
    remedy_in(failure, &FailureContext::of_failure(run, failure), language)
}

/// The remedy of a failure at this host.
pub(crate) fn remedy_at(failure: Failure, place: &str, run: &Run, language: Language) -> String {
    let scene = FailureContext::of_failure(run, failure);
    // For a single target the address says more than its name.
    let place = Some(place).filter(|place| scene.address.is_none() && !place.is_empty());
    remedy_in(failure, &FailureContext { place, ..scene }, language)
}

/// The same, in given circumstances.
pub(crate) fn remedy_in(failure: Failure, scene: &FailureContext<'_>, language: Language) -> String {
    // Some servers close without an alert, or with an unspecific one.
    let may_be_for_want_of_one = matches!(
        failure,
        Failure::Status
            | Failure::CallHttp(_)
            | Failure::Reset
            | Failure::ClosedEarly
            | Failure::Tls(TlsFault::ClosedEarly | TlsFault::Alert | TlsFault::ClientCertificate)
    );
    if scene.lacked_certificate && may_be_for_want_of_one {
        return language.pick(
            "the server asked for a client certificate, but none was given; give one that it accepts with --cert FILE --key FILE".to_owned(),
            "服务端要求客户端证书，但没有给出；请用 --cert FILE --key FILE 给出它认可的证书".to_owned(),
        );
    }
    remedy(failure, scene, language)
}

fn remedy(failure: Failure, scene: &FailureContext<'_>, language: Language) -> String {
    let step = scene.step;
    let address = scene.where_met(failure, language);
    let connect_limit = step.map_or(String::new(), |step| span(step.connect_timeout));
    let pick = |en: String, zh: String| language.pick(en, zh);
    match failure {
        Failure::Unreachable => pick(
            format!("no route to {address}; check the address and the network"),
            format!("没有到 {address} 的路由；请检查地址和网络"),
        ),
        Failure::NoConsent => reach::no_consent(&address, language),
        Failure::Permission if scene.unix.is_some() => pick(
            format!("this user may not connect to {address}; check who may write to the socket and enter its folder"),
            format!("当前用户无权连接 {address}；请检查该套接字的写权限和所在目录的访问权限"),
        ),
        Failure::Permission => pick(
            "this machine does not permit the connection; check its firewall and security policy".to_owned(),
            "本机不允许发起该连接；请检查防火墙和安全策略".to_owned(),
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
        Failure::NoFirstAnswer if scene.is_talk() => pick(
            format!("the connection to {address} was established, but the WebSocket handshake had no answer within {connect_limit}; check that the path is one of WebSocket and that the server is not overloaded, or raise --connect-timeout"),
            format!("到 {address} 的连接已建立，但 WebSocket 握手在 {connect_limit} 内没有收到响应；请确认该路径是 WebSocket 服务且服务端没有过载，或调大 --connect-timeout"),
        ),
        Failure::NoFirstAnswer => pick(
            format!("the connection to {address} was established, but the first request on it had no answer within {connect_limit}; check which protocol the port speaks and whether the server is overloaded, or raise --connect-timeout"),
            format!("到 {address} 的连接已建立，但首个请求在 {connect_limit} 内没有收到响应；请检查该端口的协议以及服务端是否过载，或调大 --connect-timeout"),
        ),
        Failure::NoLocalPort => {
            let ports = scene.local_ports.map_or(String::new(), |(first, last)| {
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
        Failure::ClosedEarly if scene.is_held && scene.was_answered_and_closed() => pick(
            "the server answered and closed the connection (as with 'Connection: close'), so none could be held; turn on keep-alive there, or hold another path".to_owned(),
            "服务端响应后就关闭了连接（如带有 Connection: close），因此无法保持；请在服务端启用长连接，或换一个路径".to_owned(),
        ),
        Failure::ClosedEarly if scene.is_held => pick(
            "the server closed the connection; look at its log, its limits, and how it treats idle connections".to_owned(),
            "服务端关闭了连接；请查看其日志、各项上限，以及它对空闲连接的处理".to_owned(),
        ),
        Failure::ClosedEarly => pick(
            "the server closed before the answer was complete; look at its log, its limits, and whether it closes connections while requests arrive".to_owned(),
            "服务端在响应完成前关闭了连接；请查看服务端日志、各项上限，以及它是否在请求到达时关闭连接".to_owned(),
        ),
        Failure::Timeout => silence::timeout(scene, language),
        Failure::Protocol(fault) => protocol(fault, language),
        Failure::Tls(fault) => secure::tls(fault, &address, scene.refused, &connect_limit, language),
        Failure::WebSocketClose(code) => closes::remedy(code, scene, language),
        Failure::StreamReset(_) => pick(
            "the server reset the stream with this HTTP/2 error code; look at its log and its limits".to_owned(),
            "服务端以该 HTTP/2 错误码终止了流；请查看其日志和各项上限".to_owned(),
        ),
        Failure::Goaway => pick(
            "the server refused new requests on 16 connections in a row (GOAWAY) and did not process these; raise its limit of requests per connection".to_owned(),
            "服务端在连续 16 个连接上都拒绝了新请求（GOAWAY），这些请求未被处理；请调大服务端单个连接的请求数上限".to_owned(),
        ),
        Failure::GrpcStatus(status) => grpc::status(status, scene, language),
        Failure::CallHttp(_) => pick(
            "the answer has this HTTP status and no grpc-status: it may come from a proxy in front of the gRPC server; look at its log".to_owned(),
            "响应是该 HTTP 状态码，且没有 grpc-status：响应的可能是 gRPC 服务前面的代理；请查看其日志".to_owned(),
        ),
        Failure::Status if scene.is_talk() => pick(
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
        Failure::Dns => pick(
            format!("a redirect leads to a host that cannot be resolved ({address}); see how it got there with --show-failures"),
            format!("重定向指向一个无法解析的主机（{address}）；可用 --show-failures 查看经过"),
        ),
        Failure::Redirect => pick(
            "redirects form a loop, or lead to an address that cannot be loaded; see how it got there with --show-failures, or raise --max-redirs".to_owned(),
            "重定向形成循环，或指向无法跟随的地址；可用 --show-failures 查看经过，或调大 --max-redirs".to_owned(),
        ),
        Failure::Os(NO_SUCH_FILE) if scene.unix.is_some() => pick(
            format!("there is no socket {address}; start the server, or check the path of --unix-socket"),
            format!("没有套接字 {address}；请启动服务，或检查 --unix-socket 的路径"),
        ),
        Failure::Os(errno) => {
            let reason = std::io::Error::from_raw_os_error(i32::from(errno));
            pick(format!("the system says: {reason}"), in_chinese(&format!("系统返回：{reason}")))
        }
    }
}

fn protocol(fault: ProtocolFault, language: Language) -> String {
    let (en, zh) = match fault {
        fault if secure::http2(fault).is_some() => secure::http2(fault).unwrap_or_default(),
        fault if grpc::fault(fault).is_some() => grpc::fault(fault).unwrap_or_default(),
        ProtocolFault::StartLine => (
            "the answer is not HTTP/1.x; check that the port speaks plain HTTP",
            "响应不是 HTTP/1.x；请确认该端口提供的是明文 HTTP",
        ),
        ProtocolFault::Tls => (
            "the port speaks TLS, and was asked without it; write https:// (wss://, grpcs://)",
            "该端口使用 TLS，而请求没有加密；请写 https://（wss://、grpcs://）",
        ),
        ProtocolFault::Header => ("a header field of the answer is malformed", "响应头格式错误"),
        ProtocolFault::HeadTooLarge => ("the head of the answer is larger than 64 KiB", "响应头超过 64 KiB"),
        ProtocolFault::TooManyHeaders => ("the answer has more than 128 header fields", "响应头超过 128 个字段"),
        ProtocolFault::ContentLength => {
            ("Content-Length of the answer is not one number", "响应的 Content-Length 不是唯一的数字")
        }
        ProtocolFault::AmbiguousLength => (
            "the answer has Content-Length and Transfer-Encoding at once",
            "响应同时带有 Content-Length 和 Transfer-Encoding",
        ),
        ProtocolFault::TransferEncoding => {
            ("Transfer-Encoding of the answer is not usable", "响应的 Transfer-Encoding 无法使用")
        }
        ProtocolFault::ChunkSize => ("a chunk size of the answer is malformed", "响应的分块长度格式错误"),
        ProtocolFault::ChunkLineTooLong => {
            ("a chunk-size line of the answer is longer than 4 KiB", "响应的分块长度行超过 4 KiB")
        }
        ProtocolFault::ChunkEnd => {
            ("a chunk of the answer does not end where its size says", "响应的分块没有在其长度处结束")
        }
        ProtocolFault::Trailer => ("a trailer field of the answer is malformed", "响应的 trailer 格式错误"),
        ProtocolFault::UnexpectedUpgrade => {
            ("the server switched protocols without being asked", "服务端未经请求就切换了协议")
        }
        ProtocolFault::TooManyInterim => {
            ("the server sent more than 32 interim (1xx) answers", "服务端发送了超过 32 个 1xx 临时响应")
        }
        ProtocolFault::Unsolicited => {
            ("the server sent bytes that belong to no request", "服务端发送了不属于任何请求的数据")
        }
        ProtocolFault::Handshake => {
            ("the server's answer to the WebSocket handshake is not valid", "服务端对 WebSocket 握手的响应无效")
        }
        ProtocolFault::WebSocketFrame => {
            ("the server sent a malformed WebSocket frame", "服务端发送了格式错误的 WebSocket 帧")
        }
        ProtocolFault::WebSocketText => ("a text message of the server is not UTF-8", "服务端的文本消息不是 UTF-8"),
        ProtocolFault::WebSocketDeflate => {
            ("a compressed message of the server cannot be taken apart", "服务端的压缩消息无法解压")
        }
        ProtocolFault::MessageTooLarge => ("a message of the server is larger than 1 GiB", "服务端的消息超过 1 GiB"),
        ProtocolFault::WebSocketFlood => (
            "the server sent 10000 frames in a row that carry nothing, or pings whose answers it did not read",
            "服务端连续发送了 10000 个无实际内容的帧，或不断发送 ping 却不读取响应",
        ),
        ProtocolFault::AnswerLength => (
            "the length before an answer is larger than 1 GiB; check --length-prefix",
            "响应前的长度超过 1 GiB；请检查 --length-prefix",
        ),
        _ => ("the server broke the protocol", "服务端违反了协议"),
    };
    let look = match grpc::fault(fault) {
        Some(_) => {
            language.pick("look at what it sends, for example with grpcurl", "可用 grpcurl 查看服务端实际发送的内容")
        }
        None => language
            .pick("look at what the server sends, for example with curl -v", "可用 curl -v 查看服务端实际发送的内容"),
    };
    format!("{}{}{look}", language.pick(en, zh), language.pick("; ", "；"))
}

/// The reason for the selected driver.
pub(crate) fn driver_reason(chosen: &DriverSelection, language: Language) -> String {
    match (&chosen.refusal, chosen.was_requested) {
        (Some(refusal), _) => language
            .pick(format!("io_uring is not available: {refusal}"), in_chinese(&format!("io_uring 不可用：{refusal}"))),
        (None, true) => language.pick("as requested", "按 --driver 指定").to_owned(),
        (None, false) => language.pick("the kernel has io_uring", "内核支持 io_uring").to_owned(),
    }
}

/// The error that io_uring was requested explicitly, and the system refuses it.
pub fn driver_error(error: &std::io::Error, language: Language) -> String {
    language.pick(
        format!("--driver uring does not work here: {error}; use --driver poll, or allow io_uring (seccomp, kernel.io_uring_disabled)"),
        in_chinese(&format!("此处无法使用 --driver uring：{error}；请用 --driver poll，或放开 io_uring（seccomp、kernel.io_uring_disabled）")),
    )
}

/// A name resolution error.
pub fn resolve_error(error: &ResolveError, language: Language) -> String {
    match (language, error) {
        (Language::En, error) => error.to_string(),
        (Language::Zh, ResolveError::Unknown { host }) => format!("找不到主机 '{host}'；请检查拼写，或直接写 IP 地址"),
        (Language::Zh, ResolveError::NoZone { address }) => {
            format!("{address} 是链路本地地址，须带上网络接口：[{address}%25eth0]；用 ip link 查看")
        }
        (Language::Zh, ResolveError::Zone { zone }) => format!("本机没有网络接口 '{zone}'；用 ip link 查看"),
        (Language::Zh, ResolveError::Consent { strangers }) => reach::refusal_in_chinese(strangers),
        (Language::Zh, ResolveError::Lookup { host, reason }) => {
            in_chinese(&format!("无法解析主机 '{host}'：{reason}；请检查 /etc/resolv.conf，或直接写 IP 地址"))
        }
    }
}
