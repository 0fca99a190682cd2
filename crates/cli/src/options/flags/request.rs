//! Flags of requests, their timeouts, and HTTP versions.

use super::Mode::{Ask, Hold, Run};
use super::{Kind, Row, flag, modes};

flags! {
    /// Flags of the request and its timeouts.
    pub(super) ROWS;
    "method" / 'X': Kind::Text("METHOD"), modes::LOADS, page, common;
        "Request method [default: GET, with -d POST]", "请求方法 [默认：GET，有 -d 时为 POST]";
    "header" / 'H': Kind::List("HEADER"), modes::LOADS, page;
        brief "Request header 'Name: value'; repeatable", "请求头 'Name: value'，可重复";
        "Request header (gRPC: metadata) 'Name: value'; repeatable; 'Name:' removes a default, 'Name;' sends it empty",
        "请求头（gRPC 为元数据）'Name: value'，可重复；'Name:' 去掉默认的，'Name;' 发送空值";
    "header" / 'H': Kind::List("HEADER"), &[Ask];
        "Metadata 'name: value'; repeatable", "元数据 'name: value'，可重复";
    "user" / 'u': Kind::Free("NAME:PASSWORD"), modes::LOADS, page;
        "Name and password, sent as Authorization: Basic", "用户名和密码，以 Authorization: Basic 发送";
    "user-agent" / 'A': Kind::Free("NAME"), modes::LOADS, page;
        "User-Agent to send; '' sends none [default: onrush/VERSION]",
        "User-Agent 的内容；'' 表示不发送 [默认：onrush/版本号]";
    "cookie" / 'b': Kind::List("COOKIES"), modes::LOADS, page;
        "Cookies 'name=value; other=value'; repeatable", "Cookie，如 'name=value; other=value'，可重复";
    "host": Kind::Text("HOST"), modes::LOADS, page;
        "Host header, when it is not the host of the URL", "Host 请求头（与 URL 中的主机不同时）";
    "form" / 'F': Kind::List("NAME=VALUE"), &[Run], page;
        "Part of a multipart form, as with curl: name=value, or name=@FILE to upload a file; repeatable",
        "multipart 表单的一项，可重复：name=value，name=@FILE 上传文件，写法与 curl 相同";
    "data" / 'd': Kind::Free("DATA"), &[Run], page;
        brief "Request body or message; @FILE reads a file", "请求体或消息；@FILE 读取文件";
        "Request body, or message for WebSocket and TCP; @FILE reads it from a file as is, hex:0aff gives bytes of a message. For gRPC: the message as JSON; several for a stream, in an array or on lines",
        "请求体，或 WebSocket、TCP 的消息；@FILE 原样读取文件内容，hex:0aff 为消息的十六进制字节。gRPC：JSON 格式的消息，流可用数组或多行给出多条";
    "data" / 'd': Kind::Free("DATA"), &[Hold], common;
        "The message; @FILE reads it from a file, hex:0aff gives bytes [default for WebSocket: a ping]",
        "消息内容；@FILE 从文件读取，hex:0aff 为十六进制字节 [WebSocket 默认：ping]";
    "timeout" / 't': Kind::Number("TIME"), &[Run], page;
        brief "Time to wait for a response [default: 30s]", "单个请求的超时 [默认：30s]";
        "Time to wait for an answer, counted from sending; if given, gRPC servers are told it too (grpc-timeout) [default: 30s]",
        "单个请求的超时，从发出请求算起；给出时也会告知 gRPC 服务端（grpc-timeout）[默认：30s]";
    "deadline": Kind::Number("TIME"), &[Run], page;
        "A success later than this counts as missed; with a rate from the planned start, and what cannot be sent by then is dropped. It ends nothing",
        "截止时间：晚于它的成功请求计为超过截止时间；固定速率下从计划的发起时刻算起，届时仍未发出的请求会被丢弃。它不会中断请求";
    "timeout" / 't': Kind::Number("TIME"), &[Hold], common;
        "Time to wait for an answer; a connection without one counts as lost [default: 30s]",
        "等待响应的超时，超时即视为断开 [默认：30s]";
    "timeout" / 't': Kind::Number("TIME"), &[Ask];
        "Time to wait for all answers [default: 30s]", "等待响应的总时间 [默认：30s]";
    "location" / 'L': Kind::Switch, &[Run], page;
        "Follow redirects; each counts as a request of its own", "跟随重定向；每次重定向都作为单独的请求统计";
    "max-redirs": Kind::Number("N"), &[Run], page;
        "Most redirects in a row [default: 50]", "最多连续跟随多少次重定向 [默认：50]";
}

flags! {
    /// Flags of HTTP versions.
    pub(super) HTTP;
    "http1.0": Kind::Switch, &[Run], page;
        "Use HTTP/1.0", "使用 HTTP/1.0";
    "http1.1": Kind::Switch, &[Run], page;
        "Use HTTP/1.1, even where HTTP/2 is offered", "使用 HTTP/1.1，即使服务端支持 HTTP/2";
    "http2": Kind::Switch, &[Run], page;
        brief "Use HTTP/2, also with http://", "使用 HTTP/2，http:// 也可以";
        "Use HTTP/2, also with http:// [default: the server chooses with https://; HTTP/1.1 with http://]",
        "使用 HTTP/2，http:// 也可以 [默认：https:// 由服务端选择，http:// 为 HTTP/1.1]";
    "streams": Kind::Number("N"), &[Run], page;
        "Concurrent requests on each connection (HTTP/2); the number of users is -c times N [default: 1]",
        "每个连接上同时进行的请求数（HTTP/2）；用户数为 -c 乘以 N [默认：1]";
}
