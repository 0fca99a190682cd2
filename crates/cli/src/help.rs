//! What the commands and flags mean to people, in both languages. Help, completions and manual come from here.

use clap::{Command, CommandFactory};
use report::Language;

use crate::args::Cli;

/// English and Chinese.
type Text = (&'static str, &'static str);

const ABOUT: Text = (
    "onrush is a load generator whose numbers are true.\nIt sends requests to a server and shows what came back, second by second and in sum.",
    "onrush 是一个数据真实可信的压测工具。\n它向服务端发送请求，逐秒显示结果，并在结束时给出汇总。",
);

const EXAMPLES: Text = (
    "Examples:
  onrush demo                                   a first look, against a server of its own
  onrush http://127.0.0.1:8080/                 50 connections for 10 seconds
  onrush -c 100 -n 100000 http://127.0.0.1/     100,000 requests over 100 connections
  onrush -z 1m -H 'Cookie: a=b' localhost:8080  a minute with a header of your own
  onrush -d @order.json -H 'Content-Type: application/json' http://127.0.0.1/orders
  onrush -q 5000 -z 1m --threshold 'p99(response_time) < 200ms' http://127.0.0.1/
  onrush grpc://127.0.0.1:8080/hello.Greeter/SayHello -d '{\"name\": \"world\"}'
  onrush hold -c 100000 --every 30s ws://127.0.0.1:8080/
  onrush -c 100 -z 30s curl 'http://127.0.0.1/api' -H 'Cookie: a=b' --data-raw '{}'   a command of curl as it is
  onrush as wrk -t2 -c100 -d30s --latency http://127.0.0.1/   and of wrk, wrk2, ab, hey, oha, webbench, go-stress-testing
  onrush --output json -z 5s http://127.0.0.1/ | jq .requests_per_s

Exit codes: 0 done, 1 an expectation (--expect-...), threshold or self-test failed, 2 wrong usage, 3 nothing could be measured,
4 a report could not be written or the system refused, 130 stopped by the user.",
    "示例：
  onrush demo                                   快速体验，压测自带的服务
  onrush http://127.0.0.1:8080/                 50 个连接，持续 10 秒
  onrush -c 100 -n 100000 http://127.0.0.1/     100 个连接，共 100,000 个请求
  onrush -z 1m -H 'Cookie: a=b' localhost:8080  持续一分钟，带自定义请求头
  onrush -d @order.json -H 'Content-Type: application/json' http://127.0.0.1/orders
  onrush -q 5000 -z 1m --threshold 'p99(response_time) < 200ms' http://127.0.0.1/
  onrush grpc://127.0.0.1:8080/hello.Greeter/SayHello -d '{\"name\": \"world\"}'
  onrush hold -c 100000 --every 30s ws://127.0.0.1:8080/
  onrush -c 100 -z 30s curl 'http://127.0.0.1/api' -H 'Cookie: a=b' --data-raw '{}'   直接使用 curl 命令
  onrush as wrk -t2 -c100 -d30s --latency http://127.0.0.1/   也支持 wrk2、ab、hey、oha、webbench、go-stress-testing
  onrush --output json -z 5s http://127.0.0.1/ | jq .requests_per_s

退出码：0 完成；1 未达到期望（--expect-...）、阈值或自检未通过；2 用法错误；3 没有测到任何数据；
4 报告无法写出或系统不允许运行；130 被用户中止。",
);

