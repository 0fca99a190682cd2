//! Flags of the target, the load, and its duration.

use super::Mode::{Ask, Check, Completions, Demo, Doctor, Hold, Init, Man, Run};
use super::{Kind, Row, flag, modes};

/// Flags of the target and the load.
pub(super) const ROWS: &[Row] = &[
    flag("url", Kind::Word("URL"), &[Doctor]).help(
        "Target of the connections; with it, source addresses are counted and a target on this machine is recognized",
        "连接的目标；给出后会计入源地址数，并识别目标是否就在本机",
    ),
    flag("connections", Kind::Number("N"), &[Doctor]).short('c').help(
        "Number of connections to check for; shows what to change to reach it",
        "需要的连接数；给出后会说明如何调整才能达到",
    ),
    flag("server", Kind::Switch, &[Doctor]).help(
        "Check this machine as a server that accepts the connections",
        "按接受连接的服务端来检查本机",
    ),
    flag("url", Kind::Word("URL"), &[Run]).page().brief(
        "URL to load: http, https, ws, wss, tcp, grpc",
        "压测地址：http、https、ws、wss、tcp、grpc",
    ).help(
        "URL to load: http://, https://, ws://, wss://, tcp://host:port, or a gRPC method as grpc://host:port/package.Service/Method (grpcs:// for TLS); http:// may be left out",
        "压测地址：http://、https://、ws://、wss://、tcp://主机:端口，或 gRPC 方法 grpc://主机:端口/包名.服务/方法（TLS 用 grpcs://）；http:// 可以省略",
    ),
    flag("url", Kind::Word("URL"), &[Hold]).common().help(
        "Target: ws://, wss://, tcp://host:port, or http:// and https:// with keep-alive",
        "目标：ws://、wss://、tcp://主机:端口，或 http://、https:// 长连接",
    ),
    flag("url", Kind::Word("URL"), &[Ask]).help(
        "gRPC server to ask, like grpc://host:port; not needed with --proto or --protoset",
        "要查询的 gRPC 服务端，如 grpc://主机:端口；有 --proto 或 --protoset 时不需要",
    ),
    flag("symbol", Kind::Word("SYMBOL"), &[Ask]).help(
        "Full name, with the package",
        "完整名称，需带包名",
    ),
    flag("shell", Kind::Shell, &[Completions]).help(
        "bash, elvish, fish, powershell or zsh",
        "bash、elvish、fish、powershell 或 zsh",
    ),
    flag("file", Kind::Words("FILE"), &[Check]).common().help("The scenario files to check", "要检查的场景文件"),
    flag("url", Kind::Word("URL"), &[Init]).common().help(
        "What the file loads: http://, https://, ws://, wss://, tcp://host:port, grpc://host:port/package.Service/Method; or a curl command behind the word curl",
        "文件要压测的地址：http://、https://、ws://、wss://、tcp://主机:端口、grpc://主机:端口/包名.服务/方法；也可以在 curl 一词之后给出 curl 命令",
    ),
    flag("command", Kind::Word("COMMAND"), &[Man]).help(
        "Command whose page is printed, like hold or 'grpc list' [default: the page of onrush]",
        "要输出手册页的命令，如 hold 或 'grpc list' [默认：onrush 本身]",
    ),
    flag("connections", Kind::Number("N"), &[Run]).page().short('c').brief(
        "Connections, each used by one user [default: 50]",
        "固定并发（闭环）：连接数，即用户数 [默认：50]",
    ).help(
        "Connections, each kept busy by one user [default: 50; with a rate as many as needed, up to 10000]",
        "固定并发（闭环模型）：连接数（并发数），每个连接由一个用户持续发请求 [默认：50；给出速率时按需增加，最多 10000]",
    ),
    flag("connections", Kind::Number("N"), &[Hold]).short('c').common().help(
        "Number of connections to hold [default: 1000]",
        "长连接数 [默认：1000]",
    ),
    flag("requests", Kind::Number("N"), &[Run]).page().short('n').brief(
        "Number of requests of all users [default: any]",
        "所有用户合计的请求数 [默认：不限]",
    ).help(
        "Total number of requests of all users, or of rounds when there are several steps [default: no limit]",
        "所有用户合计的请求数；有多个步骤时为总迭代次数 [默认：不限]",
    ),
    flag("requests-each", Kind::Number("N"), &[Run]).page().help(
        "Number of requests of each user, or of rounds when there are several steps, as JMeter's loop count: -c 50 --ramp 2s --requests-each 20 [default: no limit]",
        "每个用户的请求数；有多个步骤时为迭代次数，相当于 JMeter 的循环次数：-c 50 --ramp 2s --requests-each 20 [默认：不限]",
    ),
    flag("duration", Kind::Number("TIME"), &[Run]).page().short('z').brief(
        "How long to start requests [default: 10s]",
        "压测时长 [默认：10s]",
    ).help(
        "How long to start requests, like 10s, 2m, 1h30m [default: 10s without -n or --requests-each]",
        "压测时长，如 10s、2m、1h30m [默认：没有 -n 和 --requests-each 时为 10s]",
    ),
    flag("duration", Kind::Number("TIME"), &[Demo])
        .short('z')
        .common()
        .help("How long the load is that is shown [default: 5s]", "所展示的压测时长 [默认：5s]"),
    flag("rate", Kind::Number("RATE"), &[Run]).page().short('q').brief(
        "Requests started per second (open model)",
        "固定速率（开环）：每秒发起的请求数（QPS）",
    ).help(
        "Requests to start per second in total, however fast the target answers (open model): 5000, 100/m, 2.5/s",
        "固定速率（开环模型）：每秒共发起的请求数（QPS），不受服务端快慢影响：5000、100/m、2.5/s",
    ),
    flag("stages", Kind::Free("STAGES"), &[Run]).page().help(
        "Rates over time, as TARGET:TIME; each stage changes evenly from the one before, the first from 0: 1000:30s,1000:1m,0:10s",
        "梯度加压：速率随时间变化，每段写作 目标值:时长，从上一段的值均匀变化，第一段从 0 开始：1000:30s,1000:1m,0:10s",
    ),
    flag("user-stages", Kind::Free("STAGES"), &[Run]).page().help(
        "Users over time, as TARGET:TIME; each stage changes evenly from the one before, the first from 0: 10:0s,10:30s,50:1m",
        "梯度加压：用户数随时间变化，每段写作 目标值:时长，从上一段的值均匀变化，第一段从 0 开始：10:0s,10:30s,50:1m",
    ),
    flag("ramp", Kind::Number("TIME|RATE"), &[Run]).page().help(
        "Start the users of -c one after the other: over a time like 10s, or at a rate like 100/s [default: all at once]",
        "梯度加压（ramp-up）：-c 个用户在 10s 这样的时间内全部加入，或按 100/s 这样的速率加入 [默认：同时加入]",
    ),
    flag("ramp", Kind::Number("RATE|TIME"), &[Hold]).common().help(
        "Open the connections at a rate like 20000/s, or over a time like 10s [default: as fast as the target accepts them]",
        "按 20000/s 这样的速率新建连接，或在 10s 这样的时间内全部建立 [默认：服务端能接受多快就多快]",
    ),
    flag("rendezvous", Kind::Switch, &[Run]).page().help(
        "All users wait for each other and start at the same instant, every round",
        "集合点：所有用户互相等待，每次迭代在同一时刻发起请求",
    ),
    flag("warmup", Kind::Number("TIME"), &[Run]).page().help(
        "Warm up for this long; not measured [default: 0s]",
        "预热时间，期间的请求不计入结果 [默认：0s]",
    ),
    flag("arrivals", Kind::Text("KIND"), &[Run]).page().help(
        "Spacing of starts: even or poisson (random) [default: even]",
        "请求的间隔：even（均匀）或 poisson（随机）[默认：even]",
    ),
    flag("max-lateness", Kind::Number("TIME"), &[Run]).page().help(
        "Drop and count a start that could not be sent within this time [default: the timeout]",
        "调度延迟的上限：超过它仍未发出的请求会被丢弃并计数 [默认：与超时相同]",
    ),
    flag("preconnect", Kind::Switch, &[Run]).page().help(
        "Open all connections of a rate (-c) before they are needed [default: when a request needs one]",
        "固定速率下预先建立全部连接（-c）[默认：请求需要时才建立]",
    ),
    flag("grace", Kind::Number("TIME"), &[Run]).page().help(
        "Time to wait at the end for requests in flight [default: 5s]",
        "结束时等待在途请求的时间 [默认：5s]",
    ),
    flag("allow-host", Kind::List("HOST"), modes::LOADS).page().help(
        "Public host that you may load; repeatable; needed above 100 requests per second or 50 connections, and for any closed load",
        "已获授权压测的公网主机，可重复；对公网主机超过每秒 100 个请求或 50 个连接时需要，固定并发压测（-c）时也需要",
    ),
    flag("no-abort-on-failures", Kind::Switch, &[Run]).page().help(
        "Go on when hardly anything succeeds [default: stop after 30s with 95% failures]",
        "几乎全部失败时也不停止 [默认：连续 30s 失败率达到 95% 即停止]",
    ),
    flag("budget", Kind::Text("PARTS"), &[Run]).page().help(
        "Spend no more than this, whatever the load says: requests=1M,bytes=10GiB,time=10m, or some of them. Requests and time are exact; bytes (sent and received) are looked at 20 times a second, so what those 50ms and the requests in flight need comes on top",
        "用量上限，无论负载如何设置都不会超过：requests=1M,bytes=10GiB,time=10m，可只写其中几项。请求数和时间是精确的；字节数（收发合计）每秒检查 20 次，会多出最近 50ms 和在途请求的部分",
    ),
    flag("stop-file", Kind::Text("FILE"), modes::SAVED).help(
        "End the load, as Ctrl-C does, when this file appears",
        "该文件一出现就结束压测，与 Ctrl-C 相同",
    ),
];

