//! `onrush serve --protocol`: a custom protocol instead of HTTP.

use plan::{PlanError, Remedy};
use protocol::Scheme;
use report::Language;
use target::ProtocolError;

use crate::options::args::ServeArgs;

const FLAG: &str = "--protocol";

/// Refuses flags that have no effect on a custom protocol.
pub(super) fn check(args: &ServeArgs) -> Result<(), PlanError> {
    let others = [
        ("--as-proxy", args.as_proxy),
        ("--close-after", args.close_after.is_some()),
        ("--seed", args.seed.is_some()),
        ("--tcp", args.tcp.is_some()),
        ("--push", args.push.is_some()),
    ];
    let has_no_tls = |protocol: &&dyn protocol::Protocol| protocol.about().schemes.iter().all(|scheme| !scheme.is_tls);
    let is_plain = args.protocol.as_deref().and_then(protocol::by_name).filter(has_no_tls).is_some();
    if args.is_tls && is_plain {
        let (one, other, remedy) = ("--tls", FLAG, Remedy::ProtocolWithoutTls);
        return Err(PlanError::Conflict { one, other, remedy });
    }
    match others.into_iter().find(|(_, is_given)| *is_given && args.protocol.is_some()) {
        Some((other, _)) => Err(PlanError::Conflict { one: FLAG, other, remedy: Remedy::ProtocolIsAlone }),
        None => Ok(()),
    }
}

/// The scheme of the server's URL.
pub(super) fn scheme(protocol: Option<&str>, is_tls: bool) -> &str {
    let Some(name) = protocol else { return if is_tls { "https" } else { "http" } };
    let schemes = protocol::by_name(name).map_or(&[][..], |protocol| protocol.about().schemes);
    scheme_of(schemes, is_tls).unwrap_or(name)
}

/// The scheme with or without TLS; a protocol may have only one of them.
fn scheme_of(schemes: &[Scheme], is_tls: bool) -> Option<&'static str> {
    let fitting = schemes.iter().find(|scheme| scheme.is_tls == is_tls);
    fitting.or(schemes.first()).map(|scheme| scheme.name)
}

/// Why a protocol is not served, and what to do.
pub(super) fn explain(error: &ProtocolError, language: Language) -> String {
    let (cause, near, known) = match error {
        ProtocolError::Unknown { name, near, known } => {
            (language.pick(format!("there is no protocol '{name}'"), format!("没有名为 '{name}' 的协议")), *near, known)
        }
        ProtocolError::NoServer { name, known } => {
            let cause = language.pick(
                format!("the protocol '{name}' has no server, it is for loads alone"),
                format!("协议 '{name}' 只能用于压测，没有服务端"),
            );
            (cause, None, known)
        }
    };
    let all = known.join(language.pick(", ", "、"));
    let remedy = match near {
        Some(near) => {
            language.pick(format!("did you mean '{near}'? There are: {all}"), format!("是否想写 '{near}'？可选：{all}"))
        }
        None if known.is_empty() => language.pick("leave it out", "请去掉该参数").to_owned(),
        None => language.pick(format!("choose one of: {all}"), format!("可选：{all}")),
    };
    language.pick(format!("{FLAG}: {cause}; {remedy}"), format!("{FLAG}：{cause}；{remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_is_that_of_the_protocol() {
        const PLAIN: Scheme = Scheme::stream("lines", "lines://", 1);
        const TLS: Scheme = Scheme::stream("liness", "liness://", 2).over_tls();
        let cases = [
            (&[PLAIN, TLS][..], [Some("lines"), Some("liness")]),
            (&[PLAIN][..], [Some("lines"); 2]),
            (&[TLS][..], [Some("liness"); 2]),
            (&[][..], [None; 2]),
        ];
        for (schemes, expected) in cases {
            assert_eq!([false, true].map(|is_tls| scheme_of(schemes, is_tls)), expected, "{schemes:?}");
        }
        assert_eq!([false, true].map(|is_tls| scheme(None, is_tls)), ["http", "https"]);
        assert_eq!(scheme(Some("unknown"), true), "unknown");
    }

    #[test]
    fn what_is_not_served_has_a_cause_and_a_remedy() {
        let unknown = |near, known: &[&'static str]| ProtocolError::Unknown {
            name: "redi".to_owned(),
            near,
            known: known.to_vec(),
        };
        let texts = |error: ProtocolError| [Language::En, Language::Zh].map(|language| explain(&error, language));
        assert_eq!(
            texts(unknown(Some("redis"), &["mqtt", "redis"])),
            [
                "--protocol: there is no protocol 'redi'; did you mean 'redis'? There are: mqtt, redis",
                "--protocol：没有名为 'redi' 的协议；是否想写 'redis'？可选：mqtt、redis"
            ]
        );
        assert_eq!(
            texts(unknown(None, &["mqtt"])),
            [
                "--protocol: there is no protocol 'redi'; choose one of: mqtt",
                "--protocol：没有名为 'redi' 的协议；可选：mqtt"
            ]
        );
        assert_eq!(
            texts(ProtocolError::NoServer { name: "dns".to_owned(), known: Vec::new() }),
            [
                "--protocol: the protocol 'dns' has no server, it is for loads alone; leave it out",
                "--protocol：协议 'dns' 只能用于压测，没有服务端；请去掉该参数"
            ]
        );
    }
}
