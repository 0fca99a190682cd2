//! gRPC failures, in both languages.

use engine::ReflectError;
use metrics::ProtocolFault;

use super::{FailureContext, listed};
use crate::{Language, texts};

texts! {
    /// The text of a gRPC fault; `None` for any other.
    pub(super) optional fn fault(fault: ProtocolFault) of fault;
    ProtocolFault::ContentType =>
        "the answer is not of type application/grpc: the port may speak HTTP, but not gRPC",
        "响应类型不是 application/grpc：该端口可能是 HTTP 服务，而不是 gRPC";
    ProtocolFault::MessageFlag =>
        "a message begins with a flag that is neither 0 nor 1",
        "消息开头的压缩标志既不是 0 也不是 1";
    ProtocolFault::MessageCut => "the answer ends within a message", "响应在一条消息中间结束";
    ProtocolFault::MessageEncoding =>
        "a message is marked as compressed, but the answer has no grpc-encoding",
        "消息标记为已压缩，但响应没有给出 grpc-encoding";
    ProtocolFault::EncodingNotOffered =>
        "a message is compressed in a way that was not offered; offer gzip with --grpc-encoding gzip",
        "消息的压缩方式不在请求接受的范围内；可用 --grpc-encoding gzip 表示接受 gzip";
    ProtocolFault::MessageUnzip =>
        "a compressed message is damaged: it cannot be decompressed",
        "压缩的消息已损坏，无法解压";
    ProtocolFault::UnzippedTooLarge =>
        "a compressed message holds more than 64 MiB, the maximum that is decompressed",
        "压缩的消息解压后超过 64 MiB 的上限";
    ProtocolFault::MessageType =>
        "a message does not match the response type of the method; the server may have another version than the description",
        "消息与方法描述的响应类型不符；服务端的版本可能与所用的描述不一致";
    ProtocolFault::BadGrpcStatus => "grpc-status is not a number", "grpc-status 不是数字";
    ProtocolFault::MessageCount =>
        "the status is OK, but the number of messages is not one",
        "状态为 OK，但消息数不是恰好一条";
    ProtocolFault::NoGrpcStatus => "the answer ends without grpc-status", "响应结束时没有 grpc-status";
}

/// A call that ended with a status that is no success.
pub(super) fn status(status: u8, context: &FailureContext<'_>, language: Language) -> String {
    let (en, zh) = match status {
        1 => ("the server cancelled the call", "服务端取消了调用"),
        3 => ("the server does not accept the message; check -d", "服务端不接受该消息；请检查 -d"),
        4 => (
            "the call took longer than the server or its deadline allows; the server is too slow for this load; lower the load or raise -t",
            "调用超过了截止时间：服务端对该负载来说太慢；请降低负载或调大 -t",
        ),
        7 | 16 => (
            "the server needs other credentials; give them as metadata with -H",
            "服务端要求其他凭证；请用 -H 以元数据给出",
        ),
        8 => ("a quota or limit of the server is exhausted", "服务端的配额或上限已用完"),
        12 => (
            "the server has no such method, or does not support the compression; see what it has with: onrush grpc list",
            "服务端没有该方法，或不支持该压缩方式；可用 onrush grpc list 查看",
        ),
        14 => ("the server is unavailable", "服务端当前无法提供服务"),
        _ => ("the status is not a success; look at the log of the server", "状态不在成功范围内；请查看服务端日志"),
    };
    let text = language.pick(en, zh);
    let received = context.server_text(u16::from(status)).filter(|received| !received.is_empty());
    let or =
        language.pick("; set which count as success with --expect-status", "；可用 --expect-status 指定哪些算成功");
    match received.map(plan::masked) {
        Some(received) => {
            language.pick(format!("{text}{or}; it said: {received}"), format!("{text}{or}；服务端返回：{received}"))
        }
        None => format!("{text}{or}"),
    }
}

/// The reason why a target does not list its services.
pub fn reflect_error(error: &ReflectError, language: Language) -> String {
    if let ReflectError::Tls { address, fault, refused } = error {
        let why = super::secure::tls(*fault, &address.to_string(), refused.as_deref(), "", language);
        return language
            .pick(format!("no TLS session with {address}: {why}"), format!("无法与 {address} 建立 TLS 会话：{why}"));
    }
    match language {
        Language::En => error.to_string(),
        Language::Zh => super::in_chinese(&chinese(error)),
    }
}

fn chinese(error: &ReflectError) -> String {
    let language = Language::Zh;
    match error {
        ReflectError::Resolve(error) => super::resolve_error(error, language),
        ReflectError::Settings(error) => super::tls_error(error, language),
        ReflectError::Connection { address, reason } => {
            format!(
                "无法向 {address} 查询其服务：{reason}；请启动服务、检查地址和端口（使用 TLS 时为 grpcs://），或用 --proto FILE 给出定义"
            )
        }
        ReflectError::TimedOut { address, limit } => format!(
            "{address} 在 {} 内没有返回其服务列表，可能不是 gRPC 服务；请检查端口、调大 -t，或用 --proto FILE 给出定义",
            crate::format::span(*limit)
        ),
        ReflectError::Broken { address, reason } => format!(
            "{address} 没有给出 gRPC 响应（{reason}）；请确认该端口是 gRPC 服务：有 TLS 用 grpcs://，没有则用 grpc://"
        ),
        ReflectError::Refused { address } => {
            format!("{address} 没有开启服务端反射；请用 --proto FILE 或 --protoset FILE 给出服务定义")
        }
        ReflectError::Status { address, status, message } => {
            format!("{address} 拒绝服务端反射：{status}（{message}）；请用 -H 给出元数据，或用 --proto FILE 给出定义")
        }
        ReflectError::NoSymbol { address, symbol, known } => {
            format!("{address} 没有 '{symbol}'；现有服务：{}", listed(known))
        }
        ReflectError::TooLarge { address, most } => {
            format!("{address} 的描述超过 {most} 字节或文件数过多；请用 --proto FILE 给出该服务的定义")
        }
        ReflectError::Tls { .. } => error.to_string(),
    }
}
