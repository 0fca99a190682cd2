//! Flags of the target, the load, and its duration.

use super::Mode::{Ask, Check, Completions, Demo, Doctor, Hold, Init, Man, Run};
use super::{Kind, Row, flag, modes};

flags! {
    /// Flags of the target and the load.
    pub(super) ROWS;
    "url": Kind::Word("URL"), &[Doctor];
        "Target of the connections; with it, source addresses are counted and a target on this machine is recognized",
        "连接的目标；给出后会计入源地址数，并识别目标是否就在本机";
    "connections" / 'c': Kind::Number("N"), &[Doctor];
        "Number of connections to check for; shows what to change to reach it",
        "需要的连接数；给出后会说明如何调整才能达到";
    "server": Kind::Switch, &[Doctor];
        "Check this machine as a server that accepts the connections", "按接受连接的服务端来检查本机";
    "url": Kind::Word("URL"), &[Run], page;
        brief "URL to load: http, https, ws, wss, tcp, grpc", "压测地址：http、https、ws、wss、tcp、grpc";
        "URL to load: http://, https://, ws://, wss://, tcp://host:port, or a gRPC method as grpc://host:port/package.Service/Method (grpcs:// for TLS); http:// may be left out",
        "压测地址：http://、https://、ws://、wss://、tcp://主机:端口，或 gRPC 方法 grpc://主机:端口/包名.服务/方法（TLS 用 grpcs://）；http:// 可以省略";
    "url": Kind::Word("URL"), &[Hold], common;
        "Target: ws://, wss://, tcp://host:port, or http:// and https:// with keep-alive",
        "目标：ws://、wss://、tcp://主机:端口，或 http://、https:// 长连接";
    "url": Kind::Word("URL"), &[Ask];
        "gRPC server to ask, like grpc://host:port; not needed with --proto or --protoset",
        "要查询的 gRPC 服务端，如 grpc://主机:端口；有 --proto 或 --protoset 时不需要";
    "symbol": Kind::Word("SYMBOL"), &[Ask];
        "Full name, with the package", "完整名称，需带包名";
    "shell": Kind::Shell, &[Completions];
        "bash, elvish, fish, powershell or zsh", "bash、elvish、fish、powershell 或 zsh";
    "file": Kind::Words("FILE"), &[Check], common;
        "The scenario files to check", "要检查的场景文件";
    "url": Kind::Word("URL"), &[Init], common;
        "What the file loads: http://, https://, ws://, wss://, tcp://host:port, grpc://host:port/package.Service/Method; or a curl command behind the word curl",
        "文件要压测的地址：http://、https://、ws://、wss://、tcp://主机:端口、grpc://主机:端口/包名.服务/方法；也可以在 curl 一词之后给出 curl 命令";
    "command": Kind::Word("COMMAND"), &[Man];
        "Command whose page is printed, like hold or 'grpc list' [default: the page of onrush]",
        "要输出手册页的命令，如 hold 或 'grpc list' [默认：onrush 本身]";
    "connections" / 'c': Kind::Number("N"), &[Run], page;
        brief "Connections, each used by one user [default: 50]", "固定并发（闭环）：连接数，即用户数 [默认：50]";
        "Connections, each kept busy by one user [default: 50; with a rate as many as needed, up to 10000]",
        "固定并发（闭环模型）：连接数（并发数），每个连接由一个用户持续发请求 [默认：50；给出速率时按需增加，最多 10000]";
    "connections" / 'c': Kind::Number("N"), &[Hold], common;
        "Number of connections to hold [default: 1000]", "长连接数 [默认：1000]";
    "requests" / 'n': Kind::Number("N"), &[Run], page;
        brief "Number of requests of all users [default: any]", "所有用户合计的请求数 [默认：不限]";
        "Total number of requests of all users, or of rounds when there are several steps [default: no limit]",
        "所有用户合计的请求数；有多个步骤时为总迭代次数 [默认：不限]";
    "requests-each": Kind::Number("N"), &[Run], page;
        "Number of requests of each user, or of rounds when there are several steps, as JMeter's loop count: -c 50 --ramp 2s --requests-each 20 [default: no limit]",
        "每个用户的请求数；有多个步骤时为迭代次数，相当于 JMeter 的循环次数：-c 50 --ramp 2s --requests-each 20 [默认：不限]";
    "duration" / 'z': Kind::Number("TIME"), &[Run], page;
        brief "How long to start requests [default: 10s]", "压测时长 [默认：10s]";
        "How long to start requests, like 10s, 2m, 1h30m [default: 10s without -n or --requests-each]",
        "压测时长，如 10s、2m、1h30m [默认：没有 -n 和 --requests-each 时为 10s]";
    "duration" / 'z': Kind::Number("TIME"), &[Demo], common;
        "How long the load is that is shown [default: 5s]", "所展示的压测时长 [默认：5s]";
    "rate" / 'q': Kind::Number("RATE"), &[Run], page;
        brief "Requests started per second (open model)", "固定速率（开环）：每秒发起的请求数（QPS）";
        "Requests to start per second in total, however fast the target answers (open model): 5000, 100/m, 2.5/s",
        "固定速率（开环模型）：每秒共发起的请求数（QPS），不受服务端快慢影响：5000、100/m、2.5/s";
    "stages": Kind::Free("STAGES"), &[Run], page;
        "Rates over time, as TARGET:TIME; each stage changes evenly from the one before, the first from 0: 1000:30s,1000:1m,0:10s",
        "梯度加压：速率随时间变化，每段写作 目标值:时长，从上一段的值均匀变化，第一段从 0 开始：1000:30s,1000:1m,0:10s";
    "user-stages": Kind::Free("STAGES"), &[Run], page;
        "Users over time, as TARGET:TIME; each stage changes evenly from the one before, the first from 0: 10:0s,10:30s,50:1m",
        "梯度加压：用户数随时间变化，每段写作 目标值:时长，从上一段的值均匀变化，第一段从 0 开始：10:0s,10:30s,50:1m";
    "ramp": Kind::Number("TIME|RATE"), &[Run], page;
        "Start the users of -c one after the other: over a time like 10s, or at a rate like 100/s [default: all at once]",
        "梯度加压（ramp-up）：-c 个用户在 10s 这样的时间内全部加入，或按 100/s 这样的速率加入 [默认：同时加入]";
    "ramp": Kind::Number("RATE|TIME"), &[Hold], common;
        "Open the connections at a rate like 20000/s, or over a time like 10s [default: as fast as the target accepts them]",
        "按 20000/s 这样的速率新建连接，或在 10s 这样的时间内全部建立 [默认：服务端能接受多快就多快]";
    "rendezvous": Kind::Switch, &[Run], page;
        "All users wait for each other and start at the same instant, every round",
        "集合点：所有用户互相等待，每次迭代在同一时刻发起请求";
    "warmup": Kind::Number("TIME"), &[Run], page;
        "Warm up for this long; not measured [default: 0s]", "预热时间，期间的请求不计入结果 [默认：0s]";
    "arrivals": Kind::Text("KIND"), &[Run], page;
        "Spacing of starts: even or poisson (random) [default: even]",
        "请求的间隔：even（均匀）或 poisson（随机）[默认：even]";
    "max-lateness": Kind::Number("TIME"), &[Run], page;
        "Drop and count a start that could not be sent within this time [default: the timeout]",
        "调度延迟的上限：超过它仍未发出的请求会被丢弃并计数 [默认：与超时相同]";
    "preconnect": Kind::Switch, &[Run], page;
        "Open all connections of a rate (-c) before they are needed [default: when a request needs one]",
        "固定速率下预先建立全部连接（-c）[默认：请求需要时才建立]";
    "grace": Kind::Number("TIME"), &[Run], page;
        "Time to wait at the end for requests in flight [default: 5s]", "结束时等待在途请求的时间 [默认：5s]";
    "allow-host": Kind::List("HOST"), modes::LOADS, page;
        "Public host that you may load; repeatable; needed above 100 requests per second or 50 connections, and for any closed load",
        "已获授权压测的公网主机，可重复；对公网主机超过每秒 100 个请求或 50 个连接时需要，固定并发压测（-c）时也需要";
    "no-abort-on-failures": Kind::Switch, &[Run], page;
        "Go on when hardly anything succeeds [default: stop after 30s with 95% failures]",
        "几乎全部失败时也不停止 [默认：连续 30s 失败率达到 95% 即停止]";
    "budget": Kind::Text("PARTS"), &[Run], page;
        "Spend no more than this, whatever the load says: requests=1M,bytes=10GiB,time=10m, or some of them. Requests and time are exact; bytes (sent and received) are looked at 20 times a second, so what those 50ms and the requests in flight need comes on top",
        "用量上限，无论负载如何设置都不会超过：requests=1M,bytes=10GiB,time=10m，可只写其中几项。请求数和时间是精确的；字节数（收发合计）每秒检查 20 次，会多出最近 50ms 和在途请求的部分";
    "stop-file": Kind::Text("FILE"), modes::SAVED;
        "End the load, as Ctrl-C does, when this file appears", "该文件一出现就结束压测，与 Ctrl-C 相同";
}

