//! How connections are made, and what is said on them.

use super::{Kind, Row, flag, modes};

/// TLS: who is trusted, and what is offered.
pub(super) const TLS: &[Row] = &[
    flag("insecure", Kind::Switch, modes::ASKING)
        .short('k')
        .help("Trust whoever answers: certificates are not verified", "不校验服务端证书"),
    flag("cacert", Kind::Text("FILE"), modes::ASKING).help(
        "Trust the certificates of a PEM file, and those whom they have signed [default: this system's]",
        "信任该 PEM 文件中的证书及其签发的证书 [默认：系统的信任库]",
    ),
    flag("cert", Kind::Text("FILE"), modes::ASKING)
        .help("Client certificate chain, a PEM file (mTLS)", "客户端证书链（PEM 文件，用于双向认证）"),
    flag("key", Kind::Text("FILE"), modes::KEYED).help(
        "Its private key, a PEM file [default: in the file of --cert]",
        "私钥（PEM 文件）[默认：与 --cert 同一文件]",
    ),
    flag("sni", Kind::Text("NAME"), modes::ASKING).help(
        "Name to ask for and to verify [default: the host of the URL]",
        "请求并校验的服务器名称 [默认：URL 中的主机]",
    ),
    flag("alpn", Kind::Text("PROTOCOLS"), modes::ASKING)
        .help("Protocols to offer, the dearest first, like h2,http/1.1", "ALPN 协议列表，优先的在前，如 h2,http/1.1"),
    flag("tls-groups", Kind::Text("GROUPS"), modes::ASKING).help(
        "Key exchange groups, the dearest first, like X25519,secp256r1 [default: X25519MLKEM768 and the usual ones]",
        "密钥交换组，优先的在前，如 X25519,secp256r1 [默认：X25519MLKEM768 及常用组]",
    ),
    flag("tls-min", Kind::Text("VERSION"), modes::ASKING)
        .help("Least TLS version: 1.2 or 1.3 [default: 1.2]", "最低 TLS 版本：1.2 或 1.3 [默认：1.2]"),
    flag("no-tls-resumption", Kind::Switch, modes::ASKING)
        .help("A full TLS handshake for each connection", "每个连接都进行完整的 TLS 握手，不恢复会话"),
];

/// Messages of WebSocket and TCP, and where connections come from and go.
pub(super) const TALK: &[Row] = &[
    flag("data-bytes", Kind::Number("N"), modes::LOADS).help(
        "A message of so many random bytes, of WebSocket or TCP",
        "WebSocket 或 TCP 消息为这么多随机字节",
    ),
    flag("seed", Kind::Number("N"), modes::LOADS).help(
        "Seed of --data-bytes [default: 1]",
        "--data-bytes 的种子 [默认：1]",
    ),
    flag("until", Kind::Free("TEXT"), modes::LOADS).help(
        "Of TCP: an answer ends behind these bytes, like '\\n' or '\\x00'",
        "TCP：应答以这些字节结束，如 '\\n' 或 '\\x00'",
    ),
    flag("read-bytes", Kind::Number("N"), modes::LOADS).help(
        "Of TCP: an answer has so many bytes",
        "TCP：应答固定为这么多字节",
    ),
    flag("length-prefix", Kind::Text("WIDTH"), modes::LOADS).help(
        "Of TCP: a number of 1, 2, 4 or 8 bytes says how many follow; 2le, 4le, 8le with the least one first",
        "TCP：应答以 1、2、4 或 8 字节的长度开头；2le、4le、8le 为小端",
    ),
    flag("no-answer", Kind::Switch, modes::LOADS).help(
        "Of TCP and WebSocket: nothing is answered",
        "TCP 和 WebSocket：没有应答",
    ),
    flag("ws-type", Kind::Text("TYPE"), modes::LOADS).help(
        "Of WebSocket: text, binary or ping [default: text if -d is one; a ping without -d]",
        "WebSocket：text、binary 或 ping [默认：-d 为文本时 text；没有 -d 时 ping]",
    ),
    flag("subprotocol", Kind::List("NAME"), modes::LOADS).help(
        "Of WebSocket: a subprotocol to offer, repeatable",
        "WebSocket：提供的子协议，可重复",
    ),
    flag("ws-deflate", Kind::Switch, modes::LOADS).help(
        "Of WebSocket: offer compression (permessage-deflate); our messages are compressed each by itself",
        "WebSocket：提供压缩（permessage-deflate）；发出的消息各自单独压缩",
    ),
    flag("source-ip", Kind::Text("ADDRESSES"), modes::PLACED).help(
        "Addresses of this machine to come from, in turn: 10.0.0.2-10.0.0.9,10.0.1.0/24, or auto [default: the kernel's choice; on 127.0.0.1 as many as are needed]",
        "轮流使用的本机源地址：10.0.0.2-10.0.0.9,10.0.1.0/24 或 auto [默认：由内核选择；目标为 127.0.0.1 时按需增加]",
    ),
    flag("to", Kind::Text("PLACES"), modes::PLACED).help(
        "Places to connect to, in turn, instead of the host of the URL: 10.0.0.1:8001-8016,:8080",
        "轮流连接的地址和端口，代替 URL 中的主机：10.0.0.1:8001-8016,:8080",
    ),
    flag("resolve", Kind::List("HOST:PORT:ADDRESS"), modes::LOADS).help(
        "Address of a host and port, as curl has it: example.com:443:127.0.0.1, repeatable",
        "指定某个主机和端口的地址，同 curl：example.com:443:127.0.0.1，可重复",
    ),
    flag("connect-to", Kind::List("HOST:PORT:HOST:PORT"), modes::LOADS).help(
        "Connect elsewhere for a host and port, as curl has it: example.com:443:127.0.0.1:8443, repeatable",
        "把某个主机和端口的连接转到别处，同 curl：example.com:443:127.0.0.1:8443，可重复",
    ),
    flag("unix-socket", Kind::Text("PATH"), modes::LOADS).help(
        "Connect to this socket of the file system instead",
        "改为连接文件系统中的这个 socket",
    ),
];
