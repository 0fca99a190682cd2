//! WebSocket sessions that the server closed, in both languages.

use metrics::CLOSE_WITHOUT_CODE;

use super::FailureContext;
use crate::{Language, texts};

texts! {
    /// The meaning of a close code (RFC 6455, 7.4.1, and the IANA registry), and the remedy.
    fn meaning(code: u16) of code;
    1_000 =>
        "it is done; check whether it closes after a number of messages or some time",
        "表示正常结束；请检查服务端是否在一定消息数或时间后关闭连接";
    1_001 =>
        "it is going away; check whether it was restarted or shut down",
        "服务端即将下线；请检查它是否重启或停止";
    1_002 => "it says that we violated the protocol; look at its log", "服务端认为客户端违反了协议；请查看其日志";
    1_003 =>
        "it does not take messages of this kind; try --ws-type binary, or without it",
        "服务端不接受这类消息；请尝试加上或去掉 --ws-type binary";
    1_007 => "it cannot parse the message; check -d", "服务端无法解析该消息；请检查 -d";
    1_008 =>
        "the request violates its policy; check the message, the path and the headers (-H)",
        "违反了服务端的策略；请检查消息、路径和请求头（-H）";
    1_009 =>
        "the message is too large for it; send a smaller one, or raise its limit",
        "消息超过服务端上限；请减小消息，或调大服务端上限";
    1_010 =>
        "it needs an extension that was not negotiated; try --ws-deflate",
        "缺少服务端需要的扩展；请尝试 --ws-deflate";
    1_011 => "it had an internal error; look at its log", "服务端内部出错；请查看其日志";
    1_012 => "it is restarting", "服务端正在重启";
    1_013 =>
        "it is overloaded, or has too many connections; lower the load, or raise its limits",
        "服务端过载或连接过多；请降低负载，或调大其上限";
    1_014 => "its backend gave no valid answer; look at its log", "其后端没有给出有效响应；请查看其日志";
    CLOSE_WITHOUT_CODE => "it gave no code; look at its log", "服务端没有给出代码；请查看其日志";
    3_000 => "it needs other credentials; give them with -H", "服务端要求其他凭证；请用 -H 给出";
    _ => "the application defines what this code means; look at its log", "该代码的含义由应用定义；请查看服务端日志";
}

/// The code and the reason as the server sent them.
pub(crate) fn code_and_reason(code: Option<u16>, reason: Option<&str>, language: Language) -> String {
    let code = code.map_or_else(|| language.pick("no code", "无代码").to_owned(), |code| code.to_string());
    match reason.filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{code} '{reason}'"),
        None => code,
    }
}

/// The reason why a session was closed before its response, and the remedy.
pub(super) fn remedy(code: u16, context: &FailureContext<'_>, language: Language) -> String {
    let (en, zh) = meaning(code);
    let said = code_and_reason((code != CLOSE_WITHOUT_CODE).then_some(code), context.server_text(code), language);
    language.pick(format!("closed by the server with {said}: {en}"), format!("被服务端关闭（{said}）：{zh}"))
}
