//! The keys of the file itself, of data, defaults, scenarios, loads and the run.

use super::common::{DATA_FORMATS, ENCODINGS, EXPECT, HEADERS, ON_FAILURE};
use super::figures::FIGURES;
use super::sending::AUTH_KEY;
use super::shared::FRAGMENT;
use super::{Field, Kind, Object, field};

const FRAGMENTS: Field = field(
    "fragments",
    Kind::Variables(&Kind::Either(&[Kind::Steps, Kind::Object(&FRAGMENT)])),
    "Steps that several places share, by name: '- do: login' does those of login",
    "多处共用的步骤片段，字段名即名称：'- do: login' 执行片段 login 中的步骤",
);

const ORIGINS: Field = field(
    "origins",
    Kind::OneOrMore(&Kind::Pattern),
    "Where a URL that was taken from a response may lead beside the target, like https://cdn.example",
    "除 target 外，从响应中提取的 URL 还可以指向的源，如 https://cdn.example",
);

const INCLUDE: Field = field(
    "include",
    Kind::OneOrMore(&Kind::Text),
    "Files in the folder of this one that have more 'vars', 'data' and 'fragments'",
    "引入同一目录中的其他文件，其中的 vars、data 和 fragments 会加入本文件",
);

keys! {
    pub(crate) INCLUDED = "included", "an included file", "被引入的文件";
    INCLUDE;
    "vars": Kind::Variables(&Kind::Json), "Variables, as in the file that includes it", "变量，与引入它的文件相同";
    "data": Kind::Variables(&Kind::Either(&[Kind::Text, Kind::Object(&DATA)])),
        "Data files, from the folder of the scenario file",
        "数据文件，路径相对于场景文件所在的目录";
    FRAGMENTS;
}

keys! {
    pub(crate) FILE = "file", "the file", "文件";
    "name": Kind::Text, "What the whole is called in reports", "报告中显示的名称";
    "target": Kind::Pattern,
        "What relative URLs begin with, like https://shop.example",
        "相对 URL 的前缀，如 https://shop.example";
    ORIGINS;
    "vars": Kind::Variables(&Kind::Json),
        "Variables with values that are there from the beginning on; texts may have slots. What they draw is drawn once for the whole run: all users have the same",
        "一开始就有值的变量；文本中可以有占位符。其中的随机值每次压测只抽取一次，所有用户相同";
    "per_user": Kind::Variables(&Kind::Json),
        "Variables that each user draws for itself before it does anything, like \"${uuid()}\"; they stay the same in all of its iterations",
        "每个用户在开始前各抽取一次的变量，如 \"${uuid()}\"；在该用户的所有迭代中不变";
    "secrets": Kind::OneOrMore(&Kind::Text),
        "Variables, or columns like users.password, whose values are masked wherever they would be shown",
        "敏感信息：变量或数据列（如 users.password），其值在所有输出中隐藏";
    "data": Kind::Variables(&Kind::Either(&[Kind::Text, Kind::Object(&DATA)])),
        "Data files by the name of their rows; a column is ${name.column}",
        "数据文件（参数化），字段名即数据集的名称；列写作 ${名称.列}";
    "defaults": Kind::Object(&DEFAULTS),
        "What holds for each step unless it says otherwise",
        "所有步骤的默认设置，步骤中可另行指定";
    "network": Kind::Object(&NETWORK),
        "Addresses of names, and limits of kept connections; also in a scenario",
        "域名的地址如何使用，以及长连接的限制；也可写在场景中";
    FIGURES;
    FRAGMENTS;
    INCLUDE;
    "setup": Kind::MaybeSteps,
        "Steps that are done once before the run and are not measured; all users see what they take",
        "压测开始前执行一次的步骤，不计入测量；其提取的值所有用户可用";
    "teardown": Kind::MaybeSteps, "Steps that are done once after the run", "压测结束后执行一次的步骤";
    "scenarios": Kind::Named(&Kind::Object(&SCENARIO)),
        "What users do, by name; all scenarios run side by side",
        "各场景（字段名即名称），同时进行", needed;
    "thresholds": Kind::OneOrMore(&Kind::Text),
        "What figures must be, like 'p99(response_time) < 300ms'; of one transaction, step or scenario: 'p99(response_time, buy) < 2s', 'failed(buy) / done(buy) < 1%'",
        "阈值，对指标的要求，如 'p99(response_time) < 300ms'；只针对某个事务、步骤或场景时：'p99(response_time, buy) < 2s'、'failed(buy) / done(buy) < 1%'";
    "run": Kind::Object(&RUN), "How the run goes", "整次压测的设置";
}

