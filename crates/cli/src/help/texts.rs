//! The texts of the commands: purpose, usage, and examples, in both languages.

use report::texts;

/// Makes examples from their rows: command line, and what it is in English and in Chinese. Alone, or by commands.
macro_rules! examples {
    ($(#[$about:meta])* $vis:vis $name:ident; $($line:literal: $english:literal, $chinese:literal;)+) => {
        $(#[$about])*
        $vis const $name: &[Example] = &[$(($line, $english, $chinese)),+];
    };
    (
        $(#[$about:meta])* $vis:vis fn $name:ident($command:ident: $kind:ty), else $others:expr;
        $($commands:pat => { $($line:literal: $english:literal, $chinese:literal;)+ })+
    ) => {
        $(#[$about])*
        $vis fn $name($command: $kind) -> &'static [Example] {
            match $command {
                $($commands => &[$(($line, $english, $chinese)),+],)+
                _ => $others,
            }
        }
    };
}

/// A text in English and Chinese.
pub(crate) type Text = (&'static str, &'static str);

const ABOUT: Text = (
    "onrush is a load generator with accurate results.\nIt sends requests and shows what came back: each second, and in a summary.",
    "onrush 是一个结果准确的压测工具。\n它向服务端发送请求，每秒显示一行结果，并在结束时给出汇总。",
);

texts! {
    /// The purpose of a command.
    pub(crate) fn about(command: &str) of command, else ABOUT;
    "run" => "Load a URL (the word run may be left out)", "压测一个 URL（run 可以省略）";
    "demo" =>
        "Start a server, load it for 5 seconds, and show the results",
        "启动自带的服务，压测 5 秒，显示表格和汇总";
    "serve" => "Serve paths with known behavior, to try loads on", "启动行为已知的被测服务，供练习和验证";
    "hold" =>
        "Hold many connections at once; a million on one machine.\nThey are opened at a steady pace, kept, send messages if wanted, and are closed cleanly.",
        "保持大量长连接，单机可达百万。\n匀速建立连接，保持，按需收发消息，最后正常关闭。";
    "doctor" =>
        "Show how many connections this machine carries, and why.\nIt names the tightest limit, and how to raise it.",
        "检查本机能承载多少连接，受什么限制。\n指出最紧的限制，以及如何放宽。";
    "find-max" =>
        "Find the highest rate, users or connections that meet goals.\nThe result is two bounds, and how sure they are.",
        "找出满足达标条件的最高速率、最多用户数或连接数。\n给出上下界，并说明有多大把握。";
    "sweep" =>
        "Run a load with each combination of some values, and compare.\nEach combination runs several times.",
        "参数扫描：用各种取值组合反复压测并比较";
    "capacity" =>
        "Compute machines, users and bandwidth from known figures.\nAlso threads and memory, from given or measured figures, with each formula.",
        "容量计算：根据已知数据算出机器数、用户数和带宽。\n还有线程数和内存；数据可以给定或来自测量，并给出公式。";
    "init" =>
        "Write a scenario file from a URL or from curl commands",
        "根据 URL 或 curl 命令生成场景文件，以此为起点";
    "report" => "Write the page of a run that was kept", "生成压测记录的报告页面";
    "history" => "List the runs that were kept", "列出压测记录";
    "web" => "Start, watch and change runs on a page", "在 Web 页面上启动、查看和调整压测";
    "ctl" => "Watch and change a run that has a page, from a shell", "在命令行查看和调整带页面的压测";
    "compare" => "Compare two runs, with what their noise allows", "比较两次压测，并考虑波动";
    "check" =>
        "Check a scenario file, without sending anything.\nIt lists every mistake at once, with its line and a remedy.",
        "检查场景文件，不发送任何请求。\n一次列出全部错误，附上所在行和改法。";
    "worker" =>
        "Carry out a part of a load that another onrush leads",
        "分布式压测的工作进程：承担主控进程分配的一部分负载";
    "bus" =>
        "Start a nats-server on which workers of many machines meet",
        "启动分布式压测的总线（nats-server），供各机工作进程加入";
    "recover" =>
        "Rebuild the report of a run from the journals of its workers.\nIt serves when the bus or the leader was lost.",
        "用各工作进程的本地留存还原一次压测的报告。\n用于总线或主控进程丢失之后。";
    "selftest" =>
        "Load a server of known behavior, and compare with theory.\nEvery figure is compared; it takes less than a minute.",
        "压测行为已知的服务，把每项数据与理论值对比。\n不到一分钟。";
    "grpc" =>
        "Show the services of a gRPC server or of .proto files.\nThe server is asked by server reflection.",
        "查看 gRPC 服务端或 .proto 文件中的服务。\n服务端通过反射查询。";
    "list" => "List the services, or the methods of one", "列出所有服务，或某个服务的方法";
    "describe" =>
        "Describe a service, method, message or enum, with a -d to start from",
        "查看服务、方法、消息或枚举的定义，并给出 -d 的样例";
    "as" =>
        "Take the command line of wrk, wrk2, ab, hey, oha and others.\nThe output is that of the tool: wrk, wrk2, ab, hey, oha, webbench, go-stress-testing.",
        "沿用 wrk、wrk2、ab、hey、oha 等工具的命令行。\n输出格式也与该工具相同：wrk、wrk2、ab、hey、oha、webbench、go-stress-testing。";
    "curl" =>
        "Load the request of a curl command.\nFlags before the word curl configure the load.",
        "压测一条 curl 命令的请求。\n写在 curl 之前的参数设置负载。";
    "completions" => "Print the completions for a shell", "输出 shell 补全脚本";
    "man" => "Print a manual page", "输出 man 手册页";
}

/// The purpose of a command in one line.
pub(crate) fn purpose(command: &str, language: report::Language) -> &'static str {
    let (english, chinese) = about(command);
    let first = language.pick(english, chinese).lines().next().unwrap_or_default();
    if command == "onrush" { first } else { first.trim_end_matches(['.', '。']) }
}

texts! {
    /// The usage of a command, a line for each form.
    pub(crate) fn usage(command: &str) of command;
    "run" => "onrush run [flags] URL", "onrush run [参数] URL";
    "demo" => "onrush demo [flags]", "onrush demo [参数]";
    "serve" => "onrush serve [flags]", "onrush serve [参数]";
    "hold" => "onrush hold [flags] URL", "onrush hold [参数] URL";
    "doctor" => "onrush doctor [flags] [URL]", "onrush doctor [参数] [URL]";
    "find-max" =>
        "onrush find-max [flags] [flags of run] URL\nonrush find-max [flags] hold [flags of hold] URL",
        "onrush find-max [参数] [run 的参数] URL\nonrush find-max [参数] hold [hold 的参数] URL";
    "sweep" =>
        "onrush sweep --vary NAME=VALUES [flags] [flags of run] URL\nonrush sweep --vary NAME=VALUES [flags] hold [flags of hold] URL",
        "onrush sweep --vary NAME=VALUES [参数] [run 的参数] URL\nonrush sweep --vary NAME=VALUES [参数] hold [hold 的参数] URL";
    "capacity" => "onrush capacity [flags]", "onrush capacity [参数]";
    "init" =>
        "onrush init [flags] URL\nonrush init [flags] curl [flags of curl] URL",
        "onrush init [参数] URL\nonrush init [参数] curl [curl 的参数] URL";
    "report" => "onrush report [flags] RUN", "onrush report [参数] RUN";
    "history" => "onrush history [flags]", "onrush history [参数]";
    "web" => "onrush web [flags]", "onrush web [参数]";
    "ctl" => "onrush ctl [flags] DO [VALUE]", "onrush ctl [参数] DO [VALUE]";
    "compare" =>
        "onrush compare [flags] A B\nonrush compare [flags] A1 A2... -- B1 B2...",
        "onrush compare [参数] A B\nonrush compare [参数] A1 A2... -- B1 B2...";
    "check" => "onrush check [flags] FILE...", "onrush check [参数] FILE...";
    "worker" => "onrush worker --join BUS [flags]", "onrush worker --join BUS [参数]";
    "bus" => "onrush bus [flags]", "onrush bus [参数]";
    "recover" => "onrush recover [flags] JOURNAL...", "onrush recover [参数] JOURNAL...";
    "selftest" => "onrush selftest [flags]", "onrush selftest [参数]";
    "grpc" =>
        "onrush grpc list [flags] [URL] [SYMBOL]\nonrush grpc describe [flags] [URL] [SYMBOL]",
        "onrush grpc list [参数] [URL] [SYMBOL]\nonrush grpc describe [参数] [URL] [SYMBOL]";
    "list" => "onrush grpc list [flags] [URL] [SYMBOL]", "onrush grpc list [参数] [URL] [SYMBOL]";
    "describe" => "onrush grpc describe [flags] [URL] [SYMBOL]", "onrush grpc describe [参数] [URL] [SYMBOL]";
    "as" =>
        "onrush as TOOL [--native] [--web] [--screen] [flags of the tool]",
        "onrush as 工具 [--native] [--web] [--screen] [该工具的参数]";
    "curl" =>
        "onrush [flags of the load] curl [flags of curl] URL\nonrush init [flags] curl [flags of curl] URL",
        "onrush [负载参数] curl [curl 的参数] URL\nonrush init [参数] curl [curl 的参数] URL";
    "completions" => "onrush completions SHELL", "onrush completions SHELL";
    "man" => "onrush man [COMMAND]", "onrush man [COMMAND]";
    _ => "onrush [flags] URL\nonrush COMMAND [flags] ...", "onrush [参数] URL\nonrush 命令 [参数] ...";
}

/// An example: a command line, and its meaning in English and in Chinese.
pub(crate) type Example = (&'static str, &'static str, &'static str);

examples! {
    /// Examples of a command, the simplest first.
    pub(crate) fn examples(command: &str), else LOADS;
    "demo" => {
        "onrush demo": "a first look, against a server of its own", "快速体验，压测自带的服务";
    }
    "serve" => {
        "onrush serve": "a server on 127.0.0.1:8080", "在 127.0.0.1:8080 启动服务";
        "onrush serve --tls --listen 127.0.0.1:8443": "the same with TLS", "启用 TLS";
        "onrush serve --tcp 9000": "plain TCP on port 9000 too", "同时在 9000 端口提供 TCP 回显";
    }
    "hold" => {
        "onrush hold -c 100000 --ramp 20000/s --hold 1m ws://127.0.0.1:8080/":
            "100,000 connections for a minute", "保持 10 万个连接 1 分钟";
        "onrush hold --every 30s ws://127.0.0.1:8080/": "a message on each every 30 s", "每个连接每 30 秒一条消息";
        "onrush hold --receive-only ws://127.0.0.1:8080/": "count what is pushed", "只统计服务端推送";
    }
    "find-max" => {
        "onrush find-max --goal 'p99(response_time) < 200ms' http://127.0.0.1:8080/":
            "the highest rate with that p99; 12 minutes", "满足该 p99 的最高速率；12 分钟";
        "onrush find-max --budget 60s http://127.0.0.1:8080/": "in a minute, with wider bounds", "一分钟，上下界更宽";
        "onrush find-max --vary users shop.yaml": "the most users of a scenario file", "场景文件可承受的最多用户数";
        "onrush find-max hold ws://127.0.0.1:8080/": "the most connections", "最多连接数";
    }
    "sweep" => {
        "onrush sweep --vary connections=9,99 --vary threads=1,2 http://127.0.0.1:8080/":
            "four combinations, three runs of each", "4 种组合，每种压测 3 次";
        "onrush sweep --vary keepalive=on,off -z 5s http://127.0.0.1:8080/":
            "what connections that are kept save", "长连接与短连接的差别";
        "onrush sweep --vary url=/bytes/100,/bytes/10000 http://127.0.0.1:8080/":
            "answers of several sizes", "不同大小的响应";
    }
    "capacity" => {
        "onrush capacity --page-views 30M --per-machine 69/s": "how many machines", "需要多少台机器";
        "onrush capacity --rate 1400/s --from max.json": "the same from a find-max", "根据 find-max 的结果计算";
        "onrush capacity --rate 500/s --response 200ms --think 5s":
            "how many users make that rate", "多少用户会产生该速率";
    }
    "doctor" => {
        "onrush doctor": "what this machine allows", "查看本机的各项上限";
        "onrush doctor -c 50000": "what to change for 50,000 connections", "承载 5 万个连接需要怎样调整";
    }
    "bus" => {
        "onrush bus": "a bus on port 4222, and what to write elsewhere", "在 4222 端口启动总线，并打印其他机器要用的命令";
    }
    "recover" => {
        "onrush recover --html report.html journals/*":
            "the report of a run, from the journals of its workers", "用各工作进程的本地留存生成一次压测的报告";
    }
    "report" => {
        "onrush report last --html report.html": "the page of the last run", "最近一次压测的报告页面";
    }
    "history" => {
        "onrush history": "runs that were kept, the latest first", "压测记录，最近的在前";
        "onrush history --trend": "where they changed", "从哪一次起明显变化";
    }
    "web" => {
        "onrush web": "a page for runs; the link is printed", "启动和查看压测的 Web 页面；启动时会打印链接";
        "onrush web --web-listen 0.0.0.0:8089": "also for other machines, with the token", "其他机器也可凭令牌访问";
    }
    "ctl" => {
        "onrush ctl rate 2000/s --over 10s": "a higher rate", "提高速率";
        "onrush ctl pause": "no more starts until 'onrush ctl resume'", "暂停，直到 'onrush ctl resume'";
        "onrush ctl start -- -q 500/s -z 1m http://127.0.0.1:8080/":
            "a run of 'onrush web'", "让 'onrush web' 启动压测";
    }
    "compare" => {
        "onrush compare last~1 last": "the last run against the one before", "最近一次与前一次比较";
        "onrush compare A1 A2 -- B1 B2": "two runs of each side", "每组两条记录";
        "onrush compare last~1 last --fail-if 'p99(response_time) > +10%'":
            "for CI: exit code 1 when p99 is clearly worse", "用于 CI：p99 明显变差时退出码为 1";
    }
    "init" => {
        "onrush init http://127.0.0.1:8080/items/7 -o shop.yaml": "a file with one step", "生成只有一个步骤的文件";
        "onrush init curl http://127.0.0.1:8080/echo -d '{\"a\":1}'": "the step of a command", "由 curl 命令生成步骤";
        "onrush init -p commands.txt -o shop.yaml": "a step for each command", "每条命令一个步骤";
    }
    "check" => {
        "onrush check shop.yaml": "is this file right?", "检查这个文件";
        "onrush check scenarios/*.yaml": "each of these files", "检查多个文件";
    }
    "selftest" => {
        "onrush selftest": "on every driver that works here", "在本机可用的每种 I/O 后端上自检";
    }
    "grpc" | "list" | "describe" => {
        "onrush grpc list grpc://127.0.0.1:8080": "the services", "列出服务";
        "onrush grpc list grpc://127.0.0.1:8080 hello.Greeter": "the methods of one", "列出某个服务的方法";
        "onrush grpc describe grpc://127.0.0.1:8080 hello.Greeter/SayHello":
            "a method and its messages", "查看方法及其消息";
    }
    "as" => {
        "onrush as wrk -t2 -c100 -d5s --latency http://127.0.0.1:8080/": "a command line of wrk", "wrk 的命令行";
        "onrush as ab -n 1000 -c 10 http://127.0.0.1:8080/": "one of ab", "ab 的命令行";
        "onrush as wrk --native -t2 -c100 -d5s http://127.0.0.1:8080/":
            "with the output of onrush", "使用 onrush 自己的输出";
    }
    "curl" => {
        "onrush -c 100 -z 10s curl 'http://127.0.0.1:8080/echo' -H 'Cookie: a=b' --data-raw '{}'":
            "a command as the browser copies it", "浏览器复制出来的命令";
    }
    "completions" => {
        "onrush completions bash > onrush.bash": "to be sourced", "供 source 使用";
        "onrush completions zsh > _onrush": "into a folder of fpath", "放入 fpath 中的目录";
    }
    "man" => {
        "onrush man hold > onrush-hold.1": "man ./onrush-hold.1 shows it", "用 man ./onrush-hold.1 查看";
    }
}

examples! {
    LOADS;
    "onrush http://127.0.0.1:8080/": "50 connections for 10 seconds", "50 个连接，持续 10 秒";
    "onrush -c 100 -n 100000 http://127.0.0.1:8080/":
        "100,000 requests over 100 connections", "100 个连接，共 10 万个请求";
    "onrush -q 2000 --threshold 'p99(response_time) < 200ms' http://127.0.0.1:8080/":
        "2,000 requests/s; exit code 1 if p99 is too long", "每秒 2000 个请求；p99 过长时退出码为 1";
    "onrush -d '{}' -H 'Content-Type: application/json' http://127.0.0.1:8080/echo":
        "POST with a body and a header", "带请求体和请求头的 POST";
    "onrush grpc://127.0.0.1:8080/hello.Greeter/SayHello -d '{\"name\": \"world\"}'":
        "calls of a gRPC method", "调用 gRPC 方法";
    "onrush -c 100 -d hello ws://127.0.0.1:8080/": "messages over WebSocket", "WebSocket 消息";
    "onrush --output json -z 5s http://127.0.0.1:8080/ | jq .requests_per_s":
        "a report for programs", "供程序读取的报告";
}

/// The meaning of the exit codes.
pub(crate) const EXIT_CODES: Text = (
    "0 done; 1 an expectation (--expect-...), threshold or self-test failed, or no load met the goals; 2 wrong usage; 3 nothing could be measured; \
     4 a report could not be written or the system refused; 130 stopped by the user",
    "0 完成；1 断言（--expect-...）、阈值或自检未通过，或没有达标的负载；2 用法错误；3 没有测到任何数据；\
     4 报告无法写出或系统拒绝；130 被用户中止",
);

examples! {
    /// The paths of `serve`.
    pub(crate) PATHS;
    "/": "27 bytes", "27 字节";
    "/bytes/N, /chunked/N": "N bytes, with a length or in chunks", "N 字节，带长度或分块";
    "/delay/MS": "waits before the answer", "延迟后响应";
    "/delay/uniform/LOW-HIGH": "waits for a random time, evenly spread", "在两者之间均匀随机延迟";
    "/delay/lognormal/MEDIAN,SIGMA": "waits for a random time with a long tail", "对数正态分布的随机延迟（长尾）";
    "/serial/MS": "serves one request at a time, MS each", "整个服务一次只处理一个请求，每个 MS 毫秒";
    "/queue/WORKERS/MS[/even]": "a queue with random or even service times", "服务时间随机或固定的队列";
    "/queue/log": "what queues served, as CSV", "队列的服务记录（CSV）";
    "/drip/PIECES/MS": "a body in pieces, MS apart", "分块逐渐返回响应体";
    "/stall/AFTER/FOR":
        "answers; AFTER later the whole server stands still FOR", "先响应；AFTER 毫秒后整个服务卡顿 FOR 毫秒";
    "/gate/NAME, /gate/NAME/waiting": "waits until the gate is open; how many wait", "等到闸门打开才响应；等待的请求数";
    "POST /gate/NAME/open": "opens the gate", "打开这道闸门";
    "/fail/PERCENT[/STATUS]": "a 500, or STATUS, for this share of requests", "按此比例返回 500 或指定状态码";
    "/status/N, /echo": "a status; the body that was sent", "指定状态码；原样返回请求体";
    "/redirect/N": "redirects N times, then /", "连续重定向 N 次，最后到 /";
    "/close, /drop": "answers and closes; closes without an answer", "响应后关闭；不响应直接关闭";
    "/login, /account, /logout":
        "a form with a hidden token, a session by cookie", "登录表单（含隐藏令牌）、用 cookie 识别的会话";
    "/api/token[?ttl=SECONDS]": "a token; the session it belongs to is checked", "返回令牌；之后检查它所属的会话";
    "/oauth/token": "a token for a client with an ID and a secret", "凭 ID 和密钥返回客户端的令牌";
    "/items[?page=N&last=K], /api/items": "a page of links; the same as JSON", "商品链接的分页；同样内容的 JSON";
    "/items/N, /search?q=": "one item as JSON; a few items", "单个商品（JSON）；搜索";
    "/cart, /pay, /order": "a cart; an order that is paid after some looks", "购物车；查询几次后完成的订单";
    "/limited[?per_s=N]": "a 429 with Retry-After above N requests a second", "每秒超过 N 个请求时返回 429 和 Retry-After";
    "/graphql": "one item, by a query or the hash of one", "用查询或其哈希返回单个商品（GraphQL）";
    "/files, /files/ID": "stores a file; gives it back", "保存文件；取回文件";
    "/room/N?token= (WebSocket)": "each message goes to all in the room", "每条消息发给房间中的所有连接";
    "/acc (WebSocket)":
        "commands as JSON, answered as go-stress-testing expects", "JSON 命令，按 go-stress-testing 所需的格式响应";
    "/stats/sessions, /stats/books":
        "requests of each session; by path, user and session", "每个会话的请求数；按路径、用户和会话统计（JSON）";
    "/stats, /conns": "what the server counted, as JSON", "服务端的统计（JSON）";
}
