//! What is loaded, how hard, and for how long.

use super::{Kind, Row, flag, modes};

/// What is loaded, and the load.
pub(super) const ROWS: &[Row] = &[
    flag("url", Kind::Word("URL"), modes::DOCTOR).help(
        "Where connections are to go; with it, addresses are counted and both ends seen",
        "连接的目标；给出时会计入源地址数，并识别两端是否都在本机",
    ),
    flag("connections", Kind::Number("N"), modes::DOCTOR).short('c').help(
        "How many connections are wanted; then it says what to change",
        "需要多少个连接；给出时会说明如何调整",
    ),
    flag("server", Kind::Switch, modes::DOCTOR).help(
        "Look at this machine as a server that accepts them",
        "按接受连接的服务端检查",
    ),
    flag("url", Kind::Word("URL"), modes::RUN).help(
        "What to load: http://, https://, ws://, wss://, tcp://host:port, or a method grpc://host:port/package.Service/Method (grpcs:// with TLS); without a scheme, http:// is meant",
        "压测地址：http://、https://、ws://、wss://、tcp://主机:端口，或 gRPC 方法 grpc://主机:端口/包名.服务/方法（TLS 用 grpcs://）；不写协议时为 http://",
    ),
    flag("url", Kind::Word("URL"), modes::HOLD).help(
        "Where: ws://, wss://, tcp://host:port, or http:// and https:// kept alive",
        "目标：ws://、wss://、tcp://主机:端口，或 http://、https:// 长连接",
    ),
    flag("url", Kind::Word("URL"), modes::ASK).help(
        "Who is asked, like grpc://host:port; not needed with --proto or --protoset",
        "查询地址，如 grpc://主机:端口；有 --proto 或 --protoset 时不需要",
    ),
    flag("symbol", Kind::Word("SYMBOL"), modes::ASK).help(
        "The name, with its package",
        "名称，需带包名",
    ),
    flag("shell", Kind::Shell, modes::COMPLETIONS).help(
        "bash, elvish, fish, powershell or zsh",
        "bash、elvish、fish、powershell 或 zsh",
    ),
    flag("curl", Kind::Text("FILE"), modes::RUN).short('p').help(
        "A file with curl commands, as browsers copy them (bash or cmd); several are done in order by each user",
        "写有 curl 命令的文件（浏览器复制的 bash 或 cmd 格式均可）；多条命令由每个用户依次执行",
    ),
    flag("shuffle", Kind::Switch, modes::RUN).help(
        "The commands of --curl in an order that is drawn anew each time round",
        "--curl 中的命令每一轮都随机排列顺序",
    ),
    flag("connections", Kind::Number("N"), modes::RUN).short('c').help(
        "Connections, each with one user that is kept busy [default: 50; with a rate as many as needed, up to 10000]",
        "连接数（并发数），每个连接对应一个持续发请求的用户 [默认：50；给出速率时按需增加，最多 10000]",
    ),
    flag("connections", Kind::Number("N"), modes::HOLD).short('c').help(
        "How many connections are held [default: 1000]",
        "保持的连接数 [默认：1000]",
    ),
    flag("requests", Kind::Number("N"), modes::RUN).short('n').help(
        "Iterations in all: requests, or rounds of several commands [default: no bound]",
        "总轮数：请求数，多条命令时为轮数 [默认：不限]",
    ),
    flag("duration", Kind::Number("TIME"), modes::RUN).short('z').help(
        "How long requests are started, like 10s, 2m, 1h30m [default: 10s without -n]",
        "持续时间，如 10s、2m、1h30m [默认：没有 -n 时为 10s]",
    ),
    flag("rate", Kind::Number("RATE"), modes::RUN).short('q').help(
        "Starts a second in all, whatever the target does (open model): 5000, 100/m, 2.5/s",
        "每秒总共发起多少个请求，不受服务端快慢影响（开放模型）：5000、100/m、2.5/s",
    ),
    flag("stages", Kind::Free("STAGES"), modes::RUN).help(
        "Rates (or users) over time, TARGET:TIME each, changing evenly from the one before, 0 at first: 1000:30s,1000:1m,0:10s",
        "速率（或用户数）随时间的变化，每段为 目标:时间，从上一段均匀变化，起点为 0：1000:30s,1000:1m,0:10s",
    ),
    flag("stages-of", Kind::Text("WHAT"), modes::RUN).help(
        "What the stages count: rate or users [default: rate]",
        "--stages 的含义：rate（速率）或 users（用户数）[默认：rate]",
    ),
    flag("ramp", Kind::Number("RATE"), modes::RUN).help(
        "Users of -c that are started a second, like 100/s [default: all at once]",
        "每秒启动多少个用户（共 -c 个），如 100/s [默认：同时启动]",
    ),
    flag("ramp", Kind::Number("RATE"), modes::HOLD).help(
        "Connections that are opened a second, like 20000/s [default: as fast as they are taken]",
        "每秒新建多少个连接，如 20000/s [默认：对端能接受多快就多快]",
    ),
    flag("rendezvous", Kind::Switch, modes::RUN).help(
        "All users wait for each other and start in one instant, round after round",
        "集合点：所有用户互相等待，每一轮在同一时刻发起请求",
    ),
    flag("warmup", Kind::Number("TIME"), modes::RUN).help(
        "Run the load for so long before it counts [default: 0s]",
        "预热时间，期间的请求不计入结果 [默认：0s]",
    ),
    flag("arrivals", Kind::Text("KIND"), modes::RUN).help(
        "How starts are spaced: even or poisson (at random) [default: even]",
        "请求的间隔：even（均匀）或 poisson（随机）[默认：even]",
    ),
    flag("max-lateness", Kind::Number("TIME"), modes::RUN).help(
        "A start that could not be sent for so long is dropped and counted [default: the timeout]",
        "请求超过这个时间仍未能发出就放弃并计数 [默认：与超时相同]",
    ),
];

/// The work of connections that are held.
pub(super) const HELD: &[Row] = &[
    flag("hold", Kind::Number("TIME"), modes::HOLD)
        .help("How long they are held when all have been tried [default: 60s]", "全部尝试建立之后保持多久 [默认：60s]"),
    flag("every", Kind::Number("TIME"), modes::HOLD).help(
        "Each sends its message once in this time, spread evenly over all: 30s; or after a random pause: 100ms-1s",
        "每个连接每隔这么久发送一条消息，所有连接均匀错开：30s；或每次随机停顿后发送：100ms-1s",
    ),
    flag("once", Kind::Switch, modes::HOLD)
        .help("Each sends its message once, when it is there", "每个连接建立后只发送一条消息"),
    flag("receive-only", Kind::Switch, modes::HOLD)
        .help("Send nothing, count what is pushed", "不发送，只统计服务端推送的消息"),
    flag("reconnect", Kind::Switch, modes::HOLD)
        .help("Try lost connections again, after a pause that grows", "断开的连接重新建立，间隔逐渐增大"),
];
