//! Flags of checks, thresholds, and gRPC calls.

use super::Mode::Run;
use super::{Kind, Row, flag, modes};

flags! {
    /// Flags of checks and thresholds.
    pub(super) ROWS;
    "expect-status": Kind::Text("STATUSES"), &[Run], page;
        brief "Status codes of success, like 200,300-399", "断言：算作成功的状态码，如 200,300-399";
        "Status codes that count as success, like 200,300-399, or OK,NOT_FOUND for gRPC [default: below 400; OK]; any failure sets exit code 1",
        "断言：算作成功的状态码，如 200,300-399，gRPC 如 OK,NOT_FOUND [默认：小于 400；OK]；有失败则退出码为 1";
    "expect-body": Kind::FreeList("TEXT"), modes::LOADS, page;
        "Text that the body must contain, or /pattern/ that it must match; repeatable; any failure sets exit code 1",
        "断言：响应体包含该文本，或匹配 /正则表达式/；可重复；有失败则退出码为 1";
    "expect-header": Kind::List("HEADER"), modes::LOADS, page;
        "Header that the answer must have (gRPC: also a trailer): 'Name', 'Name: value' or 'Name: /pattern/'; repeatable",
        "断言：响应带有该响应头（gRPC 也包括 trailer）：'Name'、'Name: value' 或 'Name: /正则表达式/'；可重复";
    "expect-json": Kind::List("CHECK"), modes::LOADS, page;
        "Condition on the body as JSON, like '$.code == 200' (a path of RFC 9535; == != < <= > >=); gRPC: on the message, of a stream on the list of its messages; repeatable",
        "JSON 断言，如 '$.code == 200'（RFC 9535 路径；支持 == != < <= > >=）；gRPC 检查消息，流式响应检查全部消息组成的数组；可重复";
    "threshold": Kind::FreeList("THRESHOLD"), modes::JUDGED, page;
        brief "Pass or fail, like 'p99(response_time) < 200ms'", "达标条件（阈值）：'p99(response_time) < 200ms'";
        "Condition on the result, repeatable: 'p99(response_time) < 200ms', 'failed / done < 0.1%', 'rate > 4900/s'; with ', abort 10s' at its end the run stops when it fails after 10s. An unmet threshold sets exit code 1",
        "对结果的要求（阈值），可重复：'p99(response_time) < 200ms'、'failed / done < 0.1%'、'rate > 4900/s'；末尾加 ', abort 10s' 表示 10s 后不满足即停止。未达标则退出码为 1";
    "strict": Kind::Switch, &[Run], page;
        "Set exit code 1 when the generator made the result unreliable", "结果受压测机影响而不可靠时，退出码为 1";
    "probe": Kind::Switch, &[Run], page;
        "Let half of the users go on for up to 2s (or a tenth) behind the measured time, to see whether the target is at its limit, also where requests may change it, and in files [default: with GET, HEAD and OPTIONS]",
        "测量结束后让一半用户继续最多 2 秒（或压测时长的十分之一），以判断被测服务是否已达上限；对 POST 等可能改变服务的请求和场景文件也这样做 [默认：仅用于不改变服务的请求方法]";
    "no-probe": Kind::Switch, &[Run], page;
        "Send nothing behind the measured time", "测量结束后不再发送任何请求";
}

flags! {
    /// Flags of gRPC calls.
    pub(super) GRPC;
    "proto": Kind::List("FILE"), modes::CALLS;
        ".proto file that defines the service; repeatable [default: ask the server (reflection)]",
        "定义服务的 .proto 文件，可重复 [默认：向服务端查询（反射）]";
    "import-path": Kind::List("DIR"), modes::CALLS;
        "Directory to search for imports of --proto; repeatable [default: that of the file, and the current one]",
        "--proto 中 import 的查找目录，可重复 [默认：文件所在目录和当前目录]";
    "protoset": Kind::List("FILE"), modes::CALLS;
        "Descriptor set written by protoc --descriptor_set_out, instead of --proto; repeatable",
        "protoc --descriptor_set_out 生成的描述符集，可代替 --proto；可重复";
    "message-interval": Kind::Number("TIME"), &[Run], page;
        "Time between two messages of a stream [default: 0s, all at once]",
        "流中两条消息的间隔 [默认：0s，一次全部发出]";
    "grpc-encoding": Kind::Text("ENCODING"), &[Run], page;
        "Compression of messages: gzip or identity [default: identity]",
        "消息的压缩方式：gzip 或 identity [默认：identity]";
}
