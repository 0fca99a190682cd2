use std::cell::RefCell;
use std::sync::Arc;

use plan::{Draft, Flags, HoldFlags, TargetPolicy, Tool, ToolRun};

use super::*;

const FAR: &str = "93.184.216.34";

/// All names have the same addresses; connection attempts are only recorded.
struct Net {
    at: Vec<IpAddr>,
    tried: RefCell<Vec<SocketAddr>>,
}

impl Net {
    fn new(at: &[&str]) -> Self {
        let at = at.iter().map(|text| text.parse().expect("an address")).collect();
        Self { at, tried: RefCell::default() }
    }

    fn resolve(&self, target: &Target) -> Result<Resolved, ResolveError> {
        let accepts = |address: &SocketAddr| {
            self.tried.borrow_mut().push(*address);
            true
        };
        resolve_by(target, |_| Ok(self.at.clone()), accepts)
    }
}

fn target(draft: &Draft) -> Target {
    draft.plan().expect("a plan").scenarios[0].target().clone()
}

fn flags(url: &str) -> Flags {
    Flags { url: Some(url.to_owned()), ..Flags::default() }
}

fn of_flags(flags: &Flags) -> Target {
    target(&flags.draft().expect("good flags"))
}

fn of_tool(line: &str) -> Target {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let tool = Tool::from_name(&words[0]).expect("a tool");
    target(&ToolRun::parse(tool, &words[1..], "test").expect("good words").draft)
}

fn of_hold(url: &str) -> Target {
    let connections = Some("51".to_owned());
    HoldFlags { common: Flags { connections, ..flags(url) }, ..HoldFlags::default() }.plan().expect("a plan").target
}

fn of_curl(words: &[&str]) -> Target {
    let words = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    of_flags(&Flags { curl: Some(words), ..Flags::default() })
}

