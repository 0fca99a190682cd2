//! Flags of connections: endpoints, TLS, and messages of WebSocket and TCP.

use super::Mode::Run;
use super::{Kind, Row, flag, modes};

flags! {
    /// Flags of connections and their endpoints.
    pub(super) ROWS;
    "connect-timeout": Kind::Number("TIME"), modes::ASKING, page;
        "Time to wait for a connection [default: 10s]", "建立连接的超时 [默认：10s]";
    "no-keepalive": Kind::Switch, &[Run], page;
        "Open a new connection for each request", "每个请求新建连接（短连接）";
    "connection-requests": Kind::Number("N"), &[Run], page;
        "Close a kept connection after N requests; the first one of each earlier, so that they end spread over time",
        "长连接完成 N 个请求后关闭；最初的连接提前关闭，以免同时关闭";
    "connection-age": Kind::Number("TIME"), &[Run], page;
        "Close a kept connection at this age, between two requests; the first one of each earlier, as above",
        "长连接建立多久后关闭（只在两个请求之间）；最初的连接同样提前关闭";
    "keepalive-idle": Kind::Number("TIME"), &[Run], page;
        "Close a kept connection that had no request for this time",
        "长连接空闲多久后关闭";
    "no-retry": Kind::Switch, &[Run], page;
        "Do not send a request again when the server closed a kept connection before it answered",
        "长连接在响应之前被服务端关闭时，不重发请求";
    "source-ip": Kind::Text("ADDRESSES"), modes::PLACED, page;
        "Local addresses to connect from, in turn: 10.0.0.2-10.0.0.9,10.0.1.0/24, or auto [default: the kernel chooses; to 127.0.0.1 as many as needed]",
        "轮流使用的本机源地址：10.0.0.2-10.0.0.9,10.0.1.0/24 或 auto [默认：由内核选择；目标为 127.0.0.1 时按需增加]";
    "connect-addresses": Kind::Text("ADDRESSES"), modes::PLACED, page;
        "Addresses to connect to, in turn, instead of the host of the URL: 10.0.0.1:8001-8016,:8080",
        "轮流连接的地址和端口，代替 URL 中的主机：10.0.0.1:8001-8016,:8080";
    "resolve": Kind::List("HOST:PORT:ADDRESS"), modes::LOADS, page;
        "Use this address for a host and port, as curl does: example.com:443:127.0.0.1; several, with commas between, in turn; repeatable",
        "指定某个主机和端口的地址，同 curl：example.com:443:127.0.0.1；多个地址用逗号分隔，轮流使用；可重复";
    "connect-to": Kind::List("HOST:PORT:HOST:PORT"), modes::LOADS, page;
        "Connect to another host and port instead, as curl does: example.com:443:127.0.0.1:8443; repeatable",
        "把某个主机和端口的连接转到别处，同 curl：example.com:443:127.0.0.1:8443，可重复";
    "addresses": Kind::Text("WHICH"), modes::LOADS, page;
        "Addresses of a name that connections take in turn: one-family, all or first [default: one-family, those of the kind, IPv4 or IPv6, that accepts first]",
        "域名有多个地址时使用哪些（各连接轮流）：one-family、all 或 first [默认：one-family，即先接受连接的那一种地址（IPv4 或 IPv6）]";
    "dns-ttl": Kind::Text("TIME"), modes::LOADS, page;
        "Look names up again after this time, or never [default: when the TTL of the answer ends]",
        "多久重新解析一次域名，或 never [默认：按 DNS 响应的 TTL]";
    "dns": Kind::Text("SERVER"), modes::LOADS, page;
        "Ask this name server, like 10.0.0.2 or 10.0.0.2:5353 [default: those of this machine]",
        "使用的 DNS 服务器，如 10.0.0.2 或 10.0.0.2:5353 [默认：本机配置的 DNS 服务器]";
    "proxy": Kind::Text("URL"), &[Run], page;
        "Go through a proxy: http://, https://, socks5:// (names are looked up here) or socks5h://, as user:password@host:port [default: none, whatever the environment says]",
        "经过代理：http://、https://、socks5://（域名在本机解析）或 socks5h://，格式为 用户名:密码@主机:端口 [默认：不用代理，也不看环境变量]";
    "proxy-from-env": Kind::Switch, &[Run];
        "Go through the proxies of http_proxy, https_proxy, all_proxy and no_proxy", "使用环境变量 http_proxy、https_proxy、all_proxy 和 no_proxy 指定的代理";
    "no-proxy": Kind::Text("HOSTS"), &[Run], page;
        "Hosts that are reached without it: names, domains, addresses, networks, or *", "不经过代理的主机：域名、上级域、IP 地址、网段或 *";
    "proxy-tunnel": Kind::Switch, &[Run], page;
        "Open a tunnel (CONNECT) for http:// too [default: the proxy gets whole URLs]", "http:// 也用隧道（CONNECT）[默认：把完整 URL 发给代理]";
    "proxy-protocol": Kind::Text("VERSION"), &[Run], page;
        "Begin each connection with a header of the PROXY protocol, as a balancer does: v1 or v2", "每个连接先发送 PROXY 协议头（如同来自负载均衡）：v1 或 v2";
    "proxy-protocol-from": Kind::Text("ADDRESSES"), &[Run], page;
        "Client addresses in that header, in turn, like 10.9.8.0/24 [default: our own]", "协议头中轮流使用的客户端地址，如 10.9.8.0/24 [默认：本机地址]";
    "unix-socket": Kind::Text("PATH"), modes::LOADS;
        "Connect to this Unix domain socket instead", "改为连接这个 Unix 域套接字";
}

