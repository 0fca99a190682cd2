//! Responses that did not arrive, or not completely, within their time.

use plan::ResponseEnd;

use super::FailureContext;
use crate::Language;
use crate::format::{count, counted, span};

/// The remedy for responses that were not complete within the timeout.
pub(super) fn timeout(context: &FailureContext<'_>, language: Language) -> String {
    let limit = limit_of(context, language);
    if context.step.and_then(|step| step.messaging.as_ref()).is_some_and(|messaging| messaging.awaits) {
        return language.pick(
            format!(
                "no message met 'expect' within {limit}, whatever else came; check what is expected, or raise 'within'"
            ),
            format!("{limit} 内没有收到符合 expect 的消息（其他消息不算）；请检查断言的内容，或调大 within"),
        );
    }
    let received = context.received.filter(|_| context.nothing_succeeded);
    let silence = context.custom_request().and_then(super::custom::silence);
    match received {
        _ if context.is_datagram && context.nothing_succeeded && context.stray_datagrams > 0 => {
            let strays = counted(context.stray_datagrams, "datagram");
            language.pick(
                format!(
                    "no response within {limit}; {strays} came, but matched no request or were too long (see \
                     Datagrams); check what responds on that port"
                ),
                format!(
                    "{limit} 内没有收到响应；共收到 {} 个数据报，但与请求不匹配或过长（见“数据报”一行）；请检查该端口上是什么服务",
                    count(context.stray_datagrams)
                ),
            )
        }
        Some(0) if let Some(silence) = silence => language.pick(
            format!("no response within {limit}; {}", silence.en),
            format!("{limit} 内没有收到响应；{}", silence.zh),
        ),
        Some(0) => nothing_came(context, &limit, language),
        Some(bytes) if let Some(text) = no_end(context, bytes, &limit, language) => text,
        _ if context.is_datagram && context.went_over_tcp > 0 => language.pick(
            format!(
                "no complete response within {limit}, to the datagram or, where that was truncated, over TCP; \
                 datagrams are lost, or the server is too slow; lower the load, offer more with EDNS, or raise -t"
            ),
            format!(
                "{limit} 内没有收到完整响应（UDP，或响应被截断后改用的 TCP）：数据报丢失，或服务端太慢；请降低负载、调大 EDNS 大小，或调大 -t"
            ),
        ),
        _ if context.is_datagram => language.pick(
            format!(
                "no response within {limit}; datagrams are lost here, in the network or at the server, or it is too \
                 slow; lower the load, let requests be sent again (resend) if they are not, or raise -t"
            ),
            format!(
                "{limit} 内没有收到响应：数据报在本机、网络或服务端丢失，或服务端太慢；请降低负载、启用重发（resend，若尚未启用），或调大 -t"
            ),
        ),
        _ => language.pick(
            format!(
                "no complete answer within {limit}; the server is too slow for this load; lower the load or raise -t"
            ),
            format!("{limit} 内没有收到完整响应：服务端对该负载来说太慢；请降低负载或调大 -t"),
        ),
    }
}

/// The timeout; where steps differ, from the minimum to the maximum.
fn limit_of(context: &FailureContext<'_>, language: Language) -> String {
    let limits = || context.failed_steps.iter().map(|step| step.timeout);
    match (limits().min(), limits().max()) {
        (Some(least), Some(most)) if least != most => {
            let (least, most) = (span(least), span(most));
            language.pick(format!("{least} to {most}"), format!("{least} 至 {most}"))
        }
        _ => context.step.map_or(String::new(), |step| span(step.timeout)),
    }
}

/// The text for no byte at all: the server may be waiting for something that is never sent.
fn nothing_came(context: &FailureContext<'_>, limit: &str, language: Language) -> String {
    let is_tcp_messaging = context.step.and_then(|step| step.messaging.as_ref()).is_some();
    match is_tcp_messaging {
        true => language.pick(
            format!("connected, but not one byte came back within {limit}; check what the server waits for (-d, perhaps an end like \\n, or TLS), or raise -t"),
            format!("连接已建立，但 {limit} 内没有收到任何字节；请检查服务端在等待什么（-d 的内容，可能缺少 \\n 这样的结尾，或需要 TLS），或调大 -t"),
        ),
        false => language.pick(
            format!("connected, but not one byte came back within {limit}; check that the port speaks the protocol of the URL (it may wait for TLS), lower the load, or raise -t"),
            format!("连接已建立，但 {limit} 内没有收到任何字节；请检查该端口的协议是否与 URL 一致（可能在等待 TLS），降低负载，或调大 -t"),
        ),
    }
}

/// The text for bytes over TCP without the end of a response that the flag defines.
fn no_end(context: &FailureContext<'_>, bytes: u64, limit: &str, language: Language) -> Option<String> {
    let (said, bytes) = (counted(bytes, "byte"), count(bytes));
    let (en, zh) = match &context.step?.messaging.as_ref()?.response {
        ResponseEnd::Until(_) => (
            format!("{said} came within {limit}, but not the end that --until names; check --until, or raise -t"),
            format!("{limit} 内收到 {bytes} 字节，但没有出现 --until 指定的结尾；请检查 --until，或调大 -t"),
        ),
        ResponseEnd::Bytes(wanted) => {
            let (of, wanted) = (counted(*wanted, "byte"), count(*wanted));
            (
                format!("{said} came, but no answer had its {of} within {limit}; check --read-bytes, or raise -t"),
                format!(
                    "共收到 {bytes} 字节，但没有响应在 {limit} 内达到 {wanted} 字节；请检查 --read-bytes，或调大 -t"
                ),
            )
        }
        ResponseEnd::LengthPrefix { .. } => (
            format!(
                "{said} came, but within {limit} no answer as long as its first bytes say; check --length-prefix, or raise -t"
            ),
            format!(
                "共收到 {bytes} 字节，但 {limit} 内没有响应达到其开头所示的长度；请检查 --length-prefix，或调大 -t"
            ),
        ),
        ResponseEnd::None | ResponseEnd::Message => return None,
    };
    Some(language.pick(en, zh))
}
