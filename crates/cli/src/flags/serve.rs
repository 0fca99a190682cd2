//! The flags of the server.

use super::{Kind, Row, flag, modes};

/// How the server behaves.
pub(super) const ROWS: &[Row] = &[
    flag("listen", Kind::Text("ADDRESS"), modes::SERVE).help(
        "Address to listen on, port 0 for any free one [default: 127.0.0.1:8080]",
        "监听地址，端口 0 表示任选空闲端口 [默认：127.0.0.1:8080]",
    ),
    flag("threads", Kind::Number("N"), modes::SERVE).help(
        "Threads that serve [default: the cores that this process may use]",
        "服务线程数 [默认：本进程可用的核数]",
    ),
    flag("accept-delay", Kind::Number("TIME"), modes::SERVE).help(
        "A new connection is left alone for so long before it is first read [default: 0s]",
        "新连接建立后过这么久才开始读取 [默认：0s]",
    ),
    flag("close-after", Kind::Number("N"), modes::SERVE)
        .help("End each connection with its Nth answer [default: never]", "每个连接在第 N 个响应后关闭 [默认：不关闭]"),
    flag("seed", Kind::Number("N"), modes::SERVE)
        .help("Seed of random delays [default: 1]", "随机延迟的种子 [默认：1]"),
    flag("tcp", Kind::Text("ADDRESS"), modes::SERVE).help(
        "Speak plain TCP on this port too: what comes is given back",
        "同时在该端口提供 TCP 服务：收到什么就返回什么",
    ),
    flag("push", Kind::Number("TIME"), modes::SERVE).help(
        "Send two bytes on each WebSocket and TCP connection so often, like 550s [default: never]",
        "每隔这么久向每个 WebSocket 和 TCP 连接推送两个字节，如 550s [默认：不推送]",
    ),
    flag("tls", Kind::Switch, modes::SERVE).help(
        "Speak TLS, with a certificate made on the spot unless --cert names one",
        "使用 TLS；没有用 --cert 指定证书时临时生成一个",
    ),
    flag("cert", Kind::Text("FILE"), modes::SERVE)
        .help("Certificate chain to show, a PEM file", "服务端证书链（PEM 文件）"),
];