/// The text of a command.
fn about(command: &str) -> Text {
    match command {
        "run" => ("Load a URL (the word run may be left out)", "压测一个 URL（run 可以省略）"),
        "demo" => (
            "Start a server on a free local port, load it for 5 seconds, show table and summary",
            "在空闲的本地端口启动服务，压测 5 秒，显示表格和汇总",
        ),
        "serve" => (
            "Serve WebSocket (an echo on any path) and paths with known behaviour to load: / /bytes/N /chunked/N /delay/MS /delay/uniform/LOW-HIGH /delay/lognormal/MEDIAN,SIGMA /serial/MS (one at a time) /stall/AFTER/FOR (all stand still, ms) /fail/PERCENT[/STATUS] /drip/PIECES/MS /status/N /redirect/N /echo /close /drop /stats /conns; HTTP/2 too, and gRPC: hello.Greeter, with reflection",
            "启动行为已知的被测服务，任意路径可作 WebSocket 回显：/ /bytes/N /chunked/N /delay/毫秒 /delay/uniform/最短-最长 /delay/lognormal/中位数,SIGMA /serial/毫秒（一次只处理一个） /stall/多久之后/多久（整体停顿，毫秒） /fail/百分比[/状态码] /drip/块数/毫秒 /status/N /redirect/N /echo /close /drop /stats /conns；也支持 HTTP/2 和 gRPC（hello.Greeter，带反射）",
        ),
        "hold" => (
            "Hold many connections: open them at a pace, keep them, speak on them, close them in order; a million on one machine",
            "保持大量长连接：按节奏建立、保持、收发消息、正常关闭；单机可达百万",
        ),
        "doctor" => (
            "Say how many connections this machine carries, what is the narrowest, and how to widen it",
            "检查本机能承载多少连接、瓶颈在哪里、如何放宽",
        ),
        "selftest" => (
            "Load a server of known behaviour and compare every figure with what it must be; under a minute",
            "压测行为已知的服务，把每项数据与理论值对比；不到一分钟",
        ),
        "grpc" => (
            "Ask a gRPC server what services it has (server reflection), or read it from .proto files",
            "查询 gRPC 服务端有哪些服务（服务端反射），或从 .proto 文件读取",
        ),
        "list" => (
            "List the services, or the methods of one: onrush grpc list grpc://host:port [package.Service]",
            "列出所有服务，或某个服务的方法：onrush grpc list grpc://主机:端口 [包名.服务]",
        ),
        "describe" => (
            "Describe a service, method, message or enum, with a -d to begin with: onrush grpc describe grpc://host:port package.Service/Method",
            "查看服务、方法、消息或枚举的定义，并给出 -d 的样例：onrush grpc describe grpc://主机:端口 包名.服务/方法",
        ),
        "completions" => ("Print the completions of a shell", "输出 shell 补全脚本"),
        "man" => ("Print the manual page", "输出 man 手册页"),
        _ => ABOUT,
    }
}

