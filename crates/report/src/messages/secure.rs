//! TLS and HTTP/2 failures, in both languages.

use engine::TlsError;
use metrics::{ProtocolFault, TlsFault};
use wire::tls::Refused;

use crate::{Language, texts};

#[cfg(test)]
mod tests;

/// RSA keys with fewer bits are too weak to be verified.
const RSA_BITS_MIN: usize = 2_048;

/// The reason of a failed TLS session, and the remedy. `limit`: the time limit of the handshake.
pub(super) fn tls(
    fault: TlsFault,
    address: &str,
    refused: Option<&Refused>,
    limit: &str,
    language: Language,
) -> String {
    let weak_bits = refused.and_then(|refused| refused.rsa_bits).filter(|bits| *bits < RSA_BITS_MIN);
    let (en, zh) = tls_texts(fault, weak_bits.is_some());
    let values = [
        ("{certificate}", certificate(address, refused, language)),
        ("{address}", address.to_owned()),
        ("{wanted}", refused.map_or(String::new(), |refused| refused.wanted.clone())),
        ("{limit}", limit.to_owned()),
        ("{bits}", weak_bits.map_or(String::new(), |bits| bits.to_string())),
    ];
    fill(language.pick(en, zh), &values)
}

/// A text with values filled in. The values themselves are not scanned for placeholders.
fn fill(text: &str, values: &[(&str, String)]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, behind) = rest.split_at(at);
        filled.push_str(before);
        let known = values.iter().find(|(name, _)| behind.starts_with(name));
        let (name, value) = known.map_or(("{", "{"), |(name, value)| (*name, value.as_str()));
        filled.push_str(value);
        rest = &behind[name.len()..];
    }
    filled.push_str(rest);
    filled
}

