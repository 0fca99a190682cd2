//! The name server of `onrush serve`, under the clients of others and under ours; and mistakes that `check` finds.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::datagrams::datagrams;
use crate::hold::in_a_network;
use crate::loads::{DRIVERS, failures, load, number, scenario};
use crate::{ChildGuard, Folder, closed_port, onrush, output, text};

/// The server, and its port.
fn served() -> (ChildGuard, u16) {
    let port = closed_port();
    let address = format!("127.0.0.1:{port}");
    let mut command = onrush(&["serve", "--protocol", "dns", "--listen", &address, "--threads", "1"]);
    let mut child = ChildGuard::start(command.stdout(Stdio::piped()).stderr(Stdio::null()));
    let mut line = String::new();
    BufReader::new(child.0.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    assert!(line.contains("listening"), "{line}");
    (child, port)
}

#[test]
fn dnsperf_and_our_client_get_the_same_from_our_server() {
    let (_child, port) = served();
    let folder = Folder::new("dns-served");
    let names = ["a.test A", "b.test AAAA", "nx.test A", "c.test TXT", "d.test MX"];
    let file = folder.file("queries", names.map(|name| format!("{name}\n")).concat());
    for mode in ["udp", "tcp"] {
        let words = ["-s", "127.0.0.1", "-p", &port.to_string(), "-d", &file, "-n", "100", "-m", mode, "-c", "4"];
        let done = Command::new("dnsperf").args(words).output().expect("cargo xtask test installs it");
        let said = text(&done.stdout);
        assert!(done.status.success(), "{mode}: {done:?}");
        for part in
            ["Queries sent:         500", "Queries completed:    500 (100.00%)", "NOERROR 400 (80.00%), NXDOMAIN 100"]
        {
            assert!(said.contains(part), "{mode}: no {part}: {said}");
        }
    }
    for driver in DRIVERS {
        for (scheme, over_tcp) in [("dns", vec![("over_tcp", 90)]), ("dns+tcp", vec![])] {
            let words = ["-n", "90", "-c", "9", "-t", "1h", "--driver", driver];
            let load = |name: &str| load(&[&words[..], &[&format!("{scheme}://127.0.0.1:{port}/{name}")]].concat());
            for (name, status) in
                [("a.test", "NOERROR"), ("nx.test", "NXDOMAIN"), ("fail.test", "SERVFAIL"), ("refuse.test", "REFUSED")]
            {
                let (seen, _) = load(name);
                assert_eq!(seen["statuses"], serde_json::json!({status: 90}), "{driver} {scheme} {name}: {seen:#}");
            }
            let (seen, code) = load("big.test?type=TXT");
            assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 90), "{driver} {scheme}: {seen:#}");
            if scheme == "dns" {
                assert_eq!(datagrams(&seen), over_tcp, "{driver} {scheme}: {seen:#}");
                let (seen, _) = load("flip.test");
                assert_eq!(datagrams(&seen), [("unmatched", 90)], "{driver}: {seen:#}");
                assert_eq!(number(&seen, "/requests/succeeded"), 90, "{driver}: {seen:#}");
            }
        }
        let url = format!("dns://127.0.0.1:{port}/drop.test");
        let words = ["-n", "6", "-c", "6", "-t", "200ms", "--no-abort-on-failures", "--driver", driver, &url];
        assert_eq!(failures(&load(&words).0), [("timeout", 6)], "{driver}");
    }
}

/// A mistake: lines of a step, the place in the file, and what is said of it.
const MISTAKES: [(&str, &str, &str, &str); 8] = [
    ("dns: a..b", "6:", "'a..b' is not a name of DNS", "不是有效的域名"),
    ("dns: {name: a, type: AXFR}", "6:", "transfers of zones", "不支持区域传送"),
    ("dns: {name: a, edns: 70000}", "6:", "edns", "edns"),
    ("dns: {name: a, edns: 0, dnssec: true}", "6:", "needs EDNS", "需要 EDNS"),
    ("dns: {name: a, edns: 511}", "6:", "'511' is too small", "太小"),
    ("{dns: {name: a}, expect: {status: NXDOMAN}}", "6:", "'NXDOMAN' is no status of dns", "不是 dns 的状态"),
    ("dns: {name: a, resend: soon}", "6:", "'soon' is no wait", "不是有效的重发等待时间"),
    ("dns: {name: a, nmae: b}", "6:", "nmae", "nmae"),
];