keys! {
    pub(crate) DATA = "data", "a data set", "数据集", any of ["file", "folder"];
    "file": Kind::Text,
        "Where it is, from the folder of this file",
        "数据文件的路径，相对于本文件所在的目录";
    "folder": Kind::Text,
        "Or a folder: a row for each file in it, with the columns path, name and bytes, sorted by name",
        "或一个目录：其中每个文件为一行，列为 path、name 和 bytes，按文件名排序";
    "format": Kind::Word(DATA_FORMATS),
        "What is in it [default: by the end of its name]",
        "文件格式 [默认：由扩展名决定]";
    "encoding": Kind::Word(ENCODINGS), "How its text is coded [default: utf-8]", "文本编码 [默认：utf-8]";
    "separator": Kind::Text,
        "What stands between two fields of CSV, one character [default: the comma, semicolon or tab that the first line has]",
        "CSV 的分隔符，一个字符 [默认：由第一行判断，逗号、分号或制表符]";
    "columns": Kind::Either(&[Kind::OneOrMore(&Kind::Text), Kind::Named(&Kind::Word(&["text", "number"]))]),
        "Names of the columns of CSV, in their order, where its first line is a row already; or {name: number} for columns whose values are numbers",
        "CSV 各列的名称（依次），用于第一行就是数据的文件；或用 {列名: number} 指明值为数字的列";
    "header": Kind::Switch,
        "false: the first line of CSV is a row already, and 'columns' names the columns",
        "false：CSV 的第一行就是数据，列名由 columns 给出";
    "filter": Kind::Expression,
        "Use only the rows for which this holds, like users.country == 'DE' or users['First Name'] != ''; rows are numbered after it",
        "只使用满足此条件的行，如 users.country == 'DE' 或 users['First Name'] != ''；行号在筛选之后计算";
    "order": Kind::Word(&["sequential", "random", "by_user"]),
        "In which order rows come: sequential, random, or by_user: user k has row k in all its iterations [default: sequential]",
        "取行的顺序：sequential（依次）、random（随机）或 by_user（第 k 个用户始终使用第 k 行）[默认：sequential]";
    "sharing": Kind::Word(&["split", "copy", "unique"]),
        "Who gets which: users split the rows, each has a copy of all, or no row comes twice in the run [default: split]",
        "如何分配：split（用户分用）、copy（每个用户用全部）、unique（整次压测中每行只用一次）[默认：split]";
    "on_end": Kind::Word(&["repeat", "stop"]),
        "What follows the last row: repeat from the first, or users stop [default: repeat]",
        "用完之后：repeat（从头再来）或 stop（用户停止）[默认：repeat]";
}