texts! {
    /// The texts of a fault in English and in Chinese, with placeholders for values.
    fn tls_texts(fault: TlsFault, has_weak_key: bool) of fault;
    TlsFault::UnknownIssuer =>
        "{certificate} is not signed by a trusted CA; name its CA with --cacert FILE, or skip certificate verification with --insecure",
        "{certificate}的签发者不受信任；请用 --cacert FILE 指定其 CA，或用 --insecure 跳过校验";
    TlsFault::Expired =>
        "{certificate} has expired; renew it, or skip certificate verification with --insecure",
        "{certificate}已过期；请更换证书，或用 --insecure 跳过校验";
    TlsFault::NotYetValid =>
        "{certificate} is not valid yet; look at the clocks of both machines, or skip verification with --insecure",
        "{certificate}尚未生效；请检查两台机器的时钟，或用 --insecure 跳过校验";
    TlsFault::WrongName =>
        "{certificate} is not valid for the name '{wanted}'; request one of its names with --sni NAME, or skip verification with --insecure",
        "{certificate}与名称 '{wanted}' 不符；请用 --sni NAME 指定证书上的名称，或用 --insecure 跳过校验";
    TlsFault::Certificate =>
        "{certificate} cannot be used (its key, purpose or form); look at it with openssl s_client, or skip verification with --insecure",
        "{certificate}无法使用（密钥、用途或格式有误）；可用 openssl s_client 查看，或用 --insecure 跳过校验";
    TlsFault::UnsupportedKey =>
        "{certificate} has, or is signed with, a key of a kind that this build cannot verify, such as P-521; use a package of onrush, or build it with cargo build --release --features aws-lc, or skip verification with --insecure",
        "{certificate}或其签发者的密钥（如 P-521）是此构建无法校验的类型；请用安装包，或用 cargo build --release --features aws-lc 构建，或用 --insecure 跳过校验";
    TlsFault::UnknownName =>
        "{address} serves nothing under the name of the URL or of --sni (TLS alert unrecognized_name); ask for a name that it serves with --sni NAME, or write it in the URL",
        "{address} 没有 URL 中（或 --sni 给出）的名称对应的站点（TLS 警报 unrecognized_name）；请用 --sni NAME 或在 URL 中写出它所服务的名称";
    TlsFault::NothingInCommon if !wire::tls::HAS_P521 =>
        "no TLS version, group or cipher in common; check --tls-min, --tls-groups and the settings of the server; if its key is of P-521, use a package of onrush, or build it with cargo build --release --features aws-lc",
        "双方没有共同的 TLS 版本、密钥交换组或加密套件；请检查 --tls-min、--tls-groups 以及服务端的设置；如果服务端密钥是 P-521，请用安装包，或用 cargo build --release --features aws-lc 构建";
    TlsFault::ClientCertificate =>
        "the server requires a client certificate, or does not accept ours; give one that it accepts with --cert FILE --key FILE",
        "服务端要求客户端证书，或不接受所给的证书；请用 --cert FILE --key FILE 给出它认可的证书";
    TlsFault::NothingInCommon =>
        "no TLS version, group or cipher in common; check --tls-min, --tls-groups and the settings of the server",
        "双方没有共同的 TLS 版本、密钥交换组或加密套件；请检查 --tls-min、--tls-groups 以及服务端的设置";
    TlsFault::NoProtocol =>
        "the server does not accept the protocol (ALPN): it may not speak HTTP/2, which --http2, --streams and grpcs:// need; check --alpn",
        "服务端不接受该协议（ALPN），可能不支持 HTTP/2（--http2、--streams 和 grpcs:// 都需要它）；请检查 --alpn";
    TlsFault::NotTls =>
        "{address} does not speak TLS; write http:// (ws://, grpc://) if it is plain text, or check the port",
        "{address} 不是 TLS 服务；如为明文请写 http://（ws://、grpc://），或检查端口";
    TlsFault::WeakKey if has_weak_key =>
        "{certificate} has an RSA key of {bits} bits, too weak to be verified; replace it by one with 2048 bits or more, or skip verification with --insecure",
        "{certificate}的 RSA 密钥只有 {bits} 位，强度过低，无法校验；请换用 2048 位以上的密钥，或用 --insecure 跳过校验";
    TlsFault::WeakKey =>
        "{certificate} is signed with an RSA key of fewer than 2048 bits, too weak to be verified; have it signed by a CA with a larger key, or skip verification with --insecure",
        "{certificate}由不足 2048 位的 RSA 密钥签发，强度过低，无法校验；请换用密钥更长的 CA 签发，或用 --insecure 跳过校验";
    TlsFault::ChainTooLong =>
        "{certificate} has a chain of more than 6 intermediate certificates, the maximum that is verified; shorten the chain, name one of the intermediates with --cacert FILE, or skip verification with --insecure",
        "{certificate}的证书链超过 6 个中间证书，超出校验上限；请缩短证书链，用 --cacert FILE 指定其中一个中间证书，或用 --insecure 跳过校验";
    TlsFault::TooLarge =>
        "{address} sends more than 64 KiB of certificates in its TLS handshake, the maximum that is accepted; configure it to send only its own certificate and the intermediates",
        "{address} 在 TLS 握手中发送的证书超过 64 KiB 的上限；请只发送服务端证书和必要的中间证书";
    TlsFault::Renegotiation =>
        "the server requires a new handshake within a TLS 1.2 session (renegotiation), which is not supported; turn that off in the server, ask for the client certificate in the first handshake, or let it speak TLS 1.3",
        "服务端要求在 TLS 1.2 会话中重新协商，本工具不支持；请在服务端关闭重新协商、在首次握手时就要求客户端证书，或启用 TLS 1.3";
    TlsFault::NoAnswer =>
        "the TCP connection to {address} was established, but the TLS handshake had no answer within {limit}; check that the port speaks TLS and that the server is not overloaded, or raise --connect-timeout",
        "到 {address} 的 TCP 连接已建立，但 TLS 握手在 {limit} 内没有收到响应；请确认该端口是 TLS 服务且服务端没有过载，或调大 --connect-timeout";
    TlsFault::Alert | TlsFault::Other =>
        "the TLS session failed; look at the log of the server, or try openssl s_client",
        "TLS 会话失败；请查看服务端日志，或用 openssl s_client 排查";
    TlsFault::ClosedEarly =>
        "the server closed during the TLS handshake; look at its log, and whether the port speaks TLS",
        "服务端在 TLS 握手期间关闭了连接；请查看其日志，并确认该端口是 TLS 服务";
}

/// The refused certificate, described by its own data.
fn certificate(address: &str, refused: Option<&Refused>, language: Language) -> String {
    let Some(refused) = refused else {
        return language.pick(format!("the certificate of {address}"), format!("{address} 的证书"));
    };
    let names = if refused.names.is_empty() { "-".to_owned() } else { refused.names.join(" ") };
    let (subject, issuer, from, to) = (&refused.subject, &refused.issuer, &refused.not_before, &refused.not_after);
    language.pick(
        format!(
            "the certificate of {address} ({subject}; names {names}; signed by {issuer}; valid from {from} to {to})"
        ),
        format!("{address} 的证书（{subject}；名称 {names}；签发者 {issuer}；有效期 {from} 至 {to}）"),
    )
}

