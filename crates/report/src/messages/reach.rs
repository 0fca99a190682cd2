//! Public hosts that the user has not allowed.

use engine::{UNCONSENTED_SHOWN_MAX, UnconsentedHost};
use plan::{UNASKED_CONNECTIONS_MAX, UNASKED_RATE_MAX};

use crate::Language;

/// Hosts, with their addresses where those say more; in Chinese with a space after Latin text.
pub fn unconsented_hosts(all: &[&UnconsentedHost], language: Language) -> String {
    let one = |one: &&UnconsentedHost| match one.host.parse() == Ok(one.address) {
        true => one.host.clone(),
        false => language.pick(one.to_string(), format!("{}（{}）", one.host, one.address)),
    };
    let names: Vec<String> = all.iter().map(one).collect();
    let text = names.join(language.pick(", ", "、"));
    let ends_bare = !text.ends_with('）');
    if language == Language::Zh && ends_bare { format!("{text} ") } else { text }
}

/// Cause and remedy.
pub(super) fn refusal_in_chinese(all: &[UnconsentedHost]) -> String {
    let shown = &all[..all.len().min(UNCONSENTED_SHOWN_MAX)];
    let more = all.len() - shown.len();
    let who = unconsented_hosts(&shown.iter().collect::<Vec<_>>(), Language::Zh);
    let who = if more > 0 { format!("{who}等 {} 个主机", all.len()) } else { who };
    let mut hosts: Vec<&str> = shown.iter().map(|one| one.host.as_str()).collect();
    hosts.dedup();
    let flags: Vec<String> = hosts.iter().map(|host| format!("--allow-host {host}")).collect();
    let (flags, first) = (flags.join(" "), hosts[0]);
    format!(
        "{who}既不是本机，也不在私有网络中；已获授权时请加上 {flags}，或由对方在 /.well-known/onrush-consent 中写明（onrush: allow {first}）；每秒不超过 {UNASKED_RATE_MAX} 个请求（-q，步骤和重定向都计入）且不超过 {UNASKED_CONNECTIONS_MAX} 个连接（-c）时无需授权"
    )
}

/// The error of a redirect to such a host.
pub(super) fn no_consent(place: &str, language: Language) -> String {
    // With several hosts none is named.
    let host = place.rsplit_once(':').map(|(host, _)| host).filter(|_| !place.contains(", "));
    let (en, zh) = match host {
        Some(host) => (format!("add --allow-host {host}"), format!("请加上 --allow-host {host}")),
        None => ("add --allow-host and its name".to_owned(), "请加上 --allow-host 和主机名".to_owned()),
    };
    language.pick(
        format!("a redirect leads to {place}, a public host that nobody said may be loaded; nothing was sent there; if you may load it, {en}"),
        format!("重定向指向 {place}，这是未获授权的公网主机，没有向其发送任何内容；已获授权时{zh}"),
    )
}
