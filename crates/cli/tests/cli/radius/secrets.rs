//! A wrong secret is named, and no secret is shown.

use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;

use super::packets::{ACCEPT, Packet};
use super::server::{FreeRadius, SECRET};
use crate::datagrams::{DatagramServer, datagrams};
use crate::loads::{DRIVERS, failures, load, number, scenario};
use crate::paged::Paged;
use crate::seen::wait_for;
use crate::{Folder, onrush, output, side_by_side, text};

/// These stand in no report by chance.
const PASSWORD: &str = "wonder~land";
const WRONG: &str = "wr~0ng";

#[test]
fn freeradius_does_not_respond_to_another_secret() {
    let server = FreeRadius::start(&[("alice", PASSWORD)]);
    let url = server.url(&format!("alice:{PASSWORD}@"));
    for (round, driver) in DRIVERS.iter().enumerate() {
        let words = ["-n", "6", "-c", "6", "-t", "300ms", "--radius-resend", "off", "--driver", driver, &url];
        let words = [&words[..], &["--no-abort-on-failures", "--radius-secret", WRONG]].concat();
        let (seen, code) = load(&words);
        assert_eq!((code, failures(&seen)), (Some(1), vec![("timeout", 6)]), "{driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [], "{driver}: {seen:#}");
        // It may still read the last ones.
        wait_for("they come", || server.stat("auth", "requests") == 6 * (round as u64 + 1));
        assert_eq!(server.records("requested").len(), 0, "{driver}: none is taken");
    }
    assert!(server.log().contains("Shared secret is incorrect"), "{}", server.log());
}

/// Responses with another secret say so, in both languages.
#[test]
fn responses_with_another_secret_are_named() {
    let server = DatagramServer::start(|bytes, peer| {
        peer.send(&Packet(bytes.to_vec()).response(ACCEPT, &[], WRONG));
    });
    let url = server.url("radius", "").replace("//", "//bob:b@");
    let words = ["-n", "6", "-c", "6", "-t", "3s", "--radius-resend", "off", "--radius-secret", SECRET, &url];
    let cases =
        [("en", ["radius-secret", "the shared secret is another"]), ("zh", ["radius-secret", "共享密钥不一致"])];
    side_by_side(&cases, |(language, parts)| {
        let done = output(&[&words[..], &["--no-abort-on-failures", "--lang", language]].concat());
        let said = text(&done.stdout) + &text(&done.stderr);
        assert!(parts.iter().all(|part| said.contains(part)), "{language}: {said}");
        assert!(!said.contains(SECRET) && !said.contains(WRONG), "{language}: {said}");
    });
}

#[test]
fn each_step_has_its_secret() {
    let server = DatagramServer::start(|bytes, peer| {
        let is_first = bytes.windows(6).any(|part| part == b"user-1");
        peer.send(&Packet(bytes.to_vec()).response(ACCEPT, &[], if is_first { SECRET } else { WRONG }));
    });
    let step = |(user, secret): (&str, &str)| {
        format!("      - radius: {{user: {user}, password: x, secret: \"{secret}\", resend: off}}\n")
    };
    let steps = [("user-1", SECRET), ("user-2", WRONG), ("user-1", SECRET), ("user-2", WRONG)].map(step).concat();
    let folder = Folder::new("radius-steps");
    let plan = scenario(&server.url("radius", ""), "{users: 3, iterations: 30}", &steps);
    let file = folder.file("steps.yaml", plan);
    for driver in DRIVERS {
        let (seen, code) = load(&["run", &file, "-t", "1h", "--driver", driver]);
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 120), "{driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [], "{driver}: {seen:#}");
        assert_eq!(number(&seen, "/connections/established"), 6, "a socket for each secret, {driver}: {seen:#}");
    }
}

/// Names and contents of all files below a folder.
pub(super) fn files_below(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let content = |path: std::path::PathBuf| {
        let bytes = std::fs::read(&path).expect("a file");
        vec![(path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned())]
    };
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { content(path) }).collect()
}

/// The flags of a load with this secret.
fn flags(secret: &str) -> [&str; 10] {
    ["-n", "4", "-c", "4", "-t", "300ms", "--radius-resend", "off", "--radius-secret", secret]
}

#[test]
fn no_output_shows_a_secret_or_a_password() {
    let server = FreeRadius::start(&[("alice", PASSWORD)]);
    let (folder, data) = (Folder::new("radius-secrets"), Folder::new("radius-secrets-data"));
    let step = |secret: &str| {
        let own = format!("user: alice, password: \"{PASSWORD}\", secret: \"{secret}\", resend: off");
        scenario(&server.url(""), "{users: 2, iterations: 4}", &format!("      - radius: {{{own}}}\n"))
    };
    let (right, wrong) = (folder.file("right.yaml", step(SECRET)), folder.file("wrong.yaml", step(WRONG)));
    let at = |name: &str| data.path(name);
    let url = server.url(&format!("alice:{PASSWORD}@"));
    let rejected = server.url(&format!("alice:{WRONG}@"));
    let outputs = Mutex::new(Vec::new());
    let right_flags = flags(SECRET);
    let loads = [
        ("right", [&right_flags[..], &[&url]].concat()),
        ("chap", [&right_flags[..], &["--radius-method", "chap", &url]].concat()),
        ("rejected", [&right_flags[..], &[&rejected]].concat()),
        ("wrong", [&flags(WRONG)[..], &[&url]].concat()),
        ("run", vec!["run", &right, "-t", "300ms"]),
        ("run wrong", vec!["run", &wrong, "-t", "300ms"]),
    ];
    side_by_side(&loads, |(name, words)| {
        let file = |end: &str| at(&format!("{name}.{end}"));
        let (html, json, csv) = (file("html"), file("json"), format!("csv={}", file("csv")));
        for more in [
            &[][..],
            &["-o", "json"],
            &["--debug"],
            &["--show-failures"],
            &["--html", &html, "--json", &json, "--export", &csv],
        ] {
            let mut command = onrush(&[&words[..], more, &["--no-abort-on-failures"]].concat());
            let done = command.env("XDG_DATA_HOME", at("runs")).output().expect("the binary starts");
            assert!(matches!(done.status.code(), Some(0 | 1)), "{name} {more:?}: {done:?}");
            let shown = text(&done.stdout) + &text(&done.stderr);
            outputs.lock().expect("it lives").push((format!("{name} {more:?}"), shown));
        }
    });
    let mut outputs = outputs.into_inner().expect("it lives");
    for file in [&right, &wrong] {
        for language in ["en", "zh"] {
            let done = output(&["check", file, "--lang", language]);
            outputs.push((format!("check {file}"), text(&done.stdout) + &text(&done.stderr)));
        }
    }
    let words = ["-z", "1h", "-c", "1", "--web", "--radius-secret", SECRET, &url];
    let paged = Paged::started(onrush(&words).stderr(Stdio::piped()));
    outputs.push(("page".to_owned(), paged.get("/api/run").to_string()));
    assert!(outputs.iter().any(|(_, shown)| shown.contains("User-Password")), "requests are shown: {outputs:#?}");
    let saved = files_below(&data.0);
    assert!(saved.len() >= 18, "runs are saved: {saved:?}");
    outputs.extend(saved);
    claims::as_one(|| {
        for (name, shown) in outputs {
            assert!(!shown.is_empty(), "{name}");
            for secret in [SECRET, PASSWORD, WRONG] {
                assert!(!shown.contains(secret), "{name} shows {secret}: {shown}");
            }
        }
    });
}
