//! Failures of proxies: cause and remedy.

use metrics::Failure;

use crate::Language;

/// Whether it is a failure of a proxy to open a tunnel.
pub(super) fn is_of_proxy(failure: Failure) -> bool {
    matches!(
        failure,
        Failure::ProxyRefused
            | Failure::ProxyLogin
            | Failure::ProxyTimeout
            | Failure::ProxyClosed
            | Failure::ProxyAnswer
    )
}

/// What the user can do about a failure of the proxy at `address`.
pub(super) fn remedy(failure: Failure, address: &str, limit: &str, language: Language) -> String {
    match failure {
        Failure::ProxyLogin => language.pick(
            format!("the proxy {address} wants another user or password; write them as --proxy http://user:password@host:port"),
            format!("代理 {address} 要求其他用户名或密码；请写成 --proxy http://用户名:密码@主机:端口"),
        ),
        Failure::ProxyRefused => language.pick(
            format!("the proxy {address} refused to connect to the target; look at its log and its rules: which hosts and ports (CONNECT) it allows, and whether the target can be reached from there"),
            format!("代理 {address} 拒绝连接目标；请查看其日志和规则：允许哪些主机和端口（CONNECT），以及从代理能否访问目标"),
        ),
        Failure::ProxyTimeout => language.pick(
            format!("the proxy {address} opened no tunnel within {limit}; look at its load and at its way to the target, or raise --connect-timeout"),
            format!("代理 {address} 在 {limit} 内没有打开隧道；请检查其负载以及它到目标的网络，或调大 --connect-timeout"),
        ),
        Failure::ProxyClosed => language.pick(
            format!("the proxy {address} closed the connection before a tunnel was open; look at its log and its limits, and whether the scheme of --proxy is right"),
            format!("代理 {address} 在隧道打开前关闭了连接；请查看其日志和各项上限，并检查 --proxy 的协议是否正确"),
        ),
        _ => language.pick(
            format!("what {address} sent is no answer of such a proxy; check the scheme of --proxy: http://, https://, socks5:// or socks5h://"),
            format!("{address} 的响应不属于这种代理；请检查 --proxy 的协议：http://、https://、socks5:// 或 socks5h://"),
        ),
    }
}
