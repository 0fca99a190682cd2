//! The labels of table, summary and charts: a row for each, with both languages.

use crate::{Language, texts};

texts! {
    /// The label of a series in charts, by its key.
    pub(crate) fn series_label(key: &'static str) of key, else (key, key);
    "requested_per_s" => "requested", "计划";
    "done_per_s" => "completed", "已结束";
    "failed_per_s" => "failed", "失败";
    "dropped_per_s" => "dropped", "丢弃";
    "p50_s" => "p50", "p50";
    "p90_s" => "p90", "p90";
    "p99_s" => "p99", "p99";
    "p99_9_s" => "p99.9", "p99.9";
    "users" => "users", "用户数";
    "in_flight" => "in flight", "在途请求";
    "connections" => "connections", "连接数";
    "received_per_s" => "received", "下载";
    "sent_per_s" => "sent", "上传";
    "lateness_p99_s" => "lateness p99", "调度延迟 p99";
    "cpu_cores" => "cores busy", "占用的核数";
}

texts! {
    /// The title of a chart, by its id.
    pub(crate) fn chart_title(id: &'static str) of id, else (id, id);
    "rate" => "Requests per second", "每秒请求数（QPS）";
    "times" => "Response time of successful requests", "成功请求的响应时间";
    "users" => "Users, requests in flight, connections", "用户数、在途请求、连接数";
    "failures" => "Failures per second", "每秒失败数";
    "parts-times" => "p99 of each step and transaction", "各步骤和事务的 p99";
    "parts-rate" => "Steps and transactions per second", "各步骤和事务每秒次数";
    "bytes" => "Bytes per second", "每秒字节数";
    "lateness" => "Lateness of the generator", "压测机的调度延迟";
    "cpu" => "CPU of the generator, in cores", "压测机的 CPU（核数）";
}

/// Makes the labels of each language from their rows.
macro_rules! words {
    ($($name:ident: $english:literal, $chinese:literal;)+) => {
        pub(crate) struct Words {
            $(pub(crate) $name: &'static str,)+
        }

        const EN: Words = Words { $($name: $english,)+ };
        const ZH: Words = Words { $($name: $chinese,)+ };
    };
}

words! {
    elapsed: "time", "耗时";
    users: "users", "并发数";
    in_flight: "pending", "在途";
    succeeded: "succeeded", "成功数";
    failed: "failed", "失败数";
    rate: "req/s", "QPS";
    max: "max", "最大";
    bytes: "bytes", "已下载";
    bytes_per_second: "bytes/s", "下载速率";
    statuses: "status codes", "状态码";
    statuses_label: "Status codes", "状态码";
    target: "Target", "压测目标";
    plan: "Plan", "压测计划";
    requests: "Requests", "请求总数";
    requests_column: "requests", "请求数";
    started: "started", "已发起";
    unfinished: "unfinished", "未完成";
    lost: "lost with a worker", "随工作进程丢失";
    dropped: "dropped", "丢弃";
    time: "Time", "总耗时";
    per_second: "Requests/s", "QPS";
    goodput: "Goodput", "有效 QPS";
    success: "Success", "成功率";
    received: "Received", "下载";
    sent: "Sent", "上传";
    connections: "Connections", "连接";
    min: "min", "最小";
    mean: "mean", "平均";
    stdev: "stdev", "标准差";
    response_time: "Response time", "响应时间";
    service_time: "Service time", "服务时间";
    wait: "Wait", "等待";
    lateness: "Lateness", "调度延迟";
    first_byte: "First byte", "首字节";
    connect: "Connect", "建立连接";
    proxy_tunnel: "Proxy tunnel", "代理隧道";
    tls_handshake: "TLS handshake", "TLS 握手";
    message: "Message", "消息往返";
    message_gap: "Message gap", "消息间隔";
    messages: "Messages", "消息";
    datagrams: "Datagrams", "数据报";
    grpc_statuses: "gRPC status", "gRPC 状态";
    closes: "Server closed", "服务端关闭";
    histogram: "Response times of successful requests", "成功请求的响应时间分布";
    failures: "Failures", "失败原因";
    generator: "Generator", "压测机";
    none: "none", "无";
    lookup: "name lookup", "域名解析";
    thresholds: "Thresholds", "阈值";
    verdict: "Verdict", "结论";
}

impl Language {
    pub(crate) fn words(self) -> &'static Words {
        self.pick(&EN, &ZH)
    }
}
