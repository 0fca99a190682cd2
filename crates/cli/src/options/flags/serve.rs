//! Flags of the server.

use super::Mode::Serve;
use super::{Kind, Row, flag};

flags! {
    /// Flags of the server's behavior.
    pub(super) ROWS;
    "listen": Kind::Text("ADDRESS"), &[Serve];
        "Address to listen on; port 0 for any free one [default: 127.0.0.1:8080]",
        "监听地址，端口 0 表示任选空闲端口 [默认：127.0.0.1:8080]";
    "threads": Kind::Number("N"), &[Serve];
        "Number of threads [default: the cores available to this process]", "服务线程数 [默认：本进程可用的核数]";
    "accept-delay": Kind::Number("TIME"), &[Serve];
        "Do not read from a new connection for this long [default: 0s]",
        "新连接建立后，这段时间内不读取数据 [默认：0s]";
    "as-proxy": Kind::Switch, &[Serve];
        "Be a proxy too (CONNECT, SOCKS5) that leads to this server itself, and accept headers of the PROXY protocol",
        "同时作为代理（CONNECT、SOCKS5，目标就是本服务），并接受 PROXY 协议头";
    "protocol": Kind::Text("NAME"), &[Serve];
        "Serve this custom protocol instead of HTTP", "提供该自定义协议的服务，而不是 HTTP";
    "close-after": Kind::Number("N"), &[Serve];
        "Close each connection after N answers [default: never]", "每个连接在 N 个响应后关闭 [默认：不关闭]";
    "seed": Kind::Number("N"), &[Serve];
        "Seed of random delays [default: 1]", "随机延迟的种子 [默认：1]";
    "tcp": Kind::Text("ADDRESS"), &[Serve];
        "Also serve plain TCP on this port; it echoes what it receives", "同时在该端口提供 TCP 回显服务";
    "push": Kind::Number("TIME"), &[Serve];
        "Push two bytes on each WebSocket and TCP connection at this interval, like 550s [default: never]",
        "向每个 WebSocket 和 TCP 连接推送两个字节的间隔，如 550s [默认：不推送]";
    "tls": Kind::Switch, &[Serve];
        "Use TLS, with a temporary certificate unless --cert names one",
        "使用 TLS；没有用 --cert 指定证书时临时生成一个";
    "cert": Kind::Text("FILE"), &[Serve];
        "Certificate chain, a PEM file", "服务端证书链（PEM 文件）";
}
