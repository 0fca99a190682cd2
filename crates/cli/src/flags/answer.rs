//! What is expected of an answer, and what is shown of it.

use super::{Kind, Row, flag, modes};

/// Calls of gRPC, and the statuses that are a success.
pub(super) const CALLS: &[Row] = &[
    flag("proto", Kind::List("FILE"), modes::CALLS).help(
        "File that defines the gRPC service, repeatable [default: ask the server (reflection)]",
        "定义 gRPC 服务的 .proto 文件，可重复 [默认：向服务端查询（反射）]",
    ),
    flag("import-path", Kind::List("DIR"), modes::CALLS).help(
        "Directory for imports of --proto, repeatable [default: that of the file, and the current one]",
        "--proto 中 import 的查找目录，可重复 [默认：文件所在目录和当前目录]",
    ),
    flag("protoset", Kind::List("FILE"), modes::CALLS).help(
        "Descriptions that protoc --descriptor_set_out wrote, instead of --proto; repeatable",
        "protoc --descriptor_set_out 生成的描述符集，可代替 --proto；可重复",
    ),
    flag("message-interval", Kind::Number("TIME"), modes::RUN).help(
        "Time between two messages of a gRPC stream [default: 0s, all at once]",
        "gRPC 流中两条消息的间隔 [默认：0s，一次全部发出]",
    ),
    flag("grpc-encoding", Kind::Text("ENCODING"), modes::RUN).help(
        "Compression of gRPC messages: gzip or identity [default: identity]",
        "gRPC 消息的压缩方式：gzip 或 identity [默认：identity]",
    ),
    flag("expect-status", Kind::Text("STATUSES"), modes::RUN).help(
        "Statuses that are a success, like 200,300-399, of gRPC OK,NOT_FOUND [default: below 400, OK]; a failure makes the exit code 1",
        "视为成功的状态码，如 200,300-399，gRPC 如 OK,NOT_FOUND [默认：小于 400，OK]；有失败则退出码为 1",
    ),
];

/// What an answer must be like.
pub(super) const CHECKS: &[Row] = &[
    flag("expect-body", Kind::FreeList("TEXT"), modes::LOADS).help(
        "Text that the body must contain, or /pattern/ that it must match, repeatable; a failure makes the exit code 1",
        "响应体必须包含的文本，或必须匹配的 /正则表达式/，可重复；有失败则退出码为 1",
    ),
    flag("expect-header", Kind::List("HEADER"), modes::LOADS).help(
        "Header that the answer must have, of gRPC also a trailer: 'Name', 'Name: value' or 'Name: /pattern/', repeatable",
        "响应必须带有的头（gRPC 也包括 trailer）：'Name'、'Name: value' 或 'Name: /正则表达式/'，可重复",
    ),
    flag("expect-json", Kind::List("CHECK"), modes::LOADS).help(
        "What the body must say as JSON, like '$.code == 200' (a path of RFC 9535; == != < <= > >=), repeatable",
        "响应体作为 JSON 必须满足的条件，如 '$.code == 200'（RFC 9535 路径；支持 == != < <= > >=），可重复",
    ),
];

/// What is followed, judged and written.
pub(super) const SHOWN: &[Row] = &[
    flag("show-failures", Kind::Switch, modes::RUN).help(
        "Show up to 10 failures: the redirects that led there, and what came, as far as it came (1 KB of a body)",
        "显示最多 10 个失败：经过的重定向，以及收到的内容（收到多少显示多少，响应体前 1 KB）",
    ),
    flag("debug", Kind::Switch, modes::RUN).help(
        "Send one request (of each step), show in full what went over the wire, and end",
        "只发送一个请求（每个步骤各一个），完整显示收发的内容，然后结束",
    ),
    flag("show-secrets", Kind::Switch, modes::RUN).help(
        "Show secrets too (Authorization, cookies, tokens, passwords), which are masked everywhere else",
        "同时显示密钥类内容（Authorization、Cookie、令牌、密码），默认一律隐藏",
    ),
    flag("location", Kind::Switch, modes::RUN).short('L').help(
        "Follow redirects; each is a request of its own in the figures",
        "跟随重定向；每次跳转都作为单独的请求统计",
    ),
    flag("max-redirs", Kind::Number("N"), modes::RUN).help(
        "Redirects in a row, at most [default: 50]",
        "最多连续跟随多少次重定向 [默认：50]",
    ),
    flag("threshold", Kind::FreeList("THRESHOLD"), modes::RUN).help(
        "What a figure must be, repeatable: 'p99(response_time) < 200ms', 'failed / done < 0.1%', 'rate > 4900/s'; with ', abort 10s' behind it the run stops when it fails after 10s. One that is not met makes the exit code 1",
        "阈值，可重复：'p99(response_time) < 200ms'、'failed / done < 0.1%'、'rate > 4900/s'；后面加 ', abort 10s' 表示 10s 后不满足即停止。未达到则退出码为 1",
    ),
    flag("strict", Kind::Switch, modes::RUN).help(
        "A result that the generator spoiled makes the exit code 1",
        "结果受压测机影响而不可信时，退出码为 1",
    ),
    flag("interval", Kind::Number("TIME"), modes::LOADS).help(
        "Time between two lines of the table [default: 1s]",
        "表格每行的间隔 [默认：1s]",
    ),
    flag("hdr", Kind::Text("FILE"), modes::RUN).help(
        "Write the percentiles to FILE and the intervals to FILE with the ending .hlog, for the HdrHistogram tools",
        "把百分位写入 FILE，把各时段写入扩展名为 .hlog 的同名文件，供 HdrHistogram 工具使用",
    ),
];