keys! {
    pub(crate) DEFAULTS = "defaults", "the defaults", "默认设置";
    HEADERS;
    AUTH_KEY;
    "cookies": Kind::Switch,
        "Keep cookies for each user as browsers do [default: true]",
        "像浏览器一样为每个用户保存 Cookie [默认：true]";
    "expect": Kind::Object(&EXPECT), "What a good answer is", "断言：响应应满足的条件";
    ON_FAILURE;
    "timeout": Kind::Time, "From sent to done, as --timeout", "请求超时，同 --timeout";
    "connect_timeout": Kind::Time,
        "Until a connection is open, as --connect-timeout",
        "连接超时，同 --connect-timeout";
    "location": Kind::Switch, "Follow redirects, as --location", "跟随重定向，同 --location";
    "max_redirs": Kind::Count, "Redirects one after the other, as --max-redirs", "重定向次数上限，同 --max-redirs";
    "user": Kind::Text, "Basic authentication, as --user", "Basic 认证，同 --user";
    "user_agent": Kind::Text, "The User-Agent, as --user-agent", "User-Agent，同 --user-agent";
    "http": Kind::Word(&["1.0", "1.1", "2"]), "The version of HTTP", "HTTP 版本";
    "streams": Kind::Count,
        "Requests at a time on each connection of HTTP/2, as --streams",
        "HTTP/2 每个连接的并发流数，同 --streams";
    "keepalive": Kind::Switch,
        "false: a connection for each request, as --no-keepalive",
        "false：每个请求新建连接，同 --no-keepalive";
    "retry": Kind::Switch,
        "false: no request is sent again when the server closed its connection, as --no-retry",
        "false：服务端关闭连接后不重发请求，同 --no-retry";
    "insecure": Kind::Switch, "Do not verify certificates, as --insecure", "不校验证书，同 --insecure";
    "cacert": Kind::Text, "Authorities to trust, as --cacert", "信任的 CA 证书文件，同 --cacert";
    "cert": Kind::Text, "Our certificate, as --cert", "客户端证书，同 --cert";
    "key": Kind::Text, "Its key, as --key", "证书的私钥，同 --key";
    "sni": Kind::Text, "The name that is asked for, as --sni", "TLS 的服务端名称，同 --sni";
    "alpn": Kind::Text, "Protocols to offer, as --alpn", "ALPN 协议，同 --alpn";
    "tls_groups": Kind::Text, "Groups of the key exchange, as --tls-groups", "密钥交换组，同 --tls-groups";
    "tls_min": Kind::Text, "The lowest version of TLS, as --tls-min", "最低 TLS 版本，同 --tls-min";
    "tls_resumption": Kind::Switch,
        "false: no session is resumed, as --no-tls-resumption",
        "false：不复用 TLS 会话，同 --no-tls-resumption";
    "resolve": Kind::OneOrMore(&Kind::Text), "Where hosts are, as --resolve", "指定主机地址，同 --resolve";
    "connect_to": Kind::OneOrMore(&Kind::Text),
        "Connect elsewhere, as --connect-to",
        "改为连接其他地址，同 --connect-to";
    "unix_socket": Kind::Text,
        "Connect to a socket of this machine, as --unix-socket",
        "连接 Unix 域套接字，同 --unix-socket";
    "source_ip": Kind::Text, "Addresses of ours, as --source-ip", "本机地址，同 --source-ip";
    "connect_addresses": Kind::Text,
        "Addresses and ports to connect to, as --connect-addresses",
        "要连接的地址和端口，同 --connect-addresses";
    "proto": Kind::OneOrMore(&Kind::Text), "Descriptions of gRPC, as --proto", "gRPC 的 .proto 文件，同 --proto";
    "import_path": Kind::OneOrMore(&Kind::Text),
        "Folders of imports, as --import-path",
        "导入目录，同 --import-path";
    "protoset": Kind::OneOrMore(&Kind::Text), "Sets of descriptions, as --protoset", "描述符集文件，同 --protoset";
    "grpc_encoding": Kind::Word(&["gzip", "identity"]),
        "Compression of gRPC, as --grpc-encoding",
        "gRPC 压缩，同 --grpc-encoding";
    "ws_deflate": Kind::Switch,
        "Offer compression of WebSocket, as --ws-deflate",
        "协商 WebSocket 压缩，同 --ws-deflate";
}

