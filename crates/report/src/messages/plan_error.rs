//! Errors of a plan, in both languages.

use plan::{CurlFault, DataIs, Need, PlanError, Remedy, StageFault, UrlsFault};

use super::listed;
use super::wide::{plain_of, wide};
use super::{Doing, system_fault};
use crate::Language;
use crate::format::count;

/// An error in the user's input, with masked secrets.
pub fn plan_error(error: &PlanError, language: Language) -> String {
    let error = error.clone().without_secrets();
    let text = said(&error, language);
    let text = if language == Language::Zh { super::in_chinese(&text) } else { text };
    text + &wide_in(&error.to_string(), language)
}

/// Full-width characters of a Chinese input method are hard to tell from the meant ones: they are named. Nothing else
/// in English is as wide.
pub(super) fn wide_in(english: &str, language: Language) -> String {
    let is_meant = |plain: char| plain.is_ascii_alphanumeric() || "-:/.%=@_<>".contains(plain);
    let is_plain = |place: usize| {
        english[..place].chars().next_back().is_some_and(|each| each.is_ascii_alphanumeric() || each == '%')
    };
    // A comma between words of a text is correct; between numbers and names it is wrong.
    let is_wrong =
        |(place, each): &(usize, char)| plain_of(*each).is_some_and(|it| is_meant(it) || it == ',' && is_plain(*place));
    let found = english.char_indices().find(is_wrong);
    found.and_then(|(_, each)| wide(each, language)).unwrap_or_default()
}

fn share(flag: &str, value: &str) -> String {
    format!("{flag} 的值 '{value}' 无效：应为 1% 或 0.01 这样的比例，最小 0.0001%")
}

fn budget(value: &str) -> String {
    format!(
        "--budget 的值 '{value}' 无效：应由 requests=数量、bytes=字节数、time=时长 组成，如 requests=1M,bytes=10GiB,time=10m"
    )
}

fn of_handshake(header: &str) -> String {
    format!("请求头 '{header}' 属于 WebSocket 握手；请去掉，onrush 会自动填写")
}

