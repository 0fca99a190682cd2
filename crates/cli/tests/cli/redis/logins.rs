//! Logins, databases and TLS: what is right works, what is wrong has its name, and no secret is shown.

use std::net::TcpStream;

use super::server::Redis;
use super::{DRIVERS, failures, load, number, scenario};
use crate::authority::{Authority, GOOD};
use crate::paged::Paged;
use crate::seen::wait_for;
use crate::{Folder, closed_port, onrush, output, text};

/// Three characters each, which stand in no report by chance.
const PASSWORD: &str = "q~z";
const OF_BOB: &str = "z~q";

/// A server that wants a password, and has a user of its own.
fn guarded() -> Redis {
    let mut server = Redis::with(&["--requirepass", PASSWORD], |_| {});
    server.login = ["--no-auth-warning", "-a", PASSWORD].map(str::to_owned).to_vec();
    server.cli(&["ACL", "SETUSER", "bob", "on", &format!(">{OF_BOB}"), "~*", "+@all"]);
    server
}

impl Redis {
    fn with_login(&self, login: &str) -> String {
        format!("redis://{login}127.0.0.1:{}", self.port)
    }
}

#[test]
fn logins_are_accepted_or_named() {
    let server = guarded();
    let ping = ["-n", "6", "-c", "3", "--redis-command", "PING"];
    let right = [format!(":{PASSWORD}@"), format!("default:{PASSWORD}@"), format!("bob:{OF_BOB}@")];
    for (login, version, driver) in right.iter().flat_map(|login| [(login, "2", "uring"), (login, "3", "poll")]) {
        let before = (server.calls("ping"), server.calls("select"));
        let url = format!("{}/3", server.with_login(login));
        let (seen, code) = load(&[&ping[..], &["--redis-resp", version, "--driver", driver, &url]].concat());
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 6), "{login} {version}: {seen:#}");
        assert_eq!((server.calls("ping"), server.calls("select")), (before.0 + 6, before.1 + 3), "{login} {version}");
        assert_eq!(seen["statuses"], serde_json::json!({"OK": 6}), "{seen:#}");
    }
    let (before, databases) = (server.calls("ping"), format!("/{}", u16::MAX));
    let wrong = [
        (":wrong@", "2", "", "redis-login", "refused AUTH", "服务端拒绝了 AUTH"),
        ("bob:wrong@", "3", "", "redis-login", "refused AUTH", "服务端拒绝了 AUTH"),
        ("nobody:q~z@", "2", "/1", "redis-login", "refused AUTH", "服务端拒绝了 AUTH"),
        ("", "3", "", "redis-login", "HELLO for this user", "该用户的 HELLO"),
        ("", "2", "/1", "redis-login", "check user and password", "检查用户名和密码"),
        (":q~z@", "2", databases.as_str(), "redis-database", "refused SELECT", "服务端拒绝了 SELECT"),
        (":q~z@", "3", "/16", "redis-database", "the setting `databases`", "服务端的 `databases` 设置"),
    ];
    for (login, version, path, name, en, zh) in wrong {
        let url = format!("{}{path}", server.with_login(login));
        let words = [&ping[..], &["--redis-resp", version, &url]].concat();
        for (language, says) in [("en", en), ("zh", zh)] {
            let done = output(&[&words[..], &["--lang", language]].concat());
            let said = text(&done.stderr);
            assert_eq!(done.status.code(), Some(3), "{login}{path}: {done:?}");
            assert!(said.contains(name) && said.contains(says), "{login}{path} {language}: {said}");
        }
        for driver in DRIVERS {
            let more = ["--no-abort-on-failures", "--driver", driver];
            let (seen, code) = load(&[&words[..], &more].concat());
            assert_eq!((code, failures(&seen)), (Some(3), vec![(name, 6)]), "{login}{path} {driver}: {seen:#}");
        }
    }
    assert_eq!(server.calls("ping"), before, "no request without its login");
    // Nothing is sent before the request, so the server refuses that.
    let (seen, code) = load(&[&ping[..], &[&server.url]].concat());
    assert_eq!((code, &seen["statuses"]), (Some(1), &serde_json::json!({"NOAUTH": 6})), "{seen:#}");
}

