//! What is sent, and how long it may take.

use super::{Kind, Row, flag, modes};

/// The request, its times, and the version of HTTP.
pub(super) const ROWS: &[Row] = &[
    flag("method", Kind::Text("METHOD"), modes::LOADS).short('X').help(
        "Request method [default: GET, with -d POST]",
        "请求方法 [默认：GET，有 -d 时为 POST]",
    ),
    flag("header", Kind::List("HEADER"), modes::LOADS).short('H').help(
        "Request header (metadata of gRPC) 'Name: value', repeatable; 'Name:' leaves a default out, 'Name;' sends an empty one",
        "请求头（gRPC 的元数据）'Name: value'，可重复；'Name:' 去掉默认的，'Name;' 发送空值",
    ),
    flag("header", Kind::List("HEADER"), modes::ASK).short('H').help(
        "Metadata 'name: value', repeatable",
        "元数据 'name: value'，可重复",
    ),
    flag("data", Kind::Free("DATA"), modes::RUN).short('d').help(
        "Request body, or message of WebSocket or TCP; @FILE reads a file as it is, hex:0aff gives bytes of a message. Of gRPC: the message as JSON, for a stream several in an array or in lines",
        "请求体，或 WebSocket、TCP 的消息；@FILE 原样读取文件内容，hex:0aff 为消息的十六进制字节。gRPC：JSON 格式的消息，流可用数组或多行给出多条",
    ),
    flag("data", Kind::Free("DATA"), modes::HOLD).short('d').help(
        "The message; @FILE reads a file, hex:0aff gives bytes [default of WebSocket: a ping]",
        "消息内容；@FILE 读取文件，hex:0aff 为十六进制字节 [WebSocket 默认：ping]",
    ),
    flag("timeout", Kind::Number("TIME"), modes::RUN).short('t').help(
        "Time for an answer, from the sending of its request; when given, a gRPC server is told it (grpc-timeout) [default: 30s]",
        "单个请求的超时，从发出请求算起；给出时会告知 gRPC 服务端（grpc-timeout）[默认：30s]",
    ),
    flag("timeout", Kind::Number("TIME"), modes::HOLD).short('t').help(
        "Time for an answer; without one the connection is lost [default: 30s]",
        "等待应答的超时，超时即视为断开 [默认：30s]",
    ),
    flag("timeout", Kind::Number("TIME"), modes::ASK).short('t').help(
        "Time for all answers [default: 30s]",
        "等待响应的总时间 [默认：30s]",
    ),
    flag("connect-timeout", Kind::Number("TIME"), modes::ASKING).help(
        "Time for a connection to be established [default: 10s]",
        "建立连接的超时 [默认：10s]",
    ),
    flag("grace", Kind::Number("TIME"), modes::RUN).help(
        "Time for what is in flight at the end [default: 5s]",
        "结束时等待在途请求的时间 [默认：5s]",
    ),
    flag("grace", Kind::Number("TIME"), modes::HOLD).help(
        "Time for answers in flight at the end [default: 5s]",
        "结束时等待在途应答的时间 [默认：5s]",
    ),
    flag("no-keepalive", Kind::Switch, modes::RUN).help(
        "A new connection for each request",
        "每个请求新建连接（短连接）",
    ),
    flag("http1.0", Kind::Switch, modes::RUN).help(
        "Speak HTTP/1.0",
        "使用 HTTP/1.0",
    ),
    flag("http1.1", Kind::Switch, modes::RUN).help(
        "Speak HTTP/1.1, also where HTTP/2 is offered",
        "使用 HTTP/1.1，即使服务端支持 HTTP/2",
    ),
    flag("http2", Kind::Switch, modes::RUN).help(
        "Speak HTTP/2, with http:// too [default: what an https:// server chooses; HTTP/1.1 with http://]",
        "使用 HTTP/2，http:// 也可以 [默认：https:// 由服务端选择，http:// 为 HTTP/1.1]",
    ),
    flag("streams", Kind::Number("N"), modes::RUN).help(
        "Requests at a time on each connection (HTTP/2): -c times as many users [default: 1]",
        "每个连接上同时进行的请求数（HTTP/2）；用户数为 -c 乘以它 [默认：1]",
    ),
];