fn said(error: &PlanError, language: Language) -> String {
    if language == Language::En {
        return error.to_string();
    }
    match error {
        PlanError::NoUrl => "没有给出 URL；例如：onrush http://127.0.0.1:8080/（或：onrush demo）".to_owned(),
        PlanError::Url { url, reason } => {
            format!("'{url}' 不是有效的 URL（{reason}）；请写成 http://127.0.0.1:8080/path 的形式")
        }
        PlanError::Scheme { url, scheme } => {
            format!(
                "'{url}' 的协议 '{scheme}' 无法识别；请使用 http://、https://、ws://、wss://、tcp://、grpc:// 或 grpcs://"
            )
        }
        PlanError::TcpUrl { url } => format!("'{url}' 不是 TCP 地址；请写成 tcp://127.0.0.1:9000 的形式"),
        PlanError::NoHoldUrl => "没有给出 URL；例如：onrush hold -c 10000 ws://127.0.0.1:8080/".to_owned(),
        PlanError::Budget { value } => budget(value),
        PlanError::Share { flag, value } => share(flag, value),
        PlanError::HoldScheme { url } => format!(
            "'{url}' 的连接由 HTTP/2 共用；hold 支持 ws://、wss://、tcp://，以及使用 HTTP/1.1 的 http:// 和 https://"
        ),
        PlanError::HeaderOfHandshake { header } => of_handshake(header),
        PlanError::NothingToSend => {
            "没有要发送的内容；请用 -d 或 --data-bytes 给出消息（或：onrush hold --receive-only）".to_owned()
        }
        PlanError::NoAnswerEnd => {
            "没有说明响应到哪里结束；请加上 --until '\\n'、--read-bytes N、--length-prefix 4 或 --no-response"
                .to_owned()
        }
        PlanError::Until { value, most } => {
            format!("--until 的值 '{value}' 无效：应为 1 到 {most} 个字节，如 '\\n' 或 '\\x00'")
        }
        PlanError::Hex { value } => format!("-d hex: 的值 '{value}' 无效：应为成对的十六进制数字，如 'hex:0a ff'"),
        PlanError::TextNotUtf8 => "--ws-type text 需要 UTF-8 文本，而 -d 不是；请改用 --ws-type binary".to_owned(),
        PlanError::PingTooLarge { most } => format!("ping 最多携带 {most} 字节；请缩短 -d，或使用 --ws-type text"),
        PlanError::Sources { value } => {
            format!("--source-ip 的值 '{value}' 无效：应为 10.0.0.2,10.0.1.2-10.0.1.9,10.0.2.0/24 这样的地址或 auto")
        }
        PlanError::Places { value } => {
            format!("--connect-addresses 的值 '{value}' 无效：应为 10.0.0.1:8001-8016,:8080 这样的地址和端口")
        }
        PlanError::TooManyPlaces { flag, most } => format!("{flag} 给出的地址超过 {most} 个；请减少"),
        PlanError::Credentials { url } => {
            format!("'{url}' 中带有用户名或密码；请改用 -u 用户名:密码 或 -H 'Authorization: ...' 发送")
        }
        PlanError::HeaderColon { header } => format!("请求头 '{header}' 缺少冒号；请写成 -H 'Name: value' 的形式"),
        PlanError::HeaderName { header } => {
            format!("请求头 '{header}' 的冒号前不是合法的名称；请写成 -H 'Name: value' 的形式")
        }
        PlanError::HeaderValue { header } => format!("请求头 '{header}' 的值含有换行或其他控制字符；请去掉"),
        PlanError::HeaderFraming { header } => format!("请求头 '{header}' 会与请求体冲突；请去掉，onrush 会自动填写"),
        PlanError::Method { method } => format!("'{method}' 不是合法的请求方法；请在 -X 后写 GET、POST 之类的单词"),
        PlanError::File { flag, path, reason } => {
            let why = system_fault(reason, Doing::Read, ("check the path", "请检查路径"), Language::Zh);
            format!("无法读取 {flag} 指定的文件 '{path}'：{why}")
        }
        PlanError::FileTooLarge { path, limit } => format!("文件 '{path}' 超过 {limit} 字节，这是读取的上限"),
        PlanError::User => "-u 需要 用户名:密码（运行时不会询问）；密码为空时写 用户名:".to_owned(),
        PlanError::DataIsTime { value, what, instead } => {
            let what = match what {
                DataIs::Body => "请求体",
                DataIs::Message => "消息",
            };
            format!("-d 是{what}，而 '{value}' 是时间；持续时间请写 {instead} {value}（确实要发送这些字节：-d @FILE）")
        }
        PlanError::Number { flag, value, least, most } => match *most {
            plan::BOUND_SAID_MAX.. => format!("{flag} 的值 '{value}' 无效：应为不小于 {} 的整数", count(*least)),
            _ => format!("{flag} 的值 '{value}' 无效：应为 {} 到 {} 之间的整数", count(*least), count(*most)),
        },
        PlanError::Duration { flag, value } => {
            format!("{flag} 的值 '{value}' 无效：应为 500ms、10s、2m、1h30m 这样的时间（最长 3650d）")
        }
        PlanError::DurationTooShort { flag, value, least } => format!("{flag} 的值 '{value}' 太小：至少为 {least}"),
        PlanError::Rate { flag, value, most } => {
            format!("{flag} 的值 '{value}' 无效：应为 5000、100/m 或 2.5/s 这样的速率，每秒最多 {}", count(*most))
        }
        PlanError::Stage { number, value, reason } => {
            let reason = match reason {
                StageFault::NoColon => "缺少冒号",
                StageFault::Target => "冒号前不是速率",
                StageFault::Users => "冒号前不是用户数",
                StageFault::Time => "冒号后不是时间",
                StageFault::TooMany => "阶段超过 1000 个",
            };
            format!("阶段应写成 目标:时间,...，如 0:30s,1000:1m,1000:2m；第 {number} 个阶段 '{value}' 不对：{reason}")
        }
        PlanError::NoStarts { flag } => {
            format!("按 {flag} 的速率，在压测时间内一个请求都不会发起；请提高速率或延长时间")
        }
        PlanError::Conflict { one, other, remedy } => {
            let remedy = remedy_in_chinese(*remedy);
            format!("{one} 和 {other} 不能同时使用；{remedy}")
        }
        PlanError::Urls(fault) => urls_fault(fault),
        PlanError::Curl { line, fault } => format!("{}{}", line_before(*line), curl_fault(fault)),
        PlanError::FormPart { value, wanted } => format!("-F 的值 '{value}' 无效：应为{}", wanted_of_curl(wanted)),
        PlanError::AtLine { line, inner } => format!("{}{}", line_before(*line), said(inner, language)),
        PlanError::InFile { path, inner } => format!("{path}：{}", said(inner, language)),
        PlanError::Pattern { flag, value, reason } => {
            format!("{flag} '{value}' 不是有效的模式：{reason}；请写普通文本，或 /ok|done/ 这样的正则表达式")
        }
        PlanError::JsonCheck { value, reason } => {
            format!("--expect-json '{value}' 不是有效的断言：{reason}；请写成 '$.code == 200'（路径语法见 RFC 9535）")
        }
        PlanError::Resolve { value } => {
            format!("--resolve 的值 '{value}' 无效：应为主机:端口:地址，如 example.com:443:127.0.0.1")
        }
        PlanError::ConnectTo { value } => {
            format!("--connect-to 的值 '{value}' 无效：应为主机:端口:主机:端口，如 example.com:443:127.0.0.1:8443")
        }
        PlanError::UnixSocket { path } => format!("--unix-socket 的值 '{path}' 无效：应为 1 到 107 字节的路径"),
        PlanError::Needs { flag, needed: Need::Curl } => {
            format!("{flag} 需要用 --curl 文件 给出多条 curl 命令，或用 --urls 文件 给出 URL")
        }
        PlanError::Needs { flag, needed: Need::Http } => format!("{flag} 需要 http:// 或 https:// 开头的 URL"),
        PlanError::Needs { flag, needed: Need::File } => {
            format!("{flag} 需要场景文件，如：onrush run FILE.yaml")
        }
        PlanError::Needs { flag, needed: Need::Export } => format!("{flag} 需要同时给出 --export"),
        PlanError::Needs { flag, needed: Need::Location } => {
            format!("{flag} 需要同时给出 --location（跟随重定向）")
        }
        PlanError::Needs { flag, needed: Need::Rate } => format!("{flag} 需要同时给出速率（-q 或 --stages）"),
        PlanError::Needs { flag, needed: Need::Connections } => format!("{flag} 需要用 -c 说明连接数"),
        PlanError::Needs { flag, needed: Need::Https } => {
            format!("{flag} 需要 https://、wss:// 或 grpcs:// 开头的 URL")
        }
        PlanError::Needs { flag, needed: Need::Talk } => {
            format!("{flag} 需要 ws://、wss:// 或 tcp:// 开头的 URL")
        }
        PlanError::Needs { flag, needed: Need::WebSocket } => format!("{flag} 需要 ws:// 或 wss:// 开头的 URL"),
        PlanError::Needs { flag, needed: Need::Data } => {
            format!("{flag} 需要同时用 -d 或 --data-bytes 给出消息")
        }
        PlanError::Needs { flag, needed: Need::DataBytes } => format!("{flag} 需要同时给出 --data-bytes"),
        PlanError::Needs { flag, needed: Need::Headers } => {
            format!("{flag} 需要 HTTP 请求或 gRPC 调用：其他消息没有请求头")
        }
        PlanError::Needs { flag, needed: Need::Log } => format!("{flag} 需要同时给出 --log FILE"),
        PlanError::Needs { flag, needed: Need::Answered } => {
            format!("{flag} 需要有响应的消息：-d，且 URL 以 ws:// 或 tcp:// 开头")
        }
        PlanError::Needs { flag, needed: Need::Work } => {
            format!("{flag} 需要同时说明何时发送：--every 30s 或 --once")
        }

        PlanError::Needs { flag, needed: Need::Grpc } => format!("{flag} 需要 grpc:// 或 grpcs:// 开头的 URL"),
        PlanError::Needs { flag, needed: Need::Method } => {
            format!("{flag} 需要写明方法的 URL，如 grpc://主机:端口/包名.服务/方法")
        }
        PlanError::Needs { flag, needed: Need::Proto } => {
            format!("{flag} 需要同时用 --proto 给出导入它们的文件")
        }
        PlanError::Needs { flag, needed: Need::ClientStream } => {
            format!("{flag} 只能用于以流方式接收消息的方法")
        }
        PlanError::Needs { flag, needed: Need::Cert } => format!("{flag} 需要同时用 --cert 给出对应的证书"),
        PlanError::Needs { flag, needed: Need::Http2 } => {
            format!("{flag} 需要同时给出 --http2，或使用 https:// 开头的 URL")
        }
        PlanError::TooManyUsers { most } => format!("-c 乘以 --streams 超过 {most} 个用户；请调小其中一个"),
        PlanError::ColdWarmup => {
            "--warmup 按压测开始时的负载预热，而此压测从零开始；请让各阶段以跳变开始，如 100:0s".to_owned()
        }
        PlanError::Choice { flag, value, choices } => format!("{flag} 的值 '{value}' 无效；可选：{}", listed(choices)),
        error => of_grpc(error),
    }
}