fn of_hop(to: &str) -> Target {
    let follows = Flags { location: true, ..flags("http://127.0.0.1/") };
    let plan = follows.plan().expect("a plan");
    let step = &plan.scenarios[0].steps[0];
    step.follow.as_ref().expect("it follows").target(plan.scenarios[0].target(), false, to.to_owned(), 80)
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn list(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

/// However a public address is reached by accident, it is detected before any connection to it.
#[test]
fn nobody_is_loaded_by_mistake() {
    let slow = Flags { rate: some("100"), connections: some("50"), ..flags("http://site.example/") };
    let steps = "http://site.example/ --next http://site.example/".split(' ').map(|word| word.as_bytes().to_vec());
    let ways: Vec<(&str, Target)> = vec![
        ("a name", of_flags(&flags("http://site.example/"))),
        ("an address", of_flags(&flags(&format!("http://{FAR}/")))),
        ("a number", of_flags(&flags("http://1572395042/"))),
        ("hexadecimal", of_flags(&flags("http://0x5db8d822/"))),
        ("a dot behind", of_flags(&flags("http://93.184.216.34./"))),
        ("IPv6", of_flags(&flags("http://[2606:2800:220:1::1]/"))),
        ("mapped IPv4", of_flags(&flags("http://[::ffff:93.184.216.34]/"))),
        ("translated IPv4", of_flags(&flags("http://[64:ff9b::5db8:d822]/"))),
        ("--resolve", of_flags(&Flags { resolve: list("local.test:80:93.184.216.34"), ..flags("http://local.test/") })),
        (
            "--connect-to a name",
            of_flags(&Flags { connect_to: list("::site.example:80"), ..flags("http://127.0.0.1/") }),
        ),
        ("--connect-to", of_flags(&Flags { connect_to: list("::93.184.216.34:80"), ..flags("http://127.0.0.1/") })),
        (
            "--connect-addresses",
            of_flags(&Flags { to: some("127.0.0.1:80,93.184.216.34:80"), ..flags("http://127.0.0.1/") }),
        ),
        ("TLS", of_flags(&flags("https://site.example/"))),
        ("WebSocket", of_flags(&flags("wss://site.example/"))),
        ("TCP", of_flags(&Flags { data: some("x"), no_response: true, ..flags("tcp://site.example:9") })),
        ("HTTP/2", of_flags(&Flags { http2: true, ..flags("http://site.example/") })),
        ("a high rate", of_flags(&Flags { rate: some("101"), ..slow.clone() })),
        ("many connections", of_flags(&Flags { connections: some("51"), ..slow.clone() })),
        (
            "steps of curl",
            of_flags(&Flags { rate: some("51"), url: None, curl: Some(steps.collect()), ..slow.clone() }),
        ),
        ("redirects", of_flags(&Flags { rate: some("2"), location: true, ..slow.clone() })),
        ("stages", of_flags(&Flags { stages: some("10:1s,500:1s"), ..flags("http://site.example/") })),
        ("users by stages", { of_flags(&Flags { user_stages: some("10:1s"), ..flags("http://site.example/") }) }),
        ("curl", of_curl(&["http://site.example/"])),
        ("curl --resolve", of_curl(&["--resolve", "h:80:93.184.216.34", "http://h/"])),
        ("a redirect to a name", of_hop("site.example")),
        ("a redirect to an address", of_hop(FAR)),
        ("wrk", of_tool("wrk -t1 -c1 -d1 http://site.example/")),
        ("wrk2", of_tool("wrk2 -R200 -t1 -c1 -d1 http://site.example/")),
        ("ab", of_tool("ab -n 1 http://site.example/")),
        ("hey", of_tool("hey http://site.example/")),
        ("oha", of_tool("oha http://site.example/")),
        ("webbench", of_tool("webbench http://site.example/")),
        ("go-stress-testing", of_tool("go-stress-testing -u http://site.example/")),
        ("hold", of_hold("ws://site.example/")),
    ];
    for (way, target) in ways {
        // A name that leads to this machine too is no better.
        for at in [&[FAR][..], &["127.0.0.1", FAR]] {
            let net = Net::new(at);
            let refused = net.resolve(&target);
            assert!(matches!(refused, Err(ResolveError::Consent { .. })), "{way}: {refused:?}");
            assert!(net.tried.borrow().is_empty(), "{way}: somebody was connected to");
        }
    }
    // A load that a user could make by hand needs no consent.
    assert!(Net::new(&[FAR]).resolve(&of_flags(&slow)).is_ok());
}

#[test]
fn who_is_near_or_was_named_is_loaded() {
    let named = |host: &str| Flags { consents: list(host), ..flags("http://site.example/") };
    for good in [named("site.example"), named("SITE.example"), named(FAR)] {
        assert!(Net::new(&[FAR]).resolve(&of_flags(&good)).is_ok(), "{good:?}");
    }
    let other = of_flags(&named("other.example"));
    assert!(matches!(Net::new(&[FAR]).resolve(&other), Err(ResolveError::Consent { .. })));
    // A near address does not vouch for another one, nor one endpoint for another.
    let led = |consent: &str| Flags {
        connect_to: list("::93.184.216.34:80"),
        consents: list(consent),
        ..flags("http://127.0.0.1/")
    };
    let spread = |consents: &[&str]| Flags {
        to: some("93.184.216.34:80,93.184.216.35:80"),
        consents: consents.iter().map(|&one| one.to_owned()).collect(),
        ..flags("http://127.0.0.1/")
    };
    let pinned = |host: &str, consent: &str| Flags {
        resolve: list(&format!("{host}:80:93.184.216.34")),
        consents: list(consent),
        ..flags(&format!("http://{host}/"))
    };
    for bad in [
        led("127.0.0.1"),
        led("localhost"),
        led("93.184.216.35"),
        spread(&[FAR]),
        spread(&["127.0.0.1"]),
        pinned("127.0.0.1", "127.0.0.1"),
        pinned("localhost", "localhost"),
        pinned("shop.localhost", "shop.localhost"),
    ] {
        let refused = Net::new(&["127.0.0.1"]).resolve(&of_flags(&bad));
        let Err(ResolveError::Consent { unconsented_hosts }) = &refused else { panic!("{bad:?}: {refused:?}") };
        // The hosts named are those that would be reached.
        for one in unconsented_hosts {
            assert!(one.host == one.address.to_string() && one.is_given, "{one:?}");
            assert!(
                refused.as_ref().is_err_and(|error| error.to_string().contains(&format!("--allow-host {}", one.host)))
            );
        }
    }
    for good in [led(FAR), spread(&[FAR, "93.184.216.35"]), pinned("shop.test", "shop.test"), pinned("127.0.0.1", FAR)]
    {
        assert!(Net::new(&["127.0.0.1"]).resolve(&of_flags(&good)).is_ok(), "{good:?}");
    }
    let Err(ResolveError::Consent { unconsented_hosts }) = Net::new(&[]).resolve(&of_flags(&spread(&[]))) else {
        panic!()
    };
    assert_eq!(unconsented_hosts.len(), 2);
    for near in ["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "169.254.0.9"] {
        assert!(Net::new(&[near]).resolve(&of_flags(&flags("http://site.example/"))).is_ok(), "{near}");
    }
    assert!(Net::new(&[FAR]).resolve(&of_tool("wrk -t1 -c1 --allow-host site.example http://site.example/")).is_ok());
    let debug = flags("http://site.example/").plan().expect("a plan").for_debug();
    assert!(Net::new(&[FAR]).resolve(debug.scenarios[0].target()).is_ok());
    // A Unix socket is on this machine.
    let socket = of_flags(&Flags { unix_socket: some("/run/x"), ..flags("http://site.example/") });
    assert!(Net::new(&[FAR]).resolve(&socket).is_ok());
    let consented: Arc<[String]> = ["site.example".to_owned()].into();
    assert_eq!(of_flags(&named("site.example")).target_policy, TargetPolicy::Near(consented));
}

/// A proxy and the target behind it both need consent, and a name that only the proxy can look up counts as public.
#[test]
fn consent_is_for_the_proxy_and_for_the_target() {
    let of = |proxy: &str, url: &str, consents: &[&str]| {
        let consents = consents.iter().map(|host| (*host).to_owned()).collect();
        of_flags(&Flags { proxy: some(proxy), consents, ..flags(url) })
    };
    let look_up = |host: &str| match host {
        "near.example" => Ok(vec!["10.0.0.1".parse().expect("an address")]),
        "far.example" => Ok(vec![FAR.parse().expect("an address")]),
        _ => Err(ResolveError::Unknown { host: host.to_owned() }),
    };
    let refused = |target: &Target| match resolve_by(target, look_up, |_| true) {
        Ok(_) => None,
        Err(ResolveError::Consent { unconsented_hosts }) => Some(unconsented_hosts[0].host.clone()),
        Err(error) => Some(error.to_string()),
    };
    for scheme in ["http", "https", "socks5", "socks5h"] {
        let near = format!("{scheme}://near.example:1");
        let far = format!("{scheme}://far.example:1");
        assert_eq!(refused(&of(&near, "http://near.example/", &[])), None, "{scheme}");
        assert_eq!(refused(&of(&near, "http://far.example/", &[])), some("far.example"), "{scheme}");
        assert_eq!(refused(&of(&far, "http://near.example/", &[])), some("far.example"), "{scheme}");
        assert_eq!(refused(&of(&near, "http://far.example/", &["far.example"])), None, "{scheme}");
        assert_eq!(refused(&of(&far, "http://near.example/", &["near.example"])), some("far.example"), "{scheme}");
        let unknown = of(&near, "http://inside.example/", &[]);
        let text = refused(&unknown).expect("it is refused");
        assert_eq!(text.contains("unknown"), scheme == "socks5", "{text}");
        let known = refused(&of(&near, "http://inside.example/", &["inside.example"]));
        assert_eq!(known.is_none(), scheme != "socks5", "{known:?}");
    }
    let found = resolve_by(&of("socks5://10.0.0.9:1", "http://near.example/", &[]), look_up, |_| true).expect("found");
    assert_eq!((found.address.to_string(), found.behind_proxy.len()), ("10.0.0.9:1".to_owned(), 1));
    assert!(
        found
            .complete(of("socks5://10.0.0.9:1", "http://near.example/", &[]))
            .proxy
            .is_some_and(|proxy| { proxy.addresses == ["10.0.0.1".parse::<IpAddr>().expect("an address")] })
    );
}