#[test]
fn no_output_shows_a_password() {
    let (server, folder) = (guarded(), Folder::new("redis-secrets"));
    let steps = "      - redis: [PING]\n      - redis: [LPUSH]\n        on_failure: continue\n";
    let url = format!("{}/1", server.with_login(&format!("bob:{OF_BOB}@")));
    let file = folder.file("plan.yaml", scenario(&url, "{users: 2, iterations: 4}", steps));
    let wrong = server.with_login(&format!("bob:{PASSWORD}@"));
    let (html, json, data) = (folder.path("page.html"), folder.path("report.json"), folder.path("data"));
    let ping = ["-n", "4", "--redis-command", "PING", "--redis-command", "LPUSH"];
    let mut outputs = Vec::new();
    for version in ["2", "3"] {
        let flags = [&ping[..], &["--redis-resp", version]].concat();
        for more in [&[][..], &["-o", "json"], &["--debug"], &["--show-failures"], &["--html", &html, "--json", &json]]
        {
            for url in [&url, &wrong] {
                let done = output(&[&flags[..], more, &[url]].concat());
                outputs.push((format!("{more:?}"), text(&done.stdout) + &text(&done.stderr)));
            }
            let done = onrush(&[&["run", &file], more].concat()).env("XDG_DATA_HOME", &data).output();
            let done = done.expect("the binary starts");
            outputs.push((format!("run {more:?}"), text(&done.stdout) + &text(&done.stderr)));
        }
        for more in [&["--no-abort-on-failures", "--show-failures"][..], &["--no-abort-on-failures", "-o", "json"]] {
            let done = output(&[&flags[..], more, &[&wrong]].concat());
            outputs.push((format!("wrong {more:?}"), text(&done.stdout) + &text(&done.stderr)));
        }
    }
    assert!(outputs.iter().any(|(_, shown)| shown.contains("AUTH")), "logins are shown: {outputs:#?}");
    for (name, path) in [("HTML", &html), ("JSON", &json)] {
        outputs.push((name.to_owned(), std::fs::read_to_string(path).expect("a report")));
    }
    let words = ["hold", "-c", "2", "--hold", "100ms", "--once", "--redis-command", "PING", "-o", "json", &url];
    outputs.push(("hold".to_owned(), text(&output(&words).stdout)));
    let paged = Paged::start(&["-z", "1h", "-c", "1", "--web", "--redis-command", "PING", &url]);
    outputs.push(("page".to_owned(), paged.get("/api/run").to_string()));
    let saved = files_below(data.as_ref());
    assert!(saved.len() >= 5, "the run is saved: {saved:?}");
    outputs.extend(saved);
    claims::as_one(|| {
        for (name, shown) in outputs {
            assert!(!shown.is_empty(), "{name}");
            for secret in [PASSWORD, OF_BOB, "q%7Ez", "z%7Eq"] {
                assert!(!shown.contains(secret), "{name} shows {secret}: {shown}");
            }
        }
    });
}

/// Names and contents of all files below a folder.
fn files_below(folder: &std::path::Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let content = |path: std::path::PathBuf| {
        let bytes = std::fs::read(&path).expect("a file");
        vec![(path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned())]
    };
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { content(path) }).collect()
}

#[test]
fn tls_needs_an_authority_that_is_trusted() {
    let (authority, port) = (Authority::new(), closed_port());
    let port_text = port.to_string();
    let flags = [
        ["--tls-port", &port_text],
        ["--tls-cert-file", "DIR/server.pem"],
        ["--tls-key-file", "DIR/server.key"],
        ["--tls-ca-cert-file", "DIR/ca.pem"],
        ["--tls-auth-clients", "no"],
        ["--requirepass", PASSWORD],
    ];
    let mut server = Redis::with(&flags.concat(), |folder| authority.sign(folder, "server", "127.0.0.1", GOOD));
    server.login = ["--no-auth-warning", "-a", PASSWORD].map(str::to_owned).to_vec();
    wait_for("TLS listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let (url, ca) = (format!("rediss://:{PASSWORD}@127.0.0.1:{port}/2"), server.file("ca.pem"));
    for driver in DRIVERS {
        let words = ["-n", "600", "-c", "6", "--driver", driver, "--redis-command", "INCR n", &url];
        for more in [&["--cacert", ca.as_str()][..], &["-k"]] {
            let before = server.calls("incr");
            let (seen, code) = load(&[&words[..], more].concat());
            assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 600), "{driver} {more:?}: {seen:#}");
            assert_eq!(number(&seen, "/connections/tls_handshakes"), 6, "{driver} {more:?}: {seen:#}");
            assert_eq!(server.calls("incr") - before, 600, "{driver} {more:?}");
        }
        let done = output(&words);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{driver}: {done:?}");
        assert!(said.contains("tls") && said.contains("--cacert"), "{driver}: {said}");
    }
    assert_eq!(server.cli(&["-n", "2", "GET", "n"]), "2400");
}

/// A server that is full sends an error before it closes, whether a request has come or not.
#[test]
fn a_server_that_is_full_is_named() {
    let server = Redis::with(&["--maxclients", "5"], |_| {});
    for (path, driver) in ["", "/1"].iter().flat_map(|path| DRIVERS.map(|driver| (path, driver))) {
        let url = format!("{}{path}", server.url);
        let words = ["-n", "2000", "-c", "12", "--no-abort-on-failures", "--driver", driver, "--redis-command", "PING"];
        let (seen, _) = load(&[&words[..], &[&url]].concat());
        assert_eq!(seen["statuses"].as_object().map(serde_json::Map::len), Some(1), "OK alone: {seen:#}");
        assert!(failures(&seen).iter().any(|(name, _)| *name == "redis-refused"), "{path} {driver}: {seen:#}");
        // It closes with our request unread.
        let names = ["redis-refused", "reset"];
        assert!(failures(&seen).iter().all(|(name, _)| names.contains(name)), "{path} {driver}: {seen:#}");
    }
}