/// Errors of calls of gRPC, and of their schemas.
fn of_grpc(error: &PlanError) -> String {
    match error {
        PlanError::GrpcPath { path } => format!(
            "'{path}' 不是方法名；请写成 grpc://主机:端口/包名.服务/方法 的形式，可用 onrush grpc list grpc://主机:端口 查看有哪些"
        ),
        PlanError::NoGrpcUrl => {
            "没有给出 URL；例如：onrush grpc list grpc://127.0.0.1:8080（或：--proto FILE）".to_owned()
        }
        PlanError::NotGrpc { url } => format!("'{url}' 不是 gRPC 地址；请写成 grpc://主机:端口 或 grpcs://主机:端口"),
        PlanError::Proto { reason } => {
            format!("{reason}；请检查 .proto 文件的这个位置；它导入的文件可用 --import-path 指定目录")
        }
        PlanError::Edition { file } => format!(
            "'{file}' 使用了 Protobuf edition 语法，目前只支持 proto2 和 proto3；如果内容允许，请改为 syntax = \"proto3\""
        ),
        PlanError::Protoset { path, reason } => {
            format!("'{path}' 不是描述符集（{reason}）；请用 protoc --include_imports --descriptor_set_out=FILE 生成")
        }
        PlanError::Described { reason } => {
            format!("服务端对自身服务的描述有误（{reason}）；请用 --proto 给出 .proto 文件")
        }
        PlanError::NoSchema { service } => {
            format!("没有 '{service}' 的定义；请用 --proto 给出 .proto 文件，或用 --protoset 给出描述符集")
        }
        PlanError::NoService { service, known } => format!("没有服务 '{service}'；现有服务：{}", listed(known)),
        PlanError::NoMethod { service, method, known } => {
            format!("服务 '{service}' 没有方法 '{method}'；现有方法：{}", listed(known))
        }
        PlanError::NoSymbol { symbol, known } => {
            format!("没有名为 '{symbol}' 的定义；请写带包名的全名；现有服务：{}", listed(known))
        }
        PlanError::Json { message, source_words, line, column, reason } => format!(
            "-d 与消息 {message} 不符：第 {line} 行第 {column} 列：{reason}；可用 onrush grpc describe {source_words} {message} 查看其字段"
        ),
        PlanError::DataNotText => {
            "gRPC 调用的 -d 是 JSON，但给出的不是 UTF-8 文本；字节请以 base64 字符串表示".to_owned()
        }
        PlanError::OneMessage { method, given } => {
            format!("{method} 只接收一条消息，-d 却有 {given} 条；只有以流方式接收消息的方法才能有多条")
        }
        PlanError::TooManyMessages { most } => format!("-d 中单次调用的消息超过 {most} 条；请减少"),
        PlanError::GrpcStatuses { value } => {
            format!("此处 --expect-status 的值 '{value}' 无效：应为 OK,NOT_FOUND 或 0,5 这样的 gRPC 状态")
        }
        PlanError::Statuses { value } => {
            format!("--expect-status 的值 '{value}' 无效：应为 200,300-399 这样的状态码和范围")
        }
        _ => error.to_string(),
    }
}

