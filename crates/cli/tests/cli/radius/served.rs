//! The server of `onrush serve` under the client of freeradius and under ours; and mistakes that `check` finds.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::datagrams::datagrams;
use crate::loads::{DRIVERS, failures, load, number, scenario};
use crate::{ChildGuard, Folder, closed_port, onrush, output, text};

/// The secret of that server.
const SECRET: &str = "testing123";

/// The server, and its port.
fn served() -> (ChildGuard, u16) {
    let port = closed_port();
    let address = format!("127.0.0.1:{port}");
    let mut command = onrush(&["serve", "--protocol", "radius", "--listen", &address, "--threads", "1"]);
    let mut child = ChildGuard::start(command.stdout(Stdio::piped()).stderr(Stdio::null()));
    let mut line = String::new();
    BufReader::new(child.0.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    assert!(line.contains("listening"), "{line}");
    (child, port)
}

/// What radclient says of a request to the server.
fn requested(port: u16, kind: &str, attributes: &str) -> String {
    let folder = Folder::new("radius-requested");
    let file = folder.file("request", format!("{attributes}\n"));
    let words = ["-x", "-r", "1", "-t", "5", "-f", &file, &format!("127.0.0.1:{port}"), kind, SECRET];
    let done = Command::new("radclient").args(words).output().expect("cargo xtask test installs it");
    text(&done.stdout) + &text(&done.stderr)
}

#[test]
fn radclient_and_our_client_get_the_same_from_our_server() {
    let (_child, port) = served();
    for (attributes, kind, part) in [
        ("User-Name=a,User-Password=secret,Message-Authenticator=0x00", "auth", "Received Access-Accept"),
        ("User-Name=a,CHAP-Password=secret,Message-Authenticator=0x00", "auth", "Received Access-Accept"),
        ("User-Name=a,User-Password=wrong,Message-Authenticator=0x00", "auth", "Received Access-Reject"),
        ("User-Name=reject,User-Password=secret", "auth", "Received Access-Reject"),
        ("User-Name=challenge,User-Password=secret", "auth", "Received Access-Challenge"),
        ("User-Name=a,Acct-Status-Type=Start,Acct-Session-Id=1", "acct", "Received Accounting-Response"),
    ] {
        let said = requested(port, kind, attributes);
        assert!(said.contains(part), "{attributes}: {said}");
    }
    for driver in DRIVERS {
        let with = |login: &str, more: &[&str]| {
            let url = format!("radius://{login}@127.0.0.1:{port}");
            let words = ["-n", "90", "-c", "90", "--radius-secret", SECRET, "--driver", driver, &url];
            load(&[&words[..], more].concat()).0
        };
        for (login, more, status) in [
            ("a:secret", &[][..], "Access-Accept"),
            ("a:secret", &["--radius-method", "chap"], "Access-Accept"),
            ("a:wrong", &[], "Access-Reject"),
            ("reject:secret", &[], "Access-Reject"),
            ("challenge:secret", &[], "Access-Challenge"),
        ] {
            let seen = with(login, more);
            assert_eq!(seen["statuses"], serde_json::json!({status: 90}), "{driver} {login}: {seen:#}");
            assert_eq!(datagrams(&seen), [], "{driver} {login}: {seen:#}");
        }
        let seen = with("forge:secret", &[]);
        assert_eq!(number(&seen, "/requests/succeeded"), 90, "{driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [("unmatched", 90)], "{driver}: {seen:#}");
        let seen = with("drop:secret", &["-t", "200ms", "--no-abort-on-failures"]);
        assert_eq!(failures(&seen), [("timeout", 90)], "{driver}: {seen:#}");
    }
    // Accounting requests are counted by their status. Equal ones with one identifier and one port are one: each has an
    // identifier of its own, on one socket.
    let words = ["--radius-secret", SECRET, "--radius-session", "s", "--radius-user", "a", "-t", "1h", "-c", "1"];
    let mut given = Vec::new();
    for (word, count) in [("start", 50), ("interim", 70), ("stop", 30)] {
        let times = count.to_string();
        let words = [&words[..], &["-n", &times, "--radius-accounting", word]].concat();
        let (seen, code) = load(&[&words[..], &[&format!("radius-acct://127.0.0.1:{port}")]].concat());
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), count), "{word}: {seen:#}");
        given.push(datagrams(&seen));
    }
    let said = requested(port, "auth", "User-Name=counts,User-Password=secret");
    assert!(said.contains("start=51 stop=30 interim=70 others=0"), "{said} {given:?}");
}

/// A mistake: a step, and what is said of it.
const MISTAKES: [(&str, &str, &str); 10] = [
    ("radius: {user: a, password: b}", "secret", "secret"),
    ("radius: {user: a, password: b, secret: \"\"}", "secret is empty", "secret 为空"),
    ("radius: {password: b, secret: s}", "there is no user", "没有用户名"),
    ("radius: {user: a, secret: s}", "there is no password", "没有密码"),
    ("radius: {user: a, password: b, secret: s, method: eap}", "method is one of pap, chap", "method 应为 pap, chap"),
    ("radius: {user: a, secret: s, accounting: start}", "needs the ID of the session", "需要会话 ID"),
    ("radius: {user: a, password: b, secret: s, attributes: [NAS-Prot=7]}", "NAS-Port", "NAS-Port"),
    ("radius: {user: a, password: b, secret: s, attributes: [NAS-Port=x]}", "a number up to", "不超过"),
    ("radius: {user: a, password: b, secret: s, resend: soon}", "resend is a time of 1ms", "resend 应为不小于 1ms"),
    ("radius: {user: a, password: b, secret: s, resend: 1us}", "resend is a time of 1ms", "resend 应为不小于 1ms"),
];

#[test]
fn mistakes_have_their_place_in_both_languages() {
    let folder = Folder::new("radius-mistakes");
    for (step, en, zh) in MISTAKES {
        let plan = scenario("radius://127.0.0.1:1", "{users: 1, iterations: 1}", &format!("      - {step}\n"));
        let file = folder.file("wrong.yaml", plan);
        for (language, part) in [("en", en), ("zh", zh)] {
            let done = output(&["check", &file, "--lang", language]);
            let said = text(&done.stdout) + &text(&done.stderr);
            assert_eq!(done.status.code(), Some(1), "{step}: {done:?}");
            assert!(said.contains(part) && said.contains("wrong.yaml:6:"), "{step} {language}: {said}");
        }
    }
    for (words, en, zh) in [
        (&["radius://a:b@127.0.0.1:1"][..], "--radius-secret", "--radius-secret"),
        (&["radius://a:b@127.0.0.1:1/path", "--radius-secret", "s"], "has no path", "不含路径"),
        (&["radius://127.0.0.1:1", "--radius-secret", "s"], "there is no user", "没有用户名"),
        (&["radius-acct://a:b@127.0.0.1:1", "--radius-secret", "s"], "give accounting", "请给出 accounting"),
    ] {
        for (language, part) in [("en", en), ("zh", zh)] {
            let done = output(&[words, &["-n", "1", "--lang", language]].concat());
            assert_eq!(done.status.code(), Some(2), "{words:?}: {done:?}");
            assert!(text(&done.stderr).contains(part), "{words:?} {language}: {done:?}");
        }
    }
}