keys! {
    pub(crate) NETWORK = "network", "the network", "网络设置";
    "addresses": Kind::Word(&["one-family", "all", "first"]),
        "Addresses of a name that connections take in turn, as --addresses",
        "域名有多个地址时使用哪些，同 --addresses";
    "dns_ttl": Kind::Text, "When names are looked up again: a time, or never, as --dns-ttl", "多久重新解析域名，或 never，同 --dns-ttl";
    "dns": Kind::Text, "The name server to ask, as --dns", "使用的 DNS 服务器，同 --dns";
    "connection_requests": Kind::Count,
        "Close a kept connection after this number of requests, as --connection-requests",
        "长连接上的请求达到此数后关闭，同 --connection-requests";
    "connection_age": Kind::Time, "Close a kept connection at this age, as --connection-age", "长连接建立多久后关闭，同 --connection-age";
    "keepalive_idle": Kind::Time,
        "Close a kept connection that had no request for so long, as --keepalive-idle",
        "长连接空闲多久后关闭，同 --keepalive-idle";
    "proxy": Kind::Text, "The proxy that connections go through, as --proxy", "连接经过的代理，同 --proxy";
    "proxy_tunnel": Kind::Switch, "Tunnel plain HTTP too, as --proxy-tunnel", "http:// 也用隧道，同 --proxy-tunnel";
    "no_proxy": Kind::Text, "Hosts that are reached without a proxy, as --no-proxy", "不经过代理的主机，同 --no-proxy";
    "proxy_protocol": Kind::Word(&["v1", "v2"]),
        "Header of the PROXY protocol that connections begin with, as --proxy-protocol",
        "连接开头的 PROXY 协议头，同 --proxy-protocol";
    "proxy_protocol_from": Kind::Text,
        "Client addresses in that header, in turn, as --proxy-protocol-from",
        "协议头中轮流使用的客户端地址，同 --proxy-protocol-from";
}

keys! {
    pub(crate) SCENARIO = "scenario", "a scenario", "场景";
    "load": Kind::Object(&LOAD), "How much load it makes", "负载：用户数或速率，以及何时结束", needed;
    "target": Kind::Pattern,
        "What its relative URLs begin with [default: the target of the file]",
        "该场景中相对 URL 的前缀 [默认：文件顶层的 target]";
    ORIGINS;
    "vars": Kind::Variables(&Kind::Json),
        "Variables of this scenario, over those of the file",
        "该场景的变量，同名时优先于文件顶层的 vars";
    "defaults": Kind::Object(&DEFAULTS),
        "What holds for its steps, over the defaults of the file",
        "该场景的默认设置，优先于文件顶层的 defaults";
    "start_after": Kind::Time, "Delay from the start of the run", "压测开始多久之后，该场景才开始";
    "pacing": Kind::Time,
        "Minimum time between the starts of two iterations of a user",
        "节奏（pacing）：同一用户两次迭代的开始时刻至少相隔多久";
    "connections": Kind::Count,
        "Connections to each host that its users share; requests wait for a free one. With a rate, how many serve it [default: each user has its own]",
        "用户共用的连接数（每个主机），请求会等待空闲的连接；使用 rate 时为承载它的连接数 [默认：每个用户有自己的连接]";
    "network": Kind::Object(&NETWORK),
        "Addresses of names, and limits of kept connections [default: as in the file]",
        "域名的地址如何使用，以及长连接的限制 [默认：同文件顶层的设置]";
    "carry_state": Kind::Either(&[Kind::Switch, Kind::List(&Kind::Text)]),
        "Carry variables and cookies on to the next iteration: true for all of them, or a list like [token, cookies] [default: each begins as after 'on_start']",
        "变量和 Cookie 保留到下一次迭代：true 表示全部，也可写列表，如 [token, cookies] [默认：每次迭代都从 on_start 之后的状态开始]";
    "on_start": Kind::MaybeSteps,
        "Steps of each user before its first iteration; with a rate, users begin as they are needed",
        "每个用户在第一次迭代之前执行一次的步骤（如登录）；使用 rate 时，用户按需产生";
    "steps": Kind::Steps, "What a user does in one iteration", "一次迭代中的步骤", needed;
    "on_stop": Kind::MaybeSteps,
        "Steps of each user after its last iteration",
        "每个用户在最后一次迭代之后执行一次的步骤（如退出登录）";
}