fn line_before(line: usize) -> String {
    if line == 0 { "curl：".to_owned() } else { format!("第 {line} 行：") }
}

/// The remedy for two flags that contradict each other.
fn remedy_in_chinese(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::InUrls => "请写在 --urls 的各行中：POST URL 请求体",
        Remedy::InCurl => "请求由 curl 命令描述；请写在 curl 命令中",
        Remedy::OneWay => "两者都规定了连接的去向；请去掉其中一个",
        Remedy::RateAsStage => "请把速率写成一个阶段",
        Remedy::StagesHaveTimes => "各阶段已经规定了压测时长",
        Remedy::OneCount => "前者是每个用户的数量，后者是所有用户合计的数量；请去掉其中一个",
        Remedy::EachIsOfUsers => "按速率发起的请求不区分用户；请用 -c 指定用户数，或用 -n 指定总数",
        Remedy::WarmupUsesUp => "用户会在预热中用完自己的请求；请用 -z 规定时长",
        Remedy::StagesSayUsers => "各阶段已经规定了用户数",
        Remedy::RampIsOfUsers => "--ramp 让用户梯度增加；速率的梯度加压请用 --stages 1000:30s,1000:1m",
        Remedy::RendezvousIsConstant => "集合点需要固定的用户数（-c）",
        Remedy::OneVersion => "请只选一个版本",
        Remedy::StreamsAreHttp2 => "只有 HTTP/2 能在一个连接上同时进行多个请求",
        Remedy::StreamsStay => "多个流共用一个长连接；短连接请用 -c 指定并发数",
        Remedy::GrpcIsHttp2 => "gRPC 调用就是通过 HTTP/2 发送的 POST",
        Remedy::OneSchema => "消息定义只需其中一种",
        Remedy::OneBody => "两者都规定了请求体；请去掉其中一个",
        Remedy::OneMessage => "两者都规定了消息内容；请去掉其中一个",
        Remedy::OneEnd => "响应只能有一种结束方式；请去掉其中一个",
        Remedy::MessagesEnd => "WebSocket 消息自带边界",
        Remedy::OneHost => "两者都给出了该请求头；请去掉其中一个",
        Remedy::NoAnswer => "没有响应可供断言；请去掉其中一个",
        Remedy::OneWork => "两者都规定了何时发送；请去掉其中一个",
        Remedy::TalkIsNoHttp => "它只用于 HTTP 请求",
        Remedy::DebugIsText => "--debug 以文本显示一次请求的全过程，不生成报告；请去掉其中一个",
        Remedy::AlpnOffersVersion => {
            "--alpn 必须包含所用的协议：HTTP/2 和 gRPC 为 h2，HTTP/1 和 WebSocket 为 http/1.1，且不含 h2"
        }
        Remedy::TrustOneWay => "--insecure 表示不校验证书；请去掉其中一个",
        Remedy::RandomEndsWithTime => "随机发起的请求数不固定，请用 -z 规定时长",
    }
}