flags! {
    /// Flags of scenario files.
    pub(super) FILES;
    "var": Kind::FreeList("NAME=VALUE"), &[Run], page;
        "Set a variable of a scenario file, repeatable; target=URL sets what relative URLs begin with",
        "设置场景文件中的变量，可重复；target=URL 设置相对地址的前缀";
    "only": Kind::List("NAME"), &[Run], page;
        "Run only this scenario of a file, repeatable", "只运行文件中的这个场景，可重复";
}

flags! {
    /// Flags of connections while they are held.
    pub(super) HELD;
    "hold": Kind::Number("TIME"), &[Hold], common;
        "How long to hold them once all have been tried [default: 60s]", "全部尝试建立之后保持多久 [默认：60s]";
    "every": Kind::Number("TIME"), &[Hold], common;
        "Send the message once per interval on each connection, spread evenly: 30s; or after random pauses: 100ms-1s",
        "每个连接发送消息的间隔，所有连接均匀错开：30s；或收到响应后随机等待再发送：100ms-1s";
    "once": Kind::Switch, &[Hold];
        "Send the message once on each connection, when it is open", "每个连接建立后只发送一条消息";
    "receive-only": Kind::Switch, &[Hold];
        "Send nothing; count what the server pushes", "不发送，只统计服务端推送的消息";
    "reconnect": Kind::Switch, &[Hold];
        "Reopen lost connections, with growing pauses", "自动重连断开的连接，间隔逐渐增大";
    "grace": Kind::Number("TIME"), &[Hold];
        "Time to wait at the end for answers in flight [default: 5s]", "结束时等待在途响应的时间 [默认：5s]";
}

flags! {
    /// Flags of curl commands as steps.
    pub(super) CURL;
    "curl" / 'p': Kind::Text("FILE"), &[Run];
        "File with curl commands, as browsers copy them (bash or cmd); each user runs them in order",
        "写有 curl 命令的文件（浏览器复制的 bash 或 cmd 格式均可）；每个用户依次执行其中的命令";
    "curl" / 'p': Kind::Text("FILE"), &[Init], common;
        "File with curl commands, as browsers copy them (bash or cmd); each becomes a step",
        "写有 curl 命令的文件（浏览器复制的 bash 或 cmd 格式均可）；每条命令成为一个步骤";
    "urls": Kind::Text("FILE"), &[Run];
        "File with a URL, or METHOD URL BODY, a line (- for standard input); each request takes the next line; paths go to URL",
        "每行一个 URL 或“方法 URL 请求体”的文件（- 为标准输入）；每个请求取下一行；路径相对于 URL";
    "shuffle": Kind::Switch, &[Run], page;
        "Run the commands of --curl in random order, reshuffled every round; draw each URL of --urls at random",
        "--curl 中的命令在每次迭代中随机排列；--urls 为每个请求随机取一个 URL";
}
