//! Notes about the addresses of a name: which came and left, which are not loaded, and lookups that failed.

use core::net::IpAddr;

use engine::{AddressChange, NameReport};

use crate::Language;
use crate::format::{count, counted, time};

/// Changes and addresses that are shown; the others are counted.
const SHOWN_MAX: usize = 3;

fn list(addresses: &[IpAddr], language: Language) -> String {
    let shown = addresses.iter().take(SHOWN_MAX).map(IpAddr::to_string).collect::<Vec<_>>();
    let shown = shown.join(language.pick(", ", "、"));
    match addresses.len().saturating_sub(SHOWN_MAX) {
        0 => shown,
        more => language.pick(format!("{shown} and {more} more"), format!("{shown} 等 {} 个", more + SHOWN_MAX)),
    }
}

fn change(change: &AddressChange, language: Language) -> String {
    let after = time(change.after.as_nanos() as f64);
    let (came, left) = (list(&change.came, language), list(&change.left, language));
    match (change.came.is_empty(), change.left.is_empty()) {
        (false, false) => language
            .pick(format!("{came} came and {left} left after {after}"), format!("{after} 时新增 {came}，移除 {left}")),
        (false, true) => language.pick(format!("{came} came after {after}"), format!("{after} 时新增 {came}")),
        _ => language.pick(format!("{left} left after {after}"), format!("{after} 时移除 {left}")),
    }
}

/// The addresses of a name changed during the run.
pub(super) fn moved(name: &NameReport, unused: &[IpAddr], established: u64, language: Language) -> String {
    let host = &name.host;
    let shown: Vec<String> = name.changes.iter().take(SHOWN_MAX).map(|one| change(one, language)).collect();
    let shown = shown.join(language.pick("; ", "；"));
    let more = match name.changes.len().saturating_sub(SHOWN_MAX) {
        0 => String::new(),
        more => language.pick(format!("; {more} more changes"), format!("；另有 {more} 次变化")),
    };
    let (of, all) = (list(unused, language), counted(established, "connection"));
    let end = match unused {
        [] => "",
        _ => &*language.pick(
            format!("; {of} got none of the {all}: --connection-age 30s lets open ones follow"),
            format!(
                "；{} 个连接都没有用到 {of}：--connection-age 30s 可使已有连接到期后改用新地址",
                count(established)
            ),
        ),
    };
    language.pick(
        format!(
            "the addresses of {host} changed: {shown}{more}; new connections followed, open ones stayed where they \
             were{end}"
        ),
        format!("{host} 的地址有变化：{shown}{more}；新连接使用新地址，已有连接保持原地址{end}"),
    )
}

/// Addresses of a name that are not loaded.
pub(super) fn refused(name: &NameReport, language: Language) -> String {
    let (host, addresses) = (&name.host, list(&name.refused, language));
    let end = match name.has_none {
        true => language.pick("; no other was left, so the run ended", "；没有其他可用地址，压测因此结束"),
        false => "",
    };
    language.pick(
        format!("{host} also led to {addresses}, where nothing was sent: without a consent, or of another kind (this machine, private, link-local, public) than its addresses at the start{end}"),
        format!("{host} 还解析到 {addresses}，但没有向其发送任何数据：未获授权，或与开始时的地址不属同一类（本机、私有、链路本地、公网）{end}"),
    )
}

/// Lookups failed, and the addresses that were known stayed in use.
pub(super) fn failed(name: &NameReport, language: Language) -> String {
    let (host, lookups) = (&name.host, counted(name.lookups, "lookup"));
    let (failed, all, age) = (name.failed, name.lookups, time(name.age.as_nanos() as f64));
    let (en, zh) = match &name.reason {
        Some(reason) => (reason.clone(), reason.clone()),
        None => ("the name has no address".to_owned(), "该域名没有地址".to_owned()),
    };
    language.pick(
        format!("{failed} of {lookups} of {host} failed ({en}); its addresses of {age} before stayed in use"),
        format!("{host} 的 {all} 次解析中有 {failed} 次失败（{zh}）；继续使用 {age} 之前得到的地址"),
    )
}

/// A name has several addresses, and there was one connection.
pub(super) fn one_of_several(name: &NameReport, language: Language) -> String {
    let (host, count) = (&name.host, name.addresses.len());
    language.pick(
        format!("{host} has {count} addresses, and one connection reaches one of them: use more connections (-c) to load all"),
        format!("{host} 有 {count} 个地址，而一个连接只会到达其中一个：要压测全部地址，请增加连接数（-c）"),
    )
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    fn of(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().expect("an address")).collect()
    }

    #[test]
    fn changes_name_addresses_and_times() {
        let one = |at: u64, came: &[&str], left: &[&str]| AddressChange {
            after: Duration::from_secs(at),
            came: of(came),
            left: of(left),
        };
        let mut name = NameReport { host: "shop.example".to_owned(), ..NameReport::default() };
        name.changes = vec![one(3, &["10.0.0.4"], &["10.0.0.1"]), one(9, &[], &["10.0.0.2"])];
        assert_eq!(
            moved(&name, &[], 400, Language::En),
            "the addresses of shop.example changed: 10.0.0.4 came and 10.0.0.1 left after 3.00s; 10.0.0.2 left after \
             9.00s; new connections followed, open ones stayed where they were"
        );
        assert_eq!(
            moved(&name, &[], 400, Language::Zh),
            "shop.example 的地址有变化：3.00s 时新增 10.0.0.4，移除 10.0.0.1；9.00s 时移除 10.0.0.2；\
             新连接使用新地址，已有连接保持原地址"
        );
        name.changes =
            (0..5).map(|at| one(at, &["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"], &[])).collect();
        let unused = of(&["10.0.0.4"]);
        let text = moved(&name, &unused, 400, Language::En);
        assert!(text.ends_with("10.0.0.4 got none of the 400 connections: --connection-age 30s lets open ones follow"));
        let text = moved(&name, &unused, 400, Language::Zh);
        assert!(text.contains("；400 个连接都没有用到 10.0.0.4：--connection-age 30s"), "{text}");
        let text = moved(&name, &[], 400, Language::En);
        assert!(text.contains("10.0.0.3 and 2 more came after 2.00s; 2 more changes;"), "{text}");
    }

    #[test]
    fn failures_say_what_stayed() {
        let mut name = NameReport { host: "shop.example".to_owned(), lookups: 4, failed: 3, ..NameReport::default() };
        name.age = Duration::from_secs(12);
        assert_eq!(
            failed(&name, Language::En),
            "3 of 4 lookups of shop.example failed (the name has no address); its addresses of 12.0s before stayed in use"
        );
        name.reason = Some("10.0.0.2:53 answers with SERVFAIL".to_owned());
        assert!(failed(&name, Language::Zh).contains("（10.0.0.2:53 answers with SERVFAIL）"));
        (name.refused, name.has_none) = (of(&["192.0.2.1"]), true);
        assert!(refused(&name, Language::En).ends_with("so the run ended"), "{}", refused(&name, Language::En));
    }
}