fn urls_fault(fault: &UrlsFault) -> String {
    match fault {
        UrlsFault::Empty => "文件中没有 URL；请每行写一个，如：GET http://127.0.0.1:8080/".to_owned(),
        UrlsFault::TooMany { most } => {
            format!("URL 超过 {most} 个；更多的请在场景文件中从数据文件读取路径（get: /${{paths.path}}）")
        }
        UrlsFault::NoUrl { method } => format!("{method} 之后没有 URL；请写成：{method} http://127.0.0.1:8080/"),
        UrlsFault::Relative { path } => {
            format!("'{path}' 只是路径；请同时给出服务地址：onrush --urls 文件 http://127.0.0.1:8080")
        }
        UrlsFault::NoSlash { word, base } => {
            format!("'{word}' 前面没有斜杠；{base} 的路径请写成 /{word}，其他服务请写成 http://{word}")
        }
        UrlsFault::NotHttp { url } => format!("'{url}' 不是 HTTP 的 URL；--urls 只接受 http:// 和 https://"),
        UrlsFault::NotText => "文件不是 UTF-8 文本；请用 iconv -t UTF-8 转换".to_owned(),
    }
}

fn curl_fault(fault: &CurlFault) -> String {
    match fault {
        CurlFault::Quote { quote } => format!("引号 {quote} 没有结束；请补上，或写成 \\{quote}"),
        CurlFault::Shell { what } => format!("'{what}' 需要由 shell 执行，而这里不执行任何命令；请直接写出它的值"),
        CurlFault::NotCurl { word } => format!("'{word}' 不是 curl；这里只能写 curl 命令，请去掉其他内容"),
        CurlFault::Empty => "没有 curl 命令；请每行写一条，如：curl http://127.0.0.1:8080/".to_owned(),
        CurlFault::TooMany { most } => format!("命令和 URL 超过 {most} 条；请减少"),
        CurlFault::Unknown { flag } => {
            format!("不认识 curl 的参数 {flag}；请去掉，支持的参数见 docs/come-as-you-are.zh.md")
        }
        CurlFault::Ambiguous { flag, one, other } => format!("参数 {flag} 可能是 {one} 或 {other}；请写完整"),
        CurlFault::NoValue { flag } => format!("curl 的参数 {flag} 后面需要一个值；请补上"),
        CurlFault::Value { flag, value, wanted } => {
            let wanted = wanted_of_curl(wanted);
            format!("curl 的参数 {flag} 的值 '{value}' 无效：应为{wanted}")
        }
        CurlFault::NoUrl => "curl 命令中没有 URL；请加上，如：curl http://127.0.0.1:8080/".to_owned(),
        CurlFault::Proxy { flag } => format!("{flag}：压测暂不支持代理；请去掉，请求将直接发往目标"),
        CurlFault::Jar { flag } => format!("{flag}：暂不保存响应中的 Cookie；请去掉，并用 -b '名称=值' 写明 Cookie"),
        CurlFault::Auth { flag } => {
            format!("{flag}：不支持这种认证方式；请使用 -u 用户名:密码、--oauth2-bearer 或 -H")
        }
        CurlFault::Refused { flag } => format!("curl 的参数 {flag} 在压测中没有对应的含义；请去掉"),
        CurlFault::Glob { url } => {
            format!("'{url}' 中的花括号或方括号写法不对；请写成 {{a,b}} 或 [1-9]，或加上 -g 表示其本身")
        }
        CurlFault::Conflict { one, other } => format!("{one} 与 {other} 不能同时使用；请去掉其中一个"),
        CurlFault::NotText { flag } => format!("{flag} 的值不是 UTF-8；请把文件保存为 UTF-8"),
        CurlFault::Foreign { what } => {
            format!("这是 {what} 的写法，不是 curl 命令；请在浏览器中选择“复制为 cURL (bash)”（Copy as cURL (bash)）")
        }
        CurlFault::Wide => {
            "文件是 UTF-16 编码；请另存为 UTF-8，或在浏览器中选择“复制为 cURL (bash)”（Copy as cURL (bash)）后粘贴到新文件".to_owned()
        }
        CurlFault::Chunks10 => {
            "HTTP/1.0 不支持分块传输，而请求体长度未知；请去掉 -0，或用 -T 给出文件并去掉 Transfer-Encoding".to_owned()
        }
        CurlFault::Resumed { from, length } => {
            format!("-C {from} 之后没有内容可发：请求体共 {length} 字节；请改小，或去掉 -C")
        }
        CurlFault::OtherLoad { url, scheme } => {
            format!("curl 命令在这里只用于 http:// 和 https://；{scheme}:// 请去掉 curl 一词：onrush {url}")
        }
        CurlFault::NoPassword => "-u 需要 用户名:密码，因为这里不会询问；密码为空时请写 用户名:".to_owned(),
    }
}

/// What an argument of curl must be.
fn wanted_of_curl(wanted: &'static str) -> &'static str {
    match wanted {
        "a number, or -1 for no bound" => "数字，或用 -1 表示不限",
        "seconds, like 5 or 2.5" => "秒数，如 5 或 2.5",
        "a number of bytes" => "字节数",
        "http or https" => " http 或 https",
        "a type like ;type=text/plain" => "形如 ;type=text/plain 的类型",
        "the encoder base64, 8bit, 7bit or binary" => "base64、8bit、7bit 或 binary 编码方式",
        "name=content or name=@file" => "名称=内容 或 名称=@文件",
        "a part that is no group of parts" => "单个部分（不支持嵌套的部分）",
        other => other,
    }
}