texts! {
    /// The text of an HTTP/2 fault; `None` for one that both versions share.
    pub(super) optional fn http2(fault: ProtocolFault) of fault;
    ProtocolFault::Preface =>
        "what the server sends first is not HTTP/2; it may speak HTTP/1.1 only, without --http2",
        "服务端发送的不是 HTTP/2；可能只支持 HTTP/1.1，请去掉 --http2";
    ProtocolFault::FrameSize => "a frame has an invalid size", "帧长度不合法";
    ProtocolFault::FrameStream => "a frame is on a stream where it is not allowed", "帧出现在不应出现的流上";
    ProtocolFault::Padding => "the padding of a frame is larger than the frame", "帧的填充超过帧长";
    ProtocolFault::Continuation =>
        "a header block is interrupted or continued out of order",
        "头部块被打断或续接错误";
    ProtocolFault::ContinuationFlood => "a header block does not end", "头部块没有结束";
    ProtocolFault::Compression => "a header block cannot be decompressed", "头部块无法解压（HPACK）";
    ProtocolFault::HeadersTooLarge => "the header list is larger than 64 KiB", "头部列表超过 64 KiB";
    ProtocolFault::Headers => "the header fields are not a valid message", "头部字段不构成合法的消息";
    ProtocolFault::Settings => "a setting has an invalid value", "SETTINGS 的值不合法";
    ProtocolFault::Window => "a flow-control window was exceeded or is too large", "流量控制窗口越界";
    ProtocolFault::Push => "the server pushed without being allowed to", "服务端未经允许进行推送";
    ProtocolFault::PingFlood =>
        "the server sent more than 10,000 pings in a row",
        "服务端连续发送超过 10,000 个 PING";
    ProtocolFault::SettingsFlood =>
        "the server sent more than 10,000 settings in a row",
        "服务端连续发送超过 10,000 个 SETTINGS";
    ProtocolFault::ResetFlood =>
        "the server sent more than 10,000 resets in a row",
        "服务端连续发送超过 10,000 个 RST_STREAM";
    ProtocolFault::EmptyFlood =>
        "the server sent more than 10,000 frames in a row that carry nothing",
        "服务端连续发送超过 10,000 个没有内容的帧";
}

/// The error of invalid TLS settings.
pub fn tls_error(error: &TlsError, language: Language) -> String {
    match language {
        Language::En => error.to_string(),
        Language::Zh => super::in_chinese(&chinese(error)),
    }
}

fn chinese(error: &TlsError) -> String {
    use wire::tls::SetupError;
    let error = match error {
        TlsError::NoAuthorities => {
            return "本机没有受信任的证书；请安装 ca-certificates，用 --cacert 指定 CA，或使用 --insecure".to_owned();
        }
        TlsError::Setup { error } => error,
    };
    let flag = engine::tls_flag(error);
    let text = match error {
        SetupError::NoCertificate { .. } => "其中没有 PEM 证书；证书以 -----BEGIN 开头".to_owned(),
        SetupError::NoKey => "其中没有 PEM 私钥；私钥以 -----BEGIN 开头".to_owned(),
        SetupError::BadCertificate { number, reason, .. } => format!("第 {number} 个证书无法使用：{reason}"),
        SetupError::BadPair { reason } => format!("证书和私钥无法配合使用：{reason}"),
        SetupError::KeyNotBuilt => {
            "此构建不支持 P-521 的密钥；请用安装包，或用 cargo build --release --features aws-lc 构建".to_owned()
        }
        SetupError::Group { name } => {
            format!("不认识密钥交换组 '{name}'；可用的有 {}", wire::tls::GROUPS.join("、"))
        }
        SetupError::GroupNotBuilt { name } => {
            format!("此构建不支持密钥交换组 '{name}'；请用安装包，或用 cargo build --release --features aws-lc 构建")
        }
        SetupError::Cpu => {
            "此构建的加密库需要支持 AES、AVX2 和 ADX 的 CPU（2015 年以后的 x86-64）或支持 AES 和 PMULL 的 ARM；\
                            请用安装包，或用 cargo build --release --features aws-lc 构建"
                .to_owned()
        }
        SetupError::Name { name } => format!("'{name}' 不能作为证书名称；请用 --sni 给出证书上的名称"),
        SetupError::Versions { reason } => format!("TLS 版本与密钥交换组不能配合：{reason}"),
    };
    format!("{flag}：{text}")
}
