//! Proxies in the environment: they are not used, and a line reports that.

use plan::Target;
use report::Language;

/// The variable of a proxy through which other programs would reach this host.
fn named(host: &str, is_tls: bool, variable: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let host = host.trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    let is_except = plan::is_exception(&plan::exceptions_of_variables(&variable), host);
    let names: &[&'static str] = if is_tls { &plan::SECURE_PROXY_VARIABLES } else { &plan::PROXY_VARIABLES };
    let name = names.iter().copied().find(|name| variable(name).is_some_and(|value| !value.is_empty()));
    name.filter(|_| !is_here && !is_except)
}

/// The notice about proxies that are not used for any of these.
pub(crate) fn say_unused<'a>(targets: impl IntoIterator<Item = &'a Target>, language: Language) -> Option<String> {
    let of = |target: &Target| named(&target.host, target.tls.is_some(), |name| std::env::var(name).ok());
    let targets: Vec<&Target> = targets.into_iter().collect();
    // Where some go through a proxy, the user knows.
    let has_one = targets.iter().any(|target| target.proxy.is_some());
    let name = targets.into_iter().filter(|_| !has_one).find_map(of)?;
    Some(language.pick(
        format!("onrush: {name} is set, and not used: the load goes to the target itself; --proxy-from-env uses it"),
        format!("onrush：设置了 {name}，但不使用代理：直接压测目标；如要使用，请加上 --proxy-from-env"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_named_where_others_would_use_it() {
        let of = |host: &str, is_tls: bool, set: &[(&str, &str)]| {
            let found = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            named(host, is_tls, found)
        };
        let both = [("http_proxy", "http://p:1"), ("HTTPS_PROXY", "http://p:2")];
        assert_eq!(of("site.example", false, &both), Some("http_proxy"));
        assert_eq!(of("site.example", true, &both), Some("HTTPS_PROXY"));
        assert_eq!(of("10.0.0.1", true, &[("ALL_PROXY", "socks5://p")]), Some("ALL_PROXY"));
        // As with curl: a server may set the other one by a header.
        assert_eq!(of("site.example", false, &[("HTTP_PROXY", "http://p:1")]), None);
        for host in ["localhost", "127.0.0.1", "127.3.2.1", "[::1]"] {
            assert_eq!(of(host, false, &both), None, "{host}");
        }
        for except in ["*", "site.example", ".example", "a, example"] {
            let set = [both[0], ("no_proxy", except)];
            assert_eq!(of("site.example", false, &set), None, "{except}");
            assert_eq!(of("site.example.org", false, &set).is_none(), except == "*", "{except}");
        }
        assert_eq!(of("site.example", false, &[("http_proxy", "")]), None);
    }
}