#[test]
fn mistakes_have_their_place_in_both_languages() {
    let folder = Folder::new("dns-mistakes");
    for (step, place, en, zh) in MISTAKES {
        let file = folder.file(
            "wrong.yaml",
            scenario("dns://127.0.0.1:1", "{users: 1, iterations: 1}", &format!("      - {step}\n")),
        );
        for (language, part) in [("en", en), ("zh", zh)] {
            let done = output(&["check", &file, "--lang", language]);
            let said = text(&done.stdout) + &text(&done.stderr);
            assert_eq!(done.status.code(), Some(1), "{step}: {done:?}");
            assert!(said.contains(part) && said.contains(&format!("wrong.yaml:{place}")), "{step} {language}: {said}");
        }
    }
    for (words, en, zh) in [
        (&["dns://127.0.0.1:1/a..b"][..], "'a..b' is not a name of DNS", "不是有效的域名"),
        (&["dns://127.0.0.1:1/a?typ=A"], "'typ=A' is not known", "不是 dns URL 的参数"),
        (&["dns://user@127.0.0.1:1/a"], "has no meaning in DNS", "在 DNS 中没有意义"),
        (&["dns://127.0.0.1:1/a", "--dns-resend", "0s"], "'0s' is no wait", "不是有效的重发等待时间"),
        (&["dns+tcp://127.0.0.1:1/a", "--dns-resend", "2s"], "no meaning over TCP", "对 TCP 没有意义"),
        (&["dns://127.0.0.1:1/a?type=A&type=MX"], "'type=MX' is a second type", "是第二个类型"),
        (&["dns://127.0.0.1:1/a", "--dns-edns", "1"], "'1' is too small", "太小"),
        (&["dns://127.0.0.1:1/a", "-k"], "this protocol has no TLS", "该协议不使用 TLS"),
        (&["dns://127.0.0.1:1/a", "--expect-status", "200"], "'200' is no status of dns", "不是 dns 的状态"),
        (&["dns://127.0.0.1:1/a", "--expect-status", "NXDOMAN"], "did you mean NXDOMAIN?", "是否想写 NXDOMAIN？"),
        (&["dns://127.0.0.1:1/a", "-u", "a:b"], "-u", "-u"),
        (&["dns://127.0.0.1:1/a", "-b", "a=b"], "-b", "-b"),
    ] {
        for (language, part) in [("en", en), ("zh", zh)] {
            let done = output(&[words, &["-n", "1", "--lang", language]].concat());
            assert_eq!(done.status.code(), Some(2), "{words:?}: {done:?}");
            assert!(text(&done.stderr).contains(part), "{words:?} {language}: {done:?}");
        }
    }
}

/// A port that is free for connections may be in use for datagrams: another one is taken.
#[test]
fn a_free_port_is_free_for_both_kinds() {
    let run = in_a_network(
        "sysctl -qw net.ipv4.ip_local_port_range='20000 20099'
         for NUMBER in {1..50}; do exec {HELD}<>/dev/udp/127.0.0.1/9; done
         for NUMBER in {1..10}; do
           exec 3< <(exec $O serve --protocol dns --listen 127.0.0.1:0 2>&1); S=$!; read -r -u 3 LISTENS
           echo \"$LISTENS\"; kill $S
         done",
    );
    let said = text(&run.stdout);
    assert_eq!(said.lines().filter(|line| line.starts_with("listening on dns://127.0.0.1:20")).count(), 10, "{said}");
}