/// The text of a flag; the same flag means the same in every command.
fn flag(command: &str, id: &str) -> Option<Text> {
    Some(match (command, id) {
        ("list" | "describe", "url") => (
            "Who is asked, like grpc://host:port; not needed with --proto or --protoset",
            "查询地址，如 grpc://主机:端口；有 --proto 或 --protoset 时不需要",
        ),
        ("list" | "describe", "symbol") => ("The name, with its package", "名称，需带包名"),
        ("list" | "describe", "headers") => ("Metadata 'name: value', repeatable", "元数据 'name: value'，可重复"),
        ("list" | "describe", "timeout") => ("Time for all answers [default: 30s]", "等待响应的总时间 [默认：30s]"),
        ("hold", "url") => (
            "Where: ws://, wss://, tcp://host:port, or http:// and https:// kept alive",
            "目标：ws://、wss://、tcp://主机:端口，或 http://、https:// 长连接",
        ),
        ("hold", "connections") => ("How many connections are held [default: 1000]", "保持的连接数 [默认：1000]"),
        ("hold", "ramp") => (
            "Connections that are opened a second, like 20000/s [default: as fast as they are taken]",
            "每秒新建多少个连接，如 20000/s [默认：对端能接受多快就多快]",
        ),
        ("hold", "hold") => {
            ("How long they are held when all have been tried [default: 60s]", "全部尝试建立之后保持多久 [默认：60s]")
        }
        ("hold", "every") => (
            "Each sends its message once in this time, spread evenly over all: 30s; or after a random pause: 100ms-1s",
            "每个连接每隔这么久发送一条消息，所有连接均匀错开：30s；或每次随机停顿后发送：100ms-1s",
        ),
        ("hold", "once") => ("Each sends its message once, when it is there", "每个连接建立后只发送一条消息"),
        ("hold", "receive_only") => ("Send nothing, count what is pushed", "不发送，只统计服务端推送的消息"),
        ("hold", "reconnect") => {
            ("Try lost connections again, after a pause that grows", "断开的连接重新建立，间隔逐渐增大")
        }
        ("hold", "data") => (
            "The message; @FILE reads a file, hex:0aff gives bytes [default of WebSocket: a ping]",
            "消息内容；@FILE 读取文件，hex:0aff 为十六进制字节 [WebSocket 默认：ping]",
        ),
        ("hold", "timeout") => (
            "Time for an answer; without one the connection is lost [default: 30s]",
            "等待应答的超时，超时即视为断开 [默认：30s]",
        ),
        ("hold", "grace") => {
            ("Time for answers in flight at the end [default: 5s]", "结束时等待在途应答的时间 [默认：5s]")
        }
        ("serve", "tcp") => (
            "Speak plain TCP on this port too: what comes is given back",
            "同时在该端口提供 TCP 服务：收到什么就返回什么",
        ),
        ("serve", "push") => (
            "Send two bytes on each WebSocket and TCP connection so often, like 550s [default: never]",
            "每隔这么久向每个 WebSocket 和 TCP 连接推送两个字节，如 550s [默认：不推送]",
        ),
        ("doctor", "url") => (
            "Where connections are to go; with it, addresses are counted and both ends seen",
            "连接的目标；给出时会计入源地址数，并识别两端是否都在本机",
        ),
        ("doctor", "connections") => {
            ("How many connections are wanted; then it says what to change", "需要多少个连接；给出时会说明如何调整")
        }
        ("doctor", "is_server") => ("Look at this machine as a server that accepts them", "按接受连接的服务端检查"),
        ("doctor", "apply") => (
            "Make the changes of sysctl now, and say how each is undone; files are left alone",
            "立即执行 sysctl 修改，并给出撤销命令；不修改任何文件",
        ),
        ("doctor", "is_json") => ("Print JSON", "输出 JSON"),
        (_, "data_bytes") => {
            ("A message of so many random bytes, of WebSocket or TCP", "WebSocket 或 TCP 消息为这么多随机字节")
        }
        ("serve", "seed") => ("Seed of random delays [default: 1]", "随机延迟的种子 [默认：1]"),
        (_, "seed") => ("Seed of --data-bytes [default: 1]", "--data-bytes 的种子 [默认：1]"),
        (_, "until") => (
            "Of TCP: an answer ends behind these bytes, like '\\n' or '\\x00'",
            "TCP：应答以这些字节结束，如 '\\n' 或 '\\x00'",
        ),
        (_, "read_bytes") => ("Of TCP: an answer has so many bytes", "TCP：应答固定为这么多字节"),
        (_, "length_prefix") => (
            "Of TCP: a number of 1, 2, 4 or 8 bytes says how many follow; 2le, 4le, 8le with the least one first",
            "TCP：应答以 1、2、4 或 8 字节的长度开头；2le、4le、8le 为小端",
        ),
        (_, "no_answer") => ("Of TCP and WebSocket: nothing is answered", "TCP 和 WebSocket：没有应答"),
        (_, "ws_type") => (
            "Of WebSocket: text, binary or ping [default: text if -d is one; a ping without -d]",
            "WebSocket：text、binary 或 ping [默认：-d 为文本时 text；没有 -d 时 ping]",
        ),
        (_, "subprotocols") => ("Of WebSocket: a subprotocol to offer, repeatable", "WebSocket：提供的子协议，可重复"),
        (_, "ws_deflate") => (
            "Of WebSocket: offer compression (permessage-deflate); our messages are compressed each by itself",
            "WebSocket：提供压缩（permessage-deflate）；发出的消息各自单独压缩",
        ),
        (_, "source_ip") => (
            "Addresses of this machine to come from, in turn: 10.0.0.2-10.0.0.9,10.0.1.0/24, or auto [default: the kernel's choice; on 127.0.0.1 as many as are needed]",
            "轮流使用的本机源地址：10.0.0.2-10.0.0.9,10.0.1.0/24 或 auto [默认：由内核选择；目标为 127.0.0.1 时按需增加]",
        ),
        (_, "to") => (
            "Places to connect to, in turn, instead of the host of the URL: 10.0.0.1:8001-8016,:8080",
            "轮流连接的地址和端口，代替 URL 中的主机：10.0.0.1:8001-8016,:8080",
        ),
        (_, "protos") => (
            "File that defines the gRPC service, repeatable [default: ask the server (reflection)]",
            "定义 gRPC 服务的 .proto 文件，可重复 [默认：向服务端查询（反射）]",
        ),
        (_, "import_paths") => (
            "Directory for imports of --proto, repeatable [default: that of the file, and the current one]",
            "--proto 中 import 的查找目录，可重复 [默认：文件所在目录和当前目录]",
        ),
        (_, "protosets") => (
            "Descriptions that protoc --descriptor_set_out wrote, instead of --proto; repeatable",
            "protoc --descriptor_set_out 生成的描述符集，可代替 --proto；可重复",
        ),
        (_, "message_interval") => (
            "Time between two messages of a gRPC stream [default: 0s, all at once]",
            "gRPC 流中两条消息的间隔 [默认：0s，一次全部发出]",
        ),
        (_, "grpc_encoding") => (
            "Compression of gRPC messages: gzip or identity [default: identity]",
            "gRPC 消息的压缩方式：gzip 或 identity [默认：identity]",
        ),
        (_, "url") => (
            "What to load: http://, https://, ws://, wss://, tcp://host:port, or a method grpc://host:port/package.Service/Method (grpcs:// with TLS); without a scheme, http:// is meant",
            "压测地址：http://、https://、ws://、wss://、tcp://主机:端口，或 gRPC 方法 grpc://主机:端口/包名.服务/方法（TLS 用 grpcs://）；不写协议时为 http://",
        ),
        (_, "connections") => (
            "Connections, each with one user that is kept busy [default: 50; with a rate as many as needed, up to 10000]",
            "连接数（并发数），每个连接对应一个持续发请求的用户 [默认：50；给出速率时按需增加，最多 10000]",
        ),
        (_, "rate") => (
            "Starts a second in all, whatever the target does (open model): 5000, 100/m, 2.5/s",
            "每秒总共发起多少个请求，不受服务端快慢影响（开放模型）：5000、100/m、2.5/s",
        ),
        (_, "stages") => (
            "Rates (or users) over time, TARGET:TIME each, changing evenly from the one before, 0 at first: 1000:30s,1000:1m,0:10s",
            "速率（或用户数）随时间的变化，每段为 目标:时间，从上一段均匀变化，起点为 0：1000:30s,1000:1m,0:10s",
        ),
        (_, "stages_of") => (
            "What the stages count: rate or users [default: rate]",
            "--stages 的含义：rate（速率）或 users（用户数）[默认：rate]",
        ),
        (_, "ramp") => (
            "Users of -c that are started a second, like 100/s [default: all at once]",
            "每秒启动多少个用户（共 -c 个），如 100/s [默认：同时启动]",
        ),
        (_, "rendezvous") => (
            "All users wait for each other and start in one instant, round after round",
            "集合点：所有用户互相等待，每一轮在同一时刻发起请求",
        ),
        (_, "warmup") => {
            ("Run the load for so long before it counts [default: 0s]", "预热时间，期间的请求不计入结果 [默认：0s]")
        }
        (_, "thresholds") => (
            "What a figure must be, repeatable: 'p99(response_time) < 200ms', 'failed / done < 0.1%', 'rate > 4900/s'; with ', abort 10s' behind it the run stops when it fails after 10s. One that is not met makes the exit code 1",
            "阈值，可重复：'p99(response_time) < 200ms'、'failed / done < 0.1%'、'rate > 4900/s'；后面加 ', abort 10s' 表示 10s 后不满足即停止。未达到则退出码为 1",
        ),
        (_, "strict") => {
            ("A result that the generator spoiled makes the exit code 1", "结果受压测机影响而不可信时，退出码为 1")
        }
        (_, "hdr") => (
            "Write the percentiles to FILE and the intervals to FILE with the ending .hlog, for the HdrHistogram tools",
            "把百分位写入 FILE，把各时段写入扩展名为 .hlog 的同名文件，供 HdrHistogram 工具使用",
        ),
        (_, "arrivals") => (
            "How starts are spaced: even or poisson (at random) [default: even]",
            "请求的间隔：even（均匀）或 poisson（随机）[默认：even]",
        ),
        (_, "max_lateness") => (
            "A start that could not be sent for so long is dropped and counted [default: the timeout]",
            "请求超过这个时间仍未能发出就放弃并计数 [默认：与超时相同]",
        ),
        (_, "requests") => (
            "Iterations in all: requests, or rounds of several commands [default: no bound]",
            "总轮数：请求数，多条命令时为轮数 [默认：不限]",
        ),
        (_, "duration") => (
            "How long requests are started, like 10s, 2m, 1h30m [default: 10s without -n]",
            "持续时间，如 10s、2m、1h30m [默认：没有 -n 时为 10s]",
        ),
        (_, "method") => ("Request method [default: GET, with -d POST]", "请求方法 [默认：GET，有 -d 时为 POST]"),
        (_, "headers") => (
            "Request header (metadata of gRPC) 'Name: value', repeatable; 'Name:' leaves a default out, 'Name;' sends an empty one",
            "请求头（gRPC 的元数据）'Name: value'，可重复；'Name:' 去掉默认的，'Name;' 发送空值",
        ),
        (_, "data") => (
            "Request body, or message of WebSocket or TCP; @FILE reads a file as it is, hex:0aff gives bytes of a message. Of gRPC: the message as JSON, for a stream several in an array or in lines",
            "请求体，或 WebSocket、TCP 的消息；@FILE 原样读取文件内容，hex:0aff 为消息的十六进制字节。gRPC：JSON 格式的消息，流可用数组或多行给出多条",
        ),
        (_, "timeout") => (
            "Time for an answer, from the sending of its request; when given, a gRPC server is told it (grpc-timeout) [default: 30s]",
            "单个请求的超时，从发出请求算起；给出时会告知 gRPC 服务端（grpc-timeout）[默认：30s]",
        ),
        (_, "connect_timeout") => {
            ("Time for a connection to be established [default: 10s]", "建立连接的超时 [默认：10s]")
        }
        (_, "grace") => ("Time for what is in flight at the end [default: 5s]", "结束时等待在途请求的时间 [默认：5s]"),
        (_, "no_keepalive") => ("A new connection for each request", "每个请求新建连接（短连接）"),
        (_, "http10") => ("Speak HTTP/1.0", "使用 HTTP/1.0"),
        (_, "http11") => ("Speak HTTP/1.1, also where HTTP/2 is offered", "使用 HTTP/1.1，即使服务端支持 HTTP/2"),
        (_, "http2") => (
            "Speak HTTP/2, with http:// too [default: what an https:// server chooses; HTTP/1.1 with http://]",
            "使用 HTTP/2，http:// 也可以 [默认：https:// 由服务端选择，http:// 为 HTTP/1.1]",
        ),
        (_, "streams") => (
            "Requests at a time on each connection (HTTP/2): -c times as many users [default: 1]",
            "每个连接上同时进行的请求数（HTTP/2）；用户数为 -c 乘以它 [默认：1]",
        ),
        ("serve", "is_tls") => (
            "Speak TLS, with a certificate made on the spot unless --cert names one",
            "使用 TLS；没有用 --cert 指定证书时临时生成一个",
        ),
        ("serve", "cert") => ("Certificate chain to show, a PEM file", "服务端证书链（PEM 文件）"),
        ("serve", "key") => (
            "Its private key, a PEM file [default: in the file of --cert]",
            "私钥（PEM 文件）[默认：与 --cert 同一文件]",
        ),
        (_, "insecure") => ("Trust whoever answers: certificates are not verified", "不校验服务端证书"),
        (_, "cacert") => (
            "Trust the certificates of a PEM file, and those whom they have signed [default: this system's]",
            "信任该 PEM 文件中的证书及其签发的证书 [默认：系统的信任库]",
        ),
        (_, "cert") => ("Client certificate chain, a PEM file (mTLS)", "客户端证书链（PEM 文件，用于双向认证）"),
        (_, "key") => (
            "Its private key, a PEM file [default: in the file of --cert]",
            "私钥（PEM 文件）[默认：与 --cert 同一文件]",
        ),
        (_, "sni") => (
            "Name to ask for and to verify [default: the host of the URL]",
            "请求并校验的服务器名称 [默认：URL 中的主机]",
        ),
        (_, "alpn") => {
            ("Protocols to offer, the dearest first, like h2,http/1.1", "ALPN 协议列表，优先的在前，如 h2,http/1.1")
        }
        (_, "tls_groups") => (
            "Key exchange groups, the dearest first, like X25519,secp256r1 [default: X25519MLKEM768 and the usual ones]",
            "密钥交换组，优先的在前，如 X25519,secp256r1 [默认：X25519MLKEM768 及常用组]",
        ),
        (_, "tls_min") => ("Least TLS version: 1.2 or 1.3 [default: 1.2]", "最低 TLS 版本：1.2 或 1.3 [默认：1.2]"),
        (_, "no_tls_resumption") => {
            ("A full TLS handshake for each connection", "每个连接都进行完整的 TLS 握手，不恢复会话")
        }
        (_, "expect_status") => (
            "Statuses that are a success, like 200,300-399, of gRPC OK,NOT_FOUND [default: below 400, OK]; a failure makes the exit code 1",
            "视为成功的状态码，如 200,300-399，gRPC 如 OK,NOT_FOUND [默认：小于 400，OK]；有失败则退出码为 1",
        ),
        (_, "expect_body") => (
            "Text that the body must contain, or /pattern/ that it must match, repeatable; a failure makes the exit code 1",
            "响应体必须包含的文本，或必须匹配的 /正则表达式/，可重复；有失败则退出码为 1",
        ),
        (_, "expect_headers") => (
            "Header that the answer must have, of gRPC also a trailer: 'Name', 'Name: value' or 'Name: /pattern/', repeatable",
            "响应必须带有的头（gRPC 也包括 trailer）：'Name'、'Name: value' 或 'Name: /正则表达式/'，可重复",
        ),
        (_, "expect_json") => (
            "What the body must say as JSON, like '$.code == 200' (a path of RFC 9535; == != < <= > >=), repeatable",
            "响应体作为 JSON 必须满足的条件，如 '$.code == 200'（RFC 9535 路径；支持 == != < <= > >=），可重复",
        ),
        (_, "show_failures") => (
            "Show up to 10 failures: the redirects that led there, and what came, as far as it came (1 KB of a body)",
            "显示最多 10 个失败：经过的重定向，以及收到的内容（收到多少显示多少，响应体前 1 KB）",
        ),
        (_, "debug") => (
            "Send one request (of each step), show in full what went over the wire, and end",
            "只发送一个请求（每个步骤各一个），完整显示收发的内容，然后结束",
        ),
        (_, "show_secrets") => (
            "Show secrets too (Authorization, cookies, tokens, passwords), which are masked everywhere else",
            "同时显示密钥类内容（Authorization、Cookie、令牌、密码），默认一律隐藏",
        ),
        (_, "location") => (
            "Follow redirects; each is a request of its own in the figures",
            "跟随重定向；每次跳转都作为单独的请求统计",
        ),
        (_, "max_redirs") => ("Redirects in a row, at most [default: 50]", "最多连续跟随多少次重定向 [默认：50]"),
        (_, "curl_file") => (
            "A file with curl commands, as browsers copy them (bash or cmd); several are done in order by each user",
            "写有 curl 命令的文件（浏览器复制的 bash 或 cmd 格式均可）；多条命令由每个用户依次执行",
        ),
        (_, "shuffle") => (
            "The commands of --curl in an order that is drawn anew each time round",
            "--curl 中的命令每一轮都随机排列顺序",
        ),
        (_, "resolve") => (
            "Address of a host and port, as curl has it: example.com:443:127.0.0.1, repeatable",
            "指定某个主机和端口的地址，同 curl：example.com:443:127.0.0.1，可重复",
        ),
        (_, "connect_to") => (
            "Connect elsewhere for a host and port, as curl has it: example.com:443:127.0.0.1:8443, repeatable",
            "把某个主机和端口的连接转到别处，同 curl：example.com:443:127.0.0.1:8443，可重复",
        ),
        (_, "unix_socket") => ("Connect to this socket of the file system instead", "改为连接文件系统中的这个 socket"),
        (_, "interval") => ("Time between two lines of the table [default: 1s]", "表格每行的间隔 [默认：1s]"),
        ("serve", "threads") => {
            ("Threads that serve [default: the cores that this process may use]", "服务线程数 [默认：本进程可用的核数]")
        }
        (_, "threads") => (
            "Threads that make the load [default: the cores that this process may use]",
            "压测线程数 [默认：本进程可用的核数]",
        ),
        (_, "pin_threads") => ("Keep each thread on a core of its own", "把每个线程绑定到各自的核"),
        (_, "driver") => (
            "How sockets are driven: auto, uring or poll [default: auto, io_uring where it works]",
            "套接字驱动：auto、uring 或 poll [默认：auto，能用 io_uring 时使用它]",
        ),
        (_, "output") => {
            ("What stdout gets: text or json [default: text]", "标准输出的格式：text 或 json [默认：text]")
        }
        (_, "json") => ("Write the JSON report to a file too", "同时把 JSON 报告写入文件"),
        (_, "quiet") => ("Only the summary, no table", "只显示汇总，不显示表格"),
        (_, "no_color") => ("No colors", "不使用颜色"),
        (_, "lang") => (
            "Language: zh or en [default: from LC_ALL, LC_MESSAGES, LANG]",
            "语言：zh 或 en [默认：取自 LC_ALL、LC_MESSAGES、LANG]",
        ),
        (_, "help") => ("Show this help", "显示本帮助"),
        (_, "version") => ("Show the version", "显示版本"),
        (_, "listen") => (
            "Address to listen on, port 0 for any free one [default: 127.0.0.1:8080]",
            "监听地址，端口 0 表示任选空闲端口 [默认：127.0.0.1:8080]",
        ),
        (_, "accept_delay") => (
            "A new connection is left alone for so long before it is first read [default: 0s]",
            "新连接建立后过这么久才开始读取 [默认：0s]",
        ),
        (_, "close_after") => {
            ("End each connection with its Nth answer [default: never]", "每个连接在第 N 个响应后关闭 [默认：不关闭]")
        }
        (_, "shell") => ("bash, elvish, fish, powershell or zsh", "bash、elvish、fish、powershell 或 zsh"),
        _ => return None,
    })
}

