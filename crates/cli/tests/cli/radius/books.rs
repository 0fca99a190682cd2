//! What freeradius accepts, rejects and accounts for is what we count.

use std::collections::BTreeMap;
use std::process::Stdio;

use serde_json::json;

use super::server::{FreeRadius, Record, SECRET};
use crate::datagrams::datagrams;
use crate::loads::{DRIVERS, failures, load, number, scenario};
use crate::seen::wait_for;
use crate::{ChildGuard, Folder, onrush, report, signal};

const ALICE: (&str, &str) = ("alice", "wonder~land");

/// The number of packets with an attribute.
fn with(records: &[Record], name: &str, value: &str) -> usize {
    records.iter().filter(|record| record.get(name).is_some_and(|own| own == value)).count()
}

#[test]
fn passwords_are_accepted_or_rejected() {
    let server = FreeRadius::start(&[ALICE, ("bob", "b")]);
    let (mut accepted, mut rejected) = (0, 0);
    for (method, driver) in ["pap", "chap"].iter().flat_map(|method| DRIVERS.map(|driver| (method, driver))) {
        let words = ["-n", "300", "-c", "10", "-t", "1h", "--radius-secret", SECRET, "--radius-method", method];
        for (login, is_right) in
            [("alice:wonder~land@", true), ("bob:b@", true), ("alice:wonder@", false), ("eve:b@", false)]
        {
            let (seen, code) = load(&[&words[..], &["--driver", driver, &server.url(login)]].concat());
            let (status, ends) = if is_right { ("Access-Accept", Some(0)) } else { ("Access-Reject", Some(1)) };
            let what = format!("{method} {driver} {login}");
            assert_eq!((code, &seen["statuses"]), (ends, &json!({status: 300})), "{what}: {seen:#}");
            for pointer in ["/requests/started", "/requests/sent", "/requests/responses", "/messages/received"] {
                assert_eq!(number(&seen, pointer), 300, "{what} {pointer}: {seen:#}");
            }
            assert_eq!(failures(&seen), if is_right { vec![] } else { vec![("status", 300)] }, "{what}: {seen:#}");
            assert_eq!(datagrams(&seen), [], "{what}: {seen:#}");
            *if is_right { &mut accepted } else { &mut rejected } += 300;
            assert_eq!(server.records("accepted").len(), accepted, "{what}");
            assert_eq!(server.records("rejected").len(), rejected, "{what}");
        }
    }
    assert_eq!(server.stat("auth", "requests"), (accepted + rejected) as u64);
    let words = ["-n", "40", "-t", "1h", "--radius-secret", SECRET, "--expect-status", "Access-Reject"];
    let (seen, code) = load(&[&words[..], &[&server.url("alice:no@")]].concat());
    assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 40), "{seen:#}");
    let (seen, code) = load(&[
        "-n",
        "40",
        "-t",
        "1h",
        "--radius-secret",
        SECRET,
        "--expect-json",
        "$.attributes[\"Reply-Message\"] == \"welcome alice\"",
        &server.url("alice:wonder~land@"),
    ]);
    assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 40), "{seen:#}");
}

#[test]
fn each_user_of_a_file_has_a_password() {
    const COUNT: usize = 400;
    // Lengths of one block and of several.
    let users: Vec<(String, String)> =
        (0..COUNT).map(|at| (format!("user-{at}"), format!("pass-{at}-{}", "x".repeat(at % 100)))).collect();
    let pairs: Vec<(&str, &str)> = users.iter().map(|(name, password)| (name.as_str(), password.as_str())).collect();
    let server = FreeRadius::start(&pairs);
    let folder = Folder::new("radius-users");
    let rows: String = users.iter().map(|(name, password)| format!("{name},{password}\n")).collect();
    folder.file("people.csv", format!("name,password\n{rows}"));
    for (round, (method, more)) in
        [("pap", &[][..]), ("chap", &["--driver", "poll"]), ("pap", &["--workers", "3"])].into_iter().enumerate()
    {
        let step = format!(
            "      - radius: {{user: \"${{people.name}}\", password: \"${{people.password}}\", secret: \"{SECRET}\", \
             method: {method}, attributes: [NAS-Port=7, \"Calling-Station-Id=${{people.name}}\"]}}\n"
        );
        let plan = scenario(&server.url(""), &format!("{{users: 8, iterations: {COUNT}}}"), &step);
        let plan = plan.replace("scenarios:", "data:\n  people: {file: people.csv, sharing: unique}\nscenarios:");
        let (seen, code) = load(&[&["run", &folder.file("users.yaml", plan), "-t", "1h"], more].concat());
        assert_eq!(
            (code, number(&seen, "/requests/succeeded")),
            (Some(0), COUNT as u64),
            "{method} {more:?}: {seen:#}"
        );
        let records = server.records("accepted");
        assert_eq!(records.len(), COUNT * (round + 1), "{method} {more:?}");
        let is_there = |name: &str| with(&records, "Reply-Message", &format!("welcome {name}")) == round + 1;
        assert!(pairs.iter().all(|(name, _)| is_there(name)), "{method} {more:?}");
        let requested = server.records("requested");
        assert_eq!(requested.len(), COUNT * (round + 1), "{method} {more:?}");
        let newest = &requested[COUNT * round..];
        assert!(newest.iter().all(|record| record["Calling-Station-Id"] == record["User-Name"]), "{newest:?}");
        assert!(newest.iter().all(|record| record["NAS-Port"] == "7"), "{newest:?}");
    }
}