/// A number, or stages in one text or in a list.
const USERS: Field = field(
    "users",
    Kind::Either(&[Kind::Count, Kind::List(&Kind::Text)]),
    "How many users, or stages like [\"200:2m\", \"0:30s\"]",
    "用户数，或 [\"200:2m\", \"0:30s\"] 这样的阶段",
);

keys! {
    pub(crate) LOAD = "load", "a load", "负载", any of ["users", "rate", "iterations", "iterations_per_user"];
    USERS;
    "rate": Kind::Either(&[Kind::Rate, Kind::List(&Kind::Text)]),
        "Iterations that start in a second, like 500/s, or stages like [\"500:2m\", \"1000:30s\"]",
        "每秒开始的迭代数，如 500/s；或 [\"500:2m\", \"1000:30s\"] 这样的阶段";
    "for": Kind::Time, "How long iterations are started", "压测时长";
    "iterations": Kind::Count, "How many iterations of all users together", "所有用户合计的迭代次数";
    "iterations_per_user": Kind::Count, "How many iterations of each user", "每个用户的迭代次数";
    "ramp": Kind::Time, "Users come one after the other within this time", "梯度加压：用户在这段时间内全部加入";
    "rendezvous": Kind::Switch,
        "Users start each iteration in the same instant",
        "集合点：所有用户同时开始每次迭代";
    "arrivals": Kind::Word(&["even", "poisson"]),
        "How starts at a rate are spaced [default: even]",
        "固定速率下的间隔方式 [默认：even]";
    "max_lateness": Kind::Time,
        "A start at a rate that is later than this is dropped",
        "固定速率下，晚于此时间的迭代会被丢弃";
    "preconnect": Kind::Switch,
        "All connections of a rate (`connections`) are opened before they are needed",
        "固定速率下预先建立全部连接（`connections`）";
}

keys! {
    pub(crate) RUN = "run", "the run", "压测设置";
    "warmup": Kind::Time, "Warm up for this long; not measured", "预热时间，不计入测量";
    "grace": Kind::Time, "How long the end waits for what is in flight", "结束时等待未完成请求的时间";
    "stop_within": Kind::Time,
        "How long users have for 'on_stop' at the end [default: 10s]",
        "结束时留给各用户执行 on_stop 的时间 [默认：10s]";
    "seed": Kind::Count, "The same seed draws the same", "随机种子；种子相同，抽取结果就相同";
    "interval": Kind::Time, "Time between two lines of the table", "表格每行的周期";
    "budget": Kind::Text, "What may be spent, as --budget", "用量上限，同 --budget";
    "allow_host": Kind::OneOrMore(&Kind::Text),
        "Hosts that you may load, as --allow-host",
        "已获授权压测的主机，同 --allow-host";
    "threads": Kind::Count, "Threads that generate the load", "压测线程数";
    "strict": Kind::Switch,
        "Fail when the generator made the result unreliable, as --strict",
        "结果不可靠时判为失败，同 --strict";
    "probe": Kind::Switch,
        "Let half of the users go on behind the measured time, as --probe; false: --no-probe",
        "测量结束后让一半用户继续，以判断被测服务是否已达上限，同 --probe；false 同 --no-probe";
    "no_abort_on_failures": Kind::Switch,
        "Go on although the target was never reached, as --no-abort-on-failures",
        "几乎全部失败时也不停止，同 --no-abort-on-failures";
    "json": Kind::Text, "Also write the JSON report to a file", "同时把 JSON 报告写入文件";
    "hdr": Kind::Text, "Write percentiles to a file, as --hdr", "把百分位写入文件，同 --hdr";
    "log": Kind::Text, "Write a line for each request, as --log", "为每个请求写一行日志，同 --log";
}