/// Flags of scenario files.
pub(super) const FILES: &[Row] = &[
    flag("var", Kind::FreeList("NAME=VALUE"), &[Run]).page().help(
        "Set a variable of a scenario file, repeatable; target=URL sets what relative URLs begin with",
        "设置场景文件中的变量，可重复；target=URL 设置相对地址的前缀",
    ),
    flag("only", Kind::List("NAME"), &[Run])
        .page()
        .help("Run only this scenario of a file, repeatable", "只运行文件中的这个场景，可重复"),
];

/// Flags of connections while they are held.
pub(super) const HELD: &[Row] = &[
    flag("hold", Kind::Number("TIME"), &[Hold])
        .common()
        .help("How long to hold them once all have been tried [default: 60s]", "全部尝试建立之后保持多久 [默认：60s]"),
    flag("every", Kind::Number("TIME"), &[Hold]).common().help(
        "Send the message once per interval on each connection, spread evenly: 30s; or after random pauses: 100ms-1s",
        "每个连接发送消息的间隔，所有连接均匀错开：30s；或收到响应后随机等待再发送：100ms-1s",
    ),
    flag("once", Kind::Switch, &[Hold])
        .help("Send the message once on each connection, when it is open", "每个连接建立后只发送一条消息"),
    flag("receive-only", Kind::Switch, &[Hold])
        .help("Send nothing; count what the server pushes", "不发送，只统计服务端推送的消息"),
    flag("reconnect", Kind::Switch, &[Hold])
        .help("Reopen lost connections, with growing pauses", "自动重连断开的连接，间隔逐渐增大"),
    flag("grace", Kind::Number("TIME"), &[Hold])
        .help("Time to wait at the end for answers in flight [default: 5s]", "结束时等待在途响应的时间 [默认：5s]"),
];