#[test]
fn sessions_of_users_are_in_the_accounts() {
    const COUNT: usize = 200;
    let steps: String = [
        ("start", ""),
        ("interim", ", attributes: [Acct-Session-Time=60]"),
        ("interim", ""),
        ("stop", ""),
    ]
    .map(|(word, more)| {
        format!(
            "      - radius: {{user: \"${{people.name}}\", accounting: {word}, session: \"s-${{people.name}}\", \
                 secret: \"{SECRET}\"{more}}}\n"
        )
    })
    .concat();
    for more in [&["--driver", "uring"][..], &["--driver", "poll"], &["--workers", "3"]] {
        let (server, folder) = (FreeRadius::start(&[]), Folder::new("radius-accounts"));
        let rows: String = (0..COUNT).map(|at| format!("user-{at}\n")).collect();
        folder.file("people.csv", format!("name\n{rows}"));
        let plan = scenario(&server.acct_url(), &format!("{{users: 8, iterations: {COUNT}}}"), &steps);
        let plan = plan.replace("scenarios:", "data:\n  people: {file: people.csv, sharing: unique}\nscenarios:");
        let (seen, code) = load(&[&["run", &folder.file("accounts.yaml", plan), "-t", "1h"], more].concat());
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 4 * COUNT as u64), "{more:?}: {seen:#}");
        assert_eq!(seen["statuses"], json!({"Accounting-Response": 4 * COUNT}), "{more:?}: {seen:#}");
        let mut sessions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for record in server.records("accounting") {
            assert_eq!(record["Acct-Session-Id"], format!("s-{}", record["User-Name"]), "{record:?}");
            sessions.entry(record["User-Name"].clone()).or_default().push(record["Acct-Status-Type"].clone());
        }
        assert_eq!(sessions.len(), COUNT, "{more:?}");
        let expected = ["Start", "Interim-Update", "Interim-Update", "Stop"];
        assert!(sessions.values().all(|statuses| *statuses == expected), "{more:?}: {sessions:?}");
        assert_eq!(server.stat("acct", "requests"), 4 * COUNT as u64, "{more:?}");
    }
}

#[test]
fn loads_by_rate_and_time_and_workers_are_in_the_accounts() {
    let server = FreeRadius::start(&[ALICE]);
    let url = server.url("alice:wonder~land@");
    let words = ["-t", "1h", "--grace", "1h", "--radius-secret", SECRET, &url];
    let mut all = 0;
    for (at, more) in [
        &["--rate", "2000", "-n", "400"][..],
        &["-z", "1s", "-c", "5"],
        &["-n", "400", "-c", "9", "--workers", "3"],
        &["-n", "200", "-c", "6", "--no-keepalive"],
        &["-n", "200", "-c", "6", "--threads", "2"],
        &["--rate", "2000", "-z", "200ms"],
    ]
    .into_iter()
    .enumerate()
    {
        let driver = DRIVERS[at % 2];
        let (seen, code) = load(&[&words[..], more, &["--driver", driver]].concat());
        let succeeded = number(&seen, "/requests/succeeded");
        assert_eq!((code, number(&seen, "/requests/started")), (Some(0), succeeded), "{more:?} {driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [], "{more:?} {driver}: {seen:#}");
        all += succeeded;
        assert_eq!(server.records("accepted").len() as u64, all, "{more:?} {driver}: {seen:#}");
    }
}

#[test]
fn a_load_that_is_interrupted_is_in_the_accounts() {
    for (driver, workers) in [("uring", &[][..]), ("poll", &[]), ("uring", &["--workers", "3"])] {
        let server = FreeRadius::start(&[ALICE]);
        let url = server.url("alice:wonder~land@");
        let words = ["-z", "1h", "-c", "10", "-t", "1h", "--grace", "1h", "-o", "json", "--radius-secret", SECRET];
        let words = [&words[..], &["--driver", driver, &url], workers].concat();
        let run = ChildGuard::start(onrush(&words).stdout(Stdio::piped()).stderr(Stdio::null()));
        wait_for("a thousand requests", || server.stat("auth", "requests") >= 1_000);
        signal(&run.0, "-INT");
        let seen = report(&run.output());
        let succeeded = number(&seen, "/requests/succeeded");
        assert_eq!(number(&seen, "/requests/started"), succeeded, "{driver} {workers:?}: {seen:#}");
        assert_eq!(server.records("accepted").len() as u64, succeeded, "{driver} {workers:?}: {seen:#}");
    }
}