/// The command line with its texts in a language.
pub(crate) fn command(language: Language) -> Command {
    let pick = |text: Text| language.pick(text.0, text.1);
    with_texts(Cli::command(), language).after_help(pick(EXAMPLES))
}

fn with_texts(command: Command, language: Language) -> Command {
    let pick = |text: Text| language.pick(text.0, text.1);
    let name = command.get_name().to_owned();
    let (usage, options, commands) = language.pick(("Usage:", "Options", "Commands"), ("用法：", "选项", "命令"));
    let subcommands: Vec<String> = command.get_subcommands().map(|each| each.get_name().to_owned()).collect();
    let mut command = command
        .about(pick(about(&name)))
        .help_template(format!("{{about}}\n\n{usage} {{usage}}\n\n{{all-args}}\n\n{{after-help}}"))
        .subcommand_help_heading(commands)
        .mut_args(|arg| match flag(&name, arg.get_id().as_str()) {
            Some(text) => arg.help(pick(text)).help_heading(options),
            None => arg,
        });
    for name in subcommands {
        command = command.mut_subcommand(name, |each| with_texts(each, language));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(command: &Command, visit: &mut impl FnMut(&Command)) {
        visit(command);
        command.get_subcommands().for_each(|inner| each(inner, visit));
    }

    #[test]
    fn every_flag_has_a_text() {
        each(&Cli::command(), &mut |command| {
            for arg in command.get_arguments() {
                let id = arg.get_id().as_str();
                assert!(flag(command.get_name(), id).is_some(), "{} {id}", command.get_name());
            }
        });
    }

    #[test]
    fn the_definition_is_sound() {
        command(Language::En).debug_assert();
        command(Language::Zh).debug_assert();
    }

    #[test]
    fn chinese_help_is_chinese() {
        let mut help = command(Language::Zh);
        each(&help.clone(), &mut |command| {
            for arg in command.get_arguments() {
                let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let is_list = arg.get_id() == "shell";
                assert!(is_list || text.chars().any(|each| ('一'..='龥').contains(&each)), "{text}");
            }
        });
        let page = help.render_help().to_string();
        assert!(page.contains("用法：") && page.contains("选项") && !page.contains("Options:"), "{page}");
    }
}