/// Flags of curl commands as steps.
pub(super) const CURL: &[Row] = &[
    flag("curl", Kind::Text("FILE"), &[Run]).short('p').help(
        "File with curl commands, as browsers copy them (bash or cmd); each user runs them in order",
        "写有 curl 命令的文件（浏览器复制的 bash 或 cmd 格式均可）；每个用户依次执行其中的命令",
    ),
    flag("curl", Kind::Text("FILE"), &[Init]).short('p').common().help(
        "File with curl commands, as browsers copy them (bash or cmd); each becomes a step",
        "写有 curl 命令的文件（浏览器复制的 bash 或 cmd 格式均可）；每条命令成为一个步骤",
    ),
    flag("urls", Kind::Text("FILE"), &[Run]).help(
        "File with a URL, or METHOD URL BODY, a line (- for standard input); each request takes the next line; paths go to URL",
        "每行一个 URL 或“方法 URL 请求体”的文件（- 为标准输入）；每个请求取下一行；路径相对于 URL",
    ),
    flag("shuffle", Kind::Switch, &[Run]).page().help(
        "Run the commands of --curl in random order, reshuffled every round; draw each URL of --urls at random",
        "--curl 中的命令在每次迭代中随机排列；--urls 为每个请求随机取一个 URL",
    ),
];