flags! {
    /// Flags of TLS: trusted certificates, and offered protocols.
    pub(super) TLS;
    "insecure" / 'k': Kind::Switch, modes::ASKING, page, common;
        "Skip certificate verification", "不校验服务端证书";
    "cacert": Kind::Text("FILE"), modes::ASKING;
        "Trust the certificates in a PEM file, and those they signed [default: the system's]",
        "信任该 PEM 文件中的证书及其签发的证书 [默认：系统的信任库]";
    "cert": Kind::Text("FILE"), modes::ASKING;
        "Client certificate chain, a PEM file (mTLS)", "客户端证书链（PEM 文件，用于双向认证）";
    "key": Kind::Text("FILE"), modes::KEYED;
        "Its private key, a PEM file [default: in the file of --cert]", "私钥（PEM 文件）[默认：与 --cert 同一文件]";
    "sni": Kind::Text("NAME"), modes::ASKING, page;
        "Server name to request and to verify [default: the host of the URL]",
        "服务端名称（SNI），校验证书时也用它 [默认：URL 中的主机]";
    "alpn": Kind::Text("PROTOCOLS"), modes::ASKING, page;
        "Protocols to offer, in order of preference, like h2,http/1.1", "ALPN 协议列表，按优先顺序，如 h2,http/1.1";
    "tls-groups": Kind::Text("GROUPS"), modes::ASKING, page;
        "Key exchange groups, in order of preference, like X25519,secp256r1 [default: X25519MLKEM768 and the common ones]",
        "密钥交换组，按优先顺序，如 X25519,secp256r1 [默认：X25519MLKEM768 及常用组]";
    "tls-min": Kind::Text("VERSION"), modes::ASKING, page;
        "Minimum TLS version: 1.2 or 1.3 [default: 1.2]", "最低 TLS 版本：1.2 或 1.3 [默认：1.2]";
    "no-tls-resumption": Kind::Switch, modes::ASKING, page;
        "Do a full TLS handshake for each connection [default: sessions are resumed]",
        "每个连接都进行完整的 TLS 握手 [默认：恢复会话]";
}

flags! {
    /// Flags of WebSocket and TCP messages.
    pub(super) MESSAGING;
    "data-bytes": Kind::Number("N"), modes::LOADS, page;
        "Send messages of N random bytes", "消息为 N 个随机字节";
    "seed": Kind::Number("N"), modes::LOADS, page;
        "Seed of --data-bytes [default: 1], and of what a scenario file draws [default: another in each run]",
        "--data-bytes 的随机种子 [默认：1]；也是场景文件抽取随机值的种子 [默认：每次压测不同]";
    "until": Kind::Free("TEXT"), modes::LOADS, page;
        "TCP: an answer ends with these bytes, like '\\n' or '\\x00'", "TCP：响应以这些字节结束，如 '\\n' 或 '\\x00'";
    "read-bytes": Kind::Number("N"), modes::LOADS, page;
        "TCP: an answer has N bytes", "TCP：响应固定为 N 个字节";
    "length-prefix": Kind::Text("WIDTH"), modes::LOADS, page;
        "TCP: an answer begins with its length, a number of 1, 2, 4 or 8 bytes; 2le, 4le, 8le for little-endian",
        "TCP：响应以 1、2、4 或 8 字节的长度开头；2le、4le、8le 为小端";
    "no-response": Kind::Switch, modes::LOADS, page;
        "Expect no answer", "不等待响应（只发送）";
    "ws-type": Kind::Text("TYPE"), modes::LOADS, page;
        "WebSocket: send messages as text, binary or ping [default: text if -d is text; ping without -d]",
        "WebSocket：以 text、binary 或 ping 发送消息 [默认：-d 为文本时 text；没有 -d 时 ping]";
    "subprotocol": Kind::List("NAME"), modes::LOADS, page;
        "WebSocket: subprotocol to offer; repeatable", "WebSocket：提供的子协议，可重复";
    "ws-deflate": Kind::Switch, modes::LOADS, page;
        "WebSocket: offer compression (permessage-deflate); each of our messages is compressed on its own",
        "WebSocket：提供压缩（permessage-deflate）；发出的消息各自单独压缩";
}
